//! Why arguments cannot be run as they are; every text stands behind `args: ` in a refusal.

use thiserror::Error;

use crate::wording::{listed, one_line, quoted};

/// What is wrong with the arguments of a call (the checks between steps 6 and 7 of §6.3).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ArgumentError {
    /// The command has no such argument.
    #[error("unknown argument {}{}", quoted(name), unknown_hint(suggestion.as_deref(), accepted))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The nearest name that would have been right.
        suggestion: Option<String>,
        /// The names that the command accepts.
        accepted: Vec<String>,
    },
    /// A required argument is absent, or one that a token cannot do without.
    #[error("missing {}", quoted(name))]
    Missing {
        /// The argument.
        name: String,
    },
    /// The value is not what the command asks for.
    #[error("{} {problem}", quoted(name))]
    Invalid {
        /// The argument.
        name: String,
        /// What is wrong with it, to be read behind the name.
        problem: String,
    },
    /// No argv element can hold a NUL byte.
    #[error("{} holds a NUL byte", quoted(name))]
    Nul {
        /// The argument.
        name: String,
    },
    /// The value would be taken for a flag.
    #[error("{} begins with \"-\"", quoted(name))]
    Dash {
        /// The argument.
        name: String,
    },
    /// An object has no argv form.
    #[error("{} {} and has no argv form", quoted(name), if *within { "holds an object" } else { "is an object" })]
    Object {
        /// The argument.
        name: String,
        /// Whether it stands in an array.
        within: bool,
    },
    /// A number beyond a double has no argv form.
    #[error("{} is a number beyond a double and has no argv form", quoted(name))]
    BeyondDouble {
        /// The argument.
        name: String,
    },
    /// The system takes no such long argv element.
    #[error(
        "{} makes an argv element of {bytes} bytes, over the system's limit of {limit}",
        quoted(name)
    )]
    TooLong {
        /// The argument.
        name: String,
        /// The length of the element.
        bytes: usize,
        /// The longest that the system takes.
        limit: usize,
    },
    /// The system takes no such long argv.
    #[error("they make an argv of {bytes} bytes, over the limit of {limit}")]
    TooMuch {
        /// The length of all elements.
        bytes: usize,
        /// The longest that is tried.
        limit: usize,
    },
    /// A word of the command line is no `k=v`.
    #[error("{} is not of the form name=value", quoted(text))]
    NotAPair {
        /// The word.
        text: String,
    },
    /// A name is given twice on the command line.
    #[error("{} is given twice", quoted(name))]
    Repeated {
        /// The argument.
        name: String,
    },
    /// Only one argument can take the text of stdin.
    #[error(
        "{} cannot have stdin as well, {} takes it already",
        quoted(name),
        quoted(taken)
    )]
    StdinTwice {
        /// The second argument.
        name: String,
        /// The first argument.
        taken: String,
    },
    /// Stdin could not be read.
    #[error("{} cannot be read from stdin: {}", quoted(name), one_line(reason))]
    Stdin {
        /// The argument.
        name: String,
        /// What the system said.
        reason: String,
    },
}

impl ArgumentError {
    /// A value that is not what the command asks for.
    pub(crate) fn invalid(name: &str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }
}

fn unknown_hint(suggestion: Option<&str>, accepted: &[String]) -> String {
    match suggestion {
        Some(near) => format!("; did you mean {}?", quoted(near)),
        None if accepted.is_empty() => "; the command takes none".to_owned(),
        None => format!(
            "; the command takes {}",
            listed(accepted.iter().map(String::as_str), quoted)
        ),
    }
}
