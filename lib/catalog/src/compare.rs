//! What differs between two catalogs for a reader of their newest snapshots: schemas, tables with their columns,
//! comments and rows, views and macros.
//!
//! Defaults, partitions and sort orders matter to writers only and are no difference, and neither is how rows are spread
//! over files.

use std::collections::{BTreeMap, BTreeSet};

use fdl::{
    Result,
    dataset::{Dataset, Table, View},
};

use crate::{
    data::DataFiles,
    describe::{self, describe},
    duck::Doing,
    names::plain_or_quoted,
    open::{Catalog, NAME},
    rows::Rows,
};

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is new.
    Added,
    /// It is in both and differs.
    Modified,
    /// It is gone.
    Deleted,
}

/// An object that differs.
#[derive(Debug)]
pub struct Change {
    /// What happened to it.
    pub status: Status,
    /// `schema`, `table`, `view` or `macro`.
    pub kind: &'static str,
    /// Its name with its schema's, quoted where DuckDB would want it.
    pub name: String,
    /// A table's rows in the old catalog.
    pub before: Option<u64>,
    /// A table's rows in the new catalog.
    pub after: Option<u64>,
}

/// Compares the newest snapshots of two catalogs. `visit` gets each difference, and ends the comparison by answering `false`.
///
/// Rows are read only of tables whose files differ, and only from the files that one side alone has. Where plain DuckDB
/// cannot tell for certain, a table differs: a version too many is better than a lost one.
///
/// # Errors
/// When a file that must be read is missing or cannot be read: that is no difference.
pub fn compare(
    old: &Catalog,
    new: &Catalog,
    data: &DataFiles,
    visit: &mut dyn FnMut(Change) -> Result<bool>,
) -> Result<()> {
    let (before, after) = (Content::of(old)?, Content::of(new)?);
    for change in before.cheap_changes(&after) {
        if !visit(change)? {
            return Ok(());
        }
    }
    let rows = Rows::new(data)?;
    for (name, (schema, table)) in &before.tables {
        let Some((new_schema, new_table)) = after.tables.get(name) else { continue };
        if !same_table(table, new_table) {
            continue;
        }
        if !rows.same((old, schema, &table.name), (new, new_schema, &new_table.name))? {
            let change = modified_table(name, table, new_table);
            if !visit(change)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// What a catalog has at its newest snapshot, by name.
struct Content {
    schemas: BTreeSet<String>,
    tables: BTreeMap<String, (String, Table)>,
    views: BTreeMap<String, View>,
    macros: BTreeMap<String, String>,
}

impl Content {
    fn of(catalog: &Catalog) -> Result<Content> {
        let Dataset { schemas, .. } = describe(catalog)?;
        let mut content = Content {
            schemas: schemas.iter().map(|schema| plain_or_quoted(&schema.name)).collect(),
            tables: BTreeMap::new(),
            views: BTreeMap::new(),
            macros: macros(catalog)?,
        };
        for schema in schemas {
            for table in schema.tables {
                content.tables.insert(full_name(&schema.name, &table.name), (schema.name.clone(), table));
            }
            for view in schema.views {
                content.views.insert(full_name(&schema.name, &view.name), view);
            }
        }
        Ok(content)
    }

    /// The differences that need no row to be read.
    fn cheap_changes(&self, new: &Content) -> Vec<Change> {
        let mut changes = Vec::new();
        let other =
            |kind, status, name: &str| Change { status, kind, name: name.to_owned(), before: None, after: None };
        let sets = |set: &BTreeSet<String>| set.iter().map(|name| (name.clone(), ())).collect::<BTreeMap<_, _>>();
        each(
            &sets(&self.schemas),
            &sets(&new.schemas),
            |_, _| true,
            |status, name| {
                changes.push(other("schema", status, name));
            },
        );
        each(
            &self.tables,
            &new.tables,
            |(_, a), (_, b)| same_table(a, b),
            |status, name| {
                let (before, after) = (self.tables.get(name), new.tables.get(name));
                let rows = |table: Option<&(String, Table)>| table.map(|(_, table)| table.rows);
                changes.push(Change { before: rows(before), after: rows(after), ..other("table", status, name) });
            },
        );
        let same_view = |a: &View, b: &View| a.sql == b.sql && a.comment == b.comment;
        each(&self.views, &new.views, same_view, |status, name| changes.push(other("view", status, name)));
        each(&self.macros, &new.macros, |a, b| a == b, |status, name| changes.push(other("macro", status, name)));
        changes
    }
}

/// Calls `visit` with what is in only one of two maps, or in both and not the same; in the order of names.
fn each<T>(
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
    same: impl Fn(&T, &T) -> bool,
    mut visit: impl FnMut(Status, &str),
) {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        match (old.get(name), new.get(name)) {
            (None, Some(_)) => visit(Status::Added, name),
            (Some(_), None) => visit(Status::Deleted, name),
            (Some(a), Some(b)) if !same(a, b) => visit(Status::Modified, name),
            _ => {}
        }
    }
}

/// Whether two tables look the same without reading their rows.
fn same_table(a: &Table, b: &Table) -> bool {
    a.rows == b.rows && a.comment == b.comment && a.columns == b.columns
}

fn modified_table(name: &str, before: &Table, after: &Table) -> Change {
    Change {
        status: Status::Modified,
        kind: "table",
        name: name.to_owned(),
        before: Some(before.rows),
        after: Some(after.rows),
    }
}

fn full_name(schema: &str, name: &str) -> String {
    format!("{}.{}", plain_or_quoted(schema), plain_or_quoted(name))
}

/// The macros with all that defines them. Spec 0.3 has none.
fn macros(catalog: &Catalog) -> Result<BTreeMap<String, String>> {
    if catalog.tables("ducklake_macro")?.is_empty() {
        return Ok(BTreeMap::new());
    }
    let snapshot = catalog.newest_snapshot()?;
    let sql = format!(
        "SELECT s.schema_name, m.macro_name, CAST((
            SELECT list((impl_id, dialect, sql, type) ORDER BY impl_id)
            FROM {NAME}.main.ducklake_macro_impl i WHERE i.macro_id = m.macro_id) AS VARCHAR) || CAST((
            SELECT list((impl_id, parameter_name, parameter_type, default_value, default_value_type) ORDER BY impl_id, column_id)
            FROM {NAME}.main.ducklake_macro_parameters p WHERE p.macro_id = m.macro_id) AS VARCHAR)
         FROM {NAME}.main.ducklake_macro m JOIN {NAME}.main.ducklake_schema s USING (schema_id)
         WHERE {} AND {}",
        describe::live("m", snapshot),
        describe::live("s", snapshot)
    );
    let macros = || -> duckdb::Result<BTreeMap<String, String>> {
        catalog
            .connection()
            .prepare(&sql)?
            .query_map([], |row| {
                let (schema, name): (String, String) = (row.get(0)?, row.get(1)?);
                Ok((full_name(&schema, &name), row.get::<_, Option<String>>(2)?.unwrap_or_default()))
            })?
            .collect()
    };
    macros().doing(format_args!("read the macros of '{}'", catalog.path()))
}
