//! A working catalog whose new files go elsewhere than where the published ones are: into a folder of their own until
//! they are pushed. DuckLake puts relative paths below one data path, so the published files have absolute ones here.

use rusqlite::{Connection, OptionalExtension};

use crate::guards::TABLE;

/// The key under which [`TABLE`] says where the published files are.
const KEY: &str = "published";

/// Names every file of the new working catalog by its whole URL, below `data_url`.
pub fn point_at(connection: &Connection, data_url: &str) -> rusqlite::Result<()> {
    let data_url = format!("{}/", data_url.trim_end_matches('/'));
    connection.execute(&format!("INSERT INTO {TABLE} VALUES (?1, ?2)"), [KEY, &data_url])?;
    folders(connection, &data_url)?;
    for table in ["ducklake_data_file", "ducklake_delete_file"] {
        connection.execute_batch(&format!(
            "UPDATE {table} SET path = f.prefix || path, path_is_relative = 0
             FROM fdl_folder f WHERE f.table_id = {table}.table_id AND path_is_relative"
        ))?;
    }
    connection.execute_batch("DROP TABLE fdl_folder")
}

/// Names the published files relative to the data path again, in a private copy of a working catalog.
pub fn turn_back(connection: &Connection) -> rusqlite::Result<()> {
    let sql = format!("SELECT value FROM {TABLE} WHERE key = ?1");
    let data_url: Option<String> = connection.query_row(&sql, [KEY], |row| row.get(0)).optional()?;
    let Some(data_url) = data_url else { return Ok(()) };
    folders(connection, &data_url)?;
    for table in ["ducklake_data_file", "ducklake_delete_file"] {
        connection.execute_batch(&format!(
            "UPDATE {table} SET path = substr(path, length(f.prefix) + 1), path_is_relative = 1
             FROM fdl_folder f WHERE f.table_id = {table}.table_id AND NOT path_is_relative
             AND substr(path, 1, length(f.prefix)) = f.prefix"
        ))?;
    }
    connection.execute_batch("DROP TABLE fdl_folder")
}

/// Where the files of each table are: a table that was renamed has several rows, of one path.
fn folders(connection: &Connection, data_url: &str) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TEMP TABLE fdl_folder(table_id INTEGER PRIMARY KEY, prefix TEXT NOT NULL)")?;
    let sql = "INSERT INTO fdl_folder
               SELECT t.table_id, ?1 || min(s.path || t.path)
               FROM ducklake_table t JOIN ducklake_schema s USING (schema_id)
               WHERE t.path_is_relative AND s.path_is_relative GROUP BY t.table_id";
    connection.execute(sql, [data_url]).map(|_| ())
}
