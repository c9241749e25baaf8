//! A folder as a store.
//!
//! An object is written to a temporary file beside its place, synced, and then linked (to create) or renamed (to
//! replace) into place, and the folder is synced. `link` fails where a file stands, which is what creating on condition
//! needs. Replacing on condition compares and renames under a lock that the kernel frees when its holder dies. A tag
//! is the digest of the content. Symbolic links are never followed below the root, so no object lies outside it.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::fd::{AsFd, OwnedFd},
};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rustix::{
    fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use uuid::Uuid;

use super::{Body, Condition, ETag, LeftOver, Listed, Meta, Object, Opened, Store, Written, kill, read_at_most};
use crate::{
    Error, Result,
    digest::Digest,
    key::{Key, MAX_LEN, RESERVED},
    text::system_text,
};

/// What the name of a temporary file begins with.
const TEMPORARY: &str = ".fdl-tmp-";

/// Held while an object is compared and replaced or deleted.
const LOCK: &str = ".fdl-lock";

/// How often a file is put again into a folder that another process removes as empty.
const FOLDER_TRIES: u32 = 8;

/// A store in a folder of the local file system.
pub struct Folder {
    root: OwnedFd,
    url: String,
}

impl Folder {
    /// Opens the folder at `path`, which may be reached through symbolic links.
    pub fn open(path: &str) -> Result<Folder> {
        let path = absolute(path)?;
        let root = fs::open(path.as_str(), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|e| match e {
                Errno::NOENT => Error::not_found(format!("'{path}' does not exist")),
                Errno::NOTDIR => Error::fatal(format!("'{path}' is not a folder")),
                e => Error::store(format!("cannot open '{path}': {}", text(e))),
            })?;
        let url = if path.as_str().ends_with('/') { path.into_string() } else { format!("{path}/") };
        Ok(Folder { root, url })
    }

    /// Makes the folder at `path`, and those above it, and opens it.
    pub fn create(path: &str) -> Result<Folder> {
        let absolute = absolute(path)?;
        std::fs::create_dir_all(&absolute)
            .map_err(|e| Error::store(format!("cannot make folder '{absolute}': {e}")))?;
        let folder = Folder::open(path)?;
        if let Some(above) = absolute.parent() {
            // A new folder lasts once the one above it is synced. One that cannot be opened is not ours to sync.
            if let Ok(above) = File::open(above) {
                let _ = above.sync_all();
            }
        }
        Ok(folder)
    }

    /// The folder that holds `key`, and the last segment of `key`. `None` where there is no such folder, and none is
    /// to be made.
    fn place<'k>(&self, key: &'k Key, make: bool) -> Result<Option<(OwnedFd, &'k str)>> {
        let mut folder = self.root.try_clone().map_err(|e| self.cannot("open", key, e))?;
        let mut segments = key.segments();
        let name = segments.next_back().unwrap_or_default();
        for segment in segments {
            folder = match open_folder(&folder, segment) {
                Ok(next) => next,
                Err(Errno::NOENT) if make => {
                    match fs::mkdirat(&folder, segment, Mode::from_raw_mode(0o777)) {
                        Ok(()) => fs::fsync(&folder).map_err(|e| self.cannot("write", key, e))?,
                        Err(Errno::EXIST) => {}
                        Err(e) => return Err(self.cannot("write", key, e)),
                    }
                    match open_folder(&folder, segment) {
                        Err(Errno::NOENT) => return Ok(None),
                        opened => opened.map_err(|e| self.refused_folder(&folder, segment, key, e))?,
                    }
                }
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::NOTDIR) if !make && is_file(&folder, segment) => return Ok(None),
                Err(e) => return Err(self.refused_folder(&folder, segment, key, e)),
            };
        }
        Ok(Some((folder, name)))
    }

    /// Opens the file of an object for reading. Only a regular file is an object.
    fn file(&self, key: &Key) -> Result<Option<(File, Stat)>> {
        let Some((folder, name)) = self.place(key, false)? else { return Ok(None) };
        // NONBLOCK: to open a FIFO would otherwise wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match fs::openat(&folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(self.symlink(key)),
            Err(e) => return Err(self.cannot("read", key, e)),
        };
        let stat = fs::fstat(&file).map_err(|e| self.cannot("read", key, e))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some((file, stat))),
            FileType::Directory => Ok(None),
            _ => Err(Error::store(format!("'{key}' in '{}' is not a regular file", self.url))),
        }
    }

    /// Writes `body` to a temporary file in `folder`, down to the disk.
    fn temporary(&self, folder: OwnedFd, key: &Key, body: Body<'_>) -> Result<Temporary> {
        let name = format!("{TEMPORARY}{}", Uuid::now_v7());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            fs::openat(&folder, &name, flags, Mode::from_raw_mode(0o666)).map_err(|e| self.cannot("write", key, e))?;
        let temporary = Temporary { folder, name };
        let mut file = File::from(file);
        fill(&mut file, body).and_then(|()| file.sync_all()).map_err(|e| self.cannot("write", key, e))?;
        kill::after_write();
        Ok(temporary)
    }

    /// Puts a new object into place; `false` where one stands already.
    fn create_object(&self, temporary: &Temporary, name: &str, key: &Key) -> Result<bool> {
        let folder = &temporary.folder;
        let link = || fs::linkat(folder, &temporary.name, folder, name, AtFlags::empty());
        // An empty folder in its place was left by a delete that did not get to its end.
        let linked = match link() {
            Err(Errno::EXIST) if fs::unlinkat(folder, name, AtFlags::REMOVEDIR).is_ok() => link(),
            linked => linked,
        };
        let created = match linked {
            Ok(()) => true,
            // NFS may answer so to a link that it made when its first answer was lost.
            Err(Errno::EXIST) if has_two_links(folder, &temporary.name) => true,
            // A folder that is not empty is no object, so "there is one already" would be the wrong answer.
            Err(Errno::EXIST) if is_folder(folder, name) => return Err(self.cannot("write", key, Errno::ISDIR)),
            Err(Errno::EXIST) => false,
            // A file system without hard links: all who create there meet at the lock.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
                let _lock = self.lock(key)?;
                let absent = matches!(fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
                if absent {
                    fs::renameat(folder, &temporary.name, folder, name).map_err(|e| self.cannot("write", key, e))?;
                }
                absent
            }
            Err(e) => return Err(self.cannot("write", key, e)),
        };
        if created {
            kill::after_write();
            fs::fsync(folder).map_err(|e| self.cannot("write", key, e))?;
        }
        Ok(created)
    }

    /// Puts an object into place over one that stands there and matches; `false` where it does not match.
    fn replace_object(&self, temporary: &Temporary, name: &str, key: &Key, condition: &Condition) -> Result<bool> {
        let _lock = self.lock(key)?;
        if !self.holds(key, condition)? {
            return Ok(false);
        }
        fs::renameat(&temporary.folder, &temporary.name, &temporary.folder, name)
            .map_err(|e| self.cannot("write", key, e))?;
        kill::after_write();
        fs::fsync(&temporary.folder).map_err(|e| self.cannot("write", key, e))?;
        Ok(true)
    }

    /// Whether `condition` holds for what stands at `key` now; to be asked under the lock.
    fn holds(&self, key: &Key, condition: &Condition) -> Result<bool> {
        match condition {
            Condition::Always => Ok(true),
            Condition::Absent => Ok(self.file(key)?.is_none()),
            Condition::Matches(etag) => match self.file(key)? {
                None => Ok(false),
                Some((mut file, _)) => {
                    let (digest, _) = Digest::of_reader(&mut file).map_err(|e| self.cannot("read", key, e))?;
                    Ok(tag(digest) == *etag)
                }
            },
        }
    }

    /// Waits for the store's lock. It is freed when the file is dropped, or its holder dies.
    fn lock(&self, key: &Key) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            fs::openat(&self.root, LOCK, flags, Mode::from_raw_mode(0o666)).map_err(|e| self.cannot("lock", key, e))?;
        let file = File::from(file);
        file.lock().map_err(|e| self.cannot("lock", key, e))?;
        Ok(file)
    }

    /// Removes the folders above `key` that are empty now, so that a ref `a` can follow a ref `a/b`.
    fn remove_empty_folders(&self, key: &Key) {
        let segments: Vec<&str> = key.segments().collect();
        // The first two levels (`refs/heads`, `data/main`, `versions/<id>`) are kept, but for a version's own folder.
        let kept = if segments[0] == "versions" { 1 } else { 2 };
        for depth in (kept + 1..segments.len()).rev() {
            let Ok(folder) = Key::new(&segments[..depth].join("/")) else { return };
            let Ok(Some((above, name))) = self.place(&folder, false) else { return };
            if fs::unlinkat(&above, name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }

    fn list_folder(&self, folder: &OwnedFd, path: &str, visit: &mut dyn FnMut(Listed) -> Result<()>) -> Result<()> {
        let cannot_list = |path: &str, e| Error::store(format!("cannot list '{}{path}': {}", self.url, text(e)));
        let cannot = |e| cannot_list(path, e);
        let mut names = Vec::new();
        for entry in Dir::read_from(folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "." || name == ".." || name.starts_with(RESERVED) {
                continue;
            }
            match fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    names.push((name + "/", stat))
                }
                Ok(stat) => names.push((name, stat)),
                Err(Errno::NOENT) => {}
                Err(e) => return Err(cannot(e)),
            }
        }
        // A folder's name sorts with its `/`, so that the whole comes in the order of keys, as from S3.
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (name, stat) in names {
            let full = format!("{path}{name}");
            if full.len() > MAX_LEN {
                // No key is as long, so nothing below it is an object.
                visit(Listed::Foreign(full))?;
            } else if let Some(name) = name.strip_suffix('/') {
                match open_folder(folder, name) {
                    Ok(inner) => self.list_folder(&inner, &full, visit)?,
                    Err(Errno::NOENT) => {}
                    Err(e) => return Err(cannot_list(&full, e)),
                }
            } else if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && let Ok(key) = Key::new(&full)
            {
                visit(Listed::Object(key, meta(&stat)))?;
            } else {
                visit(Listed::Foreign(full))?;
            }
        }
        Ok(())
    }

    /// Adds the temporary files below `folder` to `found`.
    fn find_temporary(&self, folder: &OwnedFd, path: &str, found: &mut Vec<LeftOver>) -> Result<()> {
        let cannot = |e| Error::store(format!("cannot list '{}{path}': {}", self.url, text(e)));
        for entry in Dir::read_from(folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_temporary = name.starts_with(TEMPORARY);
            if name == "."
                || name == ".."
                || !matches!(entry.file_type(), FileType::Directory | FileType::Unknown) && !is_temporary
            {
                continue;
            }
            let Ok(stat) = fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let full = format!("{path}{name}");
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile if is_temporary => {
                    let Meta { size, modified, .. } = meta(&stat);
                    found.push(LeftOver { name: full, upload: None, size, modified });
                }
                FileType::Directory if full.len() <= MAX_LEN => match open_folder(folder, &name) {
                    Ok(inner) => self.find_temporary(&inner, &format!("{full}/"), found)?,
                    Err(Errno::NOENT) => {}
                    Err(e) => return Err(cannot(e)),
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn cannot(&self, what: &str, key: &Key, e: impl Into<io::Error>) -> Error {
        let e = e.into();
        let store = self.url.trim_end_matches('/');
        Error::store(format!("cannot {what} '{key}' in '{store}': {}", system_text(&e)))
    }

    fn symlink(&self, key: &Key) -> Error {
        Error::store(format!(
            "'{key}' in '{}' is a symbolic link; fdl follows none inside a repository",
            self.url.trim_end_matches('/')
        ))
    }

    /// Why `segment` of `key` cannot be entered as a folder.
    fn refused_folder(&self, above: &OwnedFd, segment: &str, key: &Key, e: Errno) -> Error {
        let kind = fs::statat(above, segment, AtFlags::SYMLINK_NOFOLLOW).map(|s| FileType::from_raw_mode(s.st_mode));
        match kind {
            Ok(FileType::Symlink) => Error::store(format!(
                "'{segment}', on the way to '{key}' in '{}', is a symbolic link; fdl follows none inside a repository",
                self.url.trim_end_matches('/')
            )),
            _ => self.cannot("reach", key, e),
        }
    }
}

impl Store for Folder {
    fn url(&self) -> &str {
        &self.url
    }

    fn get(&self, key: &Key, limit: u64) -> Result<Option<Object>> {
        let Some((mut file, _)) = self.file(key)? else { return Ok(None) };
        match read_at_most(&mut file, limit).map_err(|e| self.cannot("read", key, e))? {
            Some(bytes) => {
                let etag = tag(Digest::of(&bytes));
                Ok(Some(Object { bytes, etag }))
            }
            None => Err(Error::fatal(format!("'{key}' in '{}' is larger than {limit} bytes", self.url))),
        }
    }

    fn open(&self, key: &Key) -> Result<Option<Opened>> {
        Ok(self.file(key)?.map(|(file, stat)| {
            let meta = meta(&stat);
            let body = Exactly { file, left: meta.size };
            Opened { meta, body: Box::new(body) }
        }))
    }

    fn open_at(&self, key: &Key, at: u64) -> Result<Option<Opened>> {
        let Some((mut file, stat)) = self.file(key)? else { return Ok(None) };
        file.seek(SeekFrom::Start(at)).map_err(|e| self.cannot("read", key, e))?;
        let meta = meta(&stat);
        let body = Exactly { file, left: meta.size.saturating_sub(at) };
        Ok(Some(Opened { meta, body: Box::new(body) }))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(self.file(key)?.map(|(_, stat)| meta(&stat)))
    }

    fn put(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Written> {
        for _ in 0..FOLDER_TRIES {
            let Some((folder, name)) = self.place(key, true)? else { continue };
            let temporary = match self.temporary(folder, key, body) {
                // The folder was removed as empty between the two steps.
                Err(_) if self.place(key, false)?.is_none() => continue,
                made => made?,
            };
            let done = match condition {
                Condition::Absent => self.create_object(&temporary, name, key)?,
                _ => self.replace_object(&temporary, name, key, condition)?,
            };
            return Ok(if done { Written::Done } else { Written::Refused });
        }
        Err(Error::store(format!("cannot write '{key}' in '{}': its folder is removed again and again", self.url)))
    }

    fn delete(&self, key: &Key, condition: &Condition) -> Result<bool> {
        let Some((folder, name)) = self.place(key, false)? else { return Ok(false) };
        let _lock = self.lock(key)?;
        if self.file(key)?.is_none() || !self.holds(key, condition)? {
            return Ok(false);
        }
        match fs::unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(false),
            Err(e) => return Err(self.cannot("delete", key, e)),
        }
        kill::after_write();
        fs::fsync(&folder).map_err(|e| self.cannot("delete", key, e))?;
        self.remove_empty_folders(key);
        Ok(true)
    }

    fn list(&self, folder: Option<&Key>, visit: &mut dyn FnMut(Listed) -> Result<()>) -> Result<()> {
        let Some(key) = folder else { return self.list_folder(&self.root, "", visit) };
        let Some((above, name)) = self.place(key, false)? else { return Ok(()) };
        match open_folder(&above, name) {
            Ok(folder) => self.list_folder(&folder, &format!("{key}/"), visit),
            Err(Errno::NOENT) => Ok(()),
            Err(Errno::NOTDIR) if is_file(&above, name) => Ok(()),
            Err(e) => Err(self.refused_folder(&above, name, key, e)),
        }
    }

    fn left_overs(&self) -> Result<Vec<LeftOver>> {
        let mut found = Vec::new();
        self.find_temporary(&self.root, "", &mut found)?;
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn clear(&self, left: &LeftOver) -> Result<()> {
        let cannot = |e| Error::store(format!("cannot delete '{}{}': {}", self.url, left.name, text(e)));
        let mut folder = self.root.try_clone().map_err(|e| Error::store(system_text(&e)))?;
        let mut segments = left.name.split('/');
        let name = segments.next_back().unwrap_or_default();
        for segment in segments {
            folder = match open_folder(&folder, segment) {
                Err(Errno::NOENT) => return Ok(()),
                opened => opened.map_err(cannot)?,
            };
        }
        match fs::unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(cannot(e)),
        }
    }

    fn settle(&self, key: &Key) -> Result<()> {
        let missing = || Error::not_found(format!("'{key}' is not in '{}'", self.url));
        let (file, _) = self.file(key)?.ok_or_else(missing)?;
        file.sync_all().map_err(|e| self.cannot("sync", key, e))?;
        let (folder, _) = self.place(key, false)?.ok_or_else(missing)?;
        fs::fsync(&folder).map_err(|e| self.cannot("sync", key, e))
    }
}

/// A temporary file, which goes away whatever happens.
struct Temporary {
    folder: OwnedFd,
    name: String,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is none; one that stays behind is no object, and harmless.
        let _ = fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
    }
}

/// A file of which exactly so many bytes are to come.
struct Exactly {
    file: File,
    left: u64,
}

impl Read for Exactly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let n = self.file.read(buffer)? as u64;
        if (n == 0) != (self.left == 0) || n > self.left {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file changed while it was read"));
        }
        self.left -= n;
        Ok(n as usize)
    }
}

