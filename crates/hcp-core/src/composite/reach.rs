//! What a composite reaches across packs, and whether it may: judged when a pack is added, when it is
//! activated, and again before each call, since any of the packs may have changed meanwhile.
//!
//! A pack that is not installed cannot be judged. Nothing of it runs either: the inner call is
//! refused at its own first step.

use std::sync::Arc;

use hcp_spec::manifest::Kind;
use hcp_spec::name::target;

use super::inner::MAX_DEPTH;
use super::plan::{MAX_CALLS, PlannedCall};
use crate::catalog::LoadedPack;
use crate::pipeline::Governance;
use crate::settings::Settings;

/// Finds the pack with an id, as far as it can be used.
pub(crate) type FindPack<'a> = &'a dyn Fn(&str) -> Option<Arc<LoadedPack>>;

/// Why a composite may not be called as things stand.
#[derive(Debug)]
pub(crate) struct Overreach {
    /// What is wrong, on one line.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) hint: String,
    /// Whether it is the gate of the composite that is missing.
    pub(crate) is_ungated: bool,
}

/// Judges the composite `verb_key` of `pack` and everything it calls.
///
/// # Errors
/// [`Overreach`] when a gate, an approval or a bound is not kept, or it reaches itself.
pub(crate) fn check_reach(
    find: FindPack<'_>,
    settings: &Settings,
    pack: &Arc<LoadedPack>,
    verb_key: &str,
) -> Result<(), Overreach> {
    let mut walk = Walk {
        find,
        settings,
        path: Vec::new(),
        calls: 0,
    };
    walk.composite(pack, verb_key, true)
}

struct Walk<'a> {
    find: FindPack<'a>,
    settings: &'a Settings,
    /// The composites around the one that is looked at.
    path: Vec<String>,
    calls: usize,
}

impl Walk<'_> {
    /// `foreseen`: whether the composite's own arguments are known before anything runs.
    fn composite(
        &mut self,
        pack: &Arc<LoadedPack>,
        verb_key: &str,
        foreseen: bool,
    ) -> Result<(), Overreach> {
        let name = target(&pack.id, verb_key);
        if self.path.contains(&name) {
            return Err(self.overreach(&name, "calls itself", "take the call back to it out"));
        }
        self.path.push(name.clone());
        if self.path.len() > MAX_DEPTH {
            let what = format!("stands more than {MAX_DEPTH} composites deep");
            let hint = format!("composites call composites at most {MAX_DEPTH} deep");
            return Err(self.overreach(&name, &what, &hint));
        }
        let plan = pack.plan(verb_key).map_err(|error| Overreach {
            what: error.to_string(),
            hint: error.hint().unwrap_or_default(),
            is_ungated: false,
        })?;
        let own = Governance::of(self.settings, pack, verb_key).ok();
        for call in plan.calls() {
            self.calls += 1;
            if self.calls > MAX_CALLS {
                let hint = format!("a composite makes at most {MAX_CALLS} calls in all");
                return Err(self.overreach(&name, "makes too many calls", &hint));
            }
            self.call(&name, own.as_ref(), call, foreseen)?;
        }
        self.path.pop();
        Ok(())
    }

    fn call(
        &mut self,
        name: &str,
        own: Option<&Governance>,
        call: &PlannedCall,
        foreseen: bool,
    ) -> Result<(), Overreach> {
        let Some(pack) = (self.find)(&call.pack_id) else {
            return Ok(());
        };
        let Ok(inner) = Governance::of(self.settings, &pack, &call.verb_key) else {
            return Ok(());
        };
        // Without a Policy entry the composite is never run, so there is no gate to be missing.
        if inner.confirm && own.is_some_and(|own| !own.confirm) {
            let what = format!(
                "calls `{}` in its step `{}`, which must be confirmed, and its own Policy entry \
                 asks for no confirmation",
                call.target(),
                call.step
            );
            let hint = format!("set `confirm = true` in the Policy entry of `{name}`");
            return Err(Overreach {
                is_ungated: true,
                ..self.overreach(name, &what, &hint)
            });
        }
        let foreseen = call.arguments_are_foreseen(foreseen);
        if inner.approval.is_some() && !foreseen {
            let what = format!(
                "calls `{}` in its step `{}`, which a person must approve, with arguments that \
                 are only known once other steps ran",
                call.target(),
                call.step
            );
            let hint = "give it arguments of the composite alone, or let it be called by itself";
            return Err(self.overreach(name, &what, hint));
        }
        let command = pack.manifest.commands.get(call.verb_key.as_str());
        match command.map(|command| pack.manifest.kind_of(command)) {
            Some(Kind::Composite) => self.composite(&pack, &call.verb_key, foreseen),
            _ => Ok(()),
        }
    }

    fn overreach(&self, name: &str, what: &str, hint: &str) -> Overreach {
        let what = match self.path.as_slice() {
            [] | [_] => format!("composite `{name}` {what}"),
            path => format!("composite `{name}` {what} (in `{}`)", path.join("` → `")),
        };
        Overreach {
            what,
            hint: hint.to_owned(),
            is_ungated: false,
        }
    }
}
