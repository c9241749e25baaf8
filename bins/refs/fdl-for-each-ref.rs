//! Lists refs with the versions they hold.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    key::Key,
    refs,
};

const USAGE: &str = "usage: fdl-for-each-ref [--repo URL] [-z] [PREFIX]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut prefix) = (None, false, "refs".to_owned());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Value(value) if prefix == "refs" => prefix = cli::utf8(value)?,
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let folder = Key::new(prefix.trim_end_matches('/'))?;
    if folder.segments().next() != Some("refs") {
        return Err(Error::fatal(format!("'{prefix}' does not begin with 'refs'")));
    }
    let repository = cli::repository(repo)?;
    let mut output = Output::new(z);
    for (name, id) in refs::read_all(&repository, &folder)? {
        output.record(&[&id, &name])?;
    }
    output.finish()
}
