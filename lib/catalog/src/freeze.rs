//! From a working catalog to a frozen one.

use std::fs::{self, File};

use camino::{Utf8Path, Utf8PathBuf};
use fdl::{Error, Result};

use crate::{
    convert,
    duck::{self, Doing},
    list::list_files,
    names::literal,
    open::{Catalog, NAME},
    working,
};

/// Every DuckDB that has a ducklake extension for one of our spec versions opens this, and it is the smallest.
const STORAGE_VERSION: &str = "v1.2.0";

/// A catalog with a few tables is 0.4 MB with small blocks and 5.8 MB with DuckDB's default ones. From so many rows of
/// column statistics on, the default ones make the smaller file, which takes fewer requests to read.
const SMALL_BLOCKS_BELOW: i64 = 100_000;

/// Freezes the working catalog `from` into a new file `to`, with `data_path` as its data path. With `parent`, the frozen
/// catalog it was made from, it must descend from that.
///
/// # Errors
/// When it is no catalog, names a file that cannot be published, or does not descend from `parent`. Nothing is
/// left at `to` then.
pub fn freeze(from: &Utf8Path, to: &Utf8Path, data_path: &str, parent: Option<&Utf8Path>) -> Result<()> {
    let new = NewFile::new(to)?;
    let copy = working::copy(from)?;
    let spec = convert::spec_of(from.as_str(), &copy.connection)?;
    let statistics: i64 = copy
        .connection
        .query_row("SELECT count(*) FROM ducklake_file_column_stats", [], |row| row.get(0))
        .map_err(|e| working::failure(from, "read", &e))?;
    let block_size = if statistics < SMALL_BLOCKS_BELOW { 16_384 } else { 262_144 };

    let duckdb = duck::connect()?;
    let failed = format!("freeze '{from}'");
    duckdb
        .execute_batch(&format!(
            "ATTACH {} AS {NAME} (STORAGE_VERSION '{STORAGE_VERSION}', BLOCK_SIZE {block_size})",
            literal(new.path().as_str())
        ))
        .doing(&failed)?;
    convert::convert(&copy.connection, spec, &duckdb, NAME)?;
    let data_path = format!("{}/", data_path.trim_end_matches('/'));
    let sql = format!(
        "UPDATE {NAME}.main.ducklake_metadata SET \"value\" = ? WHERE \"key\" = 'data_path' AND \"scope\" IS NULL"
    );
    duckdb.execute(&sql, [&data_path]).doing(&failed)?;
    duckdb.execute_batch(&format!("CHECKPOINT {NAME}; DETACH {NAME}")).doing(&failed)?;
    drop(duckdb);

    Catalog::open(new.path())
        .and_then(|frozen| {
            check_publishable(&frozen)?;
            check_lineage(&frozen, parent)
        })
        .map_err(|e| rename(e, new.path(), from))?;
    new.keep()
}

/// Refuses what readers could not read.
fn check_publishable(frozen: &Catalog) -> Result<()> {
    list_files(frozen, None, &mut |_| Ok(()))?;
    let sql = format!("SELECT path FROM {NAME}.main.ducklake_delete_file WHERE lower(format) <> 'parquet' LIMIT 1");
    let failed = format!("read '{}'", frozen.path());
    let mut statement = frozen.connection().prepare(&sql).doing(&failed)?;
    let mut rows = statement.query([]).doing(&failed)?;
    match rows.next().doing(&failed)? {
        None => Ok(()),
        Some(row) => {
            let path: String = row.get(0).doing(&failed)?;
            Err(Error::fatal(format!(
                "'{}' has deletes that are not Parquet, which lose rows in time travel: '{}'",
                frozen.path(),
                path.escape_debug()
            ))
            .hint("attach without WRITE_DELETION_VECTORS"))
        }
    }
}

