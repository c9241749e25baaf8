//! Sends the data files that a repository lacks.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    key::Key,
    transfer::{self, Sending, send_file},
};

const USAGE: &str = "usage: fdl-send-files [--repo URL] [-z] [--jobs N] <KEYS-PATHS-SIZES";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut jobs) = (None, false, transfer::JOBS);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("jobs") => jobs = args.number()?,
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    repository.check_writable()?;
    let mut output = Output::new(z);
    transfer::in_parallel(
        jobs,
        cli::records(z).map(|record| sending(&record?)),
        |sending| send_file(&repository, &sending).map(|sent| (sending, sent)),
        |(sending, sent)| output.record(&[&if sent { "sent" } else { "present" }, &sending.key, &sending.size]),
    )?;
    output.finish()
}

fn sending(record: &[String]) -> Result<Sending> {
    match record {
        [key, path, size] => {
            let size = size.parse().map_err(|_| Error::fatal(format!("'{size}' is not a size in bytes")))?;
            Ok(Sending { key: Key::new(key)?, path: path.into(), size })
        }
        _ => Err(Error::fatal(format!("'{}' is not KEY TAB PATH TAB SIZE", record.join("\t")))),
    }
}
