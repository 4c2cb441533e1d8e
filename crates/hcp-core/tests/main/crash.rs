//! The runtime is killed between any two steps of a composite: what was done is known afterwards,
//! what was begun is closed as interrupted, and nothing else has happened.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hcp_core::{Call, Home, Runtime};
use hcp_sandbox::Cancel;
use hcp_spec::ExecEnvelope;
use hcp_spec::audit::AuditRecord;
use hcp_spec::name::PrincipalName;
use hcp_store::Verdict;
use serde_json::json;

use crate::scene::{Scene, metadata_of};
use crate::trip::holds;

const HOME: &str = "HCP_CORE_TEST_HOME";
const PACK: &str = "HCP_CORE_TEST_PACK";

/// A trip with a step that never ends before, between or after the three of it. Whatever stands
/// behind that step waits for its result.
fn trip(hold_before: usize) -> String {
    let after = |place: usize| {
        if place >= hold_before {
            "steps.hold.result != 1 && "
        } else {
            ""
        }
    };
    let (quote, pay, notify) = (after(0), after(1), after(2));
    let body = format!(
        r#"
confirm = true
[commands.run.steps.quote]
call = "transit.plan"
args = {{ to = "airport", at = "08:00", date = "2026-03-02" }}
when = "{quote}true"
[commands.run.steps.pay]
call = "ledger.transfer"
args = {{ from = "cash", to = "travel", amount = "{{{{steps.quote.result.price}}}}" }}
when = "{pay}true"
[commands.run.steps.notify]
call = "desk.say"
args = {{ text = "paid {{{{steps.pay.result.amount}}}}" }}
when = "{notify}true"
[commands.run.steps.hold]
call = "desk.hold"
"#
    );
    if hold_before > 0 {
        let needed = ["quote", "pay", "notify"][hold_before - 1];
        return format!("{body}when = \"steps.{needed}.result != 1\"\n");
    }
    body
}

#[test]
#[ignore = "not a test: the runtime that another test starts and kills"]
fn runtime() {
    let (Some(home), Ok(pack_id)) = (env::var_os(HOME).map(PathBuf::from), env::var(PACK)) else {
        return;
    };
    let runtime = Runtime::open(Home::beneath(&home), None).unwrap();
    let envelope = ExecEnvelope {
        pack_id,
        verb_key: "run".to_owned(),
        args: json!({"confirm": true}).as_object().unwrap().clone(),
    };
    let me = PrincipalName::parse("local:tester").unwrap();
    runtime.exec(Call::new(envelope, me, None, Cancel::new().unwrap()));
}

#[test]
fn a_crash_between_any_two_steps_leaves_what_was_done_and_nothing_else() {
    let scene = Scene::new();
    scene.add_example("transit");
    scene.add_example("ledger");
    for (done, paid) in [(0, "0.00"), (1, "0.00"), (2, "4.90"), (3, "9.80")] {
        let pack = format!("trip{done}");
        scene.add_composite(&pack, &trip(done));
        let before = scene.records().len();
        kill_while_it_holds(&scene, &pack);

        let crashed = scene.records().len();
        let mut store = scene.runtime.store();
        let closed = store.recover().unwrap();
        assert_eq!(closed, 2, "{done}: the composite and the step that held");
        assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
        drop(store);
        let records = scene.records();
        let closed = &records[crashed..];
        let mut verbs: Vec<_> = closed.iter().map(verb_of).collect();
        verbs.sort_unstable();
        assert_eq!(verbs, ["hold", "run"]);
        let interrupted =
            |record: &AuditRecord| record.event.error.as_deref() == Some("interrupted");
        assert!(closed.iter().all(interrupted));

        let of_this_run = &records[before..crashed];
        let outer = of_this_run
            .iter()
            .find(|record| verb_of(record) == "run")
            .unwrap();
        for (place, verb) in ["plan", "transfer", "say"].into_iter().enumerate() {
            let inner: Vec<_> = of_this_run
                .iter()
                .filter(|record| verb_of(record) == verb)
                .collect();
            assert_eq!(
                inner.len(),
                if place < done { 2 } else { 0 },
                "{done} {verb}"
            );
            for record in inner {
                assert_eq!(metadata_of(record)["outer_seq"], outer.seq);
            }
        }
        assert_eq!(holds(&scene, "travel"), paid);
        assert_eq!(scene.said().len(), usize::from(done == 3));
    }
}

/// Makes the call in a runtime of its own, and kills that once the step that never ends has begun.
fn kill_while_it_holds(scene: &Scene, pack: &str) {
    let _ = std::fs::remove_file(scene.state("held"));
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::runtime", "--ignored", "--quiet"])
        .env(HOME, scene.home())
        .env(PACK, pack)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !scene.state("held").exists() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "{pack} ended by itself"
        );
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn verb_of(record: &AuditRecord) -> &str {
    record.event.verb_key.as_deref().unwrap_or_default()
}
