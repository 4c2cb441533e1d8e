//! What keeps a measurement from being taken.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use thiserror::Error;

/// Why there is no number.
#[derive(Debug, Error)]
pub(crate) enum BenchError {
    /// A file of the installation could not be made or read.
    #[error("`{}`: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("`{command}` could not be started: {source}")]
    Start {
        /// The command, as one would type it.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program ended badly, so that its time means nothing.
    #[error("`{command}` ended with {status}: {stderr}")]
    Failed {
        /// The command, as one would type it.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: String,
    },
    /// A program answered something else than was asked for.
    #[error("`{command}` answered `{answer}`, which is no {expected}")]
    Answer {
        /// The command, as one would type it.
        command: String,
        /// Its answer.
        answer: String,
        /// What was asked for.
        expected: &'static str,
    },
    /// The installation could not be made ready in this process.
    #[error("the installation is not ready: {0}")]
    Installation(#[source] Box<hcp_core::CoreError>),
    /// What was measured did not do its work.
    #[error("{0}")]
    Wrong(&'static str),
    /// The report could not be written.
    #[error("the report cannot be written: {0}")]
    Output(io::Error),
}
