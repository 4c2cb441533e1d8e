//! Warnings: each rule fires on what it is about, and a tidy pack has none.

use std::collections::BTreeSet;

use hcp_pack::{
    Format, Level, RULES, SourceFile, Warning, parse_manifest, read_manifest, rule, warnings,
    warnings_in,
};

use crate::{HEAD, toml};

const TIDY: &str = r#"
[wrap]
bin = "./tool"
[commands.go]
summary = "Go somewhere"
effect = "read"
cli = ["tool", "go", "{{to}}"]
args.to = { required = true }
examples.one = { args = { to = "x" }, argv = ["go", "x", "--json"] }
[policy.go]
capability = "tool:read"
"#;

fn rules(text: &str) -> Vec<&'static str> {
    let manifest = toml(&format!("{HEAD}{text}")).unwrap();
    warnings(&manifest)
        .iter()
        .map(|warning| warning.rule)
        .collect()
}

/// The warnings of a tidy pack with one part of it replaced, with their places.
fn with(from: &str, to: &str) -> Vec<Warning> {
    let text = format!("{HEAD}{TIDY}");
    assert!(text.contains(from), "{from}");
    let source = SourceFile {
        name: "packs/p/hcp.toml".to_owned(),
        text: text.replace(from, to),
        format: Format::Toml,
    };
    let manifest =
        parse_manifest(&source).unwrap_or_else(|error| panic!("{}", error.report(false)));
    let placed = warnings_in(&source, &manifest);
    let without: Vec<Warning> = placed
        .iter()
        .cloned()
        .map(|warning| Warning {
            place: None,
            ..warning
        })
        .collect();
    assert_eq!(without, warnings(&manifest));
    placed
}

fn shown_place(warning: &Warning) -> Option<String> {
    warning.place.as_ref().map(ToString::to_string)
}

#[test]
fn a_tidy_pack_has_none() {
    assert_eq!(rules(TIDY), [] as [&str; 0]);
}

/// Two lines of the tidy pack that say how it is called.
const CALL: &str = "cli = [\"tool\", \"go\", \"{{to}}\"]\nargs.to = { required = true }";

/// What is replaced by what, the rule that fires, its line and column, and how its texts begin.
const PLACED: &[(&str, &str, &str, &str, &str, &str)] = &[
    (
        "kind = \"wrap\"",
        "kind = \"wrapp\"",
        "unknown-kind",
        "5:8",
        "`wrapp` is no kind of Adapter that is known here",
        "did you mean `wrap`?",
    ),
    (
        "effect = \"read\"",
        "kind = \"zzz\"",
        "unknown-kind",
        "11:8",
        "`zzz` is no kind of Adapter",
        "write `wrap` for a program",
    ),
    (
        "required = true }",
        "required = true, schema = { type = \"string\", minimun = 1 } }",
        "unknown-schema-keyword",
        "13:58",
        "the schema of `to` of `go` says `minimun`, which is no keyword",
        "did you mean `minimum`?",
    ),
    (
        "effect = \"read\"",
        "result.items.nullable = true",
        "unknown-schema-keyword",
        "11:14",
        "the schema of the result of `go` says `nullable`",
        "remove it, or let it begin with `x-`",
    ),
    (
        CALL,
        "cli = [\"tool\", \"go\", \"--by={{by}}\"]\nargs.by.schema.type = [\"object\", \"null\"]",
        "object-without-form",
        "13:6",
        "`by` of `go` takes only objects, which have no argv form",
        "set `as = \"json\"`",
    ),
    (
        CALL,
        "cli = [\"tool\", \"go\", \"\", \"--to\", \"{{to}}\"]",
        "dangling-flag",
        "12:26",
        "`--to` of `go` stays when `to` is absent",
        "write `--to={{to}}`, or",
    ),
    (
        "cli = [\"tool\", ",
        "cli = [\"go\", ",
        "dropped-first-token",
        "12:8",
        "the `cli` of `go` begins with `go`, which is dropped unread",
        "its first token is the name of the tool: write `tool`",
    ),
    (
        "[policy.go]",
        "[commands.list]\nsummary = \"List\"\ncli = [\"tool\", \"list\"]\n\
         [policy.lst]\ncapability = \"tool:list\"\n[policy.go]",
        "policy-without-command",
        "18:9",
        "the Policy entry `lst` belongs to no command",
        "did you mean `list`?",
    ),
    (
        "\"{{to}}\"]",
        "\"--json\", \"{{to}}\"]",
        "json-flag-twice",
        "12:22",
        "`go` writes `--json`",
        "leave it out",
    ),
];

