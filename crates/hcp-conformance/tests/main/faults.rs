//! Without a fault every case passes; with one, exactly the cases meant for it fail; and there is no
//! case that no fault makes fail.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use hcp_conformance::corpus::{Case, Corpus};
use hcp_conformance::wrong::{Fault, Faults};

use hcp_conformance::runner::Plan;

use crate::{KIT, every, failed, run_plan};

#[test]
fn without_a_fault_every_case_passes() {
    let run = run_plan(&every(&[KIT, "wrong-runtime"]));
    assert_eq!(failed(&run), []);
    assert!(run.passed());
    assert!(run.rows.len() > 200, "{}", run.rows.len());
}

#[test]
fn each_fault_fails_exactly_the_cases_meant_for_it() {
    each_fault(|fault, expected| {
        let clauses = expected.iter().map(|case| case.clause.clone());
        let touched: HashSet<String> = clauses.chain([fault.clause.clone()]).collect();
        touched.into_iter().collect()
    });
}

#[test]
#[ignore = "takes minutes: the same, and no case of any other clause fails either"]
fn no_fault_fails_a_case_of_another_clause() {
    each_fault(|_, _| Vec::new());
}

/// Runs the kit against each fault, over the clauses that are chosen for it.
fn each_fault(clauses: fn(&Fault, &[&Case]) -> Vec<String>) {
    let faults = Mutex::new(Faults::all().unwrap().into_iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(fault) = faults.lock().unwrap().next() else {
                        return;
                    };
                    wrong.lock().unwrap().extend(found_wrong(&fault, clauses));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Where what fails for a fault is not what must.
fn found_wrong(fault: &Fault, clauses: fn(&Fault, &[&Case]) -> Vec<String>) -> Option<String> {
    let corpus = Corpus::load().unwrap();
    let meant = fault.expected(&corpus);
    let expected: HashSet<&str> = meant.iter().map(|case| case.id.as_str()).collect();
    let run = run_plan(&Plan {
        clauses: clauses(fault, &meant),
        limit: Duration::from_secs(5),
        ..every(&[KIT, "wrong-runtime", "--fault", &fault.name])
    });
    let failed: HashSet<&str> = failed(&run).into_iter().map(|(id, _)| id).collect();
    let mut missed: Vec<_> = expected.difference(&failed).collect();
    let mut more: Vec<_> = failed.difference(&expected).collect();
    missed.sort();
    more.sort();
    let named = corpus
        .cases
        .iter()
        .any(|case| case.clause == fault.clause && expected.contains(case.id.as_str()));
    let good = named && missed.is_empty() && (more.is_empty() || fault.spreads);
    // A failure of mere advice leaves the claim true.
    let counts = run
        .rows
        .iter()
        .any(|(case, _)| expected.contains(case.id.as_str()) && case.level.counts());
    (!good || run.passed() == counts).then(|| {
        format!(
            "{}: passed although it must fail {missed:?}, failed besides {more:?}",
            fault.name
        )
    })
}

#[test]
fn no_case_is_without_a_fault_that_it_finds() {
    let corpus = Corpus::load().unwrap();
    let faults = Faults::all().unwrap();
    let found: HashSet<&str> = faults
        .iter()
        .flat_map(|fault| fault.expected(&corpus))
        .map(|case| case.id.as_str())
        .collect();
    let idle: Vec<&str> = corpus
        .cases
        .iter()
        .map(|case| case.id.as_str())
        .filter(|id| !found.contains(id))
        .collect();
    assert_eq!(idle, Vec::<&str>::new());
}

#[test]
fn names_of_faults_stand_once_and_others_are_refused() {
    let faults = Faults::all().unwrap();
    let names: HashSet<&str> = faults.iter().map(|fault| fault.name.as_str()).collect();
    assert_eq!(names.len(), faults.len());
    assert!(Faults::only(Some("no-such-fault")).is_err());
}
