//! `k=v` on the command line (design §6), and the same values on the JSON face: a text is read as the
//! declared type, lossless or refused.

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{World, envelope};

/// What an argument may be declared as, by the verb that takes it.
const VERBS: [(&str, &str); 11] = [
    ("any", ""),
    ("integer", "schema = { type = \"integer\" }"),
    ("number", "schema = { type = \"number\" }"),
    ("string", "schema = { type = \"string\" }"),
    ("boolean", "schema = { type = \"boolean\" }"),
    (
        "integers",
        "schema = { type = \"array\", items = { type = \"integer\" } }",
    ),
    ("either", "schema = { type = [\"integer\", \"null\"] }"),
    ("enum", "schema = { enum = [\"a\", 1, true] }"),
    (
        "positive",
        "schema = { type = \"number\", exclusiveMinimum = 0 }",
    ),
    ("object", "schema = { type = \"object\" }"),
    ("switch", "as = \"switch\""),
];

fn world() -> World {
    let mut pack = Pack::new("typed").command(
        "free",
        "effect = \"read\"\ncli = [\"typed\", \"go\", \"--v={{v}}\"]",
    );
    for (verb, declared) in VERBS {
        let form = if declared.starts_with("as") || declared.is_empty() {
            declared.to_owned()
        } else {
            format!("as = \"json\", {declared}")
        };
        pack = pack.command(
            verb,
            &format!("effect = \"read\"\ncli = [\"typed\", \"go\", \"--v={{{{v}}}}\"]\nargs.v = {{ {form} }}"),
        );
    }
    World::with(&pack)
}

/// What was asked of `explain`, in order, and what its records tell: the arguments or the error.
fn told(world: &World, calls: &[Vec<String>]) -> Vec<Result<Value, String>> {
    for call in calls {
        let mut words = vec!["explain"];
        words.extend(call.iter().map(String::as_str));
        world.ok(&words);
    }
    let records = world.records_of("explain");
    assert_eq!(records.len(), calls.len());
    records
        .iter()
        .map(|record| match record["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(serde_json::from_str(record["args"].as_str().unwrap()).unwrap()),
        })
        .collect()
}

