//! Composites are bounded: in depth, in number, in time, and they never reach themselves.

use hcp_sandbox::Cancel;
use serde_json::json;

use crate::scene::Scene;

fn calls(call: &str) -> String {
    format!("[commands.run.steps.x]\ncall = \"{call}\"\n")
}

#[test]
fn no_composite_reaches_itself() {
    let scene = Scene::new();
    let refused = |id: &str, body: &str| scene.try_composite(id, body).unwrap_err().to_string();
    assert_eq!(
        refused("a", &calls("a.run")),
        "composite `a.run` calls itself"
    );
    scene.add_composite("a", &calls("b.run"));
    scene.add_composite("b", &calls("c.run"));
    let error = refused("c", &calls("a.run"));
    assert_eq!(
        error,
        "composite `c.run` calls itself (in `c.run` → `a.run` → `b.run`)"
    );
    // The ring that was not closed is not run either: its end is not there.
    assert_eq!(scene.error("a", "run", json!({})), "x: x: unknown pack c");
    let knot = "[commands.run.steps.a]\ncall = \"desk.echo\"\nargs = { value = \"{{steps.b.result}}\" }\n\
                [commands.run.steps.b]\ncall = \"desk.fail\"\nwhen = \"steps.a.result == 1\"\n";
    assert_eq!(
        refused("k", knot),
        "composite `run`: the steps `a`, `b` need each other"
    );
}

#[test]
fn eight_deep_is_the_last_that_runs() {
    let scene = Scene::new();
    scene.add_composite(
        "d1",
        "[commands.run.steps.x]\ncall = \"desk.echo\"\nargs = { value = 1 }\n",
    );
    for depth in 2..=8 {
        scene.add_composite(&format!("d{depth}"), &calls(&format!("d{}.run", depth - 1)));
    }
    let nested = (0..8).fold("1".to_owned(), |inner, _| format!("{{\"x\":{inner}}}"));
    assert_eq!(scene.result("d8", "run", json!({})), nested);
    // The same depth on the smaller stacks of threads of their own.
    let two = calls("d7.run") + &calls("d7.run").replace("steps.x", "steps.y");
    scene.add_composite("wide", &two);
    let inner = (0..7).fold("1".to_owned(), |inner, _| format!("{{\"x\":{inner}}}"));
    let expected = format!("{{\"x\":{inner},\"y\":{inner}}}");
    assert_eq!(scene.result("wide", "run", json!({})), expected);
    let error = scene
        .try_composite("d9", &calls("d8.run"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("stands more than 8 composites deep"),
        "{error}"
    );
}

#[test]
fn sixty_four_calls_are_the_most_those_within_included() {
    let scene = Scene::new();
    let many = |count: usize, call: &str| -> String {
        let steps = (0..count).map(|n| format!("[commands.run.steps.s{n}]\ncall = \"{call}\""));
        steps.collect::<Vec<_>>().join("\n")
    };
    assert!(scene.try_composite("big", &many(64, "desk.fail")).is_ok());
    assert!(
        scene
            .try_composite("bigger", &many(65, "desk.fail"))
            .is_err()
    );
    scene.add_composite("ten", &many(10, "desk.fail"));
    let error = scene
        .try_composite("hundred", &many(6, "ten.run"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("makes too many calls"), "{error}");
}

#[test]
fn the_time_of_the_whole_is_bounded_and_told_as_its_own() {
    let scene = Scene::new();
    let body = "[commands.run.steps.a]\ncall = \"desk.hold\"\n\
                [commands.run.steps.b]\ncall = \"desk.echo\"\nargs = { value = \"{{steps.a.result}}\" }\n\
                [sandbox]\ntimeout = \"300ms\"\n";
    scene.add_composite("slow", body);
    let answer = scene.exec("slow", "run", json!({}));
    assert_eq!(
        answer.envelope.error.as_deref(),
        Some("timed out after 300ms")
    );
    assert_eq!(answer.exit_status.code(), 1);
    let states: Vec<_> = answer
        .metadata
        .inner
        .iter()
        .map(|step| step.state.as_str())
        .collect();
    assert_eq!(states, ["failed", "not_begun"]);
    // A bound within a wider one holds as well, and belongs to the step.
    scene.add_composite("outer", &calls("slow.run"));
    assert_eq!(
        scene.error("outer", "run", json!({})),
        "x: timed out after 300ms"
    );
}

#[test]
fn a_cancel_of_the_outer_call_ends_the_inner_ones() {
    let scene = Scene::new();
    let body = "[commands.run.steps.a]\ncall = \"desk.hold\"\n[commands.run.steps.b]\ncall = \"desk.hold\"\n\
                [commands.run.steps.c]\ncall = \"desk.echo\"\nargs = { value = \"{{steps.a.result}}\" }\n";
    scene.add_composite("slow", body);
    let cancel = Cancel::new().unwrap();
    let call = scene.prepare("slow", "run", &json!({}), cancel.clone());
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| scene.runtime.exec(call));
        while scene.records_of("hold").len() < 2 || !scene.state("held").exists() {
            std::thread::yield_now();
        }
        cancel.cancel();
        call.join().unwrap()
    });
    assert_eq!(answer.envelope.error.as_deref(), Some("cancelled"));
    let ends = scene.records_of("hold");
    let cancelled = ends
        .iter()
        .filter(|record| record.event.error.as_deref() == Some("cancelled"));
    assert_eq!(cancelled.count(), 2);
    assert!(scene.records_of("echo").is_empty());
}

#[test]
fn what_comes_out_is_bounded() {
    let scene = Scene::new();
    let body = "[commands.run.steps.a]\ncall = \"desk.echo\"\nargs = { value = \"{{args.value}}\" }\n\
                [sandbox]\noutput = \"1KiB\"\n";
    scene.add_composite("wide", body);
    assert_eq!(
        scene.error("wide", "run", json!({"value": "x".repeat(2000)})),
        "output over 1024 bytes"
    );
    let tight = body.replace("output = \"1KiB\"", "memory = \"1KiB\"");
    scene.add_composite("heavy", &tight);
    assert_eq!(
        scene.error("heavy", "run", json!({"value": "x".repeat(2000)})),
        "out of memory"
    );
}
