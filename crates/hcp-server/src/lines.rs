//! Reading lines from whoever is on the other side: bounded, whatever is sent, and woken when
//! serving is to end.

use std::os::fd::{AsFd, BorrowedFd};

use hcp_sandbox::Cancel;
use hcp_spec::envelope::{InvalidEnvelope, MAX_BYTES};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Bytes asked of the system at once; what a pipe holds.
const CHUNK: usize = 64 << 10;

/// What the input had next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line, without its end. The last one may have had none.
    Line(Line),
    /// There is no more.
    End,
    /// Serving is to end.
    Stopped,
}

/// A line, or the beginning of one that is too long.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its bytes, at most the limit.
    pub(crate) bytes: Vec<u8>,
    /// Whether there were more than the limit; they are gone.
    pub(crate) is_over: bool,
}

/// Cuts an input into lines. Holds one line of at most the limit and one chunk, never more.
pub(crate) struct LineReader<'a> {
    input: BorrowedFd<'a>,
    stop: &'a Cancel,
    limit: usize,
    chunk: Vec<u8>,
    at: usize,
    line: Line,
}

impl<'a> LineReader<'a> {
    /// Reads lines of at most `limit` bytes from `input` until `stop` is switched on.
    pub(crate) fn new(input: BorrowedFd<'a>, stop: &'a Cancel, limit: usize) -> Self {
        Self {
            input,
            stop,
            limit,
            chunk: Vec::new(),
            at: 0,
            line: Line::default(),
        }
    }

    /// The next line. An input that cannot be read has ended.
    pub(crate) fn next(&mut self) -> Next {
        loop {
            if self.take_from_chunk() {
                return Next::Line(std::mem::take(&mut self.line));
            }
            match self.fill() {
                Ok(Filled::Some) => {}
                Ok(Filled::Stopped) => return Next::Stopped,
                Ok(Filled::End) if self.line == Line::default() => return Next::End,
                Ok(Filled::End) => return Next::Line(std::mem::take(&mut self.line)),
                Err(error) => {
                    tracing::warn!("the input cannot be read any further: {error}");
                    return Next::End;
                }
            }
        }
    }

    /// Moves bytes of the chunk to the line; `true` when the line is whole.
    fn take_from_chunk(&mut self) -> bool {
        let rest = self.chunk.get(self.at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest);
        let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let room = self.limit.saturating_sub(self.line.bytes.len());
        let kept = part.get(..room).unwrap_or(part);
        self.line.bytes.extend_from_slice(kept);
        self.line.is_over |= kept.len() < part.len();
        self.at += part.len() + usize::from(end.is_some());
        end.is_some()
    }

    fn fill(&mut self) -> rustix::io::Result<Filled> {
        self.at = 0;
        self.chunk.resize(CHUNK, 0);
        let filled = self.read();
        self.chunk.truncate(filled.unwrap_or(Some(0)).unwrap_or(0));
        Ok(match filled? {
            None => Filled::Stopped,
            Some(0) => Filled::End,
            Some(_) => Filled::Some,
        })
    }

    fn read(&mut self) -> rustix::io::Result<Option<usize>> {
        loop {
            let mut set = [
                PollFd::from_borrowed_fd(self.stop.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.input, PollFlags::IN),
            ];
            match poll(&mut set, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            }
            let [stop, _] = set;
            if !stop.revents().is_empty() {
                return Ok(None);
            }
            match rustix::io::read(self.input, &mut self.chunk) {
                Ok(count) => return Ok(Some(count)),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// What is said of an envelope that does not fit, however much of it there is.
pub(crate) fn too_long() -> InvalidEnvelope {
    InvalidEnvelope::new(format!("over {MAX_BYTES} bytes"))
}

/// What reading a chunk came to.
enum Filled {
    Some,
    End,
    Stopped,
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use hcp_sandbox::Cancel;

    use super::{Line, LineReader, Next};

    /// The lines of `input`, a line too long ending in `…`.
    fn lines(input: &[u8], limit: usize) -> Vec<String> {
        let (read, mut write) = std::io::pipe().unwrap();
        let input = input.to_owned();
        let writer = std::thread::spawn(move || write.write_all(&input).unwrap());
        let stop = Cancel::new().unwrap();
        let mut reader = LineReader::new(read.as_fd(), &stop, limit);
        let mut found = Vec::new();
        while let Next::Line(Line { bytes, is_over }) = reader.next() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            found.push(if is_over { text + "…" } else { text });
        }
        writer.join().unwrap();
        found
    }

    #[test]
    fn lines_are_cut_at_their_ends() {
        let cases: [(&[u8], &[&str]); 6] = [
            (b"", &[]),
            (b"\n", &[""]),
            (b"a\n\nb", &["a", "", "b"]),
            (b"abcd\nabcde\nx\n", &["abcd", "abcd…", "x"]),
            (b"abcdefgh", &["abcd…"]),
            (b"\xff\r\n", &["\u{fffd}\r"]),
        ];
        for (input, expected) in cases {
            assert_eq!(lines(input, 4), expected, "{input:?}");
        }
        let mut long = vec![b'a'; 300_000];
        long.extend(b"\nb\n");
        assert_eq!(lines(&long, 1 << 20), ["a".repeat(300_000).as_str(), "b"]);
        assert_eq!(lines(&long, 2), ["aa…", "b"]);
    }

    #[test]
    fn a_reader_that_waits_is_woken_when_serving_is_to_end() {
        let (read, _write) = std::io::pipe().unwrap();
        let stop = Cancel::new().unwrap();
        let other = stop.clone();
        let waker = std::thread::spawn(move || other.cancel());
        let mut reader = LineReader::new(read.as_fd(), &stop, 4);
        assert_eq!(reader.next(), Next::Stopped);
        waker.join().unwrap();
    }
}