#[test]
fn texts_become_the_values_they_say_or_are_refused() {
    // The verb, the word, and the value; none where it is refused.
    let cases: Vec<(&str, &str, Option<&str>)> = vec![
        ("free", "v=true", Some("true")),
        ("free", "v=false", Some("false")),
        ("free", "v=null", Some("null")),
        ("free", "v=10", Some("10")),
        ("free", "v=-2.5", Some("-2.5")),
        ("free", "v=0", Some("0")),
        (
            "free",
            "v=12345678901234567890123",
            Some("12345678901234567890123"),
        ),
        ("free", "v=1.10", Some("\"1.10\"")),
        ("free", "v=007", Some("\"007\"")),
        ("free", "v=1e3", Some("\"1e3\"")),
        ("free", "v=-0", Some("\"-0\"")),
        ("free", "v=+1", Some("\"+1\"")),
        ("free", "v=.5", Some("\".5\"")),
        ("free", "v=0x10", Some("\"0x10\"")),
        ("free", "v=True", Some("\"True\"")),
        ("free", "v=", Some("\"\"")),
        ("free", "v= 1", Some("\" 1\"")),
        ("free", "v=a=b=c", Some("\"a=b=c\"")),
        ("free", "v=@file", Some("\"@file\"")),
        ("free", "v=NaN", Some("\"NaN\"")),
        ("free", "v:=\"x\"", Some("\"x\"")),
        ("free", "v:=[1,2]", Some("[1,2]")),
        ("free", "v:=1.10", Some("1.10")),
        ("free", "v:=9007199254740993", Some("9007199254740993")),
        ("free", "v:=x", None),
        ("free", "v:=", None),
        ("free", "v:=1 2", None),
        ("free", "v", None),
        ("free", "=x", None),
        ("free", "w=1", None),
        ("free", "V=1", None),
        ("any", "v=10", Some("10")),
        ("any", "v=x", Some("\"x\"")),
        ("integer", "v=12345", Some("12345")),
        ("integer", "v=-1", Some("-1")),
        ("integer", "v=9007199254740993", Some("9007199254740993")),
        ("integer", "v=0x10", None),
        ("integer", "v=1e3", None),
        ("integer", "v= 1 ", None),
        ("integer", "v=1_000", None),
        ("integer", "v=1.5", None),
        ("integer", "v=", None),
        ("integer", "v=true", None),
        ("integer", "v=null", None),
        ("integer", "v:=\"1\"", None),
        ("number", "v=1.10", Some("1.10")),
        ("number", "v=-2.5", Some("-2.5")),
        ("number", "v=x", None),
        ("number", "v=Infinity", None),
        ("string", "v=10", Some("\"10\"")),
        ("string", "v=true", Some("\"true\"")),
        ("string", "v=null", Some("\"null\"")),
        ("string", "v=", Some("\"\"")),
        ("string", "v:=1", None),
        ("boolean", "v=true", Some("true")),
        ("boolean", "v=false", Some("false")),
        ("boolean", "v=yes", None),
        ("boolean", "v=1", None),
        ("integers", "v=1", Some("[1]")),
        ("integers", "v:=[1,2]", Some("[1,2]")),
        ("integers", "v=x", None),
        ("either", "v=5", Some("5")),
        ("either", "v=null", Some("null")),
        ("either", "v=x", None),
        ("enum", "v=a", Some("\"a\"")),
        ("enum", "v=1", Some("1")),
        ("enum", "v=b", None),
        ("positive", "v=0.5", Some("0.5")),
        ("positive", "v=0", None),
        ("object", "v:={\"a\":[1.10]}", Some("{\"a\":[1.10]}")),
        ("object", "v=a", None),
        ("switch", "v=true", Some("true")),
        ("switch", "v=on", None),
    ];
    let world = world();
    let calls: Vec<Vec<String>> = cases
        .iter()
        .map(|(verb, word, _)| ["typed", verb, "--", word].map(str::to_owned).to_vec())
        .collect();
    for ((verb, word, expected), told) in cases.iter().zip(told(&world, &calls)) {
        match (expected, told) {
            (Some(value), Ok(args)) => {
                assert_eq!(
                    args.to_string(),
                    format!("{{\"v\":{value}}}"),
                    "{verb} {word}"
                );
            }
            (None, Err(error)) => assert!(error.starts_with("args: "), "{verb} {word}: {error}"),
            (expected, told) => panic!("{verb} {word}: expected {expected:?}, found {told:?}"),
        }
    }
}

/// Nothing is lost without a word: a name given twice, an unknown name, a missing one.
#[test]
fn faults_of_pairs_are_named() {
    let world = world();
    let cases: [(&[&str], &str); 5] = [
        (&["typed", "free", "--", "v=1", "v=2"], "v"),
        (&["typed", "free", "--", "vv=1"], "did you mean"),
        (&["typed", "integer", "--", "config=/tmp/evil"], "config"),
        (&["typed", "free", "--", "mode=live"], "mode"),
        (&["typed", "free", "--", "mode:=true"], "mode"),
    ];
    for (words, part) in cases {
        let ran = world.exec(words);
        assert!(
            ran.error().starts_with("args: "),
            "{words:?}: {}",
            ran.error()
        );
        assert!(ran.error().contains(part), "{words:?}: {}", ran.error());
        assert_eq!(ran.status, Some(3), "{words:?}");
        assert_eq!(world.last_record()["step_name"], "enforce_confirm");
    }
    let repeated = world.ok(&["explain", "typed", "integers", "--", "v=1", "v=2"]);
    assert_eq!(
        repeated["argv"][1], "--v=[1,2]",
        "the elements of an array, one by one"
    );
}

