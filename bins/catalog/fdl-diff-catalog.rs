//! Tells what differs between two catalogs.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
};
use fdl_catalog::{Catalog, DataFiles, Status, compare};

const USAGE: &str = "usage: fdl-diff-catalog [-z] [--quiet] [--data-path FOLDER]... [--repo URL] OLD NEW";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut z, mut quiet, mut folders, mut repo) = (false, false, Vec::new(), None);
    let (mut old, mut new) = (None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Short('z') => z = true,
            Arg::Short('q') | Arg::Long("quiet") => quiet = true,
            Arg::Long("data-path") => folders.push(args.path()?),
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Value(value) if old.is_none() => old = Some(cli::path(value)?),
            Arg::Value(value) if new.is_none() => new = Some(cli::path(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let old = Catalog::open(&cli::required(old, "OLD")?)?;
    let new = Catalog::open(&cli::required(new, "NEW")?)?;
    let data = DataFiles::new(folders, repo)?;
    let mut output = Output::new(z);
    let mut same = true;
    compare(&old, &new, &data, &mut |change| {
        same = false;
        if quiet {
            return Ok(false);
        }
        let status = match change.status {
            Status::Added => "A",
            Status::Modified => "M",
            Status::Deleted => "D",
        };
        let rows = |rows: Option<u64>| rows.map_or("-".to_owned(), |rows| rows.to_string());
        output.record(&[&status, &change.kind, &change.name, &rows(change.before), &rows(change.after)])?;
        Ok(true)
    })?;
    output.finish()?;
    if same { Ok(()) } else { Err(Error::new(Kind::No, "")) }
}
