//! Why nothing was minted, in words that hold neither a secret nor what a helper wrote.

use thiserror::Error;

/// Why there is no Binding. `Display` is what stands behind `binding: ` in the result envelope.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BindingError {
    /// The pack declares variables, and the operator configured nothing for it.
    #[error("{pack_id} declares {variables} and no provider is configured")]
    NoProvider {
        /// The pack.
        pack_id: String,
        /// What it declares.
        variables: String,
    },
    /// The kind of provider has no implementation here.
    #[error("provider {0} is not built into this version")]
    NotBuiltIn(&'static str),
    /// The section of the provider holds a key that belongs to another kind.
    #[error("provider {provider} has no use for `{key}`")]
    UselessKey {
        /// The kind of provider.
        provider: &'static str,
        /// The key.
        key: &'static str,
    },
    /// The provider gives something that the pack does not declare.
    #[error("provider static sets {variable}, which {pack_id} does not declare")]
    Undeclared {
        /// The variable.
        variable: String,
        /// The pack.
        pack_id: String,
    },
    /// The provider leaves out something that the pack declares.
    #[error("{pack_id} declares {variable} and provider static does not set it")]
    NotProvided {
        /// The variable.
        variable: String,
        /// The pack.
        pack_id: String,
    },
    /// One secret for several tenants, which nobody said is meant.
    #[error(
        "the secret of {pack_id} would serve {tenants} tenants: set `shared = true`, or give each \
         tenant its own"
    )]
    NotShared {
        /// The pack.
        pack_id: String,
        /// Tenants of the installation.
        tenants: u64,
    },
    /// A secret file that cannot be taken.
    #[error("secret file `{path}` {defect}")]
    SecretFile {
        /// The path, as the config writes it.
        path: String,
        /// What is wrong with it.
        defect: String,
    },
    /// The helper may not be run, or could not be.
    #[error("helper `{path}` {defect}")]
    Helper {
        /// The path, as the config writes it.
        path: String,
        /// What is wrong with it.
        defect: String,
    },
    /// The config names no helper.
    #[error("provider exec names no `command`")]
    NoCommand,
    /// The helper ended with a status other than 0.
    #[error("helper exited with {0}")]
    HelperExited(i32),
    /// The helper was ended by a signal.
    #[error("helper was ended by {0}")]
    HelperSignalled(String),
    /// The helper took too long.
    #[error("helper did not answer within 10s")]
    HelperTimedOut,
    /// The helper wrote too much.
    #[error("helper answered more than 65536 bytes")]
    HelperOutputOver,
    /// The call was taken back while the helper ran.
    #[error("cancelled")]
    Cancelled,
    /// The answer is not of the form that was agreed.
    #[error("helper answered something that is not version 1 JSON")]
    NotAnAnswer,
    /// The answer leaves out a variable.
    #[error("helper did not set {0}")]
    HelperNotSet(String),
    /// The answer holds a variable that nobody asked for; its name is the helper's, and not told.
    #[error("helper set a variable that {0} does not declare")]
    HelperUndeclared(String),
    /// A variable of the answer cannot stand in an environment.
    #[error("helper set {variable} to a value that {defect}")]
    HelperValue {
        /// The variable.
        variable: String,
        /// What is wrong with its value.
        defect: &'static str,
    },
    /// The credential was dead on arrival.
    #[error("credential has expired already")]
    Expired,
    /// The credential outlives what the pack needs and the operator allows.
    #[error("credential lives longer than {0}")]
    LivesTooLong(String),
    /// The call is over, and the credential may still be good.
    #[error("credential could not be revoked: {0}")]
    NotRevoked(Box<BindingError>),
}
