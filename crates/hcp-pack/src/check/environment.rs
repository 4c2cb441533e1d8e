//! The variables of a child: those a pack may set, and those that are not its to set.

use hcp_spec::manifest::Manifest;

use crate::finding::{Finding, Place};
use crate::wording::ticked;

/// What the runtime sets itself for every child; names that begin with `HCP_` or `LD_` besides.
const OURS: [&str; 10] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "TERM",
    "NO_COLOR",
    "PAGER",
    "GIT_PAGER",
    "GIT_TERMINAL_PROMPT",
    "TRACEPARENT",
];

/// Checks `wrap.agent_env` and `binding.env`, each alone and against the other.
pub(super) fn check(manifest: &Manifest) -> Result<(), Finding> {
    let bound: &[String] = match &manifest.binding {
        Some(binding) if binding.env.is_empty() => {
            return Err(Finding::new(
                Place::keys(["binding", "env"]),
                "`binding.env` names no variable",
            )
            .hint("name what a Binding sets, or remove the table"));
        }
        Some(binding) => &binding.env,
        None => &[],
    };
    for (index, name) in bound.iter().enumerate() {
        let place = Place::keys(["binding", "env"]).index(index);
        variable(name)
            .map_err(|(message, hint)| Finding::new(place.clone(), message).hint(hint))?;
        if bound.iter().take(index).any(|earlier| earlier == name) {
            return Err(Finding::new(
                place,
                format!("{} is given twice", ticked(name)),
            ));
        }
    }
    let set = manifest.wrap.iter().flat_map(|wrap| &wrap.agent_env);
    for (name, value) in set {
        let place = Place::keys(["wrap", "agent_env", name]);
        variable(name)
            .map_err(|(message, hint)| Finding::new(place.clone(), message).hint(hint))?;
        if bound.contains(name) {
            let message = format!("{} is set by the Binding", ticked(name));
            return Err(Finding::new(place, message)
                .hint("one of the two names it; a secret stands in no manifest"));
        }
        if value.contains('\0') {
            let message = format!("the value of {} holds a NUL byte", ticked(name));
            return Err(Finding::new(place, message));
        }
    }
    Ok(())
}

/// Checks that a variable has a plain name and is a pack's to set.
pub(super) fn variable(name: &str) -> Result<(), (String, &'static str)> {
    let well_formed = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !well_formed {
        return Err((
            format!("{} is no name of a variable", ticked(name)),
            "a letter or `_`, then letters, digits and `_`",
        ));
    }
    if OURS.contains(&name) || name.starts_with("HCP_") || name.starts_with("LD_") {
        return Err((
            format!("{} is not a pack's to set", ticked(name)),
            "the runtime sets `PATH`, `HOME` and the like itself, and nobody sets `LD_*` or `HCP_*`",
        ));
    }
    Ok(())
}
