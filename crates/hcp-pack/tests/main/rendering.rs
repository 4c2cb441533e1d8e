//! Rendering (§6.4): the cases that any runtime must pass, and what holds for every value.

use hcp_pack::PreparedCommand;
use hcp_spec::json::parse_value;
use naughty_strings::BLNS;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{json as manifest_from_json, prepared, run};

/// A manifest around the command of a conformance case.
fn case_manifest(case: &Value) -> String {
    let mut command = case["command"].as_object().unwrap().clone();
    let mut wrap = Map::new();
    wrap.insert("bin".to_owned(), json!("./tool"));
    wrap.insert("single".to_owned(), json!(true));
    for key in ["argv_template", "json"] {
        if let Some(value) = command.remove(key) {
            wrap.insert(key.to_owned(), value);
        }
    }
    command.insert("summary".to_owned(), json!("s"));
    let verb_key = case["verb_key"].as_str().unwrap();
    json!({
        "hcp": 1, "id": "p", "version": "1", "summary": "s", "kind": "wrap",
        "wrap": wrap, "commands": { verb_key: command },
    })
    .to_string()
}

#[test]
fn every_conformance_case() {
    let cases = parse_value(include_str!("../data/render.json"), 128).unwrap();
    for case in cases.as_array().unwrap() {
        let id = &case["id"];
        let manifest = manifest_from_json(&case_manifest(case))
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        let command =
            PreparedCommand::prepare(&manifest, case["verb_key"].as_str().unwrap()).unwrap();
        let outcome = run(&command, &case["args"].to_string());
        let expect = &case["expect"];
        if let Some(argv) = expect.get("argv") {
            let argv: Vec<&str> = argv
                .as_array()
                .unwrap()
                .iter()
                .map(|token| token.as_str().unwrap())
                .collect();
            assert_eq!(
                outcome.as_deref(),
                Ok(argv
                    .iter()
                    .map(|t| (*t).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice()),
                "{id}"
            );
        } else {
            let error = outcome.unwrap_err();
            let why = expect["why"]
                .as_str()
                .unwrap()
                .strip_prefix("args:")
                .unwrap();
            let (kind, name) = why.split_once(' ').unwrap();
            let word = match kind {
                "object" => "object",
                "dash" => "begins with \"-\"",
                "missing" => "missing",
                "nul" => "NUL",
                "unknown" => "unknown argument",
                other => panic!("{other}"),
            };
            assert!(error.contains(word), "{id}: {error}");
            assert!(error.contains(&format!("\"{name}\"")), "{id}: {error}");
        }
    }
}

#[test]
fn numbers_are_those_of_ecmascript() {
    let command = prepared("cli = [\"t\", \"{{n}}\"]");
    let cases = [
        ("-0", "0"),
        ("-0.0", "0"),
        ("100", "100"),
        ("1e2", "100"),
        ("1E2", "100"),
        ("1.0", "1"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("123456789012345680000.5", "123456789012345680000"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("-1.5e-9", "-1.5e-9"),
        ("5e-324", "5e-324"),
        ("1e-400", "0"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("0.30000000000000004", "0.30000000000000004"),
    ];
    for (number, text) in cases {
        let argv = run(&command, &format!("{{\"n\":{number}}}")).unwrap();
        assert_eq!(argv, [text, "--json"], "{number}");
    }
    let digits = "9".repeat(400);
    let argv = run(&command, &format!("{{\"n\":{digits}}}")).unwrap();
    assert_eq!(argv[0], digits);
    for number in ["1e309", "-1e400", "123.0e400"] {
        let error = run(&command, &format!("{{\"n\":{number}}}")).unwrap_err();
        assert_eq!(
            error,
            "\"n\" is a number beyond a double and has no argv form"
        );
    }
}

#[test]
fn refusals_name_the_argument_and_the_reason() {
    let cases = [
        (
            "cli = [\"t\", \"{{a}}\"]",
            r#"{"a":{"b":1}}"#,
            "\"a\" is an object and has no argv form",
        ),
        (
            "cli = [\"t\", \"{{a}}\"]",
            r#"{"a":[1,{"b":1}]}"#,
            "\"a\" holds an object and has no argv form",
        ),
        (
            "cli = [\"t\", \"{{a}}\"]",
            r#"{"a":"-x"}"#,
            "\"a\" begins with \"-\"",
        ),
        (
            "cli = [\"t\", \"{{a}}\"]",
            r#"{"a":["-x"]}"#,
            "\"a\" begins with \"-\"",
        ),
        (
            "cli = [\"t\", \"{{a}}\"]",
            r#"{"a":[-1,2]}"#,
            "\"a\" begins with \"-\"",
        ),
        (
            "cli = [\"t\", \"{{a}}{{b}}\"]",
            r#"{"a":"","b":"-x"}"#,
            "\"b\" begins with \"-\"",
        ),
        (
            "cli = [\"t\", \"{{a}}-x\"]",
            r#"{"a":""}"#,
            "\"a\" begins with \"-\"",
        ),
        (
            "cli = [\"t\", \"{{n}}{{b}}\"]",
            r#"{"n":-1,"b":"ex"}"#,
            "\"n\" begins with \"-\"",
        ),
        (
            "cli = [\"t\", \"{{a}}x\"]",
            r#"{"a":null}"#,
            "missing \"a\"",
        ),
        (
            "cli = [\"t\", \"--a={{a}}\"]",
            r#"{"a":"x\u0000"}"#,
            "\"a\" holds a NUL byte",
        ),
        (
            "cli = [\"t\", \"--a={{a}}\"]",
            r#"{"a":["x\u0000"]}"#,
            "\"a\" holds a NUL byte",
        ),
    ];
    for (command, args, expected) in cases {
        assert_eq!(
            run(&prepared(command), args).unwrap_err(),
            expected,
            "{command} {args}"
        );
    }
}

#[test]
fn forms_that_the_conformance_cases_leave_out() {
    let cases: [(&str, &str, &[&str]); 9] = [
        (
            "cli = [\"t\", \"{{n}}px\"]",
            r#"{"n":-5}"#,
            &["-5px", "--json"],
        ),
        ("cli = [\"t\", \"\", \"x\"]", "{}", &["x", "--json"]),
        (
            "cli = [\"t\", \"{{a}}{{b}}\"]",
            r#"{"a":"","b":""}"#,
            &["--json"],
        ),
        (
            "cli = [\"t\", \"--ids={{a}}\"]",
            r#"{"a":[]}"#,
            &["--ids=", "--json"],
        ),
        (
            "cli = [\"t\", \"--a={{a}}\", \"{{a}}\"]",
            r#"{"a":"{{a}}"}"#,
            &["--a={{a}}", "{{a}}", "--json"],
        ),
        (
            "cli = [\"t\", \"--f={{f}}\"]\nargs.f.as = \"switch\"",
            r#"{"f":null}"#,
            &["--json"],
        ),
        (
            "cli = [\"t\", \"-f={{f}}\"]\nargs.f.as = \"switch\"",
            r#"{"f":true}"#,
            &["-f", "--json"],
        ),
        (
            "cli = [\"t\", \"{{o}}\"]\nargs.o.as = \"json\"",
            r#"{"o":[1.10,"a\u0000"]}"#,
            &[r#"[1.10,"a\u0000"]"#, "--json"],
        ),
        (
            "cli = [\"t\", \"{{a}}{{b}}\"]\nargs.a.dash = true\nargs.b = {}",
            r#"{"a":"-x","b":"y"}"#,
            &["-xy", "--json"],
        ),
    ];
    for (command, args, argv) in cases {
        assert_eq!(run(&prepared(command), args).unwrap(), argv, "{command}");
    }
}

#[test]
fn literal_rendering_is_the_letter() {
    let text = crate::pack("cli = [\"t\", \"{{a}}\", \"--b={{b}}\"]\nargs.a = {}")
        .replace("single = true", "single = true\nrendering = \"literal\"");
    let manifest = crate::toml(&text).unwrap();
    let command = PreparedCommand::prepare(&manifest, "do").unwrap();
    let argv = run(&command, r#"{"a":"-x","b":{"c":1},"more":1}"#).unwrap();
    assert_eq!(argv, ["-x", "--b=[object Object]", "--json"]);
    let argv = run(&command, r#"{"a":[null,[null]],"b":-1e999}"#).unwrap();
    assert_eq!(argv, [",", "--b=-Infinity", "--json"]);
}

#[test]
fn elements_end_where_the_system_does() {
    let command = prepared("cli = [\"t\", \"--a={{a}}\"]");
    let render = |length: usize| run(&command, &json!({ "a": "x".repeat(length) }).to_string());
    assert_eq!(render(127 << 10).unwrap()[0].len(), (127 << 10) + 4);
    assert_eq!(render(131_067).unwrap()[0].len(), 131_071);
    assert_eq!(
        render(131_068).unwrap_err(),
        "\"a\" makes an argv element of 131072 bytes, over the system's limit of 131071"
    );
    let many = format!("cli = [\"t\"{}]", ", \"--a={{a}}\"".repeat(20));
    let command = prepared(&many);
    let error = run(&command, &json!({ "a": "x".repeat(100_000) }).to_string()).unwrap_err();
    assert_eq!(
        error,
        "they make an argv of 2000107 bytes, over the limit of 1800000"
    );
}

#[test]
fn naughty_strings_stay_one_element_byte_for_byte() {
    let flag = prepared("cli = [\"t\", \"--a={{a}}\", \"end\"]");
    let positional = prepared("cli = [\"t\", \"{{a}}\", \"end\"]");
    assert!(BLNS.len() > 400);
    for text in BLNS {
        let given = json!({ "a": text }).to_string();
        let expected = [format!("--a={text}"), "end".to_owned(), "--json".to_owned()];
        assert_eq!(run(&flag, &given).unwrap(), expected);
        match run(&positional, &given) {
            Ok(argv) if text.is_empty() => assert_eq!(argv, ["end", "--json"]),
            Ok(argv) => assert_eq!(argv, [text, "end", "--json"]),
            Err(error) => {
                assert!(text.starts_with('-'));
                assert_eq!(error, "\"a\" begins with \"-\"");
            }
        }
    }
}

/// Any JSON value without objects.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[-{} =a]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        proptest::collection::vec(inner, 0..4).prop_map(Value::from)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_value_changes_its_own_element_and_no_other(a in value(), b in value()) {
        let template = "cli = [\"t\", \"first\", \"--a={{a}}\", \"{{b}}\", \"m{{a}}n\", \"last\"]";
        let command = prepared(template);
        let args = json!({ "a": a, "b": b }).to_string();
        match run(&command, &args) {
            Ok(argv) => {
                prop_assert!(argv.len() <= 6);
                prop_assert_eq!(&argv[0], "first");
                prop_assert!(argv[1].starts_with("--a="));
                prop_assert_eq!(&argv[argv.len() - 2], "last");
                prop_assert_eq!(&argv[argv.len() - 1], "--json");
                let mixed = &argv[argv.len() - 3];
                prop_assert_eq!(mixed, &format!("m{}n", &argv[1][4..]));
            }
            Err(error) => prop_assert!(
                a.is_null() && error == "missing \"a\"" || error == "\"b\" begins with \"-\"",
                "{}", error
            ),
        }
    }

    #[test]
    fn no_value_makes_a_flag(a in value(), b in value()) {
        let command = prepared("cli = [\"t\", \"{{a}}\", \"{{a}}{{b}}\", \"{{b}}x\"]");
        let Ok(argv) = run(&command, &json!({ "a": a, "b": b }).to_string()) else {
            return Ok(());
        };
        for element in &argv[..argv.len() - 1] {
            let number = a.is_number() || b.is_number();
            prop_assert!(!element.starts_with('-') || number, "{:?}", element);
            prop_assert!(!element.starts_with("--"), "{:?}", element);
        }
    }
}
