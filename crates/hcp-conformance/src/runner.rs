//! Runs cases: several adapters at once, each with one case at a time.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::corpus::{Call, Case, Corpus, FaceKind, Level, PackSetup};
use crate::error::KitError;
use crate::judge::{Around, Seen, judge};
use crate::protocol::{
    Adapter, Binding, Claims, Environment, Exec, Grant, Install, Named, Project, Record, Reply,
    Request,
};
use crate::workbench::{Workbench, Workshop, marker};

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

/// One case, on one adapter.
struct Session<'a> {
    adapter: &'a mut Adapter,
    bench: Workbench,
    limit: Duration,
    corpus: &'a Corpus,
    case: &'a Case,
}

/// Why a case ends before its calls.
enum Stop {
    Kit(KitError),
    Outcome(Outcome),
}

impl From<KitError> for Stop {
    fn from(error: KitError) -> Self {
        Self::Kit(error)
    }
}

impl Session<'_> {
    fn run(mut self) -> Result<Outcome, KitError> {
        match self.set_up().and_then(|()| self.make_calls()) {
            Ok(faults) if faults.is_empty() => Ok(Outcome::Passed),
            Ok(faults) => Ok(Outcome::Failed(faults)),
            Err(Stop::Outcome(outcome)) => Ok(outcome),
            Err(Stop::Kit(error)) => Err(error),
        }
    }

    fn set_up(&mut self) -> Result<(), Stop> {
        let setup = &self.case.setup;
        self.ask(&Request::Reset)?;
        if !setup.environment.is_empty() {
            let set = setup.environment.clone();
            self.ask(&Request::Environment(Environment { set }))?;
        }
        let default = PackSetup::plain("ledger");
        let packs = setup
            .packs
            .as_deref()
            .unwrap_or(std::slice::from_ref(&default));
        let mut manifests: Vec<Value> = Vec::new();
        for pack in packs {
            let mut manifest = self.corpus.manifest(pack);
            self.bench.fill_in_value(&mut manifest);
            manifests.push(manifest);
        }
        for manifest in &manifests {
            let Some(helper) = setup.bindings.get(&id_of(manifest)) else {
                continue;
            };
            let pack_id = id_of(manifest);
            let path = self
                .bench
                .helper(&pack_id, *helper, &minted_names(manifest))?;
            let command = vec![path.to_string_lossy().into_owned()];
            self.ask(&Request::Binding(Binding { pack_id, command }))?;
        }
        let mut installed = Vec::new();
        for (pack, manifest) in packs.iter().zip(&manifests) {
            let reply = self.ask(&Request::Install(Install {
                manifest: manifest.clone(),
                files: self.bench.pack_files(&id_of(manifest)),
                allow_bins: pack
                    .allow_bins
                    .iter()
                    .map(|bin| self.bench.fill_in(bin))
                    .collect(),
            }))?;
            match reply.refused {
                None => installed.push((pack, id_of(manifest))),
                Some(_) if pack.may_refuse => {}
                Some(reason) => {
                    let line = format!("it does not take the pack `{}`: {reason}", id_of(manifest));
                    return Err(Stop::Outcome(Outcome::Failed(vec![line])));
                }
            }
        }
        if let Some(project_id) = setup.project.clone() {
            self.ask(&Request::Project(Project { project_id }))?;
        }
        let grants = setup
            .grants
            .clone()
            .unwrap_or_else(|| capabilities(&manifests));
        for capability in grants {
            self.ask(&Request::Grant(Grant { capability }))?;
        }
        for (_, pack_id) in installed.iter().filter(|(pack, _)| pack.activate) {
            let pack_id = pack_id.clone();
            self.ask(&Request::Activate(Named { pack_id }))?;
        }
        for (_, pack_id) in installed.iter().filter(|(pack, _)| pack.remove) {
            let pack_id = pack_id.clone();
            self.ask(&Request::Remove(Named { pack_id }))?;
        }
        Ok(())
    }

    fn make_calls(&mut self) -> Result<Vec<String>, Stop> {
        let several = self.case.calls.len() > 1;
        let (mut faults, mut seen): (Vec<String>, Vec<Seen>) = (Vec::new(), Vec::new());
        for (index, call) in self.case.calls.iter().enumerate() {
            let (before, mark) = (self.counts()?, self.bench.mark()?);
            let limit = call.time_limit_ms.map_or(self.limit, Duration::from_millis);
            let reply = self.ask_within(&request(call), limit)?;
            let (after, spawns) = (self.counts()?, self.bench.spawns_since(mark)?);
            let answer = Seen::new(call.face, reply);
            let around = Around {
                spawn_count: spawns.len().max(after.0.saturating_sub(before.0)),
                mint_count: self
                    .bench
                    .mints_since(mark)?
                    .max(after.1.saturating_sub(before.1)),
                spawns,
                records: self.records(call)?,
                earlier: &seen,
                runtime: &self.adapter.claims().name.clone(),
                marker: marker(&pack_of(call)),
            };
            let found = judge(&self.filled_in(call), &answer, &around);
            faults.extend(found.into_iter().map(|fault| {
                if several {
                    format!("call {index}: {fault}")
                } else {
                    fault
                }
            }));
            seen.push(answer);
        }
        Ok(faults)
    }

    /// The call with the paths of this run in what it expects.
    fn filled_in(&self, call: &Call) -> Call {
        let mut call = call.clone();
        if let Some(error) = &mut call.expect.error {
            *error = self.bench.fill_in(error);
        }
        call
    }

    /// What the runtime itself has counted; nothing where it does not count.
    fn counts(&mut self) -> Result<(usize, usize), Stop> {
        let reply = self.adapter.ask(&Request::Counts, self.limit)?;
        Ok((reply.spawns.unwrap_or(0), reply.mints.unwrap_or(0)))
    }

    fn records(&mut self, call: &Call) -> Result<Vec<Record>, Stop> {
        if call.expect.audited.is_none() {
            return Ok(Vec::new());
        }
        Ok(self.ask(&Request::Audit)?.records.unwrap_or_default())
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Stop> {
        self.ask_within(request, self.limit)
    }

    fn ask_within(&mut self, request: &Request, limit: Duration) -> Result<Reply, Stop> {
        let reply = self.adapter.ask(request, limit)?;
        if let Some(reason) = reply.unsupported {
            return Err(Stop::Outcome(Outcome::Unsupported(reason)));
        }
        match reply.failed {
            Some(reason) => {
                let line = format!("the adapter could not do `{}`: {reason}", request.name());
                Err(Stop::Outcome(Outcome::Failed(vec![line])))
            }
            None => Ok(reply),
        }
    }
}

