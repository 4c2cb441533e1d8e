//! What `explain` found out about a call: a row for each of the nine steps, and what would run.

use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::manifest::{Approval, Effect};
use hcp_spec::{Refusal, Step};
use serde_json::{Value, json};

use crate::call::Call;
use crate::catalog::LoadedPack;
use crate::composite::{PlannedStep, foresee};
use crate::foresight::{Place, of_mint, of_run};
use crate::pipeline::{DryConfirmed, Note, Resource};
use crate::view::View;

/// An explained call. Nothing was minted and nothing ran.
#[derive(Debug)]
pub struct Explanation {
    /// A row for each step, 1 to 9; steps 7 to 9 are never judged.
    pub steps: Vec<Note>,
    /// The bin as the manifest writes it, when the call would start one.
    pub bin: Option<String>,
    /// The argv behind the bin, when it could be rendered.
    pub argv: Option<Vec<String>>,
    /// The calls that a composite would make, when its plan is known (§6.6).
    pub plan: Option<Vec<PlannedStep>>,
    /// What governs the command, when the verb has a Policy entry.
    pub governance: Option<GovernanceSummary>,
    /// Variables that a Binding would have to set.
    pub binding: Vec<String>,
    /// What the arguments name, as `reads /x`, `writes /y`, `connects to h:1`.
    pub resources: Vec<String>,
    /// How the child would be isolated.
    pub isolation: &'static str,
    /// What the pack asks for and that isolation does not enforce.
    pub unenforced: Vec<&'static str>,
    /// The `seq` of the record, or why it was not written.
    pub recorded: Result<u64, String>,
}

/// What governs a command.
#[derive(Clone, Debug)]
pub struct GovernanceSummary {
    /// What it does to the world.
    pub effect: Effect,
    /// What a grant must cover.
    pub capability: String,
    /// Whether it must be confirmed.
    pub confirm: bool,
    /// Whether a person must approve.
    pub approval: Option<Approval>,
}

impl Explanation {
    pub(crate) fn of(
        view: &View,
        call: &Call,
        notes: &[Note],
        confirmed: Option<DryConfirmed>,
        recorded: Result<u64, String>,
    ) -> Self {
        let steps = Step::ALL.map(|step| {
            let row = notes.iter().find(|note| note.step == step).cloned();
            row.unwrap_or(Note::new(step, None, None))
        });
        let mut explanation = Self {
            steps: steps.to_vec(),
            bin: None,
            argv: None,
            plan: None,
            governance: None,
            binding: Vec::new(),
            resources: Vec::new(),
            isolation: view.settings.sandbox.mode.as_str(),
            unenforced: Vec::new(),
            recorded,
        };
        if let Some(confirmed) = confirmed {
            explanation.take(view, call, confirmed);
        }
        explanation
    }

    /// Steps 7 and 8 are not taken; what they are certain to refuse is told all the same.
    fn foresee(&mut self, view: &View, call: &Call, pack: &LoadedPack) {
        let session = view.session_of(call).ok().flatten();
        let place = Place {
            principal: call.principal.as_str(),
            tenant_id: session
                .as_ref()
                .map_or(DEFAULT_TENANT, |session| session.tenant_id.as_str()),
            tenants: view.tenant_count().unwrap_or(1),
        };
        let mint = if call.wants_mock() {
            Ok(())
        } else {
            of_mint(pack, &call.verb_key, &view.settings, &place)
        };
        let mint = mint.map_err(|error| Refusal::Binding(error.to_string()).into());
        let run = of_run(pack, &call.verb_key, &view.settings, &view.home);
        for (step, foreseen) in [(Step::MintBinding, mint), (Step::RunAdapter, run)] {
            if let (Err(refused), Some(note)) = (
                foreseen,
                self.steps.iter_mut().find(|note| note.step == step),
            ) {
                *note = Note::new(step, Some(false), Some(refused));
            }
        }
    }

    fn take(&mut self, view: &View, call: &Call, confirmed: DryConfirmed) {
        let DryConfirmed {
            pack,
            governance,
            prepared,
        } = confirmed;
        if let Some(pack) = pack {
            self.foresee(view, call, &pack);
            let command = pack.manifest.commands.get(call.verb_key.as_str());
            self.bin = match command {
                Some(_) => pack.manifest.wrap.as_ref().map(|wrap| wrap.bin.clone()),
                None => None,
            };
            self.binding = pack
                .manifest
                .binding
                .as_ref()
                .map(|need| need.env.clone())
                .unwrap_or_default();
            self.unenforced = view.unenforced(&pack.manifest.sandbox);
        }
        self.governance = governance.map(|governance| GovernanceSummary {
            effect: governance.effect,
            capability: governance.capability.as_str().to_owned(),
            confirm: governance.confirm,
            approval: governance.approval,
        });
        if let Some(prepared) = prepared {
            if let Some((plan, args)) = &prepared.composite {
                let find = |id: &str| view.pack(id).ok().flatten();
                self.plan = Some(foresee(plan, args.values(), &view.settings, &find));
                // It starts nothing itself; what its calls need is for them to say.
                (self.bin, self.binding, self.unenforced) = (None, Vec::new(), Vec::new());
            }
            self.resources = prepared.resources.iter().map(Resource::describe).collect();
            self.argv = prepared.argv;
        }
    }

    /// The first step that refuses.
    pub fn first_refusal(&self) -> Option<&Note> {
        self.steps.iter().find(|note| note.refused.is_some())
    }

    /// The explanation as JSON.
    pub fn to_json(&self) -> Value {
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|note| {
                json!({
                    "step": note.step.number(),
                    "step_name": note.step.name(),
                    "ok": note.ok,
                    "error": note.refused.as_ref().map(|refused| refused.refusal.to_string()),
                })
            })
            .collect();
        let governance = self.governance.as_ref();
        json!({
            "steps": steps,
            "argv": self.argv,
            "bin": self.bin,
            "plan": self.plan.as_ref().map(|plan| {
                plan.iter().map(PlannedStep::to_json).collect::<Vec<_>>()
            }),
            "effect": governance.map(|governance| governance.effect.as_str()),
            "capability": governance.map(|governance| governance.capability.clone()),
            "confirm": governance.map(|governance| governance.confirm),
            "approval": governance.and_then(|governance| governance.approval),
            "binding": self.binding,
            "resources": self.resources,
            "isolation": self.isolation,
            "unenforced": self.unenforced,
        })
    }
}
