//! The answer to a request.

use std::{io, time::Duration};

use jiff::Timestamp;
use ureq::http::HeaderMap;

use crate::store::read_at_most;

/// The largest answer that is not an object, in bytes: a page of a list has 1000 keys of at most 1 KiB, encoded.
pub const MAX_ANSWER: u64 = 16 << 20;

/// The answer to a request.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: ureq::Body,
    /// Whether an earlier try of the same request may have done its work, though its answer did not come.
    pub doubtful: bool,
}

impl Answer {
    /// The value of a header, where it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// How long the server wants to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after").and_then(|text| text.trim().parse().ok()).map(Duration::from_secs)
    }

    /// The body of an answer that is no object.
    pub fn text(&mut self) -> io::Result<String> {
        match read_at_most(&mut self.body.as_reader(), MAX_ANSWER)? {
            Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            None => Err(io::Error::other(format!("the answer is larger than {MAX_ANSWER} bytes"))),
        }
    }
}

/// A time as HTTP headers have it.
pub fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_of_http_is_read() {
        assert_eq!(http_date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap().to_string(), "2015-10-21T07:28:00Z");
        assert!(http_date("yesterday").is_none());
    }
}
