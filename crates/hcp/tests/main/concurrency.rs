//! Many at once on one home: every call is made, every record is in its chain, nothing is left over.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::pack::Pack;
use crate::world::{Ran, World, envelope, lives, wait_until};

#[test]
fn ten_callers_at_once_leave_one_whole_trail() {
    const CALLERS: usize = 10;
    const CALLS: usize = 20;
    let world = World::with(
        &Pack::new("busy")
            .tool("echo \"{\\\"n\\\":\\\"$2\\\"}\"")
            .command(
                "go",
                "effect = \"read\"\ncli = [\"busy\", \"go\", \"{{n}}\"]",
            ),
    );
    let before = world.records().len();
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let world = &world;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let n = format!("{caller}-{call}");
                    if call % 5 == 4 {
                        // Some are refused, some open sessions meanwhile.
                        world.exec(&["busy", "stop"]).error();
                        continue;
                    }
                    let answer = world.send(envelope("busy", "go", &json!({ "n": n })));
                    assert_eq!(answer.result(), json!({ "n": n }));
                }
            });
        }
        for at in 0..5 {
            world.session(&["--pack", "busy", "--ttl", &format!("{}m", at + 1)]);
        }
    });
    let records = world.records();
    let refused = CALLERS * CALLS / 5;
    assert_eq!(
        records.len() - before,
        2 * (CALLERS * CALLS - refused) + refused + 5
    );
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], at + 1);
    }
    let intents = world.records_of("intent");
    let outcomes = world.records_of("outcome");
    assert_eq!(intents.len(), outcomes.len());
    let mut closed: Vec<u64> = outcomes
        .iter()
        .map(|r| r["intent_seq"].as_u64().unwrap())
        .collect();
    closed.sort_unstable();
    let opened: Vec<u64> = intents.iter().map(|r| r["seq"].as_u64().unwrap()).collect();
    assert_eq!(closed, opened, "every intent has its one outcome");
    assert_eq!(
        world.records_of("interrupted").len(),
        0,
        "no living runtime was taken for dead"
    );
    assert_eq!(world.hcp(&["audit", "verify"]).stdout, "OK\n");
    assert!(world.names("tmp").is_empty(), "{:?}", world.names("tmp"));
    assert!(
        world.names("locks").is_empty(),
        "{:?}",
        world.names("locks")
    );
}

/// A third of the calls is taken back half way: nothing of them is left (case 4).
#[test]
fn calls_that_are_taken_back_leave_nothing() {
    let world = World::new();
    let pids = world.path("pids");
    world.install(&Pack::of_tool(
        "nap",
        &format!(
            "echo $$ >>'{0}'; sleep 0.2 & echo $! >>'{0}'; wait; echo '{{}}'",
            pids.display()
        ),
    ));
    thread::scope(|scope| {
        for caller in 0..6 {
            let world = &world;
            scope.spawn(move || {
                for call in 0..5 {
                    let child = world.start(&["exec", "nap", "go"]);
                    let taken_back = (caller + call) % 3 == 0;
                    if taken_back {
                        thread::sleep(Duration::from_millis(20 * call));
                        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
                    }
                    let output = child.wait_with_output().unwrap();
                    if !taken_back {
                        assert_eq!(Ran::of(output).result(), json!({}));
                    } else if !output.stdout.is_empty() {
                        // Taken back before, during or after: an answer all the same.
                        Ran::of(output).envelope();
                    }
                }
            });
        }
    });
    let started = fs::read_to_string(&pids).unwrap();
    wait_until("every process to go", || !started.lines().any(lives));
    world.ok(&["status"]);
    assert_eq!(world.names("tmp"), [""; 0]);
    assert_eq!(world.names("locks"), [""; 0]);
    assert_eq!(
        world.records_of("outcome").len() + world.records_of("interrupted").len(),
        world.records_of("intent").len()
    );
    assert_eq!(world.hcp(&["audit", "verify"]).stdout, "OK\n");
}

/// Two of everything at once: each is there in the end, or refused by name.
#[test]
fn operators_at_once_do_not_undo_each_other() {
    let world = World::new();
    let packs: Vec<_> = (0..6)
        .map(|at| world.author(&Pack::of_tool(&format!("p{at}"), "echo '{}'")))
        .collect();
    thread::scope(|scope| {
        for folder in &packs {
            for _ in 0..2 {
                let world = &world;
                scope.spawn(move || {
                    let ran = world.hcp(&["pack", "add", folder.to_str().unwrap()]);
                    let fine = ran.status == Some(0) || ran.stderr.contains("already");
                    assert!(fine, "{}", ran.stderr);
                });
            }
        }
    });
    assert_eq!(world.ok(&["pack", "list"]).as_array().unwrap().len(), 6);
    assert_eq!(world.names("packs").len(), 6, "{:?}", world.names("packs"));
    thread::scope(|scope| {
        for at in 0..6 {
            let world = &world;
            scope.spawn(move || {
                let id = format!("p{at}");
                world.ok(&["activate", &id]);
                world.ok(&["grant", "add", "me", &format!("{id}:*")]);
            });
        }
    });
    for at in 0..6 {
        assert_eq!(world.exec(&[&format!("p{at}"), "go"]).result(), json!({}));
    }
    assert_eq!(world.hcp(&["audit", "verify"]).stdout, "OK\n");
    assert!(
        fs::read_dir(world.path("home/locks"))
            .unwrap()
            .next()
            .is_none()
    );
}

/// `init` by several at once makes one installation.
#[test]
fn init_at_once_makes_one_home() {
    let world = World::bare();
    thread::scope(|scope| {
        let inits: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| world.ok(&["init"])))
            .collect();
        let made: Vec<bool> = inits
            .into_iter()
            .map(|init| init.join().unwrap()["created"].as_bool().unwrap())
            .collect();
        assert_eq!(
            made.iter().filter(|created| **created).count(),
            1,
            "{made:?}"
        );
    });
    assert_eq!(world.ok(&["session", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(world.hcp(&["audit", "verify"]).stdout, "OK\n");
}
