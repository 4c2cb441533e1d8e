//! Many calls at once, and nothing left of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hcp_sandbox::{BinSearch, Cancel, End, Finished, Scratch, check_bin};

use crate::support::{Run, system, text};

const CALLERS: usize = 10;
const CALLS: usize = 50;

/// In a process of its own, since other tests open descriptors and have children meanwhile.
#[test]
fn many_callers_leave_nothing_behind() {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stress::alone", "--ignored", "--test-threads=1"])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

/// A child that another thread is just starting has every descriptor of this process until it
/// executes its own program, and a file that is open for writing cannot be executed.
#[test]
fn a_program_that_was_just_written_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read("/bin/true").unwrap();
    thread::scope(|scope| {
        for caller in 0..4 {
            let (folder, bytes) = (folder.path(), &bytes);
            scope.spawn(move || {
                for number in 0..100 {
                    let path = folder.join(format!("tool-{caller}-{number}"));
                    fs::write(&path, bytes).unwrap();
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
                    let search = BinSearch {
                        pack_root: folder,
                        path: &[],
                        allowed: &[],
                    };
                    let bin = check_bin(&format!("./tool-{caller}-{number}"), &search).unwrap();
                    assert_eq!(Run::new(&bin).go().unwrap().end, End::Exited(0));
                }
            });
        }
    });
}

#[test]
#[ignore = "run by many_callers_leave_nothing_behind"]
fn alone() {
    let bin = system("sh");
    // What the harness and the first call open once is not a leak.
    Run::new(&bin).argv(&["-c", ":"]).go().unwrap();
    let parent = tempfile::tempdir().unwrap();
    let before = (descriptors(), children());
    let (cancelled, whole) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                for number in 0..CALLS {
                    let cancel = Cancel::new().unwrap();
                    let scratch = Scratch::create(parent.path()).unwrap();
                    let call = |script, is_cancelled| {
                        call(
                            Run::new(&bin).argv(&["-c", script]),
                            &scratch,
                            &cancel,
                            is_cancelled,
                        )
                    };
                    if number % 3 == 0 {
                        assert_eq!(
                            call(">file; sleep 300 & sleep 300", true).end,
                            End::Cancelled
                        );
                        cancelled.fetch_add(1, Ordering::Relaxed);
                    } else {
                        let finished = call(">file; echo out; echo err >&2", false);
                        assert_eq!(finished.end, End::Exited(0));
                        assert_eq!(text(&finished.stdout), "out\n");
                        assert_eq!(text(&finished.stderr), "err\n");
                        whole.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(cancelled.into_inner() + whole.into_inner(), CALLERS * CALLS);
    assert_eq!((descriptors(), children()), before);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

fn call(mut run: Run<'_>, scratch: &Scratch, cancel: &Cancel, is_cancelled: bool) -> Finished {
    run.cancel = cancel.clone();
    scratch.home().clone_into(&mut run.working_directory);
    thread::scope(|scope| {
        if is_cancelled {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                cancel.cancel();
            });
        }
        run.go().unwrap()
    })
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of this process, zombies included.
fn children() -> usize {
    let own = std::process::id().to_string();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| {
            let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
            fields.split(' ').nth(1) == Some(&own)
        })
        .count()
}
