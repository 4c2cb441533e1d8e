//! What the runtime gives back for a call: the envelope, and beside it what faces may want to tell.

use std::time::Duration;

use hcp_sandbox::{End, Finished};
use hcp_spec::{ExitStatus, Refusal, ResultEnvelope};
use serde_json::{Value, json};

use crate::call::Call;
use crate::composite::InnerReport;
use crate::pipeline::Phase;

/// The answer to one call. Only the envelope is the answer of §6.2; everything else travels beside.
#[derive(Debug)]
pub struct Answer {
    /// The result envelope.
    pub envelope: ResultEnvelope,
    /// How a command line that made this call ends.
    pub exit_status: ExitStatus,
    /// Why the envelope is not `ok`; `None` also for a text that was no envelope.
    pub refusal: Option<Refusal>,
    /// What travels beside.
    pub metadata: Metadata,
}

impl Answer {
    /// A call that never reached step 1, since the store could not say what there is.
    pub(crate) fn store_failed(call: &Call, refusal: &Refusal) -> Self {
        Self {
            envelope: ResultEnvelope::refused(&call.pack_id, &call.verb_key, refusal),
            exit_status: refusal.exit_status(),
            refusal: Some(refusal.clone()),
            metadata: Metadata::default(),
        }
    }
}

/// What travels beside an envelope.
#[derive(Debug, Default)]
pub struct Metadata {
    /// The `seq` of the record of this call's end, when one was written.
    pub audit_seq: Option<u64>,
    /// From the envelope to the answer.
    pub duration: Duration,
    /// What only the operator is told about a refusal.
    pub detail: Option<String>,
    /// What went wrong beside the call.
    pub warning: Option<String>,
    /// What there is to know about the child; `None` when none ran.
    pub run: Option<Run>,
    /// What became of the steps of a composite (§6.6), in the order of its manifest.
    pub inner: Vec<InnerReport>,
    /// What was entered, in order, with the time each took.
    pub phases: Vec<(Phase, Duration)>,
}

/// What there is to know about a child that ran.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The exit code, when it exited by itself.
    pub exit_code: Option<i32>,
    /// All that it wrote to stdout, in bytes.
    pub stdout_bytes: u64,
    /// All that it wrote to stderr, in bytes.
    pub stderr_bytes: u64,
    /// Whether bytes that were not UTF-8 were replaced in the result.
    pub replaced: bool,
    /// `live`, `mock` or `none`.
    pub binding: &'static str,
    /// How it was isolated.
    pub isolation: &'static str,
    /// Wishes of the pack that this isolation does not enforce.
    pub unenforced: Vec<&'static str>,
    /// From its start to its end.
    pub duration: Duration,
}

impl Run {
    pub(crate) fn of(finished: &Finished, binding: &'static str) -> Self {
        Self {
            exit_code: match finished.end {
                End::Exited(code) => Some(code),
                _ => None,
            },
            stdout_bytes: finished.stdout_total,
            stderr_bytes: finished.stderr_total,
            binding,
            duration: finished.duration,
            ..Self::default()
        }
    }

    /// The run as a record keeps it, with the time of the whole call.
    pub fn to_json(&self, whole: Duration) -> Value {
        json!({
            "exit_code": self.exit_code,
            "stdout_bytes": self.stdout_bytes,
            "stderr_bytes": self.stderr_bytes,
            "replaced": self.replaced,
            "binding": self.binding,
            "isolation": self.isolation,
            "unenforced": self.unenforced,
            "run_us": micros(self.duration),
            "call_us": micros(whole),
        })
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
