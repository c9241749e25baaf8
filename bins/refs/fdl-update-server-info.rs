//! Brings `refs.json` in line with the refs.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args},
    refs,
};

const USAGE: &str = "usage: fdl-update-server-info [--repo URL]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let mut repo = None;
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    refs::update_server_info(&cli::repository(repo)?)
}
