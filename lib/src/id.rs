//! The identity of a version and of a repository.

use std::{fmt, str::FromStr};

use uuid::Uuid;

use crate::{Error, Result};

/// A version's id: a UUIDv7 in lower case with hyphens. It is also the name of the version's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionId(Uuid);

impl VersionId {
    /// A fresh id. Ids made later sort later, as far as the clock can be believed.
    pub fn fresh() -> VersionId {
        VersionId(Uuid::now_v7())
    }
}

impl FromStr for VersionId {
    type Err = Error;

    fn from_str(text: &str) -> Result<VersionId> {
        match canonical(text) {
            Some(uuid) if uuid.get_version_num() == 7 => Ok(VersionId(uuid)),
            _ => Err(Error::fatal(format!("'{}' is not a version id", text.escape_debug()))),
        }
    }
}

impl fmt::Display for VersionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// A repository's id: the same at its origin and at every mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryId(Uuid);

impl RepositoryId {
    /// A fresh id, for a repository that is being made.
    pub fn fresh() -> RepositoryId {
        RepositoryId(Uuid::now_v7())
    }
}

impl FromStr for RepositoryId {
    type Err = Error;

    fn from_str(text: &str) -> Result<RepositoryId> {
        canonical(text)
            .map(RepositoryId)
            .ok_or_else(|| Error::fatal(format!("'{}' is not a repository id", text.escape_debug())))
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// The UUID that `text` spells in the one form the format knows: 36 characters, lower case, hyphens.
fn canonical(text: &str) -> Option<Uuid> {
    let uuid = Uuid::try_parse(text).ok()?;
    (uuid.hyphenated().to_string() == text).then_some(uuid)
}

macro_rules! as_json_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use as_json_text;

as_json_text!(VersionId);
as_json_text!(RepositoryId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_reads_back_and_sorts_after_the_one_before() {
        let (a, b) = (VersionId::fresh(), VersionId::fresh());
        assert!(a < b);
        assert_eq!(a.to_string().parse::<VersionId>().unwrap(), a);
    }

    #[test]
    fn only_the_one_spelling_of_a_uuidv7_is_an_id() {
        let id = VersionId::fresh().to_string();
        for text in [
            id.to_uppercase(),
            id.replace('-', ""),
            format!("{{{id}}}"),
            format!("{id}\n"),
            format!("urn:uuid:{id}"),
            Uuid::nil().to_string(),
            String::new(),
            "main".into(),
        ] {
            assert!(text.parse::<VersionId>().is_err(), "{text:?} was accepted");
        }
    }
}
