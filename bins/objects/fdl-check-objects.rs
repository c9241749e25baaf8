//! Checks that objects are there, each with its size; prints those that are not.

use std::{collections::BTreeSet, process::ExitCode};

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    gc,
    key::Key,
    parallel::{JOBS, in_parallel},
};

const USAGE: &str = "usage: fdl-check-objects [--repo URL] [-z] [--settle] [--jobs N] <KEYS-AND-SIZES";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut settle, mut jobs) = (None, false, false, JOBS);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("settle") => settle = true,
            Arg::Long("jobs") => jobs = args.number()?,
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    let store = repository.store();
    let mut output = Output::new(z);
    let mut faults = 0u64;
    let mut list = cli::records(z).map(|record| key_and_size(&record?)).peekable();
    // This comes before the first look: what a gc deletes between the two is found missing.
    let about_to_go = if settle && list.peek().is_some() { gc::about_to_go(&repository)? } else { BTreeSet::new() };
    in_parallel(
        jobs,
        list,
        |(key, size)| match store.head(&key)? {
            Some(_) if about_to_go.contains(&key) => {
                Err(Error::new(Kind::Busy, format!("a gc of '{}' is about to delete '{key}'", repository.url()))
                    .hint("try again when it has ended; 'fdl gc' ends one that was cut off"))
            }
            None => Ok(Some((key, "missing".to_owned()))),
            Some(meta) if meta.size != size => Ok(Some((key, format!("{} bytes instead of {size}", meta.size)))),
            Some(_) if settle => store.settle(&key).map(|()| None),
            Some(_) => Ok(None),
        },
        |fault| match fault {
            None => Ok(()),
            Some((key, fault)) => {
                faults += 1;
                output.record(&[&key, &fault])
            }
        },
    )?;
    output.finish()?;
    if faults == 0 { Ok(()) } else { Err(Error::new(Kind::No, "")) }
}

/// The first two fields of a record; what `fdl-ls-version` adds to them does not matter here.
fn key_and_size(record: &[String]) -> Result<(Key, u64)> {
    match record {
        [key, size, ..] => {
            let size = size.parse().map_err(|_| Error::fatal(format!("'{size}' is not a size in bytes")))?;
            Ok((Key::new(key)?, size))
        }
        _ => Err(Error::fatal(format!("'{}' is not KEY TAB SIZE", record.join("\t")))),
    }
}
