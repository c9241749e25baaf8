//! The data files of a version, read from a `files.json` whose digest `version.json` holds.

use crate::{
    Error, Result,
    files::{self, File},
    key::Key,
    repository::Repository,
    transfer::Spooled,
    version::{FILES, Version},
};

/// Visits the files of a version, once its `files.json` was found to be the one that `version.json` speaks of.
pub fn each_file(repository: &Repository, version: &Version, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()> {
    let key = Key::in_version(version.id, FILES);
    let opened = repository
        .store()
        .open(&key)?
        .ok_or_else(|| Error::not_found(format!("'{key}' is not in '{}'", repository.url())))?;
    let spooled = Spooled::new(opened.body, Some(opened.meta.size))
        .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", repository.url())))?;
    if spooled.digest != version.files_sha256 {
        return Err(Error::mismatch(format!(
            "'{key}' has sha256 {}, but its version.json says {}",
            spooled.digest, version.files_sha256
        )));
    }
    files::read(spooled.file, visit).map_err(|e| e.context(format_args!("version {}", version.id)))
}
