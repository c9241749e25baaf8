//! `expired.json`: says that a version has no catalog any more, and why.

use std::thread;

use serde::{Deserialize, Serialize};

use crate::{Error, Kind, Result, id::VersionId, json, key::Key, repository::Repository, version::Version};

/// The name of the object in a version's folder.
pub const NAME: &str = "expired.json";

/// The largest `expired.json`, in bytes.
pub(crate) const MAX: u64 = 1 << 20;

/// Why a version was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was past retention.
    Expired,
    /// It held what must not be published.
    Withdrawn,
}

/// `expired.json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Expired {
    /// The format version.
    pub fdl: String,
    /// Why.
    pub reason: Reason,
    /// When, RFC 3339.
    pub at: String,
    /// What readers are told.
    #[serde(default)]
    pub message: String,
}

/// Whether the version was taken away, and why.
pub fn read(repository: &Repository, id: VersionId) -> Result<Option<Expired>> {
    let key = Key::in_version(id, NAME);
    match repository.store().get(&key, MAX)? {
        None => Ok(None),
        Some(object) => json::parse(format_args!("'{key}'"), &object.bytes).map(Some),
    }
}

/// Reads a version that was not taken away; both are asked for at once.
pub fn read_live(repository: &Repository, id: VersionId) -> Result<Version> {
    thread::scope(|scope| {
        let live = scope.spawn(|| check_live(repository, id));
        let version = Version::read(repository, id)?;
        live.join().unwrap_or_else(|_| Err(Error::fatal("a thread that read 'expired.json' died")))?;
        Ok(version)
    })
}

/// Fails with [`Kind::Expired`] and the reason, if the version was taken away.
pub fn check_live(repository: &Repository, id: VersionId) -> Result<()> {
    let Some(expired) = read(repository, id)? else { return Ok(()) };
    let what = match expired.reason {
        Reason::Expired => "is past retention",
        Reason::Withdrawn => "was withdrawn",
    };
    let message = if expired.message.is_empty() { String::new() } else { format!(": {}", expired.message) };
    Err(Error::new(Kind::Expired, format!("version {id} {what} since {}{message}", expired.at)))
}
