//! A composite never does what its caller could not do call by call.

use hcp_core::operator::OpenOptions;
use hcp_core::{Call, CoreError};
use hcp_sandbox::Cancel;
use hcp_spec::ExecEnvelope;
use hcp_spec::name::TenantId;
use serde_json::json;

use crate::scene::{DESK_PACK, Scene, composite, write};

const BURN: &str = "[commands.run.steps.burn]\ncall = \"desk.burn\"\n";

fn refused(added: Result<hcp_core::operator::AddedPack, CoreError>) -> String {
    added.map(|added| added.manifest).unwrap_err().to_string()
}

#[test]
fn a_step_cannot_confirm_itself() {
    let scene = Scene::new();
    for args in [
        "{ confirm = true }",
        "{ apply = true }",
        "{ confirm = \"{{args.confirm}}\" }",
    ] {
        let body = format!("confirm = true\n{BURN}args = {args}\n");
        let error = refused(scene.try_composite("sly", &body));
        assert!(
            error.contains("step `burn`") && error.ends_with("cannot be given by a step"),
            "{error}"
        );
    }
}

#[test]
fn a_gate_inside_needs_a_gate_outside() {
    let scene = Scene::new();
    let error = refused(scene.try_composite("sly", BURN));
    assert_eq!(
        error,
        "composite `sly.run` calls `desk.burn` in its step `burn`, which must be confirmed, and its own \
         Policy entry asks for no confirmation"
    );
    // Through another composite as well.
    scene.add_composite("gated", &format!("confirm = true\n{BURN}"));
    let error =
        refused(scene.try_composite("sly", "[commands.run.steps.x]\ncall = \"gated.run\"\n"));
    assert!(
        error.starts_with("composite `sly.run` calls `gated.run`"),
        "{error}"
    );
    // The confirmation goes down as far as the plans list it.
    scene.add_composite(
        "open",
        "confirm = true\n[commands.run.steps.x]\ncall = \"gated.run\"\n",
    );
    assert_eq!(scene.error("open", "run", json!({})), "confirm required");
    scene.result("open", "run", json!({"confirm": true}));
    assert_eq!(scene.said(), ["burnt"]);
}

#[test]
fn a_gate_that_came_later_is_seen_at_activation_and_at_the_call() {
    let scene = Scene::new();
    let added = scene
        .try_composite("early", "[commands.run.steps.x]\ncall = \"late.go\"\n")
        .unwrap();
    assert!(
        added
            .warnings
            .iter()
            .any(|warning| warning.rule == "composite-leads-nowhere")
    );
    scene.activate("early").unwrap();
    scene.grant("early:run");
    assert_eq!(
        scene.error("early", "run", json!({})),
        "x: unknown pack late"
    );

    let late = DESK_PACK
        .replace("id = \"desk\"", "id = \"late\"")
        .replace("desk:", "late:")
        .replace("burn", "go");
    let added = scene
        .add(
            "late",
            &late,
            &[("desk", b"#!/bin/sh\necho ran >>\"$HCP_CALL_STATE/ran\"\n")],
        )
        .unwrap();
    assert!(
        added
            .warnings
            .iter()
            .any(|warning| warning.rule == "composite-refused")
    );
    scene.activate("late").unwrap();
    scene.grant("late:go");
    // Whatever the caller says: the composite has no gate that could be confirmed.
    for args in [json!({}), json!({"confirm": true})] {
        assert_eq!(scene.error("early", "run", args), "confirm required");
    }
    assert!(scene.activate("early").is_err());
    assert!(
        scene
            .records_of("go")
            .iter()
            .all(|record| record.event.kind.as_str() == "denied")
    );
    assert!(!scene.home().join("state/default/-/late/ran").exists());
}

#[test]
fn what_the_operator_tightens_counts_for_composites_too() {
    let scene = Scene::bare("[policy.\"desk.say\"]\nconfirm = true\n");
    scene.add_desk();
    let body = "[commands.run.steps.x]\ncall = \"desk.say\"\nargs = { text = \"x\" }\n";
    assert!(refused(scene.try_composite("sly", body)).contains("must be confirmed"));
    scene.add_composite("fair", &format!("confirm = true\n{body}"));
    scene.result("fair", "run", json!({"confirm": true}));
}

#[test]
fn approval_is_only_asked_for_what_can_be_shown() {
    let scene = Scene::new();
    let step = |text: &str| {
        format!("[commands.run.steps.ask]\ncall = \"desk.ask\"\nargs = {{ text = \"{text}\" }}\n")
    };
    let first = "[commands.run.steps.first]\ncall = \"desk.echo\"\nargs = { value = \"a\" }\n";
    let late = format!("confirm = true\n{first}{}", step("{{steps.first.result}}"));
    let error = refused(scene.try_composite("late", &late));
    assert!(error.contains("which a person must approve"), "{error}");
    scene.add_composite(
        "inner",
        &format!("confirm = true\n{}", step("{{args.text}}")),
    );
    let through = "[commands.run.steps.x]\ncall = \"inner.run\"\nargs = { text = \"{{steps.first.result}}\" }\n";
    let error =
        refused(scene.try_composite("through", &format!("confirm = true\n{first}{through}")));
    assert!(error.contains("which a person must approve"), "{error}");
    assert_eq!(
        scene.error("inner", "run", json!({"text": "x", "confirm": true})),
        "ask: confirm required"
    );
    assert!(scene.said().is_empty());
}

