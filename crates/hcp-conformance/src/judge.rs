//! What was seen against what must be seen.

use serde_json::Value;

use crate::corpus::{Audited, Call, Expectation};
use crate::probe::Spawn;
use crate::protocol::Record;
use crate::seen::Seen;

/// What happened around one call.
#[derive(Clone, Debug, Default)]
pub struct Around<'a> {
    /// What was started during it.
    pub spawns: Vec<Spawn>,
    /// How many children that makes, those included that the kit's log did not see.
    pub spawn_count: usize,
    /// How often something was minted during it.
    pub mint_count: usize,
    /// The audit records since the set-up, where the call is about them.
    pub records: Vec<Record>,
    /// The calls before it.
    pub earlier: &'a [Seen],
    /// The name of the runtime.
    pub runtime: &'a str,
    /// What the marker file of the pack holds.
    pub marker: String,
}

/// The fields of a result envelope (§6.2).
const FIELDS: [&str; 7] = [
    "ok", "pack_id", "verb_key", "result", "error", "stdout", "stderr",
];

/// Every way in which the call is not what it must be, one line each.
pub fn judge(call: &Call, seen: &Seen, around: &Around<'_>) -> Vec<String> {
    let mut faults = Faults::default();
    let expect = &call.expect;
    judge_envelope(expect, seen, around, &mut faults);
    judge_shape(expect, seen, &mut faults);
    judge_face(expect, seen, around, &mut faults);
    judge_children(expect, around, &mut faults);
    if let Some(audited) = &expect.audited {
        judge_records(call, audited, around, &mut faults);
    }
    faults.0
}

#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, says: impl FnOnce() -> String) {
        if !holds {
            self.0.push(says());
        }
    }
}

fn judge_envelope(expect: &Expectation, seen: &Seen, around: &Around<'_>, faults: &mut Faults) {
    if let Some(ok) = expect.ok {
        faults.unless(seen.ok() == Some(ok), || {
            format!("`ok` must be {ok}, and it answered {}", seen.shown())
        });
    }
    if expect.refused {
        let refused = seen.reply.transport_error.is_some() || seen.ok() == Some(false);
        faults.unless(refused, || {
            format!("it must refuse, and it answered {}", seen.shown())
        });
    }
    let error = expect
        .error
        .as_ref()
        .map(|error| error.replace("{runtime}", around.runtime));
    let texts = [
        ("error", error.as_ref()),
        ("pack_id", expect.pack_id.as_ref()),
        ("verb_key", expect.verb_key.as_ref()),
        ("stdout", expect.stdout.as_ref()),
        ("stderr", expect.stderr.as_ref()),
    ];
    for (name, wanted) in texts {
        let Some(wanted) = wanted else { continue };
        faults.unless(seen.text(name) == Some(wanted.as_str()), || {
            format!(
                "`{name}` must be {wanted:?}, and it answered {}",
                seen.shown()
            )
        });
    }
    if let Some(other) = &expect.error_not {
        faults.unless(seen.text("error") != Some(other.as_str()), || {
            format!("`error` must not be {other:?}")
        });
    }
    if let Some(start) = &expect.error_starts_with {
        let begins = seen
            .text("error")
            .is_some_and(|error| error.starts_with(start.as_str()));
        faults.unless(begins, || {
            format!(
                "`error` must begin with {start:?}, and it answered {}",
                seen.shown()
            )
        });
    }
    if let Some(text) = &expect.result {
        let wanted: Value = serde_json::from_str(text).unwrap_or_default();
        let is = seen.result().is_some_and(|result| same(result, &wanted));
        faults.unless(is, || {
            format!("`result` must be {text}, and it answered {}", seen.shown())
        });
    }
    if let Some(text) = &expect.result_text {
        faults.unless(seen.result_text.as_ref() == Some(text), || {
            format!(
                "`result` must read {text}, and it answered {}",
                seen.shown()
            )
        });
    }
}

fn judge_shape(expect: &Expectation, seen: &Seen, faults: &mut Faults) {
    if !expect.well_formed && !expect.only_fields {
        return;
    }
    let Some(fields) = seen.envelope() else {
        faults.unless(false, || format!("no result envelope: {}", seen.shown()));
        return;
    };
    if expect.only_fields {
        for name in fields
            .keys()
            .filter(|name| !FIELDS.contains(&name.as_str()))
        {
            faults.unless(false, || {
                format!("`{name}` is no field of a result envelope")
            });
        }
    }
    if !expect.well_formed {
        return;
    }
    let ok = fields.get("ok").and_then(Value::as_bool);
    faults.unless(ok.is_some(), || "`ok` must be a boolean".to_owned());
    for name in ["pack_id", "verb_key"] {
        let is_text = fields.get(name).is_some_and(Value::is_string);
        faults.unless(is_text, || format!("`{name}` must be there, as a string"));
    }
    for name in ["error", "stdout", "stderr"] {
        let is_text = fields.get(name).is_none_or(Value::is_string);
        faults.unless(is_text, || {
            format!("`{name}` must be a string where it stands")
        });
    }
    if ok == Some(true) {
        let has = fields.contains_key("result");
        faults.unless(has, || {
            "`result` should stand where `ok` is true".to_owned()
        });
    } else {
        let says = fields.contains_key("error");
        faults.unless(says, || "`error` must stand where `ok` is false".to_owned());
    }
}

