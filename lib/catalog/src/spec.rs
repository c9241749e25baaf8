//! What is known of DuckLake's spec versions, and the types of its tables.
//!
//! The tables are not listed here: what is converted is what is found. SQLite forgets which columns are BOOLEAN, UUID and
//! TIMESTAMPTZ, so those are named. Another column keeps its declared type.

use fdl::{Error, Result};

/// A DuckLake spec version that is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spec {
    /// DuckDB 1.4.
    V0_3,
    /// DuckDB 1.5.0 and 1.5.1.
    V0_4,
    /// DuckDB 1.5.2 and later.
    V1_0,
}

impl Spec {
    /// The spec version that stands in the metadata of the catalog `what`. One that is not known is refused: its tables
    /// may mean something else.
    pub fn parse(what: impl std::fmt::Display, version: &str) -> Result<Spec> {
        match version {
            "0.3" => Ok(Spec::V0_3),
            "0.4" => Ok(Spec::V0_4),
            "1.0" => Ok(Spec::V1_0),
            _ => Err(Error::fatal(format!(
                "'{what}' is a DuckLake catalog of spec version '{}'; known are 0.3, 0.4 and 1.0",
                version.escape_debug()
            ))),
        }
    }

    /// Its name in the metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Spec::V0_3 => "0.3",
            Spec::V0_4 => "0.4",
            Spec::V1_0 => "1.0",
        }
    }
}

const BOOLEANS: &[&str] = &["nulls_allowed", "path_is_relative", "contains_nan", "contains_null", "is_partition"];
const UUIDS: &[&str] = &["schema_uuid", "table_uuid", "view_uuid"];
const TIMES: &[&str] = &["snapshot_time", "schedule_start"];

/// The type that DuckLake gives a column of one of its own tables in DuckDB, from what SQLite declares.
pub fn duckdb_type(column: &str, declared: &str) -> Result<&'static str> {
    if BOOLEANS.contains(&column) {
        return Ok("BOOLEAN");
    }
    if UUIDS.contains(&column) {
        return Ok("UUID");
    }
    if TIMES.contains(&column) {
        return Ok("TIMESTAMPTZ");
    }
    match declared.to_ascii_uppercase().as_str() {
        "BIGINT" | "INTEGER" => Ok("BIGINT"),
        "VARCHAR" | "TEXT" => Ok("VARCHAR"),
        "BLOB" => Ok("BLOB"),
        _ => Err(Error::fatal(format!("column '{column}' has type '{declared}', which no DuckLake catalog has"))),
    }
}

/// The type under which DuckLake keeps a DuckDB type in SQLite: integers that fit and booleans as numbers, bytes as
/// bytes, all else as text.
pub fn sqlite_type(duckdb: &str) -> &'static str {
    match duckdb {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "UTINYINT" | "USMALLINT" | "UINTEGER" => "BIGINT",
        "BLOB" => "BLOB",
        _ => "VARCHAR",
    }
}

/// What a table of a catalog holds, from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// One of DuckLake's own tables.
    Plain,
    /// `ducklake_inlined_data_<table>_<schema version>`: rows of a user's table, with the user's columns.
    InlinedData {
        /// The table's id.
        table: i64,
        /// The schema version whose columns it has.
        schema_version: i64,
    },
    /// `ducklake_inlined_delete_<table>`: positions of deleted rows.
    InlinedDelete,
}

impl TableKind {
    /// What the table of this name holds; `None` when it is none of DuckLake's.
    pub fn of(name: &str) -> Option<TableKind> {
        let rest = name.strip_prefix("ducklake_")?;
        if let Some(numbers) = rest.strip_prefix("inlined_data_")
            && let Some((table, version)) = numbers.split_once('_')
            && let (Ok(table), Ok(schema_version)) = (table.parse(), version.parse())
        {
            return Some(TableKind::InlinedData { table, schema_version });
        }
        if rest.strip_prefix("inlined_delete_").is_some_and(|table| table.parse::<i64>().is_ok()) {
            return Some(TableKind::InlinedDelete);
        }
        Some(TableKind::Plain)
    }
}

/// How many columns of an inlined table are DuckLake's own: row_id, begin_snapshot, end_snapshot.
pub const INLINED_SYSTEM_COLUMNS: usize = 3;

/// A column of a user's table, as `ducklake_column` has it.
#[derive(Clone, Debug)]
pub struct Column {
    /// `column_id`
    pub id: i64,
    /// `parent_column`, for a field of a nested one.
    pub parent: Option<i64>,
    /// `column_name`
    pub name: String,
    /// `column_type`
    pub column_type: String,
}

