//! Which files a catalog needs.
//!
//! A file is needed while a snapshot is left for which it is valid. Its path is put together from those of the schema,
//! the table and the file, as plain text. What is scheduled for deletion does not matter: another version may need it.

use fdl::{
    Error, Result,
    files::{File, FileKind},
    key::Key,
};

use crate::{
    duck::Doing,
    open::{Catalog, NAME},
};

/// Calls `visit` with every file that the snapshots of the catalog need, or only the snapshot `snapshot`: sorted by path,
/// each path once.
///
/// # Errors
/// When the catalog names a file outside the data folder, or one whose path is no key.
pub fn list_files(catalog: &Catalog, snapshot: Option<i64>, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()> {
    let failed = format!("list the files of '{}'", catalog.path());
    if let Some(snapshot) = snapshot {
        check_snapshot(catalog, snapshot)?;
    }
    let mut statement = catalog.connection().prepare(&sql(snapshot)).doing(&failed)?;
    let mut rows = statement.query([]).doing(&failed)?;
    while let Some(row) = rows.next().doing(&failed)? {
        let path: Option<String> = row.get(0).doing(&failed)?;
        let inside: bool = row.get(1).doing(&failed)?;
        let (smallest, size): (i64, i64) = (row.get(2).doing(&failed)?, row.get(3).doing(&failed)?);
        let kind: String = row.get(4).doing(&failed)?;
        let path = path.ok_or_else(|| damaged(catalog, "a file belongs to no table"))?;
        if smallest != size || size < 0 {
            return Err(damaged(catalog, &format!("'{}' has two sizes, or less than none", path.escape_debug())));
        }
        visit(File {
            path: key(catalog, &path, inside)?,
            size: size as u64,
            kind: if kind == "data" { FileKind::Data } else { FileKind::Delete },
            sha256: None,
        })?;
    }
    Ok(())
}

fn sql(snapshot: Option<i64>) -> String {
    let needed = match snapshot {
        Some(n) => format!("begin_snapshot <= {n} AND (end_snapshot IS NULL OR end_snapshot > {n})"),
        None => format!(
            "EXISTS (SELECT 1 FROM {NAME}.main.ducklake_snapshot WHERE snapshot_id >= begin_snapshot
                     AND (end_snapshot IS NULL OR snapshot_id < end_snapshot))"
        ),
    };
    format!(
        "WITH folder AS (
            -- a table that was renamed has several rows, of one path
            SELECT DISTINCT table_id,
                   CASE WHEN t.path_is_relative THEN s.path || t.path ELSE t.path END AS folder,
                   s.path_is_relative AND t.path_is_relative AS inside
            FROM {NAME}.main.ducklake_table t LEFT JOIN {NAME}.main.ducklake_schema s USING (schema_id)
         ), named AS (
            SELECT 'data' AS kind, table_id, begin_snapshot, end_snapshot, path, path_is_relative, file_size_bytes
            FROM {NAME}.main.ducklake_data_file
            UNION ALL
            -- which is read no longer than the data file whose rows it deletes
            SELECT 'delete', x.table_id, x.begin_snapshot, least(x.end_snapshot, d.end_snapshot), x.path,
                   x.path_is_relative, x.file_size_bytes
            FROM {NAME}.main.ducklake_delete_file x LEFT JOIN {NAME}.main.ducklake_data_file d USING (data_file_id)
         ), placed AS (
            SELECT kind, file_size_bytes AS size,
                   CASE WHEN path_is_relative THEN folder || path ELSE path END AS path,
                   coalesce(path_is_relative AND inside, false) AS inside
            FROM named LEFT JOIN folder USING (table_id)
            WHERE {needed}
         )
         SELECT path, bool_and(inside), min(size), max(size), min(kind) FROM placed GROUP BY path ORDER BY path"
    )
}

fn key(catalog: &Catalog, path: &str, inside: bool) -> Result<Key> {
    if !inside {
        return Err(Error::fatal(format!(
            "'{}' names a file outside its data folder: '{}'",
            catalog.path(),
            path.escape_debug()
        ))
        .hint("only files below the table's folder can be published; insert their rows instead of adding the files"));
    }
    Key::new(path).map_err(|e| {
        e.context(format_args!("'{}' names a file that cannot be published", catalog.path()))
            .hint("'CALL lake.set_option('hive_file_pattern', false)' keeps values out of the names of new files")
    })
}

fn check_snapshot(catalog: &Catalog, snapshot: i64) -> Result<()> {
    let sql = format!("SELECT count(*) > 0 FROM {NAME}.main.ducklake_snapshot WHERE snapshot_id = ?");
    let found: bool = catalog
        .connection()
        .query_row(&sql, [snapshot], |row| row.get(0))
        .doing(format_args!("read the snapshots of '{}'", catalog.path()))?;
    if found { Ok(()) } else { Err(Error::not_found(format!("'{}' has no snapshot {snapshot}", catalog.path()))) }
}

fn damaged(catalog: &Catalog, what: &str) -> Error {
    Error::fatal(format!("'{}' is damaged: {what}", catalog.path()))
}
