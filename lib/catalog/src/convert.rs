//! From SQLite to DuckDB: every DuckLake table that is there, with the types that DuckLake itself gives them in DuckDB.

use duckdb::{appender_params_from_iter, types::Value};
use fdl::{Error, Result};
use rusqlite::{Connection, types::ValueRef};

use crate::{
    duck::Doing,
    names::{identifier, literal},
    spec::{self, Column, INLINED_SYSTEM_COLUMNS, Spec, TableKind},
};

/// A table of the working catalog on its way.
struct Table {
    name: String,
    columns: Vec<TableColumn>,
    kind: TableKind,
}

struct TableColumn {
    name: String,
    duckdb_type: String,
    not_null: bool,
    primary_key: bool,
}

/// The spec version of the working catalog `sqlite`, which is called `what` in errors.
pub fn spec_of(what: &str, sqlite: &Connection) -> Result<Spec> {
    let sql = "SELECT value FROM ducklake_metadata WHERE key = 'version' AND scope IS NULL";
    let version: String = sqlite
        .query_row(sql, [], |row| row.get(0))
        .map_err(|_| Error::fatal(format!("'{what}' is no catalog: ducklake_metadata does not tell its version")))?;
    Spec::parse(what, &version)
}

/// Copies every DuckLake table of `sqlite` into the empty database `to` that is attached to `duckdb`. What is
/// scheduled for deletion is not copied: it is nobody's business but that of this working catalog.
pub fn convert(sqlite: &Connection, spec: Spec, duckdb: &duckdb::Connection, to: &str) -> Result<()> {
    for table in tables(sqlite, spec).map_err(|e| e.context("working catalog"))? {
        create(&table, duckdb, to)?;
        match (table.name.as_str(), table.kind) {
            ("ducklake_files_scheduled_for_deletion", _) => {}
            (_, TableKind::InlinedData { .. }) => copy_cast(&table, sqlite, duckdb, to)?,
            _ => append(&table, sqlite, duckdb, to)?,
        }
    }
    Ok(())
}

fn sqlite_failed(e: rusqlite::Error) -> Error {
    Error::fatal(format!("cannot read the working catalog: {e}"))
}

fn tables(sqlite: &Connection, spec: Spec) -> Result<Vec<Table>> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid";
    let names = || -> rusqlite::Result<Vec<String>> { sqlite.prepare(sql)?.query_map([], |row| row.get(0))?.collect() };
    let mut tables = Vec::new();
    for name in names().map_err(sqlite_failed)? {
        if let Some(kind) = TableKind::of(&name) {
            let columns = columns(sqlite, spec, &name, kind)?;
            tables.push(Table { name, columns, kind });
        }
    }
    Ok(tables)
}

fn columns(sqlite: &Connection, spec: Spec, table: &str, kind: TableKind) -> Result<Vec<TableColumn>> {
    let found = || -> rusqlite::Result<Vec<(String, String, bool, bool)>> {
        sqlite
            .prepare("SELECT name, type, \"notnull\", pk > 0 FROM pragma_table_info(?1) ORDER BY cid")?
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect()
    };
    let found = found().map_err(sqlite_failed)?;
    let user_columns = match kind {
        TableKind::InlinedData { table, schema_version } => user_columns(sqlite, spec, table, schema_version)?,
        _ => Vec::new(),
    };
    let mut columns = Vec::new();
    for (i, (name, declared, not_null, primary_key)) in found.into_iter().enumerate() {
        let duckdb_type = if matches!(kind, TableKind::InlinedData { .. }) && i >= INLINED_SYSTEM_COLUMNS {
            let column = user_columns.iter().find(|c| c.parent.is_none() && c.name == name).ok_or_else(|| {
                Error::fatal(format!("'{table}' has a column '{}' that the lake does not know", name.escape_debug()))
            })?;
            spec::user_type(column, &user_columns)?
        } else {
            spec::duckdb_type(&name, &declared).map_err(|e| e.context(table))?.to_owned()
        };
        columns.push(TableColumn { name, duckdb_type, not_null, primary_key });
    }
    Ok(columns)
}

/// The columns that a user's table had at a schema version, fields of nested ones included, in their order.
fn user_columns(sqlite: &Connection, spec: Spec, table: i64, schema_version: i64) -> Result<Vec<Column>> {
    // Up to spec 0.3 a schema version is one of the whole lake, and one that a transaction made and left behind for a
    // next one is not listed.
    let of_table = if spec == Spec::V0_3 { "" } else { "AND table_id = ?1" };
    let sql = format!(
        "SELECT column_id, parent_column, column_name, column_type FROM ducklake_column, (
            SELECT min(begin_snapshot) AS at FROM ducklake_schema_versions WHERE schema_version >= ?2 {of_table}
         ) WHERE table_id = ?1 AND begin_snapshot <= at AND (end_snapshot IS NULL OR end_snapshot > at)
         ORDER BY column_order, column_id"
    );
    let columns = || -> rusqlite::Result<Vec<Column>> {
        sqlite
            .prepare(&sql)?
            .query_map([table, schema_version], |row| {
                Ok(Column { id: row.get(0)?, parent: row.get(1)?, name: row.get(2)?, column_type: row.get(3)? })
            })?
            .collect()
    };
    columns().map_err(sqlite_failed)
}

