//! Lists the data files that versions name, from their `files.json`.

use std::{
    collections::{BTreeMap, HashSet},
    process::ExitCode,
};

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    files::File,
    key::Key,
    repository::Repository,
    resolve::resolve,
    version::Version,
    version_files::each_file,
};

const USAGE: &str = "usage: fdl-ls-version [--repo URL] [-z] [--not NAME]... NAME...";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut not, mut names) = (None, false, Vec::new(), Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("not") => not.push(args.value()?),
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if names.is_empty() {
        return Err(Error::usage("NAME is missing"));
    }
    let repository = cli::repository(repo)?;
    let mut known = HashSet::new();
    for name in not {
        each_file(&repository, &version(&repository, &name)?, &mut |file| {
            known.insert(file.path);
            Ok(())
        })?;
    }
    let mut found: BTreeMap<Key, File> = BTreeMap::new();
    for name in names {
        each_file(&repository, &version(&repository, &name)?, &mut |file| {
            if !known.contains(&file.path) {
                found.insert(file.path.clone(), file);
            }
            Ok(())
        })?;
    }
    let mut output = Output::new(z);
    for file in found.values() {
        output.record(&[&repository.data_key(&file.path)?, &file.size, &file.kind.as_str()])?;
    }
    output.finish()
}

fn version(repository: &Repository, name: &str) -> Result<Version> {
    Version::read(repository, resolve(repository, name)?.id)
}
