//! Refs: the names that readers start from. A ref holds the id of a version. A branch moves forward only, a tag never
//! moves, and every move is on condition of what the ref held before.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Kind, Result, expired, history,
    id::VersionId,
    json,
    key::Key,
    parallel::{JOBS, in_parallel},
    refname::RefName,
    repository::Repository,
    store::{Body, Condition, ETag, Listed, Store, Written},
    version::Version,
};

/// The largest ref, in bytes: an id is 36 bytes and a newline.
const MAX_REF: u64 = 64;

/// The largest HEAD, in bytes.
const MAX_HEAD: u64 = 256;

/// The largest `refs.json`, in bytes.
const MAX_REFS: u64 = 16 << 20;

/// How often a write on condition is tried while nothing says that it was lost.
const TRIES: u32 = 8;

/// What a ref holds, and the tag to move it by; both from one answer of the store.
#[derive(Clone, Debug)]
pub struct Value {
    /// The version.
    pub id: VersionId,
    /// The tag of the ref.
    pub etag: ETag,
}

/// What a writer expects a ref to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it holds when it is first read.
    Any,
    /// Nothing: the ref is to be made.
    Absent,
    /// This version.
    Version(VersionId),
}

/// What `name` holds, or `None` where there is no such ref.
pub fn read(repository: &Repository, name: &RefName) -> Result<Option<Value>> {
    let key = name.key();
    let Some(object) = repository.store().get(&key, MAX_REF)? else { return Ok(None) };
    let id = std::str::from_utf8(&object.bytes)
        .ok()
        .and_then(|text| text.strip_suffix('\n'))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::fatal(format!("'{key}' is damaged: it does not hold a version id")))?;
    Ok(Some(Value { id, etag: object.etag }))
}

/// All refs whose names begin with `prefix` (a folder such as `refs` or `refs/tags`), in order of their names. Where a store
/// has no lists they are those of `refs.json`.
pub fn list(repository: &Repository, prefix: &Key) -> Result<Vec<RefName>> {
    if !repository.store().lists() {
        let below = |name: &RefName| name.key().below(prefix.as_str()).is_some();
        return Ok(published(repository)?.into_iter().filter(below).collect());
    }
    list_with(repository, prefix, &mut |_| Ok(()))
}

/// The same where the store has lists; `other` is called with what stands there and is no ref.
fn list_with(repository: &Repository, prefix: &Key, other: &mut dyn FnMut(&str) -> Result<()>) -> Result<Vec<RefName>> {
    let mut names = Vec::new();
    repository.store().list(Some(prefix), &mut |listed| {
        match &listed {
            Listed::Object(key, _) => match key.as_str().parse() {
                Ok(name) => names.push(name),
                Err(_) => other(key.as_str())?,
            },
            Listed::Foreign(name) => other(name)?,
        }
        Ok(())
    })?;
    Ok(names)
}

/// What all refs hold whose names begin with `prefix`, in order of their names. One that was deleted since it was listed is
/// no ref any more.
pub fn read_all(repository: &Repository, prefix: &Key) -> Result<BTreeMap<RefName, VersionId>> {
    read_each(repository, list(repository, prefix)?)
}

/// What all refs hold, for one who takes away what none of them needs.
///
/// # Errors
/// Where it is not certain that these are all: something below `refs/` is no ref, or one that `refs.json` names is gone.
/// [`Kind::Busy`] where that may be so only now.
pub fn read_surely(repository: &Repository) -> Result<BTreeMap<RefName, VersionId>> {
    // It comes first: a ref that is made meanwhile is in the list.
    let published = match repository.store().get(&Key::literal("refs.json"), MAX_REFS)? {
        Some(object) => in_server_info(repository, &object.bytes)?.collect(),
        None => Vec::new(),
    };
    let other = |name: &str| {
        Error::fatal(format!("'{}' is no ref that can be read, so nothing was taken away", name.escape_debug()))
            .hint("'fdl fsck' finds what is wrong")
    };
    for _ in 0..TRIES {
        let names = list_with(repository, &Key::literal("refs"), &mut |name| Err(other(name)))?;
        let count = names.len();
        let refs = read_each(repository, names)?;
        // One that is gone since it was listed may be there by another name now.
        if refs.len() < count {
            continue;
        }
        return match published.into_iter().find(|name| !refs.contains_key(name)) {
            None => Ok(refs),
            Some(name) => {
                Err(Error::new(Kind::Busy, format!("'{name}' is in refs.json and is gone; nothing was taken away"))
                    .hint("where it was deleted on purpose, 'fdl update-server-info' takes it out of refs.json"))
            }
        };
    }
    Err(Error::new(
        Kind::Busy,
        format!("refs of '{}' are deleted all the time; nothing was taken away", repository.url()),
    ))
}

