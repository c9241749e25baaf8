//! Brings `refs.json` in line with the refs.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args},
    refname::RefName,
    refs,
};

const USAGE: &str = "usage: fdl-update-server-info [--repo URL] [REF]...";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut also) = (None, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Value(value) => also.push(cli::utf8(value)?.parse::<RefName>()?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    refs::update_server_info(&cli::repository(repo)?, &also)
}
