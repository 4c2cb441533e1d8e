//! What a face hands to the runtime: an envelope, on whose behalf, in which session.

use hcp_sandbox::Cancel;
use hcp_spec::envelope::{Arguments, ExecEnvelope};
use hcp_spec::name::PrincipalName;

use crate::composite::InnerCall;

/// One call, as it reaches step 1. The face has authenticated the Principal; step 4 reads again
/// whether it still stands.
#[derive(Clone, Debug)]
pub struct Call {
    /// The pack, as the Invoker wrote it.
    pub pack_id: String,
    /// The verb, as the Invoker wrote it.
    pub verb_key: String,
    /// The arguments, reserved ones included.
    pub args: Arguments,
    /// What the face could not read of the arguments; told where arguments are judged.
    pub fault: Option<String>,
    /// Who calls.
    pub principal: PrincipalName,
    /// The session that was named, or none: the Principal's default session.
    pub session: Option<String>,
    /// Takes the call back.
    pub cancel: Cancel,
    /// Set where a composite makes the call (§6.6); no face can make such a mark.
    pub inner: Option<InnerCall>,
}

impl Call {
    /// A call of `envelope` on behalf of `principal`.
    pub fn new(
        envelope: ExecEnvelope,
        principal: PrincipalName,
        session: Option<String>,
        cancel: Cancel,
    ) -> Self {
        let ExecEnvelope {
            pack_id,
            verb_key,
            args,
        } = envelope;
        Self {
            pack_id,
            verb_key,
            args,
            fault: None,
            principal,
            session,
            cancel,
            inner: None,
        }
    }

    /// Whether the gate is satisfied: the JSON value `true` under `confirm` or `apply`, nothing
    /// that merely looks like it (§6.1). An inner call is confirmed by its composite or not at all,
    /// whatever its arguments say (§6.6).
    pub fn is_confirmed(&self) -> bool {
        if let Some(inner) = &self.inner {
            return inner.is_confirmed_for(&self.pack_id, &self.verb_key);
        }
        ["confirm", "apply"].iter().any(|key| {
            self.args
                .get(*key)
                .and_then(serde_json::Value::as_bool)
                .unwrap_or(false)
        })
    }

    /// Whether an explicit mock Binding is asked for (§6.1).
    pub fn wants_mock(&self) -> bool {
        self.args.get("mode").and_then(serde_json::Value::as_str) == Some("mock")
            || self.inner.as_ref().is_some_and(InnerCall::wants_mock)
    }
}
