//! Whether two tables hold the same rows, as a multiset, in plain DuckDB.
//!
//! Both sides are at their newest snapshots, so a file that holds rows of several snapshots counts whole. A data file with
//! the same deletes on both sides cancels out. What is left is summed up: a count and two sums of hashes a side,
//! which neither order nor the spread over files changes.

use std::{cmp::Ordering, collections::BTreeMap};

use duckdb::Connection;
use fdl::{Error, Result, key::Key};

use crate::{
    data::DataFiles,
    describe::live,
    duck::{self, Doing},
    names::{identifier, literal},
    open::{Catalog, NAME},
    spec::{self, Column, INLINED_SYSTEM_COLUMNS, TableKind},
};

/// Compares rows; holds a connection that can read the data folders and nothing else.
pub struct Rows<'a> {
    connection: Connection,
    data: &'a DataFiles,
}

/// A table of a catalog: its schema and its name.
pub type Place<'a> = (&'a Catalog, &'a str, &'a str);

impl Rows<'_> {
    /// Prepares to read these data files.
    pub fn new(data: &DataFiles) -> Result<Rows<'_>> {
        let connection = duck::connect()?;
        let folders: Vec<String> = data.folders()?.iter().map(|folder| literal(folder.as_str())).collect();
        connection
            .execute_batch(&format!("SET allowed_directories = [{}]", folders.join(", ")))
            .doing("allow DuckDB to read the data folders")?;
        duck::lock_down(&connection)?;
        Ok(Rows { connection, data })
    }

    /// Whether two tables with equal columns hold the same rows; `false` where that cannot be told for certain.
    pub fn same(&self, old: Place<'_>, new: Place<'_>) -> Result<bool> {
        let (mut old, mut new) = (Content::of(old)?, Content::of(new)?);
        if old.reads_like(&new) {
            cancel(&mut old.files, &mut new.files);
            if old.files.is_empty() && new.files.is_empty() && old.inlined == 0 && new.inlined == 0 {
                return Ok(true);
            }
        }
        let files = || old.files.iter().chain(&new.files);
        if files().any(|file| !file.is_plain) {
            return Ok(false);
        }
        self.data.prepare(files().flat_map(|file| [Some(&file.path), file.delete.as_ref()]).flatten())?;
        match (self.sum(&old)?, self.sum(&new)?) {
            (Some(old), Some(new)) => Ok(old == new),
            _ => Ok(false),
        }
    }

    /// The sum of what is left of a table; `None` where plain DuckDB could read it wrongly.
    fn sum(&self, content: &Content<'_>) -> Result<Option<Sum>> {
        let mut sum = content.sum_inlined()?;
        for file in &content.files {
            if !self.fields_are_current(content, file)? {
                return Ok(None);
            }
            sum.add(self.sum_file(content, file)?);
        }
        Ok(Some(sum))
    }

    fn sum_file(&self, content: &Content<'_>, file: &DataFile) -> Result<Sum> {
        let fields: Vec<String> = content
            .top_level()
            .map(|column| {
                Ok(format!(
                    "{}: {{'name': {}, 'type': {}, 'default_value': {}}}",
                    column.id,
                    literal(&column.name),
                    literal(&spec::user_type(column, &content.columns)?),
                    content.initial_defaults.get(&column.id).map_or("NULL".to_owned(), |text| literal(text))
                ))
            })
            .collect::<Result<_>>()?;
        let deleted = match &file.delete {
            None => String::new(),
            Some(delete) => format!(
                "AND file_row_number NOT IN (SELECT pos FROM read_parquet({}))",
                literal(self.data.find(delete)?.as_str())
            ),
        };
        let positions: Vec<String> = file.deleted_positions.iter().map(i64::to_string).collect();
        let inlined = match positions.as_slice() {
            [] => String::new(),
            positions => format!("AND file_row_number NOT IN ({})", positions.join(", ")),
        };
        let sql = format!(
            "SELECT {} FROM read_parquet({}, schema = MAP {{{}}}) WHERE true {deleted} {inlined}",
            content.sums()?,
            literal(self.data.find(&file.path)?.as_str()),
            fields.join(", ")
        );
        Sum::query(&self.connection, &sql, &format!("read '{}'", file.path))
    }

    /// Whether the fields of nested columns are in the file as they are in the table now. DuckDB finds a top-level column
    /// by its id, but the fields of a nested one by name.
    fn fields_are_current(&self, content: &Content<'_>, file: &DataFile) -> Result<bool> {
        let nested: Vec<&Column> = content.columns.iter().filter(|column| column.parent.is_some()).collect();
        if nested.is_empty() {
            return Ok(true);
        }
        let sql = format!(
            "SELECT field_id, name FROM parquet_schema({}) WHERE field_id IS NOT NULL",
            literal(self.data.find(&file.path)?.as_str())
        );
        let found = || -> duckdb::Result<BTreeMap<i64, String>> {
            self.connection.prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let found = found().doing(format_args!("read '{}'", file.path))?;
        Ok(nested.iter().all(|column| found.get(&column.id) == Some(&column.name)))
    }
}

