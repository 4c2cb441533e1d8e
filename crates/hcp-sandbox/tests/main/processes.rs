//! How a child ends, and what is left of it afterwards.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use hcp_sandbox::{Cancel, End};

use crate::support::{Run, eventually, is_alive, shell, system, text};

#[test]
fn each_end_has_its_own_answer() {
    let quick = Duration::from_millis(200);
    for (script, timeout, end) in [
        ("exit 0", None, End::Exited(0)),
        ("exit 4", None, End::Exited(4)),
        ("exit 255", None, End::Exited(255)),
        ("kill -KILL $$", None, End::Signalled(libc::SIGKILL)),
        ("kill -TERM $$", None, End::Signalled(libc::SIGTERM)),
        ("kill -40 $$", None, End::Signalled(40)),
        ("sleep 30", Some(quick), End::TimedOut),
        (
            "trap '' TERM; while :; do :; done",
            Some(quick),
            End::TimedOut,
        ),
        (
            "trap 'exit 0' TERM; while :; do :; done",
            Some(quick),
            End::TimedOut,
        ),
    ] {
        let finished = shell(script, |run| match timeout {
            Some(timeout) => run.within(timeout),
            None => run,
        });
        assert_eq!(finished.end, end, "{script}");
        if let Some(timeout) = timeout {
            assert!(
                finished.duration < timeout + Duration::from_secs(1),
                "{script}"
            );
        }
    }
}

#[test]
fn a_child_is_asked_before_it_is_killed() {
    let script = "trap 'echo cleaned; exit 3' TERM; while :; do :; done";
    let finished = shell(script, |run| run.within(Duration::from_millis(200)));
    assert_eq!(
        (finished.end, text(&finished.stdout)),
        (End::TimedOut, "cleaned\n")
    );
}

#[test]
fn the_limit_holds_for_a_tree_that_keeps_the_pipes_busy() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mkfifo p; (echo $$ >>pids; while :; do echo c; sleep 1; done) >p & \
                  echo $! >>pids; echo $$ >>pids; cat p";
    let start = Instant::now();
    let finished = shell(script, |mut run| {
        run.working_directory = folder.path().to_owned();
        run.within(Duration::from_secs(1))
    });
    assert_eq!(finished.end, End::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(2));
    let pids = fs::read_to_string(folder.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 3);
    assert!(eventually(|| !pids.lines().any(is_alive)), "{pids}");
}

#[test]
fn a_background_process_neither_holds_the_call_nor_survives_it() {
    for script in [
        "sleep 300 & echo $!",
        "sleep 300 >/dev/null 2>&1 & echo $!",
        "(trap '' TERM HUP; exec sleep 300) & echo $!",
    ] {
        let start = Instant::now();
        let finished = shell(script, |run| run);
        assert_eq!(finished.end, End::Exited(0), "{script}");
        assert!(start.elapsed() < Duration::from_secs(2), "{script}");
        let pid = text(&finished.stdout);
        assert!(!pid.is_empty());
        assert!(eventually(|| !is_alive(pid)), "{script}");
    }
}

/// As the jobs of a shell with job control are: in the session, in a process group of their own.
#[test]
fn a_process_in_another_group_of_the_session_is_gone_too() {
    let script = "import os, time\n\
                  pid = os.fork()\n\
                  if pid == 0: os.setpgid(0, 0); time.sleep(300)\n\
                  print(pid)";
    let bin = system("python3");
    let finished = Run::new(&bin).argv(&["-c", script]).go().unwrap();
    assert_eq!(finished.end, End::Exited(0));
    let pid = text(&finished.stdout);
    assert!(!pid.is_empty());
    assert!(eventually(|| !is_alive(pid)));
}

#[test]
fn what_a_background_process_writes_at_once_still_counts() {
    let finished = shell("(sleep 0.1; echo late) & echo early", |run| run);
    assert_eq!(text(&finished.stdout), "early\nlate\n");
}

#[test]
fn cancelling_ends_only_the_call_that_watches_the_switch() {
    let bin = system("sh");
    let run = |cancel: Cancel| {
        let mut run = Run::new(&bin).argv(&["-c", "sleep 1; echo whole"]);
        run.cancel = cancel;
        run.go().unwrap()
    };
    let (first, second) = (Cancel::new().unwrap(), Cancel::new().unwrap());
    thread::scope(|scope| {
        let cancelled = scope.spawn(|| run(first.clone()));
        let other = scope.spawn(|| run(second.clone()));
        thread::sleep(Duration::from_millis(200));
        first.cancel();
        assert_eq!(cancelled.join().unwrap().end, End::Cancelled);
        let other = other.join().unwrap();
        assert_eq!(
            (other.end, text(&other.stdout)),
            (End::Exited(0), "whole\n")
        );
    });
    assert_eq!(run(first).end, End::Cancelled, "cancelled before it began");
}

#[test]
fn the_child_dies_with_the_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::runtime_to_be_killed", "--ignored"])
        .env("HCP_TEST_FOLDER", folder.path())
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut runtime = runtime.unwrap();
    let pid = || fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
    assert!(eventually(|| pid().ends_with('\n')));
    assert!(is_alive(&pid()));
    runtime.kill().unwrap();
    runtime.wait().unwrap();
    assert!(eventually(|| !is_alive(&pid())));
}

#[test]
#[ignore = "run by the_child_dies_with_the_runtime"]
fn runtime_to_be_killed() {
    let folder = std::env::var_os("HCP_TEST_FOLDER").unwrap();
    shell("echo $$ >pid; exec sleep 300", |mut run| {
        run.working_directory = folder.into();
        run.within(Duration::from_mins(5))
    });
}

#[test]
fn a_runtime_that_was_started_with_sigchld_ignored_still_learns_the_end() {
    let own = std::env::current_exe().unwrap();
    let script = "import os, signal, sys\n\
                  signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                  os.execv(sys.argv[1], sys.argv[1:])";
    let status = Command::new("python3")
        .args(["-c", script])
        .arg(own)
        .args(["--exact", "processes::each_end_has_its_own_answer"])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_thousand_short_children_are_heard_to_the_end() {
    let bin = system("sh");
    for number in 0..1000 {
        let script = format!("echo out {number}; echo first >&2; echo last {number} >&2; exit 7");
        let finished = Run::new(&bin).argv(&["-c", &script]).go().unwrap();
        assert_eq!(finished.end, End::Exited(7));
        assert_eq!(text(&finished.stdout), format!("out {number}\n"));
        assert_eq!(text(&finished.stderr), format!("first\nlast {number}\n"));
    }
}
