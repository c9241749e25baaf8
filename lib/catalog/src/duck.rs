//! The one way this crate opens DuckDB: in memory, without extensions, and with errors of one line.

use duckdb::{Config, Connection};
use fdl::{Error, Result};

/// An empty in-memory database that loads and installs nothing.
pub fn connect() -> Result<Connection> {
    let open = || -> duckdb::Result<Connection> {
        let config = Config::default()
            .enable_autoload_extension(false)?
            .with("autoinstall_known_extensions", "false")?
            .with("allow_community_extensions", "false")?;
        Connection::open_in_memory_with_flags(config)
    };
    open().map_err(|e| Error::fatal(format!("cannot start DuckDB: {}", line(&e))))
}

/// No more files, extensions or settings: what comes now may be hostile.
pub fn lock_down(connection: &Connection) -> Result<()> {
    connection
        .execute_batch("SET enable_external_access = false; SET lock_configuration = true")
        .map_err(|e| Error::fatal(format!("cannot lock DuckDB's configuration: {}", line(&e))))
}

/// DuckDB's message without its stack and its advice: the first line.
pub fn line(e: &duckdb::Error) -> String {
    let text = e.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Turns DuckDB's errors into ours, which say what was being done.
pub trait Doing<T> {
    /// `cannot <what>: <DuckDB's message>`
    fn doing(self, what: impl std::fmt::Display) -> Result<T>;
}

impl<T> Doing<T> for duckdb::Result<T> {
    fn doing(self, what: impl std::fmt::Display) -> Result<T> {
        self.map_err(|e| Error::fatal(format!("cannot {what}: {}", line(&e))))
    }
}
