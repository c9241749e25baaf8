//! Proves that a store keeps the promises which the format builds on: above all that of two writers one loses, and knows.
//!
//! Some stores ignore `If-Match` and `If-None-Match`; others honour them one request at a time and let several of many
//! win at once. Neither shows in daily work until a version is lost, so it is tried before a store is trusted.

mod conditions;
mod remote;

use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    Result,
    key::Key,
    store::{Body, Condition, ETag, Listed, Store, Written},
};

/// The largest object of the probe, in bytes.
const MAX: u64 = 4096;

/// What stands in keys beside plain letters.
const NAMES: [&str; 5] = ["a b", "x=1+2", "\u{e9}", ".hidden", "deep/er"];

/// From here on a clock that is off is told, in seconds.
const SKEW: u64 = 180;

/// What a step found.
pub struct Finding {
    /// One word for the property.
    pub name: &'static str,
    /// Whether the store has it.
    pub holds: bool,
    /// Whether the format cannot do without it.
    pub needed: bool,
    /// What was seen, or what two writers would lose.
    pub note: String,
}

/// Tries every property and hands each finding to `report`. What was written is deleted at the end.
///
/// # Errors
/// Where the store cannot be asked at all.
pub fn probe(store: &dyn Store, report: &mut dyn FnMut(Finding) -> Result<()>) -> Result<()> {
    let probe = Probe { store, folder: format!("probe/{}", Uuid::now_v7()) };
    let result = probe.run(report);
    // What is left of a probe is no data and no ref, and harms nobody.
    let cleaned = probe.clean();
    result.and(cleaned)
}

struct Probe<'a> {
    store: &'a dyn Store,
    folder: String,
}

impl Probe<'_> {
    fn run(&self, report: &mut dyn FnMut(Finding) -> Result<()>) -> Result<()> {
        let mut tell = |name, needed, (holds, note): (bool, String)| report(Finding { name, holds, needed, note });
        tell("create", true, self.create()?)?;
        tell("create-once", true, self.create_once()?)?;
        tell("replace", true, self.replace()?)?;
        tell("replace-stale", true, self.replace_stale()?)?;
        tell("replace-missing", true, self.replace_missing()?)?;
        tell("create-race", true, self.race("create", false)?)?;
        tell("replace-race", true, self.race("replace", true)?)?;
        tell("keys", true, self.keys()?)?;
        tell("list", true, self.list()?)?;
        tell("clock", false, self.clock()?)?;
        let Some(remote) = self.store.remote() else { return Ok(()) };
        tell("list-pages", true, self.list_pages(remote)?)?;
        tell("range", false, self.range(remote)?)?;
        tell("lost-answer", false, self.lost_answer(remote)?)?;
        tell("delete-stale", false, self.delete_stale(remote)?)
    }

    fn key(&self, name: &str) -> Result<Key> {
        Key::new(&format!("{}/{name}", self.folder))
    }

    fn put(&self, key: &Key, text: &str, condition: &Condition) -> Result<Written> {
        self.store.put(key, Body::Bytes(text.as_bytes()), condition)
    }

    /// What stands at `key`, as text, and its tag.
    fn read(&self, key: &Key) -> Result<(String, Option<ETag>)> {
        Ok(match self.store.get(key, MAX)? {
            Some(object) => (String::from_utf8_lossy(&object.bytes).into_owned(), Some(object.etag)),
            None => ("nothing".into(), None),
        })
    }

    fn keys(&self) -> Result<(bool, String)> {
        for name in NAMES {
            let key = self.key(&format!("keys/{name}"))?;
            self.put(&key, name, &Condition::Always)?;
            let (found, _) = self.read(&key)?;
            let size = self.store.head(&key)?.map(|meta| meta.size);
            if found != name || size != Some(name.len() as u64) {
                return Ok((false, format!("'{name}' in a key does not come back: files of partitions would be lost")));
            }
        }
        Ok((true, "space, =, +, letters of any script and a leading dot come back".into()))
    }

    fn list(&self) -> Result<(bool, String)> {
        let found = self.written("keys")?;
        let mut expected = NAMES.iter().map(|name| self.key(&format!("keys/{name}"))).collect::<Result<Vec<_>>>()?;
        expected.sort();
        Ok(match difference(&found, &expected) {
            None => (true, "what was written is listed at once, in order".into()),
            Some(why) => (false, format!("{why}: a new branch would be left out")),
        })
    }

    /// The keys below a folder of the probe, or below the probe itself.
    fn written(&self, folder: &str) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        let folder = Key::new(format!("{}/{folder}", self.folder).trim_end_matches('/'))?;
        self.store.list(Some(&folder), &mut |listed| {
            if let Listed::Object(key, _) = listed {
                keys.push(key);
            }
            Ok(())
        })?;
        Ok(keys)
    }

    fn clock(&self) -> Result<(bool, String)> {
        let key = self.key("clock")?;
        self.put(&key, "now", &Condition::Always)?;
        let Some(meta) = self.store.head(&key)? else { return Ok((false, "the object is not there".into())) };
        let off = Duration::from_secs(meta.modified.as_second().abs_diff(Timestamp::now().as_second())).as_secs();
        Ok((off <= SKEW, format!("its clock and the one of this machine are {off} seconds apart")))
    }

    fn clean(&self) -> Result<()> {
        self.store.delete_all(&self.written("")?).map(|_| ())
    }
}

/// What is wrong with a list of keys, if anything is.
fn difference(found: &[Key], expected: &[Key]) -> Option<String> {
    if let Some(key) = expected.iter().find(|key| !found.contains(key)) {
        return Some(format!("'{key}' was written and is not listed"));
    }
    if let Some(key) = found.iter().find(|key| !expected.contains(key)) {
        return Some(format!("'{key}' is listed and was not written"));
    }
    (found != expected).then(|| "what is listed is not in order, or is listed twice".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_right_only_whole_in_order_and_once() {
        let [a, b] = ["a", "b"].map(|key| Key::new(key).unwrap());
        let expected = [a.clone(), b.clone()];
        assert_eq!(difference(&expected, &expected), None);
        for wrong in [vec![a.clone()], vec![b.clone(), a.clone()], vec![a.clone(), a.clone(), b.clone()]] {
            assert!(difference(&wrong, &expected).is_some(), "{wrong:?}");
        }
        assert_eq!(difference(&expected, &[a]).unwrap(), "'b' is listed and was not written");
    }
}
