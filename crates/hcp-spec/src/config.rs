//! The operator's config: what an installation allows at most, and where credentials come from.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::Approval;
use crate::name::TenantId;
use crate::quantity::TimeLimit;

/// The whole of `config.toml`. An absent file means every default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where state and audit live.
    pub store: StoreConfig,
    /// The ceiling of what packs may ask of the jail.
    pub sandbox: SandboxConfig,
    /// Where credentials come from, by pack id or `<pack>.<verb>`.
    pub bindings: IndexMap<String, Provider>,
    /// What differs for a tenant.
    pub tenants: IndexMap<TenantId, TenantConfig>,
    /// What the operator tightens, by `<pack>.<verb>`.
    pub policy: IndexMap<String, PolicyConfig>,
}

/// Where state and audit live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreConfig {
    /// `sqlite:` and a path, relative to the folder of the config; `hcp.db` in the folder of the
    /// installation unless said.
    pub url: Option<String>,
}

/// The ceiling of what packs may ask of the jail, as it is written; what is absent has the default
/// named beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// How children are run; `sandbox` unless said.
    pub mode: Option<Mode>,
    /// The least isolation that may run, in mode `sandbox`; `full` unless said.
    pub level: Option<Level>,
    /// Folders in which bins are looked for, and the child's `PATH`; `/usr/local/bin`, `/usr/bin`
    /// and `/bin` unless said.
    pub path: Option<Vec<PathBuf>>,
    /// Bins that every pack may use, by name or absolute path; none unless said.
    pub allow_bins: Option<Vec<String>>,
    /// Roots beneath which arguments and packs may be given paths to read; none unless said.
    pub read: Option<Vec<PathBuf>>,
    /// Roots beneath which arguments may be given paths to write; none unless said.
    pub write: Option<Vec<PathBuf>>,
    /// `host:port` pairs that arguments and packs may be given at most; none unless said.
    pub network: Option<Vec<String>>,
    /// The longest wall clock that a pack may ask for; `10m` unless said.
    pub timeout_max: Option<TimeLimit>,
}

/// How children are run; chosen by the operator, never fallen back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In the jail.
    #[default]
    Sandbox,
    /// As a plain child with limits, not isolated.
    NativeLocal,
}

impl Mode {
    /// The word of the config and of `HCP_SANDBOX` (§6.4).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::NativeLocal => "native-local",
        }
    }
}

/// How much isolation there is, weakest first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// No layer at all.
    None,
    /// Every layer that needs no user namespace.
    NoUserns,
    /// Every layer.
    #[default]
    Full,
}

impl Level {
    /// The word of the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NoUserns => "no-userns",
            Self::Full => "full",
        }
    }
}

/// Where the credentials of a pack come from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The kind of provider.
    pub provider: ProviderKind,
    /// static: the secret of each variable.
    #[serde(default)]
    pub env: IndexMap<String, SecretSource>,
    /// static: whether one secret may serve more than one tenant.
    #[serde(default)]
    pub shared: bool,
    /// exec: the helper and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// exec: SHA-256 of the helper, in hex; pinned when given.
    pub digest: Option<String>,
    /// The longest life of a credential; `15m` unless said.
    pub ttl: Option<TimeLimit>,
}

/// A kind of provider. Kinds without an implementation are refused at step 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Secrets in files.
    Static,
    /// A helper that mints and revokes.
    Exec,
    /// HashiCorp Vault.
    Vault,
    /// An OAuth 2.0 token endpoint.
    Oauth2,
    /// A signed assertion.
    Jwt,
}

impl ProviderKind {
    /// The word as the config writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Exec => "exec",
            Self::Vault => "vault",
            Self::Oauth2 => "oauth2",
            Self::Jwt => "jwt",
        }
    }
}

/// Where one secret is read from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretSource {
    /// A file of mode 0600, relative to the folder of the config.
    pub file: PathBuf,
}

/// What differs for a tenant; its sections win over the general ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Where credentials come from, by pack id or `<pack>.<verb>`.
    pub bindings: IndexMap<String, Provider>,
}

/// What the operator tightens of a Policy entry; nothing here can loosen one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// `true` closes the gate until the call is confirmed.
    pub confirm: Option<bool>,
    /// A person must approve as well.
    pub approval: Option<Approval>,
}
