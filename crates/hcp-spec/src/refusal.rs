//! Why a call was refused or failed: one value per text that the contract fixes, with the step that
//! said it and the exit status that follows from it.

use thiserror::Error;

use crate::exit::ExitStatus;
use crate::step::Step;

/// Everything that makes a result envelope say `ok: false` (§6.3). `Display` is the exact `error`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// Step 1: no such pack, or its bytes are no longer those that were added.
    #[error("unknown pack {0}")]
    UnknownPack(String),
    /// Step 2: not activated on the session, or there is no such session for this Principal.
    #[error("pack {0} not activated")]
    NotActivated(String),
    /// Step 3: the verb is not declared, or has no Policy entry (§6.7).
    #[error("no policy for {0}")]
    NoPolicy(String),
    /// Step 4: the pack's results land in the brain and the session has no project.
    #[error("denied: privacy.land brain requires project_id")]
    BrainRequiresProject,
    /// Step 4: the Principal is unknown or removed.
    #[error("denied: unauthenticated")]
    Unauthenticated,
    /// Step 4: the session is past its expiry.
    #[error("denied: session expired")]
    SessionExpired,
    /// Step 4: the session's tenant is gone.
    #[error("denied: no tenant")]
    NoTenant,
    /// Step 5: no grant covers the capability.
    #[error("denied: missing {capability} for {target}")]
    MissingCapability {
        /// The capability that the Policy entry names.
        capability: String,
        /// `<pack>.<verb>`, as [`crate::name::target`] writes it.
        target: String,
    },
    /// Step 6: the gate is closed, or a person's approval is needed and cannot be given.
    #[error("confirm required")]
    ConfirmRequired,
    /// Between steps 6 and 7: the arguments cannot be run as they are.
    #[error("args: {0}")]
    Arguments(String),
    /// Step 7: the Binding could not be minted (§6.7: there is no fallback).
    #[error("binding: {0}")]
    Binding(String),
    /// The audit intent could not be made durable, so nothing may run.
    #[error("audit: {0}")]
    Audit(String),
    /// The store could not answer.
    #[error("store: {0}")]
    Store(String),
    /// Step 8: the bin is neither shipped by the pack nor listed by the operator.
    #[error("sandbox: bin \"{0}\" not allowlisted")]
    BinNotAllowlisted(String),
    /// Step 8: the bin is allowlisted and not there, or not fit to run.
    #[error("sandbox: bin \"{0}\" not found")]
    BinNotFound(String),
    /// Step 8: the isolation that was asked for is not to be had.
    #[error("sandbox: {0}")]
    Isolation(String),
    /// Step 8: this runtime has no such adapter (§6.6).
    #[error("adapter {0} not executable in hcp")]
    AdapterNotExecutable(String),
    /// Step 8: the wall clock ran out; the limit as it was written.
    #[error("timed out after {0}")]
    TimedOut(String),
    /// Step 8: the caller took the call back.
    #[error("cancelled")]
    Cancelled,
    /// Step 8: the memory limit was hit.
    #[error("out of memory")]
    OutOfMemory,
    /// Step 8: more output than the limit, in bytes.
    #[error("output over {0} bytes")]
    OutputOver(u64),
    /// Step 8: the child was ended by a signal, by its name.
    #[error("signal {0}")]
    Signal(String),
    /// Step 8: the child failed and said why on stderr (its last 64 KiB).
    #[error("{0}")]
    Stderr(String),
    /// Step 8: the child failed without a word.
    #[error("exit {0}")]
    Exit(i32),
    /// Step 8: a call of a composite was refused, failed or could not be made (§6.6).
    #[error("{step}: {error}")]
    InnerCall {
        /// The step of the composite.
        step: String,
        /// The error of its call.
        error: Box<str>,
        /// Whether the fault is of the runtime itself, its store or its audit.
        internal: bool,
    },
}

