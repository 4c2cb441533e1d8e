//! Adding, removing and looking at packs.
//!
//! A pack is copied into the home under the digest of its whole tree and pinned to it; what was read
//! and checked is what was copied, since the copy is read back before it counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hcp_pack::{
    Identity, SourceFile, Tree, Warning, manifest_source, parse_manifest, remove_copy, warnings_in,
};
use hcp_sandbox::{BinError, BinSearch, check_bin};
use hcp_spec::manifest::{Kind, Manifest};
use hcp_spec::name::Capability;
use hcp_store::{InstalledPack, PackRoot};

use super::{Operator, Subject};
use crate::catalog::{LoadedPack, Unusable};
use crate::error::CoreError;

/// How a pack is to be added.
#[derive(Clone, Debug, Default)]
pub struct AddOptions {
    /// Bins that this pack alone may use beside its own.
    pub allow_bins: Vec<String>,
    /// Capability words that it may share with others.
    pub share_capabilities: Vec<String>,
    /// Run it from where it is, unpinned.
    pub link: bool,
}

/// A pack that was added.
#[derive(Debug)]
pub struct AddedPack {
    /// What its author wrote.
    pub manifest: Manifest,
    /// SHA-256 of its tree, in hex.
    pub digest: String,
    /// Whether these very bytes were installed already.
    pub already_there: bool,
    /// What its author or the operator may want to look at; nothing of it blocks.
    pub warnings: Vec<Warning>,
}