fn fill(to: &mut File, body: Body<'_>) -> io::Result<()> {
    match body {
        Body::Bytes(bytes) => io::Write::write_all(to, bytes),
        Body::File(file, size) => {
            let copied = io::copy(&mut rewound(file)?, to)?;
            if copied == size {
                return Ok(());
            }
            Err(io::Error::other(format!("the file has {copied} bytes instead of {size}")))
        }
    }
}

fn rewound(mut file: &File) -> io::Result<&File> {
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

fn tag(digest: Digest) -> ETag {
    ETag::new(format!("\"{digest}\""))
}

fn meta(stat: &Stat) -> Meta {
    let modified = Timestamp::new(stat.st_mtime, stat.st_mtime_nsec as i32).unwrap_or(Timestamp::UNIX_EPOCH);
    Meta { size: stat.st_size as u64, modified, etag: None }
}

fn open_folder(above: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(above, name, flags, Mode::empty())
}

fn is_file(folder: &OwnedFd, name: &str) -> bool {
    fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn is_folder(folder: &OwnedFd, name: &str) -> bool {
    fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

fn has_two_links(folder: &OwnedFd, name: &str) -> bool {
    fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| stat.st_nlink == 2)
}

fn absolute(path: &str) -> Result<Utf8PathBuf> {
    camino::absolute_utf8(Utf8Path::new(path)).map_err(|e| Error::fatal(format!("cannot make '{path}' absolute: {e}")))
}

fn text(e: Errno) -> String {
    system_text(&e.into())
}
