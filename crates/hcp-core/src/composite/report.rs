//! What a composite tells of its steps, beside the envelope and in its record.

use std::time::Duration;

use serde_json::{Value, json};

/// How much of an error the record of the composite repeats, in characters; the record of the inner
/// call has all of it.
const SHOWN: usize = 512;

/// What became of one step of a composite.
#[derive(Clone, Debug)]
pub struct InnerReport {
    /// The name of the step.
    pub step: String,
    /// The call, as `<pack>.<verb>` of the manifest.
    pub call: String,
    /// How it ended.
    pub state: State,
    /// Why it failed.
    pub error: Option<String>,
    /// What went wrong beside its call.
    pub warning: Option<String>,
    /// The `seq` of the record of its end, where a call was made and recorded.
    pub audit_seq: Option<u64>,
    /// How long the call took.
    pub duration: Duration,
}

/// How a step of a composite ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its call succeeded.
    Ok,
    /// Its condition was false, so no call was made.
    Skipped,
    /// Its call was refused or failed, or could not be made.
    Failed,
    /// Another step failed, or the composite ran out of time, before its turn came.
    NotBegun,
}

impl State {
    /// The word of the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::NotBegun => "not_begun",
        }
    }
}

impl InnerReport {
    /// The report as a record keeps it.
    pub fn to_json(&self) -> Value {
        let error = self.error.as_ref();
        json!({
            "step": self.step,
            "call": self.call,
            "state": self.state.as_str(),
            "error": error.map(|error| error.chars().take(SHOWN).collect::<String>()),
            "audit_seq": self.audit_seq,
            "call_us": u64::try_from(self.duration.as_micros()).unwrap_or(u64::MAX),
        })
    }
}
