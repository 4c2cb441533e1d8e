//! Reading JSON strictly and without loss.
//!
//! `serde_json` keeps the last of two equal keys and, with exact numbers, gives some keys a meaning
//! of their own; an envelope may do neither. One scanner walks the text once, and both the values of
//! an envelope and the verbatim results of a tool are built from its events.

mod scanner;
mod value;

pub use scanner::{Event, JsonError, Scanner, plain_run};
pub use value::{parse_value, unescape};
