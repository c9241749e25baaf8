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
    marked: BTreeSet<VersionId>,
}

impl Versions {
    /// Lists and reads them. One that cannot be read is an error, and so is one that a ref leads to and that is not there.
    pub fn read(repository: &Repository, cutoff: Cutoff) -> Result<Versions> {
        // The refs come first: what they lead to is in a list that is made after that.
        let held = expire::held(repository)?;
        let listed = inventory::list(repository)?;
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
        self.listed = inventory::list(repository)?;
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
        let is_old = |objects: &Objects| objects.newest().is_some_and(|time| self.cutoff.is_past(time));
        let is_forgotten = |(id, objects): &(&VersionId, &Objects)| match objects.expired() {
            Some(_) => !self.held.contains_key(id) && expire::TAKEN.iter().any(|name| objects.has(name)),
            None => !reached.contains(id) && is_old(objects),
        };
        self.marked = self.listed.iter().filter(is_forgotten).map(|(id, _)| *id).collect();
        self.marked.clone()
    }

    /// What a version loses by its mark; it counts as gone from here on.
    pub fn lose(&mut self, id: VersionId) -> Vec<Unneeded> {
        let Some(objects) = self.listed.get_mut(&id) else { return Vec::new() };
        let reason = if objects.expired().is_some() { Reason::Expired } else { Reason::Unreachable };
        let lost = expire::TAKEN.iter().filter_map(|name| Some((*name, objects.remove(name)?)));
        lost.map(|(name, meta)| Unneeded { key: Key::in_version(id, name), size: meta.size, reason }).collect()
    }

    /// Those that a ref holds and that are marked all the same, by a run that was cut off.
    pub fn marked_and_held(&self) -> impl Iterator<Item = VersionId> {
        let is_marked = |id: &VersionId| self.listed.get(id).is_some_and(|objects| objects.expired().is_some());
        self.held().filter(is_marked)
    }

    /// What a version is to the files that it names.
    fn claim(&self, id: VersionId, objects: &Objects) -> Claim {
        let marked = objects.expired().or_else(|| self.marked.contains(&id).then_some(Timestamp::MAX));
        match marked {
            _ if self.held.contains_key(&id) => Claim::Live,
            None => Claim::Live,
            Some(time) if self.cutoff.is_past(time) => Claim::None,
            Some(_) => Claim::Expired,
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
        let is_spent = |id: &VersionId, objects: &Objects| self.claim(*id, objects) == Claim::None;
        let stay = self.listed.iter().filter(|(id, objects)| !is_spent(id, objects)).map(|(id, _)| *id);
        let history = self.reached(stay.chain(self.held()));
        let (mut gone, mut marks) = (Vec::new(), Vec::new());
        for (id, objects) in self.listed.iter().filter(|(id, objects)| is_spent(id, objects)) {
            let reason = if history.contains(id) { Reason::Expired } else { Reason::Unreachable };
            for (name, size) in objects.iter() {
                let object = Unneeded { key: Key::new(&format!("{}/{id}/{name}", inventory::FOLDER))?, size, reason };
                match name {
                    version::NAME | version::SIGNATURE | expired::NAME if reason == Reason::Expired => {}
                    expired::NAME => marks.push(object),
                    _ => gone.push(object),
                }
            }
        }
        Ok((gone, marks))
    }
}
