//! The JSON face (§6.1, §6.2): what is ill-formed is answered with an envelope, exit status 2 and a
//! record `invalid` without step; what is well-formed is judged by the nine steps.

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{Ran, World};

const MAX_BYTES: usize = 1 << 20;

fn world() -> World {
    World::with(&Pack::new("echo").tool("printf %s \"$2\"").command(
        "go",
        "effect = \"read\"\ncli = [\"echo\", \"go\", \"{{text}}\"]",
    ))
}

/// An ill-formed text, the ids that can be read of it, and a part of the reason.
#[allow(clippy::too_many_lines)]
fn ill_formed() -> Vec<(Vec<u8>, &'static str, &'static str, &'static str)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let deep = |levels: usize| {
        let inner = levels - 2;
        let value = format!("{}{}", "[".repeat(inner), "]".repeat(inner));
        format!(r#"{{"pack_id":"echo","verb_key":"go","args":{{"text":{value}}}}}"#).into_bytes()
    };
    let good = r#"{"pack_id":"echo","verb_key":"go"}"#;
    vec![
        (text(""), "", "", ""),
        (text(" \n"), "", "", ""),
        (text("hello"), "", "", ""),
        (text("[]"), "", "", "an array"),
        (text("null"), "", "", "null"),
        (text("\"echo\""), "", "", "a string"),
        (text("{}"), "", "", "pack_id is missing"),
        (text(&format!("{good}{good}")), "", "", ""),
        (text(&format!("{good} x")), "", "", ""),
        (text(&format!("[{good}]")), "", "", "an array"),
        (text(r#"{"pack_id":"echo","verb_key":"go""#), "", "", ""),
        (text(r#"{"pack_id":"echo","verb_key":"go",}"#), "", "", ""),
        (text("{'pack_id':'echo','verb_key':'go'}"), "", "", ""),
        (
            text("{\"pack_id\":\"echo\",\"verb_key\":\"go\",\"args\":{\"n\":NaN}}"),
            "",
            "",
            "",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","args":{"n":01}}"#),
            "",
            "",
            "",
        ),
        (text(r#"{"verb_key":"go"}"#), "", "go", "pack_id is missing"),
        (
            text(r#"{"pack_id":"echo"}"#),
            "echo",
            "",
            "verb_key is missing",
        ),
        (
            text(r#"{"pack_id":1,"verb_key":"go"}"#),
            "",
            "go",
            "pack_id",
        ),
        (
            text(r#"{"pack_id":null,"verb_key":"go"}"#),
            "",
            "go",
            "pack_id",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":["go"]}"#),
            "echo",
            "",
            "verb_key",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","args":null}"#),
            "echo",
            "go",
            "args",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","args":[]}"#),
            "echo",
            "go",
            "args",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","args":"a=b"}"#),
            "echo",
            "go",
            "args",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","arg":{}}"#),
            "echo",
            "go",
            "arg",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","confirm":true}"#),
            "echo",
            "go",
            "confirm",
        ),
        (
            text(r#"{"surface_id":"other","pack_id":"echo","verb_key":"go"}"#),
            "echo",
            "go",
            "differ",
        ),
        (
            text(r#"{"pack_id":"echo","pack_id":"echo","verb_key":"go"}"#),
            "",
            "go",
            "pack_id",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","\u0061rgs":{},"args":{}}"#),
            "echo",
            "go",
            "args",
        ),
        (
            text(r#"{"pack_id":"echo","verb_key":"go","args":{"a":[{"b":{"c":1,"c":1}}]}}"#),
            "echo",
            "go",
            "c",
        ),
        (
            b"{\"pack_id\":\"echo\",\"verb_key\":\"g\xffo\"}".to_vec(),
            "",
            "",
            "UTF-8",
        ),
        (
            b"\xef\xbb\xbf{\"pack_id\":\"echo\",\"verb_key\":\"go\"}".to_vec(),
            "",
            "",
            "",
        ),
        (deep(129), "echo", "go", "128"),
        (deep(10_000), "echo", "go", "128"),
        (
            format!("{good}{}", " ".repeat(MAX_BYTES + 1 - good.len())).into_bytes(),
            "",
            "",
            "1048576",
        ),
        (vec![b'['; 3 * MAX_BYTES], "", "", "1048576"),
    ]
}

#[test]
fn ill_formed_texts_are_answered_and_recorded_as_invalid() {
    let world = world();
    let mut told = Vec::new();
    for (bytes, pack, verb, part) in ill_formed() {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        let from_stdin = world.send(&bytes);
        let file = world.write("envelope.json", &bytes, 0o600);
        let from_file = world.exec(&["--envelope", file.to_str().unwrap()]);
        assert_eq!(from_stdin.stdout, from_file.stdout, "{shown}");
        for ran in [from_stdin, from_file] {
            check(&ran, &shown, (pack, verb, part));
            told.push(ran.envelope());
        }
    }
    let records = world.records_of("invalid");
    assert_eq!(records.len(), told.len());
    for (record, envelope) in records.iter().zip(&told) {
        assert_eq!(record["step"], Value::Null);
        assert_eq!(record["step_name"], Value::Null);
        assert_eq!(record["ok"], false);
        assert_eq!(record["error"], envelope["error"]);
        assert_eq!(record["pack_id"], envelope["pack_id"]);
        assert_eq!(record["verb_key"], envelope["verb_key"]);
    }
}

fn check(ran: &Ran, shown: &str, (pack, verb, part): (&str, &str, &str)) {
    let envelope = ran.envelope();
    let error = ran.error();
    assert!(error.starts_with("invalid envelope: "), "{shown}: {error}");
    assert!(error.contains(part), "{shown}: {error}");
    assert!(!error.contains('\n'), "{shown}: {error}");
    assert_eq!(envelope["pack_id"], pack, "{shown}: {error}");
    assert_eq!(envelope["verb_key"], verb, "{shown}: {error}");
    assert_eq!(ran.status, Some(2), "{shown}");
}

#[test]
fn well_formed_texts_are_judged() {
    let world = world();
    let good = r#"{"pack_id":"echo","verb_key":"go","args":{"text":"hi"}}"#;
    let padded = format!("{good}{}", " ".repeat(MAX_BYTES - good.len()));
    let cases = [
        good.to_owned(),
        r#"{"surface_id":"echo","verb_key":"go","args":{"text":"hi"}}"#.to_owned(),
        r#"{"surface_id":"echo","pack_id":"echo","verb_key":"go","args":{"text":"hi"}}"#.to_owned(),
        "{\n \"args\" : {\"text\" : \"h\\u0069\"},\n\t\"verb_key\":\"go\",\r\n \"pack_id\":\"ec\\u0068o\"}\n"
            .to_owned(),
        padded,
    ];
    for text in cases {
        let envelope = world.send(&text).envelope();
        let expected = json!({ "ok": true, "pack_id": "echo", "verb_key": "go", "result": "hi" });
        assert_eq!(envelope, expected, "{}", &text[..text.len().min(80)]);
    }
    // 128 levels are an envelope, and only then is the argument found to have no argv form.
    let value = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let deep = format!(r#"{{"pack_id":"echo","verb_key":"go","args":{{"text":{value}}}}}"#);
    let ran = world.send(&deep);
    assert_ne!(ran.status, Some(2), "{ran:?}");
    // Without args: the default is `{}`, and a token that renders empty is removed.
    let ran = world.send(r#"{"pack_id":"echo","verb_key":"go"}"#);
    assert_eq!(ran.result(), "--json");
    // Empty ids are ids that no pack and no verb has.
    let ran = world.send(r#"{"pack_id":"","verb_key":""}"#);
    assert_eq!(ran.error(), "unknown pack ");
    assert_eq!(ran.status, Some(3));
}

#[test]
fn an_envelope_that_cannot_be_read_is_a_wrong_command_line() {
    let world = world();
    let cases: [&[&str]; 5] = [
        &["exec", "--envelope", "no-such-file"],
        &["exec", "--envelope", "."],
        &["exec", "--envelope", "-", "echo", "go"],
        &["exec", "echo"],
        &["exec"],
    ];
    for words in cases {
        let ran = world.hcp(words);
        assert_eq!(ran.status, Some(2), "{words:?}");
        assert_eq!(ran.stdout, "", "{words:?}");
        assert!(
            ran.stderr.starts_with("error: "),
            "{words:?}: {}",
            ran.stderr
        );
    }
}

/// The ids of an envelope are told also where there is nothing to judge them by.
#[test]
fn without_a_home_the_answer_still_names_the_call() {
    let world = World::bare();
    let words = world.exec(&["echo", "go"]);
    let json = world.send(r#"{"surface_id":"echo","verb_key":"go"}"#);
    for ran in [words, json] {
        let envelope = ran.envelope();
        assert_eq!(envelope["pack_id"], "echo");
        assert_eq!(envelope["verb_key"], "go");
        assert!(ran.error().starts_with("store: "), "{envelope}");
        assert_eq!(ran.status, Some(70));
    }
    assert!(!world.home().exists(), "nothing is made by asking");
}
