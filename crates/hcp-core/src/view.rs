//! What one call sees of the installation: settings, packs, sessions, Principals, grants.
//!
//! Everything is read through here and kept for as long as the store's generation stays the same, so
//! that a serving process answers from memory and still sees every change from the next call on.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use hcp_sandbox::{LevelCache, available_level};
use hcp_spec::Refusal;
use hcp_spec::config::{Level, Mode};
use hcp_spec::manifest::Sandbox;
use hcp_spec::name::{Capability, CapabilityPattern, ProjectId};
use hcp_store::{Session, Store, StoreError};

use crate::call::Call;
use crate::catalog::{LoadedPack, Unusable};
use crate::home::Home;
use crate::scratch::RuntimeScratch;
use crate::settings::Settings;

/// What calls see; shared by all calls of one generation of the store.
pub struct View {
    /// The folders of the installation.
    pub home: Home,
    /// The operator's config.
    pub settings: Arc<Settings>,
    pub(crate) generation: u64,
    store: Arc<Mutex<Store>>,
    scratch: Arc<RuntimeScratch>,
    packs: Memory<String, Option<Arc<LoadedPack>>>,
    sessions: Memory<String, Option<Arc<Session>>>,
    default_sessions: Memory<String, Option<Arc<Session>>>,
    principals: Memory<String, bool>,
    tenants: Memory<String, bool>,
    tenant_count: Memory<(), u64>,
    projects: Memory<(String, String), bool>,
    grants: Memory<(String, String), Arc<Grants>>,
}

type Memory<K, V> = Mutex<HashMap<K, V>>;

/// The grants of one Principal in one tenant, by what they name, so that looking one up does not
/// depend on how many there are.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    by_pattern: HashMap<String, Vec<Option<String>>>,
}

impl Grants {
    /// Whether one of them covers the capability in this project. `*` never covers a destructive
    /// verb.
    pub(crate) fn covers(
        &self,
        capability: &Capability,
        project: Option<&str>,
        destructive: bool,
    ) -> bool {
        let holds = |pattern: &str| {
            let reaches =
                |granted: &Option<String>| granted.is_none() || granted.as_deref() == project;
            self.by_pattern
                .get(pattern)
                .is_some_and(|projects| projects.iter().any(reaches))
        };
        let text = capability.as_str();
        let prefixes = text
            .match_indices(':')
            .map(|(at, _)| text.get(..at).unwrap_or_default());
        holds(text)
            || (!destructive && holds("*"))
            || prefixes
                .into_iter()
                .any(|words| holds(&format!("{words}:*")))
    }

    fn insert(&mut self, pattern: &CapabilityPattern, project: Option<&ProjectId>) {
        self.by_pattern
            .entry(pattern.as_str().to_owned())
            .or_default()
            .push(project.map(ToString::to_string));
    }
}

impl View {
    pub(crate) fn new(
        home: Home,
        settings: Arc<Settings>,
        store: Arc<Mutex<Store>>,
        scratch: Arc<RuntimeScratch>,
        generation: u64,
    ) -> Self {
        Self {
            home,
            settings,
            generation,
            store,
            scratch,
            packs: Memory::default(),
            sessions: Memory::default(),
            default_sessions: Memory::default(),
            principals: Memory::default(),
            tenants: Memory::default(),
            tenant_count: Memory::default(),
            projects: Memory::default(),
            grants: Memory::default(),
        }
    }

    /// The folder in which the calls of this runtime have their own.
    pub(crate) fn scratch(&self) -> std::io::Result<&std::path::Path> {
        self.scratch.folder()
    }

    /// The pack with this id, its bytes made sure of.
    pub(crate) fn pack(&self, id: &str) -> Result<Option<Arc<LoadedPack>>, Unusable> {
        if let Some(known) = recall(&self.packs, id) {
            match known {
                Some(pack) if pack.is_current() => return Ok(Some(pack)),
                None => return Ok(None),
                Some(_) => {}
            }
        }
        let row = self.ask(|store| store.pack(id)).map_err(Unusable::Store)?;
        let pack = match row {
            Some(row) => {
                let pack = LoadedPack::load(&row, &self.home)?;
                if let Some(looks) = pack.unremembered(&row) {
                    self.remember_identity(&pack, &looks);
                }
                Some(Arc::new(pack))
            }
            None => None,
        };
        remember(&self.packs, id.to_owned(), pack.clone());
        Ok(pack)
    }

