//! A catalog opened for reading. It is taken to be hostile until it has shown otherwise.
//!
//! A DuckDB file can define views and macros under the names of tables and functions, and a view can read local files.
//! So it is attached as a second database, never made the current one; access to files ends once it is attached; and
//! everything named `ducklake_*` must be a table.

use camino::{Utf8Path, Utf8PathBuf};
use duckdb::Connection;
use fdl::{Error, Result};

use crate::{
    convert,
    duck::{self, Doing},
    names::literal,
    spec::Spec,
    working::{self, Format},
};

/// The name under which the catalog is attached.
pub const NAME: &str = "c";

/// A catalog, frozen or working, opened for reading.
pub struct Catalog {
    path: Utf8PathBuf,
    connection: Connection,
    spec: Spec,
}

impl Catalog {
    /// Opens the frozen catalog, or a copy of the working catalog, at `path`.
    pub fn open(path: &Utf8Path) -> Result<Catalog> {
        let connection = duck::connect()?;
        let spec = match working::format(path)? {
            Format::DuckDb => {
                let sql = format!("ATTACH {} AS {NAME} (TYPE duckdb, READ_ONLY)", literal(path.as_str()));
                connection.execute_batch(&sql).doing(format_args!("open '{path}'"))?;
                duck::lock_down(&connection)?;
                check_tables(path, &connection)?;
                spec_of(path, &connection)?
            }
            Format::Sqlite => {
                let copy = working::copy(path)?;
                let spec = convert::spec_of(path.as_str(), &copy.connection)?;
                connection.execute_batch(&format!("ATTACH ':memory:' AS {NAME}")).doing("make a database in memory")?;
                duck::lock_down(&connection)?;
                convert::convert(&copy.connection, spec, &connection, NAME)?;
                check_tables(path, &connection)?;
                spec
            }
        };
        Ok(Catalog { path: path.to_owned(), connection, spec })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The connection, to which it is attached as [`NAME`].
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Its spec version.
    pub fn spec(&self) -> Spec {
        self.spec
    }

    /// Its newest snapshot.
    pub fn newest_snapshot(&self) -> Result<i64> {
        self.connection
            .query_row(&format!("SELECT max(snapshot_id) FROM {NAME}.main.ducklake_snapshot"), [], |row| row.get(0))
            .ok()
            .flatten()
            .ok_or_else(|| Error::fatal(format!("'{}' is damaged: it has no snapshot", self.path)))
    }

    /// The identity of the lake: DuckLake makes it at random when it makes the schema `main`.
    pub fn lake_id(&self) -> Result<String> {
        let sql = format!("SELECT CAST(schema_uuid AS VARCHAR) FROM {NAME}.main.ducklake_schema WHERE schema_id = 0");
        self.connection
            .query_row(&sql, [], |row| row.get(0))
            .map_err(|_| Error::fatal(format!("'{}' is damaged: its schema 'main' has no id", self.path)))
    }

    /// The tables of the catalog whose names begin with `prefix`, sorted.
    pub fn tables(&self, prefix: &str) -> Result<Vec<String>> {
        let sql = format!(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = '{NAME}' AND schema_name = 'main' \
             AND starts_with(table_name, ?) ORDER BY table_name"
        );
        let names = || -> duckdb::Result<Vec<String>> {
            self.connection.prepare(&sql)?.query_map([prefix], |row| row.get(0))?.collect()
        };
        names().doing(format_args!("read '{}'", self.path))
    }
}

/// The tables that a lake cannot be read without.
const REQUIRED: &[&str] = &[
    "ducklake_column",
    "ducklake_column_tag",
    "ducklake_data_file",
    "ducklake_delete_file",
    "ducklake_metadata",
    "ducklake_schema",
    "ducklake_schema_versions",
    "ducklake_snapshot",
    "ducklake_table",
    "ducklake_tag",
    "ducklake_view",
];

fn check_tables(path: &Utf8Path, connection: &Connection) -> Result<()> {
    let names = |sql: String| -> duckdb::Result<Vec<String>> {
        connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let reading = format!("read '{path}'");
    let views =
        names(format!("SELECT view_name FROM duckdb_views() WHERE database_name = '{NAME}'")).doing(&reading)?;
    if let Some(view) = views.iter().find(|name| name.to_lowercase().starts_with("ducklake_")) {
        return Err(Error::fatal(format!("'{path}' is no catalog: '{}' is a view", view.escape_debug())));
    }
    let tables =
        format!("SELECT table_name FROM duckdb_tables() WHERE database_name = '{NAME}' AND schema_name = 'main'");
    let tables = names(tables).doing(&reading)?;
    match REQUIRED.iter().find(|required| !tables.iter().any(|table| table == *required)) {
        None => Ok(()),
        Some(missing) => Err(Error::fatal(format!("'{path}' is no catalog: it has no table {missing}"))),
    }
}

fn spec_of(path: &Utf8Path, connection: &Connection) -> Result<Spec> {
    let sql =
        format!("SELECT \"value\" FROM {NAME}.main.ducklake_metadata WHERE \"key\" = 'version' AND \"scope\" IS NULL");
    let version: String = connection
        .query_row(&sql, [], |row| row.get(0))
        .map_err(|_| Error::fatal(format!("'{path}' is no catalog: no table ducklake_metadata tells its version")))?;
    Spec::parse(path, &version)
}
