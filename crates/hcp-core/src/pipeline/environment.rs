//! The environment of the child: built from nothing, name by name (§6.4).
//!
//! No variable of the runtime is ever copied. What a pack or a Binding adds comes last, and their
//! names were checked when the pack was read.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use hcp_spec::manifest::Wrap;

use super::enclosure::Enclosure;
use super::s7_mint_binding::Bound;
use crate::view::View;

pub(super) fn of_child(
    view: &View,
    bound: &Bound,
    wrap: &Wrap,
    enclosure: &Enclosure,
) -> Vec<(OsString, OsString)> {
    let confirmed = &bound.intended.confirmed;
    let session = &confirmed.identity.session;
    let sandbox = &view.settings.sandbox;
    let path = sandbox
        .path
        .iter()
        .map(|folder| folder.as_os_str())
        .collect::<Vec<_>>();
    let mut variables: Vec<(OsString, OsString)> = Vec::with_capacity(20);
    let mut set = |name: &str, value: OsString| variables.push((name.into(), value));
    set("PATH", path.join(std::ffi::OsStr::new(":")));
    set("HOME", enclosure.home().into());
    set("TMPDIR", enclosure.temporary().into());
    set("LANG", "C.UTF-8".into());
    set("TERM", "dumb".into());
    set("NO_COLOR", "1".into());
    set("PAGER", "cat".into());
    set("GIT_PAGER", "cat".into());
    set("GIT_TERMINAL_PROMPT", "0".into());
    set("HCP_SANDBOX", sandbox.mode.as_str().into());
    set("HCP_CALL_PACK", confirmed.call.pack_id.as_str().into());
    set("HCP_CALL_VERB", confirmed.call.verb_key.as_str().into());
    set("HCP_CALL_TENANT", session.tenant_id.as_str().into());
    if let Some(project) = &session.project_id {
        set("HCP_CALL_PROJECT", project.as_str().into());
    }
    if let Some(folder) = enclosure.state() {
        set("HCP_CALL_STATE", folder.into());
    }
    set("HCP_CALL_BINDING", bound.binding.state().into());
    for (name, value) in &wrap.agent_env {
        set(name, value.into());
    }
    for (name, secret) in bound.binding.environment() {
        set(name, OsString::from_vec(secret.expose().to_vec()));
    }
    variables
}