#[test]
fn inner_calls_stay_in_the_session_and_tenant_of_the_outer_one() {
    let scene = Scene::new();
    let body = "[commands.run.steps.x]\ncall = \"desk.say\"\nargs = { text = \"x\" }\n";
    scene.add_composite("trip", body);
    let acme = TenantId::parse("acme").unwrap();
    scene.operator().add_tenant(&acme).unwrap();
    // The session has the composite and not the desk; the tenant has no grant of either.
    let session = scene.open_session(&OpenOptions {
        tenant: Some(acme.clone()),
        packs: vec!["trip".to_owned()],
        ..OpenOptions::default()
    });
    let call = || {
        let envelope = ExecEnvelope {
            pack_id: "trip".to_owned(),
            verb_key: "run".to_owned(),
            args: serde_json::Map::new(),
        };
        Call::new(
            envelope,
            scene.me.clone(),
            Some(session.clone()),
            Cancel::new().unwrap(),
        )
    };
    let error = scene.runtime.exec(call()).envelope.error.unwrap();
    assert_eq!(error, "denied: missing trip:run for trip.run");
    let terms = |capability: &str| hcp_core::operator::GrantTerms {
        principal: scene.me.clone(),
        capability: hcp_spec::name::CapabilityPattern::parse(capability).unwrap(),
        tenant: Some(acme.clone()),
        project: None,
    };
    scene.operator().add_grant(&terms("trip:run")).unwrap();
    let error = scene.runtime.exec(call()).envelope.error.unwrap();
    assert_eq!(error, "x: pack desk not activated");
    scene
        .operator()
        .activate(Some(&session), &["desk".to_owned()])
        .unwrap();
    let error = scene.runtime.exec(call()).envelope.error.unwrap();
    assert_eq!(error, "x: denied: missing desk:say for desk.say");
    scene.operator().add_grant(&terms("desk:say")).unwrap();
    assert!(scene.runtime.exec(call()).envelope.ok);
    assert!(scene.home().join("state/acme/-/desk/said").exists());
    assert!(scene.said().is_empty());
}

#[test]
fn arguments_cannot_choose_what_is_called() {
    let scene = Scene::new();
    for call in ["{{args.pack}}.say", "desk", ".say", "desk.", "Desk.say"] {
        let body = format!("[commands.run.steps.x]\ncall = \"{call}\"\n");
        assert!(scene.try_composite("sly", &body).is_err(), "{call}");
    }
    let body = "[commands.run.steps.x]\ncall = \"desk.{{args.verb}}\"\n";
    if scene.try_composite("sly", body).is_ok() {
        scene.activate("sly").unwrap();
        scene.grant("sly:run");
        let error = scene.error("sly", "run", json!({}));
        assert_eq!(error, "x: no policy for {{args.verb}}");
    }
}

#[test]
fn a_composite_called_as_a_mock_calls_nothing_live() {
    let scene = Scene::bare(
        "[bindings.bank]\nprovider = \"static\"\nenv.BANK_TOKEN = { file = \"token\" }\n",
    );
    write(&scene.home().join("token"), b"s3cret-of-the-bank", 0o600);
    let bank = DESK_PACK
        .replace("id = \"desk\"", "id = \"bank\"")
        .replace("desk:", "bank:")
        + "[commands.mode]\nsummary = \"x\"\neffect = \"read\"\ncli = [\"desk\", \"mode\"]\n[policy.mode]\ncapability = \"bank:read\"\n[binding]\nenv = [\"BANK_TOKEN\"]\n";
    let tool = b"#!/bin/sh\nprintf '\"%s\"' \"$HCP_CALL_BINDING\"\n";
    scene.add("bank", &bank, &[("desk", tool)]).unwrap();
    scene.activate("bank").unwrap();
    scene.grant("bank:*");
    scene.add_composite("trip", "[commands.run.steps.x]\ncall = \"bank.mode\"\n");
    assert_eq!(scene.result("trip", "run", json!({})), r#"{"x":"live"}"#);
    assert_eq!(
        scene.result("trip", "run", json!({"mode": "mock"})),
        r#"{"x":"mock"}"#
    );
    // The pack's own need for credentials is none of its composites'.
    let mixed = composite(
        "mixed",
        "[commands.run.steps.x]\ncall = \"desk.echo\"\nargs = { value = 1 }\n",
    ) + "[binding]\nenv = [\"MIXED_TOKEN\"]\n";
    scene.add_desk();
    scene.add("mixed", &mixed, &[]).unwrap();
    scene.activate("mixed").unwrap();
    scene.grant("mixed:run");
    assert_eq!(scene.result("mixed", "run", json!({})), r#"{"x":1}"#);
}

#[test]
fn a_grant_that_is_taken_back_meanwhile_counts_from_the_next_inner_call_on() {
    let scene = Scene::new();
    scene.add_composite(
        "slow",
        "[commands.run.steps.a]\ncall = \"desk.meet\"\nargs = { me = \"begun\", other = \"go\" }\n\
         [commands.run.steps.b]\ncall = \"desk.say\"\nargs = { text = \"{{steps.a.result}}\" }\n",
    );
    std::thread::scope(|scope| {
        let call = scope.spawn(|| scene.error("slow", "run", json!({})));
        while !scene.state("begun").exists() {
            std::thread::yield_now();
        }
        scene.revoke("desk:*");
        std::fs::write(scene.state("go"), "").unwrap();
        assert_eq!(
            call.join().unwrap(),
            "b: denied: missing desk:say for desk.say"
        );
    });
}
