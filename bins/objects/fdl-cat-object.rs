//! Prints an object.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    key::Key,
};

const USAGE: &str = "usage: fdl-cat-object [--repo URL] KEY";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut key) = (None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Value(value) if key.is_none() => key = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let key = Key::new(&cli::required(key, "KEY")?)?;
    let repository = cli::repository(repo)?;
    let Some(mut opened) = repository.store().open(&key)? else {
        return Err(Error::not_found(format!("'{key}' is not in '{}'", repository.url())));
    };
    let mut output = Output::new(false);
    output.copy(&key, &mut opened.body)?;
    output.finish()
}
