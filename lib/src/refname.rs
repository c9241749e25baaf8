//! Names of refs. They are stricter than Git's: a ref name is a key, a path, an argument in scripts and text on a
//! page, and must be harmless in each of them.

use std::{fmt, str::FromStr};

use crate::{Error, Result, key::Key};

/// The longest ref name, in bytes.
const MAX_LEN: usize = 200;

/// The full name of a ref: `refs/<kind>/<name>`, for example `refs/heads/main`.
///
/// Components are `[A-Za-z0-9_][A-Za-z0-9._-]*`, without `..`, not ending in `.` or `.lock`; 200 bytes in all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(String);

impl RefName {
    /// The branch of this short name: `refs/heads/<name>`.
    pub fn branch(name: &str) -> Result<RefName> {
        format!("refs/heads/{name}").parse()
    }

    /// The tag of this short name: `refs/tags/<name>`.
    pub fn tag(name: &str) -> Result<RefName> {
        format!("refs/tags/{name}").parse()
    }

    /// Where the working repository notes what `branch` held in the origin: `refs/remotes/origin/<name>`.
    pub fn tracking(branch: &RefName) -> Result<RefName> {
        format!("refs/remotes/origin/{}", branch.short()).parse()
    }

    /// Whether it is a branch: it moves, but only forward.
    pub fn is_branch(&self) -> bool {
        self.0.starts_with("refs/heads/")
    }

    /// Whether it is a tag: it never moves.
    pub fn is_tag(&self) -> bool {
        self.0.starts_with("refs/tags/")
    }

    /// The name without `refs/heads/`, `refs/tags/` or `refs/remotes/`.
    pub fn short(&self) -> &str {
        let rest = &self.0["refs/".len()..];
        match rest.split_once('/') {
            Some((_, short)) => short,
            None => rest,
        }
    }

    /// The full name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the ref is stored.
    pub fn key(&self) -> Key {
        Key::new(&self.0).expect("the alphabet of ref names is within that of keys")
    }

    /// Whether one of the two names lies below the other: `a` and `a/b` cannot both be files of a folder.
    pub fn collides_with(&self, other: &RefName) -> bool {
        let below = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        below(&self.0, &other.0) || below(&other.0, &self.0)
    }
}

impl FromStr for RefName {
    type Err = Error;

    fn from_str(text: &str) -> Result<RefName> {
        let refused = |why: &str| Err(Error::fatal(format!("bad ref name '{}': {why}", text.escape_debug())));
        let mut components = text.split('/');
        if components.next() != Some("refs") {
            return refused("it does not begin with 'refs/'");
        }
        if !matches!(components.next(), Some("heads" | "tags" | "remotes")) {
            return refused("it is neither in refs/heads/, refs/tags/ nor refs/remotes/");
        }
        if text.len() > MAX_LEN {
            return refused("it is longer than 200 bytes");
        }
        let mut named = false;
        for component in components {
            if let Some(why) = fault(component) {
                return refused(why);
            }
            named = true;
        }
        if !named {
            return refused("the name is empty");
        }
        Ok(RefName(text.to_owned()))
    }
}

fn fault(component: &str) -> Option<&'static str> {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if component.is_empty() {
        Some("a component is empty")
    } else if !word(component.as_bytes()[0]) {
        Some("a component must begin with a letter, a digit or '_'")
    } else if !component.bytes().all(|b| word(b) || b == b'.' || b == b'-') {
        Some("only letters, digits, '.', '_', '-' and '/' are allowed")
    } else if component.contains("..") {
        Some("it holds '..'")
    } else if component.ends_with('.') || component.ends_with(".lock") {
        Some("a component ends in '.' or '.lock'")
    } else {
        None
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

crate::id::as_json_text!(RefName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_within_the_alphabet_are_accepted() {
        for text in ["refs/heads/main", "refs/heads/a/b-c_d.e", "refs/tags/v1.0", "refs/remotes/origin/main"] {
            assert_eq!(text.parse::<RefName>().unwrap().as_str(), text);
        }
        assert_eq!(RefName::branch("a/b").unwrap().short(), "a/b");
        assert_eq!(RefName::tracking(&RefName::branch("a/b").unwrap()).unwrap().as_str(), "refs/remotes/origin/a/b");
    }

    #[test]
    fn names_that_git_or_a_shell_would_stumble_over_are_refused() {
        for text in [
            "main",
            "refs",
            "refs/heads",
            "refs/heads/",
            "refs/other/x",
            "refs/heads/-x",
            "refs/heads/.x",
            "refs/heads/a..b",
            "refs/heads/a.lock",
            "refs/heads/a.lock/b",
            "refs/heads/a.",
            "refs/heads//a",
            "refs/heads/a/",
            "refs/heads/a b",
            "refs/heads/$(id)",
            "refs/heads/a;b",
            "refs/heads/a'b",
            "refs/heads/a%2e",
            "refs/heads/a~1",
            "refs/heads/a^",
            "refs/heads/a:b",
            "refs/heads/a@{1}",
            "refs/heads/ä",
            "refs/heads/a\n",
        ] {
            assert!(text.parse::<RefName>().is_err(), "{text:?} was accepted");
        }
        assert!(format!("refs/heads/{}", "a".repeat(200)).parse::<RefName>().is_err());
    }

    #[test]
    fn a_name_collides_with_names_above_and_below_it() {
        let name = |n: &str| RefName::branch(n).unwrap();
        assert!(name("a").collides_with(&name("a/b")));
        assert!(name("a/b/c").collides_with(&name("a")));
        assert!(!name("a").collides_with(&name("ab")));
        assert!(!name("a").collides_with(&name("a")));
    }
}
