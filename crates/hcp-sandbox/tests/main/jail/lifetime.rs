//! How a jailed program ends, and that nothing of its jail outlives the call or the runtime.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use hcp_sandbox::{Cancel, End, Jail};

use super::{processes_with, python, shell, tools, unusual_sleep};
use crate::support::{Run, eventually, system, text};

#[test]
fn each_end_has_its_own_answer() {
    let quick = Duration::from_millis(300);
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
        assert_eq!(finished.end, end, "{script}: {}", text(&finished.stderr));
        if let Some(timeout) = timeout {
            assert!(
                finished.duration < timeout + Duration::from_secs(1),
                "{script}"
            );
        }
    }
}

#[test]
fn a_program_is_asked_before_it_is_killed() {
    let script = "trap 'echo cleaned; exit 3' TERM; while :; do :; done";
    let finished = shell(script, |run| run.within(Duration::from_millis(300)));
    let expected = (End::TimedOut, "cleaned\n");
    assert_eq!((finished.end, text(&finished.stdout)), expected);
}

#[test]
fn nothing_outlives_the_call() {
    let daemon = |sleep: &str| {
        format!(
            "import os\n\
             if os.fork() == 0:\n\
             \x20 os.setsid()\n\
             \x20 if os.fork() == 0: os.execvp('sleep', ['sleep', '{sleep}'])\n\
             \x20 os._exit(0)\n\
             os.wait(); print('started', flush=True)"
        )
    };
    for (what, script) in [
        ("in the background", "sleep {} & echo started"),
        (
            "with no pipe",
            "sleep {} >/dev/null 2>&1 </dev/null & echo started",
        ),
        (
            "that ignores signals",
            "(trap '' TERM HUP; exec sleep {}) & echo started",
        ),
        ("in a session of its own", "setsid sleep {} & echo started"),
        (
            "twice removed",
            "(setsid sh -c 'sleep {} & exit 0' &) ; echo started",
        ),
        ("a daemon", ""),
    ] {
        let sleep = unusual_sleep();
        let started = Instant::now();
        let finished = if script.is_empty() {
            let (bin, tools) = (system("python3"), tools());
            let jail = Jail {
                exec: &tools,
                ..Jail::default()
            };
            Run::new(&bin)
                .argv(&["-c", &daemon(&sleep)])
                .jailed(&jail)
                .unwrap()
        } else {
            shell(&script.replace("{}", &sleep), |run| run)
        };
        assert_eq!(
            text(&finished.stdout),
            "started\n",
            "{what} {}",
            text(&finished.stderr)
        );
        assert_eq!(finished.end, End::Exited(0), "{what}");
        assert!(started.elapsed() < Duration::from_secs(2), "{what}");
        assert_eq!(processes_with(&sleep), 0, "{what}");
    }
}

#[test]
fn nothing_outlives_a_call_that_was_ended() {
    let sleep = unusual_sleep();
    let script =
        format!("mkfifo p; (while :; do echo c; sleep 1; done) >p & setsid sleep {sleep} & cat p");
    let finished = shell(&script, |mut run| {
        run.working_directory = "/tmp".into();
        run.within(Duration::from_millis(500))
    });
    assert_eq!(finished.end, End::TimedOut);
    assert!(finished.duration < Duration::from_millis(1500));
    assert_eq!(processes_with(&sleep), 0);

    let (bin, tools) = (system("sh"), tools());
    let jail = Jail {
        exec: &tools,
        ..Jail::default()
    };
    let mut run = Run::new(&bin);
    run.argv = vec![
        "-c".into(),
        format!("trap '' TERM; setsid sleep {sleep} & wait; wait").into(),
    ];
    let cancel = Cancel::new().unwrap();
    run.cancel = cancel.clone();
    thread::scope(|scope| {
        let call = scope.spawn(|| run.jailed(&jail).unwrap());
        assert!(eventually(|| processes_with(&sleep) == 1));
        let cancelled = Instant::now();
        cancel.cancel();
        assert_eq!(call.join().unwrap().end, End::Cancelled);
        assert!(cancelled.elapsed() < Duration::from_secs(1));
    });
    assert_eq!(processes_with(&sleep), 0);
}

#[test]
fn what_a_background_process_writes_at_once_still_counts() {
    let finished = shell("(sleep 0.1; echo late) & echo early", |run| run);
    assert_eq!(text(&finished.stdout), "early\nlate\n");
}

#[test]
fn too_much_output_ends_the_call() {
    let finished = python("while True: print('x' * 4096)", |mut run| {
        run.limits.output = 10_000;
        run
    });
    assert_eq!(
        (finished.end, finished.stdout.len()),
        (End::OutputOver, 10_000)
    );
}

