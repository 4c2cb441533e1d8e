//! `hcp exec`: make a call and print its result envelope, one line (§6.5).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use hcp_spec::ExitStatus;
use hcp_spec::envelope::{ExecEnvelope, MAX_BYTES};

use super::answering::{Asked, CallOptions};
use crate::ambient::Ambient;
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
    #[command(flatten)]
    options: CallOptions,
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

impl Exec {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let Self {
            envelope,
            options,
            pack,
            verb,
            pairs,
        } = self;
        let Some(path) = envelope else {
            let (pack, verb) = (pack.unwrap_or_default(), verb.unwrap_or_default());
            return options.answer((&pack, &verb), ambient, terminal, |asker| {
                Ok(asker.pairs(&pack, &verb, &pairs))
            });
        };
        // Read first, so that an answer names its ids also where no installation can be opened.
        match ExecEnvelope::parse(&read_envelope(&path)?) {
            Ok(envelope) => {
                let (pack, verb) = (envelope.pack_id.clone(), envelope.verb_key.clone());
                options.answer((&pack, &verb), ambient, terminal, |asker| {
                    Ok(asker.envelope(envelope))
                })
            }
            Err(invalid) => {
                let (pack, verb) = (invalid.pack_id.clone(), invalid.verb_key.clone());
                options.answer((&pack, &verb), ambient, terminal, |_| {
                    Ok(Asked::Invalid(invalid))
                })
            }
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
