//! Many jails at once, and nothing left of them.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use hcp_sandbox::{Cancel, End, Jail};

use super::{tools, unusual_sleep};
use crate::support::{Run, eventually, system, text};

const CALLERS: usize = 10;
const CALLS: usize = 30;

/// In a process of its own, since other tests open descriptors and have children meanwhile.
#[test]
fn many_callers_leave_nothing_behind() {
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "jail::stress::alone",
            "--ignored",
            "--test-threads=1",
        ])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

#[test]
#[ignore = "run by many_callers_leave_nothing_behind"]
fn alone() {
    let (bin, tools, sleep) = (system("sh"), tools(), unusual_sleep());
    let jail = Jail {
        exec: &tools,
        ..Jail::default()
    };
    let run = |script: &str| {
        let mut run = Run::new(&bin).argv(&["-c", script]);
        run.limits.memory = Some(256 << 20);
        run.limits.processes = Some(32);
        run
    };
    // What the harness and the first call open once is not a leak.
    run(":").jailed(&jail).unwrap();
    hcp_sandbox::tidy();
    let before = (descriptors(), mounts(), groups_of(std::process::id()));
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                for number in 0..CALLS {
                    if number % 3 == 0 {
                        let mut run = run(&format!("setsid sleep {sleep} & sleep {sleep}"));
                        let cancel = Cancel::new().unwrap();
                        run.cancel = cancel.clone();
                        let call = scope.spawn(|| run.jailed(&jail).unwrap());
                        thread::sleep(Duration::from_millis(10));
                        cancel.cancel();
                        assert_eq!(call.join().unwrap().end, End::Cancelled);
                    } else {
                        let finished = run("echo out; echo err >&2").jailed(&jail).unwrap();
                        let (out, err) = (text(&finished.stdout), text(&finished.stderr));
                        let found = (finished.end, out, err);
                        assert_eq!(found, (End::Exited(0), "out\n", "err\n"));
                    }
                }
            });
        }
    });
    hcp_sandbox::tidy();
    assert_eq!(
        (descriptors(), mounts(), groups_of(std::process::id())),
        before
    );
    let children = format!("/proc/self/task/{}/children", std::process::id());
    assert_eq!(fs::read_to_string(children).unwrap_or_default(), "");
    assert_eq!(super::processes_with(&sleep), 0);
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn mounts() -> usize {
    fs::read_to_string("/proc/self/mountinfo")
        .unwrap()
        .lines()
        .count()
}

/// Control groups of a runtime's calls, wherever they are.
fn groups_of(runtime: u32) -> usize {
    let found = Command::new("find")
        .args(["/sys/fs/cgroup", "-name", &format!("hcp-{runtime}-*")])
        .output()
        .unwrap();
    text(&found.stdout).lines().count()
}

#[test]
fn killed_runtimes_leave_no_group_to_their_successors() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let sleep = unusual_sleep();
    let own = |name: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", name, "--include-ignored"])
            .env("HCP_TEST_SLEEP", &sleep)
            .stdout(std::process::Stdio::null());
        command
    };
    let mut runtime = own("jail::stress::runtime_to_be_killed").spawn().unwrap();
    assert!(eventually(|| super::processes_with(&sleep) == 1));
    assert!(
        groups_of(runtime.id()) > 0,
        "without groups there is nothing to show"
    );
    runtime.kill().unwrap();
    runtime.wait().unwrap();
    assert!(eventually(|| super::processes_with(&sleep) == 0));
    // The kernel forgets the last process of a group a moment after it ended.
    assert!(eventually(|| {
        let next = own("jail::view::a_program_is_nobody_with_nothing").status();
        next.unwrap().success() && groups_of(runtime.id()) == 0
    }));
}

#[test]
#[ignore = "run by killed_runtimes_leave_no_group_to_their_successors"]
fn runtime_to_be_killed() {
    let sleep = std::env::var("HCP_TEST_SLEEP").unwrap();
    super::shell(&format!("exec sleep {sleep}"), |mut run| {
        run.limits.memory = Some(256 << 20);
        run.limits.processes = Some(32);
        run
    });
}

/// Whenever it happens: while a jail is made, runs or ends. `HCP_TEST_ROUNDS` asks for more.
#[test]
fn a_runtime_that_is_killed_at_any_moment_leaves_no_process() {
    let rounds = std::env::var("HCP_TEST_ROUNDS").map_or(40, |rounds| rounds.parse().unwrap());
    let sleep = unusual_sleep();
    for round in 0..rounds {
        let mut runtime = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "jail::stress::busy_runtime", "--ignored"])
            .env("HCP_TEST_SLEEP", &sleep)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Spread over the start of the process and several of its calls.
        thread::sleep(Duration::from_micros(5000 + 997 * (round % 61)));
        runtime.kill().unwrap();
        runtime.wait().unwrap();
        assert!(eventually(|| super::processes_with(&sleep) == 0), "{round}");
    }
}

#[test]
#[ignore = "run by a_runtime_that_is_killed_at_any_moment_leaves_no_process"]
fn busy_runtime() {
    let sleep = std::env::var("HCP_TEST_SLEEP").unwrap();
    for _ in 0..1000 {
        super::shell(
            &format!("trap '' TERM; setsid sleep {sleep} & exec sleep {sleep}"),
            |run| run.within(Duration::from_millis(5)),
        );
    }
}
