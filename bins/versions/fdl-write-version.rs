//! Writes a complete version into a repository and prints its id.

use std::{fs::File, io::Read, process::ExitCode};

use camino::Utf8Path;
use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    dataset::Dataset,
    digest::Digest,
    files,
    id::VersionId,
    json,
    key::Key,
    repository::Repository,
    store::Body,
    transfer::put_immutable,
    version::{self, Version},
};
use jiff::{Timestamp, Unit};

const USAGE: &str = "\
usage: fdl-write-version [--repo URL] [--parent ID] --author AUTHOR [--date DATE] (-m MESSAGE | -F FILE)
                         --catalog FILE --files FILE --dataset FILE";

/// What every DuckDB file has at its offset 8.
const DUCKDB_MAGIC: &[u8] = b"DUCK";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut parent, mut author, mut date, mut message) = (None, None, None, None, None);
    let (mut catalog, mut files, mut dataset) = (None, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("parent") => parent = Some(args.value()?.parse::<VersionId>()?),
            Arg::Long("author") => author = Some(args.value()?),
            Arg::Long("date") => date = Some(args.value()?),
            Arg::Short('m') | Arg::Long("message") => message = Some(args.value()?),
            Arg::Short('F') | Arg::Long("file") => message = Some(read_text(&args.path()?)?),
            Arg::Long("catalog") => catalog = Some(args.path()?),
            Arg::Long("files") => files = Some(args.path()?),
            Arg::Long("dataset") => dataset = Some(args.path()?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let author = check_author(cli::required(author, "--author")?)?;
    let message = cli::required(message, "-m MESSAGE")?.trim_end().to_owned();
    let created = timestamp(date.as_deref())?;
    let catalog = cli::required(catalog, "--catalog")?;
    let files = read_bytes(&cli::required(files, "--files")?)?;
    let dataset = read_bytes(&cli::required(dataset, "--dataset")?)?;
    let repository = cli::repository(repo)?;
    repository.check_writable()?;

    let (file, sha256, size) = open_catalog(&catalog)?;
    files::read(files.as_slice(), &mut |_| Ok(()))?;
    let ducklake = json::parse::<Dataset>("dataset.json", &dataset)?.ducklake;
    let parent_sha256 = parent.map(|id| digest_of(&repository, id)).transpose()?;
    let version = Version {
        fdl: json::FORMAT.into(),
        id: VersionId::fresh(),
        repository: repository.config().id,
        parents: parent.into_iter().collect(),
        parent_sha256,
        author,
        created,
        message,
        sha256,
        size,
        ducklake,
        files_sha256: Digest::of(&files),
        other: Default::default(),
    };
    write(&repository, &version, Body::File(&file, size), &dataset, &files)?;
    let mut output = Output::new(false);
    output.record(&[&version.id])?;
    output.finish()
}

/// What `version.json` points at is written before it.
fn write(repository: &Repository, version: &Version, catalog: Body<'_>, dataset: &[u8], files: &[u8]) -> Result<()> {
    let put = |name, body, digest| put_immutable(repository, &Key::in_version(version.id, name), body, digest);
    let bytes = json::to_bytes(version)?;
    if bytes.len() as u64 > version::MAX {
        return Err(Error::fatal("the message is too long: version.json may have 1 MiB"));
    }
    put(version::CATALOG, catalog, version.sha256)?;
    put(version::DATASET, Body::Bytes(dataset), Digest::of(dataset))?;
    put(version::FILES, Body::Bytes(files), version.files_sha256)?;
    put(version::NAME, Body::Bytes(&bytes), Digest::of(&bytes))
}

/// The digest of a `version.json` that a version may be built on.
fn digest_of(repository: &Repository, id: VersionId) -> Result<Digest> {
    let bytes = Version::bytes(repository, id)?;
    Version::parse(repository, id, &bytes)?;
    Ok(Digest::of(&bytes))
}

fn open_catalog(path: &Utf8Path) -> Result<(File, Digest, u64)> {
    let mut file = File::open(path).map_err(|e| cli::cannot_open(path, &e))?;
    let cannot = |e| Error::fatal(format!("cannot read '{path}': {e}"));
    let mut head = [0; 12];
    let is_duckdb = file.read_exact(&mut head).is_ok() && head.ends_with(DUCKDB_MAGIC);
    if !is_duckdb {
        return Err(Error::fatal(format!("'{path}' is no DuckDB file"))
            .hint("'fdl freeze-catalog' makes one from a working catalog"));
    }
    std::io::Seek::rewind(&mut file).map_err(cannot)?;
    let (digest, size) = Digest::of_reader(&mut file).map_err(cannot)?;
    Ok((file, digest, size))
}

/// An author is text on one line that can be shown: `Name <email>`.
fn check_author(author: String) -> Result<String> {
    let email = author.split_once(" <").and_then(|(name, rest)| Some((name, rest.strip_suffix('>')?)));
    let well_formed = email.is_some_and(|(name, email)| !name.trim().is_empty() && !email.contains(['<', '>']));
    if well_formed && !author.contains(char::is_control) {
        return Ok(author);
    }
    Err(Error::fatal(format!("bad author '{}': it is written 'Name <email>'", author.escape_debug())))
}

fn timestamp(date: Option<&str>) -> Result<String> {
    let time = match date {
        None => Timestamp::now(),
        Some(text) => text.parse().map_err(|_| {
            Error::fatal(format!("bad date '{}': it is written 2026-12-01T12:34:56Z", text.escape_debug()))
        })?,
    };
    let time = time.round(Unit::Second).map_err(|e| Error::fatal(format!("the date cannot be rounded: {e}")))?;
    Ok(time.to_string())
}

fn read_text(path: &Utf8Path) -> Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| Error::fatal(format!("'{path}' is not valid UTF-8")))
}

fn read_bytes(path: &Utf8Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| cli::cannot_open(path, &e))
}
