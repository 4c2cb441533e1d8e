//! What comes out of a child, made fit to hand on: JSON kept verbatim, minted secrets masked, and
//! everything a person will see escaped.
//!
//! The order is fixed and matters: bytes are read ([`read_result`], [`read_tail`]), secrets are
//! masked ([`Redactor`]) before anything is cut, and only what goes to a person is escaped
//! ([`escape`](fn@escape), [`EscapedWriter`]). Nothing here reads a file, a clock or a terminal.

mod compact;
mod escape;
mod redaction;
mod stderr;
mod verbatim;

pub use escape::{EscapedWriter, escape, escape_lines};
pub use redaction::{MASK, Redactor};
pub use stderr::{read_head, read_tail};
pub use verbatim::{ReadOutput, read_result};
