//! Many objects at once: looking at them, copying them, sending files.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{
    Error, Result, cli,
    digest::{Digest, Hasher},
    key::Key,
    repository::Repository,
    store::{Announced, Body, Condition, Written},
};

/// A data file on its way to a repository.
#[derive(Clone, Debug)]
pub struct Sending {
    /// Its key in the repository.
    pub key: Key,
    /// Where its bytes are.
    pub path: Utf8PathBuf,
    /// Its size, in bytes, as the catalog states it.
    pub size: u64,
}

/// Sends one data file, unless the repository has it; tells whether it was sent. `announced` is what the store said of
/// it, if it was asked about many at once; with `look` the store is asked before anything is sent.
///
/// # Errors
/// [`Kind::Mismatch`](crate::Kind::Mismatch) where the file is not as the catalog says, or changes meanwhile; then it is not in the
/// repository. [`Kind::Store`](crate::Kind::Store) and [`Kind::Busy`](crate::Kind::Busy) say nothing of other files.
pub fn send_file(to: &Repository, sending: &Sending, announced: Option<Announced>, look: bool) -> Result<bool> {
    let Sending { key, path, size } = sending;
    if announced == Some(Announced::Present) {
        return Ok(false);
    }
    if announced.is_none()
        && look
        && let Some(meta) = to.store().head(key)?
    {
        return same_size(key, meta.size, *size).map(|()| false);
    }
    let before = metadata(path)?;
    if !before.is_file() {
        // Not even opened: a pipe without a writer would be waited for.
        return Err(Error::mismatch(format!("'{path}' is not a regular file")));
    }
    if before.len() != *size {
        return Err(Error::mismatch(format!("'{path}' has {} bytes; the catalog says {size}", before.len())));
    }
    let file = File::open(path).map_err(|e| cli::cannot_open(path, &e))?;
    if to.store().put(key, Body::File(&file, *size), &Condition::Absent)? == Written::Refused {
        return match to.store().head(key)? {
            Some(meta) => same_size(key, meta.size, *size).map(|()| false),
            None => Err(Error::store(format!("'{key}' was refused, yet it is not in '{}'", to.url()))),
        };
    }
    let after = metadata(path)?;
    if (after.len(), after.modified().ok()) == (before.len(), before.modified().ok()) {
        return Ok(true);
    }
    // What was sent is of no version yet, and could be a mixture.
    to.store().delete(key, &Condition::Always)?;
    Err(Error::mismatch(format!("'{path}' changed while it was sent")))
}

fn metadata(path: &Utf8Path) -> Result<fs::Metadata> {
    fs::metadata(path).map_err(|e| cli::cannot_open(path, &e))
}

fn same_size(key: &Key, found: u64, size: u64) -> Result<()> {
    if found == size {
        return Ok(());
    }
    Err(Error::mismatch(format!("'{key}' is there with {found} bytes instead of {size}; it was not overwritten")))
}

/// Copies an object that never changes; one that is there already must hold the same bytes. `digest`, where it is known,
/// is checked before anything is written.
///
/// Returns the digest of what was copied, or `None` where there is no such object.
pub fn copy_object(from: &Repository, to: &Repository, key: &Key, digest: Option<Digest>) -> Result<Option<Digest>> {
    let Some(opened) = from.store().open(key)? else { return Ok(None) };
    let spooled = Spooled::new(opened.body, Some(opened.meta.size))
        .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", from.url())))?;
    if let Some(digest) = digest
        && digest != spooled.digest
    {
        return Err(Error::mismatch(format!(
            "'{key}' in '{}' has sha256 {}, not {digest}",
            from.url(),
            spooled.digest
        )));
    }
    put_immutable(to, key, Body::File(&spooled.file, spooled.size), spooled.digest)?;
    Ok(Some(spooled.digest))
}

/// Writes an object that never changes; one that is there already must have this digest.
pub fn put_immutable(to: &Repository, key: &Key, body: Body<'_>, digest: Digest) -> Result<()> {
    if to.store().put(key, body, &Condition::Absent)? == Written::Done {
        return Ok(());
    }
    let Some(mut opened) = to.store().open(key)? else {
        return Err(Error::store(format!("'{key}' was refused, yet it is not in '{}'", to.url())));
    };
    let (found, _) = Digest::of_reader(&mut opened.body)
        .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", to.url())))?;
    if found == digest {
        return Ok(());
    }
    Err(Error::mismatch(format!("'{key}' is in '{}' with other content; it was not overwritten", to.url())))
}

/// Bytes that were read once, from a pipe or a store, and are to be written from their start, perhaps more than once:
/// they wait in a file that has no name.
pub struct Spooled {
    /// The bytes.
    pub file: File,
    /// How many they are.
    pub size: u64,
    /// Their digest.
    pub digest: Digest,
}

impl Spooled {
    /// Reads `from` to its end, which must come after `size` bytes where that is known.
    pub fn new(mut from: impl Read, size: Option<u64>) -> io::Result<Spooled> {
        let mut file = tempfile::tempfile().map_err(cannot_spool)?;
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    hasher.update(&buffer[..n]);
                    file.write_all(&buffer[..n]).map_err(cannot_spool)?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        file.rewind()?;
        let (digest, found) = hasher.finish();
        if let Some(size) = size
            && found != size
        {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{found} bytes came instead of {size}")));
        }
        Ok(Spooled { file, size: found, digest })
    }
}

fn cannot_spool(e: io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("no room in a temporary file (see TMPDIR): {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spooled_comes_back_from_its_start_and_a_short_read_is_an_error() {
        let mut spooled = Spooled::new(&b"abc"[..], Some(3)).unwrap();
        let mut bytes = Vec::new();
        spooled.file.read_to_end(&mut bytes).unwrap();
        assert_eq!((bytes.as_slice(), spooled.digest), (&b"abc"[..], Digest::of(b"abc")));
        assert!(Spooled::new(&b"abc"[..], Some(4)).is_err());
    }
}
