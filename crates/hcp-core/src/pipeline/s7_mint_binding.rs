//! Step 7: mint the short-lived credentials of this call, or refuse.
//!
//! What a pack declares and nobody provides is refused; the environment of the runtime is never
//! looked at (§6.7).

use hcp_binding::{Binding, BindingError, Mode as BindingMode, Scope, mint, select};
use hcp_spec::{Refusal, Step};
use hcp_store::Intent;

use super::mode::{Live, Refused};
use super::s6_enforce_confirm::Confirmed;
use super::s9_record::Intended;
use super::walk::Walk;

/// A call with its credentials.
pub(super) struct Bound {
    pub(super) intended: Intended,
    pub(super) binding: Binding,
}

/// Mints, or gives the intent back for its outcome to be written.
pub(super) fn mint_binding(
    walk: &mut Walk<'_, Live>,
    intended: Intended,
) -> Result<Bound, Box<(Intent, Refused)>> {
    walk.enter(Step::MintBinding);
    match mint_for(walk, &intended.confirmed) {
        Ok(binding) => Ok(Bound { intended, binding }),
        Err(error) => Err(Box::new((intended.intent, refuse(&error).into()))),
    }
}

fn refuse(error: &BindingError) -> Refusal {
    match error {
        BindingError::Cancelled => Refusal::Cancelled,
        _ => Refusal::Binding(error.to_string()),
    }
}

fn mint_for(walk: &Walk<'_, Live>, confirmed: &Confirmed<Live>) -> Result<Binding, BindingError> {
    let (call, pack) = (&confirmed.call, &confirmed.pack);
    let session = &confirmed.identity.session;
    let settings = &walk.view.settings;
    let scope = Scope {
        pack_id: &call.pack_id,
        verb_key: &call.verb_key,
        principal: session.principal.as_str(),
        tenant_id: session.tenant_id.as_str(),
        project_id: session.project_id.as_ref().map(AsRef::as_ref),
        capability: confirmed.governance.capability.as_str(),
        tenants: confirmed.identity.tenants,
    };
    let provider = select(
        &settings.config,
        session.tenant_id.as_str(),
        &call.pack_id,
        &call.verb_key,
    );
    let mode = if call.wants_mock() {
        BindingMode::Mock
    } else {
        BindingMode::Live
    };
    // A composite starts nothing that could use a credential; its inner calls mint their own.
    let is_composite = confirmed.prepared.composite.is_some();
    let need = pack.manifest.binding.as_ref().filter(|_| !is_composite);
    mint(need, provider, &settings.folder, &scope, mode, &call.cancel)
}
