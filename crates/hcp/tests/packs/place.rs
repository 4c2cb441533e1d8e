//! A folder with an installation in it, packs beside it, and the binary at work on both.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary under test.
pub(crate) const HCP: &str = env!("CARGO_BIN_EXE_hcp");
/// Where packs that come with hcp are.
pub(crate) const FIRST_PARTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs");

pub(crate) struct Place {
    folder: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    /// A folder with nothing in it.
    pub(crate) fn bare() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// With an installation in mode `native-local`.
    pub(crate) fn installed() -> Self {
        let place = Self::bare();
        place.ok(&["init"]);
        place.write(
            "home/config.toml",
            "[sandbox]\nmode = \"native-local\"\n",
            0o600,
        );
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A pack `demo` in the folder `demo`, whose one verb prints its argv as JSON. `more` is put
    /// behind its manifest.
    pub(crate) fn demo(&self, more: &str) {
        self.write("demo/bin/tool", TOOL, 0o755);
        self.write("demo/hcp.toml", &format!("{DEMO}{more}"), 0o644);
    }

    /// Runs hcp in the folder, with a HOME and an installation inside of it.
    pub(crate) fn hcp(&self, words: &[&str]) -> Ran {
        self.run(Command::new(HCP).args(words))
    }

    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        let output = command
            .env_clear()
            .env("HOME", self.path("user"))
            .env("HCP_HOME", self.path("home"))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Ran {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// A command that must succeed.
    pub(crate) fn ok(&self, words: &[&str]) -> Value {
        let ran = self.hcp(words);
        assert_eq!(
            ran.status,
            Some(0),
            "{words:?}: {} {}",
            ran.stdout,
            ran.stderr
        );
        ran.json()
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?} {}", self.stdout, self.stderr))
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Copies a folder with its modes.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

const TOOL: &str = r#"#!/bin/sh
separator='['
for word; do
  printf '%s"%s"' "$separator" "$word"
  separator=,
done
printf ']\n'
"#;

pub(crate) const DEMO: &str = r#"hcp = 1
id = "demo"
version = "1"
summary = "Shows its argv"
kind = "wrap"

[wrap]
bin = "./bin/tool"

[commands.show]
summary = "Show a word"
effect = "read"
cli = ["tool", "show", "--word={{word}}"]

[commands.show.args.word]
required = true
schema = { type = "string" }

[commands.show.examples.one]
args = { word = "x" }
argv = ["show", "--word=x", "--json"]

[policy.show]
capability = "demo:show"
"#;