    /// Spares the next start from hashing again. Where it cannot be written, it is hashed again.
    fn remember_identity(&self, pack: &LoadedPack, looks: &str) {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = store.remember_identity(&pack.id, &pack.digest, looks) {
            tracing::warn!(pack = %pack.id, %error, "identity not remembered");
        }
    }

    /// The session of this call: the one it names, else the default one of its Principal.
    pub(crate) fn session_of(&self, call: &Call) -> Result<Option<Arc<Session>>, Refusal> {
        if let Some(id) = &call.session {
            self.recall_or(&self.sessions, id.as_str(), |store| {
                Ok(store.session(id)?.map(Arc::new))
            })
        } else {
            let principal = call.principal.as_str();
            self.recall_or(&self.default_sessions, principal, |store| {
                Ok(store.default_session(principal)?.map(Arc::new))
            })
        }
    }

    pub(crate) fn principal_stands(&self, name: &str) -> Result<bool, Refusal> {
        self.recall_or(&self.principals, name, |store| {
            Ok(store.principal(name)?.is_some())
        })
    }

    pub(crate) fn tenant_stands(&self, id: &str) -> Result<bool, Refusal> {
        self.recall_or(&self.tenants, id, |store| Ok(store.tenant(id)?.is_some()))
    }

    pub(crate) fn tenant_count(&self) -> Result<u64, Refusal> {
        self.recall_or(&self.tenant_count, &(), Store::tenant_count)
    }

    pub(crate) fn project_stands(&self, tenant: &str, id: &str) -> Result<bool, Refusal> {
        let key = (tenant.to_owned(), id.to_owned());
        self.recall_or(&self.projects, &key, |store| {
            Ok(store.project(tenant, id)?.is_some())
        })
    }

    /// Whether everything that a session belongs to is still there.
    pub(crate) fn surroundings_stand(&self, session: &Session) -> Result<bool, Refusal> {
        let tenant = session.tenant_id.as_str();
        let project = match &session.project_id {
            Some(project) => self.project_stands(tenant, project.as_str())?,
            None => true,
        };
        Ok(project
            && self.tenant_stands(tenant)?
            && self.principal_stands(session.principal.as_str())?)
    }

    pub(crate) fn grants(&self, principal: &str, tenant: &str) -> Result<Arc<Grants>, Refusal> {
        let key = (principal.to_owned(), tenant.to_owned());
        self.recall_or(&self.grants, &key, |store| {
            let mut grants = Grants::default();
            for grant in store.grants_of(principal, tenant)? {
                grants.insert(&grant.capability, grant.project_id.as_ref());
            }
            Ok(Arc::new(grants))
        })
    }

    /// Which wishes of a pack the mode of this installation does not enforce.
    pub(crate) fn unenforced(&self, sandbox: &Sandbox) -> Vec<&'static str> {
        match self.settings.sandbox.mode {
            Mode::NativeLocal => hcp_sandbox::unenforced(sandbox),
            Mode::Sandbox => {
                let cache = self.home.isolation_file();
                match available_level(LevelCache::Read(&cache)).level {
                    Level::None => hcp_sandbox::unenforced(sandbox),
                    level => hcp_sandbox::unenforced_in_jail(level),
                }
            }
        }
    }

    fn recall_or<K, Q, V>(
        &self,
        memory: &Memory<K, V>,
        key: &Q,
        ask: impl FnOnce(&Store) -> Result<V, StoreError>,
    ) -> Result<V, Refusal>
    where
        K: Eq + Hash + std::borrow::Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        V: Clone,
    {
        if let Some(known) = recall(memory, key) {
            return Ok(known);
        }
        let found = self.ask(ask)?;
        remember(memory, key.to_owned(), found.clone());
        Ok(found)
    }

    fn ask<V>(&self, ask: impl FnOnce(&Store) -> Result<V, StoreError>) -> Result<V, Refusal> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&store).map_err(|error| Refusal::Store(error.to_string()))
    }
}

fn recall<K, Q, V>(memory: &Memory<K, V>, key: &Q) -> Option<V>
where
    K: Eq + Hash + std::borrow::Borrow<Q>,
    Q: Eq + Hash + ?Sized,
    V: Clone,
{
    memory
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(key)
        .cloned()
}

/// What nobody has is remembered too, so a flood of made-up names must not fill the memory.
fn remember<K: Eq + Hash, V>(memory: &Memory<K, V>, key: K, value: V) {
    const MOST: usize = 100_000;
    let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
    if memory.len() >= MOST {
        memory.clear();
    }
    memory.insert(key, value);
}
