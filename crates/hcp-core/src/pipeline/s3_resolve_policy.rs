//! Step 3: the verb is declared and has a Policy entry; the operator's config may tighten it.
//!
//! A command without a Policy entry never runs (§6.7), whatever else is in order.

use std::sync::Arc;

use hcp_spec::manifest::{Approval, Effect, Manifest};
use hcp_spec::name::{Capability, target};
use hcp_spec::{Refusal, Step};
use hcp_store::Session;

use super::mode::{Judgement, Mode, Refused};
use super::s2_check_activation::Activated;
use super::walk::Walk;
use crate::call::Call;
use crate::catalog::LoadedPack;
use crate::settings::Settings;

/// What governs one command: its Policy entry as the operator leaves it.
#[derive(Clone, Debug)]
pub(crate) struct Governance {
    /// What a grant must cover.
    pub capability: Capability,
    /// What the command does to the world.
    pub effect: Effect,
    /// Whether the call must be confirmed.
    pub confirm: bool,
    /// Whether a person must approve as well.
    pub approval: Option<Approval>,
    /// `<pack>.<verb>`, as refusals name it.
    pub target: String,
}

/// A call whose verb is governed.
pub(super) struct Governed<M: Mode> {
    pub(super) call: Arc<Call>,
    pub(super) pack: M::Fact<Arc<LoadedPack>>,
    pub(super) session: M::Fact<Arc<Session>>,
    pub(super) governance: M::Fact<Governance>,
}

pub(super) fn resolve_policy<M: Mode>(
    walk: &mut Walk<'_, M>,
    activated: Activated<M>,
) -> Result<Governed<M>, Refused> {
    walk.enter(Step::ResolvePolicy);
    let Activated {
        call,
        pack,
        session,
    } = activated;
    let judged = match M::known(&pack) {
        Some(pack) => judge(walk, &call, pack),
        None => Judgement::Unjudged,
    };
    let governance = walk.settle(Step::ResolvePolicy, judged)?;
    Ok(Governed {
        call,
        pack,
        session,
        governance,
    })
}

fn judge<M: Mode>(walk: &mut Walk<'_, M>, call: &Call, pack: &LoadedPack) -> Judgement<Governance> {
    match Governance::of(&walk.view.settings, pack, &call.verb_key) {
        Ok(governance) => {
            walk.trail.capability = Some(governance.capability.as_str().to_owned());
            Judgement::Passed(governance)
        }
        Err(detail) => {
            let refusal = Refusal::NoPolicy(call.verb_key.clone());
            Judgement::Refused(Refused::because(refusal, detail))
        }
    }
}

impl Governance {
    /// What governs a command of `pack`, as the operator leaves it.
    ///
    /// # Errors
    /// Why nothing does.
    pub(crate) fn of(
        settings: &Settings,
        pack: &LoadedPack,
        verb_key: &str,
    ) -> Result<Self, &'static str> {
        let command = pack.manifest.commands.get(verb_key);
        let command = command.ok_or("the pack declares no such command")?;
        let policy = pack.manifest.policy.get(verb_key);
        let policy = policy.ok_or("the command has no Policy entry")?;
        let target = target(&pack.id, verb_key);
        let tightened = settings.policy(&target);
        let approval = policy
            .approval
            .or(tightened.and_then(|policy| policy.approval));
        let confirm = Manifest::needs_confirm(command, policy)
            || approval.is_some()
            || tightened.and_then(|policy| policy.confirm).unwrap_or(false);
        Ok(Self {
            capability: policy.capability.clone(),
            effect: command.effect,
            confirm,
            approval,
            target,
        })
    }
}
