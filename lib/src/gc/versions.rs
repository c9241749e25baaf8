//! The versions of a repository as garbage collection sees them: which are forgotten, which keep files, which are spent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::{
    Cutoff,
    collect::{Reason, Unneeded},
    data::{Claim, Namer},
};
use crate::{
    Error, Result, expire, expired,
    id::VersionId,
    inventory::{self, Objects},
    key::Key,
    parallel::{JOBS, in_parallel},
    refname::RefName,
    repository::Repository,
    version::{self, Version},
};

/// All versions: where they stand in a listing, what their `version.json` says, and the refs that hold them.
pub struct Versions {
    cutoff: Cutoff,
    listed: BTreeMap<VersionId, Objects>,
    read: HashMap<VersionId, Version>,
    held: BTreeMap<VersionId, Vec<RefName>>,
    /// Those that this run marks.
    marked: BTreeSet<VersionId>,
}

impl Versions {
    /// Lists and reads them. One that cannot be read is an error, and so is one that a ref leads to and that is not there.
    pub fn read(repository: &Repository, cutoff: Cutoff) -> Result<Versions> {
        // The refs come first: what they lead to is in a list that is made after that.
        let held = expire::held(repository)?;
        let listed = inventory::list_surely(repository)?;
        if held.is_empty() && !listed.is_empty() {
            return Err(Error::fatal(format!(
                "'{}' has versions, but no branch and no tag; nothing was deleted",
                repository.url()
            ))
            .hint("refs that were lost are in a copy, or in refs.json"));
        }
        let mut versions = Versions { cutoff, listed, read: HashMap::new(), held, marked: BTreeSet::new() };
        versions.read_new(repository)?;
        match versions.reached(versions.held()).into_iter().find(|id| !versions.read.contains_key(id)) {
            None => Ok(versions),
            Some(id) => {
                Err(Error::not_found(format!("refs lead to version {id}, which is not there; nothing was deleted"))
                    .hint("restore it from a copy"))
            }
        }
    }

