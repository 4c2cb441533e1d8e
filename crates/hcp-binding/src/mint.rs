//! Minting: from what a pack declares and what the operator configured to a Binding, or a refusal.

use std::path::Path;

use hcp_sandbox::Cancel;
use hcp_spec::config::{Provider, ProviderKind};
use hcp_spec::manifest::BindingNeed;
use zeroize::Zeroizing;

use crate::binding::Binding;
use crate::error::BindingError;
use crate::helper::Helper;
use crate::secret::Secret;
use crate::select::Selected;
use crate::{exec, files};

/// The call that credentials are minted for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The pack.
    pub pack_id: &'a str,
    /// The command.
    pub verb_key: &'a str,
    /// Who acts.
    pub principal: &'a str,
    /// The tenant of the session.
    pub tenant_id: &'a str,
    /// The project of the session, where it has one.
    pub project_id: Option<&'a str>,
    /// The capability that was asserted.
    pub capability: &'a str,
    /// How many tenants the installation has.
    pub tenants: u64,
}

/// Whether real credentials are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Those of the provider.
    Live,
    /// The text `mock` in their place (§6.1: `mode` is `"mock"`); no provider is asked or needed.
    Mock,
}

/// Mints what `need` declares (§6.3 step 7). Where nothing is declared nothing is minted, whatever
/// the config says; what is declared comes from `provider` or not at all (§6.7). Paths in the
/// provider's section are relative to `folder`. A helper is ended when `cancel` is switched on.
///
/// # Errors
/// [`BindingError`]; what a helper minted before it went wrong is revoked as far as it can be.
pub fn mint(
    need: Option<&BindingNeed>,
    provider: Option<Selected<'_>>,
    folder: &Path,
    scope: &Scope<'_>,
    mode: Mode,
    cancel: &Cancel,
) -> Result<Binding, BindingError> {
    let Some(need) = need.filter(|need| !need.env.is_empty()) else {
        return Ok(Binding::none());
    };
    if mode == Mode::Mock {
        return Ok(mock(need));
    }
    let Some(selected) = provider else {
        return Err(no_provider(need, scope));
    };
    let provider = selected.provider;
    refuse_useless(provider)?;
    match provider.provider {
        ProviderKind::Static => files::read(need, selected, folder, scope).map(Binding::lasting),
        ProviderKind::Exec => exec::mint(need, provider, folder, scope, cancel),
        kind @ (ProviderKind::Vault | ProviderKind::Oauth2 | ProviderKind::Jwt) => {
            Err(BindingError::NotBuiltIn(kind.as_str()))
        }
    }
}

/// Looks at what [`mint`] would need, and mints nothing: no helper is started, and a secret that can
/// be read is forgotten at once. What a helper would answer cannot be foreseen.
///
/// # Errors
/// What minting is certain to fail with.
pub fn foresee(
    need: Option<&BindingNeed>,
    provider: Option<Selected<'_>>,
    folder: &Path,
    scope: &Scope<'_>,
) -> Result<(), BindingError> {
    let Some(need) = need.filter(|need| !need.env.is_empty()) else {
        return Ok(());
    };
    let Some(selected) = provider else {
        return Err(no_provider(need, scope));
    };
    let provider = selected.provider;
    refuse_useless(provider)?;
    match provider.provider {
        ProviderKind::Static => files::read(need, selected, folder, scope).map(drop),
        ProviderKind::Exec => Helper::check(provider, folder).map(drop),
        kind @ (ProviderKind::Vault | ProviderKind::Oauth2 | ProviderKind::Jwt) => {
            Err(BindingError::NotBuiltIn(kind.as_str()))
        }
    }
}

fn no_provider(need: &BindingNeed, scope: &Scope<'_>) -> BindingError {
    BindingError::NoProvider {
        pack_id: scope.pack_id.to_owned(),
        variables: need.env.join(", "),
    }
}

/// What stands in a section and does nothing is a misunderstanding, and not passed over.
fn refuse_useless(provider: &Provider) -> Result<(), BindingError> {
    let keys: &[(&'static str, bool)] = match provider.provider {
        ProviderKind::Static => &[
            ("command", !provider.command.is_empty()),
            ("digest", provider.digest.is_some()),
        ],
        ProviderKind::Exec => &[
            ("env", !provider.env.is_empty()),
            ("shared", provider.shared),
        ],
        ProviderKind::Vault | ProviderKind::Oauth2 | ProviderKind::Jwt => &[],
    };
    keys.iter()
        .find(|(_, given)| *given)
        .map_or(Ok(()), |(key, _)| {
            Err(BindingError::UselessKey {
                provider: provider.provider.as_str(),
                key,
            })
        })
}

fn mock(need: &BindingNeed) -> Binding {
    let value = || Secret::new(Zeroizing::new(b"mock".to_vec()));
    let names = need.env.iter().cloned();
    Binding::mock(names.map(|name| (name, value())).collect())
}
