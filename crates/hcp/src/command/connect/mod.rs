//! `hcp connect`: put hcp into a client's own list of MCP servers, and try whether it starts.
//!
//! The entry names this program, the installation and perhaps a session; never a token, never any
//! other secret. What is in the file already stays as it is.

mod clients;
mod edit;
mod trial;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hcp_spec::ExitStatus;
use serde_json::json;

use self::clients::{Client, Scope};
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// Shows what changes in the client's file, writes it, then starts the entry and lists its tools
#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// Where the client keeps it [default: local for claude, project for generic, else user]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// What the client calls it
    #[arg(long, default_value = "hcp", value_parser = server_name)]
    name: String,
    /// Session of the calls [default: your default session]
    #[arg(long)]
    session: Option<String>,
    /// How commands are shown to it
    #[arg(long, value_enum)]
    tools: Option<super::mcp::Tools>,
    /// Print the file as it would be; write and start nothing
    #[arg(long)]
    print: bool,
}

/// How a client starts hcp.
#[derive(Debug)]
struct Entry {
    command: String,
    args: Vec<String>,
    /// Never a secret: clients keep their files in repositories and backups.
    env: Vec<(&'static str, String)>,
}

impl Connect {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        // Whoever may not open the home has no installation to connect to.
        drop(ambient.open()?);
        let entry = self.entry(ambient)?;
        let scope = self.scope.unwrap_or_else(|| self.client.default_scope());
        let place = self.client.place(scope, ambient)?;
        let file = place.file.canonicalize().unwrap_or(place.file.clone());
        let before = read(&file)?;
        let after = edit::with_entry(&place.form, before.as_deref(), &self.name, &entry)
            .map_err(|what| unreadable(&file, &what))?;
        if self.print {
            terminal.print_bare(after.trim_end());
            return Ok(ExitStatus::Ok);
        }
        let changed = before.as_deref() != Some(after.as_str());
        if changed {
            terminal.note(&format!("{}:", file.display()));
            let before = edit::normalized(&place.form, before.as_deref().unwrap_or_default());
            for line in edit::difference(&before, &after) {
                terminal.note(&line);
            }
            write(&file, &after).map_err(|error| unwritable(&file, &error))?;
        }
        let tools = trial::list_tools(&entry).map_err(|what| Failure {
            hint: Some(format!(
                "start it by hand to see why: {} {}",
                entry.command,
                entry.args.join(" ")
            )),
            ..Failure::internal(format!("the entry is written and does not work: {what}"))
        })?;
        let data = json!({
            "client": self.client.name(),
            "file": file,
            "name": self.name,
            "changed": changed,
            "ready": true,
            "tools": tools,
        });
        terminal.show(&data, |page| {
            let what = format!(
                "{} starts hcp and sees {} tools",
                self.client.name(),
                tools.len()
            );
            page.marked(Tone::Good, "✓", &what);
            page.field("file", &file.display().to_string());
            for tool in &tools {
                page.line(&format!("  {tool}"));
            }
            if tools.is_empty() {
                page.field("next", "hcp activate PACK");
            }
        });
        Ok(ExitStatus::Ok)
    }

    fn entry(&self, ambient: &Ambient) -> Result<Entry, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::internal(format!("the path of hcp: {error}")))?;
        let Some(command) = program.to_str() else {
            return Err(Failure::usage(
                format!("the path `{}` is not UTF-8", program.display()),
                "install hcp where its path is",
            ));
        };
        let mut args = vec!["mcp".to_owned()];
        if let Some(session) = ambient.session(self.session.clone()) {
            args.extend(["--session".to_owned(), session]);
        }
        if let Some(tools) = self.tools.and_then(|tools| tools.to_possible_value()) {
            args.extend(["--tools".to_owned(), tools.get_name().to_owned()]);
        }
        // Only an installation that was named is named; the default one follows the user.
        let env = match ambient.named_home()? {
            Some(home) => vec![("HCP_HOME", home)],
            None => Vec::new(),
        };
        Ok(Entry {
            command: command.to_owned(),
            args,
            env,
        })
    }
}

/// A name that is a key in every client's file without quotes.
fn server_name(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !text.is_empty() && text.len() <= 64 && text.bytes().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("letters, digits, `_` and `-`, at most 64".to_owned())
    }
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(file, &error.to_string())),
    }
}

/// The whole file or none of it; it keeps its mode.
fn write(file: &PathBuf, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mode = fs::metadata(file).map_or(0o600, |now| now.permissions().mode() & 0o777);
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    let mut options = fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(mode).open(&new);
    let written = opened.and_then(|mut opened| {
        opened.write_all(text.as_bytes())?;
        opened.set_permissions(fs::Permissions::from_mode(mode))?;
        opened.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&new, file));
    if placed.is_err() {
        // It may not be there; what failed is told.
        let _ = fs::remove_file(&new);
    }
    placed
}

fn unreadable(file: &Path, what: &str) -> Failure {
    Failure::usage(
        format!("`{}` cannot be changed: {what}", file.display()),
        "`--print` with another scope shows an entry to add by hand",
    )
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    Failure::usage(
        format!("`{}` could not be written: {error}", file.display()),
        "`--print` shows what to write",
    )
}
