//! Names and text within SQL. A catalog's text never stands in a statement but through these two.

/// `name` as an identifier, for DuckDB and for SQLite.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as a string, for DuckDB and for SQLite.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `name` as people write it: as it is where DuckDB would read it so, else quoted.
pub fn plain_or_quoted(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    match bytes.next() {
        Some(first) if plain(first) && !first.is_ascii_digit() && bytes.all(plain) => name.to_owned(),
        _ => identifier(name),
    }
}
