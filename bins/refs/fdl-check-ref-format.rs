//! Tells whether a name may be a ref's.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    refname::RefName,
};

const USAGE: &str = "usage: fdl-check-ref-format [--branch | --tag] NAME";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut parse, mut name): (fn(&str) -> Result<RefName>, _) = (str::parse, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("branch") => parse = RefName::branch,
            Arg::Long("tag") => parse = RefName::tag,
            Arg::Value(value) if name.is_none() => name = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let name = cli::required(name, "NAME")?;
    let name = parse(&name).map_err(|e| Error::new(Kind::No, e.to_string()))?;
    let mut output = Output::new(false);
    output.record(&[&name])?;
    output.finish()
}
