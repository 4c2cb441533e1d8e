//! An installation of the tests' own, with a pack whose tool does what a test asks for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) struct Scene {
    folder: TempDir,
}

const CONFIG: &str = "[sandbox]\nmode = \"native-local\"\n";

const MANIFEST: &str = r#"
hcp = 1
id = "tool"
version = "1"
summary = "A tool of the tests"
kind = "wrap"

[wrap]
bin = "./bin/tool"
json = []

[sandbox]
timeout = "60s"

[commands.say]
summary = "Print a text"
effect = "read"
cli = ["tool", "say", "{{text}}"]
args.text = { required = true, dash = true, summary = "what to print", schema = { type = "string" } }
result = { type = ["object", "array", "string", "number", "boolean", "null"] }

[commands.sleep]
summary = "Sleep for a while, with a child that sleeps too"
effect = "write"
cli = ["tool", "sleep", "{{seconds}}", "{{mark}}"]
args.seconds = { required = true, schema = { type = "string" } }
args.mark = { required = true, schema = { type = "string" } }

[commands.fail]
summary = "Fail with a text"
effect = "read"
cli = ["tool", "fail", "{{text}}"]
args.text = { required = true, schema = { type = "string" } }

[commands.repeat]
summary = "Print a letter many times"
effect = "read"
cli = ["tool", "repeat", "{{count}}"]
args.count = { required = true, schema = { type = "integer" } }

[commands."wipe all"]
summary = "Lose everything"
cli = ["tool", "say", "gone"]

[commands.secret]
summary = "Needs what nobody was granted"
effect = "read"
cli = ["tool", "say", "secret"]

[commands.orphan]
summary = "Has no Policy entry"
effect = "read"
cli = ["tool", "say", "orphan"]

[policy.say]
capability = "tool:use"
[policy.sleep]
capability = "tool:use"
[policy.fail]
capability = "tool:use"
[policy.repeat]
capability = "tool:use"
[policy."wipe all"]
capability = "tool:use"
[policy.secret]
capability = "hidden:use"
"#;

const TOOL: &str = r#"#!/bin/sh
case $1 in
say) printf '%s' "$2" ;;
fail) printf '%s' "$2" >&2; exit 3 ;;
repeat) head -c "$2" /dev/zero | tr '\0' x ;;
sleep) touch "$3"; sleep "$2" & sleep "$2"; rm "$3"; echo '"slept"' ;;
esac
"#;

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self {
            folder: TempDir::new().unwrap(),
        };
        fs::create_dir(scene.home()).unwrap();
        fs::set_permissions(scene.home(), fs::Permissions::from_mode(0o700)).unwrap();
        scene.write_config(CONFIG);
        scene.run(&["init"]);
        scene.add_pack("tool", MANIFEST);
        scene.run(&["activate", "tool"]);
        scene.run(&["grant", "add", "me", "tool:*"]);
        scene
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write_config(&self, text: &str) {
        let file = self.home().join("config.toml");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Adds a pack of this manifest, with the tool as its bin.
    pub(crate) fn add_pack(&self, folder: &str, manifest: &str) {
        let root = self.path(folder);
        let bin = root.join("bin/tool");
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join("hcp.toml"), manifest).unwrap();
        fs::write(&bin, TOOL).unwrap();
        fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).unwrap();
        self.run(&["pack", "add", root.to_str().unwrap()]);
    }

    pub(crate) fn hcp(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hcp"));
        command
            .env_clear()
            .env("HCP_HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command that must succeed.
    pub(crate) fn run(&self, words: &[&str]) -> String {
        let output = self.output(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn output(&self, words: &[&str]) -> Output {
        self.hcp().args(words).output().unwrap()
    }
}

/// Whether a process that names `mark` in its arguments is alive.
pub(crate) fn is_alive(mark: &Path) -> bool {
    let mark = mark.to_str().unwrap().as_bytes();
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments.windows(mark.len()).any(|window| window == mark)
    })
}

/// The most memory that a running process has held, in bytes.
pub(crate) fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.unwrap().trim().trim_end_matches(" kB").parse::<u64>();
    kibibytes.unwrap() << 10
}

/// Waits for something that takes a moment; fails when it does not come.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{what} did not come about");
}
