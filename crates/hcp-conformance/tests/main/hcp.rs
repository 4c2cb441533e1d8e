//! hcp itself, by its command line: it passes everything it claims, on each face, in every profile.

use std::path::PathBuf;
use std::time::Duration;

use crate::{KIT, every, failed, run_plan};
use hcp_conformance::runner::{Outcome, Plan, Run};

/// The program that was built beside this test. It is not there by itself: `cargo build -p hcp`.
fn hcp() -> String {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(2).unwrap();
    let path: PathBuf = target.join("hcp");
    assert!(
        path.is_file(),
        "`{}` is not there; `cargo build -p hcp` makes it",
        path.display()
    );
    path.to_str().unwrap().to_owned()
}

fn run_hcp(face: &str) -> Run {
    run_plan(&Plan {
        limit: Duration::from_mins(1),
        ..every(&[KIT, "hcp-adapter", "--hcp", &hcp(), "--face", face])
    })
}

#[test]
fn hcp_conforms_on_its_envelope_face() {
    let run = run_hcp("envelope");
    assert_eq!(failed(&run), []);
    assert_eq!(run.claims.clauses.len(), 7);
    assert!(run.passed());
}

/// The other clauses do not touch the face that differs.
#[test]
fn hcp_conforms_on_its_run_face() {
    let run = run_plan(&Plan {
        clauses: vec!["6.5".to_owned()],
        limit: Duration::from_mins(1),
        ..every(&[KIT, "hcp-adapter", "--hcp", &hcp(), "--face", "run"])
    });
    assert_eq!(failed(&run), []);
    assert!(run.passed());
}

#[test]
fn hcp_conforms_on_its_line_face() {
    let run = run_hcp("stdio");
    assert_eq!(failed(&run), []);
    assert_eq!(run.claims.clauses.len(), 7);
    assert!(run.passed());
}

#[test]
fn hcp_conforms_on_its_exec_face() {
    conforms_but_for_the_ill_formed("exec");
}

#[test]
fn hcp_conforms_on_its_tool_face() {
    conforms_but_for_the_ill_formed("mcp");
}

/// What is ill-formed cannot be said in words or tool calls; the clause is not claimed there.
fn conforms_but_for_the_ill_formed(face: &str) {
    let run = run_hcp(face);
    for (id, outcome) in failed(&run) {
        assert!(
            matches!(outcome, Outcome::Unsupported(_)),
            "{id}: {outcome:?}"
        );
        assert!(id.starts_with("6.1-"), "{id}");
    }
    assert_eq!(run.claims.clauses.len(), 6);
    assert!(run.passed());
}
