//! What is below `versions/`, from one listing: which versions are whole, which were taken away, which were never finished.

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
    /// What the store says of an object, if it is there.
    pub fn get(&self, name: &str) -> Option<&Meta> {
        self.0.get(name)
    }

    /// Whether it was written to its end: `version.json` comes last.
    pub fn is_whole(&self) -> bool {
        self.get(version::NAME).is_some()
    }

    /// When it was taken away, by the store's clock.
    pub fn expired(&self) -> Option<Timestamp> {
        self.get(expired::NAME).map(|meta| meta.modified)
    }

    /// When the last of its objects was written, by the store's clock.
    pub fn newest(&self) -> Option<Timestamp> {
        self.0.values().map(|meta| meta.modified).max()
    }

    /// The names of the objects, each with what the store says of it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Meta)> {
        self.0.iter().map(|(name, meta)| (name.as_str(), meta))
    }
}

/// The versions of a repository as a listing tells them.
#[derive(Debug, Default)]
pub struct Inventory {
    /// The versions.
    pub versions: BTreeMap<VersionId, Objects>,
    /// What is there and belongs to no version, as it is spelled.
    pub foreign: Vec<String>,
}

/// Lists the versions of a repository.
pub fn list(repository: &Repository) -> Result<Inventory> {
    let mut inventory = Inventory::default();
    repository.store().list(Some(&Key::literal(FOLDER)), &mut |listed| {
        match listed {
            Listed::Object(key, meta) => match place(&key) {
                Some((id, name)) => {
                    inventory.versions.entry(id).or_default().0.insert(name.to_owned(), meta);
                }
                None => inventory.foreign.push(key.to_string()),
            },
            Listed::Foreign(name) => inventory.foreign.push(name),
        }
        Ok(())
    })?;
    Ok(inventory)
}

/// The version that an object belongs to, and its name there.
fn place(key: &Key) -> Option<(VersionId, &str)> {
    let (id, name) = key.below(FOLDER)?.split_once('/')?;
    Some((id.parse().ok()?, name))
}
