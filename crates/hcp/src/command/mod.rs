//! The commands, a file each.

mod activate;
mod allow;
mod answering;
mod audit;
mod completions;
mod config;
mod doctor;
mod exec;
mod explain;
mod grant;
mod init;
mod pack;
mod principal;
mod project;
mod run;
mod schema;
mod session;
mod status;
mod tenant;
mod usage_of;

use clap::{Parser, Subcommand};
use hcp_spec::ExitStatus;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Run command-line tools without handing out a shell
#[derive(Debug, Parser)]
#[command(
    name = "hcp",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// Print JSON, as is always done when stdout is not a terminal
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make an installation: its folders, its store, your Principal and its default session
    Init(init::Init),
    /// Add, remove and look at packs
    #[command(subcommand)]
    Pack(pack::Pack),
    /// Open, close and look at sessions
    #[command(subcommand)]
    Session(session::Sessions),
    /// Let a session run packs
    Activate(activate::Activate),
    /// Take packs off a session
    Deactivate(activate::Deactivate),
    /// Add, list and remove Principals
    #[command(subcommand)]
    Principal(principal::Principals),
    /// Add, list and remove tenants
    #[command(subcommand)]
    Tenant(tenant::Tenants),
    /// Add, list and remove projects
    #[command(subcommand)]
    Project(project::Projects),
    /// Add, list and remove grants
    #[command(subcommand)]
    Grant(grant::Grants),
    /// Grant what a pack's verbs need, by their effect
    Allow(allow::Allow),
    /// Run a command of a pack; prints the result envelope
    Exec(exec::Exec),
    /// Run a command of a pack the way its own command line would be; prints the result envelope
    Run(run::Run),
    /// Show what a call would do at each of the nine steps, without doing it
    Explain(explain::Explain),
    /// Read and verify the audit trail
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Show the installation on one screen
    Status(status::Status),
    /// Look at everything that calls depend on
    Doctor(doctor::Doctor),
    /// Show the operator's config as it takes effect
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print a JSON Schema
    Schema(schema::SchemaOf),
    /// Print completions for a shell
    Completions(completions::Completions),
    /// Print the man page
    Man(completions::Man),
}

pub(crate) fn run(cli: Cli, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
    match cli.command {
        Command::Init(command) => command.run(ambient, terminal),
        Command::Pack(command) => command.run(ambient, terminal),
        Command::Session(command) => command.run(ambient, terminal),
        Command::Activate(command) => command.run(ambient, terminal),
        Command::Deactivate(command) => command.run(ambient, terminal),
        Command::Principal(command) => command.run(ambient, terminal),
        Command::Tenant(command) => command.run(ambient, terminal),
        Command::Project(command) => command.run(ambient, terminal),
        Command::Grant(command) => command.run(ambient, terminal),
        Command::Exec(command) => command.run(ambient, terminal),
        Command::Run(command) => command.run(ambient, terminal),
        Command::Explain(command) => command.run(ambient, terminal),
        Command::Audit(command) => command.run(ambient, terminal),
        Command::Status(command) => command.run(ambient, terminal),
        Command::Allow(command) => command.run(ambient, terminal),
        Command::Doctor(command) => command.run(ambient, terminal),
        Command::Config(command) => command.run(ambient, terminal),
        Command::Schema(command) => command.run(terminal),
        Command::Completions(command) => command.run(terminal),
        Command::Man(command) => command.run(terminal),
    }
}

pub(crate) use run::run_linked;

/// A time as people read it: how long ago, or how long from now.
fn relative(milliseconds: i64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let (distance, ahead) = (now.abs_diff(milliseconds) / 1000, milliseconds > now);
    let span = match distance {
        0..60 => format!("{distance}s"),
        60..3600 => format!("{}m", distance / 60),
        3600..86400 => format!("{}h", distance / 3600),
        _ => format!("{}d", distance / 86400),
    };
    if ahead {
        format!("in {span}")
    } else {
        format!("{span} ago")
    }
}

/// A time as JSON tells it: UTC, RFC 3339, milliseconds.
fn rfc3339(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds)
        .map(|time| format!("{time:.3}"))
        .unwrap_or_default()
}
