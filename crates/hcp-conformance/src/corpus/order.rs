//! The order of the steps (§6.3): a table says what makes a call fail at each step alone, and every
//! pair of rows is a case in which both are so. The earlier step must be the one that answers.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::case::{Audited, Call, Case, Expectation, Helper, Level, PackSetup, Setup};

/// What makes the call of the table fail at one step, everything else being well.
// Each is one line of the table, present or not; that is what a bool is for.
#[allow(clippy::struct_excessive_bools)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spoiler {
    step: u8,
    /// What is wrong, as a clause of a sentence.
    says: String,
    /// The exact `error`, where the law fixes it.
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    patch: Value,
    #[serde(default)]
    removed: bool,
    #[serde(default)]
    not_activated: bool,
    #[serde(default)]
    not_granted: bool,
    #[serde(default)]
    helper_fails: bool,
}

/// The number of the step that records; it refuses nothing, so it has no row.
const RECORD: u8 = 9;

/// One case for each row, each pair of rows, and each row with the record of it.
pub(super) fn cases(spoilers: &[Spoiler]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, first) in spoilers.iter().enumerate() {
        let mut alone = case(first, &[first]);
        alone.id = format!("6.3-step-{}", first.step);
        alone.proves = format!(
            "A call of which {} ends at step {}, and nothing after it happens.",
            first.says, first.step
        );
        cases.push(alone);
        for second in spoilers.iter().skip(index + 1) {
            let mut pair = case(first, &[first, second]);
            pair.id = format!("6.3-order-{}-{}", first.step, second.step);
            pair.proves = format!(
                "Where {} and {}, step {} answers, not step {}.",
                first.says, second.says, first.step, second.step
            );
            cases.push(pair);
        }
        let mut recorded = case(first, &[first]);
        recorded.id = format!("6.3-order-{}-{RECORD}", first.step);
        recorded.level = Level::Hcp;
        recorded.proves = format!(
            "A call of which {} is recorded, with step {} as the one that refused it.",
            first.says, first.step
        );
        for call in &mut recorded.calls {
            call.expect = Expectation {
                audited: Some(Audited {
                    ok: false,
                    step: Some(first.step),
                }),
                ..Expectation::default()
            };
        }
        cases.push(recorded);
    }
    cases
}

fn case(answers: &Spoiler, spoilers: &[&Spoiler]) -> Case {
    let any = |is: fn(&Spoiler) -> bool| spoilers.iter().any(|spoiler| is(spoiler));
    let mut patch = Value::Null;
    // The earlier step's patch has the last word: an entry that it removes stays removed.
    for spoiler in spoilers
        .iter()
        .rev()
        .filter(|spoiler| !spoiler.patch.is_null())
    {
        overlay(&mut patch, &spoiler.patch);
    }
    let helper = if any(|spoiler| spoiler.helper_fails) {
        Helper::Fails
    } else {
        Helper::Works
    };
    let setup = Setup {
        packs: Some(vec![PackSetup {
            patch,
            activate: !any(|spoiler| spoiler.not_activated),
            remove: any(|spoiler| spoiler.removed),
            ..PackSetup::plain("vault")
        }]),
        grants: Some(if any(|spoiler| spoiler.not_granted) {
            Vec::new()
        } else {
            vec!["vault:open".to_owned()]
        }),
        project: None,
        bindings: IndexMap::from([("vault".to_owned(), helper)]),
        environment: IndexMap::new(),
    };
    // The credential is minted by step 7 itself, so a refusal of step 7 or 8 comes after it.
    let mints = (answers.step < 7).then_some(0);
    let mut others = spoilers
        .iter()
        .filter(|spoiler| spoiler.step != answers.step);
    let call = Call {
        envelope: Some(json!({ "pack_id": "vault", "verb_key": "open", "args": {} })),
        expect: Expectation {
            ok: Some(false),
            error: answers.error.clone(),
            error_not: others.find_map(|spoiler| spoiler.error.clone()),
            spawns: Some(0),
            mints,
            ..Expectation::default()
        },
        ..Call::default()
    };
    Case {
        id: String::new(),
        clause: String::new(),
        level: Level::Must,
        proves: String::new(),
        needs_face: None,
        needs_adapter: None,
        without_adapter: None,
        setup,
        calls: vec![call],
    }
}

/// Lays one patch over another; null stays null, since it says that something is removed.
fn overlay(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(fields), Value::Object(more)) => {
            for (name, value) in more {
                let slot = fields.entry(name.clone()).or_insert(Value::Null);
                overlay(slot, value);
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}
