//! Values from step to step, conditions, what runs beside what, and what comes out.

use serde_json::json;

use crate::scene::Scene;

/// A composite of steps, each a name, a call and the rest of its table.
fn steps(steps: &[(&str, &str, &str)]) -> String {
    let tables = steps.iter().map(|(name, call, rest)| {
        format!("[commands.run.steps.{name}]\ncall = \"{call}\"\n{rest}\n")
    });
    tables.collect()
}

#[test]
fn numbers_and_all_else_go_through_references_unchanged() {
    let scene = Scene::new();
    let body = steps(&[
        ("a", "desk.echo", "args = { value = \"{{args.value}}\" }"),
        (
            "b",
            "desk.echo",
            "args = { value = \"{{steps.a.result}}\" }",
        ),
        (
            "c",
            "desk.echo",
            "args = { value = [\"{{steps.b.result}}\", { deep = \"{{steps.b.result}}\" }] }",
        ),
        (
            "d",
            "desk.echo",
            "args = { value = \"{{steps.c.result[1].deep}}\" }",
        ),
    ]);
    scene.add_composite("relay", &body);
    for text in [
        "9007199254740993",
        "1.10",
        "-0.0",
        "123456789012345678901234567890",
        "0.1",
        "true",
        "false",
        "\"\"",
        "\"{{args.value}}\"",
        "\"a \\\"b\\\" $(id) ; 'c'\"",
        "[]",
        "{}",
        "[1,[2.50,{\"k\":null}]]",
        "{\"b\":1,\"a\":2}",
    ] {
        let value = hcp_spec::json::parse_value(text, 64).unwrap();
        let result = scene.result("relay", "run", json!({"value": value}));
        let expected = format!(
            "{{\"a\":{text},\"b\":{text},\"c\":[{text},{{\"deep\":{text}}}],\"d\":{text}}}"
        );
        assert_eq!(result, expected);
    }
}

#[test]
fn results_come_out_as_the_tools_wrote_them() {
    let scene = Scene::new();
    let body = format!(
        "{}[commands.run.output]\nwhole = \"{{{{steps.a.result}}}}\"\npart = [\"{{{{steps.a.result.n}}}}\"]\n\
         text = \"n is {{{{steps.a.result.n}}}}\"\nskipped = \"{{{{steps.b.result.x}}}}\"\nfixed = 1\n",
        steps(&[("a", "raw.go", ""), ("b", "raw.go", "when = \"false\"")])
    );
    let raw = "hcp = 1\nid = \"raw\"\nversion = \"1\"\nsummary = \"x\"\nkind = \"wrap\"\n[wrap]\nbin = \"./raw\"\njson = []\n\
               [commands.go]\nsummary = \"x\"\neffect = \"read\"\ncli = [\"raw\"]\n[policy.go]\ncapability = \"raw:go\"\n";
    let tool = b"#!/bin/sh\ncat <<'END'\n{ \"n\": 1.100, \"far\": 1e400, \"lone\": \"\\ud800\", \"n2\": -0 }\nEND\n";
    scene.add("raw", raw, &[("raw", tool)]).unwrap();
    scene.activate("raw").unwrap();
    scene.grant("raw:go");
    scene.add_composite("out", &body);
    let written = r#"{"n":1.100,"far":1e400,"lone":"\ud800","n2":-0}"#;
    let expected = format!(
        "{{\"whole\":{written},\"part\":[1.100],\"text\":\"n is 1.1\",\"skipped\":null,\"fixed\":1}}"
    );
    assert_eq!(scene.result("out", "run", json!({})), expected);
}

