//! Prints what scripts want to know of a repository.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
};

const USAGE: &str = "usage: fdl-repository-var [--repo URL] (id | url | data-dir | data-url)...";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut names) = (None, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if names.is_empty() {
        return Err(Error::usage("the name of a variable is missing"));
    }
    let repository = cli::repository(repo)?;
    let mut output = Output::new(false);
    for name in names {
        let value = match name.as_str() {
            "id" => repository.config().id.to_string(),
            "url" => repository.url().to_owned(),
            "data-dir" => repository.config().data_dir.to_string(),
            "data-url" => repository.data_url(),
            _ => return Err(Error::usage(format!("there is no variable '{}'", name.escape_debug()))),
        };
        // As it is: a script passes it on.
        output.bytes(value.as_bytes())?;
        output.bytes(b"\n")?;
    }
    output.finish()
}