/// Refuses a catalog that was not made from `parent`: another lake, or one that was taken back to an older state.
fn check_lineage(frozen: &Catalog, parent: Option<&Utf8Path>) -> Result<()> {
    let Some(parent) = parent else { return Ok(()) };
    let parent = Catalog::open(parent)?;
    if frozen.lake_id()? != parent.lake_id()? {
        return Err(Error::fatal(format!("'{}' is another lake than its parent's", frozen.path()))
            .hint("'fdl checkout' makes a working catalog of this repository"));
    }
    let (ours, theirs) = (newest(frozen)?, newest(&parent)?);
    if ours.0 < theirs.0 || (ours.0 == theirs.0 && ours.1 != theirs.1) || !has_snapshot(frozen, &theirs)? {
        return Err(Error::fatal(format!("'{}' was not made from its parent: it is older", frozen.path()))
            .hint("'fdl checkout' makes a working catalog of the newest version"));
    }
    Ok(())
}

/// The newest snapshot and its time.
fn newest(catalog: &Catalog) -> Result<(i64, String)> {
    let sql = format!(
        "SELECT snapshot_id, CAST(snapshot_time AS VARCHAR) FROM {NAME}.main.ducklake_snapshot ORDER BY 1 DESC LIMIT 1"
    );
    catalog
        .connection()
        .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(|_| Error::fatal(format!("'{}' is damaged: it has no snapshot", catalog.path())))
}

/// Whether the snapshot is there with the same time, or was expired.
fn has_snapshot(catalog: &Catalog, (id, time): &(i64, String)) -> Result<bool> {
    let sql = format!(
        "SELECT bool_and(CAST(snapshot_time AS VARCHAR) = ?) FROM {NAME}.main.ducklake_snapshot WHERE snapshot_id = ?"
    );
    let same: Option<bool> = catalog
        .connection()
        .query_row(&sql, duckdb::params![time, id], |row| row.get(0))
        .doing(format_args!("read the snapshots of '{}'", catalog.path()))?;
    Ok(same.unwrap_or(true))
}

/// The error with the working catalog's name instead of that of the file which nobody will see.
fn rename(e: Error, hidden: &Utf8Path, shown: &Utf8Path) -> Error {
    let renamed = Error::new(e.kind(), e.to_string().replace(hidden.as_str(), shown.as_str()));
    match e.next_step() {
        Some(hint) => renamed.hint(hint),
        None => renamed,
    }
}

/// A file in the making, in a folder of its own beside its place, which goes away unless the file is kept.
pub struct NewFile {
    folder: tempfile::TempDir,
    path: Utf8PathBuf,
    to: Utf8PathBuf,
}

impl NewFile {
    /// Prepares to make `to`, which must not exist.
    pub fn new(to: &Utf8Path) -> Result<NewFile> {
        if to.symlink_metadata().is_ok() {
            return Err(Error::fatal(format!("'{to}' exists already; nothing was changed")));
        }
        let cannot = |e| Error::store(format!("cannot write '{to}': {e}"));
        let above = match to.parent() {
            Some(above) if !above.as_str().is_empty() => above,
            _ => Utf8Path::new("."),
        };
        let folder = tempfile::Builder::new().prefix(".fdl-tmp-").tempdir_in(above).map_err(cannot)?;
        let path = Utf8Path::from_path(folder.path())
            .ok_or_else(|| Error::fatal(format!("'{above}' is not valid UTF-8")))?
            .join("catalog");
        Ok(NewFile { folder, path, to: to.to_owned() })
    }

    /// Where it is made.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Moves the file to its place, down to the disk.
    pub fn keep(self) -> Result<()> {
        let keep = || {
            File::open(&self.path)?.sync_all()?;
            // Fails where a file stands by now; a file system without hard links does not know that.
            match fs::hard_link(&self.path, &self.to) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Err(e),
                Ok(()) => {}
                Err(_) => fs::rename(&self.path, &self.to)?,
            }
            File::open(self.folder.path().parent().unwrap_or(self.folder.path()))?.sync_all()
        };
        keep().map_err(|e| Error::store(format!("cannot write '{}': {e}", self.to)))
    }
}
