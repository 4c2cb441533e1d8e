//! Keeping stdout for the protocol alone.
//!
//! One stray line between two messages breaks every client. So the descriptor behind stdout is taken
//! away under another number, and what is written to stdout from then on lands on stderr.

use std::fs::File;
use std::io;

/// Takes stdout for the protocol. Whatever else writes to it afterwards, a library or a panic,
/// writes to stderr instead.
///
/// # Errors
/// When the system has no descriptor left.
pub fn take_stdout() -> io::Result<File> {
    let protocol = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(protocol))
}
