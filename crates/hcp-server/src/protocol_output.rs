//! Stdout, kept for the protocol alone.
//!
//! One stray line between two messages breaks every client. So the descriptor behind stdout is taken
//! away under another number, and what is written to stdout from then on lands on stderr.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};

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

/// Waits where a write would not: whether stdout blocks is a property of what the client made, and
/// shared with it.
pub(crate) struct PatientWriter(pub(crate) File);

impl Write for PatientWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let mut set = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::OUT)];
                    // An interrupted wait is only a reason to look again.
                    let _ = poll(&mut set, None);
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;

    use super::PatientWriter;

    #[test]
    fn a_pipe_that_does_not_block_is_written_whole() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let thread = std::thread::spawn(move || {
            let mut writer = PatientWriter(File::from(OwnedFd::from(writer)));
            writer.write_all(&vec![b'x'; 1 << 20]).unwrap();
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), 1 << 20);
        thread.join().unwrap();
    }
}
