//! From a frozen catalog to a working one, and a working catalog for a lake that has nothing in it yet.

use camino::Utf8Path;
use duckdb::types::Value;
use fdl::{Error, Result};
use rusqlite::{Connection, types::ToSqlOutput};
use uuid::Uuid;

use crate::{
    duck::{self, Doing},
    freeze::NewFile,
    guards,
    names::identifier,
    open::{Catalog, NAME},
    published,
    spec::sqlite_type,
};

/// Makes the working catalog `to` from the frozen catalog `from`. New data files are to go to `data_path`, where the
/// published ones are, too, unless they are below the URL `published`.
pub fn thaw(from: &Utf8Path, to: &Utf8Path, data_path: &str, published: Option<&str>) -> Result<()> {
    let catalog = Catalog::open(from)?;
    write(to, data_path, published, |sqlite| {
        for name in tables(&catalog)? {
            copy(&catalog, &name, sqlite, to)?;
        }
        Ok(())
    })
}

/// Makes the working catalog `to` of an empty lake, with the tables and rows that DuckLake itself would make.
pub fn create_empty(to: &Utf8Path, data_path: &str) -> Result<()> {
    write(to, data_path, None, |sqlite| {
        let version: String = duck::connect()?
            .query_row("SELECT library_version || ' ' || source_id FROM pragma_version()", [], |row| row.get(0))
            .doing("ask DuckDB for its version")?;
        let created_by = format!("DuckDB {}", version.split(' ').next_back().unwrap_or_default());
        let fill = || -> rusqlite::Result<()> {
            sqlite.execute_batch(EMPTY)?;
            sqlite.execute("INSERT INTO ducklake_metadata VALUES ('created_by', ?1, NULL, NULL)", [created_by])?;
            sqlite.execute(
                "INSERT INTO ducklake_schema VALUES (0, ?1, 0, NULL, 'main', 'main/', 1)",
                [Uuid::new_v4().to_string()],
            )?;
            Ok(())
        };
        fill().map_err(|e| failed(to, &e))
    })
}

fn write(
    to: &Utf8Path,
    data_path: &str,
    published: Option<&str>,
    fill: impl FnOnce(&Connection) -> Result<()>,
) -> Result<()> {
    let new = NewFile::new(to)?;
    let mut sqlite = Connection::open(new.path()).map_err(|e| failed(to, &e))?;
    // Nobody sees the file before it is whole and synced.
    sqlite.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(|e| failed(to, &e))?;
    let transaction = sqlite.transaction().map_err(|e| failed(to, &e))?;
    fill(&transaction)?;
    let data_path = format!("{}/", data_path.trim_end_matches('/'));
    let sql = "UPDATE ducklake_metadata SET value = ?1 WHERE key = 'data_path' AND scope IS NULL";
    transaction.execute(sql, [data_path]).map_err(|e| failed(to, &e))?;
    guards::add(&transaction).map_err(|e| failed(to, &e))?;
    if let Some(published) = published {
        published::point_at(&transaction, published).map_err(|e| failed(to, &e))?;
    }
    transaction.commit().map_err(|e| failed(to, &e))?;
    // In WAL mode, which the file remembers, a reader never makes a writer's commit fail.
    sqlite.execute_batch("PRAGMA journal_mode = WAL").map_err(|e| failed(to, &e))?;
    sqlite.close().map_err(|(_, e)| failed(to, &e))?;
    new.keep()
}

fn failed(to: &Utf8Path, e: &rusqlite::Error) -> Error {
    Error::store(format!("cannot write '{to}': {e}"))
}

/// DuckLake's tables in the order in which they were made.
fn tables(catalog: &Catalog) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = '{NAME}' AND schema_name = 'main' \
         AND starts_with(table_name, 'ducklake_') ORDER BY table_oid"
    );
    let names = || -> duckdb::Result<Vec<String>> {
        catalog.connection().prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
    };
    names().doing(format_args!("read '{}'", catalog.path()))
}

struct TableColumn {
    name: String,
    sqlite_type: &'static str,
    not_null: bool,
    primary_key: bool,
}

