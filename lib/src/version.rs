//! `version.json`: what a version is, in one object whose bytes are what is signed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Error, Result,
    digest::Digest,
    id::{RepositoryId, VersionId},
    json,
    key::Key,
    repository::Repository,
};

/// The name of the object in a version's folder.
pub const NAME: &str = "version.json";

/// The name of the frozen catalog in a version's folder.
pub const CATALOG: &str = "ducklake.duckdb";

/// The name of the description in a version's folder.
pub const DATASET: &str = "dataset.json";

/// The name of the index of data files in a version's folder.
pub const FILES: &str = "files.json";

/// The name of the signature in a version's folder.
pub const SIGNATURE: &str = "version.json.sig";

/// The largest `version.json`, in bytes.
pub const MAX: u64 = 1 << 20;

/// `version.json`. The order of the fields is their order in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Version {
    /// The format version.
    pub fdl: String,
    /// The version's id, which is also the name of its folder.
    pub id: VersionId,
    /// The repository it belongs to, so that a signed version cannot be passed off as one of another.
    pub repository: RepositoryId,
    /// The version it was built on; none for a first version, never more than one.
    pub parents: Vec<VersionId>,
    /// The digest of the parent's `version.json`: ids are no hashes, so this is what chains signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_sha256: Option<Digest>,
    /// `Name <email>`.
    pub author: String,
    /// When it was made, by the writer's clock; RFC 3339 in UTC.
    pub created: String,
    /// What its author says of it.
    pub message: String,
    /// The digest of the frozen catalog.
    pub sha256: Digest,
    /// The size of the frozen catalog, in bytes.
    pub size: u64,
    /// The catalog's own spec version, which decides who can read it.
    pub ducklake: String,
    /// The digest of `files.json`.
    pub files_sha256: Digest,
    /// Fields of a newer minor version.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Version {
    /// Reads a version and checks that it is the one asked for, and of this repository.
    pub fn read(repository: &Repository, id: VersionId) -> Result<Version> {
        Version::parse(repository, id, &Version::bytes(repository, id)?)
    }

    /// The bytes of a version's `version.json`.
    pub fn bytes(repository: &Repository, id: VersionId) -> Result<Vec<u8>> {
        match repository.store().get(&Key::in_version(id, NAME), MAX)? {
            Some(object) => Ok(object.bytes),
            None => Err(Error::not_found(format!("version {id} is not in '{}'", repository.url()))),
        }
    }

    /// Checks the bytes of a `version.json`.
    pub fn parse(repository: &Repository, id: VersionId, bytes: &[u8]) -> Result<Version> {
        let key = Key::in_version(id, NAME);
        let version: Version = json::parse(format_args!("'{key}'"), bytes)?;
        if version.id != id {
            return Err(Error::mismatch(format!("'{key}' holds version {}", version.id)));
        }
        if version.repository != repository.config().id {
            return Err(Error::mismatch(format!(
                "version {id} belongs to repository {}, not to {} at '{}'",
                version.repository,
                repository.config().id,
                repository.url()
            )));
        }
        if version.parents.len() > 1 {
            return Err(Error::fatal(format!("'{key}' is damaged: a version has no more than one parent")));
        }
        Ok(version)
    }

    /// The version it was built on.
    pub fn parent(&self) -> Option<VersionId> {
        self.parents.first().copied()
    }
}
