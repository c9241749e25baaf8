//! What the commands of one script tell one another: the `fdl.json` of repositories that each of them opens, which is written
//! once and never changes. The script makes a folder for it and names it in `FDL_OPENED`.

use std::{env, fs, path::PathBuf};

use crate::{digest::Digest, store};

/// The `fdl.json` that another command has read from `url`. A folder is asked itself, which takes less time.
pub(crate) fn known(url: &str) -> Option<Vec<u8>> {
    fs::read(place(url)?).ok()
}

/// Notes it for the commands that follow. Where that fails, they ask themselves.
pub(crate) fn remember(url: &str, bytes: &[u8]) {
    let Some(place) = place(url) else { return };
    let new = place.with_extension(std::process::id().to_string());
    if fs::write(&new, bytes).and_then(|()| fs::rename(&new, place)).is_err() {
        let _ = fs::remove_file(new);
    }
}

fn place(url: &str) -> Option<PathBuf> {
    if store::is_folder(url) {
        return None;
    }
    let folder = env::var_os("FDL_OPENED").filter(|folder| !folder.is_empty())?;
    Some(PathBuf::from(folder).join(Digest::of(url.trim_end_matches('/').as_bytes()).to_string()))
}
