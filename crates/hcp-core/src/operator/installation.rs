//! Making an installation: its folders, its store, the caller's Principal and default session.

use std::path::Path;

use hcp_spec::audit::{AuditEvent, AuditKind, DEFAULT_TENANT};
use hcp_spec::name::{PrincipalName, TenantId};
use hcp_store::{Session, Store, StoreError, new_session_id};

use crate::error::CoreError;
use crate::home::Home;
use crate::runtime::check_home;
use crate::settings::Settings;

/// Who runs the command, as the operating system knows them.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user id; what a `local:` Principal is keyed by.
    pub uid: u32,
    /// The Principal, `local:` and the user's name.
    pub principal: PrincipalName,
}

/// What `init` found or made.
#[derive(Clone, Debug)]
pub struct Initialised {
    /// Whether the caller's Principal was made just now; otherwise everything was there already.
    pub created: bool,
    /// The caller's Principal.
    pub principal: PrincipalName,
}

/// Makes what is missing of an installation; what is there stays as it is. No config file is
/// written and no pack capability granted.
///
/// # Errors
/// When a folder cannot be made or is others' to write, or the store cannot be made.
pub fn initialise(
    home: &Home,
    floor: Option<&Path>,
    caller: &Caller,
) -> Result<Initialised, CoreError> {
    home.create().map_err(|error| CoreError::Io {
        what: format!(
            "the home `{}` could not be made",
            home.data_folder().display()
        ),
        error,
    })?;
    check_home(home)?;
    let settings = Settings::read(home, floor)?;
    let mut store = Store::create(&settings.store_file(home)?, &home.locks())?;
    if let Some(principal) = store.principal_of_uid(caller.uid)? {
        let principal = principal.name;
        return Ok(Initialised {
            created: false,
            principal,
        });
    }
    let event = AuditEvent {
        verb_key: Some("init".to_owned()),
        ok: Some(true),
        ..AuditEvent::new(
            AuditKind::Admin,
            DEFAULT_TENANT,
            caller.principal.as_str(),
            store.runtime_id(),
        )
    };
    let tenant = TenantId::parse(DEFAULT_TENANT)?;
    let needs_tenant = store.tenant(DEFAULT_TENANT)?.is_none();
    let session = Session {
        id: new_session_id()?,
        principal: caller.principal.clone(),
        tenant_id: tenant.clone(),
        project_id: None,
        name: Some("default".to_owned()),
        opened_at: jiff::Timestamp::now().as_millisecond(),
        expires_at: None,
        closed: false,
        token_sha256: None,
        packs: Vec::new(),
    };
    let made = store.change(&event, |changes| {
        if needs_tenant {
            changes.add_tenant(&tenant)?;
        }
        changes.add_principal(&caller.principal, Some(caller.uid))?;
        changes.open_session(&session)
    });
    let created = match made {
        Ok(()) => true,
        // Another `init` was faster.
        Err(StoreError::AlreadyThere { .. }) if store.principal_of_uid(caller.uid)?.is_some() => {
            false
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Initialised {
        created,
        principal: caller.principal.clone(),
    })
}
