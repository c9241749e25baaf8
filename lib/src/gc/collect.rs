//! The order of the steps. Everything is read and decided first. Then marks come before data files, data files before the
//! lists that name them, and what says why a version is gone goes last: a run may end anywhere, and the next one goes on.

use std::{fmt, sync::Mutex};

use jiff::Span;

use super::{
    Cutoff,
    data::{DataFiles, Kept},
    notice::{MOST_FILES, Notice},
    versions::Versions,
};
use crate::{
    Error, Kind, Result, cli, expire, expired,
    key::Key,
    parallel::{JOBS, in_parallel},
    repository::Repository,
};

/// How many objects go at once; a bucket takes this many in one request.
const BATCH: usize = 1000;

/// What readers are told of a version that no ref leads to.
const MESSAGE: &str = "no branch and no tag led to it";

/// An object that nothing needs.
pub(super) struct Unneeded {
    pub key: Key,
    /// Bytes.
    pub size: u64,
    pub reason: Reason,
}

/// Why something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No version names the data file.
    Unnamed,
    /// No ref leads to the version.
    Unreachable,
    /// The version was taken away, and its list of files has been used.
    Expired,
    /// A write that was cut off has left it.
    LeftOver,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Unnamed => "unnamed",
            Reason::Unreachable => "unreachable",
            Reason::Expired => "expired",
            Reason::LeftOver => "left over",
        })
    }
}

/// Is told of each object that went: its key, its size in bytes, and why.
pub type Report<'a> = dyn FnMut(&str, u64, Reason) -> Result<()> + Send + 'a;

/// Takes away what nothing needs and what is older than `grace`. With `dry_run` nothing is changed, and `report` is told what
/// would go.
///
/// # Errors
/// What cannot be read is an error before anything is deleted. [`Kind::Store`] where objects could not be deleted, of each of
/// which the user was warned; [`Kind::Busy`] while another gc is at work.
pub fn collect(repository: &Repository, grace: Span, dry_run: bool, report: &mut Report<'_>) -> Result<Kept> {
    check(repository)?;
    let notice = if dry_run { None } else { Some(Notice::post(repository)?) };
    notice.as_ref().map_or(Ok(()), Notice::check_clock)?;
    let cutoff = Cutoff::of(grace)?;
    let mut versions = Versions::read(repository, cutoff)?;
    let forgotten = versions.forget();
    let data = DataFiles::list(repository)?;
    data.claim(repository, versions.namers())?;

    if let Some(notice) = &notice {
        expire::release(repository, versions.marked_and_held())?;
        if !forgotten.is_empty() {
            let second_look = || versions.check_forgotten(repository, &forgotten);
            expire::expire_under(notice, &forgotten, expired::Reason::Expired, MESSAGE, second_look, |_, _| Ok(()))?;
        }
    }
    let mut sweep = Sweep { repository, notice, report: Mutex::new(report), stay: 0 };
    for id in forgotten {
        versions.lose(id).iter().try_for_each(|lost| sweep.tell(lost.key.as_str(), lost.size, lost.reason))?;
    }
    for round in data.unnamed(cutoff).chunks(MOST_FILES) {
        sweep.take_data(round, &data, &mut versions)?;
    }
    sweep.take_spent(&mut versions)?;
    sweep.take_left_overs(cutoff)?;
    match sweep.stay {
        0 => Ok(data.kept(cutoff)),
        stay => Err(Error::store(format!("{stay} objects were not deleted"))),
    }
}

/// Refuses where it cannot be known what is needed.
fn check(repository: &Repository) -> Result<()> {
    repository.check_writable()?;
    if !repository.store().lists() {
        let url = repository.url();
        return Err(Error::store(format!("'{url}' cannot be listed, so nobody knows what nothing needs"))
            .hint("run the command where the repository is kept"));
    }
    repository.check_no_working()
}

