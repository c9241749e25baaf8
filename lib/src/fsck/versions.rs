//! The versions: their `version.json`, what it says of the parent, the catalog, and what was made from the catalog.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    sync::Mutex,
};

use camino::Utf8Path;
use tempfile::NamedTempFile;

use super::{Fsck, Level, Named};
use crate::{
    Error, Kind, Result,
    dataset::Dataset,
    digest::Digest,
    expired,
    files::{self, File},
    id::VersionId,
    inventory::{self, Inventory, Objects},
    json,
    key::Key,
    parallel::{JOBS, in_parallel},
    refname::RefName,
    store::{Body, Condition},
    version::{self, CATALOG, DATASET, FILES, Version},
    version_files,
};

/// How many catalogs are open at once: DuckDB takes some 20 MB for each.
const CATALOGS: usize = 4;

/// The largest `dataset.json` that is compared, in bytes.
const MAX_DATASET: u64 = 64 << 20;

impl Fsck<'_> {
    /// Checks the versions, and that refs hold some that can be read. Returns how many can be, and what they name.
    pub(super) fn versions(&self, held: &BTreeMap<RefName, VersionId>) -> Result<(usize, HashMap<Key, Named>)> {
        let Inventory { versions: listed, foreign } = inventory::list(self.repository)?;
        for name in foreign {
            self.error(name, "this is no object that can be read, and may hide a version")?;
        }
        for (name, id) in held {
            match listed.get(id).filter(|objects| objects.written().is_some()) {
                None => self.error(name, format_args!("it holds version {id}, which is not there"))?,
                Some(objects) if objects.expired().is_some() => {
                    self.error(name, format_args!("it holds version {id}, which was taken away"))?
                }
                Some(_) => {}
            }
        }
        let versions = self.read_versions(&listed)?;
        let named = Mutex::new(HashMap::new());
        let mut live = 0;
        in_parallel(
            CATALOGS,
            versions.iter().map(Ok),
            |(id, (version, _))| {
                self.parent(version, &versions)?;
                match listed.get(id) {
                    Some(objects) if objects.expired().is_some() => self.taken(version, objects).map(|()| 0),
                    Some(objects) => self.live(version, objects, &named).map(|()| 1),
                    None => Ok(0),
                }
            },
            |count| {
                live += count;
                Ok(())
            },
        )?;
        Ok((live, named.into_inner().map_err(|_| super::died())?))
    }

    /// Reads every `version.json`, with its digest.
    fn read_versions(&self, listed: &BTreeMap<VersionId, Objects>) -> Result<BTreeMap<VersionId, (Version, Digest)>> {
        let mut versions = BTreeMap::new();
        let read = |(id, objects): (&VersionId, &Objects)| {
            let key = Key::in_version(*id, version::NAME);
            if objects.written().is_none() {
                self.note(key, "it is not there: a push goes on, or was cut off, or the version is being deleted")?;
                return Ok(None);
            }
            let bytes = Version::bytes(self.repository, *id);
            let version =
                bytes.and_then(|bytes| Ok((Version::parse(self.repository, *id, &bytes)?, Digest::of(&bytes))));
            self.finding(key, version)
        };
        in_parallel(JOBS, listed.iter().map(Ok), read, |read| {
            versions.extend(read.map(|(version, digest)| (version.id, (version, digest))));
            Ok(())
        })?;
        Ok(versions)
    }

    /// The parent is the version that this one was built on: its id alone does not say so.
    fn parent(&self, version: &Version, versions: &BTreeMap<VersionId, (Version, Digest)>) -> Result<()> {
        let Some(parent) = version.parent() else { return Ok(()) };
        let key = Key::in_version(version.id, version::NAME);
        match (versions.get(&parent), version.parent_sha256) {
            (None, _) => {
                self.error(key, format_args!("it is built on version {parent}, which is not there or is damaged"))
            }
            (Some((_, found)), Some(wanted)) if *found != wanted => self.error(
                key,
                format_args!("it is built on version {parent} with sha256 {wanted}, but that has sha256 {found}"),
            ),
            _ => Ok(()),
        }
    }

    /// Checks what is left of a version that was taken away.
    fn taken(&self, version: &Version, objects: &Objects) -> Result<()> {
        let id = version.id;
        self.finding(Key::in_version(id, expired::NAME), expired::read(self.repository, id))?;
        if objects.has(CATALOG) || objects.has(DATASET) {
            self.note(
                Key::in_version(id, CATALOG),
                "the version was taken away, and this is still there; gc deletes it",
            )?;
        }
        if objects.has(FILES) {
            let read = version_files::each_file(self.repository, version, &mut |_| Ok(()));
            self.finding(Key::in_version(id, FILES), read)?;
        }
        Ok(())
    }

    /// Checks a version that readers read, and adds the files that it names to `named`.
    pub(super) fn live(&self, version: &Version, objects: &Objects, named: &Mutex<HashMap<Key, Named>>) -> Result<()> {
        let id = version.id;
        let mut indexed = Vec::new();
        let index = version_files::each_file(self.repository, version, &mut |file| {
            indexed.push(file);
            Ok(())
        });
        let index = if objects.has(FILES) { index } else { Err(Error::not_found("it is not there")) };
        let fetched = self.fetch(version, objects.size(CATALOG));
        if fetched.is_err() && self.repository.store().head(&Key::in_version(id, expired::NAME))?.is_some() {
            // It was taken away since it was listed.
            return Ok(());
        }
        let Some(catalog) = self.finding(Key::in_version(id, CATALOG), fetched)? else {
            self.finding(Key::in_version(id, FILES), index)?;
            return self.name(id, indexed, named);
        };
        let path = Utf8Path::from_path(catalog.path()).ok_or_else(|| Error::fatal("TMPDIR is not valid UTF-8"))?;
        let mut files = Vec::new();
        let listed = self.catalogs.each_file(path, &mut |file| {
            files.push(file);
            Ok(())
        });
        if self.finding(Key::in_version(id, CATALOG), listed)?.is_some() {
            self.index(version, index, &indexed, &files)?;
            self.dataset(id, path)?;
        }
        self.name(id, if files.is_empty() { indexed } else { files }, named)
    }

    /// Copies a catalog to a file of this machine, and finds that it is the one that `version.json` speaks of.
    fn fetch(&self, version: &Version, size: Option<u64>) -> Result<NamedTempFile> {
        match size {
            None => return Err(Error::not_found("it is not there")),
            Some(size) if size != version.size => {
                return Err(Error::mismatch(format!("it has {size} bytes, not {}", version.size)));
            }
            Some(_) => {}
        }
        let key = Key::in_version(version.id, CATALOG);
        let opened = self.repository.store().open(&key)?.ok_or_else(|| Error::not_found("it is not there"))?;
        let cannot = |e: io::Error| Error::store(format!("cannot copy '{key}' from '{}': {e}", self.repository.url()));
        let (mut body, mut file) = (opened.body, NamedTempFile::new().map_err(cannot)?);
        let (digest, _) = Digest::of_copy(&mut body, &mut file).map_err(cannot)?;
        if digest == version.sha256 {
            return Ok(file);
        }
        Err(Error::mismatch(format!("it has sha256 {digest}, but version.json says {}", version.sha256)))
    }

    /// Compares `files.json` with the catalog that it is an index of.
    fn index(&self, version: &Version, index: Result<()>, indexed: &[File], files: &[File]) -> Result<()> {
        let key = Key::in_version(version.id, FILES);
        let fact = |file: &File| (file.path.clone(), file.size, file.kind);
        let what = match index {
            Ok(()) => match (0..indexed.len().max(files.len()))
                .find(|n| indexed.get(*n).map(fact) != files.get(*n).map(fact))
                .and_then(|n| files.get(n).or(indexed.get(n)))
            {
                None => return Ok(()),
                // Its digest is in version.json, so nothing else can be put there.
                Some(file) => {
                    return self.error(key, format_args!("it does not say of '{}' what the catalog says", file.path));
                }
            },
            Err(e) if e.kind() == Kind::Busy => return Err(e),
            Err(e) => e.to_string(),
        };
        if !self.options.repair {
            return self.error(key, what);
        }
        let mut bytes = Vec::new();
        let mut writer = files::Writer::new(&mut bytes)?;
        files.iter().try_for_each(|file| writer.file(file.clone()))?;
        writer.finish()?;
        if Digest::of(&bytes) != version.files_sha256 {
            return self.error(key, format_args!("{what}; what is made from the catalog is not what was there"));
        }
        self.repository.store().put(&key, Body::Bytes(&bytes), &Condition::Always)?;
        self.find(Level::Repaired, key, what)
    }

    /// Compares `dataset.json` with the catalog that it describes.
    fn dataset(&self, id: VersionId, catalog: &Utf8Path) -> Result<()> {
        let key = Key::in_version(id, DATASET);
        let described = json::to_bytes(&self.catalogs.describe(catalog)?)?;
        let what = match self.repository.store().get(&key, MAX_DATASET) {
            Ok(Some(object)) if object.bytes == described => return Ok(()),
            Ok(Some(object)) => match json::parse::<Dataset>("it", &object.bytes) {
                Ok(_) => "it does not say what the catalog says".to_owned(),
                Err(e) => e.to_string(),
            },
            Ok(None) => "it is not there".into(),
            Err(e) => e.to_string(),
        };
        if !self.options.repair {
            return self.error(key, what);
        }
        self.repository.store().put(&key, Body::Bytes(&described), &Condition::Always)?;
        self.find(Level::Repaired, key, what)
    }

    /// Adds the files of a version.
    fn name(&self, id: VersionId, files: Vec<File>, named: &Mutex<HashMap<Key, Named>>) -> Result<()> {
        let mut named = named.lock().map_err(|_| super::died())?;
        for File { path, size, sha256, .. } in files {
            let other = named.entry(path.clone()).or_insert(Named { size, sha256, version: id });
            other.sha256 = other.sha256.or(sha256);
            if other.size != size {
                let (version, wanted) = (other.version, other.size);
                self.error(
                    self.repository.data_key(&path)?,
                    format_args!("version {id} says {size} bytes, version {version} says {wanted}"),
                )?;
            }
        }
        Ok(())
    }
}
