//! What the stores over a network share: an agent under our own limits, bodies that are counted, and when a request
//! may be made again. Who asks, of whom, and what an answer means is each store's own.

mod agent;
mod answer;
mod exchange;
mod payload;
mod reading;
mod retry;

use std::env;

pub(super) use self::{
    agent::{agent, authorities, deaf},
    answer::{Answer, MAX_ANSWER, http_date},
    exchange::{Failure, Line, Outgoing, condition_header, exchange},
    payload::{Part, Payload},
    reading::Reading,
    retry::{Retry, answered, is_doubtful, may_work_later},
};
use crate::{Error, Result};

/// The value of an environment variable, if it is set and not empty.
pub(super) fn var(name: &str) -> Result<Option<String>> {
    match env::var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(Error::fatal(format!("{name} is not valid UTF-8"))),
    }
}
