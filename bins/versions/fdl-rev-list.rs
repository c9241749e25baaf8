//! Lists versions, newest first.

use std::{
    collections::{HashSet, VecDeque},
    process::ExitCode,
};

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    history,
    id::VersionId,
    key::Key,
    pretty::{Format, Printer},
    refs,
    repository::Repository,
    resolve::resolve,
    version::Version,
};

const USAGE: &str =
    "usage: fdl-rev-list [--repo URL] [-z] [--all] [-n N] [--reverse] [--format FORMAT] [NAME | ^NAME]...";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut all, mut limit, mut reverse) = (None, false, false, usize::MAX, false);
    let (mut format, mut names) = (None, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("all") => all = true,
            Arg::Short('n') => limit = args.number()?,
            Arg::Long("reverse") => reverse = true,
            Arg::Long("format") => format = Some(Format::parse(&args.value()?)?),
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if names.is_empty() && !all {
        return Err(Error::usage("a NAME or --all is missing"));
    }
    let repository = cli::repository(repo)?;
    let (tips, excluded) = tips(&repository, &names, all)?;
    let printer = format.map(|format| Printer::new(&repository, format, z)).transpose()?;
    let mut output = Output::new(z);
    let mut print = |version: &Version| match &printer {
        None => output.record(&[&version.id]),
        Some(printer) => {
            output.bytes(printer.show(version)?.as_bytes())?;
            output.bytes(if z { b"\0" } else { b"\n" })
        }
    };
    let versions = versions(&repository, &tips, excluded);
    if reverse {
        let mut versions = versions.take(limit).collect::<Result<Vec<_>>>()?;
        versions.reverse();
        versions.iter().try_for_each(&mut print)?;
    } else {
        versions.take(limit).try_for_each(|version| print(&version?))?;
    }
    output.finish()
}

/// The versions to start from, and those to leave out together with all before them.
fn tips(repository: &Repository, names: &[String], all: bool) -> Result<(Vec<VersionId>, Vec<VersionId>)> {
    let (mut tips, mut excluded) = (Vec::new(), Vec::new());
    for name in names {
        match name.strip_prefix('^') {
            Some(name) => excluded.push(resolve(repository, name)?.id),
            None => tips.push(resolve(repository, name)?.id),
        }
    }
    if all {
        tips.extend(refs::read_all(repository, &Key::literal("refs"))?.into_values());
    }
    // A version made later has a later id, as far as clocks can be believed.
    tips.sort_unstable_by(|a, b| b.cmp(a));
    Ok((tips, excluded))
}

/// The versions reachable from `tips`, each once, a version always before its parent.
fn versions<'a>(
    repository: &'a Repository,
    tips: &'a [VersionId],
    excluded: Vec<VersionId>,
) -> Box<dyn Iterator<Item = Result<Version>> + 'a> {
    if let ([tip], []) = (tips, excluded.as_slice()) {
        return Box::new(history::walk(repository, *tip));
    }
    match merged(repository, tips, excluded) {
        Ok(versions) => Box::new(versions.into_iter().map(Ok)),
        Err(e) => Box::new(std::iter::once(Err(e))),
    }
}

/// Several lines of history as one, or one that is cut off at what is excluded.
fn merged(repository: &Repository, tips: &[VersionId], excluded: Vec<VersionId>) -> Result<Vec<Version>> {
    let ends: HashSet<VersionId> = excluded.iter().copied().collect();
    let mut seen = HashSet::new();
    let (mut lines, mut cut) = (Vec::new(), true);
    for tip in tips {
        let (mut line, mut next) = (VecDeque::new(), Some(*tip));
        while let Some(id) = next.filter(|id| !ends.contains(id) && seen.insert(*id)) {
            let version = Version::read(repository, id)?;
            next = version.parent();
            line.push_back(version);
        }
        if let Some(id) = next.filter(|id| line.iter().any(|version| version.id == *id)) {
            return Err(history::loops(id));
        }
        // What it stopped at is excluded, or listed already.
        cut &= next.is_some();
        lines.push(Line { versions: line, stopped_at: next });
    }
    // Where every line was cut off at the one excluded version, what lies before it need not be read. Of several, one
    // may have been built on a version that another's line goes through.
    let hidden = if ends.is_empty() || (cut && ends.len() == 1) { ends } else { ancestors(repository, excluded)? };
    Ok(interleave(lines, &hidden))
}

/// The excluded versions and all before them, as far as they are in the repository.
fn ancestors(repository: &Repository, excluded: Vec<VersionId>) -> Result<HashSet<VersionId>> {
    let mut hidden: HashSet<VersionId> = excluded.iter().copied().collect();
    for id in excluded {
        for version in history::walk(repository, id) {
            match version {
                Ok(version) => hidden.extend([version.id].into_iter().chain(version.parent())),
                Err(e) if e.kind() == Kind::NotFound => break,
                Err(e) => return Err(e),
            }
        }
    }
    Ok(hidden)
}

/// What was read from one tip, newest first, and the version of an earlier line, or the excluded one, that ended it.
struct Line {
    versions: VecDeque<Version>,
    stopped_at: Option<VersionId>,
}

/// Merges lines by age. A version waits for those that come after it, however wrong the clock of their writer was.
fn interleave(mut lines: Vec<Line>, hidden: &HashSet<VersionId>) -> Vec<Version> {
    let mut merged = Vec::new();
    loop {
        lines.retain(|line| !line.versions.is_empty());
        let waiting: HashSet<VersionId> = lines.iter().filter_map(|line| line.stopped_at).collect();
        let newest = lines
            .iter_mut()
            .filter_map(|line| line.versions.front().map(|version| version.id).map(|id| (id, line)))
            .filter(|(id, _)| !waiting.contains(id))
            .max_by_key(|(id, _)| *id);
        let Some((_, line)) = newest else { return merged };
        merged.extend(line.versions.pop_front().filter(|version| !hidden.contains(&version.id)));
    }
}
