//! Proves that a store keeps the promises which the format builds on: above all that of two writers one loses, and knows.
//!
//! Some stores ignore `If-Match` and `If-None-Match`; others honour them one request at a time and let several of many
//! win at once. Neither shows in daily work until a version is lost, so it is tried before a store is trusted.

use std::{sync::Barrier, thread, time::Duration};

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    Error, Kind, Result,
    key::Key,
    store::{Body, Condition, ETag, Listed, Store, Written},
};

/// How many writers race.
const RACERS: usize = 32;

/// How often they do so.
const ROUNDS: usize = 3;

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
        tell("clock", false, self.clock()?)
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

    fn create(&self) -> Result<(bool, String)> {
        let key = self.key("one")?;
        let written = self.put(&key, "first", &Condition::Absent)?;
        let (found, _) = self.read(&key)?;
        Ok(if written == Written::Done && found == "first" {
            (true, "an object is created, and read back at once".into())
        } else {
            (false, format!("a new object was not created: {found} stands in its place"))
        })
    }

    fn create_once(&self) -> Result<(bool, String)> {
        let key = self.key("one")?;
        let written = self.put(&key, "second", &Condition::Absent)?;
        let (found, _) = self.read(&key)?;
        Ok(if written == Written::Refused && found == "first" {
            (true, "what stands there is not created again".into())
        } else {
            (false, "'If-None-Match: *' is ignored: of two who push a first version or a tag, one would lose it".into())
        })
    }

    fn replace(&self) -> Result<(bool, String)> {
        let key = self.key("one")?;
        let (_, Some(old)) = self.read(&key)? else { return Ok((false, "the object has no ETag".into())) };
        let written = self.put(&key, "third", &Condition::Matches(old.clone()))?;
        let (found, new) = self.read(&key)?;
        Ok(match new {
            Some(new) if written == Written::Done && found == "third" && new != old => {
                (true, "the content that was read is replaced, and has another ETag".into())
            }
            _ => (false, "'If-Match' with the right ETag did not replace the object: no branch could move".into()),
        })
    }

    fn replace_stale(&self) -> Result<(bool, String)> {
        let key = self.key("one")?;
        let (_, Some(old)) = self.read(&key)? else { return Ok((false, "the object has no ETag".into())) };
        self.put(&key, "fourth", &Condition::Always)?;
        let written = self.put(&key, "fifth", &Condition::Matches(old))?;
        let (found, _) = self.read(&key)?;
        Ok(if written == Written::Refused && found == "fourth" {
            (true, "content that was replaced meanwhile is not replaced".into())
        } else {
            (false, "'If-Match' is ignored: of two who push to a branch, one would lose all versions pushed".into())
        })
    }

    fn replace_missing(&self) -> Result<(bool, String)> {
        let (_, tag) = self.read(&self.key("one")?)?;
        let Some(tag) = tag else { return Ok((false, "the object has no ETag".into())) };
        let key = self.key("missing")?;
        let written = self.put(&key, "x", &Condition::Matches(tag))?;
        let (_, found) = self.read(&key)?;
        Ok(if written == Written::Refused && found.is_none() {
            (true, "what is not there is not replaced".into())
        } else {
            (false, "'If-Match' is ignored where nothing stands: a branch that was deleted would come back".into())
        })
    }

    /// Many write at once on one condition; exactly one may win, and what stands there then must be the winner's.
    fn race(&self, name: &str, replacing: bool) -> Result<(bool, String)> {
        for round in 0..ROUNDS {
            let key = self.key(&format!("{name}-{round}"))?;
            let condition = if replacing {
                self.put(&key, "start", &Condition::Always)?;
                match self.read(&key)? {
                    (_, Some(tag)) => Condition::Matches(tag),
                    _ => return Ok((false, "the object has no ETag".into())),
                }
            } else {
                Condition::Absent
            };
            let barrier = Barrier::new(RACERS);
            let racer = |n: usize| {
                barrier.wait();
                self.put(&key, &format!("racer {n}"), &condition)
            };
            let racer = &racer;
            let results: Vec<Result<Written>> = thread::scope(|scope| {
                let threads: Vec<_> = (0..RACERS).map(|n| scope.spawn(move || racer(n))).collect();
                let died = |_| Err(Error::fatal("a thread of the probe died"));
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect()
            });
            let mut winners = Vec::new();
            for (n, result) in results.into_iter().enumerate() {
                match result {
                    Ok(Written::Done) => winners.push(format!("racer {n}")),
                    Ok(Written::Refused) => {}
                    // Too many at once is an answer, too; such a writer has won nothing.
                    Err(e) if e.kind() == Kind::Busy => {}
                    Err(e) => return Err(e),
                }
            }
            let (found, _) = self.read(&key)?;
            if winners.len() != 1 || winners[0] != found {
                return Ok((
                    false,
                    format!(
                        "of {RACERS} at once {} won: of two who push at once, one would lose what he pushed",
                        winners.len()
                    ),
                ));
            }
        }
        Ok((true, format!("of {RACERS} at once one won, {ROUNDS} times")))
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
        Ok(if found == expected {
            (true, "what was written is listed at once, in order".into())
        } else {
            (
                false,
                format!("{} of {} objects were listed: a new branch would be left out", found.len(), expected.len()),
            )
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
