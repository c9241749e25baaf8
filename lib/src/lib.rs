//! Git-style plumbing for versions of data: the format, the stores and what every command shares.
//!
//! Dependencies point one way: `cli` and the modules about many objects, then the files of the format, then the
//! stores, then the values. Nothing here links DuckDB or SQLite, or starts a process but a credential helper of the user's.

pub mod allowed_signers;
pub mod attach;
pub mod cli;
pub mod config;
pub mod dataset;
pub mod digest;
mod error;
pub mod expire;
pub mod expired;
pub mod files;
pub mod fsck;
pub mod gc;
pub mod history;
pub mod id;
pub mod inventory;
pub mod json;
pub mod key;
mod opened;
pub mod parallel;
pub mod pretty;
pub mod probe;
pub mod progress;
pub mod refname;
pub mod refs;
pub mod repository;
pub mod resolve;
pub mod retention;
pub mod signature;
pub mod ssh;
pub mod store;
pub mod text;
pub mod transfer;
pub mod trust;
pub mod version;
pub mod version_files;

pub use error::{Error, Kind, Result};
