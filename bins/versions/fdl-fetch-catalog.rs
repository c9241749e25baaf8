//! Keeps a copy of a version's catalog on this machine, and prints where, or the statement that attaches it.

use std::{
    env,
    fs::{self, File},
    io::{self, Seek, Write},
    process::ExitCode,
};

use camino::{Utf8Path, Utf8PathBuf};
use fdl::{
    Error, Result, attach,
    cli::{self, Arg, Args, Output},
    digest::Digest,
    expired,
    key::Key,
    repository::Repository,
    resolve::resolve,
    transfer::Spooled,
    version::{CATALOG, Version},
};

const USAGE: &str = "usage: fdl-fetch-catalog [--repo URL] [--sql [--as NAME] [--with-keys]] [NAME]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut sql, mut alias, mut with_keys, mut name) = (None, false, "lake".to_owned(), false, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("sql") => sql = true,
            Arg::Long("as") => alias = args.value()?,
            Arg::Long("with-keys") => with_keys = true,
            Arg::Value(value) if name.is_none() => name = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    let id = resolve(&repository, name.as_deref().unwrap_or("HEAD"))?.id;
    let version = Version::read(&repository, id)?;
    // What was withdrawn is not handed out, even where a copy is still here.
    expired::check_live(&repository, id)?;
    let folder = cache()?.join(repository.config().id.to_string());
    let path = folder.join(format!("{id}.duckdb"));
    if !holds(&path, &version)? {
        fetch(&repository, &version, &folder, &path)?;
    }
    let mut output = Output::new(false);
    if sql {
        output.bytes(attach::secret(&repository, &alias, with_keys)?.as_bytes())?;
        output.bytes(attach::reader(path.as_str(), &alias, &repository.data_url()).as_bytes())?;
    } else {
        output.bytes(path.as_str().as_bytes())?;
    }
    output.bytes(b"\n")?;
    output.finish()
}

/// Where copies are kept: `$XDG_CACHE_HOME/fdl`, or `~/.cache/fdl`.
fn cache() -> Result<Utf8PathBuf> {
    let folder = |name: &str| env::var(name).ok().filter(|value| value.starts_with('/')).map(Utf8PathBuf::from);
    match (folder("XDG_CACHE_HOME"), folder("HOME")) {
        (Some(cache), _) => Ok(cache.join("fdl")),
        (None, Some(home)) => Ok(home.join(".cache/fdl")),
        (None, None) => Err(Error::fatal("there is no place for a copy: set XDG_CACHE_HOME or HOME")),
    }
}

/// Whether the copy is there and whole. One that is damaged is fetched anew.
fn holds(path: &Utf8Path, version: &Version) -> Result<bool> {
    match File::open(path) {
        Ok(mut file) => {
            let (digest, _) =
                Digest::of_reader(&mut file).map_err(|e| Error::store(format!("cannot read '{path}': {e}")))?;
            Ok(digest == version.sha256)
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(cli::cannot_open(path, &e)),
    }
}

fn fetch(repository: &Repository, version: &Version, folder: &Utf8Path, path: &Utf8Path) -> Result<()> {
    let key = Key::in_version(version.id, CATALOG);
    let url = repository.url();
    let opened =
        repository.store().open(&key)?.ok_or_else(|| Error::not_found(format!("'{key}' is not in '{url}'")))?;
    let mut spooled = Spooled::new(opened.body, Some(opened.meta.size))
        .map_err(|e| Error::store(format!("cannot read '{key}' from '{url}': {e}")))?;
    if spooled.digest != version.sha256 {
        let (found, wanted) = (spooled.digest, version.sha256);
        return Err(Error::mismatch(format!("'{key}' in '{url}' has sha256 {found}, not {wanted}")));
    }
    // Under its name only when it is whole: another process may look for it meanwhile.
    let partial = folder.join(format!(".{}-{}", version.id, std::process::id()));
    let written = fs::create_dir_all(folder).and_then(|()| {
        spooled.file.rewind()?;
        let mut to = File::create(&partial)?;
        io::copy(&mut spooled.file, &mut to)?;
        to.flush()?;
        fs::rename(&partial, path)
    });
    written.map_err(|e| {
        let _ = fs::remove_file(&partial);
        Error::store(format!("cannot write '{path}': {e}"))
    })
}
