//! How far a command has got, for who looks at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{Error, Result};

/// A bar on standard error, which is there only where that is a terminal, and is wiped away in the end.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar for so many bytes.
    pub fn new(bytes: u64) -> Result<Bar> {
        let style = "{bar:30} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
        let style = ProgressStyle::with_template(style).map_err(|e| Error::fatal(format!("progress: {e}")))?;
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr()).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(Bar(bar))
    }

    /// No bar.
    pub fn hidden() -> Bar {
        Bar(ProgressBar::hidden())
    }

    /// So many bytes more are done.
    pub fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
