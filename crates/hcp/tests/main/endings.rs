//! How a call ends that does not simply exit: by its limits, by a signal, by its caller, by the death
//! of the runtime, or because the Adapter cannot be run at all. Each is an answer of its own.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::pack::{Pack, write_tool};
use crate::world::{NATIVE, Ran, World, lives, text, wait_until};

/// Writes the pid of the tool and then goes on with `body`.
fn noted(world: &World, body: &str) -> String {
    format!("echo $$ >>'{}'\n{body}", world.path("pids").display())
}

fn pids(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.path("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn all_gone(world: &World) {
    let pids = pids(world);
    assert!(!pids.is_empty());
    wait_until("the processes of the call to go", || {
        pids.iter().all(|pid| !lives(pid))
    });
}

#[test]
fn a_limit_of_time_ends_the_whole_tree() {
    let world = World::new();
    let tool = noted(
        &world,
        &format!(
            "cd \"$TMPDIR\"; mkfifo p\n(sh -c 'echo $$ >>\"{}\"; while :; do echo c; sleep 1; done') >p &\ncat p",
            world.path("pids").display()
        ),
    );
    world.install(&Pack::of_tool("slow", &tool).section("[sandbox]\ntimeout = \"2s\""));
    let began = Instant::now();
    let ran = world.exec(&["slow", "go"]);
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(ran.error(), "timed out after 2s");
    assert_eq!(ran.status, Some(1));
    assert_eq!(pids(&world).len(), 2);
    all_gone(&world);
    let record = world.last_record();
    assert_eq!(record["kind"], "outcome");
    assert_eq!(record["step"], 8);
    assert_eq!(record["error"], "timed out after 2s");
}

#[test]
fn the_operator_may_allow_less_time_than_the_pack_asks_for() {
    let world = World::new();
    world.configure(&format!("{NATIVE}timeout_max = \"300ms\"\n"));
    world.install(&Pack::of_tool("slow", "exec sleep 20"));
    assert_eq!(world.exec(&["slow", "go"]).error(), "timed out after 300ms");
}

#[test]
fn what_is_left_behind_is_ended_and_not_waited_for() {
    let world = World::new();
    let pids = world.path("pids").display().to_string();
    world.install(&Pack::of_tool(
        "leaver",
        &format!("sleep 30 &\necho $! >>'{pids}'\necho started"),
    ));
    let began = Instant::now();
    assert_eq!(world.exec(&["leaver", "go"]).result(), "started\n");
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    all_gone(&world);
}

#[test]
fn endings_are_told_apart() {
    let cases: [(&str, &str, &str); 7] = [
        ("kill -KILL $$", "", "signal SIGKILL"),
        ("kill -TERM $$", "", "signal SIGTERM"),
        ("echo why >&2; kill -SEGV $$", "", "signal SIGSEGV"),
        ("exec yes", "output = \"64KiB\"", "output over 65536 bytes"),
        (
            "head -c 5000 /dev/zero",
            "output = \"1000B\"",
            "output over 1000 bytes",
        ),
        ("echo no >&2; exit 3", "", "no\n"),
        ("exit 3", "", "exit 3"),
    ];
    for (tool, sandbox, error) in cases {
        let pack = Pack::of_tool("ends", tool).section(&format!("[sandbox]\n{sandbox}"));
        let world = World::with(&pack);
        let ran = world.exec(&["ends", "go"]);
        assert_eq!(ran.error(), error, "{tool}");
        assert_eq!(ran.status, Some(1), "{tool}");
        let record = world.last_record();
        assert_eq!(record["error"], error, "{tool}");
        assert_eq!(record["ok"], false, "{tool}");
        assert_eq!(record["step_name"], "run_adapter", "{tool}");
    }
}

/// A tool within its limit of output is not told to be over it.
#[test]
fn the_very_limit_of_output_is_allowed() {
    let pack = Pack::of_tool("brim", "head -c 1000 /dev/zero | tr '\\0' x")
        .section("[sandbox]\noutput = \"1000B\"");
    let world = World::with(&pack);
    assert_eq!(
        world.exec(&["brim", "go"]).result().as_str().unwrap().len(),
        1000
    );
}

#[test]
fn an_interrupt_cancels_the_call_and_ends_the_child() {
    for signal in [Signal::INT, Signal::TERM] {
        let world = World::new();
        world.install(&Pack::of_tool(
            "waits",
            &noted(&world, "sleep 30; echo '{}'"),
        ));
        let child = world.start(&["exec", "waits", "go"]);
        wait_until("the tool to start", || !pids(&world).is_empty());
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.error(), "cancelled");
        assert_eq!(ran.status, Some(130));
        all_gone(&world);
        let record = world.last_record();
        assert_eq!(record["kind"], "outcome");
        assert_eq!(record["error"], "cancelled");
        assert_eq!(record["step"], 8);
    }
}

