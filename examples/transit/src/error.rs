//! Everything that can go wrong, what to do about it, and the exit status that says whose turn it is.

use std::io::{self, Write};
use std::path::PathBuf;

use thiserror::Error;

/// Why a command did not do what it was asked.
#[derive(Debug, Error)]
pub(crate) enum TransitError {
    /// No stop has this id or name.
    #[error("unknown stop `{0}`")]
    UnknownStop(String),
    /// Both ends are the same stop.
    #[error("`{0}` is both the start and the goal")]
    SameStop(String),
    /// The timetable has no way there.
    #[error("no way from `{from}` to `{to}` from {at} on {date}")]
    NoWay {
        /// The start.
        from: String,
        /// The goal.
        to: String,
        /// The earliest departure.
        at: String,
        /// The day.
        date: String,
    },
    /// Not a time of day.
    #[error("`{0}` is not a time of day")]
    Time(String),
    /// A file of the feed could not be read or written.
    #[error("`{}`: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the feed is not what GTFS wants.
    #[error("`{file}`, line {line}: {what}")]
    Feed {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The answer could not be written.
    #[error("the answer cannot be written: {0}")]
    Output(io::Error),
}

impl TransitError {
    fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnknownStop(_) => "see `transit stops`",
            Self::NoWay { .. } => "try an earlier time, or another day",
            Self::Time(_) => "write hours and minutes, like `08:30`",
            _ => return None,
        })
    }

    /// 1 when the timetable says no, 2 for wrong usage, 70 when the feed is out of order.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownStop(_) | Self::SameStop(_) | Self::NoWay { .. } => 1,
            Self::Time(_) => 2,
            Self::File { .. } | Self::Feed { .. } | Self::Output(_) => 70,
        }
    }

    /// Writes the error for a person: one line, and one more where there is a hint.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "error: {self}")?;
        match self.hint() {
            Some(hint) => writeln!(out, "hint: {hint}"),
            None => Ok(()),
        }
    }
}
