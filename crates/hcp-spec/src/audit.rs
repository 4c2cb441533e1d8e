//! The audit event of step 9 (§6.3): what one record says, whichever store keeps it.

use serde::{Deserialize, Serialize};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditKind {
    /// A call that was refused before its intent.
    Denied,
    /// A call that is about to mint and run; durable before either.
    Intent,
    /// How a call with an intent ended.
    Outcome,
    /// A call with an intent whose runtime was gone before it could write the outcome.
    Interrupted,
    /// A text that was no envelope.
    Invalid,
    /// A call that was only explained.
    Explain,
    /// An act of the operator.
    Admin,
}

impl AuditKind {
    /// The word as records write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Intent => "intent",
            Self::Outcome => "outcome",
            Self::Interrupted => "interrupted",
            Self::Invalid => "invalid",
            Self::Explain => "explain",
            Self::Admin => "admin",
        }
    }

    /// The kind behind the word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Denied,
            Self::Intent,
            Self::Outcome,
            Self::Interrupted,
            Self::Invalid,
            Self::Explain,
            Self::Admin,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == word)
    }
}

/// What is to be recorded. The store adds the sequence number, the time and the hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// What the record is about.
    pub kind: AuditKind,
    /// The tenant whose trail it belongs to.
    pub tenant_id: String,
    /// The project, where the session has one.
    pub project_id: Option<String>,
    /// Who acted.
    pub principal: String,
    /// The session, where one was named.
    pub session_id: Option<String>,
    /// The pack of the call, or what the operator acted on.
    pub pack_id: Option<String>,
    /// The digest of the pack that was resolved.
    pub pack_digest: Option<String>,
    /// The verb of the call, or the operator's act (`grant add`).
    pub verb_key: Option<String>,
    /// The number of the step that decided.
    pub step: Option<u8>,
    /// Whether it went well; `None` for an intent.
    pub ok: Option<bool>,
    /// The `error` of the result envelope, redacted.
    pub error: Option<String>,
    /// What only the operator may read: why a pack no longer matches, why a session is foreign.
    pub detail: Option<String>,
    /// The capability that was asserted.
    pub capability: Option<String>,
    /// The arguments as compact JSON, redacted and bounded.
    pub args: Option<String>,
    /// For an outcome: the `seq` of its intent.
    pub intent_seq: Option<u64>,
    /// The runtime that wrote it, whose lock tells whether it lives.
    pub runtime_id: String,
    /// What else there is to know of a run, as compact JSON: duration, exit status, byte counts.
    pub metadata: Option<String>,
}

impl AuditEvent {
    /// An event with nothing but what every record has.
    pub fn new(kind: AuditKind, tenant_id: &str, principal: &str, runtime_id: &str) -> Self {
        Self {
            kind,
            tenant_id: tenant_id.to_owned(),
            project_id: None,
            principal: principal.to_owned(),
            session_id: None,
            pack_id: None,
            pack_digest: None,
            verb_key: None,
            step: None,
            ok: None,
            error: None,
            detail: None,
            capability: None,
            args: None,
            intent_seq: None,
            runtime_id: runtime_id.to_owned(),
            metadata: None,
        }
    }
}

/// A record as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its number in the tenant's trail, from 1, without gaps.
    pub seq: u64,
    /// When it was written: UTC, RFC 3339, milliseconds.
    pub time: String,
    /// What it says.
    pub event: AuditEvent,
    /// The hash of the record before it, in hex.
    pub previous: String,
    /// Its own hash, over every other column, in hex.
    pub hash: String,
}

/// The tenant that records of the operator's own acts belong to when they concern no other.
pub const DEFAULT_TENANT: &str = "default";
