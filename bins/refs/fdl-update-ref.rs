//! Moves, makes or deletes a ref, on condition of what it holds.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args},
    refs::{self, Expected},
    repository::Repository,
};

const USAGE: &str = "\
usage: fdl-update-ref [--repo URL] REF NEW [OLD]
   or: fdl-update-ref [--repo URL] -d REF [OLD]
   or: fdl-update-ref [--repo URL] --stdin [-z]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut delete, mut stdin, mut z, mut operands) = (None, false, false, false, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('d') => delete = true,
            Arg::Long("stdin") => stdin = true,
            Arg::Short('z') => z = true,
            Arg::Value(value) => operands.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    match (stdin, delete, operands.as_slice()) {
        (true, false, []) => {
            let repository = open(repo)?;
            for record in cli::records(z) {
                let record = record?;
                let fields: Vec<&str> = record.iter().map(String::as_str).collect();
                one(&repository, &fields)?;
            }
            Ok(())
        }
        (false, true, [name, old @ ..]) if old.len() <= 1 => {
            refs::delete(&open(repo)?, &name.parse()?, expected(old.first().copied())?)
        }
        (false, false, [name, new, old @ ..]) if old.len() <= 1 => {
            refs::update(&open(repo)?, &name.parse()?, new.parse()?, expected(old.first().copied())?)
        }
        _ => Err(Error::usage("a ref and the version it is to hold are wanted")),
    }
}

/// The repository; where its store cannot keep two writers apart, each writer is told.
fn open(repo: Option<String>) -> Result<Repository> {
    let repository = cli::repository(repo)?;
    if repository.config().single_writer {
        let url = repository.url();
        cli::warning(&format!(
            "'{url}' is for a single writer: of two who write at once, one loses his versions unnoticed"
        ));
    }
    Ok(repository)
}

/// One record of `--stdin`.
fn one(repository: &Repository, fields: &[&str]) -> Result<()> {
    match fields {
        ["update", name, new] => refs::update(repository, &name.parse()?, new.parse()?, Expected::Any),
        ["update", name, new, old] => refs::update(repository, &name.parse()?, new.parse()?, expected(Some(old))?),
        ["delete", name] => refs::delete(repository, &name.parse()?, Expected::Any),
        ["delete", name, old] => refs::delete(repository, &name.parse()?, expected(Some(old))?),
        _ => Err(Error::fatal(format!("'{}' is neither an update nor a delete", fields.join("\t")))),
    }
}

/// What OLD says: nothing, that there is to be no such ref (an empty word, as for `git update-ref`), or a version.
fn expected(old: Option<&str>) -> Result<Expected> {
    match old {
        None => Ok(Expected::Any),
        Some("") => Ok(Expected::Absent),
        Some(id) => id.parse().map(Expected::Version),
    }
}
