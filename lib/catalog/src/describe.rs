//! What is in a catalog at its newest snapshot.

use fdl::{
    Error, Result,
    dataset::{Column, Dataset, Schema, Table, View},
    json,
};

use crate::{
    duck::Doing,
    names::identifier,
    open::{Catalog, NAME},
    spec::TableKind,
};

/// Describes the newest snapshot: schemas, tables and views, without the value of any row.
pub fn describe(catalog: &Catalog) -> Result<Dataset> {
    let snapshot = catalog.newest_snapshot()?;
    let mut schemas = Vec::new();
    for (id, name) in named(catalog, "schema", "schema_id", "schema_name", &live("", snapshot))? {
        schemas.push(Schema { name, tables: tables(catalog, id, snapshot)?, views: views(catalog, id, snapshot)? });
    }
    Ok(Dataset { fdl: json::FORMAT.into(), ducklake: catalog.spec().as_str().into(), schemas })
}

/// The condition by which a row of the table `alias` is valid at a snapshot.
pub fn live(alias: &str, snapshot: i64) -> String {
    let dot = if alias.is_empty() { "" } else { "." };
    format!(
        "{alias}{dot}begin_snapshot <= {snapshot} AND ({alias}{dot}end_snapshot IS NULL OR {alias}{dot}end_snapshot > {snapshot})"
    )
}

/// Ids and names of rows of `ducklake_<table>`, sorted by name.
fn named(catalog: &Catalog, table: &str, id: &str, name: &str, condition: &str) -> Result<Vec<(i64, String)>> {
    let sql = format!("SELECT {id}, {name} FROM {NAME}.main.ducklake_{table} WHERE {condition} ORDER BY {name}");
    let rows = || -> duckdb::Result<Vec<(i64, String)>> {
        catalog.connection().prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    rows().doing(format_args!("read '{}'", catalog.path()))
}

fn number(catalog: &Catalog, sql: &str) -> Result<i64> {
    catalog.connection().query_row(sql, [], |row| row.get(0)).doing(format_args!("read '{}'", catalog.path()))
}

fn tables(catalog: &Catalog, schema: i64, snapshot: i64) -> Result<Vec<Table>> {
    let condition = format!("schema_id = {schema} AND {}", live("", snapshot));
    let mut tables = Vec::new();
    for (id, name) in named(catalog, "table", "table_id", "table_name", &condition)? {
        let (files, bytes) = files(catalog, id, snapshot)?;
        tables.push(Table {
            comment: comment(catalog, id, snapshot)?,
            columns: columns(catalog, id, snapshot)?,
            rows: rows(catalog, id, snapshot)?,
            files,
            bytes,
            name,
        });
    }
    Ok(tables)
}

fn views(catalog: &Catalog, schema: i64, snapshot: i64) -> Result<Vec<View>> {
    let condition = format!("schema_id = {schema} AND {}", live("", snapshot));
    let mut views = Vec::new();
    for (id, name) in named(catalog, "view", "view_id", "view_name", &condition)? {
        let sql = format!("SELECT sql FROM {NAME}.main.ducklake_view WHERE view_id = {id} AND {}", live("", snapshot));
        let sql = catalog
            .connection()
            .query_row(&sql, [], |row| row.get(0))
            .doing(format_args!("read '{}'", catalog.path()))?;
        views.push(View { comment: comment(catalog, id, snapshot)?, sql, name });
    }
    Ok(views)
}

fn comment(catalog: &Catalog, object: i64, snapshot: i64) -> Result<Option<String>> {
    let sql = format!(
        "SELECT max(value) FROM {NAME}.main.ducklake_tag WHERE object_id = {object} AND key = 'comment' AND {}",
        live("", snapshot)
    );
    catalog.connection().query_row(&sql, [], |row| row.get(0)).doing(format_args!("read '{}'", catalog.path()))
}

/// A row of `ducklake_column` with its comment.
struct Row {
    id: i64,
    parent: Option<i64>,
    column: Column,
}

fn columns(catalog: &Catalog, table: i64, snapshot: i64) -> Result<Vec<Column>> {
    let sql = format!(
        "SELECT column_id, parent_column, column_name, column_type, nulls_allowed, (
            SELECT max(value) FROM {NAME}.main.ducklake_column_tag t WHERE t.table_id = c.table_id
            AND t.column_id = c.column_id AND key = 'comment' AND {})
         FROM {NAME}.main.ducklake_column c WHERE table_id = {table} AND {} ORDER BY column_order, column_id",
        live("t", snapshot),
        live("c", snapshot)
    );
    let rows = || -> duckdb::Result<Vec<Row>> {
        let read = |row: &duckdb::Row<'_>| {
            let column = Column {
                name: row.get(2)?,
                column_type: row.get(3)?,
                nullable: row.get::<_, Option<bool>>(4)?.unwrap_or(true),
                comment: row.get(5)?,
                fields: Vec::new(),
            };
            Ok(Row { id: row.get(0)?, parent: row.get(1)?, column })
        };
        catalog.connection().prepare(&sql)?.query_map([], read)?.collect()
    };
    let mut rows = rows().doing(format_args!("read '{}'", catalog.path()))?;
    let columns = take_fields(&mut rows, None);
    match rows.first() {
        None => Ok(columns),
        Some(row) => Err(Error::fatal(format!(
            "'{}' is damaged: the column '{}' belongs to no other",
            catalog.path(),
            row.column.name.escape_debug()
        ))),
    }
}

