//! Where the data files of a catalog are: in folders, else in a repository, from which they are copied for as long as
//! they are read. DuckDB itself is allowed to reach neither a bucket nor a host.

use std::{cell::OnceCell, collections::BTreeSet, fs};

use camino::{Utf8Path, Utf8PathBuf};
use fdl::{
    Error, Result,
    key::Key,
    parallel::{JOBS, in_parallel},
    repository::Repository,
    store,
};
use tempfile::TempDir;

/// Finds data files by their paths below a data folder.
pub struct DataFiles {
    folders: Vec<Utf8PathBuf>,
    remote: Option<Remote>,
}

/// A repository whose data files DuckDB cannot reach.
struct Remote {
    url: String,
    /// Opened when the first file is wanted: most comparisons want none.
    repository: OnceCell<Repository>,
    copies: TempDir,
}

impl DataFiles {
    /// Files are looked up in these folders, in their order, and then in the repository at `url`.
    pub fn new(mut folders: Vec<Utf8PathBuf>, url: Option<String>) -> Result<DataFiles> {
        let remote = match url {
            None => None,
            Some(url) if store::is_folder(&url) => {
                folders.push(Repository::open(&url)?.data_url().into());
                None
            }
            Some(url) => {
                let copies = tempfile::tempdir().map_err(|e| cannot_copy(&e))?;
                Some(Remote { url, repository: OnceCell::new(), copies })
            }
        };
        Ok(DataFiles { folders, remote })
    }

    /// The folders that are read from.
    pub fn folders(&self) -> Result<Vec<&Utf8Path>> {
        let copies = self.remote.as_ref().map(Remote::folder).transpose()?;
        Ok(self.folders.iter().map(Utf8PathBuf::as_path).chain(copies).collect())
    }

    /// Copies those of the files that are in no folder, several at a time. Each is there before it is asked for with
    /// [`find`](DataFiles::find).
    pub fn prepare<'a>(&self, paths: impl Iterator<Item = &'a Key>) -> Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let to = remote.folder()?;
        let missing: BTreeSet<&Key> = paths.filter(|path| self.local(path).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let repository = remote.open()?;
        let copy = |path: &Key| copy(repository, path, &to.join(path.as_str()));
        in_parallel(JOBS, missing.into_iter().map(Ok), copy, |()| Ok(()))
    }

    /// The file at `path`.
    pub fn find(&self, path: &Key) -> Result<Utf8PathBuf> {
        let copied = self.remote.as_ref().map(|remote| remote.folder().map(|folder| folder.join(path.as_str())));
        self.local(path)
            .or(copied.transpose()?.filter(|copied| copied.is_file()))
            .ok_or_else(|| Error::not_found(format!("the data file '{path}' is in none of the data folders")))
    }

    fn local(&self, path: &Key) -> Option<Utf8PathBuf> {
        self.folders.iter().map(|folder| folder.join(path.as_str())).find(|place| place.is_file())
    }
}

impl Remote {
    fn open(&self) -> Result<&Repository> {
        match self.repository.get() {
            Some(repository) => Ok(repository),
            None => {
                let repository = Repository::open(&self.url)?;
                Ok(self.repository.get_or_init(|| repository))
            }
        }
    }

    fn folder(&self) -> Result<&Utf8Path> {
        Utf8Path::from_path(self.copies.path())
            .ok_or_else(|| Error::fatal("the path of the temporary folder is not valid UTF-8"))
    }
}

fn copy(repository: &Repository, path: &Key, to: &Utf8Path) -> Result<()> {
    let key = repository.data_key(path)?;
    let missing = || Error::not_found(format!("the data file '{key}' is not in '{}'", repository.url()));
    let mut opened = repository.store().open(&key)?.ok_or_else(missing)?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|e| cannot_copy(&e))?;
    }
    let mut file = fs::File::create(to).map_err(|e| cannot_copy(&e))?;
    std::io::copy(&mut opened.body, &mut file)
        .map_err(|e| Error::store(format!("cannot copy '{key}' from '{}': {e}", repository.url())))?;
    Ok(())
}

fn cannot_copy(e: &std::io::Error) -> Error {
    Error::fatal(format!("no room in a temporary folder (see TMPDIR): {e}"))
}
