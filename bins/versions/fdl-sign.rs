//! Signs versions: puts a version.json.sig beside each version.json.

use std::{
    env, fs,
    io::Write,
    process::{Command, ExitCode, Stdio},
};

use camino::{Utf8Path, Utf8PathBuf};
use fdl::{
    Error, Result,
    cli::{self, Arg, Args},
    config::Config,
    key::Key,
    repository::Repository,
    resolve::resolve,
    signature::{self, NAMESPACE, Signature},
    store::{Body, Condition, Written},
    version::{self, Version},
};

const USAGE: &str = "usage: fdl-sign [--repo URL] [--key FILE] NAME...";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut key, mut names) = (None, None, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("key") => key = Some(args.path()?),
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if names.is_empty() {
        return Err(Error::usage("NAME is missing"));
    }
    let key = signing_key(key)?;
    let repository = cli::repository(repo)?;
    repository.check_writable()?;
    names.iter().try_for_each(|name| sign(&repository, name, &key))
}

/// The key of the option, of `FDL_SIGNING_KEY`, or of the settings.
fn signing_key(option: Option<Utf8PathBuf>) -> Result<Utf8PathBuf> {
    if let Some(key) = option {
        return Ok(key);
    }
    match env::var("FDL_SIGNING_KEY") {
        Ok(key) if !key.is_empty() => return Ok(key.into()),
        Err(env::VarError::NotUnicode(_)) => return Err(Error::usage("FDL_SIGNING_KEY is not valid UTF-8")),
        _ => {}
    }
    Config::user()?.path("user.signingkey")?.ok_or_else(|| {
        Error::fatal("no key to sign with is known")
            .hint("give --key FILE, set FDL_SIGNING_KEY, or 'fdl config set user.signingkey FILE'")
    })
}

fn sign(repository: &Repository, name: &str, key: &Utf8Path) -> Result<()> {
    let id = resolve(repository, name)?.id;
    let message = Version::bytes(repository, id)?;
    // Nobody signs what is no version of this repository.
    Version::parse(repository, id, &message)?;
    let private = fs::read(key).map_err(|e| cli::cannot_open(key, &e))?;
    let armor = match Signature::sign(&private, &message)? {
        Some(armor) => armor.into_bytes(),
        None => ssh_keygen(key, &message)?,
    };
    let made = Signature::parse(&armor).and_then(|made| made.verify(&message).map(|()| made));
    let made = made.map_err(|e| e.context(format_args!("the signature made with '{key}' does not hold")))?;

    let place = Key::in_version(id, version::SIGNATURE);
    if repository.store().put(&place, Body::Bytes(&armor), &Condition::Absent)? == Written::Done {
        return Ok(());
    }
    // One by the same key is as good as ours; ECDSA never signs twice alike.
    let there = repository.store().get(&place, signature::MAX)?.map(|object| object.bytes).unwrap_or_default();
    match Signature::parse(&there) {
        Ok(there) if there.key.is(&made.key) && there.verify(&message).is_ok() => Ok(()),
        Ok(there) => Err(Error::conflict(format!("version {id} is signed already, by {}", there.key))),
        Err(e) => Err(e.context(format_args!("'{place}' is there already"))),
    }
}

/// Lets ssh-keygen sign: it asks for a passphrase, and knows the keys of an agent and of FIDO tokens.
fn ssh_keygen(key: &Utf8Path, message: &[u8]) -> Result<Vec<u8>> {
    let cannot = |e: std::io::Error| Error::fatal(format!("cannot run ssh-keygen, which '{key}' needs: {e}"));
    let folder = tempfile::tempdir().map_err(|e| Error::store(format!("cannot make a temporary folder: {e}")))?;
    let file = folder.path().join("version.json");
    fs::File::create(&file)
        .and_then(|mut to| to.write_all(message))
        .map_err(|e| Error::store(format!("cannot write '{}': {e}", file.display())))?;
    // Its standard input stays ours: it may ask there.
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f", key.as_str()]).arg(&file).stdout(Stdio::null());
    if !command.status().map_err(cannot)?.success() {
        return Err(Error::fatal(format!("ssh-keygen could not sign with '{key}'")));
    }
    fs::read(file.with_extension("json.sig")).map_err(|e| Error::fatal(format!("ssh-keygen made no signature: {e}")))
}
