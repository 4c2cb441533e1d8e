//! `hcp mcp`: the commands of a session as MCP tools, for a client that starts it.

use std::io;

use clap::{Args, ValueEnum};
use hcp_server::mcp::serve;
use hcp_server::{mcp, take_stdout};
use hcp_spec::ExitStatus;

use super::stdio::{Serving, cannot_serve, status_of, stdout_lost};
use crate::ambient::Ambient;
use crate::failure::Failure;

/// For clients that start it themselves; `hcp connect` writes the entry
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// How commands are shown
    #[arg(long, value_enum, default_value_t)]
    tools: Tools,
    /// Session of the calls [default: HCP_SESSION, else your default session]
    #[arg(long)]
    session: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Tools {
    /// Each as a tool; from 40 on by search
    #[default]
    Auto,
    /// Each as a tool
    Direct,
    /// By three tools that search, describe and call
    Search,
}

impl Mcp {
    pub(crate) fn run(self, ambient: &Ambient) -> Result<ExitStatus, Failure> {
        let tools = match self.tools {
            Tools::Auto => mcp::Tools::Auto,
            Tools::Direct => mcp::Tools::Direct,
            Tools::Search => mcp::Tools::Search,
        };
        let serving = Serving::open(ambient, self.session)?;
        let output = take_stdout().map_err(stdout_lost)?;
        let host = serving.host.clone();
        let ended = serve(serving.host, tools, &io::stdin(), output, serving.signalled);
        // A thread that has just answered may hold the runtime a moment longer than the process lives.
        if let Ok(runtime) = host.runtime() {
            runtime.leave();
        }
        Ok(status_of(ended.map_err(cannot_serve)?))
    }
}
