//! `hcp schema`: the JSON Schemas of what crosses the boundary, for editors and Invokers.

use clap::{Args, ValueEnum};
use hcp_spec::ExitStatus;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// The schemas are part of the binary; no installation is needed
#[derive(Debug, Args)]
pub(crate) struct SchemaOf {
    /// Of what
    name: SchemaName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaName {
    /// hcp.toml and hcp.json
    Pack,
    /// What an Invoker sends
    Envelope,
    /// What it is answered
    Result,
    /// config.toml
    Config,
}

impl SchemaOf {
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn run(self, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let text = match self.name {
            SchemaName::Pack => include_str!("../../../../schemas/pack.json"),
            SchemaName::Envelope => include_str!("../../../../schemas/envelope.json"),
            SchemaName::Result => include_str!("../../../../schemas/result.json"),
            SchemaName::Config => include_str!("../../../../schemas/config.json"),
        };
        terminal.print_bare(text.trim_end());
        Ok(ExitStatus::Ok)
    }
}
