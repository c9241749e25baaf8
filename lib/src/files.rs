//! `files.json`: the data and delete files that the snapshots of a version's catalog need. It is an index made from
//! the catalog; only where `version.json` holds its digest may anything be decided by it.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::{Error, Result, digest::Digest, json, key::Key};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Rows.
    Data,
    /// Positions of rows that are deleted from a data file.
    Delete,
}

impl FileKind {
    /// The word that stands for it in lists and in `files.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            FileKind::Data => "data",
            FileKind::Delete => "delete",
        }
    }
}

/// One line of `files.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Where the file lies below the repository's data folder.
    pub path: Key,
    /// Its size in bytes, as the catalog states it.
    pub size: u64,
    /// What it holds.
    pub kind: FileKind,
    /// The digest of its bytes, where the writer had them in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
}

/// Writes `files` as `files.json`, a file a line. They must be sorted by path, each path once.
///
/// # Errors
/// When they are not so sorted, or `to` cannot be written.
pub fn write(mut to: impl Write, files: impl IntoIterator<Item = Result<File>>) -> Result<()> {
    let io = |e: io::Error| Error::store(format!("cannot write files.json: {e}"));
    write!(to, "{{\"fdl\":\"{}\",\"files\":[", json::FORMAT).map_err(io)?;
    let mut last: Option<Key> = None;
    for file in files {
        let file = file?;
        if last.as_ref().is_some_and(|last| *last >= file.path) {
            return Err(Error::fatal(format!("files.json is not sorted, or names '{}' twice", file.path)));
        }
        let line = serde_json::to_string(&file).map_err(|e| Error::fatal(format!("cannot write files.json: {e}")))?;
        write!(to, "{}\n{line}", if last.is_some() { "," } else { "" }).map_err(io)?;
        last = Some(file.path);
    }
    to.write_all(b"\n]}\n").map_err(io)?;
    to.flush().map_err(io)
}
