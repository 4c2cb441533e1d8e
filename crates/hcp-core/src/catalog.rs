//! Installed packs, ready to be called: manifest read, commands compiled on first use.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hcp_pack::{Identity, PackError, PreparedCommand, Tree, read_checked_manifest, read_manifest};
use hcp_spec::Refusal;
use hcp_spec::manifest::{Kind, Manifest};
use hcp_store::{InstalledPack, PackRoot};

use crate::composite::Plan;
use crate::home::Home;

/// A pack as calls see it.
#[derive(Debug)]
pub struct LoadedPack {
    /// Its id.
    pub id: String,
    /// SHA-256 of its whole tree, in hex, when it was added.
    pub digest: String,
    /// The folder its bin and its children stand in.
    pub root: PathBuf,
    /// What its author wrote.
    pub manifest: Manifest,
    /// Bins that the operator allowed this pack alone.
    pub allow_bins: Vec<String>,
    linked: bool,
    /// What the files looked like when their digest was last known to be right.
    /// `None` for a pack that is only judged, not installed.
    identity: Option<Identity>,
    prepared: Vec<OnceLock<Arc<PreparedCommand>>>,
    plans: Vec<OnceLock<Arc<Plan>>>,
}

/// Why a pack cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// Its bytes are not there, not readable, or not those that were added.
    Pack(String),
    /// The store could not tell.
    Store(Refusal),
}

impl LoadedPack {
    /// Reads the pack and makes sure of its bytes. Files that look the way they did when they were
    /// hashed are not hashed again.
    pub(crate) fn load(row: &InstalledPack, home: &Home) -> Result<Self, Unusable> {
        let (root, linked) = match &row.root {
            PackRoot::Pinned => (home.pinned_pack(&row.digest), false),
            PackRoot::Linked(path) => (path.clone(), true),
        };
        let identity = look(&root)?;
        if !linked && identity.text() != row.identity {
            rehash(&root, &row.digest)?;
        }
        // The bytes of a pinned pack were checked when it was added.
        let read = if linked {
            read_manifest
        } else {
            read_checked_manifest
        };
        let manifest = read(&root).map_err(|error| Unusable::Pack(error.to_string()))?;
        if !identity.still_stands(&root) {
            return Err(Unusable::Pack("it changed while it was read".to_owned()));
        }
        if manifest.id != row.id {
            return Err(Unusable::Pack(format!(
                "its manifest now says it is `{}`",
                manifest.id
            )));
        }
        Ok(Self {
            id: row.id.to_string(),
            digest: row.digest.clone(),
            prepared: slots(&manifest),
            plans: slots(&manifest),
            root,
            manifest,
            allow_bins: row.allow_bins.clone(),
            linked,
            identity: Some(identity),
        })
    }

    /// A pack that is about to be added, for judging what it would reach; nothing of it can be run.
    pub(crate) fn before_adding(manifest: &Manifest) -> Self {
        Self {
            id: manifest.id.to_string(),
            digest: String::new(),
            prepared: slots(manifest),
            plans: slots(manifest),
            root: PathBuf::new(),
            manifest: manifest.clone(),
            allow_bins: Vec::new(),
            linked: false,
            identity: None,
        }
    }

    /// Whether the pack runs from where its author works, unpinned.
    pub const fn is_linked(&self) -> bool {
        self.linked
    }

    /// Whether the files still look as they did when this was loaded; a pack that does not is
    /// loaded anew.
    pub(crate) fn is_current(&self) -> bool {
        self.identity
            .as_ref()
            .is_some_and(|identity| identity.still_stands(&self.root))
    }

    /// How the files look, when that is not what the store remembers of them.
    pub(crate) fn unremembered(&self, row: &InstalledPack) -> Option<String> {
        let looks = self.identity.as_ref()?.text();
        (!self.linked && looks != row.identity).then_some(looks)
    }

    /// The compiled command, compiled on first use.
    ///
    /// # Errors
    /// When the pack has no such command, or it does not compile.
    pub fn prepared(&self, verb_key: &str) -> Result<Arc<PreparedCommand>, PackError> {
        let slot = self
            .manifest
            .commands
            .get_index_of(verb_key)
            .and_then(|index| self.prepared.get(index));
        if let Some(command) = slot.and_then(OnceLock::get) {
            return Ok(command.clone());
        }
        let command = Arc::new(PreparedCommand::prepare(&self.manifest, verb_key)?);
        Ok(slot.map_or(command.clone(), |slot| slot.get_or_init(|| command).clone()))
    }

    /// The compiled plan of a composite, compiled on first use (§6.6).
    ///
    /// # Errors
    /// When the pack has no such command, or its plan does not compile.
    pub(crate) fn plan(&self, verb_key: &str) -> Result<Arc<Plan>, PackError> {
        let commands = &self.manifest.commands;
        let (Some(index), Some(command)) =
            (commands.get_index_of(verb_key), commands.get(verb_key))
        else {
            return Err(PackError::NoCommand {
                pack_id: self.id.clone(),
                verb_key: verb_key.to_owned(),
            });
        };
        let slot = self.plans.get(index);
        if let Some(plan) = slot.and_then(OnceLock::get) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(Plan::compile(verb_key, command)?);
        Ok(slot.map_or(plan.clone(), |slot| slot.get_or_init(|| plan).clone()))
    }

    /// The keys of the commands of kind `composite`.
    pub(crate) fn composites(&self) -> impl Iterator<Item = &str> {
        let commands = self.manifest.commands.iter();
        commands
            .filter(|(_, command)| *self.manifest.kind_of(command) == Kind::Composite)
            .map(|(key, _)| key.as_str())
    }
}

fn slots<T>(manifest: &Manifest) -> Vec<OnceLock<T>> {
    manifest.commands.iter().map(|_| OnceLock::new()).collect()
}

fn look(root: &std::path::Path) -> Result<Identity, Unusable> {
    Identity::take(root).map_err(|error| {
        Unusable::Pack(format!(
            "its folder {} cannot be read: {error}",
            root.display()
        ))
    })
}

fn rehash(root: &std::path::Path, digest: &str) -> Result<(), Unusable> {
    let tree = Tree::scan(root).map_err(|error| Unusable::Pack(error.to_string()))?;
    if tree.digest() == digest {
        return Ok(());
    }
    Err(Unusable::Pack(format!(
        "its bytes changed: {digest} was added, {} is there now",
        tree.digest()
    )))
}
