//! `dataset.json`: what a version holds, for people and for pages about it. It never holds the value of a row.

use serde::{Deserialize, Serialize};

/// The whole of `dataset.json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Dataset {
    /// The format version.
    pub fdl: String,
    /// The spec version of the DuckLake catalog it was made from.
    pub ducklake: String,
    /// The schemas of the newest snapshot, sorted by name.
    pub schemas: Vec<Schema>,
}

/// A schema and what is in it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Its tables, sorted by name.
    pub tables: Vec<Table>,
    /// Its views, sorted by name.
    pub views: Vec<View>,
}

/// A table.
#[derive(Debug, Serialize, Deserialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its comment, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Its rows, those deleted left out.
    pub rows: u64,
    /// The data and delete files that a reader of all its rows fetches.
    pub files: u64,
    /// The size of those files, in bytes.
    pub bytes: u64,
}

/// A column, or a field within a nested one.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// DuckLake's name for its type: `int64`, `decimal(10,2)`, `struct`, ...
    #[serde(rename = "type")]
    pub column_type: String,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its comment, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The fields of a nested type, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Column>,
}

/// A view.
#[derive(Debug, Serialize, Deserialize)]
pub struct View {
    /// Its name.
    pub name: String,
    /// Its comment, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Its query.
    pub sql: String,
}
