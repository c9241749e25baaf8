//! Deletes the objects whose keys are on standard input. Nothing is asked and nothing is checked: it is for scripts
//! that know what no version needs.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    key::Key,
    parallel::{JOBS, in_parallel},
};

const USAGE: &str = "usage: fdl-rm-objects [--repo URL] [-z] [--dry-run] [--jobs N] <KEYS";

/// How many objects a thread deletes at once; a bucket takes this many in one request.
const BATCH: usize = 1000;

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut dry_run, mut jobs) = (None, false, false, JOBS);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Short('n') | Arg::Long("dry-run") => dry_run = true,
            Arg::Long("jobs") => jobs = args.number()?,
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    repository.check_writable()?;
    // All keys are checked before the first object goes.
    let keys = cli::records(z).map(|record| Key::new(&record?.join("\t"))).collect::<Result<Vec<_>>>()?;
    let mut output = Output::new(z);
    let mut failures = 0;
    in_parallel(
        jobs,
        keys.chunks(BATCH).map(Ok),
        |keys| Ok((keys, if dry_run { Vec::new() } else { repository.store().delete_all(keys)? })),
        |(keys, stay)| {
            for (_, e) in &stay {
                failures += 1;
                cli::warning(&e.to_string());
            }
            keys.iter()
                .filter(|key| stay.iter().all(|(other, _)| other != *key))
                .try_for_each(|key| output.record(&[key]))
        },
    )?;
    output.finish()?;
    if failures == 0 { Ok(()) } else { Err(Error::store(format!("{failures} objects were not deleted"))) }
}
