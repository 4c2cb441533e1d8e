//! How a command fails: one line that names the thing, a hint, and the exit status.

use hcp_core::CoreError;
use hcp_pack::{ArgumentError, PackError};
use hcp_spec::ExitStatus;
use hcp_spec::name::NameError;
use hcp_store::StoreError;

/// A command that did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What happened, to which thing.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
    /// A report of several lines that says it better than the message, with and without colour.
    pub(crate) report: Option<(String, String)>,
    /// How the process ends.
    pub(crate) status: ExitStatus,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: Some(hint.into()),
            report: None,
            status: ExitStatus::Usage,
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            report: None,
            status: ExitStatus::Internal,
        }
    }

    /// A token's Principal acts through a serving process, never by opening the home itself.
    pub(crate) fn no_server(variable: &str) -> Self {
        Self {
            message: format!(
                "{variable} is set, and this version has no serving process to connect to"
            ),
            hint: Some(format!(
                "unset {variable} to act as the operator of this home"
            )),
            report: None,
            status: ExitStatus::Refused,
        }
    }
}

impl From<CoreError> for Failure {
    fn from(error: CoreError) -> Self {
        let status = match &error {
            CoreError::Store(StoreError::AlreadyThere { .. } | StoreError::NotThere { .. }) => {
                ExitStatus::Usage
            }
            CoreError::Store(_)
            | CoreError::NoHome { .. }
            | CoreError::Io { .. }
            | CoreError::Internal(_) => ExitStatus::Internal,
            CoreError::Pack(_)
            | CoreError::Trust(_)
            | CoreError::StoreUrl { .. }
            | CoreError::LooserThanFloor { .. }
            | CoreError::OtherBytes { .. }
            | CoreError::CapabilityInUse { .. }
            | CoreError::Missing { .. }
            | CoreError::Name(_)
            | CoreError::NotAllowed { .. } => ExitStatus::Usage,
        };
        let report = match &error {
            CoreError::Pack(error) => Some((error.report(true), error.report(false))),
            _ => None,
        };
        Self {
            message: error.to_string(),
            hint: error.hint(),
            report,
            status,
        }
    }
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        CoreError::from(error).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        CoreError::from(error).into()
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self {
            message: error.to_string(),
            hint: None,
            report: None,
            status: ExitStatus::Usage,
        }
    }
}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Self {
            message: format!("args: {error}"),
            hint: None,
            report: None,
            status: ExitStatus::Refused,
        }
    }
}
