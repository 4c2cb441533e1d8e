//! `hcp pack`: what is installed, and what its authors need.

mod add;
mod difference;
mod format;
mod link;
mod lint;
mod list;
mod new;
mod show;
mod test;

use clap::Subcommand;
use hcp_spec::ExitStatus;
use serde_json::json;

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Pack {
    /// Add the pack in a folder: copy it into the home and pin its bytes
    Add(add::Add),
    /// Remove a pack; records that name it stay
    Remove {
        /// Its id
        #[arg(value_name = "PACK")]
        id: String,
    },
    /// List the installed packs
    List {
        /// Show only the first N
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Show a pack's commands, or one command with its arguments
    Show {
        /// Its id
        #[arg(value_name = "PACK")]
        id: String,
        /// One of its commands
        verb: Option<String>,
    },
    /// Put a pack on PATH as a command of its own: a link to hcp by the pack's name
    Link(link::Link),
    /// Write a pack to start from
    New(new::New),
    /// Look for faults in a pack that is being written, without an installation
    Lint(lint::Lint),
    /// Put the keys of a manifest in order; its comments stay
    Fmt(format::Fmt),
    /// Show what would change for you if the pack in a folder took the place of the installed one
    Diff(difference::Diff),
    /// Run the examples of a pack in an installation that is thrown away
    Test(test::Test),
}

impl Pack {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        match self {
            Self::Add(command) => command.run(ambient, terminal),
            Self::Remove { id } => remove(&id, ambient, terminal),
            Self::List { limit } => list::run(limit, ambient, terminal),
            Self::Show { id, verb } => show::run(&id, verb.as_deref(), ambient, terminal),
            Self::Link(command) => command.run(ambient, terminal),
            Self::New(command) => command.run(terminal),
            Self::Lint(command) => command.run(terminal),
            Self::Fmt(command) => command.run(terminal),
            Self::Diff(command) => command.run(ambient, terminal),
            Self::Test(command) => command.run(ambient, terminal),
        }
    }
}

fn remove(id: &str, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
    ambient.open()?.operator().remove_pack(id)?;
    terminal.show(&json!({ "removed": id }), |page| {
        page.marked(Tone::Good, "✓", &format!("removed {id}"));
    });
    Ok(ExitStatus::Ok)
}