/// Takes the fields of `parent` out of `rows`, each with its own fields. What belongs to no parent is left.
fn take_fields(rows: &mut Vec<Row>, parent: Option<i64>) -> Vec<Column> {
    let (mine, rest) = std::mem::take(rows).into_iter().partition::<Vec<_>, _>(|row| row.parent == parent);
    *rows = rest;
    mine.into_iter().map(|row| Column { fields: take_fields(rows, Some(row.id)), ..row.column }).collect()
}

/// The live data files of a table as `f`, each with its live delete file as `x`. A delete file outlives its data file
/// in the catalog when the last rows of that are deleted.
fn live_files(table: i64, snapshot: i64) -> String {
    format!(
        "{NAME}.main.ducklake_data_file f LEFT JOIN {NAME}.main.ducklake_delete_file x \
         ON x.data_file_id = f.data_file_id AND {} WHERE f.table_id = {table} AND {}",
        live("x", snapshot),
        live("f", snapshot)
    )
}

/// How many files a reader of the whole table fetches, and their bytes.
fn files(catalog: &Catalog, table: i64, snapshot: i64) -> Result<(u64, u64)> {
    let sql = format!(
        "SELECT count(*) + count(x.data_file_id), \
         coalesce(sum(f.file_size_bytes + coalesce(x.file_size_bytes, 0)), 0)::BIGINT FROM {}",
        live_files(table, snapshot)
    );
    let (files, bytes): (i64, i64) = catalog
        .connection()
        .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .doing(format_args!("read '{}'", catalog.path()))?;
    Ok((files.unsigned_abs(), bytes.unsigned_abs()))
}

/// How many rows the table has: those of its files and of the catalog itself, less what is deleted of either.
/// (`ducklake_table_stats` counts deleted rows, too.)
fn rows(catalog: &Catalog, table: i64, snapshot: i64) -> Result<u64> {
    let files = format!(
        "SELECT coalesce(sum(f.record_count - coalesce(x.delete_count, 0)), 0)::BIGINT FROM {}",
        live_files(table, snapshot)
    );
    let mut rows = number(catalog, &files)?;
    for name in catalog.tables("ducklake_inlined_")? {
        let inlined = identifier(&name);
        match TableKind::of(&name) {
            Some(TableKind::InlinedData { table: t, .. }) if t == table => {
                rows += number(
                    catalog,
                    &format!("SELECT count(*) FROM {NAME}.main.{inlined} WHERE {}", live("", snapshot)),
                )?;
            }
            Some(TableKind::InlinedDelete) if name == format!("ducklake_inlined_delete_{table}") => {
                rows -= number(
                    catalog,
                    &format!(
                        "SELECT count(*) FROM {NAME}.main.{inlined} d JOIN {NAME}.main.ducklake_data_file f \
                         ON f.data_file_id = d.file_id WHERE d.begin_snapshot <= {snapshot} AND {}",
                        live("f", snapshot)
                    ),
                )?;
            }
            _ => {}
        }
    }
    u64::try_from(rows)
        .map_err(|_| Error::fatal(format!("'{}' is damaged: a table has less than no rows", catalog.path())))
}
