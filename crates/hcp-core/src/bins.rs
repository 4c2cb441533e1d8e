//! The bin of a pack: where it is looked for, who allows it, and what is said when it may not run.

use std::path::Path;

use hcp_sandbox::{BinError, BinSearch, CheckedBin, check_bin};
use hcp_spec::Refusal;

use crate::pipeline::Refused;
use crate::settings::SandboxSettings;

/// Finds a bin, as the manifest of the pack at `root` writes it, which `own` allows beside what the operator allows everybody.
///
/// # Errors
/// The refusal of step 8, with what only the operator may read.
pub(crate) fn find(
    bin: &str,
    root: &Path,
    own: &[String],
    sandbox: &SandboxSettings,
) -> Result<CheckedBin, Refused> {
    let own = if sandbox.own_bins { own } else { &[] };
    let allowed: Vec<String> = sandbox.allow_bins.iter().chain(own).cloned().collect();
    let search = BinSearch {
        pack_root: root,
        path: &sandbox.path,
        allowed: &allowed,
    };
    let written = || bin.to_owned();
    check_bin(bin, &search).map_err(|error| match error {
        BinError::NotAllowlisted => Refusal::BinNotAllowlisted(written()).into(),
        BinError::NotFound { detail } => Refused::because(Refusal::BinNotFound(written()), detail),
        BinError::Unfit { detail } => {
            Refused::because(Refusal::BinNotAllowlisted(written()), detail)
        }
    })
}