impl Operator<'_> {
    /// Adds the pack in `folder`.
    ///
    /// # Errors
    /// When it does not read, is a pass-through (§6.7), is installed with other bytes, names a
    /// capability that is in use and not shared, or has a composite that reaches too far (§6.6).
    pub fn add_pack(&self, folder: &Path, options: &AddOptions) -> Result<AddedPack, CoreError> {
        let given = folder;
        let folder = given
            .canonicalize()
            .map_err(|error| CoreError::NotAllowed {
                what: format!("the pack folder `{}`: {error}", given.display()),
                hint: "name the folder that holds hcp.toml or hcp.json".to_owned(),
            })?;
        let tree = Tree::scan(&folder)?;
        let source = manifest_source(&folder)?.shown_in(given);
        let manifest = parse_manifest(&source)?;
        let digest = tree.digest().to_owned();
        let installed = self.runtime.store().pack(manifest.id.as_str())?;
        if let Some(installed) = &installed {
            let same_root = match &installed.root {
                PackRoot::Pinned => !options.link,
                PackRoot::Linked(path) => options.link && *path == folder,
            };
            if installed.digest != digest || !same_root {
                return Err(CoreError::OtherBytes {
                    id: manifest.id.as_str().to_owned(),
                });
            }
        }
        let already_there =
            installed.is_some_and(|installed| installed.allow_bins == options.allow_bins);
        self.check_capabilities(&manifest, options)?;
        self.check_composites(&Arc::new(LoadedPack::before_adding(&manifest)))?;
        let root = if options.link {
            folder.clone()
        } else {
            self.pin(&tree, &digest)?
        };
        let warnings = self.all_warnings(&manifest, &source, &root, options);
        if !already_there {
            self.install(&manifest, &digest, &root, options)?;
        }
        Ok(AddedPack {
            manifest,
            digest,
            already_there,
            warnings,
        })
    }

    /// Removes a pack. Records, sessions and grants that name it stay.
    ///
    /// # Errors
    /// [`CoreError::Missing`] when it is not installed.
    pub fn remove_pack(&self, id: &str) -> Result<(), CoreError> {
        let pack = self.installed(id)?;
        let subject = Subject {
            pack_id: Some(id),
            digest: Some(&pack.digest),
            ..Subject::default()
        };
        self.change("pack remove", &subject, |changes| changes.remove_pack(id))?;
        if matches!(pack.root, PackRoot::Pinned) {
            // What is left over of an unpinned copy does no harm and is taken up by a later add.
            let _ = remove_copy(&self.runtime.home().pinned_pack(&pack.digest));
        }
        Ok(())
    }

    /// An installed pack, its bytes made sure of.
    ///
    /// # Errors
    /// When it is not installed, or its bytes are no longer those that were added.
    pub fn load_pack(&self, id: &str) -> Result<LoadedPack, CoreError> {
        let row = self.installed(id)?;
        LoadedPack::load(&row, self.runtime.home()).map_err(|unusable| match unusable {
            Unusable::Pack(detail) => CoreError::NotAllowed {
                what: format!("pack `{id}` is not usable: {detail}"),
                hint: format!("`hcp pack remove {id}`, look at what changed, and add it again"),
            },
            Unusable::Store(refusal) => CoreError::Internal(refusal.to_string()),
        })
    }

    /// The row of an installed pack.
    ///
    /// # Errors
    /// [`CoreError::Missing`], with the nearest id there is.
    pub fn installed(&self, id: &str) -> Result<InstalledPack, CoreError> {
        let store = self.runtime.store();
        if let Some(pack) = store.pack(id)? {
            return Ok(pack);
        }
        let ids: Vec<String> = store
            .packs()?
            .iter()
            .map(|pack| pack.id.to_string())
            .collect();
        Err(CoreError::Missing {
            kind: "pack",
            name: id.to_owned(),
            state: "is not installed",
            nearest: hcp_pack::closest(id, ids.iter().map(String::as_str)).map(str::to_owned),
        })
    }

    fn install(
        &self,
        manifest: &Manifest,
        digest: &str,
        root: &Path,
        options: &AddOptions,
    ) -> Result<(), CoreError> {
        let id = manifest.id.as_str();
        let looks = Identity::take(root).map_err(|error| CoreError::Io {
            what: format!("the pack folder `{}` could not be read", root.display()),
            error,
        })?;
        let pack = InstalledPack {
            id: manifest.id.clone(),
            digest: digest.to_owned(),
            version: manifest.version.clone(),
            root: if options.link {
                PackRoot::Linked(root.to_owned())
            } else {
                PackRoot::Pinned
            },
            identity: looks.text(),
            allow_bins: options.allow_bins.clone(),
            capabilities: capabilities(manifest).cloned().collect(),
            added_at: jiff::Timestamp::now().as_millisecond(),
        };
        let mut detail = format!("version {}", manifest.version);
        if !options.allow_bins.is_empty() {
            detail = format!("{detail}, bins {}", options.allow_bins.join(" "));
        }
        let subject = Subject {
            pack_id: Some(id),
            digest: Some(digest),
            detail,
            ..Subject::default()
        };
        self.change("pack add", &subject, |changes| changes.add_pack(&pack))
    }

    /// Copies the tree into the home, unless it is there already, and reads the copy back.
    fn pin(&self, tree: &Tree, digest: &str) -> Result<PathBuf, CoreError> {
        let home = self.runtime.home();
        let pinned = home.pinned_pack(digest);
        let as_added = |root: &Path| Tree::scan(root).is_ok_and(|tree| tree.digest() == digest);
        if as_added(&pinned) {
            return Ok(pinned);
        }
        let failed = |error| CoreError::Io {
            what: format!("the pack could not be copied to `{}`", pinned.display()),
            error,
        };
        let incoming = home
            .packs()
            .join(format!(".incoming-{}", self.runtime.runtime_id()));
        remove_if_there(&incoming).map_err(failed)?;
        tree.copy_to(&incoming)?;
        if !as_added(&incoming) {
            remove_if_there(&incoming).map_err(failed)?;
            return Err(CoreError::NotAllowed {
                what: "the pack changed while it was copied".to_owned(),
                hint: "add it again when nothing writes to its folder".to_owned(),
            });
        }
        if let Err(error) = fs::rename(&incoming, &pinned) {
            if !pinned.exists() {
                return Err(failed(error));
            }
            // Somebody else added it meanwhile, or what is there is not what was added.
            if as_added(&pinned) {
                remove_if_there(&incoming).map_err(failed)?;
            } else {
                remove_if_there(&pinned).map_err(failed)?;
                fs::rename(&incoming, &pinned).map_err(failed)?;
            }
        }
        Ok(pinned)
    }

    /// A new pack must not inherit rights by naming a word that somebody already holds.
    fn check_capabilities(
        &self,
        manifest: &Manifest,
        options: &AddOptions,
    ) -> Result<(), CoreError> {
        let id = manifest.id.as_str();
        let store = self.runtime.store();
        let own = store.pack(id)?.is_some();
        for word in capabilities(manifest) {
            if options
                .share_capabilities
                .iter()
                .any(|shared| shared == word.as_str())
            {
                continue;
            }
            let users = store.capability_users(word)?;
            let by = match users.packs.iter().find(|pack| pack.as_str() != id) {
                Some(pack) => Some(format!("pack `{pack}`")),
                None if own => None,
                None => users.grants.first().map(|grant| {
                    format!("a grant of `{}` to `{}`", grant.capability, grant.principal)
                }),
            };
            if let Some(by) = by {
                return Err(CoreError::CapabilityInUse {
                    word: word.as_str().to_owned(),
                    by,
                });
            }
        }
        Ok(())
    }

    fn all_warnings(
        &self,
        manifest: &Manifest,
        source: &SourceFile,
        root: &Path,
        options: &AddOptions,
    ) -> Vec<Warning> {
        let mut all = warnings_in(source, manifest);
        all.extend(self.composite_warnings(manifest));
        let wraps = manifest
            .commands
            .values()
            .any(|c| *manifest.kind_of(c) == Kind::Wrap);
        let Some(wrap) = manifest.wrap.as_ref().filter(|_| wraps) else {
            return all;
        };
        let sandbox = &self.runtime.settings().sandbox;
        let allowed: Vec<String> = sandbox
            .allow_bins
            .iter()
            .chain(&options.allow_bins)
            .cloned()
            .collect();
        let search = BinSearch {
            pack_root: root,
            path: &sandbox.path,
            allowed: &allowed,
        };
        let message = match check_bin(&wrap.bin, &search) {
            Ok(_) => return all,
            Err(BinError::NotAllowlisted) => format!("bin `{}` is not allowlisted", wrap.bin),
            Err(BinError::NotFound { detail } | BinError::Unfit { detail }) => {
                format!("bin `{}` cannot be run: {detail}", wrap.bin)
            }
        };
        all.push(Warning {
            rule: "bin-unavailable",
            message,
            hint: "calls are refused at step 8 until it can: ship it in the pack, list it in \
                   sandbox.allow_bins, or add the pack with --allow-bin"
                .to_owned(),
            place: None,
        });
        all
    }
}

fn capabilities(manifest: &Manifest) -> impl Iterator<Item = &Capability> {
    let mut seen = std::collections::BTreeSet::new();
    manifest
        .policy
        .values()
        .map(|policy| &policy.capability)
        .filter(move |word| seen.insert(*word))
}

fn remove_if_there(folder: &Path) -> std::io::Result<()> {
    match remove_copy(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
