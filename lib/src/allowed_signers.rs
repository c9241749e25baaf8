//! Who may sign: a file of allowed signers and one of revoked keys, read as ssh-keygen(1) reads them ("ALLOWED SIGNERS").
//!
//! A line that is bad is told and skipped, and a later one may still hold, as in OpenSSH. One thing is stricter: a time
//! without `Z` would mean another instant in each reader's time zone, and is refused.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use crate::{Error, Result, signature::NAMESPACE, ssh::Key};

/// A list of allowed signers.
#[derive(Default)]
pub struct AllowedSigners {
    signers: Vec<Signer>,
    /// Lines that are bad, each with its number and what is wrong.
    pub faults: Vec<String>,
}

/// One line of the file.
struct Signer {
    principals: String,
    authority: bool,
    namespaces: Option<String>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
    key: Key,
}

/// What the list says of a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may sign, for this principal.
    Allowed(String),
    /// It is listed, but not for this time; why.
    Expired(String),
    /// It is not listed, or not for this; why, where a line names it.
    Unknown(Option<String>),
}

impl AllowedSigners {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// Where a time has no time zone.
    pub fn parse(text: &str) -> Result<AllowedSigners> {
        let mut list = AllowedSigners::default();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim_end_matches('\r').trim_start_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match Signer::parse(line) {
                Ok(signer) => list.signers.push(signer),
                Err(Fault::Local(time)) => {
                    return Err(Error::fatal(format!("allowed signers, line {}: '{time}' has no time zone", n + 1))
                        .hint(format!("put a Z after it, for UTC: '{time}Z'")));
                }
                Err(Fault::Bad(why)) => list.faults.push(format!("allowed signers, line {}: {why}", n + 1)),
            }
        }
        Ok(list)
    }

    /// Whether `key` may have signed a version at `time`, for `principal` where one is wanted.
    pub fn judge(&self, key: &Key, time: Timestamp, principal: Option<&str>) -> Verdict {
        let mut verdict = Verdict::Unknown(None);
        for signer in
            self.signers.iter().filter(|s| principal.is_none_or(|p| match_list(p, &s.principals) == Some(true)))
        {
            match signer.judge(key, time, principal) {
                allowed @ Verdict::Allowed(_) => return allowed,
                Verdict::Unknown(None) => {}
                other if matches!(verdict, Verdict::Unknown(_)) => verdict = other,
                _ => {}
            }
        }
        verdict
    }
}

impl Signer {
    fn judge(&self, key: &Key, time: Timestamp, principal: Option<&str>) -> Verdict {
        let principal = match (&key.certificate, self.authority) {
            (_, false) if self.key.is(key) => principal.unwrap_or(&self.principals).to_owned(),
            (Some(certificate), true) if certificate.authority == self.key.plain => {
                if !certificate.is_user {
                    return Verdict::Unknown(Some("its certificate is not a user's".into()));
                }
                let names = &certificate.principals;
                let matches = |name: &&String| match principal {
                    Some(principal) => *name == principal,
                    None => match_list(name, &self.principals) == Some(true),
                };
                let Some(name) = names.iter().find(matches) else {
                    return Verdict::Unknown(Some("its certificate is not for such a principal".into()));
                };
                let second = u64::try_from(time.as_second()).unwrap_or(0);
                if second < certificate.after || second >= certificate.before {
                    return Verdict::Expired("its certificate was not valid then".into());
                }
                name.clone()
            }
            _ => return Verdict::Unknown(None),
        };
        if self.namespaces.as_ref().is_some_and(|list| match_list(NAMESPACE, list) != Some(true)) {
            return Verdict::Unknown(Some(format!("its key is not allowed for '{NAMESPACE}'")));
        }
        if let Some(after) = self.after.filter(|after| time < *after) {
            return Verdict::Expired(format!("its key is valid only after {after}"));
        }
        if let Some(before) = self.before.filter(|before| time > *before) {
            return Verdict::Expired(format!("its key was valid only before {before}"));
        }
        Verdict::Allowed(principal)
    }

