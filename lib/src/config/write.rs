//! Changes of a config file. They are made under a lock that the kernel frees, and the file is replaced whole.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Config, Entry, Name, Section};
use crate::{Error, Kind, Result};

/// What becomes of settings of the same name that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// One is replaced; where there are several, nothing is done.
    Refuse,
    /// All are replaced.
    Replace,
    /// They stay, and the new one comes after them.
    Keep,
}

impl Config {
    fn named(&self, name: &Name) -> Vec<Entry> {
        self.file.entries.iter().filter(|entry| entry.name == *name).cloned().collect()
    }

    /// Sets `name` to `value` in the file at `path`, which is made where there is none.
    ///
    /// # Errors
    /// [`Kind::Conflict`] where the name stands there several times and `others` does not say what to do.
    pub fn set(path: &Utf8Path, name: &str, value: &str, others: Others) -> Result<()> {
        let name: Name = name.parse()?;
        if value.contains('\0') {
            return Err(Error::usage(format!("the value of '{name}' holds a NUL character")));
        }
        edit(path, |config| {
            let old: Vec<Entry> = config.named(&name);
            let line = format!("{} = {}", name.key, quoted(value));
            let mut text = config.file.text.clone();
            match (old.as_slice(), others) {
                ([one], Others::Refuse | Others::Replace) => text.replace_range(one.span.clone(), &line),
                ([_, .., last], Others::Replace) => {
                    text.replace_range(last.span.clone(), &line);
                    old[..old.len() - 1].iter().rev().for_each(|entry| remove(&mut text, entry));
                }
                ([_, _, ..], Others::Refuse) => return Err(several(&name)),
                ([], _) | (_, Others::Keep) => add(config, &mut text, &name.section, &line),
            }
            Ok(text)
        })
    }

    /// Takes `name` out of the file at `path`, and its section with it where nothing else stands there.
    ///
    /// # Errors
    /// [`Kind::NotFound`] where it is not set, [`Kind::Conflict`] where it is set several times and not `all` are to go.
    pub fn unset(path: &Utf8Path, name: &str, all: bool) -> Result<()> {
        let name: Name = name.parse()?;
        edit(path, |config| {
            let old: Vec<Entry> = config.named(&name);
            match old.len() {
                0 => return Err(Error::not_found(format!("'{name}' is not set in '{path}'"))),
                1 => {}
                _ if all => {}
                _ => return Err(several(&name)),
            }
            let mut text = config.file.text.clone();
            old.iter().rev().for_each(|entry| remove(&mut text, entry));
            without_empty_sections(path, text, &name.section)
        })
    }
}

fn several(name: &Name) -> Error {
    Error::conflict(format!("'{name}' is set several times; nothing was changed")).hint("--all changes all of them")
}

/// Takes an entry out: its whole line, or what of the line is its own after a section's header.
fn remove(text: &mut String, entry: &Entry) {
    let line = text[..entry.span.start].rfind('\n').map_or(0, |n| n + 1);
    let alone = text[line..entry.span.start].trim_start_matches('\u{feff}').trim().is_empty();
    let bom = if text[line..].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let range = if alone { line + bom..entry.end } else { entry.span.clone() };
    text.replace_range(range, "");
}

/// Adds a line to the last section of this name, or with a new section at the end.
fn add(config: &Config, text: &mut String, section: &Section, line: &str) {
    let file = &config.file;
    let Some(header) = file.headers.iter().rfind(|header| header.section == *section) else {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let name = &section.name;
        let header = match &section.subsection {
            Some(sub) => format!("[{name} \"{}\"]", sub.replace('\\', "\\\\").replace('"', "\\\"")),
            None => format!("[{name}]"),
        };
        text.push_str(&format!("{header}\n\t{line}\n"));
        return;
    };
    let next = file.headers.iter().map(|h| h.span.start).find(|start| *start > header.span.start);
    let inside = |entry: &&Entry| entry.span.start > header.span.start && next.is_none_or(|n| entry.span.start < n);
    let at = file.entries.iter().filter(inside).map(|entry| entry.end).next_back().unwrap_or(header.end);
    // The line may hold the header of the next section, too.
    let at = next.map_or(at, |next| at.min(next));
    let newline = if text[..at].ends_with('\n') { "" } else { "\n" };
    text.insert_str(at, &format!("{newline}\t{line}\n"));
}

/// Takes out the headers of a section that nothing follows but blanks.
fn without_empty_sections(path: &Utf8Path, text: String, section: &Section) -> Result<String> {
    let config = Config::parse(path, text)?;
    let file = &config.file;
    let mut text = file.text.clone();
    for (n, header) in file.headers.iter().enumerate().rev().filter(|(_, header)| header.section == *section) {
        let next = file.headers.get(n + 1).map_or(file.text.len(), |next| next.span.start);
        if file.text[header.span.end..next].trim().is_empty() {
            text.replace_range(header.span.start..next, "");
        }
    }
    Ok(text)
}

/// A value as it is written: in quotes where blanks or marks of a comment would be lost otherwise.
fn quoted(value: &str) -> String {
    let escaped = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
        .replace('\u{8}', "\\b");
    let blank = [' ', '\t', '\n'];
    match value.contains(['#', ';', '\r']) || value.starts_with(blank) || value.ends_with(blank) {
        true => format!("\"{escaped}\""),
        false => escaped,
    }
}

/// Replaces the file at `path` by what `change` makes of it, unless another process is about to do so.
fn edit(path: &Utf8Path, change: impl FnOnce(&Config) -> Result<String>) -> Result<()> {
    let cannot = |what: &str, e: io::Error| Error::new(Kind::Store, format!("cannot {what} '{path}': {e}"));
    // A link to the file stays a link: settings are often kept elsewhere.
    let path: Utf8PathBuf = match path.canonicalize_utf8() {
        Ok(path) => path,
        Err(e) if e.kind() == io::ErrorKind::NotFound => path.into(),
        Err(e) => return Err(cannot("write", e)),
    };
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    fs::create_dir_all(folder).map_err(|e| cannot("write", e))?;
    let lock = File::create(format!("{path}.lock")).map_err(|e| cannot("lock", e))?;
    lock.lock().map_err(|e| cannot("lock", e))?;

    let text = change(&Config::read(&path)?)?;
    // What was made is read before it is kept: an edit never leaves a file that cannot be read.
    Config::parse(&path, text.clone())?;
    let mode = fs::metadata(&path).map_or(0o666, |meta| meta.permissions().mode() & 0o777);
    let mut new = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(|e| cannot("write", e))?;
    new.write_all(text.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(|e| cannot("write", e))?;
    new.persist(&path).map_err(|e| cannot("write", e.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| cannot("write", e))
}