/// Takes out of both lists what is in both, each occurrence against one of the other.
fn cancel(old: &mut Vec<DataFile>, new: &mut Vec<DataFile>) {
    old.sort();
    new.sort();
    let (mut only_old, mut only_new) = (Vec::new(), Vec::new());
    let (mut olds, mut news) = (old.drain(..).peekable(), new.drain(..).peekable());
    loop {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(b),
        };
        match order {
            Ordering::Less => only_old.extend(olds.next()),
            Ordering::Greater => only_new.extend(news.next()),
            Ordering::Equal => drop((olds.next(), news.next())),
        }
    }
    drop((olds, news));
    (*old, *new) = (only_old, only_new);
}

/// A count and two sums of hashes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    count: i64,
    hashes: [i128; 2],
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.count += other.count;
        for (sum, other) in self.hashes.iter_mut().zip(other.hashes) {
            *sum = sum.wrapping_add(other);
        }
    }

    fn query(connection: &Connection, sql: &str, doing: &str) -> Result<Sum> {
        connection
            .query_row(sql, [], |row| Ok(Sum { count: row.get(0)?, hashes: [row.get(1)?, row.get(2)?] }))
            .doing(doing)
    }
}

/// A data file of a table, with what is deleted of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DataFile {
    path: Key,
    delete: Option<Key>,
    deleted_positions: Vec<i64>,
    /// Parquet with field ids, not encrypted, its deletes in Parquet as well.
    is_plain: bool,
}

/// A table at the newest snapshot.
struct Content<'a> {
    catalog: &'a Catalog,
    snapshot: i64,
    table: i64,
    columns: Vec<Column>,
    initial_defaults: BTreeMap<i64, String>,
    files: Vec<DataFile>,
    inlined: i64,
}

