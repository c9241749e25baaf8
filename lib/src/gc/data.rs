//! The data files of a repository, and which of them versions name.

use std::{
    collections::HashMap,
    fmt,
    sync::atomic::{AtomicU8, Ordering},
};

use indicatif::BinaryBytes;
use serde::Serialize;

use super::Cutoff;
use crate::{
    Error, Kind, Result,
    files::{self, File},
    id::VersionId,
    key::Key,
    parallel::{JOBS, in_parallel},
    repository::Repository,
    store::{Listed, Meta},
    version::{FILES, Version},
    version_files,
};

/// What has the highest claim on a file, in the order of the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// No version names it.
    None,
    /// A version does that was taken away less than the grace ago.
    Expired,
    /// A version does that can be read.
    Live,
}

/// A data file.
struct DataFile {
    meta: Meta,
    claim: AtomicU8,
}

impl DataFile {
    /// The highest claim on it.
    fn claim(&self) -> Claim {
        match self.claim.load(Ordering::Relaxed) {
            0 => Claim::None,
            1 => Claim::Expired,
            _ => Claim::Live,
        }
    }
}

/// The data files that a listing found, by their paths below the data folder.
#[derive(Default)]
pub struct DataFiles {
    files: HashMap<Key, DataFile>,
    foreign: u64,
}

/// The data files that stay, by what keeps them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Kept {
    /// Versions name them.
    pub named: Count,
    /// Only versions name them that were taken away since the grace began.
    pub expired: Count,
    /// Nothing names them, and they were written since the grace began.
    pub young: Count,
    /// Objects in the data folder that are none that DuckLake writes; they are never deleted.
    pub foreign: u64,
}

/// How many objects, and how large they are together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Count {
    /// How many.
    pub objects: u64,
    /// Their size, in bytes.
    pub bytes: u64,
}

impl Count {
    /// One more, of so many bytes.
    pub fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes += bytes;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.objects, BinaryBytes(self.bytes))
    }
}

/// A version whose files are asked for.
pub struct Namer<'a> {
    /// Its id.
    pub id: VersionId,
    /// Its `version.json`; none where a push has not come to its end, or was cut off.
    pub version: Option<&'a Version>,
    /// What it is to the files that it names.
    pub claim: Claim,
}

impl DataFiles {
    /// Lists the data files.
    pub fn list(repository: &Repository) -> Result<DataFiles> {
        let folder = &repository.config().data_dir;
        let mut found = DataFiles::default();
        repository.store().list(Some(folder), &mut |listed| {
            match listed {
                Listed::Object(key, meta) if is_data_file(&key) => {
                    if let Some(path) = key.below(folder.as_str()) {
                        found.files.insert(Key::new(path)?, DataFile { meta, claim: AtomicU8::new(Claim::None as u8) });
                    }
                }
                Listed::Object(..) | Listed::Foreign(_) => found.foreign += 1,
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Reads what versions name. One that cannot be read is an error: it may name any file.
    pub fn claim<'a>(
        &self,
        repository: &Repository,
        namers: impl IntoIterator<Item = Namer<'a>, IntoIter: Send>,
    ) -> Result<()> {
        let read = |namer: Namer<'_>| {
            let mut visit = |file: File| {
                if let Some(found) = self.files.get(&file.path) {
                    found.claim.fetch_max(namer.claim as u8, Ordering::Relaxed);
                }
                Ok(())
            };
            let read = match namer.version {
                Some(version) => version_files::each_file(repository, version, &mut visit),
                None => each_file_of_unfinished(repository, namer.id, &mut visit),
            };
            read.map_err(|e| unreadable(namer.id, &e))
        };
        in_parallel(JOBS, namers.into_iter().map(Ok), read, |()| Ok(()))
    }

    /// The files that nothing names and that were written before `cutoff`, with their sizes, in the order of their keys.
    pub fn unnamed(&self, cutoff: Cutoff) -> Vec<(Key, u64)> {
        let is_unnamed = |file: &DataFile| file.claim() == Claim::None && cutoff.is_past(file.meta.modified);
        let unnamed = self.files.iter().filter(|(_, file)| is_unnamed(file));
        let mut unnamed: Vec<_> = unnamed.map(|(path, file)| (path.clone(), file.meta.size)).collect();
        unnamed.sort_unstable();
        unnamed
    }

    /// The files that stay, by what keeps them.
    pub fn kept(&self, cutoff: Cutoff) -> Kept {
        let mut kept = Kept { foreign: self.foreign, ..Kept::default() };
        for file in self.files.values() {
            let size = file.meta.size;
            match file.claim() {
                Claim::Live => kept.named.add(size),
                Claim::Expired => kept.expired.add(size),
                Claim::None if cutoff.is_past(file.meta.modified) => {}
                Claim::None => kept.young.add(size),
            }
        }
        kept
    }

    /// Whether something names a file now.
    pub fn is_named(&self, path: &Key) -> bool {
        self.files.get(path).is_some_and(|file| file.claim() > Claim::None)
    }
}

/// What has no `version.json` has no digest of its `files.json` either. To name a file can only keep it.
fn each_file_of_unfinished(
    repository: &Repository,
    id: VersionId,
    visit: &mut dyn FnMut(File) -> Result<()>,
) -> Result<()> {
    match repository.store().open(&Key::in_version(id, FILES))? {
        Some(opened) => files::read(opened.body, visit),
        None => Ok(()),
    }
}

fn unreadable(id: VersionId, e: &Error) -> Error {
    let kind = if e.kind() == Kind::Busy { Kind::Busy } else { Kind::Mismatch };
    Error::new(kind, format!("what version {id} names cannot be read, so no file was deleted: {e}"))
}

/// Whether an object has a name that DuckLake gives to the files it writes: `ducklake-<uuid>.parquet` for rows, the same
/// with `-delete` for deletions, and `.puffin` for the newer kind of those.
fn is_data_file(key: &Key) -> bool {
    let name = key.segments().next_back().unwrap_or_default();
    let stem = name.strip_suffix(".parquet").or_else(|| name.strip_suffix(".puffin"));
    let uuid = stem.and_then(|stem| stem.strip_prefix("ducklake-"));
    let uuid = uuid.map(|uuid| uuid.strip_suffix("-delete").unwrap_or(uuid));
    // There are other ways to spell one; DuckLake has this.
    uuid.is_some_and(|text| uuid::Uuid::try_parse(text).is_ok_and(|uuid| uuid.hyphenated().to_string() == text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ducklake_writes_is_a_data_file() {
        let uuid = "0199c9a0-0000-7000-8000-00000000000a";
        for name in [".parquet", "-delete.parquet", ".puffin", "-delete.puffin"] {
            assert!(is_data_file(&Key::new(&format!("data/main/t/x=1/ducklake-{uuid}{name}")).unwrap()), "{name}");
        }
        for name in [
            "notes.txt".to_owned(),
            "mine.parquet".to_owned(),
            "ducklake-1.parquet".to_owned(),
            format!("ducklake-{uuid}"),
            format!("ducklake-{}.parquet", uuid.to_uppercase()),
            format!("ducklake-{}.parquet", uuid.replace('-', "")),
            format!("ducklake-{uuid}.csv"),
            format!("{uuid}.parquet"),
            format!("ducklake-{uuid}.parquet/more"),
        ] {
            assert!(!is_data_file(&Key::new(&format!("data/{name}")).unwrap()), "{name}");
        }
    }
}
