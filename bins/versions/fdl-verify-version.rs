//! Checks versions: signature, version.json, catalog, files.json, data files; and says how far the proof reaches.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    digest::Digest,
    expired,
    id::VersionId,
    key::Key,
    repository::Repository,
    resolve::resolve,
    store::Opened,
    trust::{Signer, Trust},
    version::{CATALOG, Version},
    version_files::each_file,
};

const USAGE: &str = "\
usage: fdl-verify-version [--repo URL] [--data] [--allowed-signers FILE] [--revoked FILE]
                          (--stdin | NAME...)";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut data, mut allowed, mut revoked) = (None, false, None, None);
    let (mut stdin, mut names) = (false, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("data") => data = true,
            Arg::Long("allowed-signers") => allowed = Some(args.path()?),
            Arg::Long("revoked") => revoked = Some(args.path()?),
            Arg::Long("stdin") => stdin = true,
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if stdin != names.is_empty() {
        return Err(Error::usage("either NAMEs or --stdin is wanted"));
    }
    let trust = Trust::read(allowed, revoked, None)?;
    trust.iter().flat_map(Trust::faults).for_each(|fault| cli::warning(fault));
    let repository = cli::repository(repo)?;
    let mut output = Output::new(false);
    let mut failed: Option<Error> = None;
    let names: Box<dyn Iterator<Item = Result<String>>> = if stdin {
        Box::new(cli::records(false).map(|r| Ok(r?.join("\t"))))
    } else {
        Box::new(names.into_iter().map(Ok))
    };
    for name in names {
        let id = resolve(&repository, &name?)?.id;
        match verify(&repository, id, trust.as_ref(), data) {
            Ok(proof) => proof.print(&mut output)?,
            Err(e) => {
                output.record(&[&id, &"bad", &e])?;
                failed = failed.or(Some(e));
            }
        }
    }
    output.finish()?;
    failed.map_or(Ok(()), Err)
}

/// What holds of a version.
struct Proof {
    id: VersionId,
    signed: Signed,
    expired: bool,
    files: u64,
    digests: u64,
    read: bool,
}

/// What is known of who made it.
enum Signed {
    Good(Signer),
    Not,
    /// Nobody told whom to trust.
    Unknown,
}

fn verify(repository: &Repository, id: VersionId, trust: Option<&Trust>, data: bool) -> Result<Proof> {
    let bytes = Version::bytes(repository, id)?;
    let (signed, version) = match trust.map(|trust| trust.signer(repository, id, &bytes)) {
        Some(Ok((signer, version))) => (Signed::Good(signer), version),
        Some(Err(e)) if e.kind() == Kind::Unsigned => (Signed::Not, Version::parse(repository, id, &bytes)?),
        Some(Err(e)) => return Err(e),
        None => (Signed::Unknown, Version::parse(repository, id, &bytes)?),
    };
    check_parent(repository, &version)?;
    let mut proof = Proof { id, signed, expired: false, files: 0, digests: 0, read: data };
    if expired::read(repository, id)?.is_some() {
        proof.expired = true;
        return Ok(proof);
    }
    check(repository, &Key::in_version(id, CATALOG), version.size, Some(version.sha256))?;
    each_file(repository, &version, &mut |file| {
        proof.files += 1;
        proof.digests += u64::from(file.sha256.is_some());
        check(repository, &repository.data_key(&file.path)?, file.size, file.sha256.filter(|_| data))
    })?;
    Ok(proof)
}

/// The parent is the version that this one was built on: its id alone does not say so.
fn check_parent(repository: &Repository, version: &Version) -> Result<()> {
    let (Some(parent), Some(wanted)) = (version.parent(), version.parent_sha256) else { return Ok(()) };
    let found = Digest::of(&Version::bytes(repository, parent)?);
    if found == wanted {
        return Ok(());
    }
    let key = Key::in_version(parent, fdl::version::NAME);
    Err(Error::mismatch(format!("'{key}' has sha256 {found}, but version {} was built on {wanted}", version.id)))
}

/// Checks the size of an object, and its digest where one is given.
fn check(repository: &Repository, key: &Key, size: u64, digest: Option<Digest>) -> Result<()> {
    let missing = || Error::mismatch(format!("'{key}' is not in '{}'", repository.url()));
    let found = match digest {
        None => repository.store().head(key)?.ok_or_else(missing)?.size,
        Some(digest) => {
            let Opened { meta, mut body } = repository.store().open(key)?.ok_or_else(missing)?;
            if meta.size == size {
                let (found, _) = Digest::of_reader(&mut body)
                    .map_err(|e| Error::store(format!("cannot read '{key}' from '{}': {e}", repository.url())))?;
                if found != digest {
                    return Err(Error::mismatch(format!("'{key}' has sha256 {found}, not {digest}")));
                }
            }
            meta.size
        }
    };
    if found == size {
        return Ok(());
    }
    Err(Error::mismatch(format!("'{key}' has {found} bytes, not {size}")))
}

impl Proof {
    fn print(&self, output: &mut Output) -> Result<()> {
        let signed = match &self.signed {
            Signed::Good(signer) => format!("signed by {} with {}", signer.principal, signer.key),
            Signed::Not => "not signed".into(),
            Signed::Unknown => "signature not checked".into(),
        };
        let reach = match (self.expired, self.read) {
            (true, _) => "expired: only version.json is left".into(),
            (false, false) => format!("catalog and sizes of {} files hold", self.files),
            (false, true) if self.digests == self.files => format!("catalog and {} files hold", self.files),
            (false, true) => {
                let (some, all) = (self.digests, self.files);
                format!("catalog and {some} of {all} files hold, of the others only the sizes: they have no digest")
            }
        };
        output.record(&[&self.id, &"good", &signed, &reach])
    }
}
