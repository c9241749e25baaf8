//! `gc.json`: says that a gc is at work and which files it is about to delete. There is one gc at a time.
//!
//! A push that names a file again and a gc that deletes it may come at the same time. The push writes its `version.json` and
//! reads `gc.json` after that; gc writes `gc.json` and reads the versions after that: one of the two sees the other.

use std::{
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::holder::Holder;
use crate::{
    Error, Kind, Result, json,
    key::Key,
    repository::Repository,
    store::{Body, Condition, ETag, Written},
};

const NAME: &str = "gc.json";

/// The largest `gc.json`, in bytes.
const MAX: u64 = 64 << 20;

/// How many files one `gc.json` may name, so that it stays below [`MAX`] with the longest keys.
pub const MOST_FILES: usize = 50_000;

/// A gc that was not heard of for so long has ended, wherever it ran.
const SILENT: SignedDuration = SignedDuration::from_hours(1);

/// How often a gc makes itself heard, and finds out whether it was taken for dead.
const HEARD_EVERY: Duration = Duration::from_secs(60);

/// How far this machine's clock may be from the store's.
const CLOCK: SignedDuration = SignedDuration::from_mins(5);

#[derive(Serialize, Deserialize)]
struct Notice {
    /// The format version.
    fdl: String,
    /// This run, told from all others.
    run: String,
    /// Who runs it, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holder: Option<Holder>,
    /// When this was written, by the clock of its writer.
    at: String,
    /// The files that are about to be deleted.
    files: Vec<Key>,
}

/// The notice of the gc that runs now. It is taken away when this is dropped, unless another gc has taken it over.
pub struct Posted<'a> {
    repository: &'a Repository,
    state: Mutex<State>,
}

struct State {
    notice: Notice,
    etag: ETag,
    heard: Instant,
}

/// Which files a gc is about to delete, of those that a push names.
pub fn about_to_go(repository: &Repository) -> Result<Vec<Key>> {
    let object = repository.store().get(&Key::literal(NAME), MAX)?;
    object.map_or(Ok(Vec::new()), |object| Ok(parse(&object.bytes)?.files))
}

impl Posted<'_> {
    /// Posts a notice that names no file yet.
    ///
    /// # Errors
    /// [`Kind::Busy`] where another gc runs; [`Kind::Fatal`] where the store's clock is another than ours.
    pub fn post(repository: &Repository) -> Result<Posted<'_>> {
        let notice = Notice {
            fdl: json::FORMAT.into(),
            run: Uuid::now_v7().to_string(),
            holder: Holder::this(),
            at: Timestamp::now().to_string(),
            files: Vec::new(),
        };
        let etag = match write(repository, &notice, &Condition::Absent)? {
            Some(etag) => etag,
            None => take_over(repository, &notice)?,
        };
        let posted = Posted { repository, state: Mutex::new(State { notice, etag, heard: Instant::now() }) };
        check_clock(repository)?;
        Ok(posted)
    }

    /// Names the files that are about to be deleted, in place of those named before.
    pub fn name(&self, files: Vec<Key>) -> Result<()> {
        let mut state = self.state()?;
        state.notice.files = files;
        self.renew(&mut state)
    }

    /// Makes sure, right before files are deleted, that no other gc has taken over.
    pub fn check(&self) -> Result<()> {
        let mut state = self.state()?;
        if state.heard.elapsed() < HEARD_EVERY {
            return Ok(());
        }
        self.renew(&mut state)
    }

    fn state(&self) -> Result<MutexGuard<'_, State>> {
        self.state.lock().map_err(|_| Error::fatal("a thread that held the notice died"))
    }

    fn renew(&self, state: &mut State) -> Result<()> {
        state.notice.at = Timestamp::now().to_string();
        let condition = Condition::Matches(state.etag.clone());
        state.etag = write(self.repository, &state.notice, &condition)?
            .ok_or_else(|| Error::conflict("another gc took over; what is left is left to it"))?;
        state.heard = Instant::now();
        Ok(())
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        // What stays is found by the next gc, which sees that this process has ended.
        if let Ok(state) = self.state() {
            let _ = self.repository.store().delete(&Key::literal(NAME), &Condition::Matches(state.etag.clone()));
        }
    }
}

/// Writes a notice and returns its tag; `None` where the condition does not hold.
fn write(repository: &Repository, notice: &Notice, condition: &Condition) -> Result<Option<ETag>> {
    let (key, store) = (Key::literal(NAME), repository.store());
    match store.put(&key, Body::Bytes(&json::to_bytes(notice)?), condition) {
        Ok(Written::Refused) => return Ok(None),
        Ok(Written::Done) => {}
        // Whether it was written is seen below.
        Err(e) if e.kind() == Kind::Busy => {}
        Err(e) => return Err(e),
    }
    let Some(object) = store.get(&key, MAX)? else { return Ok(None) };
    Ok((parse(&object.bytes)?.run == notice.run).then_some(object.etag))
}

/// Puts our notice in the place of one whose gc has ended.
fn take_over(repository: &Repository, notice: &Notice) -> Result<ETag> {
    let (key, store) = (Key::literal(NAME), repository.store());
    let busy = |why: String| {
        Error::new(Kind::Busy, format!("another gc is at work in '{}' {why}", repository.url()))
            .hint("try again later; a gc that ended without a word is taken over an hour after its last one")
    };
    let (Some(meta), Some(object)) = (store.head(&key)?, store.get(&key, MAX)?) else {
        return Err(busy("or has just ended".into()));
    };
    let found = parse(&object.bytes)?;
    let silent = Timestamp::now().duration_since(meta.modified) > SILENT;
    if !silent && !found.holder.is_some_and(|holder| holder.is_dead()) {
        return Err(busy(format!("since {}", found.at)));
    }
    write(repository, notice, &Condition::Matches(object.etag))?.ok_or_else(|| busy("and has just begun".into()))
}

/// Ages are told by the store's clock, and "now" by ours.
fn check_clock(repository: &Repository) -> Result<()> {
    let Some(meta) = repository.store().head(&Key::literal(NAME))? else {
        return Err(Error::conflict(format!("'{NAME}' was deleted by another program; nothing else was")));
    };
    let ahead = meta.modified.duration_since(Timestamp::now());
    if ahead.abs() <= CLOCK {
        return Ok(());
    }
    let way = if ahead.is_positive() { "ahead of" } else { "behind" };
    Err(Error::fatal(format!(
        "the clock of '{}' is {} s {way} this machine's, so the age of files is not known; nothing was deleted",
        repository.url(),
        ahead.abs().as_secs()
    ))
    .hint("set the clock right"))
}

fn parse(bytes: &[u8]) -> Result<Notice> {
    json::parse(format_args!("'{NAME}'"), bytes)
}
