//! A store holds objects by key: a folder, a bucket, a host. What the format asks of one is this trait.
//!
//! Every store keeps three promises: an object is seen whole or not at all; a write on condition that is answered
//! [`Written::Refused`] has changed nothing; and what was answered as written is still there after a crash.

mod folder;
pub(crate) mod headers;
mod http;
mod kill;
mod s3;
mod trace;
mod wire;

use std::{
    fmt,
    fs::File,
    io::{self, Read},
};

use jiff::Timestamp;

pub use folder::Folder;
pub use http::Http;
pub use s3::{Access, Keys, S3};

use crate::{Error, Result, key::Key};

/// What a store says of the content of an object: the same content, the same tag. Opaque; sent back byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ETag(String);

impl ETag {
    /// A tag as the store spelled it, quotes included.
    pub fn new(text: impl Into<String>) -> ETag {
        ETag(text.into())
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A small object, read whole: content and tag come from one answer.
#[derive(Debug)]
pub struct Object {
    /// The content.
    pub bytes: Vec<u8>,
    /// The tag of exactly this content.
    pub etag: ETag,
}

/// What a store tells of an object without its content.
#[derive(Clone, Debug)]
pub struct Meta {
    /// Bytes.
    pub size: u64,
    /// When it was written, by the store's clock.
    pub modified: Timestamp,
    /// Its tag, where the store tells it at no cost.
    pub etag: Option<ETag>,
}

/// An object opened for reading.
pub struct Opened {
    /// What the store says of it.
    pub meta: Meta,
    /// Its content. An end before `meta.size` bytes is an error, never a short read.
    pub body: Box<dyn Read + Send>,
}

/// What is to be written.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    /// Bytes in memory.
    Bytes(&'a [u8]),
    /// A file from its start, of which exactly this many bytes are to be there.
    File(&'a File, u64),
}

/// When a write may take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Whatever stands there now.
    Always,
    /// Only where nothing stands: `If-None-Match: *`.
    Absent,
    /// Only over exactly this content: `If-Match: <etag>`.
    Matches(ETag),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Always => Ok(()),
            Condition::Absent => f.write_str("If-None-Match: *"),
            Condition::Matches(etag) => write!(f, "If-Match: {etag}"),
        }
    }
}

/// The answer to a write on condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It took place.
    Done,
    /// The condition did not hold; nothing was changed.
    Refused,
}

/// What a store says of a file that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// It has it, with that size.
    Present,
    /// It is to be sent, with [`Store::put`].
    Wanted,
}

/// Something that a listing found.
pub enum Listed {
    /// An object.
    Object(Key, Meta),
    /// Something that is no object of ours: its name is no key, or it is no regular file.
    Foreign(String),
}

/// What a write that was cut off has left behind. It is no object and in nobody's way, but it takes room.
#[derive(Debug)]
pub struct LeftOver {
    /// A temporary file, or the key of an upload in parts.
    pub name: String,
    /// Which of that key's uploads.
    upload: Option<String>,
    /// Bytes; 0 where the store does not tell.
    pub size: u64,
    /// When it was last written, or begun, by the store's clock.
    pub modified: Timestamp,
}

/// A place where objects are kept.
///
/// Errors are of kind [`Store`](crate::Kind::Store) when the store refuses or cannot; an object that is not there is
/// `None` or `false`, never an error, and an object that cannot be read is an error, never `None`.
pub trait Store: Send + Sync {
    /// Where the store is, with a trailing `/`.
    fn url(&self) -> &str;

    /// The content and tag of an object of at most `limit` bytes; a larger one is an error.
    fn get(&self, key: &Key, limit: u64) -> Result<Option<Object>>;

    /// Opens an object of any size.
    fn open(&self, key: &Key) -> Result<Option<Opened>>;

    /// Opens an object from the byte `at` on; its metadata are those of the whole.
    fn open_at(&self, key: &Key, at: u64) -> Result<Option<Opened>> {
        let Some(mut opened) = self.open(key)? else { return Ok(None) };
        io::copy(&mut opened.body.by_ref().take(at), &mut io::sink())
            .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", self.url())))?;
        Ok(Some(opened))
    }

    /// What the store knows of an object.
    fn head(&self, key: &Key) -> Result<Option<Meta>>;

    /// Tells the store of objects that are about to be written, with their sizes, so that it can say of all at once which
    /// of them it has, and make ready for the others; `None` where each must be asked about.
    fn announce(&self, _files: &[(Key, u64)]) -> Result<Option<Vec<Announced>>> {
        Ok(None)
    }

    /// Whether [`list`](Store::list) can ever work. Where it cannot, the refs are those of `refs.json`.
    fn lists(&self) -> bool {
        true
    }