    fn parse(line: &str) -> std::result::Result<Signer, Fault> {
        let (principals, rest) = field(line).ok_or_else(|| Fault::bad("no key follows the principals"))?;
        let rest = rest.trim_start_matches([' ', '\t']);
        let signer = |key| Signer {
            principals: principals.to_owned(),
            authority: false,
            namespaces: None,
            after: None,
            before: None,
            key,
        };
        if let Some(key) = Key::from_line(rest) {
            return Ok(signer(key));
        }
        let (options, rest) = past_options(rest).ok_or_else(|| Fault::bad("a quote has no end"))?;
        let key =
            Key::from_line(rest).ok_or_else(|| Fault::bad("there is no key, or one of a type that is not known"))?;
        let mut signer = signer(key);
        signer.read_options(options)?;
        Ok(signer)
    }

    fn read_options(&mut self, mut rest: &str) -> std::result::Result<(), Fault> {
        loop {
            let end = rest.find(['=', ',']).unwrap_or(rest.len());
            let name = rest[..end].to_ascii_lowercase();
            let mut value = None;
            rest = &rest[end..];
            if let Some(quoted) = rest.strip_prefix('=') {
                let (text, after) =
                    dequote(quoted).ok_or_else(|| Fault::bad(format!("'{name}' wants a value in quotes")))?;
                value = Some(text);
                rest = after;
            }
            let twice = || Fault::bad(format!("'{name}' stands twice"));
            match (name.as_str(), value) {
                ("cert-authority", None) => self.authority = true,
                ("namespaces", Some(value)) => {
                    self.namespaces.replace(value).map_or(Ok(()), |_| Err(twice()))?;
                }
                ("valid-after", Some(value)) => {
                    self.after.replace(time(&value)?).map_or(Ok(()), |_| Err(twice()))?;
                }
                ("valid-before", Some(value)) => {
                    self.before.replace(time(&value)?).map_or(Ok(()), |_| Err(twice()))?;
                }
                _ => return Err(Fault::bad(format!("'{name}' is no option that is known"))),
            }
            if rest.is_empty() {
                break;
            }
            rest = rest.strip_prefix(',').ok_or_else(|| Fault::bad(format!("something follows '{name}'")))?;
            if rest.is_empty() {
                return Err(Fault::bad("the options end with a comma"));
            }
        }
        if let (Some(after), Some(before)) = (self.after, self.before)
            && before <= after
        {
            return Err(Fault::bad("it is valid at no time"));
        }
        Ok(())
    }
}

/// What is wrong with a line.
enum Fault {
    Bad(String),
    /// A time without a time zone.
    Local(String),
}

impl Fault {
    fn bad(why: impl Into<String>) -> Fault {
        Fault::Bad(why.into())
    }
}

/// The first word of a line, or what stands in quotes, and what follows.
fn field(line: &str) -> Option<(&str, &str)> {
    match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => line.split_once([' ', '\t']),
    }
}

/// Splits a line after its options: at the first blank that is not in quotes.
fn past_options(line: &str) -> Option<(&str, &str)> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in line.char_indices() {
        match c {
            ' ' | '\t' if !quoted => return Some((&line[..at], &line[at..])),
            '\\' if line[at + 1..].starts_with('"') => escaped = true,
            '"' if escaped => escaped = false,
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    (!quoted).then_some((line, ""))
}

/// A value in quotes, in which `\"` is a quote, and what follows.
fn dequote(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('"')?;
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if text[at + 1..].starts_with('"') => {
                chars.next();
                value.push('"');
            }
            '"' => return Some((value, &text[at + 1..])),
            c => value.push(c),
        }
    }
    None
}

