//! `k=v` words into JSON, without loss or not at all.

use hcp_pack::parse_pairs;
use hcp_spec::manifest::Command;
use proptest::prelude::*;
use serde_json::Value;

use crate::{pack, toml};

const TYPED: &str = r#"
cli = ["t"]
[commands.do.args]
s.schema = { type = "string" }
i.schema = { type = "integer" }
n.schema = { type = "number" }
b.schema = { type = "boolean" }
z.schema = { type = "null" }
o.schema = { type = "object" }
is.schema = { type = ["integer", "string"] }
bn.schema = { type = ["boolean", "null"] }
e.schema = { enum = [1, "x", true] }
a.schema = { type = "array", items = { type = "integer" } }
t.schema = { type = "array" }
f.as = "switch"
p.access = "read"
"#;

fn command() -> Command {
    toml(&pack(TYPED))
        .unwrap()
        .commands
        .swap_remove("do")
        .unwrap()
}

fn read(words: &[&str], command: Option<&Command>) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut stdin = || Ok("10\n".to_owned());
    parse_pairs(&words, command, &mut stdin)
        .map(|arguments| Value::Object(arguments).to_string())
        .map_err(|error| error.to_string())
}

#[test]
fn undeclared_texts_are_json_only_where_nothing_is_lost() {
    let cases = [
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
        ("10", "10"),
        ("-2.5", "-2.5"),
        ("0", "0"),
        ("1e+21", "1e+21"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
        ("-0", "\"-0\""),
        ("1.10", "\"1.10\""),
        ("007", "\"007\""),
        ("1e3", "\"1e3\""),
        ("+1", "\"+1\""),
        (".5", "\".5\""),
        ("1.", "\"1.\""),
        ("1e400", "\"1e400\""),
        ("0x10", "\"0x10\""),
        ("NaN", "\"NaN\""),
        ("Infinity", "\"Infinity\""),
        ("True", "\"True\""),
        (" 1", "\" 1\""),
        ("1 ", "\"1 \""),
        ("", "\"\""),
        ("a=b", "\"a=b\""),
        ("[1]", "\"[1]\""),
        ("@file", "\"@file\""),
        ("@", "\"@\""),
    ];
    for (text, value) in cases {
        let expected = format!("{{\"k\":{value}}}");
        assert_eq!(read(&[&format!("k={text}")], None), Ok(expected), "{text}");
    }
}

#[test]
fn declared_types_decide_or_refuse() {
    let command = command();
    let cases = [
        ("s=10", Ok(r#"{"s":"10"}"#)),
        ("s=true", Ok(r#"{"s":"true"}"#)),
        ("i=12345", Ok(r#"{"i":12345}"#)),
        ("i=-1", Ok(r#"{"i":-1}"#)),
        (
            "i=123456789012345678901",
            Ok(r#"{"i":123456789012345678901}"#),
        ),
        ("i=0x10", Err("\"i\" must be an integer")),
        ("i=1e3", Err("\"i\" must be an integer")),
        ("i= 1 ", Err("\"i\" must be an integer")),
        ("i=1_000", Err("\"i\" must be an integer")),
        ("i=1.0", Err("\"i\" must be an integer")),
        ("i=+1", Err("\"i\" must be an integer")),
        ("i=-0", Err("\"i\" must be an integer")),
        ("i=01", Err("\"i\" must be an integer")),
        ("i=", Err("\"i\" must be an integer")),
        ("i=null", Err("\"i\" must be an integer")),
        ("n=1.10", Ok(r#"{"n":1.10}"#)),
        ("n=1e3", Ok(r#"{"n":1e+3}"#)),
        ("n=1,5", Err("\"n\" must be a number")),
        ("n= 1", Err("\"n\" must be a number")),
        ("n=true", Err("\"n\" must be a number")),
        ("b=true", Ok(r#"{"b":true}"#)),
        ("b=yes", Err("\"b\" must be a boolean")),
        ("b=1", Err("\"b\" must be a boolean")),
        ("z=null", Ok(r#"{"z":null}"#)),
        ("z=", Err("\"z\" must be null")),
        ("is=1", Ok(r#"{"is":1}"#)),
        ("is=1.5", Ok(r#"{"is":"1.5"}"#)),
        ("bn=null", Ok(r#"{"bn":null}"#)),
        ("bn=x", Err("\"bn\" must be a boolean or null")),
        ("e=1", Ok(r#"{"e":1}"#)),
        ("e=true", Ok(r#"{"e":true}"#)),
        ("e=x", Ok(r#"{"e":"x"}"#)),
        ("e=2", Ok(r#"{"e":"2"}"#)),
        ("f=true", Ok(r#"{"f":true}"#)),
        ("f=on", Err("\"f\" must be a boolean")),
        ("p=10", Ok(r#"{"p":"10"}"#)),
        (
            "o={}",
            Err("\"o\" must be an object, which is written as name:=<json>"),
        ),
        ("o:={\"a\":1.10}", Ok(r#"{"o":{"a":1.10}}"#)),
        ("a=1", Ok(r#"{"a":[1]}"#)),
        ("a=x", Err("\"a\" must be an integer")),
        ("t=[1]", Ok(r#"{"t":["[1]"]}"#)),
        ("a:=[1,2]", Ok(r#"{"a":[1,2]}"#)),
        ("confirm=true", Ok(r#"{"confirm":true}"#)),
        ("confirm=yes", Ok(r#"{"confirm":"yes"}"#)),
    ];
    for (word, expected) in cases {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(read(&[word], Some(&command)), expected, "{word}");
    }
}

#[test]
fn words_of_other_forms_are_refused() {
    let command = command();
    let cases: [(&[&str], &str); 10] = [
        (&["word"], "\"word\" is not of the form name=value"),
        (&["=x"], "\"=x\" is not of the form name=value"),
        (&[":=1"], "\":=1\" is not of the form name=value"),
        (&["k=1", "k=1"], "\"k\" is given twice"),
        (&["k=1", "k:=1"], "\"k\" is given twice"),
        (&["a=1", "a:=[2]"], "\"a\" is given twice"),
        (&["a:=[2]", "a=1"], "\"a\" is given twice"),
        (
            &["k:=nope"],
            "\"k\" cannot be read: not JSON at byte 0: expected a value",
        ),
        (
            &["k:={\"a\":1,\"a\":2}"],
            "\"k\" cannot be read: key \"a\" is given twice in one object",
        ),
        (
            &["k=@-", "l=@-"],
            "\"l\" cannot have stdin as well, \"k\" takes it already",
        ),
    ];
    for (words, expected) in cases {
        assert_eq!(
            read(words, Some(&command)),
            Err(expected.to_owned()),
            "{words:?}"
        );
    }
}

#[test]
fn elements_repeat_and_stdin_is_text() {
    let command = command();
    let both = |words: &[&str]| read(words, Some(&command));
    assert_eq!(
        both(&["a=1", "k=2", "a=3"]).unwrap(),
        r#"{"a":[1,3],"k":2}"#
    );
    assert_eq!(both(&["k=@-"]).unwrap(), r#"{"k":"10\n"}"#);
    assert_eq!(both(&["s=@-"]).unwrap(), r#"{"s":"10\n"}"#);
    assert_eq!(both(&["i=@-"]).unwrap_err(), "\"i\" must be an integer");
    assert_eq!(both(&["k:=\"@-\""]).unwrap(), r#"{"k":"@-"}"#);
    let mut broken = || Err(std::io::Error::other("closed\nthere"));
    let error = parse_pairs(&["k=@-".to_owned()], None, &mut broken).unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"k\" cannot be read from stdin: closed there"
    );
    let mut asked = 0;
    let mut counting = || {
        asked += 1;
        Ok(String::new())
    };
    parse_pairs(&["k=@x".to_owned()], None, &mut counting).unwrap();
    assert_eq!(asked, 0);
}

proptest! {
    #[test]
    fn what_is_read_renders_as_the_very_text(text in "[-+.0-9eEtrufalsn x]{0,10}") {
        let args = read(&[&format!("k={text}")], None).unwrap();
        let command = crate::prepared("cli = [\"t\", \"--k={{k}}\"]");
        let argv = crate::run(&command, &args).unwrap();
        if text == "null" {
            prop_assert_eq!(argv, ["--json"]);
        } else {
            prop_assert_eq!(&argv[0], &format!("--k={text}"));
        }
    }
}
