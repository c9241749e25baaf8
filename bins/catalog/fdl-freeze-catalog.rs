//! Makes a frozen catalog from a working one.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args},
};

const USAGE: &str = "usage: fdl-freeze-catalog [--parent FROZEN] --data-path PATH WORKING FROZEN";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut parent, mut data_path, mut working, mut frozen) = (None, None, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("parent") => parent = Some(args.path()?),
            Arg::Long("data-path") => data_path = Some(args.value()?),
            Arg::Value(value) if working.is_none() => working = Some(cli::path(value)?),
            Arg::Value(value) if frozen.is_none() => frozen = Some(cli::path(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let data_path = cli::required(data_path, "--data-path")?;
    let working = cli::required(working, "WORKING")?;
    let frozen = cli::required(frozen, "FROZEN")?;
    fdl_catalog::freeze(&working, &frozen, &data_path, parent.as_deref())
}
