//! Prints versions: their `version.json` as it is, or in a format.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    pretty::{Format, Printer},
    repository::Repository,
    resolve::resolve,
    version::Version,
};

const USAGE: &str = "usage: fdl-cat-version [--repo URL] [-z] [--format FORMAT] (--stdin | NAME...)";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut format, mut stdin, mut names) = (None, false, None, false, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("format") => format = Some(Format::parse(&args.value()?)?),
            Arg::Long("stdin") => stdin = true,
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if stdin != names.is_empty() {
        return Err(Error::usage("either NAMEs or --stdin is wanted"));
    }
    let repository = cli::repository(repo)?;
    let printer = format.map(|format| Printer::new(&repository, format, z)).transpose()?;
    let mut output = Output::new(z);
    let mut names: Box<dyn Iterator<Item = Result<String>>> =
        if stdin { Box::new(cli::records(z).map(|r| Ok(r?.join("\t")))) } else { Box::new(names.into_iter().map(Ok)) };
    names.try_for_each(|name| print(&repository, &name?, printer.as_ref(), z, &mut output))?;
    output.finish()
}

fn print(
    repository: &Repository,
    name: &str,
    printer: Option<&Printer<'_>>,
    z: bool,
    output: &mut Output,
) -> Result<()> {
    let id = resolve(repository, name)?.id;
    let bytes = Version::bytes(repository, id)?;
    let version = Version::parse(repository, id, &bytes)?;
    match printer {
        // The very bytes: they are what a signature is made of.
        None => output.bytes(&bytes),
        Some(printer) => {
            output.bytes(printer.show(&version)?.as_bytes())?;
            output.bytes(if z { b"\0" } else { b"\n" })
        }
    }
}
