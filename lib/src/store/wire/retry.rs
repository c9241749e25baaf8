//! When a request is made again, and how long to wait before.

use std::{thread, time::Duration};

use super::{Answer, Failure};
use crate::{Error, Result};

/// How often a request is made while its answers say that it may work the next time.
const TRIES: u32 = 6;

/// The first pause between two of them; each next one may be twice as long.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How a request stands that is made more than once.
#[derive(Default)]
pub struct Retry {
    failed: u32,
    /// Whether one of the tries may have done its work.
    pub doubtful: bool,
}

impl Retry {
    /// Waits before the next try: as long as the server asked, else a random part of a pause that grows, so that many
    /// writers who failed together do not come back together. After the last try, fails with `last`.
    pub fn pause(&mut self, asked: Option<Duration>, last: impl FnOnce() -> Error) -> Result<()> {
        self.failed += 1;
        if self.failed >= TRIES || asked.is_some_and(|asked| asked > LONGEST_PAUSE) {
            return Err(last());
        }
        let longest = PAUSE * 2u32.pow(self.failed - 1);
        thread::sleep(asked.unwrap_or_else(|| longest.mul_f64(0.5 + 0.5 * random())));
        Ok(())
    }
}

/// Makes a request with `try_once` until there is an answer to go by: everything but "try again". With `once`, as for a
/// write on condition, it is not made again after an answer that was lost, or says nothing: the caller must look first
/// whether it took place.
pub fn answered(
    once: bool,
    try_once: impl Fn() -> Result<Answer, Failure>,
    busy: impl Fn(&str) -> Error,
    unreachable: impl Fn(&str) -> Error,
) -> Result<Answer> {
    let mut retry = Retry::default();
    loop {
        match try_once() {
            Ok(answer) if once || !may_work_later(answer.status) => {
                return Ok(Answer { doubtful: retry.doubtful, ..answer });
            }
            Ok(answer) => {
                retry.doubtful |= is_doubtful(answer.status);
                let status = answer.status;
                retry.pause(answer.retry_after(), || busy(&format!("it answers {status}")))?;
            }
            Err(Failure::Lost(why)) if once => return Err(busy(&why)),
            Err(Failure::Lost(why)) => {
                retry.doubtful = true;
                retry.pause(None, || busy(&why))?;
            }
            Err(Failure::Unsent(why)) => retry.pause(None, || unreachable(&why))?,
            Err(Failure::Error(e)) => return Err(e),
        }
    }
}

/// A number from 0 to 1 that two processes do not share.
fn random() -> f64 {
    let bytes = uuid::Uuid::now_v7().into_bytes();
    f64::from(u16::from_be_bytes([bytes[14], bytes[15]])) / f64::from(u16::MAX)
}

/// Answers of a server that failed half-way: it may have written first.
pub fn is_doubtful(status: u16) -> bool {
    matches!(status, 500 | 502 | 504)
}

/// Answers that say nothing about the request but that its time was bad.
pub fn may_work_later(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}
