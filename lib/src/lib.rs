//! Git-style plumbing for versions of data: the format, the stores and what every command shares.
//!
//! Dependencies point one way: `cli` and the modules about many objects, then the files of the format, then the
//! stores, then the values. Nothing here links DuckDB or SQLite or starts a process.

pub mod cli;
pub mod dataset;
pub mod digest;
mod error;
pub mod files;
pub mod id;
pub mod json;
pub mod key;
pub mod refname;
pub mod text;

pub use error::{Error, Kind, Result};
