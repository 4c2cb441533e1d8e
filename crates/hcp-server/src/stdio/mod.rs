//! JSON lines: envelopes in, envelopes out.
//!
//! Without ids a line is answered before the next one runs, so a script may rely on the order of what
//! it asked for. With ids (`{"id":…,"envelope":{…}}`) calls run side by side and are answered as they
//! finish, and `{"cancel":…}` takes those back that carry the id.
//!
//! Every line gets exactly one answer, but a cancel, which gets none of its own. Nothing is held
//! beyond a bound: when enough calls wait, or the client does not read its answers, no more is read.

mod queue;
mod wrapper;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use hcp_sandbox::Cancel;
use hcp_spec::ResultEnvelope;
use hcp_spec::envelope::{ExecEnvelope, InvalidEnvelope, MAX_BYTES};

use self::queue::Queue;
use self::wrapper::{Message, Wrapped};
use crate::client_watch::ClientWatch;
use crate::host::Host;
use crate::lines::too_long;
use crate::lines::{Line, LineReader, Next};
use crate::protocol_output::PatientWriter;
use crate::running::Running;
use crate::{AT_ONCE, Ended, GRACE, WRAPPER};

/// Whether lines carry ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// A line is an envelope; answers come in the order of the lines.
    Bare,
    /// A line is an envelope with an id; answers come as calls finish.
    WithIds,
}

/// Serves `host` until `input` ends, `signalled` is switched on or nobody reads `output` any more.
///
/// # Errors
/// When the system has no descriptor or thread left to begin with.
pub fn serve(
    host: Arc<Host>,
    lines: Lines,
    input: &impl AsFd,
    output: File,
    signalled: Cancel,
) -> io::Result<Ended> {
    let stop = Cancel::new()?;
    let output_again = OwnedFd::from(output.try_clone()?);
    let face = Arc::new(Face {
        host,
        running: Running::default(),
        output: Mutex::new(BufWriter::with_capacity(WRAPPER, PatientWriter(output))),
        stop: stop.clone(),
    });
    let at_once = match lines {
        Lines::Bare => 1,
        Lines::WithIds => AT_ONCE,
    };
    let worker = face.clone();
    let queue = Queue::new(at_once, move |job| worker.answer(job));
    let _watch = {
        let (face, queue) = (face.clone(), queue.clone());
        ClientWatch::start(signalled, output_again, move || {
            face.stop();
            queue.stop();
        })?
    };
    let limit = match lines {
        Lines::Bare => MAX_BYTES,
        Lines::WithIds => MAX_BYTES + WRAPPER,
    };
    let mut reader = LineReader::new(input.as_fd(), &stop, limit);
    while let Next::Line(line) = reader.next() {
        if let Some(job) = face.read(lines, &line)
            && !queue.push(job)
        {
            break;
        }
    }
    queue.finish(GRACE);
    Ok(if stop.is_cancelled() {
        Ended::Stopped
    } else {
        Ended::Input
    })
}

/// One line to answer.
struct Job {
    /// The id to answer under, as JSON; none where lines carry none.
    id: Option<String>,
    asked: Result<ExecEnvelope, InvalidEnvelope>,
    cancel: Cancel,
    /// What it takes to wait, in bytes.
    size: usize,
}

/// What the threads of one serving share.
struct Face {
    host: Arc<Host>,
    running: Running,
    output: Mutex<BufWriter<PatientWriter>>,
    stop: Cancel,
}

impl Face {
    /// Reads a line; `None` when it asks for no answer.
    fn read(&self, lines: Lines, line: &Line) -> Option<Job> {
        let (id, asked) = match lines {
            Lines::Bare => (None, read_bare(line)),
            Lines::WithIds => match wrapper::read(&line.bytes, line.is_over) {
                Message::Cancel { id } => {
                    self.running.cancel(&id);
                    return None;
                }
                Message::Call(Wrapped { id, asked }) => (Some(id), asked),
            },
        };
        let cancel = match self.running.begin(id.as_deref()) {
            Ok(cancel) => cancel,
            Err(error) => {
                // Out of descriptors: the calls that run will give theirs back. This one shares
                // the switch of the whole serving, so that it can be stopped at least.
                tracing::warn!("a call cannot be cancelled by its id: {error}");
                self.stop.clone()
            }
        };
        Some(Job {
            id,
            asked,
            cancel,
            size: line.bytes.len(),
        })
    }

    /// Runs what was asked and writes the answer.
    fn answer(&self, job: Job) {
        let answer = match job.asked {
            Ok(envelope) => self.host.exec(envelope, job.cancel.clone()),
            Err(invalid) => self.host.refuse(&invalid),
        };
        self.running.end(job.id.as_deref(), &job.cancel);
        if let Err(error) = self.write(job.id.as_deref(), &answer.envelope) {
            tracing::debug!("an answer could not be written: {error}");
            self.stop();
        }
    }

    fn write(&self, id: Option<&str>, envelope: &ResultEnvelope) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match id {
            None => envelope.write_json(&mut *output)?,
            Some(id) => {
                write!(output, "{{\"id\":{id},\"envelope\":")?;
                envelope.write_json(&mut *output)?;
                output.write_all(b"}")?;
            }
        }
        output.write_all(b"\n")?;
        output.flush()
    }

    /// Ends the reading and cancels what was read.
    fn stop(&self) {
        self.stop.cancel();
        self.running.cancel_all();
    }
}

fn read_bare(line: &Line) -> Result<ExecEnvelope, InvalidEnvelope> {
    if line.is_over {
        return Err(too_long());
    }
    ExecEnvelope::parse(&line.bytes)
}