    /// Writes an object whole, if `condition` holds.
    fn put(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Written>;

    /// Deletes an object, if `condition` holds (`Absent` never does); `false` when it was not there or did not match. A
    /// store whose answer does not tell whether it was there says `true`: it is gone.
    fn delete(&self, key: &Key, condition: &Condition) -> Result<bool>;

    /// Deletes objects, many with one request where the store can; returns those that stay, and why.
    ///
    /// # Errors
    /// Where none of them could be asked for: the store is not there, or refuses altogether.
    fn delete_all(&self, keys: &[Key]) -> Result<Vec<(Key, Error)>> {
        let deleted = |key: &Key| self.delete(key, &Condition::Always).err().map(|e| (key.clone(), e));
        Ok(keys.iter().filter_map(deleted).collect())
    }

    /// Calls `visit` with every object below `folder`, or with all there are, in the order of their keys.
    fn list(&self, folder: Option<&Key>, visit: &mut dyn FnMut(Listed) -> Result<()>) -> Result<()>;

    /// What writes that were cut off have left behind, and writes that go on are about to put in place.
    fn left_overs(&self) -> Result<Vec<LeftOver>> {
        Ok(Vec::new())
    }

    /// Takes one of these away; one that is gone already is no error.
    fn clear(&self, _left: &LeftOver) -> Result<()> {
        Ok(())
    }

    /// Makes sure that an object which another program wrote in place outlives a crash.
    fn settle(&self, key: &Key) -> Result<()>;

    /// What the probe tries beside all this, where the store is a bucket.
    fn remote(&self) -> Option<&dyn Remote> {
        None
    }
}

/// What the promises of a bucket stand on, one request each, so that the probe can try it.
pub trait Remote {
    /// The keys below `folder`, in pages of `size` keys.
    fn list_in_pages(&self, folder: &Key, size: usize) -> Result<Vec<Key>>;

    /// The rest of an object of `size` bytes from the byte `at` on, as it is asked for after a connection broke.
    fn read_rest(&self, key: &Key, etag: &ETag, at: u64, size: u64) -> Result<Vec<u8>>;

    /// Writes an object and hangs up before the answer can come; then looks whether it was written. `None` where nothing
    /// stands there; `false` where something does that is not known to be this write.
    fn put_unheard(&self, key: &Key, bytes: &[u8]) -> Result<Option<bool>>;

    /// Deletes an object if the store finds that `etag` is its tag; `false` where it finds that it is not.
    fn delete_matching(&self, key: &Key, etag: &ETag) -> Result<bool>;
}

/// The store at `url`: a folder's path, a `file://` URL, `s3://bucket/prefix/` or `http[s]://host/path/`.
pub fn open(url: &str) -> Result<Box<dyn Store>> {
    if let Some(rest) = url.strip_prefix("s3://") {
        return Ok(Box::new(S3::open(rest)?));
    }
    if is_http(url) {
        return Ok(Box::new(Http::open(url)?));
    }
    Ok(trace::wrap(Box::new(Folder::open(folder_path(url)?)?)))
}

/// Makes the place for a store at `url`, if there is none yet, and opens it. A bucket is not made.
pub fn create(url: &str) -> Result<Box<dyn Store>> {
    if url.starts_with("s3://") {
        return open(url);
    }
    if is_http(url) {
        return Err(Error::fatal(format!("'{url}': a repository behind HTTP is made where its host keeps it"))
            .hint("run 'fdl init' there"));
    }
    Ok(trace::wrap(Box::new(Folder::create(folder_path(url)?)?)))
}

/// Whether `url` is that of a web server; a scheme has no case.
fn is_http(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// Whether the store at `url` must show that it keeps two writers apart before it is trusted. A folder does so by the
/// kernel's own means, and `fdl-probe-store` shows where a network's file system does not.
pub fn needs_proof(url: &str) -> bool {
    url.starts_with("s3://")
}

/// Whether the store at `url` is a folder, which every program can read.
pub fn is_folder(url: &str) -> bool {
    matches!(url.split_once("://"), None | Some(("file", _)))
}

fn folder_path(url: &str) -> Result<&str> {
    let path = match url.split_once("://") {
        Some(("file", path)) if path.starts_with('/') => path,
        Some(("file", _)) => return Err(Error::fatal(format!("'{url}' names a host; a file:// URL begins file:///"))),
        Some((scheme, _)) => return Err(Error::fatal(format!("'{url}': no store for '{scheme}://'"))),
        None => url,
    };
    if path.is_empty() {
        return Err(Error::fatal("the repository's path is empty"));
    }
    Ok(path)
}

/// Reads `from` to its end, at most `limit` bytes; `None` if there are more.
pub(crate) fn read_at_most(from: &mut dyn Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
