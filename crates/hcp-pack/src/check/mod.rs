//! What must hold between the keys of a manifest or config, once every value has its type.
//!
//! Everything that could only turn out wrong when a call runs is refused here instead, where the
//! author still sees it.

mod argument;
mod command;
pub(crate) mod composite;
mod config;
mod environment;
mod resource;

use hcp_spec::manifest::{FORMAT, Manifest, Wrap};

pub(crate) use config::config;

use crate::finding::{Finding, Place};
use crate::node::{Data, Fault, Node};
use crate::wording::ticked;

/// Checks that a manifest is of the version that this runtime reads.
pub(crate) fn format_version(root: &Node) -> Result<(), Fault> {
    match root.get("hcp") {
        Some(Node {
            span,
            data: Data::Number(version),
        }) if *version != FORMAT.to_string() => Err(Fault {
            span: span.clone(),
            message: format!("manifest format {} is not known", ticked(version)),
            hint: Some(format!("this hcp reads `hcp = {FORMAT}`")),
        }),
        _ => Ok(()),
    }
}

/// Checks a manifest as a whole.
pub(crate) fn manifest(manifest: &Manifest) -> Result<(), Finding> {
    if manifest.hcp != FORMAT {
        return Err(Finding::new(
            Place::keys(["hcp"]),
            format!("manifest format `{}` is not known", manifest.hcp),
        )
        .hint(format!("this hcp reads `hcp = {FORMAT}`")));
    }
    if manifest.version.is_empty() {
        return Err(Finding::new(Place::keys(["version"]), "`version` is empty"));
    }
    if let Some(wrap) = &manifest.wrap {
        check_wrap(wrap)?;
    }
    environment::check(manifest)?;
    check_sandbox(manifest)?;
    for (key, command) in &manifest.commands {
        command::check(manifest, key.as_str(), command)?;
    }
    Ok(())
}

fn check_wrap(wrap: &Wrap) -> Result<(), Finding> {
    let place = |key: &str| Place::keys(["wrap", key]);
    if wrap.bin.trim().is_empty() {
        return Err(Finding::new(place("bin"), "`wrap.bin` is empty"));
    }
    if wrap.bin.contains('\0') || wrap.bin.contains("{{") {
        return Err(Finding::new(
            place("bin"),
            "`wrap.bin` is a plain name or path, without placeholders",
        ));
    }
    for (index, token) in wrap.json.iter().enumerate() {
        if token.contains("{{") || token.contains('\0') || token.is_empty() {
            let place = place("json").index(index);
            return Err(
                Finding::new(place, "`wrap.json` holds plain text, without placeholders")
                    .hint("it is appended to every argv as it stands"),
            );
        }
    }
    if wrap.argv_template.as_ref().is_some_and(Vec::is_empty) {
        let place = place("argv_template");
        return Err(Finding::new(place, "`wrap.argv_template` is empty")
            .hint("write `[\"{{verb}}\"]` for a tool whose subcommands are the verb keys"));
    }
    Ok(())
}

fn check_sandbox(manifest: &Manifest) -> Result<(), Finding> {
    let sandbox = &manifest.sandbox;
    let place = |key: &str| Place::keys(["sandbox", key]);
    for (index, address) in sandbox.network.iter().enumerate() {
        host_and_port(address)
            .map_err(|finding| finding_at(place("network").index(index), finding))?;
    }
    for (key, words) in [("exec", &sandbox.exec), ("read", &sandbox.read)] {
        for (index, word) in words.iter().enumerate() {
            if word.trim().is_empty() || word.contains('\0') {
                let place = place(key).index(index);
                return Err(Finding::new(
                    place,
                    format!("`sandbox.{key}` holds an empty name"),
                ));
            }
        }
    }
    if sandbox.processes == Some(0) {
        let place = place("processes");
        return Err(Finding::new(
            place,
            "`sandbox.processes` must be at least 1",
        ));
    }
    Ok(())
}

/// Checks `host:port`, with an IPv6 address in brackets.
///
/// # Errors
/// What is wrong, and how it is written.
fn host_and_port(address: &str) -> Result<(), (String, &'static str)> {
    let well_formed = address.rsplit_once(':').is_some_and(|(host, port)| {
        let port = !port.starts_with(['+', '0']) && port.parse::<u16>().is_ok_and(|port| port > 0);
        let host = match host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
        {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                !host.is_empty()
                    && host
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
            }
        };
        host && port
    });
    if well_formed {
        return Ok(());
    }
    Err((
        format!("{} is not `host:port`", ticked(address)),
        "write a name or address and a number, like `api.example.com:443` or `[::1]:8080`",
    ))
}

fn finding_at(place: Place, (message, hint): (String, &'static str)) -> Finding {
    Finding::new(place, message).hint(hint)
}
