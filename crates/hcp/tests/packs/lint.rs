//! `hcp pack lint`: what it says, where, and with which exit status.

use std::os::unix::fs::symlink;

use crate::place::{DEMO, Place};

#[test]
fn findings_have_rule_level_and_place() {
    let place = Place::bare();
    place.demo("");
    let clean = place.ok(&["pack", "lint", "demo"]);
    assert_eq!(clean["findings"], serde_json::json!([]), "{clean}");
    assert_eq!(clean["pack_id"], "demo");

    let cases: &[(&str, &str, &str, &str, i32)] = &[
        (
            "effect = \"read\"",
            "efect = \"read\"",
            "manifest-keys",
            "error",
            1,
        ),
        (
            "\"--word={{word}}\"]",
            "\"fixed\"]",
            "unused-argument",
            "warning",
            0,
        ),
        (
            "[policy.show]",
            "[policy.shwo]",
            "command-without-policy",
            "warning",
            0,
        ),
        ("./bin/tool", "./bin/none", "bin-unavailable", "warning", 0),
        (
            "\"--word={{word}}\"",
            "\"--word={{wrd}}\"",
            "manifest-contradiction",
            "error",
            1,
        ),
        (
            "cli = [\"tool\", \"show\", ",
            "cli = [\"tool\", \"{{word}}\", ",
            "pass-through",
            "error",
            1,
        ),
    ];
    for (from, to, rule, level, status) in cases {
        assert!(DEMO.contains(from), "{from}");
        place.write("demo/hcp.toml", &DEMO.replace(from, to), 0o644);
        let ran = place.hcp(&["pack", "lint", "demo"]);
        let data = ran.json();
        let findings = data["findings"].as_array().unwrap();
        let first = findings
            .iter()
            .find(|finding| finding["rule"] == *rule)
            .unwrap_or(&findings[0]);
        assert_eq!(
            (first["rule"].as_str(), first["level"].as_str()),
            (Some(*rule), Some(*level)),
            "{data}"
        );
        assert_eq!(ran.status, Some(*status), "{data}");
        assert!(first["line"].is_number() || *level == "warning", "{data}");
        let explained = place.ok(&["pack", "lint", "--explain", rule]);
        assert_eq!(explained["level"], *level);
    }
}

#[test]
fn what_stands_in_the_folder_counts_as_well() {
    let place = Place::bare();
    place.demo("");
    symlink("/etc/passwd", place.path("demo/link")).unwrap();
    let ran = place.hcp(&["pack", "lint", "demo"]);
    assert_eq!(ran.json()["findings"][0]["rule"], "special-file");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn a_wrong_command_line_is_told() {
    let place = Place::bare();
    for (words, message) in [
        (&["pack", "lint", "none"][..], "`none` is not a folder"),
        (
            &["pack", "lint", "--explain", "pass-thru"],
            "did you mean `pass-through`?",
        ),
        (&["pack", "lint"], "required"),
    ] {
        let ran = place.hcp(words);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    assert!(!place.path("home").exists(), "lint needs no installation");
}
