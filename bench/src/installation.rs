//! An installation made for the measurement: one pack, whose bin does nothing.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::BenchError;

/// Children are plain processes, as those that `hcp` is compared with; audit is as durable as ever.
const CONFIG: &str = "[sandbox]\nmode = \"native-local\"\n";
const MANIFEST: &str = r#"
hcp = 1
id = "noop"
version = "1"
summary = "Does nothing"
kind = "wrap"

[wrap]
bin = "./noop"
json = []

[commands.run]
summary = "Do nothing"
effect = "read"
cli = ["noop"]

[policy.run]
capability = "noop:run"
"#;

/// Where `hcp` is, and the home it works in.
pub(crate) struct Installation {
    hcp: PathBuf,
    home: PathBuf,
    noop: PathBuf,
}

impl Installation {
    /// Makes the installation anew below `folder`: pack added, activated and granted.
    ///
    /// # Errors
    /// When a file cannot be made, or a command of `hcp` fails.
    pub(crate) fn new(hcp: &Path, noop: &Path, folder: &Path) -> Result<Self, BenchError> {
        let folder = absolute(folder)?;
        let (home, pack) = (folder.join("home"), folder.join("pack"));
        for old in [&home, &pack] {
            remove(old)?;
        }
        let bin = pack.join("noop");
        make_private_folder(&home)?;
        make_private_folder(&pack)?;
        let noop_bytes = at(noop, fs::read(noop))?;
        for (path, bytes) in [
            (home.join("config.toml"), CONFIG.as_bytes()),
            (pack.join("hcp.toml"), MANIFEST.as_bytes()),
            (bin.clone(), &noop_bytes),
        ] {
            at(&path, fs::write(&path, bytes))?;
            let mode = if path == bin { 0o700 } else { 0o600 };
            at(
                &path,
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)),
            )?;
        }
        let installation = Self {
            hcp: absolute(hcp)?,
            home,
            noop: bin,
        };
        let pack = pack.into_os_string();
        for words in [
            vec!["init".into()],
            vec!["pack".into(), "add".into(), pack],
            vec!["activate".into(), "noop".into()],
            vec!["grant".into(), "add".into(), "me".into(), "noop:run".into()],
        ] {
            run(&mut installation.hcp(words))?;
        }
        Ok(installation)
    }

    /// `hcp` with these words, in this installation and with nothing else of the environment.
    pub(crate) fn hcp(&self, words: impl IntoIterator<Item = OsString>) -> Command {
        let mut command = Command::new(&self.hcp);
        command
            .args(words)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HCP_HOME", &self.home);
        command
    }

    /// The call that is measured, with flags of `hcp exec` before it.
    pub(crate) fn call(&self, flags: &[&str]) -> Command {
        let words = ["exec"].iter().chain(flags).chain(&["noop", "run"]);
        self.hcp(words.map(OsString::from))
    }

    /// The folder of the installation.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The program that does nothing, by itself.
    pub(crate) fn noop(&self) -> &Path {
        &self.noop
    }

    /// The program that is measured.
    pub(crate) fn program(&self) -> &Path {
        &self.hcp
    }
}

/// Runs a command to its end and answers with its stdout and stderr.
///
/// # Errors
/// When it cannot be started, or does not end well.
pub(crate) fn run(command: &mut Command) -> Result<(String, String), BenchError> {
    let shown = format!("{command:?}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| BenchError::Start {
            command: shown.clone(),
            source,
        })?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end().to_owned();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    if output.status.success() {
        return Ok((stdout, stderr));
    }
    Err(BenchError::Failed {
        command: shown,
        status: output.status,
        stderr: if stderr.is_empty() { stdout } else { stderr },
    })
}

/// Adds the path to what the system said.
pub(crate) fn at<T>(path: &Path, result: std::io::Result<T>) -> Result<T, BenchError> {
    result.map_err(|source| BenchError::File {
        path: path.to_owned(),
        source,
    })
}

fn absolute(path: &Path) -> Result<PathBuf, BenchError> {
    at(path, fs::canonicalize(path))
}

fn make_private_folder(path: &Path) -> Result<(), BenchError> {
    at(path, fs::DirBuilder::new().mode(0o700).create(path))
}

/// What an earlier run left; packs that were added are read-only.
fn remove(path: &Path) -> Result<(), BenchError> {
    let Ok(kind) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    make_writable(path, &kind)?;
    at(path, fs::remove_dir_all(path))
}

fn make_writable(path: &Path, metadata: &fs::Metadata) -> Result<(), BenchError> {
    if !metadata.is_dir() {
        return Ok(());
    }
    at(
        path,
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)),
    )?;
    for entry in at(path, fs::read_dir(path))? {
        let entry = at(path, entry)?;
        make_writable(&entry.path(), &at(path, entry.metadata())?)?;
    }
    Ok(())
}
