//! Names and text within SQL. A catalog's text never stands in a statement but through these two.

/// `name` as an identifier, for DuckDB and for SQLite.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as a string, for DuckDB and for SQLite.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
