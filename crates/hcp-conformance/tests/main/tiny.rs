//! The tiny runtime of the README: it passes what it claims, and the kit sees what it does not.

use crate::{failed, law, run_plan};

#[test]
fn the_tiny_runtime_keeps_what_it_claims_and_no_more() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tiny_runtime.py");
    let run = run_plan(&law(&["python3", script]));
    assert_eq!(run.claims.clauses, ["6.1", "6.2", "6.3", "6.6", "6.7"]);
    assert!(run.passed(), "{:?}", failed(&run));
    let numbers = ["6.4-render-small-exponent", "6.4-render-exponent-integral"];
    let failed: Vec<&str> = failed(&run).into_iter().map(|(id, _)| id).collect();
    assert_eq!(failed, numbers);
}
