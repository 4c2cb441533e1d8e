//! What killed runtimes left behind: the folders of calls that never ended.
//!
//! Each runtime keeps those in a folder named after itself, so whoever can tell that it is gone may
//! remove them.

use std::fs;
use std::path::Path;

use hcp_sandbox::remove_tree;
use hcp_store::is_running;

use crate::home::Home;

/// Removes the folders of runtimes that are gone. What cannot be removed stays for the next start;
/// it is in nobody's way.
pub(crate) fn sweep(home: &Home, own: &str) {
    let Ok(entries) = fs::read_dir(home.scratch()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(runtime_id) = name.to_str().filter(|name| *name != own) else {
            continue;
        };
        if matches!(is_running(&home.locks(), runtime_id), Ok(false)) {
            let _ = remove_tree(&entry.path());
        }
    }
}

/// Removes the folder of this runtime, which is empty when its calls have ended.
pub(crate) fn leave(folder: &Path) {
    let _ = fs::remove_dir(folder);
}
