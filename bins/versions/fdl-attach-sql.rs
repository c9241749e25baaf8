//! Prints the statement that attaches a version, or a working catalog, in DuckDB.

use std::process::ExitCode;

use camino::Utf8PathBuf;
use fdl::{
    Error, Result, attach,
    cli::{self, Arg, Args, Output},
    key::Key,
    resolve::{check_live, resolve},
    version::CATALOG,
};

const USAGE: &str = "\
usage: fdl-attach-sql [--repo URL] [--as NAME] [--url] [--public | --with-keys] NAME
   or: fdl-attach-sql [--repo URL] [--as NAME] [--data-path PATH] [--with-keys] --working FILE";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut alias, mut url, mut data_path) = (None, "lake".to_owned(), false, None);
    let (mut with_keys, mut public, mut working, mut name) = (false, false, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("as") => alias = args.value()?,
            Arg::Long("url") => url = true,
            Arg::Long("with-keys") => with_keys = true,
            Arg::Long("public") => public = true,
            Arg::Long("data-path") => data_path = Some(args.value()?),
            Arg::Long("working") => working = Some(args.path()?),
            Arg::Value(value) if name.is_none() => name = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if public && (with_keys || working.is_some()) {
        return Err(Error::usage("--public is for readers without keys"));
    }
    let repository = cli::repository(repo)?;
    let secret = if url || public { String::new() } else { attach::secret(&repository, &alias, with_keys)? };
    let text = match (working, name) {
        (Some(working), None) => {
            let working = absolute(working)?;
            let data_path = data_path.unwrap_or_else(|| attach::data_path(&repository, &working));
            attach::writer(&working, &alias, &data_path)
        }
        (None, Some(name)) => {
            // The steps of a reader: the ref, the version, and whether it was taken away.
            let resolved = resolve(&repository, &name)?;
            check_live(&repository, &resolved)?;
            let base = if public { attach::public_url(&repository)? } else { repository.url().to_owned() };
            let catalog = format!("{base}{}", Key::in_version(resolved.id, CATALOG));
            let data = format!("{base}{}/", repository.config().data_dir);
            if url { catalog } else { attach::reader(&catalog, &alias, &data) }
        }
        _ => return Err(Error::usage("either a NAME or --working FILE is wanted")),
    };
    let mut output = Output::new(false);
    output.bytes(secret.as_bytes())?;
    output.bytes(text.as_bytes())?;
    output.bytes(b"\n")?;
    output.finish()
}

fn absolute(path: Utf8PathBuf) -> Result<String> {
    match camino::absolute_utf8(&path) {
        Ok(path) => Ok(path.into_string()),
        Err(e) => Err(Error::fatal(format!("cannot make '{path}' absolute: {e}"))),
    }
}
