//! Sessions: opening and closing them, and which packs they run.

use std::sync::Arc;
use std::time::Duration;

use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::name::{PrincipalName, ProjectId, TenantId};
use hcp_store::{ActivatedPack, Session, new_session_id};
use sha2::{Digest, Sha256};

use super::{Operator, Subject};
use crate::error::CoreError;
use crate::hex::encode;

/// How long a session lasts when nobody says.
pub(super) const DEFAULT_TTL: Duration = Duration::from_hours(8);

/// What a new session is for.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Whose it is; the caller's own when absent.
    pub principal: Option<PrincipalName>,
    /// Its tenant; `default` when absent.
    pub tenant: Option<TenantId>,
    /// Its project.
    pub project: Option<ProjectId>,
    /// Packs to activate at once.
    pub packs: Vec<String>,
    /// How long it lasts; 8 hours when absent.
    pub ttl: Option<Duration>,
}

/// A session that was opened.
#[derive(Debug)]
pub struct OpenedSession {
    /// Its id.
    pub session_id: String,
    /// What its Principal shows to prove itself, when that is not the caller. Shown this once.
    pub token: Option<String>,
}

impl Operator<'_> {
    /// Opens a session.
    ///
    /// # Errors
    /// When its Principal, tenant, project or a pack does not exist.
    pub fn open_session(&self, options: &OpenOptions) -> Result<OpenedSession, CoreError> {
        let principal = options.principal.as_ref().unwrap_or(&self.principal);
        let tenant = match &options.tenant {
            Some(tenant) => tenant.clone(),
            None => TenantId::parse(DEFAULT_TENANT)?,
        };
        self.demand_principal(principal.as_str())?;
        self.demand_tenant(tenant.as_str())?;
        let project = options.project.as_ref();
        if let Some(project) = project {
            self.demand_project(tenant.as_str(), project.as_str())?;
        }
        let packs = self.pinned_now(&options.packs)?;
        let token = if *principal == self.principal {
            None
        } else {
            Some(new_token()?)
        };
        let ttl = options.ttl.unwrap_or(DEFAULT_TTL);
        let lasts = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        let now = jiff::Timestamp::now().as_millisecond();
        let expires_at = now.saturating_add(lasts);
        if jiff::Timestamp::from_millisecond(expires_at).is_err() {
            return Err(CoreError::NotAllowed {
                what: "a session cannot last that long".to_owned(),
                hint: "say how long it is really needed, like 8h".to_owned(),
            });
        }
        let session = Session {
            id: new_session_id()?,
            principal: principal.clone(),
            tenant_id: tenant,
            project_id: project.cloned(),
            name: None,
            opened_at: now,
            expires_at: Some(expires_at),
            closed: false,
            token_sha256: token.as_deref().map(sha256_hex),
            packs,
        };
        let subject = Subject {
            detail: format!("for {principal}, packs: {}", options.packs.join(" ")),
            ..subject_of(&session)
        };
        self.change("session open", &subject, |changes| {
            changes.open_session(&session)
        })?;
        Ok(OpenedSession {
            session_id: session.id.clone(),
            token,
        })
    }

    /// Closes a session; it never opens again.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn close_session(&self, id: &str) -> Result<(), CoreError> {
        let session = self.session(Some(id))?;
        let subject = subject_of(&session);
        self.change("session close", &subject, |changes| {
            changes.close_session(id).map(drop)
        })
    }

    /// Activates packs, with the bytes they have now. Returns the session's id.
    ///
    /// # Errors
    /// When the session or a pack does not exist; then none is activated.
    pub fn activate(&self, session: Option<&str>, packs: &[String]) -> Result<String, CoreError> {
        let session = self.session(session)?;
        let packs = self.pinned_now(packs)?;
        for pack in &packs {
            let subject = Subject {
                pack_id: Some(pack.pack_id.as_str()),
                digest: Some(&pack.digest),
                ..subject_of(&session)
            };
            self.change("activate", &subject, |changes| {
                changes.activate(&session.id, pack.pack_id.as_str(), &pack.digest)
            })?;
        }
        Ok(session.id)
    }

    /// Takes packs off a session. Returns the session's id.
    ///
    /// # Errors
    /// When the session does not exist or does not run the pack.
    pub fn deactivate(&self, session: Option<&str>, packs: &[String]) -> Result<String, CoreError> {
        let session = self.session(session)?;
        for pack in packs {
            if !session
                .packs
                .iter()
                .any(|active| active.pack_id.as_str() == pack)
            {
                return Err(CoreError::Missing {
                    kind: "pack",
                    name: pack.clone(),
                    state: "is not activated on this session",
                    nearest: None,
                });
            }
            let subject = Subject {
                pack_id: Some(pack),
                ..subject_of(&session)
            };
            self.change("deactivate", &subject, |changes| {
                changes.deactivate(&session.id, pack)
            })?;
        }
        Ok(session.id)
    }

    /// The session with this id, or the caller's default one.
    ///
    /// # Errors
    /// When there is none.
    pub fn session(&self, id: Option<&str>) -> Result<Session, CoreError> {
        let store = self.runtime.store();
        let found = match id {
            Some(id) => store.session(id)?,
            None => store.default_session(self.principal.as_str())?,
        };
        found.ok_or_else(|| CoreError::Missing {
            kind: "session",
            name: id.unwrap_or("default").to_owned(),
            state: "does not exist",
            nearest: None,
        })
    }

    fn pinned_now(&self, packs: &[String]) -> Result<Vec<ActivatedPack>, CoreError> {
        packs
            .iter()
            .map(|id| {
                let pack = Arc::new(self.load_pack(id)?);
                self.check_composites(&pack)?;
                Ok(ActivatedPack {
                    pack_id: pack.manifest.id.clone(),
                    digest: pack.digest.clone(),
                })
            })
            .collect()
    }
}

fn subject_of(session: &Session) -> Subject<'_> {
    Subject {
        tenant: Some(session.tenant_id.as_str()),
        project: session.project_id.as_ref().map(ProjectId::as_str),
        session: Some(&session.id),
        ..Subject::default()
    }
}

fn new_token() -> Result<String, CoreError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| CoreError::Internal(format!("no random numbers: {error}")))?;
    Ok(format!("hcp_{}", encode(&bytes)))
}

fn sha256_hex(text: &str) -> String {
    encode(&Sha256::digest(text.as_bytes()))
}
