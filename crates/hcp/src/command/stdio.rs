//! `hcp stdio`: envelopes in, envelopes out, one a line.

use std::io;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use hcp_core::Runtime;
use hcp_sandbox::Cancel;
use hcp_server::stdio::{Lines, serve};
use hcp_server::{Ended, Host, take_stdout};
use hcp_spec::ExitStatus;

use crate::ambient::{Ambient, FLOOR};
use crate::failure::Failure;

/// Each line of stdin is an exec envelope; its answer is one line of stdout, in the same order
#[derive(Debug, Args)]
pub(crate) struct Stdio {
    /// Lines are {"id":…,"envelope":{…}}, answered as calls finish; {"cancel":ID} takes calls back
    #[arg(long)]
    ids: bool,
    /// Session of the calls [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
}

impl Stdio {
    pub(crate) fn run(self, ambient: &Ambient) -> Result<ExitStatus, Failure> {
        let lines = if self.ids {
            Lines::WithIds
        } else {
            Lines::Bare
        };
        let serving = Serving::open(ambient, self.session)?;
        let output = take_stdout().map_err(stdout_lost)?;
        let host = serving.host.clone();
        let ended = serve(serving.host, lines, &io::stdin(), output, serving.signalled);
        // A thread that has just answered may hold the runtime a moment longer than the process lives.
        if let Ok(runtime) = host.runtime() {
            runtime.leave();
        }
        Ok(status_of(ended.map_err(cannot_serve)?))
    }
}

/// What a face that serves a client on stdin and stdout begins with.
pub(super) struct Serving {
    pub(super) host: Arc<Host>,
    pub(super) signalled: Cancel,
}

impl Serving {
    /// Opens the installation for as long as the client stays.
    pub(super) fn open(ambient: &Ambient, session: Option<String>) -> Result<Self, Failure> {
        let signalled = Cancel::new().map_err(cannot_serve)?;
        signalled.on_termination_signals().map_err(cannot_serve)?;
        let installation = ambient.open()?;
        let home = installation.runtime.home().clone();
        let configs = vec![home.config_file(), Path::new(FLOOR).to_owned()];
        let reopen = move || {
            Runtime::open(home.clone(), Some(Path::new(FLOOR))).map_err(|error| error.to_string())
        };
        let host = Host::new(
            installation.runtime,
            configs,
            Box::new(reopen),
            installation.principal,
            ambient.session(session),
        );
        Ok(Self {
            host: Arc::new(host),
            signalled,
        })
    }
}

/// A client that goes or an input that ends is how serving is meant to end.
pub(super) const fn status_of(ended: Ended) -> ExitStatus {
    match ended {
        Ended::Input => ExitStatus::Ok,
        Ended::Stopped => ExitStatus::Interrupted,
    }
}

#[allow(clippy::needless_pass_by_value)]
pub(super) fn stdout_lost(error: io::Error) -> Failure {
    Failure::internal(format!("stdout cannot be kept for the protocol: {error}"))
}

#[allow(clippy::needless_pass_by_value)]
pub(super) fn cannot_serve(error: io::Error) -> Failure {
    Failure::internal(format!("serving cannot begin: {error}"))
}
