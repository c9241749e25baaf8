//! Checks that a repository is as it must be.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    fsck::{self, Options},
};
use fdl_catalog::Frozen;

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
