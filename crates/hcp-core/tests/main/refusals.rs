//! An inner call is refused at each of the nine steps exactly as it would be alone, and the composite
//! says so by the name of its step.

use serde_json::json;

use crate::scene::{DESK_PACK, Scene, metadata_of};

/// A composite that says something, and then makes `call`.
fn then(call: &str, args: &str) -> String {
    format!(
        "confirm = true\n[commands.run.steps.first]\ncall = \"desk.say\"\nargs = {{ text = \"hello\" }}\n\
         [commands.run.steps.then]\ncall = \"{call}\"\nargs = {args}\n\
         when = \"steps.first.result != null\"\n"
    )
}

/// Makes a composite of `call`, lets `spoil` happen, and answers with its error.
fn refused(scene: &Scene, call: &str, args: &str, spoil: impl FnOnce(&Scene)) -> String {
    scene.add_composite("both", &then(call, args));
    spoil(scene);
    let error = scene.error("both", "run", json!({"confirm": true}));
    assert_eq!(scene.said().first().map(String::as_str), Some("hello"));
    error
}

const OTHER: &str = r#"
hcp = 1
id = "other"
version = "1"
summary = "x"
kind = "wrap"
[wrap]
bin = "./other"
json = []
[commands.go]
summary = "x"
effect = "read"
cli = ["other"]
[policy.go]
capability = "other:go"
"#;

fn add_other(scene: &Scene, more: &str) {
    let manifest = format!("{OTHER}{more}");
    scene
        .add("other", &manifest, &[("other", b"#!/bin/sh\necho '{}'\n")])
        .unwrap();
    scene.activate("other").unwrap();
    scene.grant("other:go");
}

#[test]
fn step_1_an_unknown_pack() {
    let scene = Scene::new();
    assert_eq!(
        refused(&scene, "nowhere.go", "{}", |_| {}),
        "then: unknown pack nowhere"
    );
    let denied = scene.records_of("go").pop().unwrap();
    assert_eq!(
        (denied.event.kind.as_str(), denied.event.step),
        ("denied", Some(1))
    );
    assert_eq!(metadata_of(&denied)["outer_step"], "then");
}

#[test]
fn step_2_a_pack_that_the_session_does_not_use() {
    let scene = Scene::new();
    add_other(&scene, "");
    let error = refused(&scene, "other.go", "{}", |scene| {
        scene
            .operator()
            .deactivate(None, &["other".to_owned()])
            .unwrap();
    });
    assert_eq!(error, "then: pack other not activated");
}

#[test]
fn step_3_a_verb_without_a_policy_entry() {
    for verb in ["unruled", "unlisted"] {
        let scene = Scene::new();
        let error = refused(&scene, &format!("desk.{verb}"), "{}", |_| {});
        assert_eq!(error, format!("then: no policy for {verb}"));
    }
}

#[test]
fn step_4_a_pack_that_wants_a_project() {
    let scene = Scene::new();
    add_other(&scene, "[privacy]\nland = \"brain\"\n");
    let error = refused(&scene, "other.go", "{}", |_| {});
    assert_eq!(
        error,
        "then: denied: privacy.land brain requires project_id"
    );
}

#[test]
fn step_5_a_capability_that_the_caller_does_not_hold() {
    let scene = Scene::new();
    add_other(&scene, "");
    let error = refused(&scene, "other.go", "{}", |scene| scene.revoke("other:go"));
    assert_eq!(error, "then: denied: missing other:go for other.go");
    assert_eq!(scene.records_of("go").len(), 1);
}

#[test]
fn step_6_an_approval_that_nobody_gave_and_arguments_that_do_not_fit() {
    let scene = Scene::new();
    let error = refused(&scene, "desk.ask", "{ text = \"x\" }", |_| {});
    assert_eq!(error, "then: confirm required");
    let scene = Scene::new();
    let error = refused(&scene, "desk.say", "{ txt = \"x\" }", |_| {});
    assert_eq!(
        error,
        "then: args: unknown argument \"txt\"; did you mean \"text\"?"
    );
}

#[test]
fn step_7_a_binding_that_nobody_provides() {
    let scene = Scene::new();
    add_other(&scene, "[binding]\nenv = [\"OTHER_TOKEN\"]\n");
    let error = refused(&scene, "other.go", "{}", |_| {});
    assert!(error.starts_with("then: binding: "), "{error}");
}

#[test]
fn step_8_a_tool_that_fails_or_is_not_there() {
    let scene = Scene::new();
    assert_eq!(
        refused(&scene, "desk.fail", "{}", |_| {}),
        "then: the desk is on fire\n"
    );
    let scene = Scene::new();
    let manifest = OTHER.replace("./other", "no-such-bin");
    scene.add("other", &manifest, &[]).unwrap();
    scene.activate("other").unwrap();
    scene.grant("other:go");
    let error = refused(&scene, "other.go", "{}", |_| {});
    assert_eq!(error, "then: sandbox: bin \"no-such-bin\" not allowlisted");
}

/// Makes the database refuse records of `verb` of this kind.
fn refuse_records(scene: &Scene, verb: &str, kind: &str) {
    let database = rusqlite::Connection::open(scene.home().join("hcp.db")).unwrap();
    // A constraint, since hcp lets no trigger run.
    let constraint = format!(
        "ALTER TABLE audit_record ADD COLUMN refuse \
         CHECK (NOT (ifnull(verb_key, '') = '{verb}' AND kind = '{kind}'))"
    );
    database.execute_batch(&constraint).unwrap();
}

#[test]
fn step_9_a_record_that_cannot_be_written() {
    let scene = Scene::new();
    scene.add_composite("both", &then("desk.echo", "{ value = 1 }"));
    refuse_records(&scene, "echo", "intent");
    let answer = scene.exec("both", "run", json!({"confirm": true}));
    let error = answer.envelope.error.unwrap();
    assert!(
        error.starts_with("then: audit: the intent was not written: "),
        "{error}"
    );
    assert_eq!(answer.exit_status.code(), 70);

    // What has happened has happened: the composite goes on, and says what was not recorded.
    let scene = Scene::new();
    scene.add_composite("both", &then("desk.echo", "{ value = 1 }"));
    refuse_records(&scene, "echo", "outcome");
    let answer = scene.exec("both", "run", json!({"confirm": true}));
    assert_eq!(
        answer.envelope.result.unwrap().as_json(),
        r#"{"first":{"said":"hello"},"then":1}"#
    );
    let warning = answer.metadata.warning.unwrap();
    assert!(
        warning.starts_with("then: the outcome was not recorded: "),
        "{warning}"
    );
}

#[test]
fn a_pack_whose_bytes_changed_is_unknown_to_inner_calls_too() {
    let scene = Scene::new();
    scene.add_composite("both", &then("desk.echo", "{ value = 1 }"));
    scene.operator().remove_pack("desk").unwrap();
    scene.revoke("desk:*");
    scene.revoke("desk:burn");
    scene
        .add(
            "desk",
            &DESK_PACK.replace("a text", "any text"),
            &[("desk", b"#!/bin/sh\n")],
        )
        .unwrap();
    scene.grant("desk:*");
    let error = scene.error("both", "run", json!({"confirm": true}));
    assert_eq!(error, "first: pack desk not activated");
}