/// The runtime dies, its child with it, and the next start closes the call.
#[test]
fn a_killed_runtime_leaves_no_child_and_an_interrupted_record() {
    let world = World::new();
    world.install(&Pack::of_tool(
        "waits",
        &noted(&world, "echo x >\"$HOME/planted\"; exec sleep 30"),
    ));
    let mut child = world.start(&["exec", "waits", "go"]);
    wait_until("the tool to start", || !pids(&world).is_empty());
    // Another runtime at work meanwhile does not take the call for dead.
    world.ok(&["status"]);
    assert_eq!(world.records_of("interrupted").len(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    all_gone(&world);
    assert_eq!(
        world.records_of("interrupted").len(),
        0,
        "reading the trail writes nothing"
    );
    world.ok(&["status"]);
    let closed = world.records_of("interrupted");
    assert_eq!(closed.len(), 1);
    let intents = world.records_of("intent");
    assert_eq!(closed[0]["intent_seq"], intents[0]["seq"]);
    assert_eq!(closed[0]["pack_id"], "waits");
    assert_eq!(closed[0]["verb_key"], "go");
    assert_eq!(closed[0]["ok"], false);
    world.ok(&["status"]);
    assert_eq!(world.records_of("interrupted").len(), 1, "closed once");
    assert_eq!(world.hcp(&["audit", "verify"]).stdout, "OK\n");
    assert_eq!(
        world.names("tmp"),
        [""; 0],
        "the next start also clears what the call left"
    );
    assert_eq!(world.names("locks"), [""; 0]);
}

/// Whoever chooses nothing gets a jail, and whoever asks for less where there is one too.
#[test]
fn without_a_chosen_mode_tools_are_jailed_or_not_run() {
    for config in ["", "[sandbox]\nmode = \"sandbox\"\n"] {
        let world = World::new();
        world.configure(config);
        let made = world.path("made");
        let tool = format!(
            "echo out >'{}'; echo \"\\\"$HCP_SANDBOX $HOME\\\"\"",
            made.display()
        );
        world.install(&Pack::of_tool("jail", &tool));
        let answer = world.exec(&["jail", "go", "-v"]);
        assert!(!made.exists(), "{config}");
        if world.ok(&["status"])["isolation_level"] == "full" {
            assert_eq!(answer.result(), "sandbox /home/hcp", "{config}");
            assert_eq!(answer.status, Some(0), "{config}");
        } else {
            assert!(answer.error().starts_with("sandbox: "), "{config}");
            assert_eq!(answer.status, Some(3), "{config}");
        }
        assert_eq!(world.last_record()["kind"], "outcome", "{config}");
    }
}

#[test]
fn kinds_without_an_adapter_are_refused_by_name() {
    for kind in ["http", "mcp", "quantum", "x-9"] {
        let pack =
            Pack::new("kinds").command("go", &format!("kind = \"{kind}\"\neffect = \"read\""));
        let world = World::with(&pack);
        let ran = world.exec(&["kinds", "go"]);
        assert_eq!(ran.error(), format!("adapter {kind} not executable in hcp"));
        assert_eq!(ran.status, Some(3));
        assert_eq!(world.last_record()["step"], 8);
    }
}

#[test]
fn bins_that_may_not_run() {
    let world = World::new();
    let outside = world.path("outside");
    write_tool(&outside, "echo '{}'");
    let away = format!("../../../{}", outside.file_name().unwrap().display());
    // The bin, what the operator allows, the error; none where it runs.
    let cases: [(&str, &str, Option<&str>); 8] = [
        (
            "./bin/absent",
            "",
            Some("sandbox: bin \"./bin/absent\" not found"),
        ),
        ("./bin", "", Some("sandbox: bin \"./bin\" not")),
        (&away, "", Some("not allowlisted")),
        (&away, &away, Some("not allowlisted")),
        (text(&outside), "", Some("not allowlisted")),
        (text(&outside), text(&outside), None),
        (
            "outside",
            "outside",
            Some("sandbox: bin \"outside\" not found"),
        ),
        ("true", "", Some("sandbox: bin \"true\" not allowlisted")),
    ];
    for (at, (bin, allowed, error)) in cases.into_iter().enumerate() {
        let id = format!("bins{at}");
        let pack = Pack::new(&id)
            .wrap(&format!("bin = {}", json!(bin)))
            .command("go", "effect = \"read\"");
        let folder = world.author(&pack);
        let mut words = vec!["pack", "add", text(&folder)];
        if !allowed.is_empty() {
            words.extend(["--allow-bin", allowed]);
        }
        let added = world.hcp(&words);
        assert_eq!(added.status, Some(0), "adding only warns: {}", added.stderr);
        assert_eq!(
            added.stderr.contains("bin `"),
            error.is_some(),
            "{bin}: {}",
            added.stderr
        );
        world.ok(&["activate", &id]);
        world.ok(&["grant", "add", "me", &format!("{id}:*")]);
        let ran = world.exec(&[&id, "go"]);
        let Some(error) = error else {
            assert_eq!(ran.result(), json!({}));
            continue;
        };
        assert!(ran.error().contains(error), "{bin}: {}", ran.error());
        assert_eq!(ran.status, Some(127), "{bin}");
        assert_eq!(world.last_record()["step_name"], "run_adapter", "{bin}");
    }
}
