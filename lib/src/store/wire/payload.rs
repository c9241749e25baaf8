//! What a request carries. A body is as long as was said when it began, or the request fails.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
};

use crate::store::Body;

/// The part of a body that is in a file.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub file: &'a File,
    pub from: u64,
    pub size: u64,
}

/// What a request carries.
#[derive(Clone, Copy)]
pub enum Payload<'a> {
    None,
    Bytes(&'a [u8]),
    Part(Part<'a>),
}

impl Payload<'_> {
    /// Bytes.
    pub fn size(&self) -> u64 {
        match self {
            Payload::None => 0,
            Payload::Bytes(bytes) => bytes.len() as u64,
            Payload::Part(part) => part.size,
        }
    }
}

impl<'a> From<Body<'a>> for Payload<'a> {
    fn from(body: Body<'a>) -> Payload<'a> {
        match body {
            Body::Bytes(bytes) => Payload::Bytes(bytes),
            Body::File(file, size) => Payload::Part(Part { file, from: 0, size }),
        }
    }
}

/// Says that a file is not what it was when its upload began.
#[derive(Debug)]
pub struct Changed(u64);

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the file changed while it was sent: {} bytes are missing", self.0)
    }
}

impl std::error::Error for Changed {}

/// Reads the part, wherever the file's own position is: parts are sent side by side.
impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.size).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let n = self.file.read_at(&mut buffer[..most], self.from)?;
        if n == 0 {
            return Err(io::Error::other(Changed(self.size)));
        }
        self.from += n as u64;
        self.size -= n as u64;
        Ok(n)
    }
}
