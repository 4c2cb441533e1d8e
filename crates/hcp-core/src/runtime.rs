//! The runtime: one opened installation, ready for calls.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hcp_sandbox::{Demand, check_private};
use hcp_spec::Refusal;
use hcp_spec::envelope::InvalidEnvelope;
use hcp_spec::name::PrincipalName;
use hcp_store::{Store, StoreError};

use crate::answer::Answer;
use crate::call::Call;
use crate::catalog::LoadedPack;
use crate::error::CoreError;
use crate::explanation::Explanation;
use crate::home::Home;
use crate::pipeline::{self, Refused};
use crate::scratch::{self, RuntimeScratch};
use crate::settings::Settings;
use crate::view::View;

/// One opened installation. Calls may come from several threads.
pub struct Runtime {
    home: Home,
    settings: Arc<Settings>,
    store: Arc<Mutex<Store>>,
    id: String,
    scratch: Arc<RuntimeScratch>,
    view: Mutex<Option<Arc<View>>>,
}

impl Runtime {
    /// Opens an installation: its folder must be nobody else's to write, its config must read, its
    /// store must be there. Calls that a dead runtime left open are closed as interrupted, and their
    /// folders cleared away.
    ///
    /// # Errors
    /// [`CoreError`], naming what stands in the way.
    pub fn open(home: Home, floor: Option<&Path>) -> Result<Self, CoreError> {
        check_home(&home)?;
        let settings = Settings::read(&home, floor)?;
        let mut store = Store::open(&settings.store_file(&home)?, &home.locks())?;
        store.recover()?;
        scratch::clear(&home.scratch());
        Ok(Self {
            scratch: Arc::new(RuntimeScratch::new(&home.scratch(), store.runtime_id())),
            home,
            settings: Arc::new(settings),
            id: store.runtime_id().to_owned(),
            store: Arc::new(Mutex::new(store)),
            view: Mutex::new(None),
        })
    }

    /// Takes a call through the nine steps and answers it (§6.3).
    pub fn exec(&self, call: Call) -> Answer {
        match self.view() {
            Ok(view) => pipeline::exec(self, &view, call),
            Err(error) => Answer::store_failed(&call, &Refusal::Store(error.to_string())),
        }
    }

    /// Takes a call through steps 1 to 6 and no further, unrecorded: for measuring them.
    ///
    /// # Errors
    /// The refusal.
    #[doc(hidden)]
    pub fn decide(&self, call: Call) -> Result<(), Refused> {
        let view = self
            .view()
            .map_err(|error| Refusal::Store(error.to_string()))?;
        pipeline::decide_only(&view, call)
    }

    /// Answers and records a text that was no envelope.
    pub fn refuse_invalid(&self, invalid: &InvalidEnvelope, principal: &PrincipalName) -> Answer {
        pipeline::record_invalid(self, invalid, principal)
    }

    /// Evaluates steps 1 to 6 for a call; nothing is minted and nothing runs.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub fn explain(&self, call: Call) -> Result<Explanation, CoreError> {
        let view = self.view()?;
        Ok(pipeline::explain(self, &view, call))
    }

    /// The pack, when it can be used now: for faces that read arguments or show commands by its
    /// manifest. Whether a call may use it is for step 1 to say.
    pub fn pack(&self, id: &str) -> Option<Arc<LoadedPack>> {
        self.view().ok()?.pack(id).ok().flatten()
    }

    /// What calls see now. As long as nothing but the audit trail changed, it is the same view.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub fn view(&self) -> Result<Arc<View>, StoreError> {
        let generation = self.store().generation()?;
        let mut slot = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = slot.as_ref().filter(|view| view.generation == generation) {
            return Ok(view.clone());
        }
        let view = View::new(
            self.home.clone(),
            self.settings.clone(),
            self.store.clone(),
            self.scratch.clone(),
            generation,
        );
        Ok(slot.insert(Arc::new(view)).clone())
    }

    /// The store, for one use; do not hold it over a call.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the folder of this runtime's calls, when they have ended. For a process that ends while
    /// some thread may still hold the runtime; otherwise it goes with it.
    pub fn leave(&self) {
        self.scratch.leave();
    }

    /// The folders of the installation.
    pub const fn home(&self) -> &Home {
        &self.home
    }

    /// The operator's config as it takes effect.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What this runtime's records are told apart by.
    pub fn runtime_id(&self) -> &str {
        &self.id
    }
}

/// Opens the store of an installation to read its trail. Nothing is written and no runtime begins,
/// so this works where nothing can be written.
///
/// # Errors
/// As [`Runtime::open`].
pub fn open_to_read(home: &Home, floor: Option<&Path>) -> Result<Store, CoreError> {
    check_home(home)?;
    let settings = Settings::read(home, floor)?;
    Ok(Store::open_to_read(&settings.store_file(home)?)?)
}

/// The folders of an installation must be nobody else's to write.
pub(crate) fn check_home(home: &Home) -> Result<(), CoreError> {
    if !home.data_folder().exists() {
        return Err(CoreError::NoHome {
            path: home.data_folder().to_owned(),
        });
    }
    check_private(home.data_folder(), "home", Demand::NotWritableByOthers)?;
    for folder in [home.packs(), home.locks(), home.scratch(), home.state()] {
        if folder.exists() {
            check_private(&folder, "folder of the home", Demand::NotWritableByOthers)?;
        }
    }
    if home.config_folder().exists() {
        check_private(
            home.config_folder(),
            "config folder",
            Demand::NotWritableByOthers,
        )?;
    }
    Ok(())
}