/// The DuckDB type of `column`, whose fields are among `columns` in their order.
pub fn user_type(column: &Column, columns: &[Column]) -> Result<String> {
    let fields = || columns.iter().filter(|field| field.parent == Some(column.id));
    let field = |n: usize| match fields().nth(n) {
        Some(field) => user_type(field, columns),
        None => Err(Error::fatal(format!("column '{}' lacks the fields of a {}", column.name, column.column_type))),
    };
    let simple = match column.column_type.as_str() {
        "boolean" => "BOOLEAN",
        "int8" => "TINYINT",
        "int16" => "SMALLINT",
        "int32" => "INTEGER",
        "int64" => "BIGINT",
        "int128" => "HUGEINT",
        "uint8" => "UTINYINT",
        "uint16" => "USMALLINT",
        "uint32" => "UINTEGER",
        "uint64" => "UBIGINT",
        "uint128" => "UHUGEINT",
        "float32" => "FLOAT",
        "float64" => "DOUBLE",
        // DuckLake reads a JSON column from text as well, and this DuckDB has no JSON type.
        "varchar" | "json" => "VARCHAR",
        "blob" => "BLOB",
        "uuid" => "UUID",
        "date" => "DATE",
        "time" => "TIME",
        "time_ns" => "TIME_NS",
        "timetz" => "TIMETZ",
        "timestamp" => "TIMESTAMP",
        "timestamptz" => "TIMESTAMPTZ",
        "timestamp_s" => "TIMESTAMP_S",
        "timestamp_ms" => "TIMESTAMP_MS",
        "timestamp_ns" => "TIMESTAMP_NS",
        "interval" => "INTERVAL",
        "list" => return Ok(format!("{}[]", field(0)?)),
        "map" => return Ok(format!("MAP({}, {})", field(0)?, field(1)?)),
        "struct" => {
            let fields = fields()
                .map(|field| Ok(format!("{} {}", crate::names::identifier(&field.name), user_type(field, columns)?)))
                .collect::<Result<Vec<_>>>()?;
            return Ok(format!("STRUCT({})", fields.join(", ")));
        }
        other => return decimal(other).ok_or_else(|| unknown(&column.name, other)),
    };
    Ok(simple.to_owned())
}

/// `decimal(p,s)` as DuckDB writes it.
fn decimal(text: &str) -> Option<String> {
    let (width, scale) = text.strip_prefix("decimal(")?.strip_suffix(')')?.split_once(',')?;
    let (width, scale): (u8, u8) = (width.trim().parse().ok()?, scale.trim().parse().ok()?);
    Some(format!("DECIMAL({width},{scale})"))
}

fn unknown(column: &str, column_type: &str) -> Error {
    Error::fatal(format!(
        "column '{}' has the type '{}', whose rows cannot be kept in the catalog",
        column.escape_debug(),
        column_type.escape_debug()
    ))
    .hint("'CALL ducklake_flush_inlined_data(...)' moves them to Parquet")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(id: i64, parent: Option<i64>, name: &str, column_type: &str) -> Column {
        Column { id, parent, name: name.into(), column_type: column_type.into() }
    }

    #[test]
    fn nested_types_are_put_together_from_their_fields() {
        let columns = [
            column(1, None, "m", "map"),
            column(2, Some(1), "key", "varchar"),
            column(3, Some(1), "value", "list"),
            column(4, Some(3), "element", "struct"),
            column(5, Some(4), "a\"b", "decimal(10,2)"),
            column(6, Some(4), "c", "uint64"),
        ];
        assert_eq!(
            user_type(&columns[0], &columns).unwrap(),
            r#"MAP(VARCHAR, STRUCT("a""b" DECIMAL(10,2), "c" UBIGINT)[])"#
        );
    }

    #[test]
    fn a_type_that_is_not_known_is_refused() {
        for column_type in ["variant", "geometry", "decimal(1)", "decimal(a,b)", "int", "list", "map"] {
            let columns = [column(1, None, "x", column_type)];
            assert!(user_type(&columns[0], &columns).is_err(), "{column_type} was accepted");
        }
    }

    #[test]
    fn inlined_tables_are_told_by_their_names() {
        let inlined = TableKind::InlinedData { table: 12, schema_version: 3 };
        assert_eq!(TableKind::of("ducklake_inlined_data_12_3"), Some(inlined));
        assert_eq!(TableKind::of("ducklake_inlined_delete_12"), Some(TableKind::InlinedDelete));
        assert_eq!(TableKind::of("ducklake_inlined_data_tables"), Some(TableKind::Plain));
        assert_eq!(TableKind::of("fdl_checkout"), None);
    }
}