impl<'a> Content<'a> {
    fn of((catalog, schema, name): Place<'a>) -> Result<Content<'a>> {
        let snapshot = catalog.newest_snapshot()?;
        let sql = format!(
            "SELECT table_id FROM {NAME}.main.ducklake_table t JOIN {NAME}.main.ducklake_schema s USING (schema_id) \
             WHERE schema_name = ? AND table_name = ? AND {} AND {}",
            live("t", snapshot),
            live("s", snapshot)
        );
        let doing =
            format!("read the table '{}.{}' of '{}'", schema.escape_debug(), name.escape_debug(), catalog.path());
        let table = catalog.connection().query_row(&sql, [schema, name], |row| row.get(0)).doing(&doing)?;
        let mut content = Content {
            catalog,
            snapshot,
            table,
            columns: Vec::new(),
            initial_defaults: BTreeMap::new(),
            files: Vec::new(),
            inlined: 0,
        };
        content.read_columns(&doing)?;
        content.read_files(&doing)?;
        content.inlined = content.sum_inlined()?.count;
        Ok(content)
    }

    fn read_columns(&mut self, doing: &str) -> Result<()> {
        let sql = format!(
            "SELECT column_id, parent_column, column_name, column_type, initial_default \
             FROM {NAME}.main.ducklake_column WHERE table_id = {} AND {} ORDER BY column_order, column_id",
            self.table,
            live("", self.snapshot)
        );
        let mut statement = self.catalog.connection().prepare(&sql).doing(doing)?;
        let mut rows = statement.query([]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            let read = || -> duckdb::Result<(Column, Option<String>)> {
                let column =
                    Column { id: row.get(0)?, parent: row.get(1)?, name: row.get(2)?, column_type: row.get(3)? };
                Ok((column, row.get(4)?))
            };
            let (column, default) = read().doing(doing)?;
            if let Some(default) = default {
                self.initial_defaults.insert(column.id, default);
            }
            self.columns.push(column);
        }
        Ok(())
    }

    fn read_files(&mut self, doing: &str) -> Result<()> {
        let inlined = format!("ducklake_inlined_delete_{}", self.table);
        let positions = if self.catalog.tables(&inlined)?.contains(&inlined) {
            format!(
                "(SELECT list(row_id ORDER BY row_id) FROM {NAME}.main.{} WHERE file_id = d.data_file_id AND begin_snapshot <= {})",
                identifier(&inlined),
                self.snapshot
            )
        } else {
            "NULL::BIGINT[]".to_owned()
        };
        let sql = format!(
            "SELECT s.path || t.path || d.path, s.path || t.path || x.path,
                    coalesce(array_to_string({positions}, ','), ''),
                    d.path_is_relative AND coalesce(x.path_is_relative, true) AND t.path_is_relative AND s.path_is_relative,
                    d.mapping_id IS NULL AND d.encryption_key IS NULL AND lower(d.file_format) = 'parquet'
                    AND coalesce(lower(x.format) = 'parquet' AND x.encryption_key IS NULL, true)
             FROM {NAME}.main.ducklake_data_file d
             JOIN (SELECT DISTINCT table_id, schema_id, path, path_is_relative FROM {NAME}.main.ducklake_table) t USING (table_id)
             JOIN {NAME}.main.ducklake_schema s USING (schema_id)
             LEFT JOIN {NAME}.main.ducklake_delete_file x ON x.data_file_id = d.data_file_id AND {}
             WHERE d.table_id = {} AND {}",
            live("x", self.snapshot),
            self.table,
            live("d", self.snapshot)
        );
        let mut statement = self.catalog.connection().prepare(&sql).doing(doing)?;
        let mut rows = statement.query([]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            let read = || -> duckdb::Result<(String, Option<String>, String, bool, bool)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            };
            let (path, delete, positions, inside, is_plain) = read().doing(doing)?;
            if !inside {
                return Err(Error::fatal(format!("cannot {doing}: a file lies outside the data folder")));
            }
            let deleted_positions: Vec<i64> = positions.split(',').filter_map(|n| n.parse().ok()).collect();
            let delete = delete.map(|path| Key::new(&path)).transpose()?;
            self.files.push(DataFile { path: Key::new(&path)?, delete, deleted_positions, is_plain });
        }
        Ok(())
    }

    /// Whether the same file holds the same rows for both: the ids, names, types and defaults of the columns agree.
    fn reads_like(&self, other: &Content<'_>) -> bool {
        let key = |c: &Column| (c.id, c.parent, c.name.clone(), c.column_type.clone());
        self.initial_defaults == other.initial_defaults
            && self.columns.iter().map(key).eq(other.columns.iter().map(key))
    }

