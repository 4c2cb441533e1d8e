//! The floor: a config of the machine's administrator that the operator's own may tighten and never
//! loosen. What the operator does not say, the floor says; what is looser is refused, by its key.

use std::path::{Path, PathBuf};

use hcp_spec::config::{Config, Level, Mode, PolicyConfig, SandboxConfig};

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
    if let Some(key) = overriding(&floor, &own) {
        return Err(looser(&key));
    }
    let mut least = floor.sandbox;
    // Who sets a level means tools to be isolated; no mode that keeps none gets around it.
    if least.level.is_some_and(|level| level > Level::None) {
        least.mode = least.mode.or(Some(Mode::Sandbox));
    }
    let sandbox = sandbox(least, own.sandbox).map_err(looser)?;
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

/// The first section of the operator's own that would be chosen before one of the floor for the same
/// pack: one of a tenant, or one that names a verb.
fn overriding(floor: &Config, own: &Config) -> Option<String> {
    let pack_of = |key: &str| key.split_once('.').map_or(key, |(pack, _)| pack).to_owned();
    let governed: Vec<String> = floor.bindings.keys().map(|key| pack_of(key)).collect();
    let is_governed = |key: &str| governed.contains(&pack_of(key));
    let general = own
        .bindings
        .keys()
        .find(|key| is_governed(key) && !floor.bindings.contains_key(*key))
        .map(|key| format!("bindings.{key}"));
    general.or_else(|| {
        own.tenants.iter().find_map(|(tenant, section)| {
            let allowed = floor.tenants.get(tenant);
            section
                .bindings
                .keys()
                .find(|key| {
                    is_governed(key)
                        && !allowed.is_some_and(|floor| floor.bindings.contains_key(*key))
                })
                .map(|key| format!("tenants.{tenant}.bindings.{key}"))
        })
    })
}

fn sandbox(floor: SandboxConfig, own: SandboxConfig) -> Result<SandboxConfig, &'static str> {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hcp_spec::config::Config;
    use serde_json::{Value, json};

    use super::apply;

    fn config(value: Value) -> Config {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn no_section_comes_before_one_of_the_floor() {
        let helper = |path: &str| json!({ "provider": "exec", "command": [path] });
        let floor = json!({
            "bindings": { "ledger": helper("/floor"), "deploy.go": helper("/floor") },
            "tenants": { "acme": { "bindings": { "ledger": helper("/acme") } } },
        });
        let cases = [
            (json!({}), None),
            (json!({ "bindings": { "other": helper("/own") } }), None),
            (json!({ "bindings": { "ledger": helper("/floor") } }), None),
            (
                json!({ "bindings": { "ledger": helper("/own") } }),
                Some("bindings.ledger"),
            ),
            (
                json!({ "bindings": { "ledger.transfer": helper("/own") } }),
                Some("bindings.ledger.transfer"),
            ),
            (
                json!({ "bindings": { "deploy": helper("/own") } }),
                Some("bindings.deploy"),
            ),
            (
                json!({ "tenants": { "default": { "bindings": { "ledger": helper("/own") } } } }),
                Some("tenants.default.bindings.ledger"),
            ),
            (
                json!({ "tenants": { "acme": { "bindings": { "ledger": helper("/acme") } } } }),
                None,
            ),
            (
                json!({ "tenants": { "default": { "bindings": { "other": helper("/own") } } } }),
                None,
            ),
        ];
        for (own, refused) in cases {
            let told = own.to_string();
            let merged = apply(Path::new("/floor.toml"), config(floor.clone()), config(own));
            let error = merged.err().map(|error| error.to_string());
            let expected =
                refused.map(|key| format!("`{key}` is looser than `/floor.toml` allows"));
            assert_eq!(error, expected, "{told}");
        }
    }
}
