//! `hcp exec`: make a call and print its result envelope, one line (§6.5).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use hcp_core::{Answer, Call, mend};
use hcp_sandbox::Cancel;
use hcp_spec::envelope::{ExecEnvelope, InvalidEnvelope, MAX_BYTES};
use hcp_spec::{ExitStatus, Refusal, ResultEnvelope};

use crate::ambient::{Ambient, Installation};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Arguments follow `--` as k=v, k:=JSON, or k=@- for the text of stdin
#[derive(Debug, Args)]
#[command(override_usage = "hcp exec [OPTIONS] PACK VERB [-- K=V…]\n       \
                            hcp exec [OPTIONS] --envelope FILE|-")]
pub(crate) struct Exec {
    /// Read an exec envelope from a file, or from stdin with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pack", "verb", "pairs"])]
    envelope: Option<PathBuf>,
    /// Session of the call [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
    /// Tell on stderr what travels beside the envelope, and why a call was refused
    #[arg(long, short)]
    verbose: bool,
    /// Tell on stderr how long each step took, in microseconds
    #[arg(long)]
    timings: bool,
    /// The pack
    #[arg(required_unless_present = "envelope")]
    pack: Option<String>,
    /// The verb
    #[arg(required_unless_present = "envelope")]
    verb: Option<String>,
    /// Arguments
    #[arg(last = true, value_name = "K=V")]
    pairs: Vec<String>,
}

/// What the command line asks for, as far as it could be read.
pub(super) enum Asked {
    Call(Call),
    Invalid(InvalidEnvelope),
}

impl Exec {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        if let Some(variable) = ambient.remote() {
            return Ok(self.answer_unauthenticated(variable, terminal));
        }
        let cancel = Cancel::new().map_err(|error| Failure::internal(error.to_string()))?;
        cancel
            .on_termination_signals()
            .map_err(|error| Failure::internal(format!("signals: {error}")))?;
        let installation = match ambient.open() {
            Ok(installation) => installation,
            Err(failure) if failure.status == ExitStatus::Internal => {
                return Ok(self.answer_without_store(&failure, terminal));
            }
            Err(failure) => return Err(failure),
        };
        let session = ambient.session(self.session.clone());
        let answer = match self.ask(&installation, session, cancel.clone())? {
            Asked::Call(call) => installation.runtime.exec(call),
            Asked::Invalid(invalid) => installation
                .runtime
                .refuse_invalid(&invalid, &installation.principal),
        };
        terminal.print_envelope(&answer.envelope);
        self.tell(&answer, terminal);
        if cancel.is_cancelled() && !answer.envelope.ok {
            return Ok(ExitStatus::Interrupted);
        }
        Ok(answer.exit_status)
    }

    fn ask(
        &self,
        installation: &Installation,
        session: Option<String>,
        cancel: Cancel,
    ) -> Result<Asked, Failure> {
        if let Some(path) = &self.envelope {
            return Ok(match ExecEnvelope::parse(&read_envelope(path)?) {
                Ok(envelope) => Asked::Call(Call::new(
                    envelope,
                    installation.principal.clone(),
                    session,
                    cancel,
                )),
                Err(invalid) => Asked::Invalid(invalid),
            });
        }
        let (pack, verb) = self.words();
        Ok(Asked::Call(installation.call(
            pack,
            verb,
            &self.pairs,
            session,
            cancel,
        )))
    }

    fn words(&self) -> (&str, &str) {
        (
            self.pack.as_deref().unwrap_or_default(),
            self.verb.as_deref().unwrap_or_default(),
        )
    }

    fn tell(&self, answer: &Answer, terminal: &Terminal) {
        let metadata = &answer.metadata;
        if let Some(warning) = &metadata.warning {
            terminal.warn(warning, "");
        }
        if let Some(refusal) = &answer.refusal {
            if let Some(detail) = &metadata.detail {
                terminal.note(&format!("why: {detail}"));
            }
            let (pack, verb) = (&answer.envelope.pack_id, &answer.envelope.verb_key);
            if let Some(mend) = mend(refusal, pack, verb) {
                terminal.hint(&mend);
            }
        }
        if self.verbose {
            terminal.note(&metadata_line(answer));
        }
        if self.timings {
            for (step, took) in &metadata.steps {
                terminal.note(&format!("{} {}", step.name(), took.as_micros()));
            }
        }
    }

    /// Whoever shows a token is not the operator of this home, and there is nobody else to ask.
    fn answer_unauthenticated(&self, variable: &str, terminal: &Terminal) -> ExitStatus {
        let (pack, verb) = self.words();
        let refusal = Refusal::Unauthenticated;
        terminal.print_envelope(&ResultEnvelope::refused(pack, verb, &refusal));
        let failure = Failure::no_server(variable);
        terminal.note(&format!("why: {}", failure.message));
        terminal.hint(&failure.hint.unwrap_or_default());
        refusal.exit_status()
    }

    /// An Invoker branches on the envelope, also when there is no store to judge by.
    fn answer_without_store(&self, failure: &Failure, terminal: &Terminal) -> ExitStatus {
        let (pack, verb) = self.words();
        let refusal = Refusal::Store(failure.message.clone());
        terminal.print_envelope(&ResultEnvelope::refused(pack, verb, &refusal));
        if let Some(hint) = &failure.hint {
            terminal.hint(hint);
        }
        refusal.exit_status()
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
        let mut stdin = || io::read_to_string(io::stdin().lock().take(MAX_BYTES as u64));
        let (args, fault) = match hcp_pack::parse_pairs(pairs, command, &mut stdin) {
            Ok(args) => (args, None),
            Err(error) => {
                let reserved: Vec<String> = pairs
                    .iter()
                    .filter(|pair| {
                        ["confirm", "apply"].iter().any(|key| {
                            pair.strip_prefix(key)
                                .is_some_and(|rest| rest.starts_with(['=', ':']))
                        })
                    })
                    .cloned()
                    .collect();
                let readable = hcp_pack::parse_pairs(&reserved, None, &mut stdin);
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

/// Reads one byte more than the largest envelope, so that a larger one is seen to be.
fn read_envelope(path: &Path) -> Result<Vec<u8>, Failure> {
    let most = MAX_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::usage(
            format!(
                "the envelope `{}` could not be read: {error}",
                path.display()
            ),
            "name a file that holds one envelope, or `-` for stdin",
        )),
    }
}

fn metadata_line(answer: &Answer) -> String {
    let metadata = &answer.metadata;
    let mut line = format!("duration_us={}", metadata.duration.as_micros());
    if let Some(seq) = metadata.audit_seq {
        line.push_str(&format!(" audit_seq={seq}"));
    }
    if let Some(run) = &metadata.run {
        line.push_str(&format!(
            " isolation={} binding={} stdout_bytes={} stderr_bytes={}",
            run.isolation, run.binding, run.stdout_bytes, run.stderr_bytes
        ));
        if run.replaced {
            line.push_str(" replaced=true");
        }
        if !run.unenforced.is_empty() {
            line.push_str(&format!(" unenforced=\"{}\"", run.unenforced.join(", ")));
        }
    }
    if !metadata.inner.is_empty() {
        let steps = metadata.inner.iter();
        let steps: Vec<String> = steps
            .map(|inner| format!("{}={}", inner.step, inner.state.as_str()))
            .collect();
        line.push_str(&format!(" steps=\"{}\"", steps.join(" ")));
    }
    line
}