fn columns(catalog: &Catalog, table: &str) -> Result<Vec<TableColumn>> {
    let sql = format!(
        "SELECT column_name, data_type, NOT is_nullable, EXISTS (
            SELECT 1 FROM duckdb_constraints() k WHERE k.database_name = '{NAME}' AND k.table_name = ?1
            AND k.constraint_type = 'PRIMARY KEY' AND list_contains(k.constraint_column_names, column_name))
         FROM duckdb_columns() WHERE database_name = '{NAME}' AND schema_name = 'main' AND table_name = ?1
         ORDER BY column_index"
    );
    let columns = || -> duckdb::Result<Vec<TableColumn>> {
        catalog
            .connection()
            .prepare(&sql)?
            .query_map([table], |row| {
                let duckdb_type: String = row.get(1)?;
                Ok(TableColumn {
                    name: row.get(0)?,
                    sqlite_type: sqlite_type(&duckdb_type),
                    not_null: row.get(2)?,
                    primary_key: row.get(3)?,
                })
            })?
            .collect()
    };
    columns().doing(format_args!("read the table '{table}' of '{}'", catalog.path()))
}

fn copy(catalog: &Catalog, table: &str, sqlite: &Connection, to: &Utf8Path) -> Result<()> {
    let columns = columns(catalog, table)?;
    sqlite.execute_batch(&definition(table, &columns)).map_err(|e| failed(to, &e))?;
    let reading = format!("read the table '{table}' of '{}'", catalog.path());
    // Casts make text of what SQLite is to hold as text, in DuckDB's own spelling; times come out in UTC.
    let values: Vec<String> = columns
        .iter()
        .map(|c| match c.sqlite_type {
            "BLOB" => identifier(&c.name),
            sqlite_type => format!("CAST({} AS {sqlite_type})", identifier(&c.name)),
        })
        .collect();
    let sql = format!("SELECT {} FROM {NAME}.main.{} ORDER BY rowid", values.join(", "), identifier(table));
    let mut select = catalog.connection().prepare(&sql).doing(&reading)?;
    let marks = vec!["?"; columns.len()].join(", ");
    let mut insert =
        sqlite.prepare(&format!("INSERT INTO {} VALUES ({marks})", identifier(table))).map_err(|e| failed(to, &e))?;
    let mut rows = select.query([]).doing(&reading)?;
    while let Some(row) = rows.next().doing(&reading)? {
        for i in 0..columns.len() {
            let value: Value = row.get(i).doing(&reading)?;
            insert.raw_bind_parameter(i + 1, sqlite_value(value, table)?).map_err(|e| failed(to, &e))?;
        }
        insert.raw_execute().map_err(|e| failed(to, &e))?;
    }
    Ok(())
}

/// The statement by which DuckLake would have made the table.
fn definition(table: &str, columns: &[TableColumn]) -> String {
    let columns: Vec<String> = columns
        .iter()
        .map(|column| {
            let constraint = match (column.primary_key, column.not_null) {
                (true, _) => " PRIMARY KEY",
                (false, true) => " NOT NULL",
                (false, false) => "",
            };
            format!("{} {}{constraint}", identifier(&column.name), column.sqlite_type)
        })
        .collect();
    format!("CREATE TABLE {}({})", identifier(table), columns.join(", "))
}

fn sqlite_value(value: Value, table: &str) -> Result<ToSqlOutput<'static>> {
    match value {
        Value::Null => Ok(ToSqlOutput::Owned(rusqlite::types::Value::Null)),
        Value::BigInt(n) => Ok(n.into()),
        Value::Text(text) => Ok(ToSqlOutput::Owned(text.into())),
        Value::Blob(bytes) => Ok(ToSqlOutput::Owned(bytes.into())),
        _ => Err(Error::fatal(format!("the table '{table}' has a value that SQLite cannot hold"))),
    }
}

/// The tables and rows of an empty lake of spec version 1.0, as DuckLake of DuckDB 1.5.5 makes them. A test compares them
/// with DuckLake's own.
const EMPTY: &str = include_str!("empty.sql");
