//! Runs cases: several adapters at once, each with one case at a time.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::corpus::{Case, Corpus, Level};
use crate::error::KitError;
use crate::protocol::{Adapter, Claims};
use crate::session::Session;
use crate::workbench::Workshop;

/// How long an answer may take when nobody says.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(20);

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The command of the adapter.
    pub adapter: Vec<String>,
    /// Only cases of these clauses; none named means all.
    pub clauses: Vec<String>,
    /// Only the case with this id.
    pub case: Option<String>,
    /// Whether the stricter rules are asked as well.
    pub strict: bool,
    /// Whether what the hcp contract decides is asked as well.
    pub hcp: bool,
    /// How many adapters at once.
    pub jobs: usize,
    /// How long an answer may take when the case does not say.
    pub limit: Duration,
}

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was as it must be.
    Passed,
    /// What was not, one line each.
    Failed(Vec<String>),
    /// The runtime said that it cannot do what the case needs.
    Unsupported(String),
    /// The case is about something that the runtime does not have and need not have.
    Skipped(String),
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Who was run.
    pub claims: Claims,
    /// Each case that was asked, in the order of the corpus.
    pub rows: Vec<(Case, Outcome)>,
}

impl Run {
    /// Whether the runtime claims the clause of this case.
    pub fn claims(&self, case: &Case) -> bool {
        self.claims.clauses.contains(&case.clause)
    }

    /// Whether this row makes a claim untrue. What a runtime claims and then cannot do, it fails.
    pub fn spoils(&self, case: &Case, outcome: &Outcome) -> bool {
        let bad = matches!(outcome, Outcome::Failed(_) | Outcome::Unsupported(_));
        bad && self.claims(case) && case.level.counts()
    }

    /// Whether every claimed clause passed, and something was claimed at all.
    pub fn passed(&self) -> bool {
        let claimed = self.rows.iter().any(|(case, _)| self.claims(case));
        claimed
            && !self
                .rows
                .iter()
                .any(|(case, outcome)| self.spoils(case, outcome))
    }
}

impl Plan {
    /// Whether the case is asked.
    pub fn selects(&self, case: &Case) -> bool {
        let by_clause = self.clauses.is_empty() || self.clauses.contains(&case.clause);
        if let Some(id) = &self.case {
            return case.id == *id;
        }
        let by_level = match case.level {
            Level::Must | Level::MustNot | Level::Should => true,
            Level::Strict => self.strict,
            Level::Hcp => self.hcp,
        };
        by_clause && by_level
    }
}

/// Runs the plan. `kit` is the program that probes and helpers are.
///
/// # Errors
/// [`KitError`] when no adapter starts at all, or the kit's own files cannot be made. An adapter that
/// dies later fails the case it died in and is started anew for the next.
pub fn run(corpus: &Corpus, plan: &Plan, kit: &Path) -> Result<Run, KitError> {
    let cases: Vec<&Case> = corpus
        .cases
        .iter()
        .filter(|case| plan.selects(case))
        .collect();
    if cases.is_empty() {
        return Err(KitError::Unknown {
            what: "case",
            name: plan.case.clone().unwrap_or_else(|| plan.clauses.join(" ")),
            list: "list",
        });
    }
    let workshop = Workshop::new(kit)?;
    let first = Adapter::start(&plan.adapter, plan.limit)?;
    let claims = first.claims().clone();
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |mut adapter: Option<Adapter>| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(number) else {
                return;
            };
            let outcome = skip(case, &claims)
                .unwrap_or_else(|| run_case(corpus, plan, &workshop, &mut adapter, case, number));
            if let Ok(mut rows) = rows.lock() {
                rows.push((number, outcome));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..plan.jobs.max(1) {
            scope.spawn(|| work(None));
        }
        work(Some(first));
    });
    let mut outcomes = rows.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(number, _)| *number);
    let rows = outcomes
        .into_iter()
        .filter_map(|(number, outcome)| Some(((*cases.get(number)?).clone(), outcome)))
        .collect();
    Ok(Run { claims, rows })
}

/// Why the case is none for this runtime.
fn skip(case: &Case, claims: &Claims) -> Option<Outcome> {
    let runs = |kind: &String| claims.adapters.contains(kind);
    if let Some(face) = case.needs_face.filter(|face| !claims.faces.contains(face)) {
        return Some(Outcome::Skipped(
            format!("it has no {face:?} face").to_lowercase(),
        ));
    }
    if let Some(kind) = case.needs_adapter.as_ref().filter(|kind| !runs(kind)) {
        return Some(Outcome::Skipped(format!("it does not run `{kind}`")));
    }
    let kind = case.without_adapter.as_ref().filter(|kind| runs(kind))?;
    Some(Outcome::Skipped(format!("it runs `{kind}`")))
}

fn run_case(
    corpus: &Corpus,
    plan: &Plan,
    workshop: &Workshop,
    adapter: &mut Option<Adapter>,
    case: &Case,
    number: usize,
) -> Outcome {
    let mut attempt = || {
        let bench = workshop.bench(number)?;
        if adapter.is_none() {
            *adapter = Some(Adapter::start(&plan.adapter, plan.limit)?);
        }
        match adapter {
            Some(adapter) => Session {
                adapter,
                bench,
                limit: plan.limit,
                corpus,
                case,
            }
            .run(),
            None => Err(KitError::Adapter("it is not there".to_owned())),
        }
    };
    match attempt() {
        Ok(outcome) => outcome,
        Err(error) => {
            *adapter = None;
            Outcome::Failed(vec![error.to_string()])
        }
    }
}
