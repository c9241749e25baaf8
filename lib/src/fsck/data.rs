//! The data files: that they are there, as long as they must be, and what they hold.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io::{self, Write},
};

use indicatif::BinaryBytes;

use super::Fsck;
use crate::{
    Error, Kind, Result,
    digest::Digest,
    gc,
    id::VersionId,
    key::Key,
    parallel::{JOBS, in_parallel},
    store::Listed,
    version::Version,
    version_files,
};

/// A data file that versions name.
pub(super) struct Named {
    pub size: u64,
    pub sha256: Option<Digest>,
    /// One of the versions.
    pub version: VersionId,
}

impl Fsck<'_> {
    /// Checks the data files that versions name, and counts the others.
    pub(super) fn data(&self, named: &HashMap<Key, Named>) -> Result<()> {
        let folder = &self.repository.config().data_dir;
        let (mut found, mut others, mut bytes) = (HashSet::new(), 0u64, 0);
        self.repository.store().list(Some(folder), &mut |listed| {
            let Listed::Object(key, meta) = listed else { return Ok(()) };
            let Some(path) = key.below(folder.as_str()).map(Key::new).transpose()? else { return Ok(()) };
            match named.get(&path) {
                None => {
                    others += 1;
                    bytes += meta.size;
                }
                Some(Named { size, version, .. }) => {
                    found.insert(path);
                    if meta.size != *size {
                        let what = format_args!("it has {} bytes, but version {version} says {size}", meta.size);
                        self.error(&key, what)?;
                    }
                }
            }
            Ok(())
        })?;
        let mut missing: Vec<_> = named.iter().filter(|(path, _)| !found.contains(*path)).collect();
        missing.sort_unstable_by_key(|(path, _)| *path);
        for (path, named) in missing {
            self.error(
                self.repository.data_key(path)?,
                format_args!("it is not there; version {} names it", named.version),
            )?;
        }
        if others > 0 {
            self.note(folder, format_args!("{others} files ({}) that no version names", BinaryBytes(bytes)))?;
        }
        if self.options.data {
            let read = |(path, named): (&Key, &Named)| self.read_data(&self.repository.data_key(path)?, named);
            in_parallel(JOBS, named.iter().filter(|(path, _)| found.contains(*path)).map(Ok), read, |()| Ok(()))?;
        }
        Ok(())
    }

    /// Checks those data files of a version that its parent does not name.
    pub(super) fn new_data(&self, version: &Version, mut named: HashMap<Key, Named>) -> Result<()> {
        if let Some(parent) = version.parent()
            && let Ok(parent) = Version::read(self.repository, parent)
        {
            // Where the parent's list cannot be read, all are looked at.
            let mut known = Vec::new();
            let read = version_files::each_file(self.repository, &parent, &mut |file| {
                known.push((file.path, file.size));
                Ok(())
            });
            if read.is_ok() {
                for (path, size) in known {
                    if named.get(&path).is_some_and(|file| file.size == size) {
                        named.remove(&path);
                    }
                }
            }
        }
        let about_to_go = if named.is_empty() { BTreeSet::new() } else { gc::about_to_go(self.repository)? };
        let look = |(path, file): (Key, Named)| {
            let key = self.repository.data_key(&path)?;
            match self.repository.store().head(&key)? {
                None => self.error(key, "it is not there"),
                Some(meta) if meta.size != file.size => {
                    self.error(key, format_args!("it has {} bytes, but the version says {}", meta.size, file.size))
                }
                Some(_) if about_to_go.contains(&key) => {
                    Err(Error::new(Kind::Busy, format!("a gc is about to delete '{key}'")).hint("try again later"))
                }
                Some(_) => Ok(()),
            }
        };
        in_parallel(JOBS, named.into_iter().map(Ok), look, |()| Ok(()))
    }

    /// Reads a data file: its ends must be those of its format, and its digest the one that is known.
    fn read_data(&self, key: &Key, named: &Named) -> Result<()> {
        let Some(opened) = self.repository.store().open(key)? else { return Ok(()) };
        if opened.meta.size != named.size {
            return Ok(());
        }
        let (mut body, mut ends) = (opened.body, Ends::default());
        let (digest, _) = Digest::of_copy(&mut body, &mut ends)
            .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", self.repository.url())))?;
        if let Some(fault) = ends.fault(key, named.size) {
            return self.error(key, fault);
        }
        match named.sha256 {
            Some(wanted) if wanted != digest => {
                self.error(key, format_args!("it has sha256 {digest}, but version {} says {wanted}", named.version))
            }
            _ => Ok(()),
        }
    }
}

/// What a file begins and ends with: at most 4 bytes, and 8.
#[derive(Default)]
struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Write for Ends {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.first.extend(bytes.iter().take(4 - self.first.len()));
        self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(8)..]);
        self.last.drain(..self.last.len().saturating_sub(8));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Ends {
    /// Parquet begins and ends with `PAR1`, or `PARE` where its footer is encrypted, and has the footer's length before the
    /// last; Puffin, which DuckLake's newer deletions are in, does so with `PFA1` and four bytes of flags.
    fn fault(&self, key: &Key, size: u64) -> Option<String> {
        let is_puffin = key.as_str().ends_with(".puffin");
        let magic: &[&[u8]] = if is_puffin { &[b"PFA1"] } else { &[b"PAR1", b"PARE"] };
        match self.last.split_first_chunk() {
            Some((footer, end)) if magic.contains(&self.first.as_slice()) && magic.contains(&end) => {
                let footer = u32::from_le_bytes(*footer);
                (!is_puffin && u64::from(footer) + 12 > size)
                    .then(|| format!("its footer says that it has {footer} bytes itself"))
            }
            _ => Some("it does not begin and end as a file of its kind does".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, bytes: &[u8]) -> Option<String> {
        let mut ends = Ends::default();
        // However it comes.
        bytes.chunks(3).for_each(|chunk| ends.write_all(chunk).unwrap());
        ends.fault(&Key::new(name).unwrap(), bytes.len() as u64)
    }

    #[test]
    fn a_file_that_was_cut_off_or_is_another_is_found() {
        let good = [b"PAR1".as_slice(), b"rows", b"ftr.", &4u32.to_le_bytes(), b"PAR1"].concat();
        assert_eq!(fault("a.parquet", &good), None);
        assert!(fault("a.parquet", &good[..good.len() - 1]).is_some());
        assert!(fault("a.parquet", &good[1..]).is_some());
        assert!(fault("a.parquet", b"").is_some());
        assert!(fault("a.parquet", b"PAR1").is_some());
        assert!(fault("a.puffin", &good).is_some());
        let long = [b"PAR1".as_slice(), &9u32.to_le_bytes(), b"PAR1"].concat();
        assert!(fault("a.parquet", &long).is_some());
        assert_eq!(fault("a.puffin", b"PFA1....PFA1....PFA1"), None);
    }
}
