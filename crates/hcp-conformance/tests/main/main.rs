//! The kit against the runtimes that it is known by: the wrong one with each of its faults, the tiny
//! one of the README, adapters that misbehave, and hcp itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, missing_docs)]

mod faults;
mod hcp;
mod hostile;
mod tiny;

use std::path::Path;

use hcp_conformance::corpus::Corpus;
use hcp_conformance::runner::{DEFAULT_LIMIT, Outcome, Plan, Run, run};

const KIT: &str = env!("CARGO_BIN_EXE_hcp-conformance");

/// Every case, against an adapter.
fn every(adapter: &[&str]) -> Plan {
    Plan {
        strict: true,
        hcp: true,
        ..law(adapter)
    }
}

/// The cases of the law, against an adapter.
fn law(adapter: &[&str]) -> Plan {
    Plan {
        adapter: adapter.iter().map(ToString::to_string).collect(),
        clauses: Vec::new(),
        case: None,
        strict: false,
        hcp: false,
        jobs: 2,
        limit: DEFAULT_LIMIT,
    }
}

fn run_plan(plan: &Plan) -> Run {
    run(&Corpus::load().unwrap(), plan, Path::new(KIT)).unwrap()
}

/// The ids of the cases that failed, each with why.
fn failed(run: &Run) -> Vec<(&str, &Outcome)> {
    let bad = run
        .rows
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Failed(_) | Outcome::Unsupported(_)));
    bad.map(|(case, outcome)| (case.id.as_str(), outcome))
        .collect()
}
