//! `files.json`: the data and delete files that the snapshots of a version's catalog need. It is an index made from
//! the catalog; only where `version.json` holds its digest may anything be decided by it.

use std::{
    fmt,
    io::{self, Read, Write},
};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

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

/// Writes a `files.json`, a file a line.
pub struct Writer<W> {
    to: W,
    last: Option<Key>,
}

impl<W: Write> Writer<W> {
    /// Begins a `files.json`.
    pub fn new(mut to: W) -> Result<Writer<W>> {
        write!(to, "{{\"fdl\":\"{}\",\"files\":[", json::FORMAT).map_err(cannot_write)?;
        Ok(Writer { to, last: None })
    }

    /// Adds a file. Files come sorted by path, each path once.
    pub fn file(&mut self, file: File) -> Result<()> {
        if self.last.as_ref().is_some_and(|last| *last >= file.path) {
            return Err(Error::fatal(format!("files.json is not sorted, or names '{}' twice", file.path)));
        }
        let line = serde_json::to_string(&file).map_err(|e| cannot_write(e.into()))?;
        write!(self.to, "{}\n{line}", if self.last.is_some() { "," } else { "" }).map_err(cannot_write)?;
        self.last = Some(file.path);
        Ok(())
    }

    /// Ends it. Without this call it is not whole.
    pub fn finish(mut self) -> Result<()> {
        self.to.write_all(b"\n]}\n").and_then(|()| self.to.flush()).map_err(cannot_write)
    }
}

fn cannot_write(e: io::Error) -> Error {
    Error::store(format!("cannot write files.json: {e}"))
}

/// Reads a `files.json` from its start to its end, in memory that does not grow with it; `visit` gets each file.
///
/// # Errors
/// When it is damaged, not sorted by path, or of a major version that is not known; and those of `visit`.
pub fn read(from: impl Read, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()> {
    let mut failed = None;
    let mut reader = serde_json::Deserializer::from_reader(io::BufReader::with_capacity(1 << 16, from));
    let seed = Document { visit, failed: &mut failed };
    let parsed = seed.deserialize(&mut reader).and_then(|()| reader.end());
    match (failed, parsed) {
        (Some(e), _) => Err(e),
        (None, Err(e)) => Err(Error::fatal(format!("files.json is damaged: {e}"))),
        (None, Ok(())) => Ok(()),
    }
}

/// The whole document. An error of our own goes to `failed`, since serde's can only carry text.
struct Document<'a> {
    visit: &'a mut dyn FnMut(File) -> Result<()>,
    failed: &'a mut Option<Error>,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut version, mut files) = (None, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "fdl" if version.is_none() => version = Some(map.next_value::<serde_json::Value>()?),
                "files" if !files => {
                    files = true;
                    map.next_value_seed(Entries { visit: &mut *self.visit, failed: &mut *self.failed })?;
                }
                "fdl" | "files" => return Err(A::Error::custom(format!("'{key}' stands twice in one object"))),
                _ => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        if let Err(e) = json::check_format("files.json", version.as_ref()) {
            *self.failed = Some(e);
            return Err(A::Error::custom("format"));
        }
        if files { Ok(()) } else { Err(A::Error::missing_field("files")) }
    }
}

/// The value of `files`.
struct Entries<'a> {
    visit: &'a mut dyn FnMut(File) -> Result<()>,
    failed: &'a mut Option<Error>,
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut last: Option<Key> = None;
        while let Some(file) = seq.next_element::<File>()? {
            if last.as_ref().is_some_and(|last| *last >= file.path) {
                return Err(A::Error::custom(format!("'{}' is out of order", file.path)));
            }
            last = Some(file.path.clone());
            if let Err(e) = (self.visit)(file) {
                *self.failed = Some(e);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> File {
        File { path: Key::new(path).unwrap(), size: 3, kind: FileKind::Data, sha256: None }
    }

    fn read_all(text: &str) -> Result<Vec<File>> {
        let mut files = Vec::new();
        read(text.as_bytes(), &mut |file| {
            files.push(file);
            Ok(())
        })?;
        Ok(files)
    }

    fn written(files: &[File]) -> Result<String> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes)?;
        files.iter().try_for_each(|file| writer.file(file.clone()))?;
        writer.finish()?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn what_is_written_is_read_back() {
        for files in [vec![], vec![file("a")], vec![file("a/b"), file("a/c")]] {
            assert_eq!(read_all(&written(&files).unwrap()).unwrap(), files);
        }
    }

    #[test]
    fn what_is_not_sorted_is_neither_written_nor_read() {
        assert!(written(&[file("b"), file("a")]).is_err());
        assert!(written(&[file("a"), file("a")]).is_err());
        let entry = r#"{"path":"a","size":1,"kind":"data"}"#;
        assert!(read_all(&format!(r#"{{"fdl":"1.0","files":[{entry},{entry}]}}"#)).is_err());
    }

    #[test]
    fn damage_is_told() {
        let entry = r#"{"path":"a","size":1,"kind":"data"}"#;
        for text in [
            "",
            "[]",
            r#"{"fdl":"1.0"}"#,
            r#"{"files":[]}"#,
            r#"{"fdl":"2.0","files":[]}"#,
            r#"{"fdl":"1.0","files":[],"files":[]}"#,
            r#"{"fdl":"1.0","files":[]} x"#,
            &format!(r#"{{"fdl":"1.0","files":[{entry}"#),
            r#"{"fdl":"1.0","files":[{"path":"../a","size":1,"kind":"data"}]}"#,
            r#"{"fdl":"1.0","files":[{"path":"a","size":-1,"kind":"data"}]}"#,
            r#"{"fdl":"1.0","files":[{"path":"a","size":1,"size":1,"kind":"data"}]}"#,
            r#"{"fdl":"1.0","files":[{"path":"a","size":1,"kind":"other"}]}"#,
        ] {
            assert!(read_all(text).is_err(), "{text:?} was accepted");
        }
        assert_eq!(read_all(&format!(r#"{{"x":[1],"files":[{entry}],"fdl":"1.9"}}"#)).unwrap().len(), 1);
    }
}
