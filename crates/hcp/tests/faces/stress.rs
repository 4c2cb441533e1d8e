//! Many clients at once, a third of whose calls are taken back half way: nothing is left behind.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{Scene, eventually};
use crate::serving::Serving;

const CLIENTS: usize = 10;
const CALLS: usize = 500;
/// Calls of one client that are open at once.
const AHEAD: usize = 8;

/// How a client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speech {
    Lines,
    Mcp,
}

impl Speech {
    fn start(self, scene: &Scene) -> Serving {
        match self {
            Self::Lines => Serving::start(scene, &["stdio", "--ids"]),
            Self::Mcp => Serving::mcp(scene, &[]),
        }
    }

    fn call(self, id: usize, verb: &str, args: &Value) -> Value {
        match self {
            Self::Lines => {
                let envelope = json!({ "pack_id": "tool", "verb_key": verb, "args": args });
                json!({ "id": id, "envelope": envelope })
            }
            Self::Mcp => {
                let params = json!({ "name": format!("tool__{verb}"), "arguments": args });
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            }
        }
    }

    fn cancel(self, id: usize) -> Value {
        match self {
            Self::Lines => json!({ "cancel": id }),
            Self::Mcp => {
                let params = json!({ "requestId": id });
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
            }
        }
    }

    /// The envelope of an answer.
    fn envelope(self, answer: &Value) -> Value {
        match self {
            Self::Lines => answer["envelope"].clone(),
            Self::Mcp => answer["result"]["structuredContent"].clone(),
        }
    }

    /// Whether a call that was taken back is answered.
    fn answers_cancelled(self) -> bool {
        self == Self::Lines
    }
}

/// One client: sends its calls, takes every third back while others are answered, and counts.
fn client(scene: &Scene, number: usize, speech: Speech) {
    let mut serving = speech.start(scene);
    let mark = scene.path(&format!("mark-{number}"));
    let descriptors = |pid: u32| fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let (mut sent, mut open, mut sleeping) = (0, BTreeSet::new(), VecDeque::new());
    let mut before = None;
    loop {
        while sent < CALLS && open.len() < AHEAD {
            let (verb, args) = if sent % 3 == 0 {
                sleeping.push_back(sent);
                ("sleep", json!({ "seconds": "30", "mark": mark }))
            } else {
                ("say", json!({ "text": sent.to_string() }))
            };
            serving.send(&speech.call(sent, verb, &args));
            open.insert(sent);
            sent += 1;
        }
        // One is taken back at every turn, and all when nothing else is left to wait for.
        let all = open.len() == sleeping.len();
        while let Some(id) = sleeping.pop_front() {
            serving.send(&speech.cancel(id));
            if !speech.answers_cancelled() {
                open.remove(&id);
            }
            if !all {
                break;
            }
        }
        if open.is_empty() {
            if sent == CALLS {
                break;
            }
            continue;
        }
        let answer = serving.receive();
        let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
        let envelope = speech.envelope(&answer);
        assert!(open.remove(&id), "{answer}");
        if id % 3 == 0 {
            assert_eq!(envelope["error"], "cancelled", "{answer}");
        } else {
            assert_eq!(envelope["result"], id, "{answer}");
        }
        if before.is_none() && sent > AHEAD * 2 {
            before = Some(descriptors(serving.pid()));
        }
    }
    eventually("the end of every child", || {
        children_of(serving.pid()).is_empty()
    });
    let (before, after) = (before.unwrap(), descriptors(serving.pid()));
    assert!(after <= before, "{before} descriptors, then {after}");
    assert_eq!(serving.finish(), (vec![], Some(0)));
}

fn children_of(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|children| {
            let pids = children.split_whitespace().map(|pid| pid.parse().unwrap());
            pids.collect::<Vec<u32>>()
        })
        .collect()
}

/// Processes whose arguments begin a path within `folder`.
fn alive_within(folder: &Path) -> usize {
    let folder = folder.to_str().unwrap().as_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| {
            let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            arguments
                .windows(folder.len())
                .any(|window| window == folder)
        })
        .count()
}

#[test]
fn many_clients_that_cancel_leave_nothing_behind() {
    let scene = Scene::new();
    std::thread::scope(|threads| {
        for number in 0..CLIENTS {
            let scene = &scene;
            let speech = [Speech::Lines, Speech::Mcp][number % 2];
            threads.spawn(move || client(scene, number, speech));
        }
    });
    eventually("the end of every process", || {
        alive_within(&scene.path("mark-")) == 0
    });
    let scratch = fs::read_dir(scene.home().join("tmp")).unwrap().count();
    assert_eq!(scratch, 0, "folders of calls are left");
    assert_eq!(scene.run(&["audit", "verify"]), "OK\n");
}