#[test]
fn warnings_have_their_place_and_say_what_to_do() {
    for (from, to, rule, place, message, hint) in PLACED {
        let found = with(from, to);
        let seen = found
            .iter()
            .find(|warning| warning.rule == *rule)
            .unwrap_or_else(|| panic!("{to}: {found:?}"));
        let place = format!("packs/p/hcp.toml:{place}");
        assert_eq!(shown_place(seen), Some(place), "{to}");
        assert!(seen.message.starts_with(message), "{}", seen.message);
        assert!(seen.hint.starts_with(hint), "{}", seen.hint);
    }
}

#[test]
fn what_only_looks_like_a_fault_is_not_warned_of() {
    let quiet: &[(&str, &str, &str)] = &[
        // Always there, with the flag or without a value of its own.
        ("\"{{to}}\"]", "\"--to\", \"{{to}}\"]", "dangling-flag"),
        (
            CALL,
            "cli = [\"tool\", \"--to\", \"{{to}}\"]\nargs.to.schema.default = \"x\"",
            "dangling-flag",
        ),
        (
            CALL,
            "cli = [\"tool\", \"go\", \"--\", \"{{to}}\"]",
            "dangling-flag",
        ),
        (
            CALL,
            "cli = [\"tool\", \"go\", \"--a=b\", \"{{to}}\"]",
            "dangling-flag",
        ),
        (
            CALL,
            "cli = [\"tool\", \"go\", \"--to={{to}}\"]",
            "dangling-flag",
        ),
        ("cli = [\"tool\"", "cli = [\"p\"", "dropped-first-token"),
        (
            "bin = \"./tool\"",
            "bin = \"./bin/tool.sh\"",
            "dropped-first-token",
        ),
        ("kind = \"wrap\"", "kind = \"mcp\"", "unknown-kind"),
        (
            "required = true }",
            "required = true, as = \"json\", schema.type = \"object\" }",
            "object-without-form",
        ),
        (
            "required = true }",
            "required = true, schema.type = [\"object\", \"string\"] }",
            "object-without-form",
        ),
        (
            "required = true }",
            "required = true, schema = { x-note = 1, properties.minimun = {} } }",
            "unknown-schema-keyword",
        ),
    ];
    for (from, to, rule) in quiet {
        let found = with(from, to);
        assert!(
            !found.iter().any(|warning| warning.rule == *rule),
            "{found:?}"
        );
    }
}

#[test]
fn manifests_in_json_have_places_too() {
    let manifest = toml(&format!("{HEAD}{TIDY}")).unwrap();
    let text = serde_json::to_string_pretty(&manifest).unwrap();
    let text = text.replacen("\"wrap\",", "\"wrapp\",", 1);
    let source = SourceFile {
        name: "hcp.json".to_owned(),
        text,
        format: Format::Json,
    };
    let found = warnings_in(&source, &parse_manifest(&source).unwrap());
    assert_eq!(found[0].rule, "unknown-kind");
    assert_eq!(shown_place(&found[0]).as_deref(), Some("hcp.json:6:11"));
}

