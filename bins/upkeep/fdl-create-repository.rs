//! Makes an empty repository.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args},
    refname::RefName,
    repository::Repository,
};

const USAGE: &str = "usage: fdl-create-repository [--branch NAME] [--like URL] [--single-writer] URL";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut branch, mut like, mut single_writer, mut url) = ("main".to_owned(), None, false, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("branch") => branch = args.value()?,
            Arg::Long("like") => like = Some(args.value()?),
            Arg::Long("single-writer") => single_writer = true,
            Arg::Value(value) if url.is_none() => url = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let url = cli::required(url, "URL")?;
    let branch = RefName::branch(&branch)?;
    let like = like.map(|url| Repository::open(&url)).transpose()?;
    match Repository::create(&url, &branch, like.as_ref().map(Repository::config), single_writer) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == Kind::Conflict => Err(Error::new(Kind::No, e.to_string())),
        Err(e) => Err(e),
    }
}
