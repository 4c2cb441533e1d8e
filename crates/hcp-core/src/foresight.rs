//! What is certain about steps 7 and 8 of a call without taking them: `explain` and `doctor` tell a
//! missing provider, a bin that may not run and an isolation that is not there before a call does.

use hcp_binding::{BindingError, Scope, foresee, select};
use hcp_sandbox::{LevelCache, available_level};
use hcp_spec::Refusal;
use hcp_spec::config::{Level, Mode};
use hcp_spec::manifest::Kind;

use crate::bins;
use crate::catalog::LoadedPack;
use crate::home::Home;
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
    home: &Home,
) -> Result<(), Refused> {
    let Some(command) = pack.manifest.commands.get(verb_key) else {
        return Ok(());
    };
    match (pack.manifest.kind_of(command), &pack.manifest.wrap) {
        (Kind::Wrap, Some(wrap)) => {
            bins::find(&wrap.bin, &pack.root, &pack.allow_bins, &settings.sandbox)?;
            isolation(pack, settings, home)
        }
        (Kind::Composite, _) => Ok(()),
        (kind, _) => Err(Refusal::AdapterNotExecutable(kind.as_str().to_owned()).into()),
    }
}

/// Whether the isolation that the operator and the pack demand is to be had. What was found out
/// before is believed; nothing is written down.
fn isolation(pack: &LoadedPack, settings: &Settings, home: &Home) -> Result<(), Refused> {
    if settings.sandbox.mode == Mode::NativeLocal {
        return Ok(());
    }
    let wish = pack.manifest.sandbox.level.unwrap_or(Level::None);
    let least = settings.sandbox.level.max(wish);
    let found = available_level(LevelCache::Read(&home.isolation_file()));
    if found.level >= least {
        return Ok(());
    }
    Err(Refusal::Isolation(found.missing.join(", ")).into())
}
