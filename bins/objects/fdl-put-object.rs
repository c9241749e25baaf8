//! Writes standard input as an object, on condition if asked.

use std::{io, process::ExitCode};

use fdl::{
    Error, Result,
    cli::{self, Arg, Args},
    key::Key,
    store::{Body, Condition, ETag, Written},
    transfer::Spooled,
};

const USAGE: &str = "usage: fdl-put-object [--repo URL] [--if-match ETAG | --if-none-match] KEY <FILE";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut condition, mut key) = (None, Condition::Always, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("if-match") => condition = Condition::Matches(ETag::new(args.value()?)),
            Arg::Long("if-none-match") => condition = Condition::Absent,
            Arg::Value(value) if key.is_none() => key = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let key = Key::new(&cli::required(key, "KEY")?)?;
    let repository = cli::repository(repo)?;
    repository.check_writable()?;
    // The whole input first: an object is written whole or not at all.
    let input =
        Spooled::new(io::stdin().lock(), None).map_err(|e| Error::store(format!("cannot read standard input: {e}")))?;
    match repository.store().put(&key, Body::File(&input.file, input.size), &condition)? {
        Written::Done => Ok(()),
        Written::Refused => Err(Error::conflict(format!("'{key}' does not match the condition; nothing was written"))),
    }
}
