//! `hcp stdio`: order, ids, cancelling, ends, and what hostile clients send.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::scene::{Scene, eventually, is_alive, peak_memory};
use crate::serving::Serving;

fn say(text: &str) -> Value {
    json!({ "pack_id": "tool", "verb_key": "say", "args": { "text": text } })
}

fn sleep(seconds: &str, mark: &std::path::Path) -> Value {
    json!({ "pack_id": "tool", "verb_key": "sleep", "args": { "seconds": seconds, "mark": mark } })
}

fn audit(scene: &Scene) -> Vec<Value> {
    serde_json::from_str(&scene.run(&["audit", "list", "--json"])).unwrap()
}

#[test]
fn lines_are_answered_in_their_order_and_recorded() {
    let scene = Scene::new();
    let mut serving = Serving::start(&scene, &["stdio"]);
    let mark = scene.path("mark");
    let gone = json!({ "pack_id": "gone", "verb_key": "x" });
    for line in [
        sleep("0.2", &mark).to_string(),
        say("1.10").to_string(),
        gone.to_string(),
    ] {
        serving.write(line.as_bytes());
        serving.write(b"\n");
    }
    // The last line has no end, and is one all the same.
    serving.write(b"{\"pack_id\":\"tool\"");
    let (lines, status) = serving.finish();
    assert_eq!(
        lines,
        [
            r#"{"ok":true,"pack_id":"tool","verb_key":"sleep","result":"slept"}"#,
            r#"{"ok":true,"pack_id":"tool","verb_key":"say","result":1.10}"#,
            r#"{"ok":false,"pack_id":"gone","verb_key":"x","error":"unknown pack gone"}"#,
            r#"{"ok":false,"pack_id":"","verb_key":"","error":"invalid envelope: not JSON at byte 17: expected `,` or `}`"}"#,
        ]
    );
    assert_eq!(status, Some(0));
    let kinds: Vec<_> = audit(&scene)
        .iter()
        .rev()
        .take(6)
        .map(|r| r["kind"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "invalid", "denied", "outcome", "intent", "outcome", "intent"
        ]
    );
    assert_eq!(scene.run(&["audit", "verify"]), "OK\n");
}

#[test]
fn with_ids_answers_come_as_calls_finish_and_a_cancel_ends_the_tree() {
    let scene = Scene::new();
    let mut serving = Serving::start(&scene, &["stdio", "--ids"]);
    let mark = scene.path("mark");
    serving.send(&json!({ "id": { "n": 1 }, "envelope": sleep("50", &mark) }));
    serving.send(&json!({ "id": "quick", "envelope": say("hi") }));
    assert_eq!(
        serving.line().unwrap(),
        r#"{"id":"quick","envelope":{"ok":true,"pack_id":"tool","verb_key":"say","result":"hi"}}"#
    );
    eventually("the sleep", || mark.exists());
    serving.send(&json!({ "cancel": "unknown" }));
    serving.send(&json!({ "cancel": "quick" }));
    serving.send(&json!({ "cancel": { "n": 1 } }));
    assert_eq!(
        serving.receive(),
        json!({
            "id": { "n": 1 },
            "envelope": { "ok": false, "pack_id": "tool", "verb_key": "sleep", "error": "cancelled" },
        })
    );
    assert!(!is_alive(&mark));
    // An id that was used before names nothing but the call that carries it now.
    serving.send(&json!({ "cancel": "quick" }));
    serving.send(&json!({ "id": "quick", "envelope": say("again") }));
    assert_eq!(serving.receive()["envelope"]["result"], "again");
    serving.send(&json!({ "id": 5 }));
    let invalid = serving.receive();
    assert_eq!(invalid["id"], 5);
    assert_eq!(
        invalid["envelope"]["error"],
        "invalid envelope: envelope is missing"
    );
    assert_eq!(serving.finish(), (vec![], Some(0)));
}

