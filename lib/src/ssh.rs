//! Public keys of OpenSSH, plain or with a certificate, and the lines in which they are written.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use signature::Verifier;
use ssh_key::{
    Algorithm, HashAlg, PublicKey, Signature,
    public::{KeyData, RsaPublicKey},
};

/// The smallest RSA key, in bits (SSH_RSA_MINIMUM_MODULUS_SIZE of OpenSSH).
const MIN_RSA_BITS: usize = 1024;

/// What stands after an algorithm's name in that of its certificates.
const CERTIFICATE: &str = "-cert-v01@openssh.com";

/// A public key.
#[derive(Clone)]
pub struct Key {
    /// The key without its certificate.
    pub plain: KeyData,
    /// Its certificate, whose own signature holds.
    pub certificate: Option<Box<Certificate>>,
    blob: Vec<u8>,
}

impl Key {
    /// Reads a key in its binary form; what is wrong with it otherwise.
    pub fn from_blob(blob: &[u8]) -> Result<Key, String> {
        let name = name_of(blob).ok_or("its key is damaged")?;
        let (plain, certificate) = if name.ends_with(CERTIFICATE) {
            let (plain, certificate) =
                Certificate::parse(blob).ok_or("its certificate is damaged, or signed by another")?;
            (plain, Some(Box::new(certificate)))
        } else {
            let key = PublicKey::from_bytes(blob).map_err(|e| format!("its key is damaged: {e}"))?;
            (key.key_data().clone(), None)
        };
        match &plain {
            KeyData::Rsa(key) if bits(key) < MIN_RSA_BITS => Err("its RSA key is too short".into()),
            KeyData::Dsa(_) | KeyData::Other(_) => Err(format!("keys of type '{name}' are not known")),
            _ => Ok(Key { plain, certificate, blob: blob.to_vec() }),
        }
    }

    /// Reads `TYPE BASE64`, with anything after it.
    pub fn from_line(line: &str) -> Option<Key> {
        let mut words = line.trim_start_matches([' ', '\t']).split([' ', '\t']).filter(|word| !word.is_empty());
        let (name, base64) = (words.next()?, words.next()?);
        let blob = STANDARD.decode(base64).ok()?;
        if name_of(&blob)? != name {
            return None;
        }
        Key::from_blob(&blob).ok()
    }

    /// Whether both are the same key, or the same certificate.
    pub fn is(&self, other: &Key) -> bool {
        match (&self.certificate, &other.certificate) {
            (None, None) => self.plain == other.plain,
            _ => self.blob == other.blob,
        }
    }
}

/// A certificate, whose signature by its authority holds (PROTOCOL.certkeys of OpenSSH).
///
/// It is read here, as the ssh-key crate refuses those that are valid for ever.
#[derive(Clone)]
pub struct Certificate {
    /// Whether it is a user's, and no host's.
    pub is_user: bool,
    /// Those that it is for.
    pub principals: Vec<String>,
    /// From when on it is valid, in seconds since 1970.
    pub after: u64,
    /// Until when it is valid; not at that second any more.
    pub before: u64,
    /// The key that signed it.
    pub authority: KeyData,
}

impl Certificate {
    fn parse(blob: &[u8]) -> Option<(KeyData, Certificate)> {
        let mut rest = blob;
        let name = string(&mut rest)?;
        let plain_name = std::str::from_utf8(name).ok()?.strip_suffix(CERTIFICATE)?;
        string(&mut rest)?; // the nonce
        let key = rest;
        let (plain_name, fields) = match plain_name {
            "ssh-ed25519" => (plain_name, 1),
            "sk-ssh-ed25519" => ("sk-ssh-ed25519@openssh.com", 2),
            "sk-ecdsa-sha2-nistp256" => ("sk-ecdsa-sha2-nistp256@openssh.com", 3),
            "ssh-rsa" | "ecdsa-sha2-nistp256" | "ecdsa-sha2-nistp384" | "ecdsa-sha2-nistp521" => (plain_name, 2),
            _ => return None,
        };
        (0..fields).try_for_each(|_| string(&mut rest).map(drop))?;
        let mut plain = (plain_name.len() as u32).to_be_bytes().to_vec();
        plain.extend(plain_name.as_bytes());
        plain.extend(&key[..key.len() - rest.len()]);
        let plain = PublicKey::from_bytes(&plain).ok()?.key_data().clone();

        take(&mut rest, 8)?; // the serial number
        let is_user = take(&mut rest, 4)? == [0, 0, 0, 1];
        string(&mut rest)?; // the key's id
        let mut list = string(&mut rest)?;
        let mut principals = Vec::new();
        while !list.is_empty() {
            principals.push(String::from_utf8(string(&mut list)?.to_vec()).ok()?);
        }
        let after = u64::from_be_bytes(take(&mut rest, 8)?.try_into().ok()?);
        let before = u64::from_be_bytes(take(&mut rest, 8)?.try_into().ok()?);
        (0..3).try_for_each(|_| string(&mut rest).map(drop))?; // options, extensions, a reserved field
        let authority = PublicKey::from_bytes(string(&mut rest)?).ok()?.key_data().clone();
        let signed = &blob[..blob.len() - rest.len()];
        let signature = Signature::try_from(string(&mut rest)?).ok()?;
        let is_safe = !matches!(signature.algorithm(), Algorithm::Dsa | Algorithm::Rsa { hash: None });
        let holds = is_safe && rest.is_empty() && authority.verify(signed, &signature).is_ok();
        holds.then_some((plain, Certificate { is_user, principals, after, before, authority }))
    }
}

/// The next bytes of a blob.
pub fn take<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(size)?;
    *rest = after;
    Some(taken)
}

/// The next string of a blob: its length in four bytes, then its bytes (RFC 4251, section 5).
pub fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let size = u32::from_be_bytes(take(rest, 4)?.try_into().ok()?);
    take(rest, size as usize)
}

/// `ED25519 SHA256:...`, as ssh-keygen says it.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.plain.algorithm() {
            Algorithm::Ed25519 => "ED25519",
            Algorithm::Ecdsa { .. } => "ECDSA",
            Algorithm::Rsa { .. } => "RSA",
            Algorithm::SkEd25519 => "ED25519-SK",
            Algorithm::SkEcdsaSha2NistP256 => "ECDSA-SK",
            _ => "key",
        };
        let suffix = if self.certificate.is_some() { "-CERT" } else { "" };
        write!(f, "{kind}{suffix} {}", self.plain.fingerprint(HashAlg::Sha256))
    }
}

fn bits(key: &RsaPublicKey) -> usize {
    key.n.as_positive_bytes().map_or(0, |n| match n.first() {
        Some(first) => n.len() * 8 - first.leading_zeros() as usize,
        None => 0,
    })
}

/// The name that a key in binary form begins with.
fn name_of(blob: &[u8]) -> Option<&str> {
    let mut rest = blob;
    std::str::from_utf8(string(&mut rest)?).ok()
}
