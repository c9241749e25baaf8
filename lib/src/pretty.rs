//! How a version is shown: placeholders in Git's letters, the forms that `fdl log` has ready, and JSON.

use std::{collections::HashMap, fmt::Write};

use serde_json::json;

use crate::{
    Error, Result,
    expired::{self, Expired, Reason},
    id::VersionId,
    key::Key,
    refs,
    repository::Repository,
    text::{Escaped, JsonEscaped},
    version::Version,
};

/// What `--help` and the pages say of the placeholders.
pub const PLACEHOLDERS: &str = "%H id, %P parents, %an author's name, %ae author's email, %aI date, %s subject, %B message, \
     %D refs, %E expired or withdrawn, %n newline, %x00 a byte, %% percent";

/// A way to show versions.
pub enum Format {
    /// Several lines a version, for people.
    Medium,
    /// One line a version.
    Oneline,
    /// One JSON object a line: `version.json` with `refs` and, where it was taken away, `expired`.
    Json,
    /// The user's own.
    Custom(Vec<Piece>),
}

/// A piece of the user's own format.
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// What stands for a placeholder.
    Field(Field),
}

/// A placeholder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `%H`
    Id,
    /// `%P`
    Parents,
    /// `%an`
    AuthorName,
    /// `%ae`
    AuthorEmail,
    /// `%aI`
    Date,
    /// `%s`
    Subject,
    /// `%B`
    Message,
    /// `%D`
    Refs,
    /// `%E`
    Expired,
}

impl Format {
    /// Reads the value of `--format`: `medium`, `oneline`, `json`, or text with placeholders.
    pub fn parse(text: &str) -> Result<Format> {
        match text {
            "medium" => Ok(Format::Medium),
            "oneline" => Ok(Format::Oneline),
            "json" => Ok(Format::Json),
            text => pieces(text).map(Format::Custom),
        }
    }

    /// Whether showing a version takes a look at its `expired.json`.
    fn wants_expired(&self) -> bool {
        match self {
            Format::Custom(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Field(Field::Expired))),
            _ => true,
        }
    }

    /// Whether showing a version takes a look at the refs.
    fn wants_refs(&self) -> bool {
        match self {
            Format::Custom(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Field(Field::Refs))),
            _ => true,
        }
    }
}

fn pieces(text: &str) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        let (piece, length) = placeholder(after).ok_or_else(|| {
            Error::usage(format!("unknown placeholder '%{}' in the format", after.chars().take(2).collect::<String>()))
                .hint(PLACEHOLDERS)
        })?;
        pieces.push(piece);
        rest = &after[length..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// The placeholder that `text` (what follows the `%`) begins with, and its length.
fn placeholder(text: &str) -> Option<(Piece, usize)> {
    const FIELDS: [(&str, Field); 9] = [
        ("H", Field::Id),
        ("P", Field::Parents),
        ("an", Field::AuthorName),
        ("ae", Field::AuthorEmail),
        ("aI", Field::Date),
        ("s", Field::Subject),
        ("B", Field::Message),
        ("D", Field::Refs),
        ("E", Field::Expired),
    ];
    if let Some((name, field)) = FIELDS.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((Piece::Field(*field), name.len()));
    }
    let as_text = |text: &str, length| Some((Piece::Text(text.to_owned()), length));
    match text.as_bytes() {
        [b'n', ..] => as_text("\n", 1),
        [b'%', ..] => as_text("%", 1),
        [b'x', ..] => {
            let byte = u8::from_str_radix(text.get(1..3)?, 16).ok().filter(u8::is_ascii)?;
            as_text(&char::from(byte).to_string(), 3)
        }
        _ => None,
    }
}

/// Shows versions of one repository.
pub struct Printer<'a> {
    repository: &'a Repository,
    format: Format,
    raw: bool,
    refs: HashMap<VersionId, Vec<String>>,
}

