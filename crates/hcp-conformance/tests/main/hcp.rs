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
fn hcp_conforms_on_its_exec_face() {
    let run = run_hcp("exec");
    for (id, outcome) in failed(&run) {
        // What is ill-formed cannot be said in words; the clause is not claimed on this face.
        assert!(
            matches!(outcome, Outcome::Unsupported(_)),
            "{id}: {outcome:?}"
        );
        assert!(id.starts_with("6.1-"), "{id}");
    }
    assert_eq!(run.claims.clauses.len(), 6);
    assert!(run.passed());
}
