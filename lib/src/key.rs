//! Object keys: the names of the files in a repository. A key from a catalog, a JSON file, a request or a command
//! line becomes a [`Key`] before it touches a store, and there is no other way to name an object.

use std::fmt;

use crate::{Error, Result, id::VersionId};

/// The longest key, in bytes: S3's limit.
pub(crate) const MAX_LEN: usize = 1024;

/// The longest segment, in bytes: the limit of ext4, XFS and APFS, less the room for a temporary name.
const MAX_SEGMENT: usize = 200;

/// Segments that begin so are the folder store's own (temporary files, the lock) and are no objects.
pub(crate) const RESERVED: &str = ".fdl-";

/// A checked object key: segments separated by `/`, none of them empty, `.` or `..`.
///
/// A segment holds letters and digits of any script, space, and `.`, `_`, `=`, `+`, `-`. Everything else is refused,
/// above all `%`, `?`, `#` and `\`, which some client, server or shell would read as something other than a name,
/// and characters that can be written in two ways (a letter with a separate accent).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Checks `text`. The error names the key and what is wrong with it.
    pub fn new(text: &str) -> Result<Key> {
        match fault(text) {
            None => Ok(Key(text.to_owned())),
            Some(fault) => Err(Error::fatal(format!("bad key '{}': {fault}", text.escape_debug()))),
        }
    }

    /// The key of a file of a version: `versions/<id>/<name>`.
    pub fn in_version(id: VersionId, name: &'static str) -> Key {
        Key(format!("versions/{id}/{name}"))
    }

    /// A key that the program itself spells out.
    ///
    /// # Panics
    /// If the literal is no key: a mistake in the source, not in any input.
    pub fn literal(text: &'static str) -> Key {
        assert!(fault(text).is_none(), "bad key literal");
        Key(text.to_owned())
    }

    /// The key of `path` below this one: `self/path`, where `path` is itself a key.
    pub fn join(&self, path: &Key) -> Result<Key> {
        Key::new(&format!("{self}/{path}"))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments, first to last; there is at least one.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// What follows `folder/`, if the key lies below it.
    pub fn below(&self, folder: &str) -> Option<&str> {
        self.0.strip_prefix(folder)?.strip_prefix('/')
    }
}

fn fault(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("it is empty".into());
    }
    if text.len() > MAX_LEN {
        return Some(format!("it is longer than {MAX_LEN} bytes"));
    }
    for segment in text.split('/') {
        match segment {
            "" => return Some("it has an empty segment".into()),
            "." | ".." => return Some(format!("it has a segment '{segment}'")),
            _ => {}
        }
        if segment.len() > MAX_SEGMENT {
            return Some(format!("it has a segment longer than {MAX_SEGMENT} bytes"));
        }
        if segment.starts_with(RESERVED) {
            return Some(format!("a segment begins with '{RESERVED}', which is reserved"));
        }
        if let Some(c) = segment.chars().find(|&c| !allowed(c)) {
            return Some(format!("it holds '{}'", c.escape_debug()));
        }
    }
    None
}

fn allowed(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '=' | '+' | '-')
}

crate::id::as_json_text!(Key);

impl std::str::FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Key> {
        Key::new(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_format_and_of_data_are_accepted() {
        for text in [
            "HEAD",
            "fdl.json",
            "refs/heads/main",
            "data/main/towns/ducklake-01.parquet",
            "data/main/t/year=2000/__HIVE_DEFAULT_PARTITION__/a+b c.parquet",
            "data/größe/町/.hidden",
            "-x",
        ] {
            assert_eq!(Key::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn a_key_that_leads_elsewhere_or_reads_two_ways_is_refused() {
        for text in [
            "",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            ".",
            "..",
            "data/../x",
            "data/./x",
            "a%2e%2e",
            "a?b",
            "a#b",
            "a\\b",
            "a\nb",
            "a\0b",
            "a:b",
            "a\u{202e}b",
            "e\u{301}",
            ".fdl-tmp-1",
            "refs/.fdl-lock",
        ] {
            assert!(Key::new(text).is_err(), "{text:?} was accepted");
        }
        assert!(Key::new(&"a".repeat(201)).is_err());
        assert!(Key::new(&"a/".repeat(600)).is_err());
    }
}