impl<'a> Printer<'a> {
    /// A printer that escapes what could drive a terminal, or with `raw` leaves text as it is.
    pub fn new(repository: &'a Repository, format: Format, raw: bool) -> Result<Printer<'a>> {
        let refs = if format.wants_refs() { decorations(repository)? } else { HashMap::new() };
        Ok(Printer { repository, format, raw, refs })
    }

    /// The version as text, without the end of the record.
    pub fn show(&self, version: &Version) -> Result<String> {
        let expired = if self.format.wants_expired() { expired::read(self.repository, version.id)? } else { None };
        let expired = expired.as_ref();
        match &self.format {
            Format::Medium => Ok(self.medium(version, expired)),
            Format::Oneline => {
                let note = note(&[self.refs_of(version.id), reason(expired).to_owned()]);
                Ok(format!("{}{note} {}", version.id, self.text(subject(version))))
            }
            Format::Json => self.json(version, expired),
            Format::Custom(pieces) => Ok(pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::Field(field) => self.field(*field, version, expired),
                })
                .collect()),
        }
    }

    fn medium(&self, version: &Version, expired: Option<&Expired>) -> String {
        let mut text = format!("version {}{}\n", version.id, note(&[self.refs_of(version.id)]));
        let _ = writeln!(text, "Author:  {}", self.text(&version.author));
        let _ = writeln!(text, "Date:    {}", self.text(&version.created));
        if let Some(expired) = expired {
            let message = if expired.message.is_empty() { String::new() } else { format!(": {}", expired.message) };
            let what = format!("{} since {}{message}", reason(Some(expired)), expired.at);
            let _ = writeln!(text, "Gone:    {}", self.text(&what));
        }
        for line in version.message.lines() {
            let _ = write!(text, "\n    {}", self.text(line));
        }
        text.push('\n');
        text
    }

    fn json(&self, version: &Version, expired: Option<&Expired>) -> Result<String> {
        let cannot = |e| Error::fatal(format!("cannot write JSON: {e}"));
        let mut value = serde_json::to_value(version).map_err(cannot)?;
        value["refs"] = json!(self.refs.get(&version.id).map_or(&[][..], Vec::as_slice));
        if let Some(expired) = expired {
            value["expired"] = serde_json::to_value(expired).map_err(cannot)?;
        }
        let text = value.to_string();
        Ok(if self.raw { text } else { JsonEscaped(&text).to_string() })
    }

    fn field(&self, field: Field, version: &Version, expired: Option<&Expired>) -> String {
        let (name, email) = name_and_email(&version.author);
        match field {
            Field::Id => version.id.to_string(),
            Field::Parents => version.parent().map(|id| id.to_string()).unwrap_or_default(),
            Field::AuthorName => self.text(name),
            Field::AuthorEmail => self.text(email),
            Field::Date => self.text(&version.created),
            Field::Subject => self.text(subject(version)),
            Field::Message => self.lines(&version.message),
            Field::Refs => self.refs_of(version.id),
            Field::Expired => reason(expired).to_owned(),
        }
    }

    fn refs_of(&self, id: VersionId) -> String {
        self.refs.get(&id).map(|names| names.join(", ")).unwrap_or_default()
    }

    fn text(&self, text: &str) -> String {
        if self.raw { text.to_owned() } else { Escaped(text).to_string() }
    }

    /// Text of several lines: its line ends stay.
    fn lines(&self, text: &str) -> String {
        if self.raw { text.to_owned() } else { text.lines().map(|line| self.text(line)).collect::<Vec<_>>().join("\n") }
    }
}

/// The names that stand beside a version: `HEAD -> main`, branches, `tag: v1`.
fn decorations(repository: &Repository) -> Result<HashMap<VersionId, Vec<String>>> {
    let head = refs::head(repository)?;
    let mut names: HashMap<VersionId, Vec<String>> = HashMap::new();
    for (name, id) in refs::read_all(repository, &Key::literal("refs"))? {
        let names = names.entry(id).or_default();
        if name == head {
            names.insert(0, format!("HEAD -> {}", name.short()));
        } else if name.is_tag() {
            names.push(format!("tag: {}", name.short()));
        } else {
            names.push(name.short().to_owned());
        }
    }
    Ok(names)
}

/// ` (a, b)` of what is not empty.
fn note(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn reason(expired: Option<&Expired>) -> &'static str {
    match expired.map(|expired| expired.reason) {
        None => "",
        Some(Reason::Expired) => "expired",
        Some(Reason::Withdrawn) => "withdrawn",
    }
}

fn subject(version: &Version) -> &str {
    version.message.lines().next().unwrap_or_default()
}

fn name_and_email(author: &str) -> (&str, &str) {
    match author.split_once('<') {
        Some((name, email)) => (name.trim_end(), email.trim_end_matches('>')),
        None => (author, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_placeholder_is_refused() {
        for text in ["%", "%q", "%x0", "%xzz", "%x80", "%a", "a%"] {
            assert!(Format::parse(text).is_err(), "{text:?} was accepted");
        }
        for text in ["%H%n%%%x09%x00%an <%ae> %aI %s%B%D%E%P", "", "plain"] {
            assert!(Format::parse(text).is_ok(), "{text:?} was refused");
        }
    }

    #[test]
    fn an_author_is_a_name_and_an_email() {
        assert_eq!(name_and_email("A U Thor <a@example.com>"), ("A U Thor", "a@example.com"));
        assert_eq!(name_and_email("nobody"), ("nobody", ""));
    }
}
