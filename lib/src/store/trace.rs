//! `FDL_TRACE`: a line for every request to a store. Set to `1` the lines go to standard error, set to a path they are
//! appended to that file.

use std::{
    env,
    fmt::Display,
    fs::{File, OpenOptions},
    io::{self, Write},
    sync::Mutex,
    time::Instant,
};

use super::{Body, Condition, LeftOver, Listed, Meta, Object, Opened, Store, Written};
use crate::{Result, cli, key::Key, text::Escaped};

/// The folder, or one that traces its requests when the user asks for it. A store over a network writes its own lines, one
/// for every request it really makes.
pub(super) fn wrap(store: Box<dyn Store>) -> Box<dyn Store> {
    match Trace::from_env() {
        Some(trace) => Box::new(Traced { store, trace }),
        None => store,
    }
}

/// Where the lines go.
pub(super) struct Trace {
    to: Mutex<Box<dyn Write + Send>>,
}

impl Trace {
    /// The trace that `FDL_TRACE` asks for.
    pub(super) fn from_env() -> Option<Trace> {
        let to = env::var_os("FDL_TRACE").filter(|to| to != "0" && !to.is_empty())?;
        Some(Trace { to: Mutex::new(sink(&to)) })
    }

    /// Writes the line of a request: method, key, answer, bytes, milliseconds, condition.
    pub(super) fn line(
        &self,
        method: &str,
        key: &str,
        status: &dyn Display,
        bytes: u64,
        start: Instant,
        condition: &str,
    ) {
        let line = format!(
            "{method} {}\t{status}\t{bytes}\t{:.1} ms\t{condition}",
            Escaped(key),
            start.elapsed().as_secs_f64() * 1e3
        );
        if let Ok(mut to) = self.to.lock() {
            // One write a line, so that lines of several processes do not mix; a trace that fails stops nothing.
            let _ = to.write_all(format!("{}\n", line.trim_end()).as_bytes());
        }
    }
}

fn sink(to: &std::ffi::OsStr) -> Box<dyn Write + Send> {
    let open = |path| -> io::Result<File> { OpenOptions::new().create(true).append(true).open(path) };
    match to.to_str() {
        Some("1" | "true") => Box::new(io::stderr()),
        _ => match open(to) {
            Ok(file) => Box::new(file),
            Err(e) => {
                cli::warning(&format!("cannot trace to '{}': {e}", to.display()));
                Box::new(io::stderr())
            }
        },
    }
}

struct Traced {
    store: Box<dyn Store>,
    trace: Trace,
}

impl Traced {
    /// Runs a request and writes its line.
    fn request<T>(
        &self,
        method: &str,
        key: &str,
        condition: &Condition,
        send: impl FnOnce() -> Result<T>,
        answer: impl FnOnce(&T) -> (&'static str, u64),
    ) -> Result<T> {
        let start = Instant::now();
        let result = send();
        let (status, bytes) = match &result {
            Ok(value) => answer(value),
            Err(_) => ("failed", 0),
        };
        self.trace.line(method, key, &status, bytes, start, &condition.to_string());
        result
    }
}

fn found<T>(value: &Option<T>, bytes: impl FnOnce(&T) -> u64) -> (&'static str, u64) {
    value.as_ref().map_or(("absent", 0), |value| ("ok", bytes(value)))
}

impl Store for Traced {
    fn url(&self) -> &str {
        self.store.url()
    }

    fn get(&self, key: &Key, limit: u64) -> Result<Option<Object>> {
        self.request(
            "GET",
            key.as_str(),
            &Condition::Always,
            || self.store.get(key, limit),
            |o| found(o, |o| o.bytes.len() as u64),
        )
    }

    fn open(&self, key: &Key) -> Result<Option<Opened>> {
        self.request("GET", key.as_str(), &Condition::Always, || self.store.open(key), |o| found(o, |o| o.meta.size))
    }

    fn open_at(&self, key: &Key, at: u64) -> Result<Option<Opened>> {
        let open = || self.store.open_at(key, at);
        self.request("GET", key.as_str(), &Condition::Always, open, |o| found(o, |o| o.meta.size - at))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.request("HEAD", key.as_str(), &Condition::Always, || self.store.head(key), |m| found(m, |_| 0))
    }

    fn put(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Written> {
        let size = match body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File(_, size) => size,
        };
        self.request(
            "PUT",
            key.as_str(),
            condition,
            || self.store.put(key, body, condition),
            |written| match written {
                Written::Done => ("ok", size),
                Written::Refused => ("refused", size),
            },
        )
    }

    fn delete(&self, key: &Key, condition: &Condition) -> Result<bool> {
        self.request(
            "DELETE",
            key.as_str(),
            condition,
            || self.store.delete(key, condition),
            |deleted| (if *deleted { "ok" } else { "absent" }, 0),
        )
    }

    fn list(&self, folder: Option<&Key>, visit: &mut dyn FnMut(Listed) -> Result<()>) -> Result<()> {
        let name = folder.map_or(String::new(), |folder| format!("{folder}/"));
        self.request("LIST", &name, &Condition::Always, || self.store.list(folder, visit), |()| ("ok", 0))
    }

    fn left_overs(&self) -> Result<Vec<LeftOver>> {
        self.request("LIST", "left-overs", &Condition::Always, || self.store.left_overs(), |_| ("ok", 0))
    }

    fn clear(&self, left: &LeftOver) -> Result<()> {
        self.request("DELETE", &left.name, &Condition::Always, || self.store.clear(left), |()| ("ok", 0))
    }

    fn settle(&self, key: &Key) -> Result<()> {
        self.request("SYNC", key.as_str(), &Condition::Always, || self.store.settle(key), |()| ("ok", 0))
    }
}