/// What these refs hold, of those that are there.
fn read_each(
    repository: &Repository,
    names: impl IntoIterator<Item = RefName, IntoIter: Send>,
) -> Result<BTreeMap<RefName, VersionId>> {
    let mut refs = BTreeMap::new();
    in_parallel(
        JOBS,
        names.into_iter().map(Ok),
        |name| read(repository, &name).map(|value| value.map(|value| (name, value.id))),
        |found| {
            refs.extend(found);
            Ok(())
        },
    )?;
    Ok(refs)
}

/// The names in `refs.json`. A repository that has none is a new one, or is not made to be read so.
fn published(repository: &Repository) -> Result<Vec<RefName>> {
    if let Some(object) = repository.store().get(&Key::literal("refs.json"), MAX_REFS)? {
        return in_server_info(repository, &object.bytes).map(Iterator::collect);
    }
    let branch = head(repository)?;
    match read(repository, &branch)? {
        None => Ok(Vec::new()),
        Some(_) => {
            Err(Error::store(format!("'{}' has no refs.json, and over HTTP there are no lists", repository.url()))
                .hint("'fdl update-server-info' writes it where the repository is kept"))
        }
    }
}

/// The names in a `refs.json`.
fn in_server_info(repository: &Repository, bytes: &[u8]) -> Result<impl Iterator<Item = RefName>> {
    let info: ServerInfo = json::parse(format_args!("'refs.json' of '{}'", repository.url()), bytes)?;
    Ok(info.refs.into_keys())
}

/// Moves or makes the ref `name`, if it holds what is `expected`, and if that is a step forward.
///
/// # Errors
/// [`Kind::Conflict`], which names the version that won; [`Kind::Busy`] when the outcome is not known.
pub fn update(repository: &Repository, name: &RefName, new: VersionId, expected: Expected) -> Result<()> {
    repository.check_writable()?;
    let old = read(repository, name)?;
    let tracking = !(name.is_branch() || name.is_tag());
    match (&old, expected) {
        // What was to be done is done: a push that was cut off is run again.
        (Some(old), _) if old.id == new && tracking => return Ok(()),
        (Some(old), _) if old.id == new => return check_done(repository, name, new, expected),
        (Some(old), Expected::Absent) => return Err(lost(name, Some(old.id))),
        (Some(old), Expected::Version(id)) if old.id != id => return Err(lost(name, Some(old.id))),
        (None, Expected::Version(_)) => return Err(lost(name, None)),
        _ => {}
    }
    if !tracking {
        check_target(repository, name, old.as_ref(), new)?;
    }
    if old.is_none() {
        check_collisions(repository, name)?;
    }
    write(repository, name, old.as_ref(), new)?;
    if tracking { Ok(()) } else { take_back_if_expired(repository, name, old.map(|old| old.id), new) }
}

/// Deletes the ref `name`, if it holds what is `expected`.
pub fn delete(repository: &Repository, name: &RefName, expected: Expected) -> Result<()> {
    repository.check_writable()?;
    let Some(old) = read(repository, name)? else {
        return Err(Error::not_found(format!("'{name}' does not exist in '{}'", repository.url())));
    };
    let as_expected = match expected {
        Expected::Any => true,
        // An empty OLD, as from a script's variable that was never set, deletes nothing.
        Expected::Absent => false,
        Expected::Version(id) => id == old.id,
    };
    if !as_expected {
        return Err(lost(name, Some(old.id)));
    }
    if repository.store().delete(&name.key(), &Condition::Matches(old.etag))? {
        return Ok(());
    }
    match read(repository, name)? {
        None => Ok(()),
        Some(now) => Err(lost(name, Some(now.id))),
    }
}

/// Refuses a version that may not stand in the ref.
fn check_target(repository: &Repository, name: &RefName, old: Option<&Value>, new: VersionId) -> Result<()> {
    let version = expired::read_live(repository, new)?;
    let Some(old) = old else { return Ok(()) };
    if name.is_tag() {
        return Err(Error::conflict(format!("'{name}' holds {} already, and a tag never moves", old.id)));
    }
    if !history::comes_after(repository, &version, old.id)? {
        return Err(Error::conflict(format!(
            "'{name}' holds {}, which is no ancestor of {new}; a branch moves forward only",
            old.id
        )));
    }
    Ok(())
}

/// Refuses a name above or below that of another ref, or different from it only in case: not every store could hold both.
fn check_collisions(repository: &Repository, name: &RefName) -> Result<()> {
    for other in list(repository, &Key::literal("refs"))? {
        if name.collides_with(&other) {
            return Err(Error::fatal(format!("cannot make '{name}': '{other}' exists")));
        }
        if other != *name && other.as_str().eq_ignore_ascii_case(name.as_str()) {
            return Err(Error::fatal(format!("cannot make '{name}': it differs from '{other}' only in case")));
        }
    }
    Ok(())
}

