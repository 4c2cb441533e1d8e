//! The corpus: every case of every clause, read from the files in `cases/` and from the tables in
//! them that stand for many cases of one form.

mod case;
mod order;
mod rendering;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

pub use case::{Audited, Call, Case, Expectation, FaceKind, Helper, Level, PackSetup, Setup};

use crate::error::KitError;
use order::Spoiler;
use rendering::Rendering;

const PACKS: &str = include_str!("../../cases/packs.json");
const FILES: [(&str, &str); 7] = [
    ("6.1.json", include_str!("../../cases/6.1.json")),
    ("6.2.json", include_str!("../../cases/6.2.json")),
    ("6.3.json", include_str!("../../cases/6.3.json")),
    ("6.4.json", include_str!("../../cases/6.4.json")),
    ("6.5.json", include_str!("../../cases/6.5.json")),
    ("6.6.json", include_str!("../../cases/6.6.json")),
    ("6.7.json", include_str!("../../cases/6.7.json")),
];

/// Every case, and the manifests that they set up.
#[derive(Debug)]
pub struct Corpus {
    /// The cases, in the order of the clauses.
    pub cases: Vec<Case>,
    packs: IndexMap<String, Value>,
}

/// One file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    clause: String,
    #[serde(default)]
    cases: Vec<Case>,
    /// What makes a call fail at one step; every pair of them is a case.
    #[serde(default)]
    spoilers: Vec<Spoiler>,
    /// Argv rendering, one line each.
    #[serde(default)]
    renderings: Vec<Rendering>,
}

impl Corpus {
    /// Reads the cases that are built into the kit.
    ///
    /// # Errors
    /// [`KitError::Cases`] when a file is not well-formed, an id stands twice or without its clause,
    /// or a case uses a pack that is not there.
    pub fn load() -> Result<Self, KitError> {
        let mut corpus = Self {
            cases: Vec::new(),
            packs: read("packs.json", PACKS)?,
        };
        for (name, text) in FILES {
            let wrong = |reason| KitError::Cases { file: name, reason };
            let file: CaseFile = read(name, text)?;
            let pairs = order::cases(&file.spoilers);
            let renderings = file.renderings.into_iter().map(Rendering::into_case);
            for mut case in file.cases.into_iter().chain(pairs).chain(renderings) {
                case.clause.clone_from(&file.clause);
                corpus.check(&case).map_err(wrong)?;
                corpus.cases.push(case);
            }
        }
        Ok(corpus)
    }

    /// The manifest of a pack of the set-up.
    pub fn manifest(&self, pack: &PackSetup) -> Value {
        let mut manifest = self.packs.get(&pack.template).cloned().unwrap_or_default();
        merge(&mut manifest, &pack.patch);
        manifest
    }

    fn check(&self, case: &Case) -> Result<(), String> {
        let id = &case.id;
        if !id.starts_with(&format!("{}-", case.clause)) {
            return Err(format!("`{id}` does not begin with its clause"));
        }
        if self.cases.iter().any(|other| other.id == *id) {
            return Err(format!("`{id}` stands twice"));
        }
        let packs = case.setup.packs.iter().flatten();
        if let Some(pack) = packs
            .into_iter()
            .find(|pack| !self.packs.contains_key(&pack.template))
        {
            return Err(format!("`{id}` uses `{}`, which is no pack", pack.template));
        }
        for call in &case.calls {
            let forms = usize::from(call.envelope.is_some())
                + usize::from(call.text.is_some())
                + usize::from(call.health);
            if forms != 1 {
                return Err(format!("`{id}` has a call that is not exactly one thing"));
            }
        }
        Ok(())
    }
}

fn read<T: for<'de> Deserialize<'de>>(file: &'static str, text: &str) -> Result<T, KitError> {
    serde_json::from_str(text).map_err(|error| KitError::Cases {
        file,
        reason: error.to_string(),
    })
}

/// Applies a JSON Merge Patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        if !patch.is_null() {
            *target = patch.clone();
        }
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (name, value) in patch {
        if value.is_null() {
            fields.shift_remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Corpus, Level, merge};
    use serde_json::json;

    #[test]
    fn every_clause_has_cases_and_every_pair_of_steps_its_own() {
        let corpus = Corpus::load().unwrap();
        for clause in ["6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7"] {
            let of_law = corpus.cases.iter().filter(|case| {
                case.clause == clause && matches!(case.level, Level::Must | Level::MustNot)
            });
            assert!(of_law.count() > 0, "{clause}");
        }
        for first in 1..=8 {
            for second in first + 1..=9 {
                let id = format!("6.3-order-{first}-{second}");
                assert!(corpus.cases.iter().any(|case| case.id == id), "{id}");
            }
        }
    }

    #[test]
    fn patches_merge_and_remove() {
        let mut value = json!({ "a": { "b": 1, "c": 2 }, "d": 3 });
        merge(
            &mut value,
            &json!({ "a": { "b": null, "e": [1] }, "d": "x" }),
        );
        assert_eq!(value, json!({ "a": { "c": 2, "e": [1] }, "d": "x" }));
    }
}
