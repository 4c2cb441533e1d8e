//! The nine steps of §6.3, by number and by the name they carry everywhere: tracing spans, audit
//! records, `hcp explain` and the conformance cases.

use serde::Serialize;

/// One step of the pipeline (§6.3), in the order of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Step {
    /// Find the pack and make sure its bytes are the ones that were added.
    ResolvePack = 1,
    /// The pack is activated on the session of this call.
    CheckActivation = 2,
    /// The verb is declared and has a Policy entry.
    ResolvePolicy = 3,
    /// The Principal is known, the session lives, tenant and project are there.
    Authenticate = 4,
    /// A grant covers the capability of the Policy entry.
    AssertCapability = 5,
    /// The confirm gate is satisfied; the arguments are checked right after it.
    EnforceConfirm = 6,
    /// Short-lived credentials are minted.
    MintBinding = 7,
    /// The Adapter runs in its sandbox.
    RunAdapter = 8,
    /// The result is returned and the audit record written.
    Record = 9,
}

impl Step {
    /// All nine, in order.
    pub const ALL: [Self; 9] = [
        Self::ResolvePack,
        Self::CheckActivation,
        Self::ResolvePolicy,
        Self::Authenticate,
        Self::AssertCapability,
        Self::EnforceConfirm,
        Self::MintBinding,
        Self::RunAdapter,
        Self::Record,
    ];

    /// The number of the step, from 1 to 9.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The fixed `step_name`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ResolvePack => "resolve_pack",
            Self::CheckActivation => "check_activation",
            Self::ResolvePolicy => "resolve_policy",
            Self::Authenticate => "authenticate",
            Self::AssertCapability => "assert_capability",
            Self::EnforceConfirm => "enforce_confirm",
            Self::MintBinding => "mint_binding",
            Self::RunAdapter => "run_adapter",
            Self::Record => "record",
        }
    }

    /// The step with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.number() == number)
    }
}

impl Serialize for Step {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Step;

    #[test]
    fn numbers_count_from_one_in_the_order_of_the_law() {
        for (index, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(step.number()), index + 1);
            assert_eq!(Step::from_number(step.number()), Some(step));
        }
        assert_eq!(Step::from_number(0), None);
        assert_eq!(Step::from_number(10), None);
    }
}
