//! Makes a working catalog from a frozen one, or of an empty lake.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args},
};

const USAGE: &str = "\
usage: fdl-thaw-catalog --data-path PATH [--published URL] FROZEN WORKING
   or: fdl-thaw-catalog --data-path PATH --empty WORKING";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut data_path, mut published, mut empty, mut files) = (None, None, false, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("data-path") => data_path = Some(args.value()?),
            Arg::Long("published") => published = Some(args.value()?),
            Arg::Long("empty") => empty = true,
            Arg::Value(value) if files.len() < 2 => files.push(cli::path(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let data_path = cli::required(data_path, "--data-path")?;
    match (empty, files.as_slice()) {
        (true, _) if published.is_some() => Err(Error::usage("--published and --empty do not go together")),
        (true, [working]) => fdl_catalog::create_empty(working, &data_path),
        (false, [frozen, working]) => fdl_catalog::thaw(frozen, working, &data_path, published.as_deref()),
        (true, _) => Err(Error::usage("with --empty, one WORKING is wanted")),
        (false, _) => Err(Error::usage("a FROZEN and a WORKING are wanted")),
    }
}
