//! A repository: a store with an `fdl.json` in it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Error, Kind, Result,
    id::RepositoryId,
    json,
    key::Key,
    opened, probe,
    refname::RefName,
    refs,
    store::{self, Body, Condition, Store, Written},
};

/// The largest `fdl.json`, in bytes.
const MAX_CONFIG: u64 = 1 << 20;

/// Features that this program knows. A repository that names another may be read, but not written or cleaned up.
const FEATURES: &[&str] = &[];

/// `fdl.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// The format version.
    pub fdl: String,
    /// The repository's identity, the same at every mirror.
    pub id: RepositoryId,
    /// The folder of the data files.
    pub data_dir: Key,
    /// What a writer must know beyond the format version.
    #[serde(default)]
    pub features: Vec<String>,
    /// Whether its store could not be shown to keep two writers apart, and its maker took that on himself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_writer: bool,
    /// Fields of a newer minor version.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An open repository.
pub struct Repository {
    store: Box<dyn Store>,
    config: Config,
}

impl Repository {
    /// Opens the repository at `url`.
    pub fn open(url: &str) -> Result<Repository> {
        let not_one =
            |why: &str| Error::fatal(format!("'{url}' is not a repository: {why}")).hint("'fdl init' makes one");
        let store = match store::open(url) {
            Err(e) if e.kind() == Kind::NotFound => return Err(not_one("it does not exist")),
            store => store?,
        };
        let bytes = match opened::known(url) {
            Some(bytes) => bytes,
            None => {
                let object = store.get(&Key::literal("fdl.json"), MAX_CONFIG)?;
                let bytes = object.ok_or_else(|| not_one("it has no fdl.json"))?.bytes;
                opened::remember(url, &bytes);
                bytes
            }
        };
        let config = json::parse(format_args!("'fdl.json' of '{url}'"), &bytes)?;
        Ok(Repository { store, config })
    }

    /// Makes a repository at `url`, whose HEAD names `branch`; one that was made only in part is finished.
    ///
    /// With `like`, it takes over the id and the data folder of another repository.
    ///
    /// # Errors
    /// [`Kind::Store`] where the store may let two writers win, unless there is a `single_writer`; [`Kind::Conflict`] where
    /// there is a repository already, which is then left alone.
    pub fn create(url: &str, branch: &RefName, like: Option<&Config>, single_writer: bool) -> Result<Repository> {
        let taken = || Error::conflict(format!("'{url}' is a repository already; nothing was changed"));
        let store = store::create(url)?;
        let config = Config {
            fdl: json::FORMAT.into(),
            id: like.map_or_else(RepositoryId::fresh, |like| like.id),
            data_dir: like.map_or_else(|| Key::literal("data"), |like| like.data_dir.clone()),
            features: Vec::new(),
            single_writer,
            other: Map::new(),
        };
        if store::needs_proof(url) && !single_writer {
            // What is there already was proved when it was made.
            if store.head(&Key::literal("fdl.json"))?.is_some() {
                return Err(taken());
            }
            prove(url, store.as_ref())?;
        }
        // HEAD comes first: what has an fdl.json is a whole repository.
        let key = Key::literal("fdl.json");
        if refs::create_head(store.as_ref(), branch)? == Written::Refused && store.head(&key)?.is_none() {
            refs::check_head(store.as_ref(), branch)?;
        }
        let bytes = json::to_bytes(&config)?;
        match store.put(&key, Body::Bytes(&bytes), &Condition::Absent)? {
            Written::Done => Ok(Repository { store, config }),
            Written::Refused => Err(taken()),
        }
    }

    /// Where it keeps its objects.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// Its `fdl.json`.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where it is, with a trailing `/`.
    pub fn url(&self) -> &str {
        self.store.url()
    }

    /// Where its data files are, with a trailing `/`: what a catalog's `data_path` and a reader's `DATA_PATH` say.
    pub fn data_url(&self) -> String {
        format!("{}{}/", self.url(), self.config.data_dir)
    }

    /// The key of a data file, from its path below the data folder.
    pub fn data_key(&self, path: &Key) -> Result<Key> {
        self.config.data_dir.join(path)
    }

    /// Refuses a repository that belongs to a working catalog: what that needs is in the one it was checked out from, and what
    /// no version names yet is here.
    pub fn check_no_working(&self) -> Result<()> {
        if store::is_folder(self.url()) && self.store.head(&Key::literal("origin"))?.is_some() {
            return Err(Error::fatal(format!(
                "'{}' belongs to a working catalog and is not whole by itself",
                self.url()
            ))
            .hint("give the repository that it was checked out from"));
        }
        Ok(())
    }

    /// Refuses to go on where writing needs a feature that this program does not know.
    pub fn check_writable(&self) -> Result<()> {
        match self.config.features.iter().find(|feature| !FEATURES.contains(&feature.as_str())) {
            None => Ok(()),
            Some(feature) => Err(Error::fatal(format!(
                "'{}' needs the feature '{feature}', which this fdl does not know; it is not written to",
                self.url()
            ))
            .hint("a newer fdl may know it")),
        }
    }
}

/// Refuses a store on which two writers could both win.
fn prove(url: &str, store: &dyn Store) -> Result<()> {
    let mut fault = None;
    probe::probe(store, &mut |finding| {
        if finding.needed && !finding.holds && fault.is_none() {
            fault = Some(finding);
        }
        Ok(())
    })?;
    match fault {
        None => Ok(()),
        Some(fault) => Err(Error::store(format!("'{url}' failed the step '{}': {}", fault.name, fault.note))
            .hint("--single-writer makes a repository all the same, where never more than one writes at a time")),
    }
}
