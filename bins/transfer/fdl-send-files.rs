//! Sends the data files that a repository lacks.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    key::Key,
    parallel::{JOBS, in_parallel},
    progress::Bar,
    repository::Repository,
    store,
    transfer::{Sending, send_file},
};

const USAGE: &str = "usage: fdl-send-files [--repo URL] [-z] [--jobs N] [--resume] [--no-progress] <KEYS-PATHS-SIZES";

/// How many files a store that can say of many at once is asked about.
const AT_ONCE: usize = 1000;

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut jobs, mut resume, mut progress) = (None, false, JOBS, false, true);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("jobs") => jobs = args.number()?,
            Arg::Long("resume") => resume = true,
            Arg::Long("no-progress") => progress = false,
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let repository = cli::repository(repo)?;
    repository.check_writable()?;
    let files = cli::records(z).map(|record| sending(&record?)).collect::<Result<Vec<_>>>()?;
    let bar = if progress { Bar::new(files.iter().map(|file| file.size).sum())? } else { Bar::hidden() };
    // A folder tells at no cost what it has.
    let look = resume || store::is_folder(repository.url());
    let mut output = Output::new(z);
    let mut left = Vec::new();
    for files in files.chunks(AT_ONCE) {
        left.extend(send(&repository, files, jobs, look, &bar, &mut output)?);
    }
    // What did not get through is tried once more at the end, when what was in its way may be over.
    let again: Vec<Sending> = left.into_iter().map(|(file, _)| file).collect();
    let mut failed = Vec::new();
    for files in again.chunks(AT_ONCE) {
        failed.extend(send(&repository, files, jobs, true, &bar, &mut output)?);
    }
    drop(bar);
    output.finish()?;
    let Some((_, last)) = failed.pop() else { return Ok(()) };
    for (file, e) in failed {
        cli::warning(&format!("'{}' was not sent: {e}", file.key));
    }
    Err(last)
}

/// Sends some of the files; returns those that did not get through, each with the reason.
fn send(
    to: &Repository,
    files: &[Sending],
    jobs: usize,
    look: bool,
    bar: &Bar,
    output: &mut Output,
) -> Result<Vec<(Sending, Error)>> {
    let announced: Vec<_> = files.iter().map(|file| (file.key.clone(), file.size)).collect();
    let announced = to.store().announce(&announced)?;
    let mut left = Vec::new();
    in_parallel(
        jobs,
        files.iter().enumerate().map(Ok),
        |(i, file)| {
            let announced = announced.as_ref().and_then(|announced| announced.get(i)).copied();
            Ok((file, send_file(to, file, announced, look)))
        },
        |(file, sent)| match sent {
            Ok(sent) => {
                bar.advance(file.size);
                output.record(&[&if sent { "sent" } else { "present" }, &file.key, &file.size])
            }
            // Of this file only: the others go on.
            Err(e) if matches!(e.kind(), Kind::Store | Kind::Busy) => {
                left.push((file.clone(), e));
                Ok(())
            }
            Err(e) => Err(e),
        },
    )?;
    Ok(left)
}

fn sending(record: &[String]) -> Result<Sending> {
    match record {
        [key, path, size] => {
            let size = size.parse().map_err(|_| Error::fatal(format!("'{size}' is not a size in bytes")))?;
            Ok(Sending { key: Key::new(key)?, path: path.into(), size })
        }
        _ => Err(Error::fatal(format!("'{}' is not KEY TAB PATH TAB SIZE", record.join("\t")))),
    }
}
