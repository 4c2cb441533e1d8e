//! Step 9: record, and answer. An intent stands in the audit trail before anything is minted or run,
//! its outcome after; a refusal is a record of its own.

use std::time::{Duration, Instant};

use hcp_spec::audit::{AuditEvent, AuditKind, DEFAULT_TENANT};
use hcp_spec::envelope::InvalidEnvelope;
use hcp_spec::name::PrincipalName;
use hcp_spec::{ExitStatus, Refusal, ResultEnvelope, Step};
use hcp_store::{Intent, StoreError};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::mode::{Live, Mode, Refused};
use super::s6_enforce_confirm::Confirmed;
use super::s8_run_adapter::Ran;
use super::walk::Walk;
use crate::answer::{Answer, Metadata, micros};
use crate::call::Call;
use crate::composite::InnerReport;
use crate::runtime::Runtime;

/// The largest arguments that a record holds whole, in bytes; larger ones by digest.
const MAX_ARGS: usize = 16 << 10;

/// The longest refusal that a record holds, in bytes; one may repeat an id of a megabyte.
const LONGEST_REFUSAL: usize = 2 << 10;

/// A call whose intent is durable; only such a call is minted for and run.
pub(super) struct Intended {
    pub(super) confirmed: Confirmed<Live>,
    pub(super) intent: Intent,
}

pub(super) fn intend(
    runtime: &Runtime,
    walk: &mut Walk<'_, Live>,
    confirmed: Confirmed<Live>,
) -> Result<Intended, Refused> {
    walk.mode.enter_intent();
    let event = event(AuditKind::Intent, runtime, walk, &confirmed.call);
    let intent = runtime.store().begin(&event).map_err(|error| {
        Refused::from(Refusal::Audit(format!(
            "the intent was not written: {}",
            in_short(&error)
        )))
    })?;
    Ok(Intended { confirmed, intent })
}

/// Records a call that ended before its intent.
pub(super) fn record_refusal(
    runtime: &Runtime,
    mut walk: Walk<'_, Live>,
    call: &Call,
    refused: Refused,
    began: Instant,
) -> Answer {
    let mut event = event(AuditKind::Denied, runtime, &walk, call);
    event.step = refused.refusal.step().map(Step::number);
    event.ok = Some(false);
    event.error = Some(bounded_to(&refused.refusal.to_string(), LONGEST_REFUSAL));
    event.detail.clone_from(&refused.detail);
    walk.enter(Step::Record);
    let recorded = runtime.store().record(&event);
    let (seq, refused) = match recorded {
        Ok(seq) => (Some(seq), refused),
        // Refused either way; what cannot be recorded is told as such, so that somebody looks.
        Err(error) => (
            None,
            Refused::because(unrecorded(&error, &refused.refusal), error.to_string()),
        ),
    };
    let envelope = ResultEnvelope::refused(&call.pack_id, &call.verb_key, &refused.refusal);
    Answer {
        exit_status: refused.refusal.exit_status(),
        refusal: Some(refused.refusal),
        envelope,
        metadata: Metadata {
            audit_seq: seq,
            duration: began.elapsed(),
            detail: refused.detail,
            phases: walk.mode.timings(),
            ..Metadata::default()
        },
    }
}

/// Records how a call with an intent ended, and answers.
pub(super) fn record_outcome(
    runtime: &Runtime,
    mut walk: Walk<'_, Live>,
    call: &Call,
    intent: Intent,
    ran: Ran,
    began: Instant,
) -> Answer {
    walk.enter(Step::Record);
    let mut event = event(AuditKind::Outcome, runtime, &walk, call);
    event.intent_seq = Some(intent.seq);
    event.ok = Some(ran.outcome.is_ok());
    event.step = Some(Step::Record.number());
    if let Err(refused) = &ran.outcome {
        event.step = refused.refusal.step().map(Step::number);
        event.error = Some(refused.refusal.to_string());
        event.detail.clone_from(&refused.detail);
    }
    // The intent holds them; by now one of them may be known to be a credential.
    event.args = None;
    event.metadata = metadata_of(call, &ran, began.elapsed());
    let intent_seq = intent.seq;
    let recorded = runtime.store().finish(intent, &event);
    let mut warning = walk.trail.warning.take();
    // The call has happened and its answer is the truth; the intent without an outcome is closed
    // as interrupted later.
    if let Err(error) = &recorded {
        warning = Some(format!("the outcome was not recorded: {}", in_short(error)));
    }
    answer(
        &walk,
        call,
        ran,
        began,
        recorded.unwrap_or(intent_seq),
        warning,
    )
}

/// What the record of an end says beside its columns: the run of a child or of a composite's steps,
/// and the composite that made the call.
fn metadata_of(call: &Call, ran: &Ran, whole: Duration) -> Option<String> {
    let mut facts = Map::new();
    if let Some(inner) = &call.inner {
        facts.extend(inner.facts());
    }
    if let Some(Value::Object(run)) = ran.run.as_ref().map(|run| run.to_json(whole)) {
        facts.extend(run);
    }
    if !ran.inner.is_empty() {
        let steps = ran.inner.iter().map(InnerReport::to_json).collect();
        facts.insert("steps".to_owned(), steps);
        facts.insert("call_us".to_owned(), micros(whole).into());
    }
    (!facts.is_empty()).then(|| Value::Object(facts).to_string())
}

