//! The working catalog: a SQLite file that a writer may have open.
//!
//! It is read through SQLite's backup, which gives one consistent state and holds the file for the time of a copy only:
//! a reader that holds it for longer than a writer's patience makes that writer's commit fail. It is opened for
//! writing, so that the journal of a writer that died is rolled back.

use std::{fs::File, io::Read, time::Duration};

use camino::Utf8Path;
use fdl::{Error, Kind, Result, cli};
use rusqlite::{Connection, ErrorCode, OpenFlags, backup::Backup};
use tempfile::TempDir;

use crate::guards;

/// How long a writer is waited for: as long as DuckDB waits (`BUSY_TIMEOUT` of the printed ATTACH statement).
const PATIENCE: Duration = Duration::from_secs(5);

/// What kind of file a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A SQLite database.
    Sqlite,
    /// A DuckDB database.
    DuckDb,
}

/// The kind of the catalog at `path`, by its first bytes.
pub fn format(path: &Utf8Path) -> Result<Format> {
    let mut head = Vec::new();
    let mut open = || File::open(path)?.take(16).read_to_end(&mut head);
    open().map_err(|e| cli::cannot_open(path, &e))?;
    if head.starts_with(b"SQLite format 3\0") {
        Ok(Format::Sqlite)
    } else if head.get(8..12) == Some(b"DUCK") {
        Ok(Format::DuckDb)
    } else if head.is_empty() {
        Err(Error::fatal(format!("'{path}' is empty: it is no catalog")))
    } else {
        Err(Error::fatal(format!("'{path}' is no catalog: it is neither a SQLite nor a DuckDB file")))
    }
}

/// A private copy of a working catalog, which goes away when it is dropped.
pub struct Copy {
    /// The copy, open.
    pub connection: Connection,
    _folder: TempDir,
}

/// Copies the working catalog at `path` as it is after the newest finished transaction, without what checkout added.
pub fn copy(path: &Utf8Path) -> Result<Copy> {
    let source = open(path)?;
    let folder = tempfile::tempdir().map_err(|e| Error::fatal(format!("cannot make a temporary folder: {e}")))?;
    let copied = || -> rusqlite::Result<Connection> {
        let mut connection = Connection::open(folder.path().join("catalog.sqlite"))?;
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        Backup::new(&source, &mut connection)?.run_to_completion(i32::MAX, Duration::from_millis(50), None)?;
        Ok(connection)
    };
    let connection = copied().map_err(|e| failure(path, "read", &e))?;
    check_tables(path, &connection)?;
    guards::remove(&connection).map_err(|e| failure(path, "read", &e))?;
    Ok(Copy { connection, _folder: folder })
}

/// Makes sure that nobody has the working catalog at `path` open, and that all of it is in its one file.
///
/// # Errors
/// [`Kind::Busy`] when somebody has.
pub fn close(path: &Utf8Path) -> Result<()> {
    let connection = open(path)?;
    let mode =
        |sql| connection.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(|e| failure(path, "close", &e));
    let before = mode("PRAGMA journal_mode")?;
    // Leaving WAL mode needs the file for oneself, writes the journal into it and removes the journal.
    if mode("PRAGMA journal_mode = DELETE")? != "delete" {
        return Err(busy(path));
    }
    // The mode is the user's.
    if before == "wal" {
        mode("PRAGMA journal_mode = WAL")?;
    }
    connection.close().map_err(|(_, e)| failure(path, "close", &e))
}

fn open(path: &Utf8Path) -> Result<Connection> {
    if format(path)? == Format::DuckDb {
        return Err(Error::fatal(format!("'{path}' is a DuckDB file; a working catalog is SQLite"))
            .hint("'fdl checkout' makes a working catalog"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| failure(path, "open", &e))?;
    connection.busy_timeout(PATIENCE).map_err(|e| failure(path, "open", &e))?;
    Ok(connection)
}

/// Refuses a file that is no catalog, or in which something other than a table has a table's name.
fn check_tables(path: &Utf8Path, connection: &Connection) -> Result<()> {
    let sql =
        "SELECT name, type FROM sqlite_master WHERE name LIKE 'ducklake\\_%' ESCAPE '\\' AND type IN ('table', 'view')";
    let objects = || -> rusqlite::Result<Vec<(String, String)>> {
        connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let objects = objects().map_err(|e| failure(path, "read", &e))?;
    if let Some((name, kind)) = objects.iter().find(|(_, kind)| kind != "table") {
        return Err(Error::fatal(format!("'{path}' is no catalog: '{}' is a {kind}", name.escape_debug())));
    }
    if !objects.iter().any(|(name, _)| name == "ducklake_metadata") {
        return Err(Error::fatal(format!("'{path}' is no catalog: it has no table ducklake_metadata")));
    }
    Ok(())
}

/// An error of SQLite about the catalog at `path`, in one line.
pub fn failure(path: &Utf8Path, what: &str, e: &rusqlite::Error) -> Error {
    match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => busy(path),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::fatal(format!("'{path}' is damaged: {e}")),
        _ => Error::fatal(format!("cannot {what} '{path}': {e}")),
    }
}

fn busy(path: &Utf8Path) -> Error {
    Error::new(Kind::Busy, format!("'{path}' is held open by another process; nothing was changed"))
        .hint("let its writer finish (DETACH, or end the program) and try again")
}
