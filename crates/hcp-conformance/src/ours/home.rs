//! One installation of hcp, in a folder that goes with it, and how its program is run.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use indexmap::IndexMap;
use serde_json::Value;
use tempfile::TempDir;

use crate::error::KitError;

pub(super) struct Home {
    hcp: PathBuf,
    folder: TempDir,
    /// The session of calls, where it is not the default one.
    pub(super) session: Option<String>,
    /// Variables of the program when it makes a call.
    pub(super) environment: IndexMap<String, String>,
    helpers: IndexMap<String, Vec<String>>,
}

impl Home {
    pub(super) fn make(hcp: &Path) -> Result<Self, KitError> {
        let folder = TempDir::new().map_err(KitError::io("making an installation"))?;
        let home = Self {
            hcp: hcp.to_owned(),
            folder,
            session: None,
            environment: IndexMap::new(),
            helpers: IndexMap::new(),
        };
        fs::create_dir(home.place()).map_err(KitError::io("making an installation"))?;
        home.write_config()?;
        home.operate(&["init"])?;
        Ok(home)
    }

    pub(super) fn version(hcp: &Path) -> Result<String, KitError> {
        let output = Command::new(hcp)
            .arg("--version")
            .output()
            .map_err(KitError::io("running hcp"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim().trim_start_matches("hcp ").to_owned())
    }

    /// Lets a helper mint for a pack.
    pub(super) fn bind(&mut self, pack_id: String, command: Vec<String>) -> Result<(), KitError> {
        self.helpers.insert(pack_id, command);
        self.write_config()
    }

    /// Where the files of a pack are put before it is added.
    pub(super) fn pack_source(&self, id: &str) -> PathBuf {
        self.folder.path().join("packs").join(id)
    }

    /// The words that name the session of calls.
    pub(super) fn session_words(&self) -> impl Iterator<Item = &str> {
        let session = self.session.as_deref();
        session.into_iter().flat_map(|id| ["--session", id])
    }

    /// Runs a command of the operator that must succeed.
    pub(super) fn operate(&self, words: &[&str]) -> Result<(), KitError> {
        self.succeed(words).map(drop)
    }

    /// The same, for what it prints.
    pub(super) fn operate_for_json(&self, words: &[&str]) -> Result<Value, KitError> {
        let output = self.succeed(words)?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            KitError::Adapter(format!("`hcp {}` prints no JSON: {error}", words.join(" ")))
        })
    }

    fn succeed(&self, words: &[&str]) -> Result<Output, KitError> {
        let output = self.run(words)?;
        if output.status.success() {
            return Ok(output);
        }
        let (words, said) = (words.join(" "), said(&output));
        Err(KitError::Adapter(format!("`hcp {words}` failed: {said}")))
    }

    /// Runs a command of the operator.
    pub(super) fn run(&self, words: &[&str]) -> Result<Output, KitError> {
        self.command(words)
            .stdin(Stdio::null())
            .output()
            .map_err(KitError::io("running hcp"))
    }

    /// Makes a call whose input is `input`, and then ends.
    pub(super) fn call_with_input(&self, words: &[&str], input: &str) -> Result<Output, KitError> {
        let calling = "making a call";
        let mut command = self.command(words);
        command.envs(&self.environment).stdin(Stdio::piped());
        let mut child = piped(&mut command).map_err(KitError::io(calling))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that has read enough does not read the rest.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output().map_err(KitError::io(calling))
    }

    /// Makes a call whose input stays open and silent: whoever asks there waits for ever (§6.5).
    pub(super) fn call_in_silence(&self, words: &[&str]) -> Result<Output, KitError> {
        let calling = "making a call";
        let mut command = self.command(words);
        command.envs(&self.environment).stdin(Stdio::piped());
        let mut child = piped(&mut command).map_err(KitError::io(calling))?;
        let silence = child.stdin.take();
        let output = child.wait_with_output().map_err(KitError::io(calling));
        drop(silence);
        output
    }

    /// Nothing of the environment that the kit runs in reaches hcp.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.hcp);
        command
            .args(words)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("HCP_HOME", self.place());
        command
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn write_config(&self) -> Result<(), KitError> {
        let writing = "writing config.toml";
        let mut text = "[sandbox]\nmode = \"native-local\"\n".to_owned();
        for (pack_id, helper) in &self.helpers {
            // A JSON list of plain strings is a TOML array as well.
            let command = serde_json::to_string(helper).unwrap_or_default();
            let _ = write!(
                text,
                "\n[bindings.{pack_id}]\nprovider = \"exec\"\ncommand = {command}\n"
            );
        }
        let path = self.place().join("config.toml");
        fs::write(&path, text).map_err(KitError::io(writing))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(KitError::io(writing))
    }
}

fn piped(command: &mut Command) -> std::io::Result<std::process::Child> {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// What a program that failed said, on one line.
pub(super) fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("; ")
}