    /// Lists them again; returns those that may name files and have not been asked for all of them.
    pub fn read_again(&mut self, repository: &Repository) -> Result<Vec<Namer<'_>>> {
        self.listed = inventory::list_surely(repository)?;
        let new = self.read_new(repository)?;
        let whole = new.iter().map(|id| self.namer(*id, Claim::Live));
        let unfinished = self.namers().into_iter().filter(|namer| namer.version.is_none());
        Ok(whole.chain(unfinished).collect())
    }

    /// Reads the `version.json` of those that have one by now; returns their ids.
    fn read_new(&mut self, repository: &Repository) -> Result<Vec<VersionId>> {
        let written = self.listed.iter().filter(|(_, objects)| objects.written().is_some()).map(|(id, _)| *id);
        let new: Vec<VersionId> = written.filter(|id| !self.read.contains_key(id)).collect();
        let read = |id| Version::read(repository, id).map_err(|e| e.context("nothing was deleted"));
        in_parallel(JOBS, new.iter().copied().map(Ok), read, |version| {
            self.read.insert(version.id, version);
            Ok(())
        })?;
        Ok(new)
    }

    /// Those that refs hold.
    fn held(&self) -> impl Iterator<Item = VersionId> {
        self.held.keys().copied()
    }

    /// These versions and those that they are built on.
    fn reached(&self, from: impl Iterator<Item = VersionId>) -> BTreeSet<VersionId> {
        let mut reached = BTreeSet::new();
        for tip in from {
            let mut next = Some(tip);
            while let Some(id) = next.filter(|id| reached.insert(*id)) {
                next = self.read.get(&id).and_then(Version::parent);
            }
        }
        reached
    }

    /// Those that are to be marked, since no ref leads to them and nothing of them was written since the grace began; and those
    /// whose mark was made by a run that was cut off before it took the catalog. From here on they count as marked.
    pub fn forget(&mut self) -> BTreeSet<VersionId> {
        let reached = self.reached(self.held());
        let is_forgotten = |(id, objects): &(&VersionId, &Objects)| {
            let is_old = objects.newest().is_some_and(|time| self.cutoff.is_past(time));
            objects.expired().is_none() && is_old && !reached.contains(id)
        };
        let is_half_taken = |(id, objects): &(&VersionId, &Objects)| {
            let is_left = expire::TAKEN.iter().any(|name| objects.has(name));
            objects.expired().is_some() && is_left && !self.held.contains_key(id)
        };
        let ids = |is: &dyn Fn(&(&VersionId, &Objects)) -> bool| -> BTreeSet<VersionId> {
            self.listed.iter().filter(is).map(|(id, _)| *id).collect()
        };
        let (forgotten, half_taken) = (ids(&is_forgotten), ids(&is_half_taken));
        self.marked = forgotten;
        self.marked.union(&half_taken).copied().collect()
    }

    /// Whether what [`forget`](Versions::forget) returned is still to go: a ref, and versions that are built on one of them, may
    /// have come before the marks.
    pub fn check_forgotten(&mut self, repository: &Repository, forgotten: &BTreeSet<VersionId>) -> Result<()> {
        self.held = expire::held(repository)?;
        expire::check_free(&self.held, forgotten)?;
        self.read_again(repository)?;
        match self.reached(self.held()).intersection(&self.marked).next() {
            None => Ok(()),
            Some(id) => Err(Error::conflict(format!("a ref leads to version {id} now; nothing was deleted"))
                .hint("try again: what it leads to is kept then")),
        }
    }

    /// What a version loses by its mark; it counts as gone from here on.
    pub fn lose(&mut self, id: VersionId) -> Vec<Unneeded> {
        let Some(objects) = self.listed.get_mut(&id) else { return Vec::new() };
        let reason = if self.marked.contains(&id) { Reason::Unreachable } else { Reason::Expired };
        let lost = expire::TAKEN.iter().filter_map(|name| Some((*name, objects.remove(name)?)));
        lost.map(|(name, meta)| Unneeded { key: Key::in_version(id, name), size: meta.size, reason }).collect()
    }

    /// Those that a ref holds and that are marked all the same, by a run that was cut off.
    pub fn marked_and_held(&self) -> impl Iterator<Item = VersionId> {
        let is_marked = |id: &VersionId| self.listed.get(id).is_some_and(|objects| objects.expired().is_some());
        self.held().filter(is_marked)
    }

    /// Whether a version was marked before the grace began, and nothing of it was written since. A mark on what a ref holds was
    /// left by a run that was cut off.
    fn is_spent(&self, id: &VersionId, objects: &Objects) -> bool {
        let marked = objects.expired().or_else(|| self.marked.contains(id).then_some(Timestamp::MAX));
        let is_past = |time: Option<Timestamp>| time.is_some_and(|time| self.cutoff.is_past(time));
        !self.held.contains_key(id) && is_past(marked) && is_past(objects.newest())
    }

    /// What a version is to the files that it names.
    fn claim(&self, id: VersionId, objects: &Objects) -> Claim {
        let is_marked = objects.expired().is_some() || self.marked.contains(&id);
        if self.held.contains_key(&id) || !is_marked {
            Claim::Live
        } else if self.is_spent(&id, objects) || objects.is_used_up() {
            Claim::None
        } else {
            Claim::Expired
        }
    }

    /// Those that keep the files that they name.
    pub fn namers(&self) -> Vec<Namer<'_>> {
        let namer = |(id, objects): (&VersionId, &Objects)| self.namer(*id, self.claim(*id, objects));
        self.listed.iter().map(namer).filter(|namer| namer.claim > Claim::None).collect()
    }

    fn namer(&self, id: VersionId, claim: Claim) -> Namer<'_> {
        Namer { id, version: self.read.get(&id), claim }
    }

    /// What is left of the versions that were marked before the grace began: what may go at once, and the marks of those that
    /// go altogether, which are to go last.
    ///
    /// In the history of a version that stays, `version.json`, its signature and the mark stay.
    pub fn spent(&self) -> Result<(Vec<Unneeded>, Vec<Unneeded>)> {
        let stay = self.listed.iter().filter(|(id, objects)| !self.is_spent(id, objects)).map(|(id, _)| *id);
        let history = self.reached(stay.chain(self.held()));
        let (mut gone, mut marks) = (Vec::new(), Vec::new());
        for (id, objects) in self.listed.iter().filter(|(id, objects)| self.is_spent(id, objects)) {
            let in_history = history.contains(id);
            let reason = if in_history { Reason::Expired } else { Reason::Unreachable };
            for (name, size) in objects.iter() {
                let object = Unneeded { key: Key::new(&format!("{}/{id}/{name}", inventory::FOLDER))?, size, reason };
                match name {
                    version::CATALOG | version::DATASET | version::FILES => gone.push(object),
                    _ if in_history => {}
                    expired::NAME => marks.push(object),
                    _ => gone.push(object),
                }
            }
        }
        Ok((gone, marks))
    }

    /// The marks beside which nothing is left.
    pub fn lone_marks(&self) -> Vec<Unneeded> {
        let is_lone =
            |(id, objects): &(&VersionId, &Objects)| self.is_spent(id, objects) && objects.iter().count() == 1;
        let mark = |(id, objects): (&VersionId, &Objects)| Unneeded {
            key: Key::in_version(*id, expired::NAME),
            size: objects.size(expired::NAME).unwrap_or_default(),
            reason: Reason::Unreachable,
        };
        self.listed.iter().filter(is_lone).map(mark).collect()
    }
}