/// `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, and `Z`.
fn time(text: &str) -> std::result::Result<Timestamp, Fault> {
    let bad = || Fault::bad(format!("'{text}' is no time"));
    let utc = text.strip_suffix(['Z', 'z']);
    let digits = utc.unwrap_or(text);
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let part = |range: std::ops::Range<usize>| digits.get(range).map_or(Ok(0), str::parse::<i16>).map_err(|_| bad());
    let short = |n: i16| n as i8;
    let civil = DateTime::new(
        part(0..4)?,
        short(part(4..6)?),
        short(part(6..8)?),
        short(part(8..10)?),
        short(part(10..12)?),
        short(part(12..14)?),
        0,
    );
    let time = civil.and_then(|civil| TimeZone::UTC.to_timestamp(civil)).map_err(|_| bad())?;
    if utc.is_none() {
        return Err(Fault::Local(text.to_owned()));
    }
    Ok(time)
}

/// Whether `text` is in a list of patterns split at commas: `None` where a pattern with `!` before it matches, which beats
/// all others (match_pattern_list of OpenSSH).
fn match_list(text: &str, list: &str) -> Option<bool> {
    let mut found = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(text.as_bytes(), pattern.as_bytes()) => return None,
            Some(_) => {}
            None => found |= matches(text.as_bytes(), pattern.as_bytes()),
        }
    }
    Some(found)
}

/// Whether `text` matches a pattern of `*` and `?`. Goes back to the last `*` only, so that it takes quadratic time at worst.
fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut t, mut p, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == text[t] => (t, p) = (t + 1, p + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (t, p) = (from + 1, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// Keys that may not sign any more, whatever else is said of them.
#[derive(Default)]
pub struct Revoked(Vec<Key>);

impl Revoked {
    /// Reads the bytes of the file: a public key a line.
    ///
    /// # Errors
    /// Where a line is no key: nobody knows then what was revoked.
    pub fn parse(bytes: &[u8]) -> Result<Revoked> {
        if bytes.starts_with(b"SSHKRL\n\0") {
            return Err(Error::fatal("the file of revoked keys is a KRL, which fdl cannot read")
                .hint("list the public keys in it, one a line"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Error::fatal("the file of revoked keys is not text"))?;
        let mut keys = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim_end_matches('\r').trim_start_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = Key::from_line(line)
                .ok_or_else(|| Error::fatal(format!("revoked keys, line {}: it is no public key", n + 1)))?;
            keys.push(key);
        }
        Ok(Revoked(keys))
    }

    /// Whether the key was revoked, or the authority of its certificate.
    pub fn contains(&self, key: &Key) -> bool {
        let authority = key.certificate.as_ref().map(|certificate| &certificate.authority);
        self.0.iter().any(|revoked| revoked.plain == key.plain || Some(&revoked.plain) == authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_openssh() {
        for (text, list, expect) in [
            ("a@b", "a@b", Some(true)),
            ("a@b", "*", Some(true)),
            ("a@b", "?@?", Some(true)),
            ("a@b", "*@c,a*", Some(true)),
            ("a@b", "*,!a@b", None),
            ("a@b", "!c", Some(false)),
            ("a@b", "A@b", Some(false)),
            ("a@b", "", Some(false)),
            ("aaaaab", "*a*a*b", Some(true)),
            ("aaaaac", "*a*a*b", Some(false)),
        ] {
            assert_eq!(match_list(text, list), expect, "{text} {list}");
        }
    }

    #[test]
    fn a_time_is_in_utc() {
        assert_eq!(time("20260102Z").ok().unwrap().to_string(), "2026-01-02T00:00:00Z");
        assert_eq!(time("20260102030405z").ok().unwrap().to_string(), "2026-01-02T03:04:05Z");
        assert!(matches!(time("202601020304"), Err(Fault::Local(_))));
        for text in ["", "Z", "2026Z", "20261302Z", "2026010203Z", "2026-01-02Z", "20260102UTC"] {
            assert!(matches!(time(text), Err(Fault::Bad(_))), "{text}");
        }
    }
}
