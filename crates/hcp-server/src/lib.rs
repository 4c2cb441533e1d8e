//! The faces of the runtime that serve a program on stdin and stdout: JSON lines and MCP.
//!
//! A face translates and decides nothing: what came in becomes an envelope, the nine steps answer it,
//! and the answer goes out in the face's own wrapping (§6.5). Everything that a face knows of the
//! installation it knows through a [`Host`].

mod client_watch;
mod host;
mod lines;
pub mod mcp;
mod members;
mod protocol_output;
mod running;
pub mod stdio;

use std::time::Duration;

pub use host::{Host, Reopen};
pub use protocol_output::take_stdout;

/// Calls that run at once for one client.
const AT_ONCE: usize = 16;
/// What a message may take beside a whole envelope, in bytes.
const WRAPPER: usize = 64 << 10;
/// How long answers are still written after serving was to end, to a client that may not read them.
const GRACE: Duration = Duration::from_secs(5);

/// How serving came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The input ended, and everything that was asked is answered.
    Input,
    /// The process was asked to end, or nobody reads the answers any more: what ran was cancelled.
    Stopped,
}