fn request(call: &Call) -> Request {
    if call.health {
        return Request::Health;
    }
    let mut envelope = match (&call.text, &call.envelope) {
        (Some(text), _) => text.clone(),
        (None, Some(envelope)) => envelope.to_string(),
        (None, None) => String::new(),
    };
    if call.nesting > 0 {
        let nested = format!("{}{}", "[".repeat(call.nesting), "]".repeat(call.nesting));
        envelope = envelope.replace("@nested", &nested);
    }
    envelope.push_str(&" ".repeat(call.padding));
    Request::Exec(Exec {
        face: call.face,
        envelope,
        pairs: call.pairs.clone().filter(|_| call.face == FaceKind::Cli),
    })
}

fn pack_of(call: &Call) -> String {
    let id = call
        .envelope
        .as_ref()
        .and_then(|envelope| envelope.get("pack_id"));
    id.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn id_of(manifest: &Value) -> String {
    let id = manifest.get("id").and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}

fn minted_names(manifest: &Value) -> Vec<String> {
    let names = manifest.pointer("/binding/env").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// Each capability that a Policy entry names, once.
fn capabilities(manifests: &[Value]) -> Vec<String> {
    let mut all = Vec::new();
    for manifest in manifests {
        let entries = manifest.get("policy").and_then(Value::as_object);
        for entry in entries.into_iter().flat_map(serde_json::Map::values) {
            let word = entry
                .get("capability")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if !word.is_empty() && !all.iter().any(|known| known == word) {
                all.push(word.to_owned());
            }
        }
    }
    all
}