#[test]
fn independent_steps_run_at_once_and_dependent_ones_after_each_other() {
    let scene = Scene::new();
    // Each waits for the other to be there: one after the other, neither would ever end.
    let body = steps(&[
        (
            "last",
            "desk.say",
            "args = { text = \"{{steps.left.result}} {{steps.right.result}}\" }",
        ),
        (
            "left",
            "desk.meet",
            "args = { me = \"left\", other = \"right\" }",
        ),
        (
            "right",
            "desk.meet",
            "args = { me = \"right\", other = \"left\" }",
        ),
    ]);
    scene.add_composite("meeting", &body);
    let result = scene.result("meeting", "run", json!({}));
    assert_eq!(
        result,
        r#"{"last":{"said":"met met"},"left":"met","right":"met"}"#
    );
}

#[test]
fn conditions_leave_steps_out_and_what_needs_them_has_nothing() {
    let scene = Scene::new();
    let body = steps(&[
        (
            "price",
            "desk.echo",
            "args = { value = \"{{args.price}}\" }",
        ),
        (
            "cheap",
            "desk.say",
            "args = { text = \"cheap\" }\nwhen = \"steps.price.result < 100\"",
        ),
        (
            "dear",
            "desk.say",
            "args = { text = \"dear\" }\nwhen = \"steps.price.result >= 100 && args.price != null\"",
        ),
        (
            "tell",
            "desk.echo",
            "args = { value = { cheap = \"{{steps.cheap.result.said}}\", dear = \"{{steps.dear.result.said}}\" } }",
        ),
    ]);
    scene.add_composite("shop", &body);
    let result = scene.result("shop", "run", json!({"price": 99.5}));
    assert_eq!(
        result,
        r#"{"price":99.5,"cheap":{"said":"cheap"},"dear":null,"tell":{"cheap":"cheap"}}"#
    );
    let answer = scene.exec("shop", "run", json!({"price": 100}));
    let states: Vec<_> = answer
        .metadata
        .inner
        .iter()
        .map(|step| step.state.as_str())
        .collect();
    assert_eq!(states, ["ok", "skipped", "ok", "ok"]);
    let error = scene.error("shop", "run", json!({"price": "a lot"}));
    assert!(
        error.starts_with("cheap: when: ") && !error.contains("a lot"),
        "{error}"
    );
}

#[test]
fn a_failure_lets_what_runs_come_to_its_end_and_begins_nothing_more() {
    let scene = Scene::new();
    let body = steps(&[
        ("broken", "desk.fail", ""),
        (
            "running",
            "desk.meet",
            "args = { me = \"here\", other = \"go\" }",
        ),
        (
            "after",
            "desk.say",
            "args = { text = \"{{steps.running.result}}\" }",
        ),
    ]);
    scene.add_composite("mixed", &body);
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| scene.exec("mixed", "run", json!({})));
        let ended = || {
            scene
                .records_of("fail")
                .iter()
                .any(|record| record.event.ok == Some(false))
        };
        while !(ended() && scene.state("here").exists()) {
            std::thread::yield_now();
        }
        std::fs::write(scene.state("go"), "").unwrap();
        call.join().unwrap()
    });
    assert_eq!(
        answer.envelope.error.as_deref(),
        Some("broken: the desk is on fire\n")
    );
    let states: Vec<_> = answer
        .metadata
        .inner
        .iter()
        .map(|step| step.state.as_str())
        .collect();
    assert_eq!(states, ["failed", "ok", "not_begun"]);
    assert!(scene.said().is_empty());
}

#[test]
fn a_reference_that_leads_nowhere_fails_its_step_and_names_itself() {
    let scene = Scene::new();
    let body = steps(&[
        ("a", "desk.echo", "args = { value = { x = 1 } }"),
        (
            "b",
            "desk.echo",
            "args = { value = \"{{steps.a.result.y.z}}\" }",
        ),
    ]);
    scene.add_composite("lost", &body);
    let error = scene.error("lost", "run", json!({}));
    assert_eq!(
        error,
        "b: args: \"value\": `steps.a.result.y.z` leads nowhere"
    );
    assert_eq!(scene.records_of("echo").len(), 2);
}
