//! The user's settings, in the syntax of Git's config files (git-config(1), "CONFIGURATION FILE"): sections, subsections,
//! quotes, comments, continued lines. Includes are not followed. An edit keeps the rest of the file byte for byte.

mod parse;
mod write;

use std::{env, fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{Error, Result};
pub use write::Others;

/// The largest config file, in bytes.
const MAX: u64 = 1 << 20;

/// The name of a setting: `section.key` or `section.subsection.key`. Section and key are lower case here, as their case
/// does not matter; a subsection is kept as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    section: Section,
    key: String,
}

/// What stands between `[` and `]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    name: String,
    subsection: Option<String>,
}

impl std::str::FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Name> {
        let bad = |why: &str| Error::usage(format!("'{text}' is not the name of a setting: {why}"));
        let (section, rest) = text.split_once('.').ok_or_else(|| bad("it has no section, as in 'user.name'"))?;
        let (subsection, key) = match rest.rsplit_once('.') {
            Some((subsection, key)) => (Some(subsection.to_owned()), key),
            None => (None, rest),
        };
        if section.is_empty() || !section.chars().all(parse::is_name) {
            return Err(bad("a section is made of letters, digits and '-'"));
        }
        if !key.starts_with(|c: char| c.is_ascii_alphabetic()) || !key.chars().all(parse::is_name) {
            return Err(bad("a key is made of letters, digits and '-', and begins with a letter"));
        }
        if subsection.as_ref().is_some_and(|s| s.contains(['\n', '\0'])) {
            return Err(bad("a subsection is one line"));
        }
        let section = Section { name: section.to_ascii_lowercase(), subsection };
        Ok(Name { section, key: key.to_ascii_lowercase() })
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.section.subsection {
            Some(subsection) => write!(f, "{}.{subsection}.{}", self.section.name, self.key),
            None => write!(f, "{}.{}", self.section.name, self.key),
        }
    }
}

/// A setting as it stands in the file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is set.
    pub name: Name,
    /// To what; `None` where a key stands alone, which means true.
    pub value: Option<String>,
    /// The line it begins on, from 1.
    line: usize,
    /// Where its key and value stand in the file.
    span: std::ops::Range<usize>,
    /// Where its line ends, with the newline.
    end: usize,
}

/// A config file.
#[derive(Clone, Debug)]
pub struct Config {
    path: Utf8PathBuf,
    file: parse::File,
}

impl Config {
    /// The user's own settings; empty where there is no file.
    pub fn user() -> Result<Config> {
        match Config::user_path()? {
            Some(path) => Config::read(&path),
            None => Config::parse(Utf8Path::new(""), String::new()),
        }
    }

    /// Where the user's settings are: `$XDG_CONFIG_HOME/fdl/config`, or `~/.config/fdl/config` where that is not set or
    /// not absolute (XDG Base Directory Specification); `None` without a home.
    pub fn user_path() -> Result<Option<Utf8PathBuf>> {
        let base = match folder("XDG_CONFIG_HOME")? {
            Some(base) => Some(base),
            None => home()?.map(|home| home.join(".config")),
        };
        Ok(base.map(|base| base.join("fdl/config")))
    }

