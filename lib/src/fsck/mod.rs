//! Checks that a repository is as it must be: refs, versions, catalogs, lists of files, data files.
//!
//! Refs are read first, then versions are listed, then data files: what a push adds meanwhile comes in the other order, so
//! nothing is missed that is there.

mod data;
mod refs;
mod versions;

use std::{collections::HashMap, fmt, sync::Mutex};

use camino::Utf8Path;

use self::data::Named;
use crate::{
    Error, Kind, Result,
    dataset::Dataset,
    digest::Digest,
    expired,
    files::File,
    gc,
    id::VersionId,
    inventory,
    key::Key,
    repository::Repository,
    store,
    version::{self, Version},
};

/// How a catalog is read; what this library does not do itself.
pub trait Catalogs: Sync {
    /// Calls `visit` with the files that the frozen catalog at `path` names, as `files.json` has them, without digests.
    fn each_file(&self, path: &Utf8Path, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()>;

    /// The `dataset.json` of the frozen catalog at `path`.
    fn describe(&self, path: &Utf8Path) -> Result<Dataset>;
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something is not as it must be.
    Error,
    /// It was not, and is now.
    Repaired,
    /// Something is not needed, or not at its end yet.
    Note,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Error => "error",
            Level::Repaired => "repaired",
            Level::Note => "note",
        })
    }
}

/// What is looked at beside the structure, and what is done about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Read the data files, too.
    pub data: bool,
    /// Write anew what can be made from the rest: `refs.json`, `files.json`, `dataset.json`.
    pub repair: bool,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Versions that can be read.
    pub versions: usize,
    /// Data files that they name.
    pub files: usize,
    /// Findings of the level [`Level::Error`].
    pub errors: u64,
}

/// Is told of each finding: its level, the key that it is about, and what was found.
pub type Report<'a> = dyn FnMut(Level, &str, &str) -> Result<()> + Send + 'a;

/// Checks a repository.
///
/// # Errors
/// Where the store cannot be asked. What is wrong in the repository is a finding, not an error.
pub fn fsck(
    repository: &Repository,
    catalogs: &dyn Catalogs,
    options: Options,
    report: &mut Report<'_>,
) -> Result<Seen> {
    if !repository.store().lists() {
        return Err(Error::store(format!(
            "'{}' cannot be listed, so what is missing cannot be told",
            repository.url()
        ))
        .hint("'fdl verify' checks versions over HTTP, too"));
    }
    repository.check_no_working()?;
    if options.repair {
        repository.check_writable()?;
    }
    let findings = Mutex::new(Findings { report, errors: 0 });
    let fsck = Fsck { repository, catalogs, options, findings };
    let held = fsck.refs()?;
    let (versions, named) = fsck.versions(&held)?;
    fsck.data(&named)?;
    fsck.server_info()?;
    fsck.finding("gc.json", gc::about_to_go(repository))?;
    fsck.left_overs()?;
    let errors = fsck.findings.into_inner().map_err(|_| died())?.errors;
    Ok(Seen { versions, files: named.len(), errors })
}

/// Checks one version and the data files that it names, as a host does before a ref moves to it. Those that its parent names
/// were checked when the ref moved to that.
///
/// # Errors
/// Where the store cannot be asked.
pub fn check_version(
    repository: &Repository,
    catalogs: &dyn Catalogs,
    id: VersionId,
    report: &mut Report<'_>,
) -> Result<()> {
    let fsck = Fsck {
        repository,
        catalogs,
        options: Options::default(),
        findings: Mutex::new(Findings { report, errors: 0 }),
    };
    let objects = inventory::of_version(repository, id)?;
    let key = Key::in_version(id, version::NAME);
    let Some(version) = fsck.finding(&key, Version::read(repository, id))? else { return Ok(()) };
    if objects.expired().is_some() {
        return fsck.error(Key::in_version(id, expired::NAME), "the version was taken away");
    }
    if let Some(parent) = version.parent() {
        let bytes = fsck.finding(&key, Version::bytes(repository, parent))?;
        if let (Some(bytes), Some(wanted)) = (bytes, version.parent_sha256)
            && Digest::of(&bytes) != wanted
        {
            fsck.error(&key, format_args!("it is built on version {parent} with sha256 {wanted}, which that has not"))?;
        }
    }
    let named = Mutex::new(HashMap::new());
    fsck.live(&version, &objects, &named)?;
    fsck.new_data(&version, named.into_inner().map_err(|_| died())?)
}

struct Fsck<'a> {
    repository: &'a Repository,
    catalogs: &'a dyn Catalogs,
    options: Options,
    findings: Mutex<Findings<'a>>,
}

struct Findings<'a> {
    report: &'a mut Report<'a>,
    errors: u64,
}

impl Fsck<'_> {
    fn find(&self, level: Level, key: impl fmt::Display, text: impl fmt::Display) -> Result<()> {
        let mut findings = self.findings.lock().map_err(|_| died())?;
        findings.errors += u64::from(level == Level::Error);
        (findings.report)(level, &key.to_string(), &text.to_string())
    }

    fn error(&self, key: impl fmt::Display, text: impl fmt::Display) -> Result<()> {
        self.find(Level::Error, key, text)
    }

    fn note(&self, key: impl fmt::Display, text: impl fmt::Display) -> Result<()> {
        self.find(Level::Note, key, text)
    }

    /// What is wrong in the repository is a finding about `key`; that the store cannot be asked is an error. A folder can be,
    /// and what it refuses to read is at fault.
    fn finding<T>(&self, key: impl fmt::Display, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(e) if e.kind() == Kind::Busy || e.kind() == Kind::Store && !store::is_folder(self.repository.url()) => {
                Err(e)
            }
            Err(e) => self.error(key, e).map(|()| None),
        }
    }

    fn left_overs(&self) -> Result<()> {
        match self.repository.store().left_overs() {
            Ok(left) if left.is_empty() => {}
            Ok(left) => {
                self.note("", format_args!("{} writes that were cut off, or go on, have left files", left.len()))?
            }
            Err(e) => self.note("", e)?,
        }
        Ok(())
    }
}

fn died() -> Error {
    Error::fatal("a thread that wrote the findings died")
}
