//! Garbage collection: what nothing needs any more is found, and taken away once it is older than the grace.

mod collect;
mod data;
mod holder;
mod notice;
mod versions;

pub use collect::{Reason, Report, collect};
pub use data::{Count, Kept};
pub(crate) use notice::Notice;
pub use notice::about_to_go;

use jiff::{Span, Timestamp};

use crate::{Result, retention};

/// Where the grace begins: what is older may go.
#[derive(Clone, Copy, Debug)]
pub struct Cutoff(Option<Timestamp>);

impl Cutoff {
    /// The cutoff of a grace, as of now. Without any grace everything is older, whatever a store's clock says.
    pub fn of(grace: Span) -> Result<Cutoff> {
        if grace.is_zero() {
            return Ok(Cutoff(None));
        }
        retention::before(Timestamp::now(), grace).map(|time| Cutoff(Some(time)))
    }

    /// Whether this lies before it.
    pub fn is_past(self, time: Timestamp) -> bool {
        self.0.is_none_or(|cutoff| time <= cutoff)
    }
}
