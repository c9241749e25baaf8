//! What is below `versions/`, from one listing: when each was written to its end, and taken away.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    Error, Result, expired,
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

    /// Whether gc has used its list of files already: it was taken away and longer ago than the grace of that gc.
    pub fn is_used_up(&self) -> bool {
        self.written().is_some() && self.expired().is_some() && !self.has(version::FILES)
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

/// The versions of a repository as one listing tells them.
#[derive(Debug, Default)]
pub struct Inventory {
    /// The versions.
    pub versions: BTreeMap<VersionId, Objects>,
    /// What is there and cannot be an object, such as a link: it may hide a version.
    pub foreign: Vec<String>,
}

/// Lists the versions of a repository. An object that belongs to none is passed over.
pub fn list(repository: &Repository) -> Result<Inventory> {
    let mut inventory = Inventory::default();
    repository.store().list(Some(&Key::literal(FOLDER)), &mut |listed| {
        match listed {
            Listed::Object(key, meta) => {
                if let Some((id, name)) = place(&key) {
                    inventory.versions.entry(id).or_default().0.insert(name.to_owned(), meta);
                }
            }
            Listed::Foreign(name) => inventory.foreign.push(name),
        }
        Ok(())
    })?;
    Ok(inventory)
}

/// The objects of one version; none where it is not there.
pub fn of_version(repository: &Repository, id: VersionId) -> Result<Objects> {
    let mut objects = Objects::default();
    repository.store().list(Some(&Key::new(&format!("{FOLDER}/{id}"))?), &mut |listed| {
        if let Listed::Object(key, meta) = listed
            && let Some((_, name)) = place(&key)
        {
            objects.0.insert(name.to_owned(), meta);
        }
        Ok(())
    })?;
    Ok(objects)
}

/// The same as [`list`] for one who takes away what none of them needs: an error where one may be hidden.
pub fn list_surely(repository: &Repository) -> Result<BTreeMap<VersionId, Objects>> {
    let Inventory { versions, foreign } = list(repository)?;
    match foreign.first() {
        None => Ok(versions),
        Some(name) => Err(Error::fatal(format!(
            "'{}' is no object that can be read, so nothing was taken away",
            name.escape_debug()
        ))
        .hint("'fdl fsck' finds what is wrong")),
    }
}

/// The version that an object belongs to, and its name there.
fn place(key: &Key) -> Option<(VersionId, &str)> {
    let (id, name) = key.below(FOLDER)?.split_once('/')?;
    Some((id.parse().ok()?, name))
}