/// Writes the ref on condition. After every answer but a clear yes the ref is read again, and its content decides.
fn write(repository: &Repository, name: &RefName, old: Option<&Value>, new: VersionId) -> Result<()> {
    let condition = match old {
        Some(old) => Condition::Matches(old.etag.clone()),
        None => Condition::Absent,
    };
    let bytes = format!("{new}\n");
    let mut pause = Duration::from_millis(100);
    let mut failure = None;
    for _ in 0..TRIES {
        match repository.store().put(&name.key(), Body::Bytes(bytes.as_bytes()), &condition) {
            Ok(Written::Done) => return check_kept(repository, name, new),
            Ok(Written::Refused) => {}
            Err(e) => failure = Some(e),
        }
        let now = read(repository, name).map_err(|e| unknown(name, new, &e))?;
        match (&now, old) {
            (Some(now), _) if now.id == new => return Ok(()),
            (Some(now), Some(old)) if now.id == old.id => {}
            (None, None) => {}
            (Some(now), _) if comes_after(repository, name, now.id, new)? => return Ok(()),
            _ => return Err(lost(name, now.map(|now| now.id))),
        }
        // The ref is as it was. A store that says why is believed; an answer that was lost is tried again.
        if let Some(e) = failure.take_if(|e| matches!(e.kind(), Kind::Store | Kind::No)) {
            return Err(e);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_secs(5));
    }
    Err(failure.unwrap_or_else(|| Error::new(Kind::Busy, format!("'{name}' could not be moved to {new}; try again"))))
}

/// Reads a ref back that was written: a store that took our write and another's on the same condition is found out here,
/// if not by its probe. A ref that cannot be read was written all the same.
fn check_kept(repository: &Repository, name: &RefName, new: VersionId) -> Result<()> {
    match read(repository, name) {
        Ok(Some(now)) if now.id != new && !comes_after(repository, name, now.id, new)? => Err(Error::conflict(
            format!("'{name}' was moved to {new}, and then another writer's {} took its place", now.id),
        )
        .hint("the store let two writers win; 'fdl-probe-store' shows whether it does so again")),
        _ => Ok(()),
    }
}

/// Whether the ref `name`, which holds `now`, has moved on from `new`.
fn comes_after(repository: &Repository, name: &RefName, now: VersionId, new: VersionId) -> Result<bool> {
    history::descends(repository, now, new).map_err(|e| unknown(name, new, &e))
}

/// Looks for the mark of a version that the ref holds already: who wrote it may have been cut off before that. It is known
/// what it held where it was to be made, or where that is the version's parent.
fn check_done(repository: &Repository, name: &RefName, new: VersionId, expected: Expected) -> Result<()> {
    let Err(expired) = expired::check_live(repository, new) else { return Ok(()) };
    match expected {
        Expected::Absent => take_back_if_expired(repository, name, None, new),
        Expected::Version(old) if Version::read(repository, new)?.parent() == Some(old) => {
            take_back_if_expired(repository, name, Some(old), new)
        }
        _ => Err(expired),
    }
}

/// The other half of expire's rule: it marks the version and then reads the refs, we write the ref and then look for the mark.
fn take_back_if_expired(repository: &Repository, name: &RefName, old: Option<VersionId>, new: VersionId) -> Result<()> {
    let Err(expired) = expired::check_live(repository, new) else { return Ok(()) };
    if expired.kind() != Kind::Expired {
        return Err(expired);
    }
    let Some(written) = read(repository, name)?.filter(|now| now.id == new) else { return Err(expired) };
    let condition = Condition::Matches(written.etag);
    match old {
        None => repository.store().delete(&name.key(), &condition).map(|_| ())?,
        Some(old) => {
            let bytes = format!("{old}\n");
            repository.store().put(&name.key(), Body::Bytes(bytes.as_bytes()), &condition).map(|_| ())?;
            expired::check_live(repository, old)
                .map_err(|e| e.context(format_args!("'{name}' was moved back, but")))?;
        }
    }
    Err(expired.context(format_args!("'{name}' was not moved")))
}

fn lost(name: &RefName, now: Option<VersionId>) -> Error {
    match now {
        Some(id) => Error::conflict(format!("'{name}' holds {id} now: another writer was first")),
        None => Error::conflict(format!("'{name}' does not exist any more: another writer deleted it")),
    }
}

fn unknown(name: &RefName, new: VersionId, e: &Error) -> Error {
    Error::new(Kind::Busy, format!("it is not known whether '{name}' was moved to {new}: {e}"))
        .hint("nothing was cleaned up; run the same command again")
}

/// The branch that HEAD names.
pub fn head(repository: &Repository) -> Result<RefName> {
    read_head(repository).map(|(name, _)| name)
}

