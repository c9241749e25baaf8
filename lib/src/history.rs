//! Walks from a version to the versions before it.

use std::collections::{HashMap, HashSet};

use crate::{Error, Kind, Result, id::VersionId, repository::Repository, version::Version};

/// The versions from `tip` back to the first, newest first.
///
/// A chain that leads back to itself, which only a forged repository can hold, is an error.
pub fn walk(repository: &Repository, tip: VersionId) -> impl Iterator<Item = Result<Version>> {
    let mut next = Some(tip);
    let mut seen = HashSet::new();
    std::iter::from_fn(move || {
        let id = next.take()?;
        if !seen.insert(id) {
            return Some(Err(loops(id)));
        }
        let version = Version::read(repository, id);
        next = version.as_ref().ok().and_then(Version::parent);
        Some(version)
    })
}

/// The ids from `tip` back to the first, newest first; `parents` has what was read before, and gets what is read now.
pub fn walk_known<'a>(
    repository: &'a Repository,
    tip: VersionId,
    parents: &'a mut HashMap<VersionId, Option<VersionId>>,
) -> impl Iterator<Item = Result<VersionId>> + 'a {
    let mut next = Some(tip);
    let mut seen = HashSet::new();
    std::iter::from_fn(move || {
        let id = next.take()?;
        if !seen.insert(id) {
            return Some(Err(loops(id)));
        }
        next = match parents.get(&id) {
            Some(parent) => *parent,
            None => match Version::read(repository, id) {
                Ok(version) => {
                    parents.insert(id, version.parent());
                    version.parent()
                }
                Err(e) => return Some(Err(e)),
            },
        };
        Some(Ok(id))
    })
}

/// The error for a version that is among those before it.
pub fn loops(id: VersionId) -> Error {
    Error::fatal(format!("version {id} is its own ancestor"))
}

/// Whether `ancestor` is one of the versions before this one.
pub fn comes_after(repository: &Repository, version: &Version, ancestor: VersionId) -> Result<bool> {
    match version.parent() {
        None => Ok(false),
        Some(parent) => descends(repository, parent, ancestor),
    }
}

/// Whether `ancestor` is `id` or one of the versions before it.
pub fn descends(repository: &Repository, id: VersionId, ancestor: VersionId) -> Result<bool> {
    if id == ancestor {
        return Ok(true);
    }
    for version in walk(repository, id) {
        match version {
            Ok(version) if version.parent() == Some(ancestor) => return Ok(true),
            Ok(_) => {}
            // The history may be cut off, as a working repository's is; what cannot be read is another matter.
            Err(e) if e.kind() == Kind::NotFound => return Ok(false),
            Err(e) => return Err(e),
        }
    }
    Ok(false)
}
