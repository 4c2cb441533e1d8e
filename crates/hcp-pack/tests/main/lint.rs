//! Warnings: each rule fires on what it is about, and a tidy pack has none.

use hcp_pack::warnings;

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
        ("bin = \"./tool\"", "bin = \"nice\"", &["bin-runs-programs"]),
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
