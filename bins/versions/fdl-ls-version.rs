//! Lists the data files that versions name, from their `files.json`.

use std::{
    collections::{BTreeMap, HashSet},
    process::ExitCode,
};

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    digest::Digest,
    files::{self, File},
    id::VersionId,
    key::Key,
    repository::Repository,
    resolve::resolve,
    transfer::Spooled,
    version::{FILES, Version},
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
        each_file(&repository, resolve(&repository, &name)?.id, &mut |file| {
            known.insert(file.path);
            Ok(())
        })?;
    }
    let mut found: BTreeMap<Key, File> = BTreeMap::new();
    for name in names {
        each_file(&repository, resolve(&repository, &name)?.id, &mut |file| {
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

/// Visits the files of a version, once its `files.json` was found to be the one that `version.json` speaks of.
fn each_file(repository: &Repository, id: VersionId, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()> {
    let version = Version::read(repository, id)?;
    let key = Key::in_version(id, FILES);
    let opened = repository
        .store()
        .open(&key)?
        .ok_or_else(|| Error::not_found(format!("'{key}' is not in '{}'", repository.url())))?;
    let spooled = Spooled::new(opened.body, Some(opened.meta.size))
        .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", repository.url())))?;
    check(&key, spooled.digest, version.files_sha256)?;
    files::read(spooled.file, visit).map_err(|e| e.context(format_args!("version {id}")))
}

fn check(key: &Key, found: Digest, wanted: Digest) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::mismatch(format!("'{key}' has sha256 {found}, but its version.json says {wanted}")))
}
