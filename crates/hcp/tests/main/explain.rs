//! `hcp explain` (design §11): the nine steps evaluated, nothing minted, nothing run, status 0.

use serde_json::{Value, json};

use crate::pack::{Pack, write_tool};
use crate::world::{NATIVE, World, text};

fn judged(explained: &Value) -> Vec<Value> {
    let steps = explained["steps"].as_array().unwrap();
    let names = [
        "resolve_pack",
        "check_activation",
        "resolve_policy",
        "authenticate",
        "assert_capability",
        "enforce_confirm",
        "mint_binding",
        "run_adapter",
        "record",
    ];
    assert_eq!(steps.len(), 9);
    for (at, (step, name)) in steps.iter().zip(names).enumerate() {
        assert_eq!(step["step"], at + 1);
        assert_eq!(step["step_name"], name);
        let fields: Vec<&String> = step.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["step", "step_name", "ok", "error"]);
        assert_eq!(step["error"].is_string(), step["ok"] == false, "{step}");
    }
    steps.iter().map(|step| step["ok"].clone()).collect()
}

#[test]
fn every_step_is_judged_as_far_as_facts_reach() {
    let world = World::new();
    let asked = world.path("asked");
    write_tool(
        &world.path("helper"),
        &format!("touch '{}'; exit 1", asked.display()),
    );
    world.configure(&format!(
        "{NATIVE}[bindings.plan]\nprovider = \"exec\"\ncommand = [\"{}\"]\n",
        world.path("helper").display()
    ));
    let pack = Pack::new("plan")
        .tool(&format!("touch '{}'", asked.display()))
        .section("[binding]\nenv = [\"TOKEN\"]")
        .command(
            "go",
            "effect = \"destructive\"\ncli = [\"plan\", \"go\", \"--n={{n}}\"]\n\
             args.n = { required = true, schema = { type = \"integer\" } }",
        )
        .ungoverned("bare", "");
    let folder = world.author(&pack);
    world.ok(&["pack", "add", text(&folder)]);
    let (yes, no, not) = (json!(true), json!(false), Value::Null);
    let late = [&not, &not, &not];
    let all = |six: [&Value; 6]| six.into_iter().chain(late).cloned().collect::<Vec<_>>();
    let explain = |words: &[&str]| world.ok(&[&["explain"], words].concat());

    let nothing = explain(&["ghost", "go"]);
    assert_eq!(judged(&nothing), all([&no, &not, &not, &yes, &not, &not]));
    assert_eq!(nothing["steps"][0]["error"], "unknown pack ghost");
    assert_eq!(nothing["argv"], Value::Null);

    // Not activated, not granted, not confirmed: each step says so for itself.
    let added = explain(&["plan", "go", "--", "n=1"]);
    assert_eq!(judged(&added), all([&yes, &no, &yes, &yes, &no, &no]));
    assert_eq!(added["steps"][1]["error"], "pack plan not activated");
    assert_eq!(
        added["steps"][4]["error"],
        "denied: missing plan:use for plan.go"
    );
    assert_eq!(added["steps"][5]["error"], "confirm required");

    world.ok(&["activate", "plan"]);
    world.ok(&["grant", "add", "me", "plan:use"]);
    let bare = explain(&["plan", "bare"]);
    assert_eq!(judged(&bare), all([&yes, &yes, &no, &yes, &not, &not]));
    assert_eq!(bare["steps"][2]["error"], "no policy for bare");

    let ready = explain(&["plan", "go", "--", "n=1", "confirm=true"]);
    assert_eq!(judged(&ready), all([&yes, &yes, &yes, &yes, &yes, &yes]));
    assert_eq!(ready["argv"], json!(["go", "--n=1", "--json"]));

    let wrong = explain(&["plan", "go", "--", "n=x", "confirm=true"]);
    assert_eq!(judged(&wrong), all([&yes, &yes, &yes, &yes, &yes, &no]));
    assert!(
        wrong["steps"][5]["error"]
            .as_str()
            .unwrap()
            .starts_with("args: ")
    );
    assert_eq!(wrong["argv"], Value::Null);

    assert!(!asked.exists(), "nothing was minted and nothing ran");
    let records = world.records_of("explain");
    let told: Vec<(Value, Value)> = records
        .iter()
        .map(|record| (record["ok"].clone(), record["step_name"].clone()))
        .collect();
    let refused = |name: &str| (json!(false), json!(name));
    assert_eq!(
        told,
        [
            refused("resolve_pack"),
            refused("check_activation"),
            refused("resolve_policy"),
            (json!(true), Value::Null),
            refused("enforce_confirm"),
        ]
    );
    assert_eq!(world.records_of("intent").len(), 0);
    assert_eq!(world.records_of("denied").len(), 0);
}

/// What `explain` says of the six steps is what `exec` then does.
#[test]
fn explain_and_exec_agree() {
    let world = World::with(&Pack::new("same").command("go", "effect = \"destructive\""));
    let other = world.session(&[]);
    let cases: [&[&str]; 6] = [
        &["same", "go", "--", "confirm=true"],
        &["same", "go"],
        &["same", "stop"],
        &["sam", "go"],
        &["--session", &other, "same", "go"],
        &["same", "go", "--", "confirm=true", "x=1"],
    ];
    for words in cases {
        let explained = world.ok(&[&["explain"], words].concat());
        let steps = explained["steps"].as_array().unwrap();
        let first = steps.iter().find(|step| step["ok"] == false);
        let ran = world.exec(words);
        match first {
            Some(step) => assert_eq!(json!(ran.error()), step["error"], "{words:?}"),
            None => assert_eq!(ran.result(), json!({}), "{words:?}"),
        }
    }
}

/// The operator may tighten what a pack says; an approval that nobody can give is not given.
#[test]
fn the_operator_tightens_and_never_loosens() {
    let world = World::new();
    let pack = Pack::new("tight")
        .command("read", "effect = \"read\"")
        .command("drop", "effect = \"destructive\"")
        .governed("ask", "effect = \"read\"", "capability = \"tight:use\"\napproval = \"human\"")
        .command(
            "args",
            "effect = \"read\"\ncli = [\"tight\", \"go\", \"--n={{n}}\"]\nargs.n = { required = true }",
        );
    world.install(&pack);
    world.configure(&format!(
        "{NATIVE}[policy.\"tight.read\"]\nconfirm = true\n[policy.\"tight.drop\"]\nconfirm = false\n\
         [policy.\"tight.args\"]\napproval = \"human\"\n"
    ));
    let confirm = "confirm=true";
    assert_eq!(world.exec(&["tight", "read"]).error(), "confirm required");
    world.exec(&["tight", "read", "--", confirm]).result();
    assert_eq!(world.exec(&["tight", "drop"]).error(), "confirm required");
    assert_eq!(world.exec(&["tight", "ask"]).error(), "confirm required");
    assert_eq!(
        world.exec(&["tight", "ask", "--", confirm]).error(),
        "confirm required"
    );
    assert_eq!(world.exec(&["tight", "args"]).error(), "confirm required");
    // Arguments are judged between the gate and the approval.
    let missing = world.exec(&["tight", "args", "--", confirm]).error();
    assert!(missing.starts_with("args: missing"), "{missing}");
    let complete = world.exec(&["tight", "args", "--", confirm, "n=1"]);
    assert_eq!(complete.error(), "confirm required");
    assert_eq!(complete.status, Some(3));
    assert_eq!(world.records_of("intent").len(), 1);
}
