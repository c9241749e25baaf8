//! Many objects at once: looking at them, copying them, sending files.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use camino::Utf8PathBuf;

use crate::{
    Error, Result, cli,
    digest::{Digest, Hasher},
    key::Key,
    repository::Repository,
    store::{Announced, Body, Condition, Written},
};

/// How many requests run at once where the user says nothing: measured to be linear up to 32 on a link of 20 ms, and
/// harmless on a local disk.
pub const JOBS: usize = 16;

/// Runs `work` on every item, up to `jobs` at a time, and hands each result to `done` as it comes. The first error
/// stops what has not begun.
pub fn in_parallel<T: Send, R: Send>(
    jobs: usize,
    items: impl IntoIterator<Item = Result<T>, IntoIter: Send>,
    work: impl Fn(T) -> Result<R> + Sync,
    done: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let items = Mutex::new(items.into_iter());
    let done = Mutex::new(done);
    let failed = Mutex::new(None);
    let stop = AtomicBool::new(false);
    let lock = |what: &str| Error::fatal(format!("a thread that held the {what} died"));
    let worker = || -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let Some(item) = items.lock().map_err(|_| lock("list"))?.next() else { break };
            let result = work(item?)?;
            done.lock().map_err(|_| lock("output"))?(result)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                if let Err(e) = worker() {
                    stop.store(true, Ordering::Relaxed);
                    if let Ok(mut failed) = failed.lock() {
                        failed.get_or_insert(e);
                    }
                }
            });
        }
    });
    match failed.into_inner() {
        Ok(None) => Ok(()),
        Ok(Some(e)) => Err(e),
        Err(_) => Err(lock("outcome")),
    }
}

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
/// it, if it was asked about many at once.
pub fn send_file(to: &Repository, sending: &Sending, announced: Option<Announced>) -> Result<bool> {
    let Sending { key, path, size } = sending;
    match announced {
        Some(Announced::Present) => return Ok(false),
        Some(Announced::Wanted) => {}
        None => {
            if let Some(meta) = to.store().head(key)? {
                return same_size(key, meta.size, *size).map(|()| false);
            }
        }
    }
    let file = File::open(path).map_err(|e| cli::cannot_open(path, &e))?;
    let found = file.metadata().map_err(|e| cli::cannot_open(path, &e))?.len();
    if found != *size {
        return Err(Error::mismatch(format!("'{path}' has {found} bytes; the catalog says {size}")));
    }
    match to.store().put(key, Body::File(&file, *size), &Condition::Absent)? {
        Written::Done => Ok(true),
        Written::Refused => match to.store().head(key)? {
            Some(meta) => same_size(key, meta.size, *size).map(|()| false),
            None => Err(Error::store(format!("'{key}' was refused, yet it is not in '{}'", to.url()))),
        },
    }
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
    fn every_item_is_worked_on_once() {
        for jobs in [0, 1, 3, 64] {
            let mut seen = Vec::new();
            let done = |n| {
                seen.push(n);
                Ok(())
            };
            in_parallel(jobs, (0..100).map(Ok), |n: u32| Ok(n * 2), done).unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (0..100).map(|n| n * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_stops_the_rest() {
        let failing = |n: u32| if n == 3 { Err(Error::fatal("three")) } else { Ok(n) };
        let mut seen = 0;
        let done = |_| {
            seen += 1;
            Ok(())
        };
        let error = in_parallel(1, (0..1000).map(Ok), failing, done).unwrap_err();
        assert_eq!((error.to_string().as_str(), seen), ("three", 3));
    }

    #[test]
    fn what_is_spooled_comes_back_from_its_start_and_a_short_read_is_an_error() {
        let mut spooled = Spooled::new(&b"abc"[..], Some(3)).unwrap();
        let mut bytes = Vec::new();
        spooled.file.read_to_end(&mut bytes).unwrap();
        assert_eq!((bytes.as_slice(), spooled.digest), (&b"abc"[..], Digest::of(b"abc")));
        assert!(Spooled::new(&b"abc"[..], Some(4)).is_err());
    }
}
