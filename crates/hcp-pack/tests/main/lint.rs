//! Warnings: each rule fires on what it is about, and a tidy pack has none.

use std::collections::BTreeSet;

use hcp_pack::{Level, RULES, read_manifest, rule, warnings};

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

#[test]
fn a_tidy_pack_has_none() {
    assert_eq!(rules(TIDY), [] as [&str; 0]);
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
        ("bin = \"./tool\"", "bin = \"sh\"", &["bin-runs-programs"]),
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
    let source = include_str!("../../src/lint.rs");
    let written: BTreeSet<&str> = source
        .split("warning(\n")
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
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
