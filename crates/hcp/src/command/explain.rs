//! `hcp explain`: the nine steps of a call, evaluated and not taken.

use clap::Args;
use hcp_core::{Call, Explanation, Note, mend};
use hcp_sandbox::Cancel;
use hcp_spec::ExitStatus;
use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::envelope::{ExecEnvelope, MAX_DEPTH};
use hcp_spec::json::parse_value;
use hcp_spec::name::TenantId;
use serde_json::Value;

use crate::ambient::{Ambient, Installation};
use crate::failure::Failure;
use crate::terminal::{Page, Terminal, Tone};

/// Nothing is minted and nothing runs; the status is 0 also for a call that would be refused
#[derive(Debug, Args)]
#[command(override_usage = "hcp explain [OPTIONS] PACK VERB [-- K=V…]\n       \
                            hcp explain [OPTIONS] --record SEQ")]
pub(crate) struct Explain {
    /// Session of the call [default: HCP_SESSION, else the default session of who would call]
    #[arg(long)]
    session: Option<String>,
    /// Explain it as a call of this Principal
    #[arg(long = "as", value_name = "PRINCIPAL")]
    as_principal: Option<String>,
    /// Explain the call of this audit record as it would be judged now
    #[arg(long, value_name = "SEQ", conflicts_with_all = ["pack", "verb", "pairs"])]
    record: Option<u64>,
    /// The tenant whose trail the record is in
    #[arg(long, default_value = DEFAULT_TENANT, requires = "record")]
    tenant: TenantId,
    /// The pack
    #[arg(required_unless_present = "record")]
    pack: Option<String>,
    /// The verb
    #[arg(required_unless_present = "record")]
    verb: Option<String>,
    /// Arguments: k=v, k:=JSON, or k=@- for the text of stdin
    #[arg(last = true, value_name = "K=V")]
    pairs: Vec<String>,
}

impl Explain {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let call = self.call(&installation, ambient)?;
        let (pack, verb) = (call.pack_id.clone(), call.verb_key.clone());
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
                && let Some(mend) = mend(&refused.refusal, &pack, &verb)
            {
                page.field("next", &mend);
            }
        });
        Ok(ExitStatus::Ok)
    }

    fn call(&self, installation: &Installation, ambient: &Ambient) -> Result<Call, Failure> {
        let cancel = Cancel::new().map_err(|error| Failure::internal(error.to_string()))?;
        let session = ambient.session(self.session.clone());
        let named = |text: &String| installation.principal_named(text);
        let principal = self.as_principal.as_ref().map(named).transpose()?;
        let Some(seq) = self.record else {
            let (pack, verb) = (
                self.pack.as_deref().unwrap_or_default(),
                self.verb.as_deref().unwrap_or_default(),
            );
            let call = installation.call(pack, verb, &self.pairs, session, cancel);
            return Ok(Call {
                principal: principal.unwrap_or(call.principal),
                ..call
            });
        };
        let record = installation
            .runtime
            .store()
            .record_at(self.tenant.as_str(), seq)?;
        let event = record.map(|record| record.event).ok_or_else(|| {
            let hint = "`hcp audit list` lists the records";
            Failure::usage(
                format!("tenant `{}` has no record {seq}", self.tenant),
                hint,
            )
        })?;
        let args = event
            .args
            .as_deref()
            .map(|text| parse_value(text, MAX_DEPTH));
        let (Some(Ok(Value::Object(args))), Some(pack_id), Some(verb_key)) =
            (args, event.pack_id, event.verb_key)
        else {
            let hint = "choose a record of kind denied, intent, outcome or explain";
            return Err(Failure::usage(format!("record {seq} holds no call"), hint));
        };
        let principal = match principal {
            Some(principal) => principal,
            None => installation.principal_named(&event.principal)?,
        };
        let envelope = ExecEnvelope {
            pack_id,
            verb_key,
            args,
        };
        Ok(Call::new(
            envelope,
            principal,
            session.or(event.session_id),
            cancel,
        ))
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
