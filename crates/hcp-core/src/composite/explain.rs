//! What a composite would do, told without doing any of it.

use std::sync::Arc;

use hcp_spec::envelope::Arguments;
use serde_json::{Map, Value, json};

use super::plan::Plan;
use super::reach::FindPack;
use super::reference::Known;
use crate::pipeline::Governance;
use crate::settings::Settings;

/// One step of a composite, as it is foreseen.
#[derive(Clone, Debug)]
pub struct PlannedStep {
    /// The name of the step.
    pub step: String,
    /// The call, as `<pack>.<verb>` of the manifest.
    pub call: String,
    /// The arguments; where they wait for a result, as the manifest writes them.
    pub args: Map<String, Value>,
    /// The condition, as the manifest writes it.
    pub when: Option<String>,
    /// The steps whose results it needs.
    pub after: Vec<String>,
    /// What governs the verb; `None` where the pack or its Policy entry is not there.
    governance: Option<Governance>,
}

/// The steps of a plan, for these arguments.
pub(crate) fn foresee(
    plan: &Plan,
    args: &Arguments,
    settings: &Settings,
    find: FindPack<'_>,
) -> Vec<PlannedStep> {
    let known = Known {
        args,
        results: Vec::new(),
    };
    let name_of = |place: &usize| plan.calls().get(*place).map(|call| call.step.clone());
    let steps = plan.calls().iter().map(|call| PlannedStep {
        step: call.step.clone(),
        call: call.target(),
        args: call.foreseen(&known),
        when: call.when().map(str::to_owned),
        after: call.after.iter().filter_map(name_of).collect(),
        governance: find(&call.pack_id)
            .and_then(|pack| Governance::of(settings, &Arc::clone(&pack), &call.verb_key).ok()),
    });
    steps.collect()
}

impl PlannedStep {
    /// The step as JSON.
    pub fn to_json(&self) -> Value {
        let governance = self.governance.as_ref();
        json!({
            "step": self.step,
            "call": self.call,
            "args": self.args,
            "when": self.when,
            "after": self.after,
            "effect": governance.map(|governance| governance.effect.as_str()),
            "capability": governance.map(|governance| governance.capability.as_str()),
            "confirm": governance.map(|governance| governance.confirm),
            "approval": governance.and_then(|governance| governance.approval),
        })
    }
}
