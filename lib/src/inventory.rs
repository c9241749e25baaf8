//! What is below `versions/`, from one listing: when each was written to its end, and taken away.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    Result, expired,
    id::VersionId,
    key::Key,
    repository::Repository,
    store::{Listed, Meta},
    version,
};

/// The folder of the versions.
pub const FOLDER: &str = "versions";

/// The objects of one version, by their names in its folder.
#[derive(Debug, Default)]
pub struct Objects(BTreeMap<String, Meta>);

impl Objects {
    fn get(&self, name: &str) -> Option<&Meta> {
        self.0.get(name)
    }

    /// Whether an object is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The size of an object, in bytes, if it is there.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.get(name).map(|meta| meta.size)
    }

    /// When it was written to its end, by the store's clock: `version.json` comes last.
    pub fn written(&self) -> Option<Timestamp> {
        self.get(version::NAME).map(|meta| meta.modified)
    }

    /// When the last of its objects was written, by the store's clock.
    pub fn newest(&self) -> Option<Timestamp> {
        self.0.values().map(|meta| meta.modified).max()
    }

    /// The names of the objects, each with its size in bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, meta)| (name.as_str(), meta.size))
    }

    /// Takes an object out of the list.
    pub fn remove(&mut self, name: &str) -> Option<Meta> {
        self.0.remove(name)
    }

    /// When it was taken away, by the store's clock.
    pub fn expired(&self) -> Option<Timestamp> {
        self.get(expired::NAME).map(|meta| meta.modified)
    }
}

/// Lists the versions of a repository. What is there and belongs to none is passed over.
pub fn list(repository: &Repository) -> Result<BTreeMap<VersionId, Objects>> {
    let mut versions: BTreeMap<VersionId, Objects> = BTreeMap::new();
    repository.store().list(Some(&Key::literal(FOLDER)), &mut |listed| {
        if let Listed::Object(key, meta) = listed
            && let Some((id, name)) = place(&key)
        {
            versions.entry(id).or_default().0.insert(name.to_owned(), meta);
        }
        Ok(())
    })?;
    Ok(versions)
}

/// The version that an object belongs to, and its name there.
fn place(key: &Key) -> Option<(VersionId, &str)> {
    let (id, name) = key.below(FOLDER)?.split_once('/')?;
    Some((id.parse().ok()?, name))
}
