//! Takes away what no version needs any more.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    gc::{self, Count, Kept},
    json,
    repository::Repository,
    retention::{before, parse_age},
};
use jiff::{SignedDuration, Span, Timestamp};
use serde::Serialize;

const USAGE: &str = "usage: fdl-gc [-z | --json] [--dry-run] [--grace AGE [--force]] [--repo URL | REPOSITORY]";

/// What is younger than this is kept: a push that takes longer than a fortnight is one that was given up.
const GRACE: &str = "14d";

/// With less, what a push has just sent may look as if nobody needed it.
const SAFE: SignedDuration = SignedDuration::from_hours(24);

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut as_json, mut dry_run, mut force, mut grace) =
        (None, false, false, false, false, GRACE.to_owned());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") if repo.is_none() => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("json") => as_json = true,
            Arg::Short('n') | Arg::Long("dry-run") => dry_run = true,
            Arg::Long("grace") => grace = args.value()?,
            Arg::Short('f') | Arg::Long("force") => force = true,
            Arg::Value(value) if repo.is_none() => repo = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if z && as_json {
        return Err(Error::usage("-z and --json do not go together"));
    }
    let age = parse_age(&grace)?;
    if !dry_run && !force && !is_safe(age)? {
        return Err(Error::fatal(format!(
            "a grace of {grace} is not safe: a push that is under way may lose its files"
        ))
        .hint("give a day or more, or --force where nobody else writes now"));
    }
    let repository = cli::repository(repo)?;
    if as_json { print_json(&repository, age, dry_run) } else { print_records(&repository, age, &grace, dry_run, z) }
}

fn is_safe(age: Span) -> Result<bool> {
    let now = Timestamp::now();
    Ok(now.duration_since(before(now, age)?) >= SAFE)
}

fn print_records(repository: &Repository, age: Span, grace: &str, dry_run: bool, z: bool) -> Result<()> {
    let mut output = Output::new(z);
    let mut freed = Count::default();
    let kept = gc::collect(repository, age, dry_run, &mut |key, size, reason| {
        freed.add(size);
        output.record(&[&key, &size, &reason])
    })?;
    output.finish()?;
    cli::note(&summary(freed, kept, grace, dry_run));
    Ok(())
}

fn summary(freed: Count, kept: Kept, grace: &str, dry_run: bool) -> String {
    let Kept { named, expired, young, foreign } = kept;
    let did = if dry_run { "would free" } else { "freed" };
    let mut text = format!("{did} {freed}\nkept {named} that versions name\n");
    if expired.objects > 0 {
        text += &format!("kept {expired} that only versions name which were taken away less than {grace} ago\n");
    }
    if young.objects > 0 {
        text += &format!("kept {young} that nothing names, written less than {grace} ago\n");
    }
    if foreign > 0 {
        text += &format!("kept {foreign} in the data folder that DuckLake did not write\n");
    }
    text
}

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    fdl: &'static str,
    dry_run: bool,
    objects: Vec<Gone>,
    freed: Count,
    kept: Option<Kept>,
}

/// An object that went.
#[derive(Serialize)]
struct Gone {
    key: String,
    size: u64,
    reason: String,
}

/// The document is printed also where objects stay: it is the record of those that went.
fn print_json(repository: &Repository, age: Span, dry_run: bool) -> Result<()> {
    let (mut freed, mut objects) = (Count::default(), Vec::new());
    let kept = gc::collect(repository, age, dry_run, &mut |key, size, reason| {
        freed.add(size);
        objects.push(Gone { key: key.to_owned(), size, reason: reason.to_string() });
        Ok(())
    });
    let failed = kept.as_ref().err().cloned();
    let record = Record { fdl: json::FORMAT, dry_run, objects, freed, kept: kept.ok() };
    let mut output = Output::new(false);
    output.bytes(&json::to_bytes(&record)?)?;
    output.finish()?;
    failed.map_or(Ok(()), Err)
}
