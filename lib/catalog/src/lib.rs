//! DuckLake catalogs: the working one in SQLite, the frozen one in DuckDB, and the way from one to the other.
//!
//! This crate is the only place that links DuckDB and SQLite. DuckDB is used without any extension but the built-in
//! Parquet reader, and may neither load nor fetch one.

mod compare;
mod convert;
mod data;
mod describe;
mod duck;
mod freeze;
mod frozen;
mod guards;
mod list;
mod names;
mod open;
mod published;
mod rows;
mod spec;
mod thaw;
mod working;

pub use compare::{Change, Status, compare};
pub use data::DataFiles;
pub use describe::describe;
pub use freeze::freeze;
pub use frozen::Frozen;
pub use list::list_files;
pub use open::Catalog;
pub use spec::Spec;
pub use thaw::{create_empty, thaw};
pub use working::close;
