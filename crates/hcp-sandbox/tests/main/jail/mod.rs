//! The jail: what a program in it is, what it sees, how it ends, and what is left of it.

mod attacks;
mod cost;
mod degraded;
mod grants;
mod lifetime;
mod scene;
mod stress;
mod view;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use hcp_sandbox::{CheckedBin, Finished, Jail};

use crate::support::{Run, system, text};

/// Programs that the scripts of these tests start.
pub(crate) fn tools() -> Vec<CheckedBin> {
    let names = [
        "sleep", "cat", "mkfifo", "head", "setsid", "python3", "sh", "id",
    ];
    names.map(system).into()
}

/// Runs a shell script in a jail where it may start [`tools`].
pub(crate) fn shell(script: &str, change: impl FnOnce(Run<'_>) -> Run<'_>) -> Finished {
    let bin = system("sh");
    let tools = tools();
    let jail = Jail {
        exec: &tools,
        ..Jail::default()
    };
    change(Run::new(&bin).argv(&["-c", script]))
        .jailed(&jail)
        .unwrap()
}

/// Runs a Python script that may start nothing.
pub(crate) fn python(script: &str, change: impl FnOnce(Run<'_>) -> Run<'_>) -> Finished {
    let bin = system("python3");
    change(Run::new(&bin).argv(&["-c", script]))
        .jailed(&Jail::default())
        .unwrap()
}

/// A number of seconds that nobody else sleeps for, by which a process is found from outside.
pub(crate) fn unusual_sleep() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("3{:05}.{number:03}", std::process::id() % 100_000)
}

/// How many processes of the host have this among their arguments.
pub(crate) fn processes_with(argument: &str) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
        })
        .count()
}

/// Runs a test of this program as nobody in particular.
pub(crate) fn as_an_ordinary_user(test: &str) {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let open = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(folder.path(), open(0o755)).unwrap();
    let copies = [
        (
            std::env::current_exe().unwrap(),
            folder.path().join("tests"),
        ),
        (scene::attacker(), folder.path().join("attacker")),
    ];
    for (from, to) in &copies {
        fs::copy(from, to).unwrap();
        fs::set_permissions(to, open(0o755)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copies[0].1)
        .args(["--exact", test])
        .env("HCP_TEST_ATTACKER", &copies[1].1)
        .current_dir("/")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stdout));
}
