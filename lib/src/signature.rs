//! Signatures of versions: what `ssh-keygen -Y sign` makes (PROTOCOL.sshsig of OpenSSH), in the namespace `fdl-version`.
//!
//! The armor is read here and not by the ssh-key crate, which accepts other forms of it than ssh-keygen does; a reader
//! of fdl's and one of OpenSSH's must never differ on the same bytes. What both accept is taken, and nothing else.

use base64::{Engine, engine::general_purpose::STANDARD};
use ssh_key::{Algorithm, HashAlg, PrivateKey, PublicKey, Signature as Raw, SshSig};

use crate::{
    Error, Result,
    ssh::{self, Key},
};

/// What a signature of a version is made for, so that one of something else cannot be passed off as one.
pub const NAMESPACE: &str = "fdl-version";

/// The largest signature, in bytes. One of a certificate is about 5 KiB.
pub const MAX: u64 = 1 << 16;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "\n-----END SSH SIGNATURE-----";

/// A signature, and the key that is said to have made it.
pub struct Signature {
    /// The key, with its certificate where it has one.
    pub key: Key,
    hash: HashAlg,
    raw: Raw,
}

impl Signature {
    /// Reads one block of armor: lines that end with LF, nothing before it, and at most one LF after it.
    ///
    /// # Errors
    /// Of kind [`Mismatch`](crate::Kind::Mismatch), with what is wrong, where it is no signature of a version.
    pub fn parse(bytes: &[u8]) -> Result<Signature> {
        let blob = armored(bytes).ok_or_else(|| bad("it is not one block of armor"))?;
        let mut rest = blob.strip_prefix(b"SSHSIG").ok_or_else(|| bad("it does not begin with 'SSHSIG'"))?;
        let version = ssh::take(&mut rest, 4).ok_or_else(cut_off)?;
        if version != [0, 0, 0, 1] {
            return Err(bad("its version is not 1"));
        }
        let key = Key::from_blob(string(&mut rest)?).map_err(|why| bad(&why))?;
        let namespace = string(&mut rest)?;
        if namespace != NAMESPACE.as_bytes() {
            let namespace = String::from_utf8_lossy(namespace);
            return Err(bad(&format!("it was made for '{namespace}', not for '{NAMESPACE}'")));
        }
        if !string(&mut rest)?.is_empty() {
            return Err(bad("its reserved field is not empty"));
        }
        let hash = match string(&mut rest)? {
            b"sha256" => HashAlg::Sha256,
            b"sha512" => HashAlg::Sha512,
            _ => return Err(bad("its hash is neither sha256 nor sha512")),
        };
        let raw = Raw::try_from(string(&mut rest)?).map_err(|e| bad(&e.to_string()))?;
        if !rest.is_empty() {
            return Err(bad("something follows it"));
        }
        // RSA with SHA-1 is what ssh-keygen refuses, too.
        if matches!(raw.algorithm(), Algorithm::Dsa | Algorithm::Rsa { hash: None }) {
            return Err(bad(&format!("'{}' is not safe any more", raw.algorithm())));
        }
        Ok(Signature { key, hash, raw })
    }

    /// Signs the bytes of a `version.json` with a private key in OpenSSH's form; `None` where only ssh-keygen can,
    /// which asks for passphrases and knows of agents and tokens.
    pub fn sign(private: &[u8], message: &[u8]) -> Result<Option<String>> {
        let key = match PrivateKey::from_openssh(private) {
            Ok(key) if !key.is_encrypted() => key,
            _ => return Ok(None),
        };
        // FIDO keys sign in their token. RSA keys the crate can verify with, but not sign (it takes a prime twice).
        if !matches!(key.algorithm(), Algorithm::Ed25519 | Algorithm::Ecdsa { .. }) {
            return Ok(None);
        }
        let signature = key.sign(NAMESPACE, HashAlg::Sha512, message);
        let armor = signature.and_then(|signature| signature.to_pem(ssh_key::LineEnding::LF));
        armor.map(Some).map_err(|e| Error::fatal(format!("cannot sign with this key: {e}")))
    }

    /// Checks that the key made this signature of exactly these bytes. Whether the key may is another question.
    pub fn verify(&self, message: &[u8]) -> Result<()> {
        let plain = self.key.plain.clone();
        SshSig::new(plain.clone(), NAMESPACE, self.hash, self.raw.clone())
            .and_then(|signature| PublicKey::from(plain).verify(NAMESPACE, message, &signature))
            .map_err(|_| bad("it does not fit these bytes"))
    }
}

fn bad(why: &str) -> Error {
    Error::mismatch(format!("bad signature: {why}"))
}

/// The bytes in a block of armor; base64 may be wrapped anywhere.
fn armored(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?.strip_prefix(BEGIN)?;
    let text = text.strip_suffix('\n').unwrap_or(text).strip_suffix(END)?;
    STANDARD.decode(text.replace('\n', "")).ok()
}

/// The next string of a blob.
fn string<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    ssh::string(rest).ok_or_else(cut_off)
}

fn cut_off() -> Error {
    bad("it is cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armor_is_one_block_with_nothing_around_it() {
        let good = format!("{BEGIN}U1NI\nU0lH{END}\n");
        assert_eq!(armored(good.as_bytes()).unwrap(), b"SSHSIG");
        assert!(armored(good.trim_end().as_bytes()).is_some());
        for text in [
            format!("\n{good}"),
            format!("{good}\n"),
            format!("{good}{good}"),
            format!("{good}x"),
            good.replace('\n', "\r\n"),
            good.replace("U1NI", " U1NI"),
            String::new(),
        ] {
            assert!(armored(text.as_bytes()).is_none(), "{text:?}");
        }
    }
}
