//! Prints the statement that attaches a version, or a working catalog, in DuckDB.

use std::process::ExitCode;

use camino::Utf8PathBuf;
use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    expired,
    key::Key,
    resolve::resolve,
    store::{Access, S3},
    version::{CATALOG, Version},
};

const USAGE: &str = "\
usage: fdl-attach-sql [--repo URL] [--as NAME] [--url | --with-keys] NAME
   or: fdl-attach-sql [--repo URL] [--as NAME] [--data-path PATH] [--with-keys] --working FILE";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut alias, mut url, mut data_path) = (None, "lake".to_owned(), false, None);
    let (mut with_keys, mut working, mut name) = (false, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("as") => alias = args.value()?,
            Arg::Long("url") => url = true,
            Arg::Long("with-keys") => with_keys = true,
            Arg::Long("data-path") => data_path = Some(args.value()?),
            Arg::Long("working") => working = Some(args.path()?),
            Arg::Value(value) if name.is_none() => name = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    let secret = match repository.url().strip_prefix("s3://") {
        Some(bucket) if !url => secret_statement(&S3::open(bucket)?.access()?, &alias, with_keys)?,
        _ => String::new(),
    };
    let text = match (working, name) {
        (Some(working), None) => {
            let data_path = data_path.unwrap_or_else(|| repository.data_url());
            writer_statement(&absolute(working)?, &alias, &data_path)
        }
        (None, Some(name)) => {
            // The steps of a reader: the ref, the version, and whether it was taken away.
            let id = resolve(&repository, &name)?.id;
            Version::read(&repository, id)?;
            expired::check_live(&repository, id)?;
            let catalog = format!("{}{}", repository.url(), Key::in_version(id, CATALOG));
            if url { catalog } else { reader_statement(&catalog, &alias, &repository.data_url()) }
        }
        _ => return Err(Error::usage("either a NAME or --working FILE is wanted")),
    };
    let mut output = Output::new(false);
    output.bytes(secret.as_bytes())?;
    output.bytes(text.as_bytes())?;
    output.bytes(b"\n")?;
    output.finish()
}

/// What DuckDB needs to reach the bucket. Secret values are left out unless asked for: DuckDB finds them where fdl did,
/// with its `aws` extension. A public bucket needs none.
fn secret_statement(access: &Access, alias: &str, with_keys: bool) -> Result<String> {
    let mut options = vec![("TYPE", "s3".to_owned())];
    match &access.keys {
        Some(keys) if with_keys => {
            options.push(("KEY_ID", literal(&keys.id)));
            options.push(("SECRET", literal(&keys.secret)));
            options.extend(keys.token.iter().map(|token| ("SESSION_TOKEN", literal(token))));
        }
        Some(_) => options.push(("PROVIDER", "credential_chain".into())),
        None if with_keys => return Err(Error::fatal("there are no keys to print: no credentials were found")),
        None => {}
    }
    options.push(("REGION", literal(&access.region)));
    if let Some(endpoint) = &access.endpoint {
        let (scheme, host) = endpoint.split_once("://").unwrap_or(("https", endpoint));
        options.push(("ENDPOINT", literal(host.trim_end_matches('/'))));
        options.push(("URL_STYLE", literal("path")));
        options.push(("USE_SSL", (scheme == "https").to_string()));
    }
    options.push(("SCOPE", literal(&access.url)));
    let options: Vec<_> = options.iter().map(|(name, value)| format!("    {name} {value}")).collect();
    Ok(format!("CREATE OR REPLACE SECRET {} (\n{}\n);\n", identifier(alias), options.join(",\n")))
}

/// The data path is the reader's own, so that the same statement works at the origin and at any mirror.
fn reader_statement(catalog: &str, alias: &str, data_path: &str) -> String {
    format!(
        "ATTACH {} AS {} (\n    DATA_PATH {},\n    OVERRIDE_DATA_PATH true,\n    READ_ONLY\n);",
        literal(&format!("ducklake:{catalog}")),
        identifier(alias),
        literal(data_path)
    )
}

/// META_TYPE: DuckDB 1.5 does not find out by itself that the file is SQLite. No inlining: SQLite catalogs lose
/// apostrophes in nested text. WAL: a reader never makes a writer's commit fail.
fn writer_statement(working: &str, alias: &str, data_path: &str) -> String {
    format!(
        "ATTACH {} AS {} (\n    DATA_PATH {},\n    OVERRIDE_DATA_PATH true,\n    META_TYPE 'sqlite',\n    \
         DATA_INLINING_ROW_LIMIT 0,\n    META_JOURNAL_MODE 'WAL',\n    BUSY_TIMEOUT 5000\n);",
        literal(&format!("ducklake:{working}")),
        identifier(alias),
        literal(data_path)
    )
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An identifier as it is where that is safe, else in quotes.
fn identifier(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_lowercase() || b == b'_';
    match name.as_bytes() {
        [first, rest @ ..] if plain(*first) && rest.iter().all(|b| plain(*b) || b.is_ascii_digit()) => name.to_owned(),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

fn absolute(path: Utf8PathBuf) -> Result<String> {
    match camino::absolute_utf8(&path) {
        Ok(path) => Ok(path.into_string()),
        Err(e) => Err(Error::fatal(format!("cannot make '{path}' absolute: {e}"))),
    }
}
