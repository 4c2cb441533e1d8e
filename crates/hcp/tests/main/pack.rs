//! Packs that tests write: a manifest put together from parts, and a tool of a few lines of shell.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A pack to be. Its bin is `bin/<id>`, its commands ask for `<id>:use` unless they say otherwise.
pub(crate) struct Pack {
    pub(crate) id: String,
    wrap: String,
    rest: String,
    tool: String,
    files: Vec<(String, Vec<u8>)>,
}

impl Pack {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            wrap: format!("bin = \"./bin/{id}\""),
            rest: String::new(),
            tool: "echo '{}'".to_owned(),
            files: Vec::new(),
        }
    }

    /// A pack of one command, `go`, that runs `tool`.
    pub(crate) fn of_tool(id: &str, tool: &str) -> Self {
        Self::new(id).tool(tool).command("go", "effect = \"read\"")
    }

    /// The whole of `[wrap]`, in place of the bin of the pack.
    pub(crate) fn wrap(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.wrap);
        self
    }

    /// More lines of `[wrap]`.
    pub(crate) fn wrap_more(mut self, lines: &str) -> Self {
        let _ = write!(self.wrap, "\n{lines}");
        self
    }

    /// Whole sections.
    pub(crate) fn section(mut self, lines: &str) -> Self {
        let _ = writeln!(self.rest, "{lines}");
        self
    }

    /// A command with a Policy entry. Without a `cli` of its own it is called by its key alone.
    pub(crate) fn command(self, key: &str, lines: &str) -> Self {
        let capability = format!("capability = \"{}:use\"", self.id);
        self.governed(key, lines, &capability)
    }

    /// A command and the lines of its Policy entry.
    pub(crate) fn governed(mut self, key: &str, lines: &str, policy: &str) -> Self {
        self = self.ungoverned(key, lines);
        let _ = writeln!(self.rest, "[policy.\"{key}\"]\n{policy}");
        self
    }

    /// A command without a Policy entry.
    pub(crate) fn ungoverned(mut self, key: &str, lines: &str) -> Self {
        let cli = if lines.contains("cli =") || lines.contains("composite") {
            String::new()
        } else {
            format!("cli = [\"{}\", \"{key}\"]", self.id)
        };
        let _ = writeln!(
            self.rest,
            "[commands.\"{key}\"]\nsummary = \"{key}\"\n{cli}\n{lines}"
        );
        self
    }

    /// The body of the tool, in `sh`.
    pub(crate) fn tool(mut self, body: &str) -> Self {
        body.clone_into(&mut self.tool);
        self
    }

    pub(crate) fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), bytes.into()));
        self
    }

    pub(crate) fn manifest(&self) -> String {
        let Self { id, wrap, rest, .. } = self;
        format!(
            "hcp = 1\nid = \"{id}\"\nversion = \"0.1.0\"\nsummary = \"A pack of the tests\"\n\
             kind = \"wrap\"\n[wrap]\n{wrap}\n{rest}"
        )
    }

    /// Writes the pack into `parent` and says where it is.
    pub(crate) fn write(&self, parent: &Path) -> PathBuf {
        let folder = parent.join(&self.id);
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("hcp.toml"), self.manifest()).unwrap();
        write_tool(&folder.join("bin").join(&self.id), &self.tool);
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folder
    }
}

/// Writes a program of `sh`.
pub(crate) fn write_tool(path: &Path, body: &str) {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
