//! Takes versions away: marks them in `expired.json`, so that readers are told why, then deletes their catalogs.
//!
//! A mark and a new ref may come at the same time. Whoever writes a ref reads the mark after that, and whoever writes a
//! mark reads the refs after that, so that one of the two sees the other and takes back what it did.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, Unit};

use crate::{
    Error, Kind, Result,
    expired::{self, Expired, Reason},
    gc::Notice,
    id::VersionId,
    json,
    key::Key,
    parallel::{JOBS, in_parallel},
    refname::RefName,
    refs,
    repository::Repository,
    store::{Body, Condition, Written},
    version,
};

/// What a version loses when it is taken away. `version.json` stays, so that the history is whole, and `files.json` stays
/// until gc has used it.
pub(crate) const TAKEN: [&str; 2] = [version::CATALOG, version::DATASET];

/// What becomes of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken away now.
    Taken,
    /// It had been taken away before.
    Before,
}

/// The refs by the version that they hold; an error where they may not be all.
pub fn held(repository: &Repository) -> Result<BTreeMap<VersionId, Vec<RefName>>> {
    let mut held: BTreeMap<VersionId, Vec<RefName>> = BTreeMap::new();
    for (name, id) in refs::read_surely(repository)? {
        held.entry(id).or_default().push(name);
    }
    Ok(held)
}

/// Takes versions away, all or none: the marks, then another look at the refs, then the catalogs. `done` is called with each.
///
/// A version that has a mark already keeps it, and loses what it has left.
///
/// # Errors
/// [`Kind::Conflict`] where a ref holds one of them; then nothing was changed, or was taken back. [`Kind::Busy`] while another
/// run takes versions away.
pub fn expire(
    repository: &Repository,
    ids: &BTreeSet<VersionId>,
    reason: Reason,
    message: &str,
    done: impl FnMut(VersionId, Outcome) -> Result<()> + Send,
) -> Result<()> {
    repository.check_writable()?;
    check_lists(repository)?;
    let second_look = || check_free(&held(repository)?, ids);
    expire_under(&Notice::post(repository)?, ids, reason, message, second_look, done)
}

/// The same for one who has posted a notice already, and who says by `second_look` whether the versions are still to go once they
/// are marked. A mark that is there was made by a run that has ended, so nobody takes it back while its version loses its catalog.
pub(crate) fn expire_under(
    notice: &Notice<'_>,
    ids: &BTreeSet<VersionId>,
    reason: Reason,
    message: &str,
    second_look: impl FnOnce() -> Result<()>,
    mut done: impl FnMut(VersionId, Outcome) -> Result<()> + Send,
) -> Result<()> {
    let repository = notice.repository();
    let holders = held(repository)?;
    if let Err(e) = check_free(&holders, ids) {
        // A run that was cut off may have left its mark on it.
        release(repository, ids.iter().copied().filter(|id| holders.contains_key(id)))?;
        return Err(e);
    }
    let mut marked = BTreeMap::new();
    let mark = |id| mark(repository, id, reason, message).map(|outcome| (id, outcome));
    let failed = in_parallel(JOBS, ids.iter().copied().map(Ok), mark, |(id, outcome)| {
        marked.insert(id, outcome);
        Ok(())
    });
    if let Err(e) = failed.and_then(|()| second_look()) {
        take_back(repository, &marked)?;
        return Err(e);
    }
    in_parallel(
        JOBS,
        marked.into_iter().map(Ok),
        |(id, outcome)| notice.check().and_then(|()| strip(repository, id)).map(|()| (id, outcome)),
        |(id, outcome)| done(id, outcome),
    )
}

/// Refuses where a ref holds one of the versions.
pub fn check_free(held: &BTreeMap<VersionId, Vec<RefName>>, ids: &BTreeSet<VersionId>) -> Result<()> {
    match ids.iter().find_map(|id| held.get(id)?.first().map(|name| (id, name))) {
        None => Ok(()),
        Some((id, name)) => Err(Error::conflict(format!("'{name}' holds version {id}; nothing was taken away"))
            .hint("a branch goes on, a tag can be deleted; then the version is free")),
    }
}

fn mark(repository: &Repository, id: VersionId, reason: Reason, message: &str) -> Result<Outcome> {
    let expired = Expired {
        fdl: json::FORMAT.into(),
        reason,
        at: Timestamp::now().round(Unit::Second).unwrap_or_else(|_| Timestamp::now()).to_string(),
        message: message.to_owned(),
    };
    let (key, store) = (Key::in_version(id, expired::NAME), repository.store());
    let bytes = json::to_bytes(&expired)?;
    match store.put(&key, Body::Bytes(&bytes), &Condition::Absent) {
        Ok(Written::Done) => Ok(Outcome::Taken),
        // A mark that tells readers nothing is none.
        Ok(Written::Refused) => expired::read(repository, id).map(|_| Outcome::Before),
        // Whose mark stands there decides who may take it back.
        Err(e) if e.kind() == Kind::Busy => match store.get(&key, expired::MAX)? {
            Some(object) if object.bytes == bytes => Ok(Outcome::Taken),
            Some(_) => Ok(Outcome::Before),
            None => Err(e),
        },
        Err(e) => Err(e),
    }
}

/// Over HTTP the refs are those of `refs.json`, which may be behind.
fn check_lists(repository: &Repository) -> Result<()> {
    if repository.store().lists() {
        return Ok(());
    }
    Err(Error::store(format!("'{}' cannot be listed, so nobody knows what refs hold", repository.url()))
        .hint("take versions away where the repository is kept"))
}

/// Deletes the mark of each of these versions, which refs hold, where it was left by a run that did not get to its end: the
/// catalog is still there.
pub(crate) fn release(repository: &Repository, ids: impl IntoIterator<Item = VersionId>) -> Result<()> {
    for id in ids {
        let is_left = expired::read(repository, id)?.is_some_and(|expired| expired.reason == Reason::Expired);
        if is_left && repository.store().head(&Key::in_version(id, version::CATALOG))?.is_some() {
            repository.store().delete(&Key::in_version(id, expired::NAME), &Condition::Always)?;
        }
    }
    Ok(())
}

/// Deletes the marks that were made now.
fn take_back(repository: &Repository, marked: &BTreeMap<VersionId, Outcome>) -> Result<()> {
    let made = marked.iter().filter(|(_, outcome)| **outcome == Outcome::Taken).map(|(id, _)| Ok(*id));
    let delete = |id| repository.store().delete(&Key::in_version(id, expired::NAME), &Condition::Always).map(|_| ());
    in_parallel(JOBS, made, delete, |()| Ok(()))
}

/// Deletes what a version loses.
fn strip(repository: &Repository, id: VersionId) -> Result<()> {
    let failed = repository.store().delete_all(&TAKEN.map(|name| Key::in_version(id, name)))?;
    match failed.into_iter().next() {
        None => Ok(()),
        Some((_, e)) => Err(e),
    }
}
