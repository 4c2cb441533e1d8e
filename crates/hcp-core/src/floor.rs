//! The floor: a config of the machine's administrator that the operator's own may tighten and never
//! loosen. What the operator does not say, the floor says; what is looser is refused, by its key.

use std::path::{Path, PathBuf};

use hcp_spec::config::{Config, PolicyConfig, SandboxConfig};

use crate::error::CoreError;

/// The operator's config on top of the floor.
///
/// # Errors
/// [`CoreError::LooserThanFloor`] naming the first key that loosens.
pub(crate) fn apply(path: &Path, floor: Config, own: Config) -> Result<Config, CoreError> {
    let looser = |key: &str| CoreError::LooserThanFloor {
        key: key.to_owned(),
        floor: path.display().to_string(),
    };
    let sandbox = sandbox(floor.sandbox, own.sandbox).map_err(looser)?;
    let mut store = own.store;
    if let Some(url) = floor.store.url {
        if store.url.is_some_and(|own| own != url) {
            return Err(looser("store.url"));
        }
        store.url = Some(url);
    }
    let mut bindings = own.bindings;
    for (pack, provider) in floor.bindings {
        if bindings.get(&pack).is_some_and(|own| *own != provider) {
            return Err(looser(&format!("bindings.{pack}")));
        }
        bindings.insert(pack, provider);
    }
    let mut tenants = own.tenants;
    for (tenant, section) in floor.tenants {
        if tenants.get(&tenant).is_some_and(|own| *own != section) {
            return Err(looser(&format!("tenants.{tenant}")));
        }
        tenants.insert(tenant, section);
    }
    let mut policy = own.policy;
    for (target, tightened) in floor.policy {
        let own = policy.entry(target).or_default();
        *own = PolicyConfig {
            confirm: Some(own.confirm.unwrap_or_default() || tightened.confirm.unwrap_or_default()),
            approval: own.approval.or(tightened.approval),
        };
    }
    Ok(Config {
        store,
        sandbox,
        bindings,
        tenants,
        policy,
    })
}

fn sandbox(floor: SandboxConfig, own: SandboxConfig) -> Result<SandboxConfig, &'static str> {
    use hcp_spec::config::Mode;
    Ok(SandboxConfig {
        mode: tighter("sandbox.mode", floor.mode, own.mode, |floor, own| {
            floor == own || *own == Mode::Sandbox
        })?,
        level: tighter("sandbox.level", floor.level, own.level, |floor, own| {
            own >= floor
        })?,
        path: tighter("sandbox.path", floor.path, own.path, |floor, own| {
            all_among(floor, own)
        })?,
        allow_bins: tighter(
            "sandbox.allow_bins",
            floor.allow_bins,
            own.allow_bins,
            |floor, own| all_among(floor, own),
        )?,
        read: tighter("sandbox.read", floor.read, own.read, |f, own| {
            all_beneath(f, own)
        })?,
        write: tighter("sandbox.write", floor.write, own.write, |f, own| {
            all_beneath(f, own)
        })?,
        network: tighter(
            "sandbox.network",
            floor.network,
            own.network,
            |floor, own| all_among(floor, own),
        )?,
        timeout_max: tighter(
            "sandbox.timeout_max",
            floor.timeout_max,
            own.timeout_max,
            |floor, own| own.duration() <= floor.duration(),
        )?,
    })
}

fn tighter<T>(
    key: &'static str,
    floor: Option<T>,
    own: Option<T>,
    is_within: impl Fn(&T, &T) -> bool,
) -> Result<Option<T>, &'static str> {
    match (floor, own) {
        (Some(floor), Some(own)) if !is_within(&floor, &own) => Err(key),
        (Some(_), Some(own)) => Ok(Some(own)),
        (floor, own) => Ok(own.or(floor)),
    }
}

fn all_among<T: PartialEq>(floor: &[T], own: &[T]) -> bool {
    own.iter().all(|entry| floor.contains(entry))
}

/// Roots are compared as they are written; one that climbs is never beneath another.
fn all_beneath(floor: &[PathBuf], own: &[PathBuf]) -> bool {
    use std::path::Component;
    own.iter().all(|path| {
        let climbs = path.components().any(|part| part == Component::ParentDir);
        !climbs && floor.iter().any(|root| path.starts_with(root))
    })
}