    /// Reads a file; one that is not there is empty.
    ///
    /// # Errors
    /// With the file's name and line, where it is not in Git's syntax.
    pub fn read(path: &Utf8Path) -> Result<Config> {
        let mut file = match fs::File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Config::parse(path, String::new()),
            Err(e) => return Err(cannot_read(path, &e)),
        };
        let bytes = crate::store::read_at_most(&mut file, MAX)
            .map_err(|e| cannot_read(path, &e))?
            .ok_or_else(|| Error::fatal(format!("'{path}' is larger than {MAX} bytes, and no config file")))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::fatal(format!("'{path}' is not valid UTF-8")))?;
        Config::parse(path, text)
    }

    /// Reads settings from text; `path` names it in errors.
    pub fn parse(path: &Utf8Path, text: String) -> Result<Config> {
        let file = parse::File::parse(text)
            .map_err(|(line, why)| Error::fatal(format!("bad config line {line} in '{path}': {why}")))?;
        Ok(Config { path: path.into(), file })
    }

    /// All settings, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.file.entries
    }

    /// The setting that counts: the last of this name.
    fn last(&self, name: &str) -> Result<Option<&Entry>> {
        let name = name.parse()?;
        Ok(self.file.entries.iter().rfind(|entry| entry.name == name))
    }

    /// A setting as text; the last one counts.
    ///
    /// # Errors
    /// Where the key stands without a value.
    pub fn get(&self, name: &str) -> Result<Option<&str>> {
        let Some(entry) = self.last(name)? else { return Ok(None) };
        entry.value.as_deref().map(Some).ok_or_else(|| self.bad(entry, "has no value"))
    }

    /// All settings of this name as text, in the order of the file.
    pub fn get_all(&self, name: &str) -> Result<Vec<&str>> {
        let name: Name = name.parse()?;
        let mut values = Vec::new();
        for entry in self.file.entries.iter().filter(|entry| entry.name == name) {
            values.push(entry.value.as_deref().ok_or_else(|| self.bad(entry, "has no value"))?);
        }
        Ok(values)
    }

    /// A setting as yes or no: `true`, `yes`, `on`, a number that is not 0, or the key alone; `false`, `no`, `off`, `0`
    /// or nothing after the `=`.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>> {
        let Some(entry) = self.last(name)? else { return Ok(None) };
        let Some(value) = &entry.value else { return Ok(Some(true)) };
        match value.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(Some(true)),
            "false" | "no" | "off" | "" => Ok(Some(false)),
            _ => match integer(value) {
                Some(number) => Ok(Some(number != 0)),
                None => Err(self.bad(entry, format!("is '{value}', which is neither true nor false"))),
            },
        }
    }

    /// A setting as a number; `k`, `m` and `g` after it stand for 1024, 1024² and 1024³.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        let Some(entry) = self.last(name)? else { return Ok(None) };
        let value = entry.value.as_deref().ok_or_else(|| self.bad(entry, "has no value"))?;
        integer(value).map(Some).ok_or_else(|| self.bad(entry, format!("is '{value}', which is no number")))
    }

    /// A setting as a path; `~/` at its start is the user's home.
    pub fn path(&self, name: &str) -> Result<Option<Utf8PathBuf>> {
        match self.get(name)? {
            None => Ok(None),
            Some(value) => match value.strip_prefix("~/") {
                None => Ok(Some(value.into())),
                Some(rest) => home()?
                    .map(|home| Some(home.join(rest)))
                    .ok_or_else(|| Error::fatal(format!("'{name}' is '{value}', but HOME is not set"))),
            },
        }
    }

    fn bad(&self, entry: &Entry, why: impl std::fmt::Display) -> Error {
        Error::fatal(format!("bad config line {} in '{}': '{}' {why}", entry.line, self.path, entry.name))
    }
}

fn cannot_read(path: &Utf8Path, e: &io::Error) -> Error {
    Error::fatal(format!("cannot read '{path}': {e}"))
}

/// The user's home, where one is set.
fn home() -> Result<Option<Utf8PathBuf>> {
    folder("HOME")
}

fn folder(variable: &str) -> Result<Option<Utf8PathBuf>> {
    match env::var(variable) {
        Ok(path) if path.starts_with('/') => Ok(Some(path.into())),
        Err(env::VarError::NotUnicode(_)) => Err(Error::fatal(format!("{variable} is not valid UTF-8"))),
        _ => Ok(None),
    }
}

fn integer(text: &str) -> Option<i64> {
    let (digits, unit) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 1 << 10),
        b'm' => (&text[..text.len() - 1], 1 << 20),
        b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.trim().parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests;
