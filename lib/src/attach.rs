//! The SQL with which DuckDB attaches a version or a working catalog.

use camino::Utf8Path;

use crate::{Error, Result, repository::Repository, store::S3};

/// The statement that makes the secret with which DuckDB reaches a bucket; for a folder, nothing.
///
/// Secret values are left out unless asked for: DuckDB finds them where fdl did, with its `aws` extension. A public
/// bucket needs none.
pub fn secret(repository: &Repository, alias: &str, with_keys: bool) -> Result<String> {
    let Some(bucket) = repository.url().strip_prefix("s3://") else { return Ok(String::new()) };
    let access = S3::open(bucket)?.access()?;
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

/// Where a reader without keys finds a bucket that anybody may read: its `https://` URL. Elsewhere it is the
/// repository's own URL.
pub fn public_url(repository: &Repository) -> Result<String> {
    match repository.url().strip_prefix("s3://") {
        Some(bucket) => Ok(S3::open(bucket)?.access()?.http_url),
        None => Ok(repository.url().to_owned()),
    }
}

/// The statement that attaches a version. The data path is the reader's own, so that the same statement works at the origin and at any mirror.
pub fn reader(catalog: &str, alias: &str, data_path: &str) -> String {
    format!(
        "ATTACH {} AS {} (\n    DATA_PATH {},\n    OVERRIDE_DATA_PATH true,\n    READ_ONLY\n);",
        literal(&format!("ducklake:{catalog}")),
        identifier(alias),
        literal(data_path)
    )
}

/// The statement that attaches a working catalog. META_TYPE: DuckDB 1.5 does not find out by itself that the file is SQLite. No inlining: SQLite catalogs lose
/// apostrophes in nested text. WAL: a reader never makes a writer's commit fail.
pub fn writer(working: &str, alias: &str, data_path: &str) -> String {
    format!(
        "ATTACH {} AS {} (\n    DATA_PATH {},\n    OVERRIDE_DATA_PATH true,\n    META_TYPE 'sqlite',\n    \
         DATA_INLINING_ROW_LIMIT 0,\n    META_JOURNAL_MODE 'WAL',\n    BUSY_TIMEOUT 5000\n);",
        literal(&format!("ducklake:{working}")),
        identifier(alias),
        literal(data_path)
    )
}

/// Where the new data files of the working catalog `working` go: into the repository, or, where it was checked out with
/// `--stage`, beside the catalog until they are pushed.
pub fn data_path(repository: &Repository, working: &str) -> String {
    let beside = format!("{working}.fdl");
    if Utf8Path::new(&beside).join("stage").exists() {
        return format!("{beside}/{}/", repository.config().data_dir);
    }
    repository.data_url()
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
