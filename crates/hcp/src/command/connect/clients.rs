//! The clients there are, and where each keeps its list of servers.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::ambient::Ambient;
use crate::failure::Failure;

/// A client of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Any client that reads `.mcp.json` in the project's folder
    Generic,
}

/// How far an entry reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Scope {
    /// You, in this folder
    Local,
    /// Everybody who works in this folder
    Project,
    /// You, everywhere
    User,
}

/// Where an entry goes.
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) form: Form,
}

/// What the file looks like.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, with the servers in the object that these keys lead to.
    Json(Vec<String>),
    /// TOML, with a table `mcp_servers.<name>`.
    Toml,
}

impl Client {
    /// What the command line calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Generic => "generic",
        }
    }

    /// The scope when none is named: the client's own default, where it has one.
    pub(super) const fn default_scope(self) -> Scope {
        match self {
            Self::Claude => Scope::Local,
            Self::Generic => Scope::Project,
            Self::Codex | Self::Cursor | Self::Vscode => Scope::User,
        }
    }

    /// Where the entry goes.
    ///
    /// # Errors
    /// When the client has no such scope, or the folder is not known.
    pub(super) fn place(self, scope: Scope, ambient: &Ambient) -> Result<Place, Failure> {
        let here = || {
            std::env::current_dir()
                .map_err(|error| Failure::internal(format!("the working directory: {error}")))
        };
        let json = |keys: &[&str]| Form::Json(keys.iter().map(|key| (*key).to_owned()).collect());
        let (file, form) = match (self, scope) {
            (Self::Claude | Self::Generic, Scope::Project) => {
                (here()?.join(".mcp.json"), json(&["mcpServers"]))
            }
            (Self::Claude, Scope::User) => (
                ambient.user_folder()?.join(".claude.json"),
                json(&["mcpServers"]),
            ),
            (Self::Claude, Scope::Local) => {
                let folder = here()?.display().to_string();
                let form = json(&["projects", &folder, "mcpServers"]);
                (ambient.user_folder()?.join(".claude.json"), form)
            }
            (Self::Codex, Scope::Project) => (here()?.join(".codex/config.toml"), Form::Toml),
            (Self::Codex, Scope::User) => (
                ambient.user_folder()?.join(".codex/config.toml"),
                Form::Toml,
            ),
            (Self::Cursor, Scope::Project) => {
                (here()?.join(".cursor/mcp.json"), json(&["mcpServers"]))
            }
            (Self::Cursor, Scope::User) => (
                ambient.user_folder()?.join(".cursor/mcp.json"),
                json(&["mcpServers"]),
            ),
            (Self::Vscode, Scope::Project) => {
                (here()?.join(".vscode/mcp.json"), json(&["servers"]))
            }
            (Self::Vscode, Scope::User) => {
                let folder = ambient.user_folder()?.join(".config/Code/User");
                (folder.join("mcp.json"), json(&["servers"]))
            }
            (Self::Generic | Self::Codex | Self::Cursor | Self::Vscode, _) => {
                let has = if self == Self::Generic {
                    "project"
                } else {
                    "project and user"
                };
                return Err(Failure::usage(
                    format!("`{}` has no such scope", self.name()),
                    format!("its scopes: {has}"),
                ));
            }
        };
        Ok(Place { file, form })
    }
}
