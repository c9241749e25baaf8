//! Whom a reader trusts, and what that makes of a version.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::{
    Error, Kind, Result,
    allowed_signers::{AllowedSigners, Revoked, Verdict},
    config::Config,
    id::VersionId,
    key::Key,
    repository::Repository,
    signature::{self, Signature},
    ssh,
    version::{self, Version},
};

/// The reader's lists.
pub struct Trust {
    allowed: AllowedSigners,
    revoked: Revoked,
    principal: Option<String>,
}

/// Who signed a version.
pub struct Signer {
    /// The name that the list of allowed signers has for the key.
    pub principal: String,
    /// The key.
    pub key: ssh::Key,
}

impl Trust {
    /// Reads the lists of the options or, without them, of the settings; `None` where no list of allowed signers is known.
    /// With a `principal`, only lines for it count.
    pub fn read(
        allowed: Option<Utf8PathBuf>,
        revoked: Option<Utf8PathBuf>,
        principal: Option<String>,
    ) -> Result<Option<Trust>> {
        let config = Config::user()?;
        let or_setting =
            |path: Option<Utf8PathBuf>, name| path.map_or_else(|| config.path(name), |path| Ok(Some(path)));
        let revoked = match or_setting(revoked, "gpg.ssh.revocationfile")? {
            // One that was named and is not there must not mean that nothing was revoked.
            Some(path) => Revoked::parse(&read(&path)?).map_err(|e| e.context(format_args!("'{path}'")))?,
            None => Revoked::default(),
        };
        let Some(path) = or_setting(allowed, "gpg.ssh.allowedsignersfile")? else { return Ok(None) };
        let text = String::from_utf8(read(&path)?);
        let text = text.map_err(|_| Error::fatal(format!("'{path}' is not valid UTF-8")))?;
        let allowed = AllowedSigners::parse(&text).map_err(|e| e.context(format_args!("'{path}'")))?;
        Ok(Some(Trust { allowed, revoked, principal }))
    }

    /// Lines of the list that are bad, and were passed over.
    pub fn faults(&self) -> &[String] {
        &self.allowed.faults
    }

    /// Who signed these bytes of a version's `version.json`, and what they say.
    ///
    /// # Errors
    /// [`Kind::Unsigned`], [`Kind::Mismatch`], [`Kind::UnknownKey`], [`Kind::ExpiredKey`] or [`Kind::RevokedKey`].
    pub fn signer(&self, repository: &Repository, id: VersionId, bytes: &[u8]) -> Result<(Signer, Version)> {
        let Some(object) = repository.store().get(&Key::in_version(id, version::SIGNATURE), signature::MAX)? else {
            return Err(Error::new(Kind::Unsigned, format!("version {id} is not signed")));
        };
        let in_version = |e: Error| e.context(format_args!("version {id}"));
        let signature = Signature::parse(&object.bytes).map_err(in_version)?;
        signature.verify(bytes).map_err(in_version)?;
        // The bytes are those that were signed; only now is it worth reading what they say.
        let version = Version::parse(repository, id, bytes)?;
        let time = version
            .created
            .parse()
            .map_err(|_| Error::fatal(format!("version {id} was made at '{}', which is no time", version.created)))?;
        let key = signature.key;
        let by = |kind, what, why| Err(Error::new(kind, format!("version {id} is signed by {what} key: {key}{why}")));
        if self.revoked.contains(&key) {
            return by(Kind::RevokedKey, "a revoked", String::new());
        }
        match self.allowed.judge(&key, time, self.principal.as_deref()) {
            Verdict::Allowed(principal) => Ok((Signer { principal, key }, version)),
            Verdict::Expired(why) => by(Kind::ExpiredKey, "an expired", format!(": {why}")),
            Verdict::Unknown(None) => by(Kind::UnknownKey, "an unknown", String::new()),
            Verdict::Unknown(Some(why)) => by(Kind::UnknownKey, "an unknown", format!(": {why}")),
        }
    }
}

fn read(path: &Utf8Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::fatal(format!("cannot read '{path}': {e}")))
}
