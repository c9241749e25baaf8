//! Makes sure that nobody has a working catalog open, and that all of it is in its one file.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args},
};

const USAGE: &str = "usage: fdl-close-catalog WORKING";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let mut working = None;
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Value(value) if working.is_none() => working = Some(cli::path(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    fdl_catalog::close(&cli::required(working, "WORKING")?)
}
