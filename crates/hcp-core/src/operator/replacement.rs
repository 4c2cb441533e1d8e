//! Putting other bytes in the place of an installed pack, once the operator saw in what they differ.
//!
//! What is shown is what is installed: the folder is read once. The old pack goes and the new one
//! comes in one transaction, and no session keeps it, for none was activated with these bytes.

use std::path::Path;

use hcp_pack::{Difference, FileDifference, Tree, differences};
use hcp_store::{InstalledPack, PackRoot};

use super::Operator;
use super::packs::{AddOptions, AddedPack, Candidate};
use crate::error::CoreError;

/// In what a folder differs from the pack that is installed under its id.
#[derive(Debug)]
pub struct PackDifference {
    /// The pack.
    pub pack_id: String,
    /// The installed one.
    pub installed: InstalledPack,
    /// The version that the folder says.
    pub version: String,
    /// SHA-256 of the folder's tree, in hex.
    pub digest: String,
    /// What changes for the operator.
    pub changes: Vec<Difference>,
    /// Files that are others than those installed.
    pub files: Vec<FileDifference>,
}

impl PackDifference {
    /// Whether nothing at all would change.
    pub fn is_none(&self) -> bool {
        self.changes.is_empty() && self.files.is_empty() && self.installed.digest == self.digest
    }
}

impl Operator<'_> {
    /// Compares the pack in `folder` with the installed one.
    ///
    /// # Errors
    /// When it does not read, or its id is not installed or not usable.
    pub fn diff_pack(&self, folder: &Path) -> Result<PackDifference, CoreError> {
        self.difference(&Candidate::read(folder)?)
    }

    /// Puts the pack in `folder` in the place of the installed one, when `accept` says so of the
    /// difference; `None` when it does not. Sessions must activate the pack again.
    ///
    /// # Errors
    /// When it does not read, its id is not installed, or it names a capability that it did not have
    /// before, that is in use, and is not shared.
    pub fn replace_pack(
        &self,
        folder: &Path,
        options: &AddOptions,
        accept: impl FnOnce(&PackDifference) -> bool,
    ) -> Result<Option<AddedPack>, CoreError> {
        let candidate = Candidate::read(folder)?;
        let mut difference = self.difference(&candidate)?;
        difference.compare_options(options);
        let same = candidate.is_installed_as(&difference.installed, options);
        let already_there = same && difference.installed.allow_bins == options.allow_bins;
        if !already_there && !accept(&difference) {
            return Ok(None);
        }
        let digest = candidate.tree.digest().to_owned();
        let replaced = &difference.installed;
        let added = self.put(candidate, options, already_there, Some(replaced))?;
        if replaced.digest != digest {
            self.unpin(replaced);
        }
        Ok(Some(added))
    }

    fn difference(&self, candidate: &Candidate) -> Result<PackDifference, CoreError> {
        let installed = self.installed(candidate.id())?;
        let pack = self.load_pack(candidate.id())?;
        let before = Tree::scan(&pack.root)?;
        Ok(PackDifference {
            pack_id: pack.id,
            installed,
            version: candidate.manifest.version.clone(),
            digest: candidate.tree.digest().to_owned(),
            changes: differences(&pack.manifest, &candidate.manifest),
            files: candidate.tree.differences_from(&before),
        })
    }
}

impl PackDifference {
    /// Adds what the operator changes beside the bytes.
    fn compare_options(&mut self, options: &AddOptions) {
        let before = &self.installed.allow_bins;
        let changed = |bin: &String, added: bool| Difference {
            about: "bins allowed by you".to_owned(),
            before: (!added).then(|| bin.clone()),
            after: added.then(|| bin.clone()),
            widens: added,
        };
        let gone = before
            .iter()
            .filter(|bin| !options.allow_bins.contains(bin));
        let new = options
            .allow_bins
            .iter()
            .filter(|bin| !before.contains(bin));
        let bins: Vec<_> = gone
            .map(|bin| changed(bin, false))
            .chain(new.map(|bin| changed(bin, true)))
            .collect();
        self.changes.extend(bins);
        let linked = matches!(self.installed.root, PackRoot::Linked(_));
        if linked != options.link {
            let word = |linked: bool| {
                let text = if linked {
                    "its author's folder"
                } else {
                    "a pinned copy"
                };
                Some(text.to_owned())
            };
            self.changes.push(Difference {
                about: "runs from".to_owned(),
                before: word(linked),
                after: word(options.link),
                widens: options.link,
            });
        }
    }
}
