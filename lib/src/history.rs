//! Walks from a version to the versions before it.

use std::collections::{HashMap, HashSet};

use crate::{Error, Kind, Result, id::VersionId, repository::Repository, version::Version};

/// The versions from `tip` back to the first, newest first.
///
/// A chain that leads back to itself, which only a forged repository can hold, is an error.
pub fn walk(repository: &Repository, tip: VersionId) -> impl Iterator<Item = Result<Version>> {
    chain(tip, move |id| {
        let version = Version::read(repository, id)?;
        let parent = version.parent();
        Ok((version, parent))
    })
}

/// The ids from `tip` back to the first, newest first; `parents` has what was read before, and gets what is read now.
pub fn walk_known<'a>(
    repository: &'a Repository,
    tip: VersionId,
    parents: &'a mut HashMap<VersionId, Option<VersionId>>,
) -> impl Iterator<Item = Result<VersionId>> + 'a {
    chain(tip, move |id| {
        let parent = match parents.get(&id) {
            Some(parent) => *parent,
            None => {
                let parent = Version::read(repository, id)?.parent();
                parents.insert(id, parent);
                parent
            }
        };
        Ok((id, parent))
    })
}

/// What `read` makes of each version from `tip` back; beside that it tells the version's parent. The first error is the end.
fn chain<T>(
    tip: VersionId,
    mut read: impl FnMut(VersionId) -> Result<(T, Option<VersionId>)>,
) -> impl Iterator<Item = Result<T>> {
    let mut next = Some(tip);
    let mut seen = HashSet::new();
    std::iter::from_fn(move || {
        let id = next.take()?;
        if !seen.insert(id) {
            return Some(Err(loops(id)));
        }
        Some(read(id).map(|(item, parent)| {
            next = parent;
            item
        }))
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
