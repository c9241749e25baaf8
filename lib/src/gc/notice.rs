//! `gc.json`: says that versions or files are being taken away, and which files are about to be deleted. One run does so at a
//! time: what another run has marked or named belongs to one that has ended.
//!
//! A push that names a file again and a gc that deletes it may come at the same time. The push writes its `version.json` and
//! reads `gc.json` after that; gc writes `gc.json` and reads the versions after that: one of the two sees the other.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard},
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

/// A run that was not heard of for so long has ended, wherever it ran.
const SILENT: SignedDuration = SignedDuration::from_hours(1);

/// How often a run that deletes makes itself heard, and finds out whether it was taken for dead.
const HEARD_EVERY: SignedDuration = SignedDuration::from_secs(5);

/// How far this machine's clock may be from the store's.
const CLOCK: SignedDuration = SignedDuration::from_mins(5);

#[derive(Serialize, Deserialize)]
struct Text {
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

/// The notice of the run that is at work now. It is taken away when this is dropped, unless another run has taken it over.
pub struct Notice<'a> {
    repository: &'a Repository,
    state: Mutex<State>,
}

struct State {
    text: Text,
    etag: ETag,
    /// When it was written last, by a clock that goes on while the machine sleeps.
    heard: Timestamp,
}

/// The keys of the files that a gc is about to delete.
pub fn about_to_go(repository: &Repository) -> Result<BTreeSet<Key>> {
    match repository.store().get(&Key::literal(NAME), MAX)? {
        Some(object) => Ok(parse(&object.bytes)?.files.into_iter().collect()),
        None => Ok(BTreeSet::new()),
    }
}

impl<'a> Notice<'a> {
    /// Posts a notice that names no file yet.
    ///
    /// # Errors
    /// [`Kind::Busy`] where another run is at work.
    pub fn post(repository: &'a Repository) -> Result<Notice<'a>> {
        let heard = Timestamp::now();
        let mut text = Text {
            fdl: json::FORMAT.into(),
            run: Uuid::now_v7().to_string(),
            holder: Holder::this(),
            at: heard.to_string(),
            files: Vec::new(),
        };
        let etag = match write(repository, &text, &Condition::Absent)? {
            Some(etag) => etag,
            None => take_over(repository, &mut text)?,
        };
        Ok(Notice { repository, state: Mutex::new(State { text, etag, heard }) })
    }

    /// Where it is posted.
    pub fn repository(&self) -> &'a Repository {
        self.repository
    }

    /// Refuses where the store's clock is another than ours: ages are told by the one, and "now" by the other.
    pub fn check_clock(&self) -> Result<()> {
        let Some(meta) = self.repository.store().head(&Key::literal(NAME))? else {
            return Err(Error::conflict(format!("'{NAME}' was deleted by another program; nothing else was")));
        };
        let ahead = meta.modified.duration_since(Timestamp::now());
        if ahead.abs() <= CLOCK {
            return Ok(());
        }
        let way = if ahead.is_positive() { "ahead of" } else { "behind" };
        Err(Error::fatal(format!(
            "the clock of '{}' is {} s {way} this machine's, so the age of files is not known; nothing was deleted",
            self.repository.url(),
            ahead.abs().as_secs()
        ))
        .hint("set the clock right"))
    }

    /// Names the files that are about to be deleted, in place of those named before.
    pub fn name(&self, files: Vec<Key>) -> Result<()> {
        let mut state = self.state()?;
        state.text.files = files;
        self.renew(&mut state)
    }

    /// Makes sure, right before anything is deleted, that no other run has taken over.
    pub fn check(&self) -> Result<()> {
        let mut state = self.state()?;
        let since = Timestamp::now().duration_since(state.heard);
        if !since.is_negative() && since < HEARD_EVERY {
            return Ok(());
        }
        self.renew(&mut state)
    }

    fn state(&self) -> Result<MutexGuard<'_, State>> {
        self.state.lock().map_err(|_| Error::fatal("a thread that held the notice died"))
    }

    fn renew(&self, state: &mut State) -> Result<()> {
        let heard = Timestamp::now();
        state.text.at = heard.to_string();
        let condition = Condition::Matches(state.etag.clone());
        state.etag = write(self.repository, &state.text, &condition)?
            .ok_or_else(|| Error::conflict("another gc or expire took over; what is left is left to it"))?;
        state.heard = heard;
        Ok(())
    }
}

impl Drop for Notice<'_> {
    fn drop(&mut self) {
        // What stays is found by the next gc, which sees that this process has ended.
        if let Ok(state) = self.state() {
            let _ = self.repository.store().delete(&Key::literal(NAME), &Condition::Matches(state.etag.clone()));
        }
    }
}

/// Writes a notice and returns its tag; `None` where the condition does not hold.
fn write(repository: &Repository, text: &Text, condition: &Condition) -> Result<Option<ETag>> {
    let (key, store) = (Key::literal(NAME), repository.store());
    match store.put(&key, Body::Bytes(&json::to_bytes(text)?), condition) {
        Ok(Written::Refused) => return Ok(None),
        Ok(Written::Done) => {}
        // Whether it was written is seen below.
        Err(e) if e.kind() == Kind::Busy => {}
        Err(e) => return Err(e),
    }
    let Some(object) = store.get(&key, MAX)? else { return Ok(None) };
    Ok((parse(&object.bytes)?.run == text.run).then_some(object.etag))
}

/// Puts our notice in the place of one whose run has ended.
fn take_over(repository: &Repository, text: &mut Text) -> Result<ETag> {
    let (key, store) = (Key::literal(NAME), repository.store());
    let busy = |why: String| {
        Error::new(Kind::Busy, format!("another gc or expire is at work in '{}' {why}", repository.url()))
            .hint("try again later; one that ended without a word is taken over an hour after its last one")
    };
    let (Some(meta), Some(object)) = (store.head(&key)?, store.get(&key, MAX)?) else {
        return Err(busy("or has just ended".into()));
    };
    let found = parse(&object.bytes)?;
    let is_dead = found.holder.is_some_and(|holder| holder.is_dead());
    if !is_dead && store_now(repository)?.duration_since(meta.modified) <= SILENT {
        return Err(busy(format!("since {}", found.at)));
    }
    // What it was about to delete may have gone.
    text.files = found.files;
    write(repository, text, &Condition::Matches(object.etag))?.ok_or_else(|| busy("and has just begun".into()))
}

/// The store's time, told by an object that is written for it.
fn store_now(repository: &Repository) -> Result<Timestamp> {
    let (key, store) = (Key::new(&format!("probe/{}", Uuid::now_v7()))?, repository.store());
    store.put(&key, Body::Bytes(b""), &Condition::Absent)?;
    let meta = store.head(&key)?;
    store.delete(&key, &Condition::Always)?;
    meta.map(|meta| meta.modified).ok_or_else(|| Error::store(format!("'{key}' was written, yet it is not there")))
}

fn parse(bytes: &[u8]) -> Result<Text> {
    json::parse(format_args!("'{NAME}'"), bytes).map_err(|e| {
        e.hint(format!("where no gc and no expire is at work, it can be deleted: echo {NAME} | fdl-rm-objects"))
    })
}
