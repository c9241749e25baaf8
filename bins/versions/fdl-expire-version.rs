//! Takes versions away: those whose ids are on standard input.

use std::{collections::BTreeSet, process::ExitCode};

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    expire::{self, Outcome},
    expired::Reason,
    id::VersionId,
    parallel::{JOBS, in_parallel},
    version::Version,
};

const USAGE: &str = "usage: fdl-expire-version [--repo URL] [-z] [--dry-run] [-m MESSAGE] <IDS";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut dry_run, mut message) = (None, false, false, String::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Short('n') | Arg::Long("dry-run") => dry_run = true,
            Arg::Short('m') | Arg::Long("message") => message = args.value()?,
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    let ids = cli::records(z).map(|record| id(&record?)).collect::<Result<BTreeSet<_>>>()?;
    in_parallel(JOBS, ids.iter().copied().map(Ok), |id| Version::read(&repository, id).map(|_| ()), |()| Ok(()))?;
    let mut output = Output::new(z);
    if dry_run {
        expire::check_free(&expire::held(&repository)?, &ids)?;
        ids.iter().try_for_each(|id| output.record(&[id]))?;
        return output.finish();
    }
    expire::expire(&repository, &ids, Reason::Expired, &message, |id, outcome| match outcome {
        Outcome::Taken => output.record(&[&id]),
        Outcome::Before => Ok(()),
    })?;
    output.finish()
}

/// The first field of a record; what a list adds to it does not matter here.
fn id(record: &[String]) -> Result<VersionId> {
    record.first().ok_or_else(|| Error::fatal("a record is empty"))?.parse()
}
