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
use hcp_spec::manifest::{Kind, Manifest};
use hcp_spec::name::Capability;
use hcp_store::{CapabilityUsers, InstalledPack, PackRoot, StoreError};

use super::{Operator, Subject};
use crate::bins;
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

/// A pack in a folder, read once: what is judged, shown and pinned is the same.
#[derive(Debug)]
pub(super) struct Candidate {
    folder: PathBuf,
    pub(super) tree: Tree,
    pub(super) manifest: Manifest,
    source: SourceFile,
}

impl Candidate {
    pub(super) fn read(given: &Path) -> Result<Self, CoreError> {
        let folder = given
            .canonicalize()
            .map_err(|error| CoreError::NotAllowed {
                what: format!("the pack folder `{}`: {error}", given.display()),
                hint: "name the folder that holds hcp.toml or hcp.json".to_owned(),
            })?;
        let source = manifest_source(&folder)?.shown_in(given);
        Ok(Self {
            tree: Tree::scan(&folder)?,
            manifest: parse_manifest(&source)?,
            source,
            folder,
        })
    }

    pub(super) fn id(&self) -> &str {
        self.manifest.id.as_str()
    }

    /// Whether these bytes are installed, from the same place.
    pub(super) fn is_installed_as(&self, installed: &InstalledPack, options: &AddOptions) -> bool {
        let same_root = match &installed.root {
            PackRoot::Pinned => !options.link,
            PackRoot::Linked(path) => options.link && *path == self.folder,
        };
        installed.digest == self.tree.digest() && same_root
    }
}

impl Operator<'_> {
    /// Adds the pack in `folder`.
    ///
    /// # Errors
    /// When it does not read, is a pass-through (§6.7), is installed with other bytes, names a
    /// capability that is in use and not shared, or has a composite that reaches too far (§6.6).
    pub fn add_pack(&self, folder: &Path, options: &AddOptions) -> Result<AddedPack, CoreError> {
        let candidate = Candidate::read(folder)?;
        let installed = self.runtime.store().pack(candidate.id())?;
        if let Some(installed) = &installed
            && !candidate.is_installed_as(installed, options)
        {
            return Err(CoreError::OtherBytes {
                id: candidate.id().to_owned(),
            });
        }
        let already_there =
            installed.is_some_and(|installed| installed.allow_bins == options.allow_bins);
        self.put(candidate, options, already_there, None)
    }

    /// Checks, pins and installs a candidate, in the place of another when there is one.
    pub(super) fn put(
        &self,
        candidate: Candidate,
        options: &AddOptions,
        already_there: bool,
        replaced: Option<&InstalledPack>,
    ) -> Result<AddedPack, CoreError> {
        let Candidate {
            folder,
            tree,
            manifest,
            source,
        } = candidate;
        let digest = tree.digest().to_owned();
        self.check_capabilities(&manifest, options)?;
        self.check_composites(&Arc::new(LoadedPack::before_adding(&manifest)))?;
        let root = if options.link {
            folder
        } else {
            self.pin(&tree, &digest)?
        };
        let warnings = self.all_warnings(&manifest, &source, &root, options);
        if !already_there {
            self.install(&manifest, &digest, &root, options, replaced)?;
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
        self.unpin(&pack);
        Ok(())
    }

    /// Removes the copy of a pack that is no longer installed. What is left over of one does no harm
    /// and is taken up by a later add.
    pub(super) fn unpin(&self, pack: &InstalledPack) {
        if matches!(pack.root, PackRoot::Pinned) {
            let _ = remove_copy(&self.runtime.home().pinned_pack(&pack.digest));
        }
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
        replaced: Option<&InstalledPack>,
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
        for (what, words) in [
            ("bins", &options.allow_bins),
            ("sharing", &options.share_capabilities),
        ] {
            if !words.is_empty() {
                detail = format!("{detail}, {what} {}", words.join(" "));
            }
        }
        if options.link {
            detail = format!("{detail}, linked to {}", root.display());
        }
        if let Some(replaced) = replaced {
            detail = format!("{detail}, in the place of {}", replaced.digest);
        }
        let subject = Subject {
            pack_id: Some(id),
            digest: Some(digest),
            detail,
            ..Subject::default()
        };
        let own = replaced
            .map(|pack| pack.capabilities.clone())
            .unwrap_or_default();
        let added = self.change("pack add", &subject, |changes| {
            // Judged again where nobody can come in between.
            refuse_inherited(manifest, options, &own, |word| {
                changes.capability_users(word)
            })?;
            if replaced.is_some() {
                changes.remove_pack(id)?;
            }
            changes.add_pack(&pack)
        });
        added.map_err(|error| match error {
            CoreError::Store(error) => in_use(error),
            other => other,
        })
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

    /// Refuses early what the transaction refuses for good.
    fn check_capabilities(
        &self,
        manifest: &Manifest,
        options: &AddOptions,
    ) -> Result<(), CoreError> {
        let store = self.runtime.store();
        let own = store
            .pack(manifest.id.as_str())?
            .map(|pack| pack.capabilities);
        refuse_inherited(manifest, options, &own.unwrap_or_default(), |word| {
            store.capability_users(word)
        })
        .map_err(in_use)
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
        let message = match bins::find(&wrap.bin, root, &options.allow_bins, sandbox) {
            Ok(_) => return all,
            Err(refused) => match refused.detail {
                None => format!("bin `{}` is not allowlisted", wrap.bin),
                Some(detail) => format!("bin `{}` cannot be run: {detail}", wrap.bin),
            },
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

/// A pack must not inherit rights by naming a word that somebody already holds. Those that it had
/// before, `own`, are its own.
fn refuse_inherited(
    manifest: &Manifest,
    options: &AddOptions,
    own: &[Capability],
    users_of: impl Fn(&Capability) -> Result<CapabilityUsers, StoreError>,
) -> Result<(), StoreError> {
    for word in capabilities(manifest) {
        if options
            .share_capabilities
            .iter()
            .any(|shared| shared == word.as_str())
        {
            continue;
        }
        let users = users_of(word)?;
        let by = match users.packs.iter().find(|pack| **pack != manifest.id) {
            Some(pack) => Some(format!("pack `{pack}`")),
            None if own.contains(word) => None,
            None => users
                .grants
                .first()
                .map(|grant| format!("a grant of `{}` to `{}`", grant.capability, grant.principal)),
        };
        if let Some(by) = by {
            return Err(StoreError::CapabilityInUse {
                word: word.as_str().to_owned(),
                by,
            });
        }
    }
    Ok(())
}

fn in_use(error: StoreError) -> CoreError {
    match error {
        StoreError::CapabilityInUse { word, by } => CoreError::CapabilityInUse { word, by },
        other => CoreError::Store(other),
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