#[test]
fn an_end_of_input_lets_calls_finish_and_a_signal_does_not() {
    let scene = Scene::new();
    let mark = scene.path("mark");
    let mut serving = Serving::start(&scene, &["stdio", "--ids"]);
    serving.send(&json!({ "id": 1, "envelope": sleep("0.3", &mark) }));
    let (lines, status) = serving.finish();
    assert_eq!((lines.len(), status), (1, Some(0)));
    assert!(lines[0].contains(r#""result":"slept""#), "{lines:?}");
    for (signal, words) in [("-TERM", &["stdio", "--ids"][..]), ("-INT", &["stdio"])] {
        let mut serving = Serving::start(&scene, words);
        let asked = match words.len() {
            2 => json!({ "id": 1, "envelope": sleep("50", &mark) }),
            _ => sleep("50", &mark),
        };
        serving.send(&asked);
        eventually("the sleep", || mark.exists());
        serving.signal(signal);
        assert!(serving.line().unwrap().contains(r#""error":"cancelled""#));
        assert_eq!(serving.wait(), Some(130));
        assert!(!is_alive(&mark));
        fs::remove_file(&mark).unwrap();
    }
}

#[test]
fn a_client_that_is_gone_takes_its_calls_with_it() {
    let scene = Scene::new();
    let mark = scene.path("mark");
    for words in [&["stdio"][..], &["stdio", "--ids"]] {
        let mut serving = Serving::start(&scene, words);
        let envelope = sleep("50", &mark);
        serving.send(&match words.len() {
            1 => envelope,
            _ => json!({ "id": 1, "envelope": envelope }),
        });
        eventually("the sleep", || mark.exists());
        serving.close_input();
        serving.close_output();
        serving.wait();
        assert!(!is_alive(&mark));
        fs::remove_file(&mark).unwrap();
    }
    let cancelled = audit(&scene)
        .iter()
        .filter(|record| record["error"] == "cancelled")
        .count();
    assert_eq!(cancelled, 2);
}

#[test]
fn hostile_framing_is_answered_in_bounded_memory() {
    let scene = Scene::new();
    for words in [&["stdio"][..], &["stdio", "--ids"]] {
        let mut serving = Serving::start(&scene, words);
        let pid = serving.pid();
        let mut input = serving.take_input();
        let ids = words.len() == 2;
        let writer = std::thread::spawn(move || {
            let chunk = vec![b'x'; 1 << 20];
            for _ in 0..256 {
                input.write_all(&chunk).unwrap();
            }
            input.write_all(b"\n\xff\n[]\n").unwrap();
            let good = if ids {
                json!({ "id": 1, "envelope": say("good") })
            } else {
                say("good")
            };
            writeln!(input, "{good}").unwrap();
            input.write_all(b"{\"half").unwrap();
            let peak = peak_memory(pid);
            assert!(peak < 100 << 20, "{peak} bytes");
        });
        let mut errors = Vec::new();
        for _ in 0..5 {
            let answer = serving.receive();
            let envelope = if ids {
                answer["envelope"].clone()
            } else {
                answer
            };
            errors.push(envelope["error"].as_str().unwrap_or("none").to_owned());
        }
        errors.sort();
        assert_eq!(
            errors,
            [
                "invalid envelope: it is an array, not an object",
                "invalid envelope: not JSON at byte 6: expected the closing `\"`",
                "invalid envelope: not UTF-8 at byte 0",
                "invalid envelope: over 1048576 bytes",
                "none",
            ]
        );
        writer.join().unwrap();
        assert_eq!(serving.finish(), (vec![], Some(0)));
    }
}

#[test]
fn a_flood_of_lines_is_answered_line_by_line() {
    const LINES: usize = 2_000;
    let scene = Scene::new();
    let mut serving = Serving::start(&scene, &["stdio", "--ids"]);
    let mut input = serving.take_input();
    let writer = std::thread::spawn(move || {
        let mut lines = String::new();
        for number in 0..LINES {
            let envelope = r#"{"pack_id":"none","verb_key":"v"}"#;
            lines.push_str(&format!("{{\"id\":{number},\"envelope\":{envelope}}}\n"));
        }
        input.write_all(lines.as_bytes()).unwrap();
    });
    let mut seen = vec![false; LINES];
    for _ in 0..LINES {
        let answer = serving.receive();
        assert_eq!(answer["envelope"]["error"], "unknown pack none");
        let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
        assert!(
            !std::mem::replace(&mut seen[id], true),
            "{id} was answered twice"
        );
    }
    writer.join().unwrap();
    assert_eq!(serving.finish(), (vec![], Some(0)));
}

#[test]
fn a_changed_config_counts_from_the_next_line_on() {
    let scene = Scene::new();
    let mut serving = Serving::start(&scene, &["stdio"]);
    serving.send(&say("x"));
    assert_eq!(serving.receive()["ok"], true);
    let base = "[sandbox]\nmode = \"native-local\"\n";
    scene.write_config(&format!("{base}[policy.\"tool.say\"]\nconfirm = true\n"));
    serving.send(&say("x"));
    assert_eq!(serving.receive()["error"], "confirm required");
    scene.write_config("[sandbox]\nmoed = 1\n");
    serving.send(&say("x"));
    let refused = serving.receive();
    assert!(
        refused["error"].as_str().unwrap().starts_with("store: "),
        "{refused}"
    );
    scene.write_config(base);
    serving.send(&say("x"));
    assert_eq!(serving.receive()["ok"], true);
    scene.run(&["grant", "remove", "me", "tool:*"]);
    serving.send(&say("x"));
    assert_eq!(
        serving.receive()["error"],
        "denied: missing tool:use for tool.say"
    );
}
