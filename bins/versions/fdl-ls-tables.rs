//! Lists the tables of a version, from its `dataset.json`.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    dataset::Dataset,
    json,
    key::Key,
    resolve::resolve,
    version::{DATASET, Version},
};

const USAGE: &str = "usage: fdl-ls-tables [--repo URL] [-z] NAME";

/// The largest `dataset.json`, in bytes: a thousand tables of a hundred columns are some 10 MB.
const MAX: u64 = 256 << 20;

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut name) = (None, false, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Value(value) if name.is_none() => name = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let name = cli::required(name, "NAME")?;
    let repository = cli::repository(repo)?;
    let version = Version::read(&repository, resolve(&repository, &name)?.id)?;
    let key = Key::in_version(version.id, DATASET);
    let object = repository
        .store()
        .get(&key, MAX)?
        .ok_or_else(|| Error::not_found(format!("'{key}' is not in '{}'", repository.url())))?;
    let dataset: Dataset = json::parse(format_args!("'{key}'"), &object.bytes)?;
    let mut output = Output::new(z);
    for schema in &dataset.schemas {
        for table in &schema.tables {
            output.record(&[&schema.name, &table.name, &table.rows, &table.files, &table.bytes])?;
        }
        for view in &schema.views {
            output.record(&[&schema.name, &view.name, &"view"])?;
        }
    }
    output.finish()
}
