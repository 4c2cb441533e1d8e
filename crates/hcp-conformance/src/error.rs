//! What can go wrong with the kit itself; a runtime that fails its cases is no error.

use std::io;

use thiserror::Error;

/// A fault of the kit, its cases or its command line.
#[derive(Debug, Error)]
pub enum KitError {
    /// A file of cases is not what the kit reads.
    #[error("cases `{file}`: {reason}")]
    Cases {
        /// The file.
        file: &'static str,
        /// What is wrong, on one line.
        reason: String,
    },
    /// The adapter could not be started, died, or broke the protocol.
    #[error("adapter: {0}")]
    Adapter(String),
    /// The adapter did not answer in time.
    #[error("adapter: no answer to `{request}` within {limit_ms} ms")]
    Silent {
        /// The request.
        request: &'static str,
        /// How long the kit waited, in milliseconds.
        limit_ms: u128,
    },
    /// Files of the kit could not be read or written.
    #[error("{what}: {error}")]
    Io {
        /// What was to be done.
        what: &'static str,
        /// Why it could not.
        error: io::Error,
    },
    /// The command line asks for something that is not there.
    #[error("no {what} `{name}`; `hcp-conformance {list}` lists them")]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// The command that lists them.
        list: &'static str,
    },
}

impl KitError {
    /// Wraps what the system said about `what`.
    pub fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { what, error }
    }
}
