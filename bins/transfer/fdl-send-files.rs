//! Sends the data files that a repository lacks.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    key::Key,
    transfer::{self, Sending, send_file},
};

const USAGE: &str = "usage: fdl-send-files [--repo URL] [-z] [--jobs N] <KEYS-PATHS-SIZES";

/// How many files a store that can say of many at once is asked about.
const AT_ONCE: usize = 1000;

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
    let mut records = cli::records(z).map(|record| sending(&record?));
    loop {
        let files = records.by_ref().take(AT_ONCE).collect::<Result<Vec<_>>>()?;
        if files.is_empty() {
            return output.finish();
        }
        let announced: Vec<_> = files.iter().map(|file| (file.key.clone(), file.size)).collect();
        let announced = repository.store().announce(&announced)?;
        transfer::in_parallel(
            jobs,
            files.into_iter().enumerate().map(Ok),
            |(i, file)| {
                let announced = announced.as_ref().and_then(|announced| announced.get(i)).copied();
                send_file(&repository, &file, announced).map(|sent| (file, sent))
            },
            |(file, sent)| output.record(&[&if sent { "sent" } else { "present" }, &file.key, &file.size]),
        )?;
    }
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
