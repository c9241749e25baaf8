//! Checks that a repository is as it must be.

use std::process::ExitCode;

use camino::Utf8Path;
use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    dataset::Dataset,
    files::File,
    fsck::{self, Catalogs, Options},
};
use fdl_catalog::{Catalog, describe, list_files};

const USAGE: &str = "usage: fdl-fsck [-z] [--data] [--repair] [--repo URL | REPOSITORY]";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut options) = (None, false, Options::default());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") if repo.is_none() => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("data") => options.data = true,
            Arg::Long("repair") => options.repair = true,
            Arg::Value(value) if repo.is_none() => repo = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    let mut output = Output::new(z);
    let seen =
        fsck::fsck(&repository, &Frozen, options, &mut |level, key, text| output.record(&[&level, &key, &text]))?;
    output.finish()?;
    cli::note(&format!("{} versions and {} data files: {} errors\n", seen.versions, seen.files, seen.errors));
    if seen.errors == 0 { Ok(()) } else { Err(Error::new(Kind::No, "")) }
}

/// Frozen catalogs, read with DuckDB.
struct Frozen;

impl Catalogs for Frozen {
    fn each_file(&self, path: &Utf8Path, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()> {
        list_files(&Catalog::open(path)?, None, visit)
    }

    fn describe(&self, path: &Utf8Path) -> Result<Dataset> {
        describe(&Catalog::open(path)?)
    }
}