impl Refusal {
    /// The step that a record of this refusal names. The argument checks stand between 6 and 7 and
    /// count as 6; a store or audit fault has no step of its own.
    pub const fn step(&self) -> Option<Step> {
        Some(match self {
            Self::UnknownPack(_) => Step::ResolvePack,
            Self::NotActivated(_) => Step::CheckActivation,
            Self::NoPolicy(_) => Step::ResolvePolicy,
            Self::BrainRequiresProject
            | Self::Unauthenticated
            | Self::SessionExpired
            | Self::NoTenant => Step::Authenticate,
            Self::MissingCapability { .. } => Step::AssertCapability,
            Self::ConfirmRequired | Self::Arguments(_) => Step::EnforceConfirm,
            Self::Binding(_) => Step::MintBinding,
            Self::Audit(_) | Self::Store(_) => return None,
            Self::BinNotAllowlisted(_)
            | Self::BinNotFound(_)
            | Self::Isolation(_)
            | Self::AdapterNotExecutable(_)
            | Self::TimedOut(_)
            | Self::Cancelled
            | Self::OutOfMemory
            | Self::OutputOver(_)
            | Self::Signal(_)
            | Self::Stderr(_)
            | Self::Exit(_)
            | Self::InnerCall { .. } => Step::RunAdapter,
        })
    }

    /// The exit status of a command line that ended in this refusal.
    pub const fn exit_status(&self) -> ExitStatus {
        match self {
            Self::UnknownPack(_)
            | Self::NotActivated(_)
            | Self::NoPolicy(_)
            | Self::BrainRequiresProject
            | Self::Unauthenticated
            | Self::SessionExpired
            | Self::NoTenant
            | Self::MissingCapability { .. }
            | Self::ConfirmRequired
            | Self::Arguments(_)
            | Self::Binding(_)
            | Self::Isolation(_)
            | Self::AdapterNotExecutable(_) => ExitStatus::Refused,
            Self::Audit(_) | Self::Store(_) | Self::InnerCall { internal: true, .. } => {
                ExitStatus::Internal
            }
            Self::BinNotAllowlisted(_) | Self::BinNotFound(_) => ExitStatus::BinUnavailable,
            Self::TimedOut(_)
            | Self::Cancelled
            | Self::OutOfMemory
            | Self::OutputOver(_)
            | Self::Signal(_)
            | Self::Stderr(_)
            | Self::Exit(_)
            | Self::InnerCall { .. } => ExitStatus::AdapterFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn texts_are_those_of_the_contract() {
        let inner = |internal| Refusal::InnerCall {
            step: "pay".into(),
            error: "confirm required".into(),
            internal,
        };
        let cases: [(Refusal, &str, u8, u8); 14] = [
            (Refusal::UnknownPack("x".into()), "unknown pack x", 1, 3),
            (
                Refusal::NotActivated("x".into()),
                "pack x not activated",
                2,
                3,
            ),
            (Refusal::NoPolicy("v".into()), "no policy for v", 3, 3),
            (
                Refusal::BrainRequiresProject,
                "denied: privacy.land brain requires project_id",
                4,
                3,
            ),
            (
                Refusal::MissingCapability {
                    capability: "c:w".into(),
                    target: "p.v".into(),
                },
                "denied: missing c:w for p.v",
                5,
                3,
            ),
            (Refusal::ConfirmRequired, "confirm required", 6, 3),
            (
                Refusal::Arguments("missing a".into()),
                "args: missing a",
                6,
                3,
            ),
            (
                Refusal::BinNotAllowlisted("./b".into()),
                "sandbox: bin \"./b\" not allowlisted",
                8,
                127,
            ),
            (
                Refusal::AdapterNotExecutable("http".into()),
                "adapter http not executable in hcp",
                8,
                3,
            ),
            (Refusal::TimedOut("30s".into()), "timed out after 30s", 8, 1),
            (
                Refusal::OutputOver(16_777_216),
                "output over 16777216 bytes",
                8,
                1,
            ),
            (Refusal::Exit(4), "exit 4", 8, 1),
            (inner(false), "pay: confirm required", 8, 1),
            (inner(true), "pay: confirm required", 8, 70),
        ];
        for (refusal, text, step, status) in cases {
            assert_eq!(refusal.to_string(), text);
            assert_eq!(
                refusal.step().map(super::Step::number),
                Some(step),
                "{text}"
            );
            assert_eq!(refusal.exit_status().code(), status, "{text}");
        }
    }
}
