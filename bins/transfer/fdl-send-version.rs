//! Copies a version from one repository to another: the catalog, then what describes it, and `version.json` last.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args},
    digest::Digest,
    id::VersionId,
    key::Key,
    repository::Repository,
    store::Body,
    transfer::{copy_object, put_immutable},
    version::{self, Version},
};

const USAGE: &str = "usage: fdl-send-version [--repo URL] --from URL ID";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut from, mut id) = (None, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("from") => from = Some(args.value()?),
            Arg::Value(value) if id.is_none() => id = Some(cli::utf8(value)?.parse::<VersionId>()?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let id = cli::required(id, "ID")?;
    let from = Repository::open(&cli::required(from, "--from")?)?;
    let to = cli::repository(repo)?;
    to.check_writable()?;
    send(&from, &to, id)
}

fn send(from: &Repository, to: &Repository, id: VersionId) -> Result<()> {
    let bytes = Version::bytes(from, id)?;
    let version = Version::parse(from, id, &bytes)?;
    if version.repository != to.config().id {
        return Err(Error::mismatch(format!(
            "version {id} belongs to repository {}, not to {} at '{}'",
            version.repository,
            to.config().id,
            to.url()
        )));
    }
    required(from, to, id, version::CATALOG, Some(version.sha256))?;
    required(from, to, id, version::DATASET, None)?;
    required(from, to, id, version::FILES, Some(version.files_sha256))?;
    copy_object(from, to, &Key::in_version(id, version::SIGNATURE), None)?;
    put_immutable(to, &Key::in_version(id, version::NAME), Body::Bytes(&bytes), Digest::of(&bytes))
}

/// Copies an object without which the version is not complete.
fn required(
    from: &Repository,
    to: &Repository,
    id: VersionId,
    name: &'static str,
    digest: Option<Digest>,
) -> Result<()> {
    let key = Key::in_version(id, name);
    match copy_object(from, to, &key, digest)? {
        Some(_) => Ok(()),
        None => Err(Error::not_found(format!("version {id} is not complete: '{key}' is not in '{}'", from.url()))),
    }
}
