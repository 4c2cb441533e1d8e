//! What must hold between the keys of the operator's config.

use hcp_spec::config::{Config, Provider, ProviderKind};
use hcp_spec::name::{PackId, VerbKey};

use super::environment::variable;
use super::{finding_at, host_and_port};
use crate::finding::{Finding, Place};
use crate::wording::ticked;

/// Checks a config as a whole.
pub(crate) fn config(config: &Config) -> Result<(), Finding> {
    if let Some(url) = &config.store.url
        && url.strip_prefix("sqlite:").is_none_or(str::is_empty)
    {
        let message = format!("{} is no store", ticked(&without_secrets(url)));
        return Err(Finding::new(Place::keys(["store", "url"]), message)
            .hint("write `sqlite:` and a path, like `sqlite:hcp.db`"));
    }
    check_sandbox(config)?;
    for (target, provider) in &config.bindings {
        check_provider(&Place::keys(["bindings", target]), target, provider)?;
    }
    for (tenant, own) in &config.tenants {
        for (target, provider) in &own.bindings {
            let place = Place::keys(["tenants", tenant.as_str(), "bindings", target]);
            check_provider(&place, target, provider)?;
        }
    }
    for target in config.policy.keys() {
        if !target.contains('.') || !is_target(target) {
            let message = format!("{} names no command", ticked(target));
            return Err(Finding::new(Place::keys(["policy", target]), message)
                .hint("write `[policy.\"pack.verb\"]`"));
        }
    }
    Ok(())
}

/// The address of a database server without the name, password and options that come with it.
fn without_secrets(url: &str) -> String {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme);
    match address.rsplit_once('@') {
        Some((_, host)) if scheme.is_empty() => format!("…@{host}"),
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => address.to_owned(),
    }
}

fn check_sandbox(config: &Config) -> Result<(), Finding> {
    let place = |key: &str| Place::keys(["sandbox", key]);
    for (index, address) in config.sandbox.network.iter().flatten().enumerate() {
        host_and_port(address)
            .map_err(|problem| finding_at(place("network").index(index), problem))?;
    }
    for (index, bin) in config.sandbox.allow_bins.iter().flatten().enumerate() {
        if bin.trim().is_empty()
            || bin.starts_with('.')
            || (bin.contains('/') && !bin.starts_with('/'))
        {
            let message = format!("{} is no bin", ticked(bin));
            return Err(Finding::new(place("allow_bins").index(index), message)
                .hint("write a name, like `git`, or an absolute path, like `/usr/bin/jq`"));
        }
    }
    Ok(())
}

fn check_provider(place: &Place, target: &str, provider: &Provider) -> Result<(), Finding> {
    if !is_target(target) {
        let message = format!("{} names no pack and no command", ticked(target));
        return Err(Finding::new(place.clone(), message)
            .hint("write `[bindings.pack]` or `[bindings.\"pack.verb\"]`"));
    }
    for name in provider.env.keys() {
        let place = place.clone().key("env").key(name);
        variable(name).map_err(|problem| finding_at(place, problem))?;
    }
    let is = |kind| provider.provider == kind;
    let misplaced = [
        ("env", !provider.env.is_empty(), ProviderKind::Static),
        ("shared", provider.shared, ProviderKind::Static),
        ("command", !provider.command.is_empty(), ProviderKind::Exec),
        ("digest", provider.digest.is_some(), ProviderKind::Exec),
    ];
    for (key, written, kind) in misplaced {
        if written && !is(kind) {
            let message = format!("`{key}` is for the provider `{}`", kind.as_str());
            return Err(Finding::new(place.clone().key(key), message));
        }
    }
    if is(ProviderKind::Static) && provider.env.is_empty() {
        return Err(
            Finding::new(place.clone(), "a `static` provider needs `env`")
                .hint("write `env.NAME = { file = \"secrets/name\" }`"),
        );
    }
    if is(ProviderKind::Exec)
        && !provider
            .command
            .first()
            .is_some_and(|it| it.starts_with('/'))
    {
        return Err(Finding::new(
            place.clone().key("command"),
            "an `exec` provider needs `command`, which begins with an absolute path",
        ));
    }
    let is_digest = |text: &String| {
        text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    if provider
        .digest
        .as_ref()
        .is_some_and(|text| !is_digest(text))
    {
        return Err(Finding::new(
            place.clone().key("digest"),
            "`digest` is no SHA-256: 64 digits of lowercase hex",
        ));
    }
    Ok(())
}

/// A pack id, alone or with a dot and a verb key behind it.
fn is_target(target: &str) -> bool {
    match target.split_once('.') {
        None => PackId::parse(target).is_ok(),
        Some((pack_id, verb_key)) => {
            PackId::parse(pack_id).is_ok() && VerbKey::parse(verb_key).is_ok()
        }
    }
}