fn judge_face(expect: &Expectation, seen: &Seen, around: &Around<'_>, faults: &mut Faults) {
    let status = seen.reply.exit_status;
    if let Some(wanted) = expect.exit_status {
        faults.unless(status == Some(wanted), || {
            format!("the exit status must be {wanted}, and is {status:?}")
        });
    }
    if expect.exit_nonzero {
        faults.unless(status.is_some_and(|status| status != 0), || {
            format!("the exit status must tell a failure, and is {status:?}")
        });
    }
    if expect.structured {
        faults.unless(seen.value.is_some(), || {
            format!("the output must be JSON, and is {}", seen.shown())
        });
    }
    let Some(other) = expect.same_as.and_then(|index| around.earlier.get(index)) else {
        return;
    };
    let same_result = match (seen.result(), other.result()) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => true,
        _ => seen.ok() == Some(false),
    };
    let errors = (seen.envelope(), other.envelope());
    let same_error = match errors {
        (Some(one), Some(other)) => one.get("error") == other.get("error"),
        _ => true,
    };
    faults.unless(seen.ok() == other.ok() && same_result && same_error, || {
        format!("{} differs from {}", seen.shown(), other.shown())
    });
}

fn judge_children(expect: &Expectation, around: &Around<'_>, faults: &mut Faults) {
    let counts = [
        ("started", expect.spawns, around.spawn_count),
        ("minted", expect.mints, around.mint_count),
    ];
    for (what, wanted, count) in counts {
        if let Some(wanted) = wanted {
            faults.unless(count == wanted, || {
                format!("must have {what} {wanted} times, and has {what} {count} times")
            });
        }
    }
    if expect.argv.is_none() && expect.environment.is_empty() && !expect.in_pack_root {
        return;
    }
    let [child] = around.spawns.as_slice() else {
        let count = around.spawns.len();
        faults.unless(false, || {
            format!("one child must have run, and {count} have")
        });
        return;
    };
    if let Some(argv) = &expect.argv {
        faults.unless(child.argv == *argv, || {
            format!("the argv must be {argv:?}, and is {:?}", child.argv)
        });
    }
    for (name, allowed) in &expect.environment {
        let value = child.environment.get(name);
        let fits = match value {
            Some(value) => allowed.contains(value),
            None => allowed.is_empty(),
        };
        faults.unless(fits, || {
            format!("the child's `{name}` must be one of {allowed:?}, and is {value:?}")
        });
    }
    if expect.in_pack_root {
        let there = child.marker.as_ref() == Some(&around.marker);
        faults.unless(there, || {
            format!("`{}` is not the root of the pack", child.working_directory)
        });
    }
}

fn judge_records(call: &Call, audited: &Audited, around: &Around<'_>, faults: &mut Faults) {
    let envelope: Value = match (&call.envelope, &call.text) {
        (Some(envelope), _) => envelope.clone(),
        (None, text) => {
            serde_json::from_str(text.as_deref().unwrap_or_default()).unwrap_or_default()
        }
    };
    let id = |name: &str| {
        envelope
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let newest = around.records.iter().rev().find(|record| {
        record.ok.is_some() && record.pack_id == id("pack_id") && record.verb_key == id("verb_key")
    });
    let Some(newest) = newest else {
        faults.unless(false, || "no audit record tells of the call".to_owned());
        return;
    };
    faults.unless(newest.ok == Some(audited.ok), || {
        format!(
            "the audit record must say ok {}, and says {:?}",
            audited.ok, newest.ok
        )
    });
    if audited.step.is_some() {
        faults.unless(newest.step == audited.step, || {
            format!(
                "the audit record must say step {:?}, and says {:?}",
                audited.step, newest.step
            )
        });
    }
}

/// Whether two values are the same JSON, numbers by their value and not by how they are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one
                    .as_f64()
                    .is_some_and(|value| Some(value) == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Around, judge, same};
    use crate::corpus::{Call, Expectation, FaceKind};
    use crate::protocol::Reply;
    use crate::seen::Seen;
    use serde_json::json;

    fn seen(text: &str) -> Seen {
        let reply = Reply {
            output: Some(text.to_owned()),
            ..Reply::default()
        };
        Seen::new(FaceKind::Json, reply)
    }

    #[test]
    fn each_expectation_can_fail_and_hold() {
        let good = r#"{"ok":true,"pack_id":"a","verb_key":"b","result":{"n":1.0}}"#;
        let bad = r#"{"ok":false,"pack_id":1,"result":2,"more":3}"#;
        let expectations: [serde_json::Value; 6] = [
            json!({ "ok": true }),
            json!({ "pack_id": "a" }),
            json!({ "result": "{\"n\":1}" }),
            json!({ "result_text": "{\"n\":1.0}" }),
            json!({ "well_formed": true }),
            json!({ "only_fields": true }),
        ];
        for expectation in expectations {
            let expect: Expectation = serde_json::from_value(expectation.clone()).unwrap();
            let call = Call {
                expect,
                ..Call::default()
            };
            let around = Around::default();
            assert!(
                judge(&call, &seen(good), &around).is_empty(),
                "{expectation}"
            );
            assert!(
                !judge(&call, &seen(bad), &around).is_empty(),
                "{expectation}"
            );
            assert!(
                !judge(&call, &seen("x"), &around).is_empty(),
                "{expectation}"
            );
        }
    }

    #[test]
    fn numbers_are_the_same_by_value() {
        assert!(same(
            &json!({ "a": [1.0, null] }),
            &json!({ "a": [1, null] })
        ));
        assert!(!same(&json!([1]), &json!(["1"])));
        assert!(!same(&json!({ "a": 1 }), &json!({ "b": 1 })));
    }
}
