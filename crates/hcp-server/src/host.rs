//! What a face serves: one installation, on behalf of one Principal, in one session.
//!
//! The store is opened once. The operator's config is looked at before every call, and the
//! installation is opened anew when the file is another, so that a tightened policy counts from the
//! next call on, as a revoked grant does. A config that does not read any more refuses every call:
//! going on with the one before could be looser than what the operator meant.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hcp_core::{Answer, Call, Metadata, Runtime};
use hcp_sandbox::Cancel;
use hcp_spec::envelope::{ExecEnvelope, InvalidEnvelope};
use hcp_spec::name::PrincipalName;
use hcp_spec::{ExitStatus, Refusal, ResultEnvelope};

/// Opens the installation once more; the error is one line for the Invoker.
pub type Reopen = Box<dyn Fn() -> Result<Runtime, String> + Send + Sync>;

/// An installation that is served, and on whose behalf.
pub struct Host {
    reopen: Reopen,
    /// The files whose change means opening anew.
    configs: Vec<PathBuf>,
    opened: Mutex<Opened>,
    principal: PrincipalName,
    session: Option<String>,
}

struct Opened {
    runtime: Result<Arc<Runtime>, String>,
    looks: Vec<Look>,
    /// Counts how often it was opened.
    edition: u64,
}

/// What a file looks like from outside; `None` when it is not there.
type Look = Option<(u64, i64, i64, u64)>;

impl Host {
    /// Serves `runtime` to `principal`, in `session` or in its default one. The runtime is opened
    /// anew by `reopen` when one of the files `configs` changes.
    pub fn new(
        runtime: Runtime,
        configs: Vec<PathBuf>,
        reopen: Reopen,
        principal: PrincipalName,
        session: Option<String>,
    ) -> Self {
        let opened = Opened {
            runtime: Ok(Arc::new(runtime)),
            looks: look(&configs),
            edition: 0,
        };
        Self {
            reopen,
            configs,
            opened: Mutex::new(opened),
            principal,
            session,
        }
    }

    /// Who calls.
    pub const fn principal(&self) -> &PrincipalName {
        &self.principal
    }

    /// The session that was named, if one was.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Takes a call through the nine steps and answers it, whatever happens (§6.3).
    pub fn exec(&self, envelope: ExecEnvelope, cancel: Cancel) -> Answer {
        let ids = (envelope.pack_id.clone(), envelope.verb_key.clone());
        let answer = self.with_runtime(&ids.0, &ids.1, |runtime| {
            let session = self.session.clone();
            runtime.exec(Call::new(envelope, self.principal.clone(), session, cancel))
        });
        warn(&answer);
        answer
    }

    /// Records and answers what was no envelope.
    pub fn refuse(&self, invalid: &InvalidEnvelope) -> Answer {
        self.with_runtime(&invalid.pack_id, &invalid.verb_key, |runtime| {
            runtime.refuse_invalid(invalid, &self.principal)
        })
    }

    /// The installation as its config is now.
    ///
    /// # Errors
    /// One line, when the config changed and cannot be used.
    pub fn runtime(&self) -> Result<Arc<Runtime>, String> {
        self.current().1
    }

    /// The installation as its config is now, with a number that changes with it.
    pub(crate) fn current(&self) -> (u64, Result<Arc<Runtime>, String>) {
        let looks = look(&self.configs);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.looks != looks {
            let runtime = (self.reopen)();
            if let Err(error) = &runtime {
                tracing::warn!("the config changed and cannot be used: {error}");
            }
            opened.runtime = runtime.map(Arc::new);
            opened.looks = looks;
            opened.edition += 1;
        }
        (opened.edition, opened.runtime.clone())
    }

    fn with_runtime(
        &self,
        pack_id: &str,
        verb_key: &str,
        work: impl FnOnce(&Runtime) -> Answer,
    ) -> Answer {
        let text = match self.runtime() {
            // A panic ends this call and nothing else; the child that it had is killed with it.
            Ok(runtime) => match catch_unwind(AssertUnwindSafe(|| work(&runtime))) {
                Ok(answer) => return answer,
                Err(_) => "a fault of hcp itself ended the call".to_owned(),
            },
            Err(error) => error,
        };
        let refusal = Refusal::Store(text);
        Answer {
            envelope: ResultEnvelope::refused(pack_id, verb_key, &refusal),
            exit_status: ExitStatus::Internal,
            refusal: Some(refusal),
            metadata: Metadata::default(),
        }
    }
}

fn look(files: &[PathBuf]) -> Vec<Look> {
    let look = |path: &PathBuf| identity(path);
    files.iter().map(look).collect()
}

fn identity(path: &Path) -> Look {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.ctime(), file.ctime_nsec(), file.len()))
}

fn warn(answer: &Answer) {
    if let Some(warning) = &answer.metadata.warning {
        tracing::warn!("{warning}");
    }
}
