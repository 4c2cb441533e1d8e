//! Adapters that misbehave: they fail their cases, never the kit.

use std::path::Path;
use std::time::Duration;

use hcp_conformance::KitError;
use hcp_conformance::corpus::Corpus;
use hcp_conformance::runner::{Outcome, Plan, Run, run};

use crate::{KIT, law, run_plan};

/// What an adapter says that claims everything.
const HELLO: &str =
    r#"{"runtime":{"name":"x","clauses":["6.7"],"faces":["json"],"adapters":["wrap"]}}"#;

/// A plan of the few cases of one clause, against a script that speaks for an adapter.
fn against(script: &str) -> Plan {
    Plan {
        clauses: vec!["6.7".to_owned()],
        limit: Duration::from_millis(700),
        ..law(&["sh", "-c", script])
    }
}

fn every_case_fails_with(run: &Run, part: &str) {
    assert!(!run.passed());
    assert!(run.rows.len() > 3);
    for (case, outcome) in &run.rows {
        let Outcome::Failed(faults) = outcome else {
            panic!("{}: {outcome:?}", case.id);
        };
        assert!(faults[0].contains(part), "{faults:?}");
    }
}

#[test]
fn an_adapter_that_dies_fails_each_of_its_cases() {
    let script = format!("read line; echo '{HELLO}'; read line; exit 1");
    every_case_fails_with(
        &run_plan(&against(&script)),
        "it ended before it answered `reset`",
    );
}

#[test]
fn an_adapter_that_babbles_fails_each_of_its_cases() {
    let script = format!("read line; echo '{HELLO}'; while read line; do echo nonsense; done");
    every_case_fails_with(
        &run_plan(&against(&script)),
        "its answer to `reset` is none",
    );
}

#[test]
fn an_adapter_that_says_nothing_is_not_waited_for() {
    let script = format!("read line; echo '{HELLO}'; exec sleep 600");
    every_case_fails_with(
        &run_plan(&against(&script)),
        "no answer to `reset` within 700 ms",
    );
}

#[test]
fn a_claim_that_is_then_unsupported_is_not_kept() {
    let script = format!(
        "read line; echo '{HELLO}'; while read line; do echo '{{\"unsupported\":\"all\"}}'; done"
    );
    let run = run_plan(&against(&script));
    assert!(
        run.rows
            .iter()
            .all(|(_, outcome)| matches!(outcome, Outcome::Unsupported(_)))
    );
    assert!(!run.passed());
}

#[test]
fn an_adapter_that_does_nothing_passes_no_prohibition() {
    let script = format!("read line; echo '{HELLO}'; while read line; do echo '{{}}'; done");
    let run = run_plan(&against(&script));
    let passed = run
        .rows
        .iter()
        .filter(|(_, outcome)| *outcome == Outcome::Passed);
    let passed: Vec<&str> = passed.map(|(case, _)| case.id.as_str()).collect();
    // Health alone asks for no answer.
    assert_eq!(passed, ["6.7-health"]);
    assert!(!run.passed());
}

#[test]
fn an_adapter_that_does_not_start_or_introduce_itself_is_an_error_of_the_run() {
    let corpus = Corpus::load().unwrap();
    for (plan, part) in [
        (law(&["/no/such/adapter"]), "does not start"),
        (law(&["true"]), "it ended before it answered `hello`"),
        (
            against("read line; echo '{}'; cat"),
            "does not say which runtime it is",
        ),
        (law(&[]), "its command is empty"),
    ] {
        let error = run(&corpus, &plan, Path::new(KIT)).unwrap_err();
        assert!(matches!(error, KitError::Adapter(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_clause_or_case_that_is_not_there_is_an_error() {
    let corpus = Corpus::load().unwrap();
    let plan = Plan {
        case: Some("6.9-nothing".to_owned()),
        ..law(&[KIT, "wrong-runtime"])
    };
    let error = run(&corpus, &plan, Path::new(KIT)).unwrap_err();
    assert!(error.to_string().contains("`6.9-nothing`"), "{error}");
}
