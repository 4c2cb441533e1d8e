//! What a call may give a command, and what it is told otherwise.

use crate::{object, prepared, run};

const TRANSFER: &str = r#"
cli = ["t", "--from={{from}}", "--to={{to}}", "--amount={{amount}}", "--note={{note}}", "--n={{n}}", "--color={{color}}", "--ids={{ids}}", "--o={{o}}", "--f={{f}}"]
[commands.do.args]
from = { required = true, schema = { type = "string", minLength = 1, maxLength = 8 } }
to = { required = true }
amount = { schema = { type = "number", exclusiveMinimum = 0, maximum = 100, default = 5 } }
note = { schema = { type = "string", pattern = "^[a-z ]*$" } }
n = { schema = { type = "integer", multipleOf = 2 } }
color = { schema = { enum = ["red", "green", 3] } }
ids = { schema = { type = "array", items = { type = "integer" }, maxItems = 2, uniqueItems = true } }
o = { as = "json", schema = { type = "object", required = ["k"], additionalProperties = false, properties = { k = { const = 1 } } } }
f = { as = "switch" }
"#;

#[test]
fn every_kind_of_fault_is_told_in_words() {
    let command = prepared(TRANSFER);
    let cases = [
        (
            r#"{"from":"a","to":"b","config":"/tmp/evil"}"#,
            "unknown argument \"config\"; did you mean \"confirm\"?",
        ),
        (
            r#"{"from":"a","to":"b","ammount":1}"#,
            "unknown argument \"ammount\"; did you mean \"amount\"?",
        ),
        (r#"{"from":"a"}"#, "missing \"to\""),
        (r#"{"from":"a","to":null}"#, "missing \"to\""),
        (
            r#"{"from":1,"to":"b"}"#,
            "\"from\" must be a string, not a number",
        ),
        (
            r#"{"from":"","to":"b"}"#,
            "\"from\" must have at least 1 character",
        ),
        (
            r#"{"from":"123456789","to":"b"}"#,
            "\"from\" must have at most 8 characters",
        ),
        (
            r#"{"from":"a","to":"b","amount":"10"}"#,
            "\"amount\" must be a number, not a string",
        ),
        (
            r#"{"from":"a","to":"b","amount":0}"#,
            "\"amount\" must be more than 0",
        ),
        (
            r#"{"from":"a","to":"b","amount":1e400}"#,
            "\"amount\" must be at most 100",
        ),
        (
            r#"{"from":"a","to":"b","note":"X"}"#,
            "\"note\" does not match the pattern ^[a-z ]*$",
        ),
        (
            r#"{"from":"a","to":"b","n":"12345"}"#,
            "\"n\" must be an integer, not a string",
        ),
        (
            r#"{"from":"a","to":"b","n":1.5}"#,
            "\"n\" must be an integer, not a number with a fraction",
        ),
        (
            r#"{"from":"a","to":"b","n":3}"#,
            "\"n\" must be a multiple of 2",
        ),
        (
            r#"{"from":"a","to":"b","color":"blue"}"#,
            "\"color\" must be one of \"red\", \"green\", 3",
        ),
        (
            r#"{"from":"a","to":"b","ids":["1"]}"#,
            "\"ids\" at /0 must be an integer, not a string",
        ),
        (
            r#"{"from":"a","to":"b","ids":[1,2,3]}"#,
            "\"ids\" must have at most 2 elements",
        ),
        (
            r#"{"from":"a","to":"b","ids":[1,1]}"#,
            "\"ids\" holds the same element twice",
        ),
        (r#"{"from":"a","to":"b","o":{}}"#, "\"o\" lacks \"k\""),
        (
            r#"{"from":"a","to":"b","o":{"k":2}}"#,
            "\"o\" at /k must be 1",
        ),
        (
            r#"{"from":"a","to":"b","o":{"k":1,"z":1}}"#,
            "\"o\" may not have \"z\"",
        ),
        (
            r#"{"from":"a","to":"b","f":"true"}"#,
            "\"f\" must be a boolean, not a string",
        ),
        (
            r#"{"from":"a","to":"b","mode":"live"}"#,
            "\"mode\" must be \"mock\"",
        ),
        (
            r#"{"from":"a","to":"b","mode":null}"#,
            "\"mode\" must be \"mock\"",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(run(&command, args).unwrap_err(), expected, "{args}");
    }
}

#[test]
fn messages_are_bounded_stay_on_one_line_and_keep_values_to_themselves() {
    let command = prepared(TRANSFER);
    let name = format!("a\\n\\u001b[1m\\u202e{}", "x".repeat(100_000));
    let error = run(&command, &format!("{{\"{name}\":1}}")).unwrap_err();
    assert!(
        error.starts_with("unknown argument \"a\\u{a}\\u{1b}[1m\\u{202e}x"),
        "{error}"
    );
    assert!(error.len() < 400, "{}", error.len());
    for args in [
        r#"{"from":"hunter2hunter2","to":"b"}"#,
        r#"{"from":"a","to":"b","amount":"hunter2"}"#,
        r#"{"from":"a","to":"b","color":"hunter2"}"#,
        r#"{"from":"a","to":"b","note":"HUNTER hunter2"}"#,
    ] {
        assert!(
            !run(&command, args).unwrap_err().contains("hunter2"),
            "{args}"
        );
    }
}

#[test]
fn what_is_accepted_is_what_the_command_makes_use_of() {
    let command = prepared(TRANSFER);
    let given = r#"{"to":"b","from":"a","confirm":"yes","apply":1,"mode":"mock","note":null}"#;
    let checked = command.check(&object(given)).unwrap();
    let values = serde_json::to_string(checked.values()).unwrap();
    assert_eq!(values, r#"{"to":"b","from":"a","amount":5}"#);
    // JSON Schema counts 4.0 as an integer, and so it renders.
    let argv = run(&command, r#"{"from":"a","to":"b","n":4.0}"#).unwrap();
    assert!(argv.contains(&"--n=4".to_owned()));

    let implied = prepared("cli = [\"t\", \"--a={{a}}\", \"--mode={{mode}}\"]");
    assert_eq!(implied.accepted().collect::<Vec<_>>(), ["a", "mode"]);
    let argv = run(&implied, r#"{"a":[1,null],"mode":"fast","confirm":true}"#).unwrap();
    assert_eq!(argv, ["--a=1,", "--mode=fast", "--json"]);
    let error = run(&implied, r#"{"zzz":1}"#).unwrap_err();
    assert_eq!(
        error,
        "unknown argument \"zzz\"; the command takes \"a\", \"mode\""
    );
    let none = prepared("cli = [\"t\", \"x\"]");
    let error = run(&none, r#"{"a":1}"#).unwrap_err();
    assert_eq!(error, "unknown argument \"a\"; the command takes none");
}

#[test]
fn listed_numbers_are_compared_by_every_digit() {
    let command =
        prepared("cli = [\"t\", \"{{n}}\"]\nargs.n.schema = { enum = [1, 123456789012345678] }");
    assert!(run(&command, r#"{"n":123456789012345678}"#).is_ok());
    assert!(run(&command, r#"{"n":123456789012345679}"#).is_err());
    let text = r#"{"hcp":1,"id":"p","version":"1","summary":"s","kind":"wrap","wrap":{"bin":"./t","single":true},
        "commands":{"do":{"summary":"s","cli":["t","{{n}}"],"args":{"n":{"schema":{"enum":[123456789012345678901234567890]}}}}}}"#;
    let manifest = crate::json(text).unwrap();
    let command = hcp_pack::PreparedCommand::prepare(&manifest, "do").unwrap();
    assert!(run(&command, r#"{"n":123456789012345678901234567890}"#).is_ok());
    assert!(run(&command, r#"{"n":123456789012345678901234567891}"#).is_err());
}
