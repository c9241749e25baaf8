//! A test's way to pull the plug, in the manner of Git's `GIT_TEST_*` variables: with `FDL_TEST_KILL_AFTER=<file>`,
//! where the file holds a number n, the n-th change to any folder store by any process of a test ends with SIGKILL to the whole
//! process group. Tests run n from 1 until a run meets no kill.

use std::{env, fs::File, io::Write};

/// To be called after each step that changes what is on the disk.
pub(super) fn after_write() {
    if let Some(path) = env::var_os("FDL_TEST_KILL_AFTER") {
        // A counter that cannot be kept must not look like a run without a kill.
        if count_down(&path).unwrap_or(0) == 0 {
            let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
        }
    }
}

/// Counts this change; returns the number of changes still to come before the kill.
fn count_down(path: &std::ffi::OsStr) -> Option<u64> {
    let lock = File::open(path).ok()?;
    lock.lock().ok()?;
    let left: u64 = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
    let left = left.saturating_sub(1);
    let mut file = File::create(path).ok()?;
    writeln!(file, "{left}").ok()?;
    Some(left)
}
