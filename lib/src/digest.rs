//! SHA-256 digests: what the format checks content by.

use std::{fmt, io, str::FromStr};

use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// The SHA-256 digest of some bytes; as text, 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// Reads `from` to its end, in memory that does not grow with it; returns the digest and the number of bytes.
    pub fn of_reader(from: &mut dyn io::Read) -> io::Result<(Digest, u64)> {
        Digest::of_copy(from, &mut io::sink())
    }

    /// The same, and writes to `to` what was read.
    pub fn of_copy(from: &mut dyn io::Read, to: &mut dyn io::Write) -> io::Result<(Digest, u64)> {
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(n) => {
                    hasher.update(&buffer[..n]);
                    to.write_all(&buffer[..n])?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// A digest in the making, which also counts the bytes.
#[derive(Default)]
pub struct Hasher {
    state: Sha256,
    size: u64,
}

impl Hasher {
    /// Takes in the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
        self.size += bytes.len() as u64;
    }

    /// The digest of all that was taken in, and its size in bytes.
    pub fn finish(self) -> (Digest, u64) {
        (Digest(self.state.finalize().into()), self.size)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Digest> {
        let bad = || Error::fatal(format!("'{}' is not a SHA-256 digest in lower-case hex", text.escape_debug()));
        if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(bad());
        }
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Digest(digest))
    }
}

crate::id::as_json_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_digest_of_abc_is_the_one_in_the_standard() {
        assert_eq!(Digest::of(b"abc").to_string(), ABC);
        let (digest, size) = Digest::of_reader(&mut &b"abc"[..]).unwrap();
        assert_eq!((digest.to_string().as_str(), size), (ABC, 3));
        assert_eq!(ABC.parse::<Digest>().unwrap(), Digest::of(b"abc"));
    }

    #[test]
    fn only_lower_case_hex_of_the_right_length_is_a_digest() {
        for text in [&ABC[1..], &ABC.to_uppercase(), &format!("{ABC}0"), &ABC.replace('b', "g"), ""] {
            assert!(text.parse::<Digest>().is_err(), "{text:?} was accepted");
        }
    }
}
