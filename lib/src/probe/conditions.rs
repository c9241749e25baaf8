//! Writes on condition: one after another, and many at once.

use std::{sync::Barrier, thread};

use super::Probe;
use crate::{
    Error, Kind, Result,
    store::{Condition, Written},
};

/// How many writers race.
const RACERS: usize = 32;

/// How often they do so.
const ROUNDS: usize = 3;

impl Probe<'_> {
    pub(super) fn create(&self) -> Result<(bool, String)> {
        let key = self.key("one")?;
        let written = self.put(&key, "first", &Condition::Absent)?;
        let (found, _) = self.read(&key)?;
        Ok(if written == Written::Done && found == "first" {
            (true, "an object is created, and read back at once".into())
        } else {
            (false, format!("a new object was not created: {found} stands in its place"))
        })
    }

    pub(super) fn create_once(&self) -> Result<(bool, String)> {
        let key = self.key("one")?;
        let written = self.put(&key, "second", &Condition::Absent)?;
        let (found, _) = self.read(&key)?;
        Ok(if written == Written::Refused && found == "first" {
            (true, "what stands there is not created again".into())
        } else {
            (false, "'If-None-Match: *' is ignored: of two who push a first version or a tag, one would lose it".into())
        })
    }

    pub(super) fn replace(&self) -> Result<(bool, String)> {
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

    pub(super) fn replace_stale(&self) -> Result<(bool, String)> {
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

    pub(super) fn replace_missing(&self) -> Result<(bool, String)> {
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
    pub(super) fn race(&self, name: &str, replacing: bool) -> Result<(bool, String)> {
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
}
