//! Schemas cost no more than a call may wait for; those that could are refused with their pack.

use std::fmt::Write as _;

use crate::{pack, prepared, run, toml};

/// What is said about an argument with this schema, in TOML.
fn verdict(schema: &str) -> Result<(), String> {
    let text = pack(&format!(
        "cli = [\"t\", \"{{{{a}}}}\"]\n[commands.do.args.a.schema]\n{schema}"
    ));
    toml(&text).map(|_| ()).map_err(|error| error.to_string())
}

/// A schema with this many levels, each of them once more what the next one is, twice.
fn doubling(levels: usize) -> String {
    let mut text =
        format!("\"$ref\" = \"#/$defs/d0\"\n\"$defs\".d{levels} = {{ type = \"integer\" }}\n");
    for level in 0..levels {
        let next = format!("{{ \"$ref\" = \"#/$defs/d{}\" }}", level + 1);
        let _ = writeln!(text, "\"$defs\".d{level} = {{ anyOf = [{next}, {next}] }}");
    }
    text
}

#[test]
fn what_a_schema_unfolds_to_is_bounded() {
    assert_eq!(verdict(&doubling(5)), Ok(()));
    for levels in [40, 80] {
        let error = verdict(&doubling(levels)).unwrap_err();
        assert!(error.contains("more than 2000 schemas"), "{error}");
    }
    let wide = |count: usize| format!("anyOf = [{}]", "{ type = \"null\" }, ".repeat(count));
    assert_eq!(verdict(&wide(1_500)), Ok(()));
    assert!(verdict(&wide(2_500)).is_err());
    // Many values are not many schemas.
    let values: Vec<String> = (0..5_000).map(|value| value.to_string()).collect();
    assert_eq!(verdict(&format!("enum = [{}]", values.join(", "))), Ok(()));
}

#[test]
fn a_long_row_of_references_is_refused_before_it_fills_the_stack() {
    let mut text = "\"$ref\" = \"#/$defs/d0\"\n\"$defs\".d20000 = {}\n".to_owned();
    for level in 0..20_000 {
        let _ = writeln!(
            text,
            "\"$defs\".d{level}.\"$ref\" = \"#/$defs/d{}\"",
            level + 1
        );
    }
    let error = verdict(&text).unwrap_err();
    assert!(error.contains("more than 200 schemas deep"), "{error}");
}

#[test]
fn references_lead_on_and_never_back_or_out() {
    let cases = [
        ("\"$ref\" = \"#\"", "refers to itself by `#`"),
        ("allOf = [{ \"$ref\" = \"#\" }]", "refers to itself by `#`"),
        (
            "properties.enum.\"$ref\" = \"#\"",
            "refers to itself by `#`",
        ),
        (
            "\"$ref\" = \"#/%24defs/a\"\n\"$defs\".a.not.\"$ref\" = \"#/$defs/a\"",
            "refers to itself by `#/$defs/a`",
        ),
        ("\"$dynamicRef\" = \"#\"", "`$dynamicRef` has no place"),
        (
            "items.\"$recursiveRef\" = \"#\"",
            "`$recursiveRef` has no place",
        ),
        ("items.\"$id\" = \"x\"", "`$id` has no place"),
        (
            "\"$ref\" = \"#a\"\n\"$defs\".a.\"$anchor\" = \"a\"",
            "`$anchor` has no place",
        ),
        (
            "\"$id\" = \"http://a/\"\n\"$ref\" = \"http://a/#/$defs/a\"\n\"$defs\".a = {}",
            "refers to one that it does not hold",
        ),
        (
            "\"$ref\" = \"#/$defs/b\"",
            "refers to one that it does not hold",
        ),
    ];
    for (schema, expected) in cases {
        let error = verdict(schema).unwrap_err();
        assert!(error.contains(expected), "{schema}: {error}");
    }
    let command = prepared(
        "cli = [\"t\", \"{{a}}\"]\n[commands.do.args.a.schema]\n\"$ref\" = \"#/%24defs/a~1b\"\n\
         \"$defs\".\"a/b\".type = \"string\"",
    );
    assert_eq!(run(&command, r#"{"a":"x"}"#).unwrap(), ["x", "--json"]);
    assert!(run(&command, r#"{"a":1}"#).is_err());
}

#[test]
fn the_schema_of_a_result_is_bounded_too() {
    let text = format!("cli = [\"t\"]\n[commands.do.result]\n{}", doubling(40));
    let error = toml(&pack(&text)).unwrap_err().to_string();
    assert!(error.contains("more than 2000 schemas"), "{error}");
}