fn create(table: &Table, duckdb: &duckdb::Connection, to: &str) -> Result<()> {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let constraint = match (column.primary_key, column.not_null) {
                (true, _) => " PRIMARY KEY",
                (false, true) => " NOT NULL",
                (false, false) => "",
            };
            format!("{} {}{constraint}", identifier(&column.name), column.duckdb_type)
        })
        .collect();
    duckdb
        .execute_batch(&format!("CREATE TABLE {to}.main.{}({})", identifier(&table.name), columns.join(", ")))
        .doing(format_args!("make the table '{}'", table.name))
}

/// Copies the rows of one of DuckLake's own tables.
fn append(table: &Table, sqlite: &Connection, duckdb: &duckdb::Connection, to: &str) -> Result<()> {
    let failed = format!("write the table '{}'", table.name);
    let mut appender = duckdb.appender_to_catalog_and_db(&table.name, to, "main").doing(&failed)?;
    let mut values = Vec::with_capacity(table.columns.len());
    each_row(table, sqlite, |row| {
        values.clear();
        for (i, column) in table.columns.iter().enumerate() {
            values.push(value(row.get_ref(i).map_err(sqlite_failed)?, table, column)?);
        }
        appender.append_row(appender_params_from_iter(&values)).doing(&failed)
    })?;
    appender.flush().doing(&failed)
}

/// Copies rows of a user's table, whose values SQLite holds as text for most types: DuckDB reads each as its type.
fn copy_cast(table: &Table, sqlite: &Connection, duckdb: &duckdb::Connection, to: &str) -> Result<()> {
    let failed = format!("write the table '{}'", table.name);
    let casts: Vec<String> = table.columns.iter().map(|c| format!("CAST(? AS {})", c.duckdb_type)).collect();
    let sql = format!("INSERT INTO {to}.main.{} SELECT {}", identifier(&table.name), casts.join(", "));
    let mut insert = duckdb.prepare(&sql).doing(&failed)?;
    let mut values = Vec::with_capacity(table.columns.len());
    duckdb.execute_batch("BEGIN").doing(&failed)?;
    each_row(table, sqlite, |row| {
        values.clear();
        for (i, column) in table.columns.iter().enumerate() {
            values.push(loose_value(row.get_ref(i).map_err(sqlite_failed)?, table, column)?);
        }
        insert.execute(duckdb::params_from_iter(values.iter())).doing(&failed).map(|_| ())
    })?;
    duckdb.execute_batch("COMMIT").doing(&failed)
}

fn each_row(table: &Table, sqlite: &Connection, mut visit: impl FnMut(&rusqlite::Row<'_>) -> Result<()>) -> Result<()> {
    let names: Vec<String> = table.columns.iter().map(|column| identifier(&column.name)).collect();
    let sql = format!("SELECT {} FROM {} ORDER BY rowid", names.join(", "), identifier(&table.name));
    let mut statement = sqlite.prepare(&sql).map_err(sqlite_failed)?;
    let mut rows = statement.query([]).map_err(sqlite_failed)?;
    while let Some(row) = rows.next().map_err(sqlite_failed)? {
        visit(row)?;
    }
    Ok(())
}

/// A value of one of DuckLake's own tables. SQLite would store any value in any column, so each is checked.
fn value(value: ValueRef<'_>, table: &Table, column: &TableColumn) -> Result<Value> {
    match (column.duckdb_type.as_str(), value) {
        (_, ValueRef::Null) => Ok(Value::Null),
        ("BOOLEAN", ValueRef::Integer(n @ (0 | 1))) => Ok(Value::Boolean(n == 1)),
        ("BIGINT", ValueRef::Integer(n)) => Ok(Value::BigInt(n)),
        ("VARCHAR" | "UUID" | "TIMESTAMPTZ", ValueRef::Text(text)) => utf8(text, table, column).map(Value::Text),
        ("BLOB", ValueRef::Blob(bytes)) => Ok(Value::Blob(bytes.to_vec())),
        _ => Err(unfit(table, column)),
    }
}

/// A value of a user's table, in the form in which SQLite holds it.
fn loose_value(value: ValueRef<'_>, table: &Table, column: &TableColumn) -> Result<Value> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(n) => Ok(Value::BigInt(n)),
        ValueRef::Text(text) => utf8(text, table, column).map(Value::Text),
        ValueRef::Blob(bytes) => Ok(Value::Blob(bytes.to_vec())),
        ValueRef::Real(_) => Err(unfit(table, column)),
    }
}

fn utf8(text: &[u8], table: &Table, column: &TableColumn) -> Result<String> {
    String::from_utf8(text.to_vec()).map_err(|_| unfit(table, column))
}

fn unfit(table: &Table, column: &TableColumn) -> Error {
    Error::fatal(format!(
        "the working catalog is damaged: a value in {}.{} is no {}",
        literal(&table.name),
        literal(&column.name),
        column.duckdb_type
    ))
}
