//! Prints the version that a name stands for.

use std::process::ExitCode;

use fdl::{
    Kind, Result,
    cli::{self, Arg, Args, Output},
    resolve::{check_live, resolve},
};

const USAGE: &str = "usage: fdl-resolve-ref [--repo URL] [--live] [--etag] [--or-none] NAME";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut live, mut etag, mut or_none, mut name) = (None, false, false, false, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("live") => live = true,
            Arg::Long("etag") => etag = true,
            Arg::Long("or-none") => or_none = true,
            Arg::Value(value) if name.is_none() => name = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let name = cli::required(name, "NAME")?;
    let repository = cli::repository(repo)?;
    let resolved = match resolve(&repository, &name) {
        Err(e) if or_none && e.kind() == Kind::NotFound => return Ok(()),
        resolved => resolved?,
    };
    if live {
        check_live(&repository, &resolved)?;
    }
    let mut output = Output::new(false);
    match resolved.found_at {
        Some((_, tag)) if etag => output.record(&[&resolved.id, &tag])?,
        _ => output.record(&[&resolved.id])?,
    }
    output.finish()
}
