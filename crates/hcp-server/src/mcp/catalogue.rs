//! What the session can call: its activated packs, read as they are needed.

use std::sync::Arc;

use hcp_core::{LoadedPack, Runtime};
use hcp_spec::name::VerbKey;
use hcp_store::{Session, StoreError};

use super::names::tool_names;
use crate::host::Host;

/// The activated packs of the session that is served.
pub(super) struct Catalogue {
    runtime: Arc<Runtime>,
    pub(super) session: Option<Session>,
}

/// A command that can be called, and the name of its tool.
pub(super) struct Callable {
    pub(super) name: String,
    pub(super) pack: Arc<LoadedPack>,
    pub(super) verb_key: VerbKey,
}

impl Catalogue {
    /// What the session runs now.
    ///
    /// # Errors
    /// One line, when the installation cannot be read.
    pub(super) fn of(host: &Host) -> Result<Self, String> {
        let runtime = host.runtime()?;
        let session = session(host, &runtime).map_err(|error| error.to_string())?;
        Ok(Self { runtime, session })
    }

    /// The commands with a Policy entry, pack by pack; the others can never run (§6.7). A pack is
    /// read when it is its turn, so that looking at a few of many is cheap.
    pub(super) fn callables(&self) -> impl Iterator<Item = Callable> + '_ {
        let active = self.session.iter().flat_map(|session| &session.packs);
        active.flat_map(|active| {
            let pack = self
                .runtime
                .pack(active.pack_id.as_str())
                .filter(|pack| pack.is_linked() || pack.digest == active.digest);
            pack.iter().flat_map(callables_of).collect::<Vec<_>>()
        })
    }

    /// The installation that this was read from.
    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

/// The commands of a pack that can be called, in the order of its manifest.
fn callables_of(pack: &Arc<LoadedPack>) -> Vec<Callable> {
    let names = tool_names(&pack.manifest);
    names
        .into_iter()
        .filter(|(_, verb_key)| pack.manifest.policy.contains_key(verb_key.as_str()))
        .map(|(name, verb_key)| Callable {
            name,
            pack: pack.clone(),
            verb_key: verb_key.clone(),
        })
        .collect()
}

fn session(host: &Host, runtime: &Runtime) -> Result<Option<Session>, StoreError> {
    let store = runtime.store();
    let found = match host.session() {
        Some(id) => store.session(id)?,
        None => store.default_session(host.principal().as_str())?,
    };
    Ok(found.filter(|session| !session.closed && session.principal == *host.principal()))
}
