//! What `exec`, `run` and linked names have in common: options of a call, making it, printing its
//! envelope as one line, and telling beside it what a person may want to know.

use std::io::{self, Read};

use clap::Args;
use hcp_core::{Answer, Call, mend};
use hcp_sandbox::Cancel;
use hcp_spec::envelope::{ExecEnvelope, InvalidEnvelope, MAX_BYTES};
use hcp_spec::{ExitStatus, Refusal, ResultEnvelope};

use crate::ambient::{Ambient, Installation};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Options of a call that are hcp's own; they stand before the pack.
#[derive(Debug, Default, Args)]
pub(super) struct CallOptions {
    /// Session of the call [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
    /// Tell on stderr what travels beside the envelope
    #[arg(long, short)]
    verbose: bool,
    /// Tell on stderr how long each step took, in microseconds
    #[arg(long)]
    timings: bool,
}

/// What the command line asks for, as far as it could be read.
pub(super) enum Asked {
    /// A call.
    Call(Box<Call>),
    /// A text that is no envelope.
    Invalid(InvalidEnvelope),
}

/// Who asks, and how the call is taken back.
pub(super) struct Asker<'a> {
    pub(super) installation: &'a Installation,
    session: Option<String>,
    cancel: Cancel,
}

impl CallOptions {
    /// Makes the call that `ask` reads from the command line, and answers it. `words` are the pack
    /// and verb that an answer names when no call could be made.
    pub(super) fn answer(
        self,
        words: (&str, &str),
        ambient: &Ambient,
        terminal: &Terminal,
        ask: impl FnOnce(&Asker<'_>) -> Result<Asked, Failure>,
    ) -> Result<ExitStatus, Failure> {
        if let Some(variable) = ambient.remote() {
            return Ok(answer_unauthenticated(words, variable, terminal));
        }
        let cancel = Cancel::new().map_err(|error| Failure::internal(error.to_string()))?;
        let installation = match ambient.open() {
            Ok(installation) => installation,
            Err(failure) => return Ok(answer_without_store(words, &failure, terminal)),
        };
        let asker = Asker {
            installation: &installation,
            session: ambient.session(self.session.clone()),
            cancel: cancel.clone(),
        };
        let call = ask(&asker)?;
        // Not before: who waits for stdin is to end by a signal like any other program.
        cancel
            .on_termination_signals()
            .map_err(|error| Failure::internal(format!("signals: {error}")))?;
        let answer = match call {
            Asked::Call(call) => installation.runtime.exec(*call),
            Asked::Invalid(invalid) => installation
                .runtime
                .refuse_invalid(&invalid, &installation.principal),
        };
        terminal.print_envelope(&answer.envelope);
        self.tell(&installation, &answer, terminal);
        if cancel.is_cancelled() && !answer.envelope.ok {
            return Ok(ExitStatus::Interrupted);
        }
        Ok(answer.exit_status)
    }

    fn tell(&self, installation: &Installation, answer: &Answer, terminal: &Terminal) {
        let metadata = &answer.metadata;
        if let Some(warning) = &metadata.warning {
            terminal.warn(warning, "");
        }
        if let Some(refused) = answer.refused() {
            if let Some(detail) = &refused.detail {
                terminal.note(&format!("why: {detail}"));
            }
            let (pack, verb) = (&answer.envelope.pack_id, &answer.envelope.verb_key);
            let near = nearest(installation, &refused.refusal, pack);
            if let Some(hint) = near.or_else(|| mend(&refused, pack, verb)) {
                terminal.hint(&hint);
            }
        }
        if self.verbose {
            terminal.note(&metadata_line(answer));
        }
        if self.timings {
            for (phase, took) in &metadata.phases {
                terminal.note(&format!("{} {}", phase.name(), took.as_micros()));
            }
        }
    }
}

impl Asker<'_> {
    /// The call of an envelope.
    pub(super) fn envelope(&self, envelope: ExecEnvelope) -> Asked {
        let principal = self.installation.principal.clone();
        let (session, cancel) = (self.session.clone(), self.cancel.clone());
        Asked::Call(Box::new(Call::new(envelope, principal, session, cancel)))
    }

    /// The call that words and pairs ask for; `fault` is what a face could not read as pairs.
    pub(super) fn pairs(
        &self,
        pack: &str,
        verb: &str,
        pairs: &[String],
        fault: Option<String>,
    ) -> Asked {
        let session = self.session.clone();
        let call = self
            .installation
            .call(pack, verb, pairs, session, self.cancel.clone());
        Asked::Call(Box::new(Call {
            fault: fault.or_else(|| call.fault.clone()),
            ..call
        }))
    }
}