/// The part that deletes; without a notice it only tells.
struct Sweep<'a> {
    repository: &'a Repository,
    notice: Option<Notice<'a>>,
    report: Mutex<&'a mut Report<'a>>,
    /// How many objects could not be deleted.
    stay: usize,
}

impl Sweep<'_> {
    fn tell(&self, key: &str, size: u64, reason: Reason) -> Result<()> {
        let mut report = self.report.lock().map_err(|_| Error::fatal("a thread that wrote the output died"))?;
        report(key, size, reason)
    }

    /// Takes data files that nothing names. A push may name one of them meanwhile: it looks at the notice after it has written
    /// its version, and here the versions are looked at after the notice was posted.
    fn take_data(&mut self, paths: &[(Key, u64)], data: &DataFiles, versions: &mut Versions) -> Result<()> {
        let unneeded = |(path, size): &(Key, u64)| {
            Ok(Unneeded { key: self.repository.data_key(path)?, size: *size, reason: Reason::Unnamed })
        };
        let mut files = paths.iter().map(unneeded).collect::<Result<Vec<_>>>()?;
        if let Some(notice) = &self.notice {
            notice.name(files.iter().map(|file| file.key.clone()).collect())?;
            data.claim(self.repository, versions.read_again(self.repository)?)?;
            let mut is_named = paths.iter().map(|(path, _)| data.is_named(path));
            files.retain(|_| !is_named.next().unwrap_or(true));
        }
        self.take(&files)
    }

    /// Takes what is left of versions that were marked before the grace began.
    fn take_spent(&mut self, versions: &mut Versions) -> Result<()> {
        let (mut objects, mut marks) = versions.spent()?;
        if self.notice.is_some() && !(objects.is_empty() && marks.is_empty()) {
            // A version that came meanwhile may be built on one of them.
            versions.read_again(self.repository)?;
            (objects, marks) = versions.spent()?;
        }
        self.take(&objects)?;
        if self.notice.is_some() && !marks.is_empty() {
            // A push that was cut off may be run again, and what it has written by now keeps its mark.
            versions.read_again(self.repository)?;
            marks = versions.lone_marks();
        }
        self.take(&marks)
    }

    /// Takes objects, in batches. What stays is warned of, and is no reason to leave the others.
    fn take(&mut self, objects: &[Unneeded]) -> Result<()> {
        let delete = |batch: &[Unneeded]| {
            let Some(notice) = &self.notice else { return Ok(Vec::new()) };
            notice.check()?;
            let keys: Vec<Key> = batch.iter().map(|object| object.key.clone()).collect();
            self.repository.store().delete_all(&keys)
        };
        let mut stay = 0;
        in_parallel(
            JOBS,
            objects.chunks(BATCH).map(Ok),
            |batch| delete(batch).map(|failed| (batch, failed)),
            |(batch, failed)| {
                failed.iter().for_each(|(_, e)| cli::warning(&e.to_string()));
                stay += failed.len();
                let went = |object: &&Unneeded| failed.iter().all(|(key, _)| *key != object.key);
                let mut went = batch.iter().filter(went);
                went.try_for_each(|object| self.tell(object.key.as_str(), object.size, object.reason))
            },
        )?;
        self.stay += stay;
        Ok(())
    }

    /// Takes what writes that were cut off have left, which is no object.
    fn take_left_overs(&mut self, cutoff: Cutoff) -> Result<()> {
        let store = self.repository.store();
        let left_overs = match store.left_overs() {
            // It takes a right of its own, and nothing depends on it.
            Err(e) if e.kind() == Kind::Store => {
                cli::warning(&format!("{e}; what writes have left behind was not looked for"));
                return Ok(());
            }
            left_overs => left_overs?,
        };
        for left in left_overs.iter().filter(|left| cutoff.is_past(left.modified)) {
            if self.notice.is_some()
                && let Err(e) = store.clear(left)
            {
                cli::warning(&e.to_string());
                self.stay += 1;
                continue;
            }
            self.tell(&left.name, left.size, Reason::LeftOver)?;
        }
        Ok(())
    }
}
