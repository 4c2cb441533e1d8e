//! A trip booked as one call: transit tells the price, the ledger pays it, the desk is told.

use serde_json::{Value, json};

use crate::scene::{Scene, metadata_of};

const TRIP: &str = r#"
confirm = true
[commands.run.args.to]
required = true
[commands.run.args.text]
schema = { type = "string", default = "booked" }
[commands.run.steps.quote]
call = "transit.plan"
args = { to = "{{args.to}}", at = "08:00", date = "2026-03-02" }
[commands.run.steps.pay]
call = "ledger.transfer"
args = { from = "cash", to = "travel", amount = "{{steps.quote.result.price}}", memo = "to {{steps.quote.result.to}}" }
when = "steps.quote.result.price < 100"
[commands.run.steps.notify]
call = "desk.say"
args = { text = "{{args.text}}: {{steps.pay.result.amount}}" }
"#;

/// Everything of a trip, ready to be called.
pub(crate) fn scene() -> Scene {
    let scene = Scene::new();
    scene.add_example("transit");
    scene.add_example("ledger");
    scene.add_composite("trip", TRIP);
    scene
}

pub(crate) fn holds(scene: &Scene, account: &str) -> String {
    let balances = scene.result("ledger", "balance", json!({}));
    let balances: Value = serde_json::from_str(&balances).unwrap();
    let mut accounts = balances.as_array().unwrap().iter();
    let account = accounts.find(|one| one["account"] == account);
    account.unwrap()["balance"].to_string()
}

#[test]
fn one_call_plans_pays_and_tells() {
    let scene = scene();
    let args = json!({"to": "airport", "confirm": true});
    let answer = scene.exec("trip", "run", args);
    assert!(answer.envelope.ok, "{:?}", answer.envelope);
    assert_eq!(
        (
            answer.envelope.pack_id.as_str(),
            answer.envelope.verb_key.as_str()
        ),
        ("trip", "run")
    );
    let text = answer.envelope.result.unwrap();
    let result: Value = serde_json::from_str(text.as_json()).unwrap();
    assert_eq!(result["quote"]["price"].to_string(), "4.90");
    assert_eq!(result["pay"]["amount"].to_string(), "4.90");
    assert_eq!(result["notify"]["said"], "booked: 4.9");
    assert_eq!(holds(&scene, "travel"), "4.90");

    let states: Vec<_> = answer
        .metadata
        .inner
        .iter()
        .map(|step| step.state.as_str())
        .collect();
    assert_eq!(states, ["ok", "ok", "ok"]);
    let outer = scene.records_of("run");
    let [intent, outcome] = &outer[outer.len() - 2..] else {
        panic!("{outer:?}")
    };
    assert_eq!(
        (intent.event.kind.as_str(), outcome.event.kind.as_str()),
        ("intent", "outcome")
    );
    for verb in ["plan", "transfer", "say"] {
        let inner = scene.records_of(verb);
        assert_eq!(inner.len(), 2, "{verb}");
        for record in &inner {
            assert_eq!(metadata_of(record)["outer_seq"], intent.seq, "{verb}");
        }
        // Confirmed, and nothing of that is in the arguments.
        assert!(!inner[0].event.args.as_ref().unwrap().contains("confirm"));
        assert_eq!(inner[0].event.session_id, intent.event.session_id);
        assert!((intent.seq..outcome.seq).contains(&inner[0].seq));
    }
    assert_eq!(metadata_of(outcome)["steps"][1]["call"], "ledger.transfer");
}

#[test]
fn without_its_own_confirmation_nothing_begins() {
    let scene = scene();
    for args in [
        json!({"to": "airport"}),
        json!({"to": "airport", "confirm": "true"}),
    ] {
        assert_eq!(scene.error("trip", "run", args), "confirm required");
    }
    assert!(scene.records_of("plan").is_empty());
}

#[test]
fn a_fault_in_each_step_stops_the_rest_and_is_told_by_its_name() {
    let scene = scene();
    let long = "x".repeat(200_000);
    let too_long = "notify: args: \"text\" makes an argv element of 200005 bytes, over the system's \
                    limit of 131071";
    for (to, text, error, states, paid) in [
        (
            "moon",
            "",
            "quote: error: unknown stop `moon`\nhint: see `transit stops`\n",
            ["failed", "not_begun", "not_begun"],
            "0.00",
        ),
        (
            "airport",
            "a\u{0}b",
            "notify: args: \"text\" holds a NUL byte",
            ["ok", "ok", "failed"],
            "4.90",
        ),
        ("airport", &long, too_long, ["ok", "ok", "failed"], "9.80"),
    ] {
        let answer = scene.exec(
            "trip",
            "run",
            json!({"to": to, "text": text, "apply": true}),
        );
        assert_eq!(answer.envelope.error.as_deref(), Some(error));
        assert_eq!(answer.exit_status.code(), 1);
        let told: Vec<_> = answer
            .metadata
            .inner
            .iter()
            .map(|step| step.state.as_str())
            .collect();
        assert_eq!(told, states);
        let outcome = scene.records_of("run").pop().unwrap();
        let recorded = metadata_of(&outcome);
        let recorded: Vec<_> = (0..3)
            .map(|step| recorded["steps"][step]["state"].clone())
            .collect();
        assert_eq!(recorded, states);
        assert_eq!(outcome.event.error.as_deref(), Some(error));
        assert_eq!(outcome.event.step, Some(8));
        assert_eq!(holds(&scene, "travel"), paid);
        assert!(scene.said().is_empty());
    }
}

#[test]
fn a_fault_in_the_middle_leaves_the_end_undone() {
    let scene = Scene::new();
    scene.add_example("transit");
    scene.add_example("ledger");
    let body = TRIP.replace(
        "from = \"cash\", to = \"travel\"",
        "from = \"travel\", to = \"travel\"",
    );
    scene.add_composite("trip", &body);
    let error = scene.error("trip", "run", json!({"to": "airport", "confirm": true}));
    assert_eq!(
        error,
        "pay: error: account `travel` cannot be both sides of a transfer\n"
    );
    assert!(scene.records_of("say").is_empty());
}

#[test]
fn explained_the_plan_is_shown_and_nothing_runs() {
    let scene = scene();
    let call = scene.prepare(
        "trip",
        "run",
        &json!({"to": "airport", "confirm": true}),
        hcp_sandbox::Cancel::new().unwrap(),
    );
    let explained = scene.runtime.explain(call).unwrap().to_json();
    assert_eq!(explained["argv"], Value::Null);
    assert_eq!(explained["bin"], Value::Null);
    let plan = explained["plan"].as_array().unwrap();
    assert_eq!(plan[0]["args"]["to"], "airport");
    assert_eq!(plan[1]["args"]["amount"], "{{steps.quote.result.price}}");
    assert_eq!(plan[1]["when"], "steps.quote.result.price < 100");
    assert_eq!(plan[1]["after"], json!(["quote"]));
    assert_eq!(
        (&plan[0]["confirm"], &plan[1]["confirm"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(plan[1]["capability"], "ledger:write");
    assert!(scene.records_of("plan").is_empty());
}