#[test]
fn every_rule_fires_alone() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "[policy.go]",
            "[policy.og]",
            &["command-without-policy", "policy-without-command"],
        ),
        (
            "\"{{to}}\"]",
            "\"{{to}}\", \"--json\"]",
            &["json-flag-twice", "example-differs"],
        ),
        (
            "\"go\", \"{{to}}\"]",
            "\"-v\", \"{{to}}\"]",
            &["placeholder-behind-flags", "example-differs"],
        ),
        (
            "bin = \"./tool\"",
            "bin = \"./tool\"\nrendering = \"literal\"",
            &["literal-rendering"],
        ),
        (
            "bin = \"./tool\"",
            "bin = \"sh\"",
            &["bin-runs-programs", "dropped-first-token"],
        ),
        (
            "summary = \"Go somewhere\"",
            "summary = \" \"",
            &["empty-summary"],
        ),
        (
            "args = { to = \"x\" }",
            "args = { to = \"-x\" }",
            &["example-refused"],
        ),
        (
            "examples.one",
            "args.more = {}\nexamples.one",
            &["unused-argument"],
        ),
        (
            "required = true }",
            "required = true, schema.default = \"x\" }",
            &["required-with-default"],
        ),
        ("effect = \"read\"", "", &[]),
        ("effect = \"read\"", "bootstrap = true", &[]),
        ("effect = \"read\"\n", "effect = \"destructive\"\n", &[]),
    ];
    for (from, to, expected) in cases {
        assert!(TIDY.contains(from), "{from}");
        assert_eq!(rules(&TIDY.replace(from, to)), *expected, "{to}");
    }
    let confirm_off = |text: &str| rules(&format!("{text}confirm = false\n"));
    assert_eq!(confirm_off(TIDY), [] as [&str; 0]);
    assert_eq!(
        confirm_off(&TIDY.replace("\"read\"", "\"destructive\"")),
        ["destructive-without-confirm"]
    );
    assert_eq!(
        confirm_off(&TIDY.replace("effect = \"read\"", "bootstrap = true")),
        ["confirm-not-off"]
    );
    let example = "examples.one = { args = { to = \"x\" }, argv = [\"go\", \"x\", \"--json\"] }\n";
    assert_eq!(rules(&TIDY.replace(example, "")), ["no-examples"]);
    assert_eq!(rules("[wrap]\nbin = \"./tool\""), ["no-commands"]);
}

/// Warnings that are given where packs are added, not by the manifest alone.
const ELSEWHERE: [&str; 3] = [
    "bin-unavailable",
    "composite-leads-nowhere",
    "composite-refused",
];

#[test]
fn every_rule_is_explained_once() {
    let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len(), "an id stands twice");
    for rule in RULES {
        for text in [rule.what, rule.why, rule.mend] {
            assert!(
                text.len() > 10 && !text.ends_with('.'),
                "{}: {text}",
                rule.id
            );
        }
    }
    let sources = [
        include_str!("../../src/lint/mod.rs"),
        include_str!("../../src/lint/command.rs"),
        include_str!("../../src/lint/template.rs"),
    ]
    .concat();
    let written: BTreeSet<&str> = sources
        .split(['"', '\n'])
        .filter(|word| rule(word).is_some())
        .collect();
    assert!(written.len() > 10, "{written:?}");
    let listed: BTreeSet<&str> = RULES
        .iter()
        .filter(|rule| rule.level == Level::Warning && !ELSEWHERE.contains(&rule.id))
        .map(|rule| rule.id)
        .collect();
    assert_eq!(written, listed);
}

#[test]
fn every_fault_of_a_manifest_has_its_rule() {
    let wrap = "[wrap]\nbin = \"./t\"\n[commands.go]\nsummary = \"s\"\n";
    let cases = [
        (format!("{HEAD}x ="), "manifest-syntax"),
        (format!("{HEAD}x = 1"), "manifest-keys"),
        (HEAD.replace("hcp = 1", "hcp = 2"), "manifest-keys"),
        (format!("{HEAD}{wrap}"), "manifest-contradiction"),
        (
            format!("{HEAD}{wrap}cli = [\"t\", \"{{{{x}}}}\"]"),
            "pass-through",
        ),
    ];
    for (text, expected) in cases {
        let error = toml(&text).unwrap_err();
        assert_eq!(error.rule(), expected, "{error}");
        assert_eq!(rule(error.rule()).unwrap().level, Level::Error);
    }
    let folder = tempfile::tempdir().unwrap();
    let rule_of = || read_manifest(folder.path()).unwrap_err().rule();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    assert_eq!(rule_of(), "no-manifest");
    write("hcp.toml", &vec![b'#'; (1 << 20) + 1]);
    assert_eq!(rule_of(), "manifest-too-large");
    write("hcp.toml", b"\xff");
    assert_eq!(rule_of(), "manifest-not-text");
    write("hcp.json", b"{}");
    assert_eq!(rule_of(), "two-manifests");
}
