//! Frozen catalogs, for the checks of the library that links no DuckDB.

use camino::Utf8Path;
use fdl::{Result, dataset::Dataset, files::File, fsck::Catalogs};

use crate::{describe::describe, list::list_files, open::Catalog};

/// Frozen catalogs, read with DuckDB.
pub struct Frozen;

impl Catalogs for Frozen {
    fn each_file(&self, path: &Utf8Path, visit: &mut dyn FnMut(File) -> Result<()>) -> Result<()> {
        list_files(&Catalog::open(path)?, None, visit)
    }

    fn describe(&self, path: &Utf8Path) -> Result<Dataset> {
        describe(&Catalog::open(path)?)
    }
}
