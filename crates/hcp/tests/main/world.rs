//! An installation in a folder of its own, and the binary at work on it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::pack::Pack;

/// The binary under test.
pub(crate) const HCP: &str = env!("CARGO_BIN_EXE_hcp");
/// The config of every test that runs something.
pub(crate) const NATIVE: &str = "[sandbox]\nmode = \"native-local\"\n";

/// A folder with a home in it.
pub(crate) struct World {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl World {
    /// No home yet.
    pub(crate) fn bare() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// An installation in mode `native-local`.
    pub(crate) fn new() -> Self {
        let world = Self::bare();
        world.ok(&["init"]);
        world.configure(NATIVE);
        world
    }

    /// An installation with this pack added, activated and granted.
    pub(crate) fn with(pack: &Pack) -> Self {
        let world = Self::new();
        world.install(pack);
        world
    }

    /// Sets a variable of the caller's environment for every command from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Writes the operator's config.
    pub(crate) fn configure(&self, text: &str) {
        self.write("home/config.toml", text, 0o600);
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Writes the pack beside the home, and says where.
    pub(crate) fn author(&self, pack: &Pack) -> PathBuf {
        pack.write(&self.path("packs"))
    }

    /// Adds, activates and grants `<id>:*` to the caller.
    pub(crate) fn install(&self, pack: &Pack) {
        let folder = self.author(pack);
        self.ok(&["pack", "add", text(&folder)]);
        self.ok(&["activate", &pack.id]);
        self.ok(&["grant", "add", "me", &format!("{}:*", pack.id)]);
    }

    /// A command of hcp, not started.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(HCP);
        command
            .args(words)
            .env_clear()
            .env("HCP_HOME", self.home())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn hcp(&self, words: &[&str]) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }

    /// A command that must succeed; gives what it printed as JSON.
    pub(crate) fn ok(&self, words: &[&str]) -> Value {
        let ran = self.hcp(words);
        assert_eq!(ran.status, Some(0), "{words:?}: {}", ran.stderr);
        ran.json()
    }

    /// `hcp exec` with these words.
    pub(crate) fn exec(&self, words: &[&str]) -> Ran {
        self.hcp(&[&["exec"], words].concat())
    }

    /// `hcp exec --envelope -` with these bytes on stdin.
    pub(crate) fn send(&self, envelope: impl AsRef<[u8]>) -> Ran {
        self.pipe(&["exec", "--envelope", "-"], envelope.as_ref())
    }

    pub(crate) fn pipe(&self, words: &[&str], stdin: &[u8]) -> Ran {
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        // Who stops reading has its reasons; what it answers is what counts.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        Ran::of(child.wait_with_output().unwrap())
    }

    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.command(words).spawn().unwrap()
    }

    /// Every record, oldest first.
    pub(crate) fn records(&self) -> Vec<Value> {
        let Value::Array(records) = self.ok(&["audit", "list"]) else {
            panic!("the records are an array");
        };
        records
    }

    pub(crate) fn last_record(&self) -> Value {
        self.records().pop().unwrap()
    }

    /// Records of this kind, oldest first.
    pub(crate) fn records_of(&self, kind: &str) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["kind"] == kind);
        records
    }

    /// Opens a session and gives its id.
    pub(crate) fn session(&self, words: &[&str]) -> String {
        let opened = self.ok(&[&["session", "open"], words].concat());
        opened["session_id"].as_str().unwrap().to_owned()
    }

    /// Everything in the home, by name, mode and bytes.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.home(), &mut found);
        found.sort();
        found
    }

    /// The names in a folder of the home.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.home().join(folder)).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            found.push((path.clone(), metadata.permissions().mode(), Vec::new()));
            collect(&path, found);
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, metadata.permissions().mode(), bytes));
        }
    }
}

/// What a command of hcp came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status; none when a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// What was printed, which must be one JSON text.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?} {}", self.stdout, self.stderr))
    }

    /// The result envelope: one line, and exactly the fields of §6.2.
    pub(crate) fn envelope(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {self:?}");
        assert!(self.stdout.ends_with('\n'), "one line: {self:?}");
        let envelope = self.json();
        let fields = envelope.as_object().unwrap();
        let known = [
            "ok", "pack_id", "verb_key", "result", "error", "stdout", "stderr",
        ];
        let unknown = fields.keys().find(|key| !known.contains(&key.as_str()));
        assert_eq!(unknown, None, "{envelope}");
        let ok = envelope["ok"].as_bool().expect("ok is a boolean");
        assert!(envelope["pack_id"].is_string() && envelope["verb_key"].is_string());
        assert_eq!(fields.contains_key("result"), ok, "{envelope}");
        assert_eq!(fields.contains_key("error"), !ok, "{envelope}");
        envelope
    }

    /// The result of a call that must have succeeded.
    pub(crate) fn result(&self) -> Value {
        let envelope = self.envelope();
        assert_eq!(envelope["ok"], true, "{envelope} {}", self.stderr);
        assert_eq!(self.status, Some(0), "{envelope}");
        envelope["result"].clone()
    }

    /// The error of a call that must have been refused or failed.
    pub(crate) fn error(&self) -> String {
        let envelope = self.envelope();
        assert_eq!(envelope["ok"], false, "{envelope}");
        assert_ne!(self.status, Some(0), "{envelope}");
        envelope["error"].as_str().unwrap().to_owned()
    }

    /// The steps that `--timings` says were entered.
    pub(crate) fn steps(&self) -> Vec<String> {
        let names = self.stderr.lines().filter_map(|line| {
            let (name, took) = line.split_once(' ')?;
            took.parse::<u64>().ok().map(|_| name.to_owned())
        });
        names.collect()
    }
}

/// An exec envelope as text.
pub(crate) fn envelope(pack: &str, verb: &str, args: &Value) -> String {
    json!({ "pack_id": pack, "verb_key": verb, "args": args }).to_string()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits until something is so, for ten seconds at most.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is there and not merely waiting to be reaped.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}
