//! One case on one adapter: the set-up, then the calls, each judged as it ends.

use std::time::Duration;

use serde_json::Value;

use crate::corpus::{Call, Case, Corpus, FaceKind, PackSetup};
use crate::error::KitError;
use crate::judge::{Around, judge};
use crate::protocol::{
    Adapter, Binding, Environment, Exec, Grant, Install, Named, Project, Record, Reply, Request,
};
use crate::runner::Outcome;
use crate::seen::Seen;
use crate::workbench::{Workbench, marker};

/// One case, on one adapter.
pub(crate) struct Session<'a> {
    pub(crate) adapter: &'a mut Adapter,
    pub(crate) bench: Workbench,
    pub(crate) limit: Duration,
    pub(crate) corpus: &'a Corpus,
    pub(crate) case: &'a Case,
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
    pub(crate) fn run(mut self) -> Result<Outcome, KitError> {
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
        let mut manifests: Vec<Value> = packs
            .iter()
            .map(|pack| self.corpus.manifest(pack))
            .collect();
        for manifest in &mut manifests {
            self.bench.fill_in_value(manifest);
        }
        self.bind(&manifests)?;
        let mut installed = Vec::new();
        for (pack, manifest) in packs.iter().zip(&manifests) {
            if self.install(pack, manifest)? {
                installed.push((pack, id_of(manifest)));
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

    /// Gives each pack the helper that the set-up names for it.
    fn bind(&mut self, manifests: &[Value]) -> Result<(), Stop> {
        for manifest in manifests {
            let pack_id = id_of(manifest);
            let Some(helper) = self.case.setup.bindings.get(&pack_id) else {
                continue;
            };
            let path = self
                .bench
                .helper(&pack_id, *helper, &minted_names(manifest))?;
            let command = vec![path.to_string_lossy().into_owned()];
            self.ask(&Request::Binding(Binding { pack_id, command }))?;
        }
        Ok(())
    }

    /// Whether the pack was taken; one that may be refused and is needs nothing further.
    fn install(&mut self, pack: &PackSetup, manifest: &Value) -> Result<bool, Stop> {
        let bins = pack.allow_bins.iter().map(|bin| self.bench.fill_in(bin));
        let install = Install {
            manifest: manifest.clone(),
            files: self.bench.pack_files(&id_of(manifest)),
            allow_bins: bins.collect(),
        };
        match self.ask(&Request::Install(install))?.refused {
            None => Ok(true),
            Some(_) if pack.may_refuse => Ok(false),
            Some(reason) => {
                let line = format!("it does not take the pack `{}`: {reason}", id_of(manifest));
                Err(Stop::Outcome(Outcome::Failed(vec![line])))
            }
        }
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
