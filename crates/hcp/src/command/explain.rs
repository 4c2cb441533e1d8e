//! `hcp explain`: the nine steps of a call, evaluated and not taken.

use clap::Args;
use hcp_core::{Explanation, Note, mend};
use hcp_sandbox::Cancel;
use hcp_spec::ExitStatus;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Page, Terminal, Tone};

/// Nothing is minted and nothing runs; the status is 0 also for a call that would be refused
#[derive(Debug, Args)]
#[command(override_usage = "hcp explain [OPTIONS] PACK VERB [-- K=V…]")]
pub(crate) struct Explain {
    /// Session of the call [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
    /// The pack
    pack: String,
    /// The verb
    verb: String,
    /// Arguments: k=v, k:=JSON, or k=@- for the text of stdin
    #[arg(last = true, value_name = "K=V")]
    pairs: Vec<String>,
}

impl Explain {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let session = ambient.session(self.session);
        let cancel = Cancel::new().map_err(|error| Failure::internal(error.to_string()))?;
        let call = installation.call(&self.pack, &self.verb, &self.pairs, session, cancel);
        let explained = installation.runtime.explain(call)?;
        if let Err(error) = &explained.recorded {
            terminal.warn(&format!("the explanation was not recorded: {error}"), "");
        }
        terminal.show(&explained.to_json(), |page| {
            for note in &explained.steps {
                row(page, note);
            }
            page.line("");
            facts(page, &explained);
            let refusal = explained
                .first_refusal()
                .and_then(|note| note.refused.as_ref());
            if let Some(refused) = refusal
                && let Some(mend) = mend(&refused.refusal, &self.pack, &self.verb)
            {
                page.field("next", &mend);
            }
        });
        Ok(ExitStatus::Ok)
    }
}

fn row(page: &mut Page<'_>, note: &Note) {
    let (tone, mark) = match note.ok {
        Some(true) => (Tone::Good, "✓"),
        Some(false) => (Tone::Bad, "✗"),
        None => (Tone::Quiet, "·"),
    };
    let mut text = format!("{} {}", note.step.number(), note.step.name());
    if let Some(refused) = &note.refused {
        text = format!("{text:<20} {}", refused.refusal);
        if let Some(detail) = &refused.detail {
            text = format!("{text} ({detail})");
        }
    }
    page.marked(tone, mark, &text);
}

fn facts(page: &mut Page<'_>, explained: &Explanation) {
    if let Some(governance) = &explained.governance {
        page.field("effect", governance.effect.as_str());
        page.field("capability", &governance.capability);
        let gate = match (governance.confirm, governance.approval) {
            (_, Some(_)) => "confirm, and a person's approval",
            (true, None) => "confirm",
            (false, None) => "open",
        };
        page.field("gate", gate);
    }
    if let (Some(bin), Some(argv)) = (&explained.bin, &explained.argv) {
        let argv: Vec<String> = argv.iter().map(|element| format!("{element:?}")).collect();
        page.field("runs", &format!("{bin} {}", argv.join(" ")));
    }
    for step in explained.plan.iter().flatten() {
        page.field("step", &step.to_string());
    }
    if !explained.binding.is_empty() {
        page.field("binding", &explained.binding.join(" "));
    }
    for resource in &explained.resources {
        page.field("resource", resource);
    }
    page.field("isolation", explained.isolation);
    for wish in &explained.unenforced {
        page.field("not enforced", wish);
    }
}