impl Installation {
    /// The call that words and pairs of a command line ask for. Pairs that cannot be read are a
    /// fault of the call, told at the step that judges arguments and not before.
    pub(super) fn call(
        &self,
        pack: &str,
        verb: &str,
        pairs: &[String],
        session: Option<String>,
        cancel: Cancel,
    ) -> Call {
        let loaded = self.runtime.pack(pack);
        let command = loaded
            .as_ref()
            .and_then(|pack| pack.manifest.commands.get(verb));
        let mut stdin = read_stdin;
        let (args, fault) = match hcp_pack::parse_pairs(pairs, command, &mut stdin) {
            Ok(args) => (args, None),
            Err(error) => {
                let gate: Vec<String> = pairs
                    .iter()
                    .filter(|pair| is_of_the_gate(pair))
                    .cloned()
                    .collect();
                let readable = hcp_pack::parse_pairs(&gate, None, &mut stdin);
                (readable.unwrap_or_default(), Some(error.to_string()))
            }
        };
        let envelope = ExecEnvelope {
            pack_id: pack.to_owned(),
            verb_key: verb.to_owned(),
            args,
        };
        Call {
            fault,
            ..Call::new(envelope, self.principal.clone(), session, cancel)
        }
    }
}

/// A switch that is on once the process is asked to end.
pub(super) fn cancel_on_signals() -> Result<Cancel, Failure> {
    let cancel = Cancel::new().map_err(|error| Failure::internal(error.to_string()))?;
    cancel
        .on_termination_signals()
        .map_err(|error| Failure::internal(format!("signals: {error}")))?;
    Ok(cancel)
}

/// The name that was perhaps meant, where a pack or a verb is not known.
fn nearest(installation: &Installation, refusal: &Refusal, pack: &str) -> Option<String> {
    let near = match refusal {
        Refusal::UnknownPack(id) => {
            let packs = installation.runtime.store().packs().ok()?;
            hcp_pack::closest(id, packs.iter().map(|pack| pack.id.as_str())).map(str::to_owned)
        }
        Refusal::NoPolicy(verb) => {
            let pack = installation.runtime.pack(pack)?;
            let verbs = pack
                .manifest
                .commands
                .keys()
                .map(hcp_spec::name::VerbKey::as_str);
            hcp_pack::closest(verb, verbs).map(str::to_owned)
        }
        _ => None,
    };
    near.map(|name| format!("did you mean `{name}`?"))
}

/// The text of stdin; no more than an envelope could hold, and never a part of it as if it were all.
fn read_stdin() -> io::Result<String> {
    let text = io::read_to_string(io::stdin().lock().take(MAX_BYTES as u64 + 1))?;
    if text.len() > MAX_BYTES {
        return Err(io::Error::other(format!("over {MAX_BYTES} bytes")));
    }
    Ok(text)
}

fn is_of_the_gate(pair: &str) -> bool {
    ["confirm", "apply"].iter().any(|key| {
        pair.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(['=', ':']))
    })
}

/// Whoever shows a token is not the operator of this home, and there is nobody else to ask.
fn answer_unauthenticated(
    (pack, verb): (&str, &str),
    variable: &str,
    terminal: &Terminal,
) -> ExitStatus {
    let refusal = Refusal::Unauthenticated;
    terminal.print_envelope(&ResultEnvelope::refused(pack, verb, &refusal));
    let failure = Failure::no_server(variable);
    terminal.note(&format!("why: {}", failure.message));
    terminal.hint(&failure.hint.unwrap_or_default());
    refusal.exit_status()
}

/// An Invoker branches on the envelope, also when there is no store to judge by.
fn answer_without_store(
    (pack, verb): (&str, &str),
    failure: &Failure,
    terminal: &Terminal,
) -> ExitStatus {
    let refusal = Refusal::Store(failure.message.clone());
    terminal.print_envelope(&ResultEnvelope::refused(pack, verb, &refusal));
    if failure.report.is_some() {
        terminal.fail(failure);
    } else if let Some(hint) = &failure.hint {
        terminal.hint(hint);
    }
    refusal.exit_status()
}

fn metadata_line(answer: &Answer) -> String {
    let metadata = &answer.metadata;
    let mut facts = vec![format!("duration_us={}", metadata.duration.as_micros())];
    if let Some(seq) = metadata.audit_seq {
        facts.push(format!("audit_seq={seq}"));
    }
    if let Some(run) = &metadata.run {
        facts.push(format!("isolation={}", run.isolation));
        facts.push(format!("binding={}", run.binding));
        facts.push(format!("stdout_bytes={}", run.stdout_bytes));
        facts.push(format!("stderr_bytes={}", run.stderr_bytes));
        if run.replaced {
            facts.push("replaced=true".to_owned());
        }
        if !run.unenforced.is_empty() {
            facts.push(format!("unenforced=\"{}\"", run.unenforced.join(", ")));
        }
    }
    if !metadata.inner.is_empty() {
        let steps = metadata.inner.iter();
        let steps: Vec<String> = steps
            .map(|inner| format!("{}={}", inner.step, inner.state.as_str()))
            .collect();
        facts.push(format!("steps=\"{}\"", steps.join(" ")));
    }
    facts.join(" ")
}