#[test]
fn stdin_is_read_only_where_it_is_asked_for() {
    let world = world();
    let words = ["exec", "typed", "string", "--", "v=@-"];
    world.pipe(&words, b"two\nlines\n").result();
    let args = world.records_of("intent")[0]["args"].clone();
    assert_eq!(args, json!("{\"v\":\"two\\nlines\\n\"}"));
    // A value that looks like a file is no file.
    world.write("secret", "from a file", 0o600);
    world.exec(&["typed", "string", "--", "v=@secret"]).result();
    let args = world.records_of("intent")[1]["args"].clone();
    assert_eq!(args, json!("{\"v\":\"@secret\"}"));
}

/// Case 17 on the JSON face: no text is read as a number there.
#[test]
fn the_json_face_takes_values_as_they_are() {
    let world = world();
    let cases = [
        ("integer", json!(12345), true),
        ("integer", json!("12345"), false),
        ("integer", json!("0x10"), false),
        ("integer", json!(1.5), false),
        ("integer", json!(null), true),
        ("number", json!("1"), false),
        ("boolean", json!("true"), false),
        ("boolean", json!(1), false),
        ("string", json!(10), false),
        ("string", json!("10"), true),
        ("free", json!({ "a": 1 }), false),
        ("free", json!([1, { "a": 1 }]), false),
        ("free", json!([1, null, "x"]), true),
    ];
    for (verb, value, fine) in cases {
        let ran = world.send(envelope("typed", verb, &json!({ "v": value })));
        if fine {
            ran.result();
        } else {
            assert!(
                ran.error().starts_with("args: "),
                "{verb} {value}: {}",
                ran.error()
            );
            assert!(ran.error().contains('v'), "{verb} {value}");
            assert_eq!(ran.status, Some(3));
        }
    }
}

/// Case 18: only the JSON value `true` opens the gate.
#[test]
fn nothing_but_true_confirms() {
    let pack = Pack::new("gate")
        .command("go", "effect = \"destructive\"")
        .governed(
            "soft",
            "effect = \"write\"",
            "capability = \"gate:soft\"\nconfirm = true",
        )
        .governed(
            "open",
            "effect = \"destructive\"",
            "capability = \"gate:open\"\nconfirm = false",
        );
    let world = World::with(&pack);
    let values = [
        (json!({}), false),
        (json!({ "confirm": "true" }), false),
        (json!({ "confirm": 1 }), false),
        (json!({ "confirm": "yes" }), false),
        (json!({ "confirm": [true] }), false),
        (json!({ "confirm": { "confirm": true } }), false),
        (json!({ "confirm": null }), false),
        (json!({ "confirm": false }), false),
        (json!({ "apply": "true" }), false),
        (json!({ "confirm": true }), true),
        (json!({ "apply": true }), true),
        (json!({ "confirm": false, "apply": true }), true),
    ];
    for (args, opens) in &values {
        for verb in ["go", "soft"] {
            let ran = world.send(envelope("gate", verb, args));
            if *opens {
                ran.result();
            } else {
                assert_eq!(ran.error(), "confirm required", "{args}");
                assert_eq!(ran.status, Some(3));
            }
        }
    }
    world.send(envelope("gate", "open", &json!({}))).result();
    let pairs: [(&str, bool); 9] = [
        ("confirm=true", true),
        ("apply=true", true),
        ("confirm:=true", true),
        ("confirm=1", false),
        ("confirm=yes", false),
        ("confirm=TRUE", false),
        ("confirm:=\"true\"", false),
        ("confirm=", false),
        ("Confirm=true", false),
    ];
    for (pair, opens) in pairs {
        let ran = world.exec(&["gate", "go", "--", pair]);
        if opens {
            ran.result();
        } else {
            assert_eq!(ran.error(), "confirm required", "{pair}");
        }
    }
}