#[test]
fn memory_and_processes_are_bounded_for_the_whole_call() {
    if !groups_can_be_made() {
        return;
    }
    let hog = "import os\n\
               children = []\n\
               for _ in range(4):\n\
               \x20 if os.fork() == 0:\n\
               \x20   data = bytearray(40 << 20); os.pause() if hasattr(os, 'pause') else __import__('signal').pause()\n\
               import time; time.sleep(3); print('had it all')";
    let finished = python(hog, |mut run| {
        run.limits.memory = Some(96 << 20);
        run
    });
    // One of the children is killed, which alone is not the end of the call.
    assert!(matches!(finished.end, End::Exited(0) | End::OutOfMemory));
    let finished = python(
        "data = bytearray(300 << 20); print(len(data))",
        |mut run| {
            run.limits.memory = Some(64 << 20);
            run
        },
    );
    assert_eq!(finished.end, End::OutOfMemory);
    let forks = "import os, signal\n\
                 count = 0\n\
                 try:\n\
                 \x20 while count < 200:\n\
                 \x20   if os.fork() == 0: signal.pause()\n\
                 \x20   count += 1\n\
                 except BlockingIOError: print(count)";
    let finished = python(forks, |mut run| {
        run.limits.processes = Some(16);
        run
    });
    assert_eq!(text(&finished.stdout), "15\n");
}

fn groups_can_be_made() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn the_jail_dies_with_the_runtime() {
    for round in 0..5 {
        let sleep = unusual_sleep();
        let mut runtime = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "jail::lifetime::runtime_to_be_killed",
                "--ignored",
            ])
            .env("HCP_TEST_SLEEP", &sleep)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        assert!(eventually(|| processes_with(&sleep) == 1), "{round}");
        runtime.kill().unwrap();
        runtime.wait().unwrap();
        assert!(eventually(|| processes_with(&sleep) == 0), "{round}");
    }
}

#[test]
#[ignore = "run by the_jail_dies_with_the_runtime"]
fn runtime_to_be_killed() {
    let sleep = std::env::var("HCP_TEST_SLEEP").unwrap();
    shell(
        &format!("trap '' TERM HUP; setsid sleep {sleep} & wait"),
        |run| run.within(Duration::from_mins(5)),
    );
}

/// At level `no-userns` it is the process group that holds everything together, and that nothing can
/// leave.
#[test]
fn without_namespaces_nothing_outlives_the_call_either() {
    if rustix::process::geteuid().is_root() {
        let own = "jail::lifetime::without_namespaces_nothing_outlives_the_call_either";
        return super::as_an_ordinary_user(own);
    }
    for (script, end) in [
        ("exit 4", End::Exited(4)),
        ("kill -40 $$", End::Signalled(40)),
        ("sleep {} & exit 0", End::Exited(0)),
        (
            "(trap '' TERM HUP; exec sleep {}) >/dev/null 2>&1 & exit 0",
            End::Exited(0),
        ),
        ("setsid sleep {} & exit 0", End::Exited(0)),
        ("trap '' TERM; sleep {} & wait; wait", End::TimedOut),
        ("trap 'exit 3' TERM; sleep {} & wait", End::TimedOut),
    ] {
        let sleep = unusual_sleep();
        let finished = confined(&script.replace("{}", &sleep), Duration::from_millis(400));
        assert_eq!(finished.end, end, "{script}: {}", text(&finished.stderr));
        assert!(finished.duration < Duration::from_secs(2), "{script}");
        assert_eq!(processes_with(&sleep), 0, "{script}");
    }
    let sleep = unusual_sleep();
    let mut runtime = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "jail::lifetime::confining_runtime_to_be_killed",
            "--ignored",
        ])
        .env("HCP_TEST_SLEEP", &sleep)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert!(eventually(|| processes_with(&sleep) == 1));
    runtime.kill().unwrap();
    runtime.wait().unwrap();
    assert!(eventually(|| processes_with(&sleep) == 0));
}

#[test]
#[ignore = "run by without_namespaces_nothing_outlives_the_call_either"]
fn confining_runtime_to_be_killed() {
    let sleep = std::env::var("HCP_TEST_SLEEP").unwrap();
    confined(
        &format!("trap '' TERM HUP; sleep {sleep}"),
        Duration::from_mins(5),
    );
}

fn confined(script: &str, timeout: Duration) -> hcp_sandbox::Finished {
    let parent = tempfile::tempdir_in("/var/tmp").unwrap();
    let scratch = hcp_sandbox::Scratch::create(parent.path()).unwrap();
    let (bin, tools) = (system("sh"), tools());
    let jail = Jail {
        exec: &tools,
        scratch: Some(&scratch),
        ..Jail::default()
    };
    let run = Run::new(&bin).argv(&["-c", script]).within(timeout);
    run.jailed(&jail).unwrap()
}
