//! fdl-catalog: the commands that link DuckDB, in one executable that is installed under each of their names, as Git does
//! with its builtins. DuckDB weighs 40 MB and takes 10 ms to start; no other command pays for it.

use std::{env, path::Path, process::ExitCode};

#[path = "fdl-build-dataset-json.rs"]
mod build_dataset_json;
#[path = "fdl-build-files-json.rs"]
mod build_files_json;
#[path = "fdl-check-version.rs"]
mod check_version;
#[path = "fdl-close-catalog.rs"]
mod close_catalog;
#[path = "fdl-diff-catalog.rs"]
mod diff_catalog;
#[path = "fdl-freeze-catalog.rs"]
mod freeze_catalog;
#[path = "fdl-fsck.rs"]
mod fsck;
#[path = "fdl-ls-files.rs"]
mod ls_files;
#[path = "fdl-thaw-catalog.rs"]
mod thaw_catalog;

fn main() -> ExitCode {
    let name = env::args_os().next().unwrap_or_default();
    match Path::new(&name).file_name().and_then(|name| name.to_str()) {
        Some("fdl-build-dataset-json") => build_dataset_json::main(),
        Some("fdl-build-files-json") => build_files_json::main(),
        Some("fdl-check-version") => check_version::main(),
        Some("fdl-close-catalog") => close_catalog::main(),
        Some("fdl-diff-catalog") => diff_catalog::main(),
        Some("fdl-freeze-catalog") => freeze_catalog::main(),
        Some("fdl-fsck") => fsck::main(),
        Some("fdl-ls-files") => ls_files::main(),
        Some("fdl-thaw-catalog") => thaw_catalog::main(),
        _ => {
            fdl::cli::note("fatal: fdl-catalog is run under the name of one of its commands\n");
            ExitCode::from(fdl::Kind::Usage.exit_code())
        }
    }
}
