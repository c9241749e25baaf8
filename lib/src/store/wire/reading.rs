//! The content of an object as it comes, taken up again where a connection breaks.

use std::io::{self, Read};

use super::Retry;
use crate::{Error, Result};

/// Asks for an object from the given byte to its end: the same content, or an error.
type Rest = Box<dyn Fn(u64) -> Result<Box<dyn Read + Send>> + Send>;

/// An object being read. It ends after `size` bytes, or with an error.
pub struct Reading {
    size: u64,
    at: u64,
    from: Box<dyn Read + Send>,
    rest: Rest,
    retry: Retry,
}

impl Reading {
    /// Reads `size` bytes from `from`, and from `rest` what it leaves out.
    pub fn new(size: u64, from: Box<dyn Read + Send>, rest: Rest) -> Reading {
        Reading { size, at: 0, from, rest, retry: Retry::default() }
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.at == self.size {
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(self.size - self.at).unwrap_or(usize::MAX));
        loop {
            let why = match self.from.read(&mut buffer[..most]) {
                Ok(0) => "it ended too soon".to_owned(),
                Ok(n) => {
                    self.at += n as u64;
                    return Ok(n);
                }
                Err(e) => e.to_string(),
            };
            let cut = || Error::store(format!("cut off after {} of {} bytes: {why}", self.at, self.size));
            self.retry.pause(None, cut).map_err(io::Error::other)?;
            self.from = (self.rest)(self.at).map_err(io::Error::other)?;
        }
    }
}