    fn top_level(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.parent.is_none())
    }

    /// The expressions of a [`Sum`].
    fn sums(&self) -> Result<String> {
        let values: Vec<String> =
            self.top_level().map(|column| hashed(&identifier(&column.name), &column.column_type)).collect();
        let values = values.join(", ");
        // The second sum makes an accident unlikely; the first argument sets it apart from the first.
        Ok(format!("count(*), coalesce(sum(hash({values})), 0)::HUGEINT, coalesce(sum(hash(1, {values})), 0)::HUGEINT"))
    }

    /// The sum of the rows that are in the catalog itself.
    fn sum_inlined(&self) -> Result<Sum> {
        let mut sum = Sum::default();
        for name in self.catalog.tables(&format!("ducklake_inlined_data_{}_", self.table))? {
            let Some(TableKind::InlinedData { table, schema_version }) = TableKind::of(&name) else { continue };
            if table == self.table {
                sum.add(self.sum_inlined_table(&name, schema_version)?);
            }
        }
        Ok(sum)
    }

    /// The columns of an inlined table have the names and types of their time: each is found by its id.
    fn sum_inlined_table(&self, name: &str, schema_version: i64) -> Result<Sum> {
        let doing = format!("read '{name}' of '{}'", self.catalog.path());
        let then = self.columns_then(name, schema_version, &doing)?;
        let values: Vec<String> = self
            .top_level()
            .map(|column| {
                let value = match (then.get(&column.id), self.initial_defaults.get(&column.id)) {
                    (Some(name), _) => identifier(name),
                    (None, Some(default)) => literal(default),
                    (None, None) => "NULL".to_owned(),
                };
                let column_type = spec::user_type(column, &self.columns)?;
                Ok(format!("CAST({value} AS {column_type}) AS {}", identifier(&column.name)))
            })
            .collect::<Result<_>>()?;
        let sql = format!(
            "SELECT {} FROM (SELECT {} FROM {NAME}.main.{} WHERE {})",
            self.sums()?,
            values.join(", "),
            identifier(name),
            live("", self.snapshot)
        );
        Sum::query(self.catalog.connection(), &sql, &doing)
    }

    /// The names that the top-level columns had when the inlined table was made, by their ids.
    fn columns_then(&self, name: &str, schema_version: i64, doing: &str) -> Result<BTreeMap<i64, String>> {
        let of_table = if self.catalog.spec() == spec::Spec::V0_3 { "" } else { "AND v.table_id = c.table_id" };
        let sql = format!(
            "SELECT c.column_id, c.column_name FROM {NAME}.main.ducklake_column c WHERE c.table_id = {} AND parent_column IS NULL
             AND c.begin_snapshot <= (SELECT min(begin_snapshot) FROM {NAME}.main.ducklake_schema_versions v WHERE schema_version >= {schema_version} {of_table})
             AND (c.end_snapshot IS NULL OR c.end_snapshot > (SELECT min(begin_snapshot) FROM {NAME}.main.ducklake_schema_versions v WHERE schema_version >= {schema_version} {of_table}))",
            self.table
        );
        let columns = || -> duckdb::Result<BTreeMap<i64, String>> {
            self.catalog.connection().prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let columns = columns().doing(doing)?;
        let sql = format!("SELECT count(*) FROM duckdb_columns() WHERE database_name = '{NAME}' AND table_name = ?");
        let width: i64 = self.catalog.connection().query_row(&sql, [name], |row| row.get(0)).doing(doing)?;
        if columns.len() + INLINED_SYSTEM_COLUMNS == width.unsigned_abs() as usize {
            return Ok(columns);
        }
        Err(Error::fatal(format!("cannot {doing}: its columns are not those of its schema version")))
    }
}

/// The expression under which a value goes into the hash. DuckDB's hash() takes 0.0 for -0.0, an empty list for NULL and
/// a month for 30 days; their text tells them apart.
fn hashed(value: &str, column_type: &str) -> String {
    match column_type {
        "boolean" | "int8" | "int16" | "int32" | "int64" | "int128" | "uint8" | "uint16" | "uint32" | "uint64"
        | "uint128" | "varchar" | "blob" | "uuid" | "date" | "time" | "time_ns" | "timestamp" | "timestamptz"
        | "timestamp_s" | "timestamp_ms" | "timestamp_ns" => value.to_owned(),
        decimal if decimal.starts_with("decimal(") => value.to_owned(),
        _ => format!("CAST({value} AS VARCHAR)"),
    }
}
