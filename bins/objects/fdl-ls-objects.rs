//! Lists objects.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args, Output},
    key::Key,
    store::Listed,
    text::Escaped,
};

const USAGE: &str = "usage: fdl-ls-objects [--repo URL] [-z] [FOLDER]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut folder) = (None, false, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Value(value) if folder.is_none() => folder = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let folder = folder.map(|text| Key::new(text.trim_end_matches('/'))).transpose()?;
    let repository = cli::repository(repo)?;
    let mut output = Output::new(z);
    repository.store().list(folder.as_ref(), &mut |listed| match listed {
        Listed::Object(key, meta) => {
            let etag = meta.etag.as_ref().map_or("-".to_owned(), ToString::to_string);
            output.record(&[&key, &meta.size, &meta.modified, &etag])
        }
        Listed::Foreign(name) => {
            cli::warning(&format!("'{}' is no object and was left out", Escaped(&name)));
            Ok(())
        }
    })?;
    output.finish()
}