fn answer(
    walk: &Walk<'_, Live>,
    call: &Call,
    ran: Ran,
    began: Instant,
    seq: u64,
    warning: Option<String>,
) -> Answer {
    let Ran {
        outcome,
        stdout,
        stderr,
        run,
        inner,
    } = ran;
    let mut metadata = Metadata {
        audit_seq: Some(seq),
        duration: began.elapsed(),
        warning,
        run,
        inner,
        phases: walk.mode.timings(),
        ..Metadata::default()
    };
    let (envelope, refusal) = match outcome {
        Ok(result) => (
            ResultEnvelope::success(&call.pack_id, &call.verb_key, result),
            None,
        ),
        Err(Refused { refusal, detail }) => {
            metadata.detail = detail;
            (
                ResultEnvelope::refused(&call.pack_id, &call.verb_key, &refusal),
                Some(refusal),
            )
        }
    };
    Answer {
        envelope: ResultEnvelope {
            stdout,
            stderr,
            ..envelope
        },
        exit_status: refusal
            .as_ref()
            .map_or(ExitStatus::Ok, Refusal::exit_status),
        refusal,
        metadata,
    }
}

/// Records and answers a text that was no envelope.
pub(crate) fn record_invalid(
    runtime: &Runtime,
    invalid: &InvalidEnvelope,
    principal: &PrincipalName,
) -> Answer {
    let began = Instant::now();
    let mut event = AuditEvent::new(
        AuditKind::Invalid,
        DEFAULT_TENANT,
        principal.as_str(),
        runtime.store().runtime_id(),
    );
    event.pack_id = Some(bounded(&invalid.pack_id));
    event.verb_key = Some(bounded(&invalid.verb_key));
    event.ok = Some(false);
    event.error = Some(bounded_to(&invalid.to_string(), LONGEST_REFUSAL));
    let recorded = runtime.store().record(&event);
    let failed = ResultEnvelope::failed(&invalid.pack_id, &invalid.verb_key, invalid.to_string());
    let metadata = Metadata {
        audit_seq: recorded.as_ref().ok().copied(),
        duration: began.elapsed(),
        ..Metadata::default()
    };
    match recorded {
        Ok(_) => Answer {
            envelope: failed,
            exit_status: ExitStatus::Usage,
            refusal: None,
            metadata,
        },
        Err(error) => {
            let refusal = Refusal::Audit(in_short(&error));
            Answer {
                envelope: ResultEnvelope::refused(&invalid.pack_id, &invalid.verb_key, &refusal),
                exit_status: refusal.exit_status(),
                refusal: Some(refusal),
                metadata,
            }
        }
    }
}

/// Records that a call was explained.
pub(super) fn record_explain<M: Mode>(
    runtime: &Runtime,
    walk: &Walk<'_, M>,
    call: &Call,
    first: Option<(Step, &Refused)>,
) -> Result<u64, StoreError> {
    let mut event = event(AuditKind::Explain, runtime, walk, call);
    event.ok = Some(first.is_none());
    if let Some((step, refused)) = first {
        event.step = Some(step.number());
        event.error = Some(refused.refusal.to_string());
        event.detail.clone_from(&refused.detail);
    }
    runtime.store().record(&event)
}

fn event<M>(kind: AuditKind, runtime: &Runtime, walk: &Walk<'_, M>, call: &Call) -> AuditEvent {
    let trail = &walk.trail;
    let tenant = trail.tenant_id.as_deref().unwrap_or(DEFAULT_TENANT);
    let runtime_id = runtime.runtime_id().to_owned();
    let (args, mut facts) = arguments(call);
    if let Some(inner) = &call.inner {
        facts.extend(inner.facts());
    }
    AuditEvent {
        project_id: trail.project_id.clone(),
        session_id: trail.session_id.clone(),
        pack_id: Some(bounded(&call.pack_id)),
        pack_digest: trail.pack_digest.clone(),
        verb_key: Some(bounded(&call.verb_key)),
        capability: trail.capability.clone(),
        args,
        metadata: (!facts.is_empty()).then(|| Value::Object(facts).to_string()),
        ..AuditEvent::new(kind, tenant, call.principal.as_str(), &runtime_id)
    }
}

/// The arguments as compact JSON; large ones by what they hash to, among the metadata.
fn arguments(call: &Call) -> (Option<String>, Map<String, Value>) {
    let text = Value::Object(call.args.clone()).to_string();
    let mut facts = Map::new();
    if text.len() <= MAX_ARGS {
        return (Some(text), facts);
    }
    let sha256 = crate::hex::encode(&Sha256::digest(text.as_bytes()));
    facts.insert("args_sha256".to_owned(), sha256.into());
    facts.insert("args_bytes".to_owned(), text.len().into());
    (None, facts)
}

/// An id as the Invoker wrote it may be a megabyte long; a record keeps what tells it apart.
fn bounded(text: &str) -> String {
    bounded_to(text, 512)
}

fn bounded_to(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let cuts = text.char_indices().map(|(at, _)| at);
    let cut = cuts.take_while(|at| *at <= longest).last();
    format!("{}…", text.get(..cut.unwrap_or(0)).unwrap_or_default())
}

fn unrecorded(error: &StoreError, refusal: &Refusal) -> Refusal {
    match refusal {
        Refusal::Store(_) => refusal.clone(),
        _ => Refusal::Audit(format!("the refusal was not recorded: {}", in_short(error))),
    }
}

fn in_short(error: &StoreError) -> String {
    error.to_string()
}
