//! What checkout adds to a working catalog, and freeze leaves out again.
//!
//! DuckDB writes into the repository's own data folder, so its maintenance would delete files that published versions
//! need: files that were replaced here, or that only another branch names. Options and a trigger prevent that.

use rusqlite::{Connection, params};

use crate::published;

/// The table in which checkout notes what it added. DuckLake does not mind it.
pub const TABLE: &str = "fdl_checkout";

/// Options that are set unless the lake has its own.
///
/// - `delete_older_than`: CHECKPOINT deletes scheduled files and orphans older than two days by default; DuckLake cannot
///   parse ages of more than some 100,000 years.
/// - `data_inlining_row_limit`: rows belong in Parquet; SQLite catalogs lose apostrophes in nested text.
/// - `hive_file_pattern`: partition folders are percent-encoded, and a web server would decode them.
const OPTIONS: &[(&str, &str)] =
    &[("delete_older_than", "1000 years"), ("data_inlining_row_limit", "0"), ("hive_file_pattern", "false")];

/// Adds the guards to a new working catalog.
pub fn add(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "DELETE FROM ducklake_files_scheduled_for_deletion;
         CREATE TRIGGER fdl_keep_files BEFORE INSERT ON ducklake_files_scheduled_for_deletion
         BEGIN SELECT RAISE(IGNORE); END;
         CREATE TABLE {TABLE}(key VARCHAR NOT NULL, value VARCHAR NOT NULL);"
    ))?;
    for (key, value) in OPTIONS {
        let sql = "INSERT INTO ducklake_metadata SELECT ?1, ?2, NULL, NULL
                   WHERE NOT EXISTS (SELECT 1 FROM ducklake_metadata WHERE key = ?1 AND scope IS NULL)";
        if connection.execute(sql, params![key, value])? == 1 {
            connection.execute(&format!("INSERT INTO {TABLE} VALUES (?1, ?2)"), params![key, value])?;
        }
    }
    Ok(())
}

/// Takes out of a private copy of the catalog what checkout added and nobody changed.
pub fn remove(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1";
    if connection.query_row(sql, [TABLE], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(());
    }
    connection.execute_batch(&format!(
        "DELETE FROM ducklake_metadata WHERE scope IS NULL
         AND EXISTS (SELECT 1 FROM {TABLE} g WHERE g.key = ducklake_metadata.key AND g.value = ducklake_metadata.value)"
    ))?;
    published::turn_back(connection)
}