fn read_head(repository: &Repository) -> Result<(RefName, ETag)> {
    let Some(object) = repository.store().get(&Key::literal("HEAD"), MAX_HEAD)? else {
        return Err(Error::not_found(format!("'{}' has no HEAD", repository.url())));
    };
    let name = std::str::from_utf8(&object.bytes)
        .ok()
        .and_then(|text| text.strip_prefix("ref: ")?.strip_suffix('\n'))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::fatal("'HEAD' is damaged: it does not name a ref"))?;
    Ok((name, object.etag))
}

/// Writes the HEAD of a repository that is being made; one that is there already stays.
pub(crate) fn create_head(store: &dyn Store, branch: &RefName) -> Result<Written> {
    store.put(&Key::literal("HEAD"), Body::Bytes(head_bytes(branch).as_bytes()), &Condition::Absent)
}

/// Refuses to finish a repository that was made in part with another HEAD, or a folder where another program keeps one.
pub(crate) fn check_head(store: &dyn Store, branch: &RefName) -> Result<()> {
    match store.get(&Key::literal("HEAD"), MAX_HEAD)? {
        Some(head) if head.bytes != head_bytes(branch).as_bytes() => Err(Error::fatal(format!(
            "there is no repository at '{}', but a HEAD that does not name '{branch}'",
            store.url()
        ))
        .hint("delete it if nothing needs it, or choose another place")),
        _ => Ok(()),
    }
}

/// Makes HEAD name another branch.
pub fn set_head(repository: &Repository, branch: &RefName) -> Result<()> {
    repository.check_writable()?;
    if !branch.is_branch() {
        return Err(Error::fatal(format!("HEAD cannot name '{branch}': it is not a branch")));
    }
    let (now, etag) = read_head(repository)?;
    if now == *branch {
        return Ok(());
    }
    let body = head_bytes(branch);
    match repository.store().put(&Key::literal("HEAD"), Body::Bytes(body.as_bytes()), &Condition::Matches(etag))? {
        Written::Done => Ok(()),
        Written::Refused => Err(Error::conflict("HEAD was changed by another writer; nothing was changed")),
    }
}

fn head_bytes(branch: &RefName) -> String {
    format!("ref: {branch}\n")
}

/// `refs.json`: the refs, for a reader who cannot list them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// The format version.
    pub fdl: String,
    /// The branch that HEAD names.
    pub head: RefName,
    /// Every branch and tag.
    pub refs: BTreeMap<RefName, VersionId>,
}

/// Brings `refs.json` in line with HEAD and the refs. Where a store has no lists, `also` names those that are not in it yet.
///
/// Its tag is read before the refs are, so of two that do this at once the later one sees what the other wrote. A host
/// that writes it itself has done so already, or says that it keeps it to itself; either is as it should be.
pub fn update_server_info(repository: &Repository, also: &[RefName]) -> Result<()> {
    repository.check_writable()?;
    let key = Key::literal("refs.json");
    for _ in 0..TRIES {
        let old = repository.store().get(&key, MAX_REFS)?;
        let names = match &old {
            _ if repository.store().lists() => list(repository, &Key::literal("refs"))?.into_iter().collect(),
            Some(old) => in_server_info(repository, &old.bytes)?.chain(also.iter().cloned()).collect(),
            // Without lists and without the file there is nothing else to go by.
            None => also.iter().cloned().chain([head(repository)?]).collect(),
        };
        let bytes = json::to_bytes(&server_info(repository, names)?)?;
        let condition = match old {
            Some(old) if old.bytes == bytes => return Ok(()),
            Some(old) => Condition::Matches(old.etag),
            None => Condition::Absent,
        };
        match repository.store().put(&key, Body::Bytes(&bytes), &condition) {
            Ok(Written::Done) => return Ok(()),
            Ok(Written::Refused) => {}
            Err(e) if e.kind() == Kind::No => return Ok(()),
            Err(e) => return Err(e),
        }
    }
    Err(Error::new(Kind::Busy, "refs.json is written by others all the time; it is behind the refs for now")
        .hint("'fdl update-server-info' brings it up to date"))
}

/// Whether `refs.json` says what HEAD and the refs are; a repository without refs needs none.
pub fn is_server_info_current(repository: &Repository) -> Result<bool> {
    let found = repository.store().get(&Key::literal("refs.json"), MAX_REFS)?;
    let info = server_info(repository, list(repository, &Key::literal("refs"))?.into_iter().collect())?;
    match found {
        Some(object) => Ok(object.bytes == json::to_bytes(&info)?),
        None => Ok(info.refs.is_empty()),
    }
}

fn server_info(repository: &Repository, names: BTreeSet<RefName>) -> Result<ServerInfo> {
    let refs = read_each(repository, names.into_iter().filter(|name| name.is_branch() || name.is_tag()))?;
    Ok(ServerInfo { fdl: json::FORMAT.into(), head: head(repository)?, refs })
}
