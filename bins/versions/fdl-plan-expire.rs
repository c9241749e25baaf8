//! Tells which versions are past retention, and why the others are kept. Changes nothing.

use std::{
    collections::{BTreeMap, HashMap},
    process::ExitCode,
};

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    expire, history,
    id::VersionId,
    inventory::{self, Objects},
    refname::RefName,
    repository::Repository,
    retention::Rule,
};
use jiff::Timestamp;

const USAGE: &str = "\
usage: fdl-plan-expire [--repo URL] [-z] [--keep-last N] [--keep-daily N] [--keep-weekly N] [--keep-monthly N]
                       [--keep-yearly N] [--keep-within AGE]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut rules) = (None, false, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long(name) => {
                let name = name.to_owned();
                let rule = name.strip_prefix("keep-").ok_or_else(|| unknown(&name))?;
                rules.push(Rule::parse(rule, &args.value()?)?.ok_or_else(|| unknown(&name))?);
            }
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if rules.is_empty() {
        return Err(Error::usage("no rule says what is kept"));
    }
    let repository = cli::repository(repo)?;
    let mut output = Output::new(z);
    for (id, reasons) in plan(&repository, &rules)?.into_iter().rev() {
        match reasons.as_slice() {
            [] => output.record(&[&"expire", &id])?,
            reasons => output.record(&[&"keep", &id, &reasons.join(", ")])?,
        }
    }
    output.finish()
}

fn unknown(name: &str) -> Error {
    Error::usage(format!("unknown option '--{}'", name.escape_debug()))
}

/// The versions that branches lead to and that were not taken away, each with what keeps it.
fn plan(repository: &Repository, rules: &[Rule]) -> Result<BTreeMap<VersionId, Vec<String>>> {
    let inventory = inventory::list_surely(repository)?;
    let held = expire::held(repository)?;
    let mut plan: BTreeMap<VersionId, Vec<String>> = BTreeMap::new();
    let mut parents = HashMap::new();
    for (tip, names) in &held {
        for name in names.iter().filter(|name| name.is_branch()) {
            let versions = versions(repository, &inventory, *tip, &mut parents)?;
            versions.iter().for_each(|(id, _)| plan.entry(*id).or_default().extend([]));
            for rule in rules {
                for id in rule.keeps(&versions)? {
                    plan.entry(id).or_default().push(format!("{}: {rule}", name.short()));
                }
            }
        }
    }
    for (id, reasons) in &mut plan {
        reasons.extend(held.get(id).into_iter().flatten().map(RefName::to_string));
    }
    Ok(plan)
}

/// The versions from `tip` back that were not taken away, newest first, each with the time at which the store took it.
fn versions(
    repository: &Repository,
    inventory: &BTreeMap<VersionId, Objects>,
    tip: VersionId,
    parents: &mut HashMap<VersionId, Option<VersionId>>,
) -> Result<Vec<(VersionId, Timestamp)>> {
    let mut line = Vec::new();
    for step in history::walk_known(repository, tip, parents) {
        let id = step?;
        let listed = inventory.get(&id).and_then(|objects| Some((objects.written()?, objects.expired())));
        let (written, expired) = listed.ok_or_else(|| {
            let what = format!("version {id} was read, but it was not listed in '{}' before", repository.url());
            Error::new(Kind::Busy, what).hint("it has just been pushed; try again")
        })?;
        if expired.is_none() {
            line.push((id, written));
        }
    }
    Ok(line)
}
