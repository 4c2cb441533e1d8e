//! What is certain about steps 7 and 8 of a call without taking them: `explain` and `doctor` tell a
//! missing provider, a bin that may not run and an isolation that is not there before a call does.

use hcp_binding::{BindingError, Scope, foresee, select};
use hcp_spec::Refusal;
use hcp_spec::config::Mode;
use hcp_spec::manifest::Kind;

use crate::bins;
use crate::catalog::LoadedPack;
use crate::pipeline::Refused;
use crate::settings::Settings;

/// Whose credentials are looked for.
pub(crate) struct Place<'a> {
    pub(crate) principal: &'a str,
    pub(crate) tenant_id: &'a str,
    pub(crate) tenants: u64,
}

/// What minting for this command is certain to fail with.
pub(crate) fn of_mint(
    pack: &LoadedPack,
    verb_key: &str,
    settings: &Settings,
    place: &Place<'_>,
) -> Result<(), BindingError> {
    let scope = Scope {
        pack_id: &pack.id,
        verb_key,
        principal: place.principal,
        tenant_id: place.tenant_id,
        project_id: None,
        capability: "",
        tenants: place.tenants,
    };
    let provider = select(&settings.config, place.tenant_id, &pack.id, verb_key);
    foresee(
        pack.manifest.binding.as_ref(),
        provider,
        &settings.folder,
        &scope,
    )
}

/// What running this command is certain to be refused with.
pub(crate) fn of_run(
    pack: &LoadedPack,
    verb_key: &str,
    settings: &Settings,
) -> Result<(), Refused> {
    let Some(command) = pack.manifest.commands.get(verb_key) else {
        return Ok(());
    };
    match (pack.manifest.kind_of(command), &pack.manifest.wrap) {
        (Kind::Wrap, Some(wrap)) => {
            bins::find(wrap, &pack.root, &pack.allow_bins, &settings.sandbox)?;
            isolation(settings)
        }
        (Kind::Composite, _) => Ok(()),
        (kind, _) => Err(Refusal::AdapterNotExecutable(kind.as_str().to_owned()).into()),
    }
}

/// Whether the isolation that the operator demands is to be had.
pub(crate) fn isolation(settings: &Settings) -> Result<(), Refused> {
    match settings.sandbox.mode {
        Mode::NativeLocal => Ok(()),
        Mode::Sandbox => {
            Err(Refusal::Isolation("isolation is not built into this version".to_owned()).into())
        }
    }
}
