//! Making tools and running them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hcp_sandbox::{
    BinSearch, Cancel, CheckedBin, Finished, Jail, Launch, LaunchError, Limits, Stdin, check_bin,
    run_jailed, run_native_local,
};

pub(crate) fn search_path() -> Vec<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin"]
        .map(PathBuf::from)
        .to_vec()
}

/// A program of the system.
pub(crate) fn system(name: &str) -> CheckedBin {
    let search = BinSearch {
        pack_root: Path::new("/nowhere"),
        path: &search_path(),
        allowed: &[name.to_owned()],
    };
    check_bin(name, &search).unwrap()
}

/// A file with this text and mode.
pub(crate) fn write(path: &Path, text: &str, mode: u32) {
    let _ = fs::remove_file(path);
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(20),
    output: 1 << 20,
    stderr_tail: 64 << 10,
    memory: None,
    processes: None,
    file_size: None,
};

/// A run in the making: every test says only what is special about it.
pub(crate) struct Run<'a> {
    pub(crate) bin: &'a CheckedBin,
    pub(crate) argv: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) working_directory: PathBuf,
    pub(crate) stdin: Stdin,
    pub(crate) limits: Limits,
    pub(crate) cancel: Cancel,
}

impl<'a> Run<'a> {
    pub(crate) fn new(bin: &'a CheckedBin) -> Self {
        Self {
            bin,
            argv: Vec::new(),
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            working_directory: "/".into(),
            stdin: Stdin::Null,
            limits: LIMITS,
            cancel: Cancel::new().unwrap(),
        }
    }

    pub(crate) fn argv(mut self, argv: &[&str]) -> Self {
        self.argv = argv.iter().map(OsString::from).collect();
        self
    }

    pub(crate) fn within(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    pub(crate) fn go(self) -> Result<Finished, LaunchError> {
        self.launch(run_native_local)
    }

    pub(crate) fn jailed(self, jail: &Jail<'_>) -> Result<Finished, LaunchError> {
        self.launch(|launch| run_jailed(launch, jail))
    }

    fn launch(
        self,
        run: impl FnOnce(Launch<'_>) -> Result<Finished, LaunchError>,
    ) -> Result<Finished, LaunchError> {
        run(Launch {
            bin: self.bin,
            argv: self.argv,
            environment: self.environment,
            working_directory: self.working_directory,
            stdin: self.stdin,
            limits: self.limits,
            cancel: &self.cancel,
        })
    }
}

/// Runs a shell script with what `change` makes of the run.
pub(crate) fn shell(script: &str, change: impl FnOnce(Run<'_>) -> Run<'_>) -> Finished {
    let bin = system("sh");
    change(Run::new(&bin).argv(&["-c", script])).go().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Whether a process is there and not a zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Gives the system a moment to do what it was already told to.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
