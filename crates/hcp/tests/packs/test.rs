//! `hcp pack test`: what passes, what fails and why, and that it leaves nothing behind.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::place::{DEMO, HCP, Place, text};

/// The one example of the pack, as the report tells it.
fn tested(place: &Place) -> Value {
    let ran = place.hcp(&["pack", "test", "demo"]);
    let report = ran.json();
    let failed = report["failed"].as_u64().unwrap() > 0;
    assert_eq!(ran.status, Some(i32::from(failed)), "{report}");
    report["examples"][0].clone()
}

#[test]
fn an_example_passes_fails_or_is_skipped_for_a_reason() {
    let result = |schema: &str| {
        format!("[policy.show]\nconfirm = true\n@[commands.show.result]\n{schema}\n")
    };
    let gated =
        result("type = \"array\"\nminItems = 3").replace('@', "capability = \"demo:show\"\n");
    let narrow = result("type = \"object\"").replace('@', "capability = \"demo:show\"\n");
    let policy = "[policy.show]\ncapability = \"demo:show\"\n";
    let cases: &[(&str, &str, &str, &str)] = &[
        ("", "", "passed", ""),
        (policy, &gated, "passed", ""),
        (
            policy,
            &narrow,
            "failed",
            "its result must be an object, not an array",
        ),
        (policy, "", "skipped", "no Policy entry"),
        (
            policy,
            "[policy.show]\ncapability = \"demo:show\"\napproval = \"human\"\n",
            "skipped",
            "approval",
        ),
        (
            "\"--word=x\", \"--json\"]",
            "\"--word=y\"]",
            "failed",
            "argv is [\"show\",\"--word=x\",\"--json\"], and the example says",
        ),
        (
            "args = { word = \"x\" }",
            "args = { wurd = \"x\" }",
            "failed",
            "did you mean",
        ),
        (
            "./bin/tool",
            "./bin/none",
            "failed",
            "sandbox: bin \"./bin/none\" not found",
        ),
        (
            "bin = \"./bin/tool\"",
            "bin = \"./bin/fails\"",
            "failed",
            "no such word",
        ),
        (
            "bin = \"./bin/tool\"",
            "bin = \"./bin/fails\"\nsuccess = [4]",
            "passed",
            "",
        ),
        ("kind = \"wrap\"", "kind = \"http\"", "skipped", "adapter"),
        (
            "[commands.show]",
            "[binding]\nenv = [\"TOKEN\"]\n[commands.show]",
            "passed",
            "mock",
        ),
    ];
    for (from, to, outcome, detail) in cases {
        let place = Place::installed();
        place.demo("");
        place.write(
            "demo/bin/fails",
            "#!/bin/sh\necho no such word >&2\nexit 4\n",
            0o755,
        );
        assert!(DEMO.contains(from), "{from}");
        place.write("demo/hcp.toml", &DEMO.replace(from, to), 0o644);
        let example = tested(&place);
        assert_eq!(example["outcome"], *outcome, "{to}: {example}");
        assert!(
            example.to_string().contains(&detail.replace('"', "\\\"")),
            "{to}: {example}"
        );
    }
}

/// A pack whose verb reads, writes and remembers.
const FILES: &str = r#"
[sandbox]
state = true
[commands.copy]
summary = "Copy a file and count"
effect = "write"
cli = ["tool", "{{from}}", "{{to}}"]
args.from = { required = true, access = "read" }
args.to = { required = true, access = "write" }
examples.one = { args = { from = "data/in", to = "data/out" }, argv = ["data/in", "data/out", "--json"] }
[policy.copy]
capability = "demo:copy"
"#;

#[test]
fn paths_lie_in_a_copy_and_every_face_begins_anew() {
    let place = Place::installed();
    let head = DEMO.split("[commands.show]").next().unwrap();
    let head = head.replace(
        "bin = \"./bin/tool\"",
        "bin = \"./bin/tool\"\nsingle = true",
    );
    place.write("demo/hcp.toml", &format!("{head}{FILES}"), 0o644);
    place.write("demo/data/in", "\"text\"", 0o644);
    let tool = "#!/bin/sh\nset -e\nset -C\nread -r line <\"$1\" || :\necho \"$line\" >\"$2\"\n\
                echo x >>\"$HCP_CALL_STATE/count\"\nwhile read -r _; do n=$((n + 1)); done <\"$HCP_CALL_STATE/count\"\n\
                echo \"[$line,$n]\"\n";
    place.write("demo/bin/tool", tool, 0o755);
    let example = tested(&place);
    assert_eq!(example["outcome"], "passed", "{example}");
    assert_eq!(
        example["notes"],
        json!([]),
        "every face saw the same: {example}"
    );
    assert!(
        !place.path("demo/data/out").exists(),
        "the pack itself stays as it is"
    );
    let outside = FILES.replace("from = \"data/in\"", "from = \"/etc/passwd\"");
    let outside = outside.replace("[\"data/in\"", "[\"/etc/passwd\"");
    place.write("demo/hcp.toml", &format!("{head}{outside}"), 0o644);
    let example = tested(&place);
    assert_eq!(
        example["faults"][0],
        "args: from is outside what the operator opened"
    );
}

#[test]
fn faces_that_differ_are_a_fault_and_a_clock_is_none() {
    let place = Place::installed();
    place.demo("");
    let log = place.path("log");
    let counting = format!(
        "#!/bin/sh\necho x >>{log}\nwhile read -r _; do n=$((n + 1)); done <{log}\n",
        log = text(&log)
    );
    let tool = format!("{counting}[ $n = 2 ] && echo 2 || echo 1\n");
    place.write("demo/bin/tool", &tool, 0o755);
    let example = tested(&place);
    assert_eq!(example["outcome"], "failed", "{example}");
    assert!(
        example["faults"][0]
            .as_str()
            .unwrap()
            .contains("and envelope"),
        "{example}"
    );

    place.write("demo/bin/tool", &format!("{counting}echo $n\n"), 0o755);
    let example = tested(&place);
    assert_eq!(example["outcome"], "passed", "{example}");
    assert!(
        example["notes"][0]
            .as_str()
            .unwrap()
            .contains("differently every time")
    );
}

#[test]
fn what_a_command_line_cannot_say_is_noted() {
    let place = Place::installed();
    let nested = DEMO
        .replace(
            "schema = { type = \"string\" }",
            "schema = { type = \"object\" }\nas = \"json\"",
        )
        .replace("args = { word = \"x\" }", "args = { word = { a = 1 } }")
        .replace("\"--word=x\"", "'--word={\"a\":1}'");
    place.demo("");
    place.write("demo/bin/tool", "#!/bin/sh\necho 1\n", 0o755);
    place.write("demo/hcp.toml", &nested, 0o644);
    let example = tested(&place);
    assert_eq!(example["outcome"], "passed", "{example}");
    assert_eq!(
        example["notes"],
        json!(["`run` has no words for these arguments"])
    );
}

#[test]
fn the_operators_mode_holds_and_nothing_of_the_home_changes() {
    let place = Place::installed();
    place.demo("");
    let report = place.ok(&["pack", "test", "demo"]);
    assert_eq!(report["isolation"], "native-local");
    place.write("home/config.toml", "[sandbox]\nmode = \"sandbox\"\n", 0o600);
    let report = place.hcp(&["pack", "test", "demo"]).json();
    assert_eq!(report["isolation"], "sandbox");
    assert_eq!(place.ok(&["pack", "list"]), json!([]));
    assert_eq!(place.ok(&["audit", "list"]).as_array().unwrap().len(), 1);

    // And with no installation at all.
    fs::remove_dir_all(place.path("home")).unwrap();
    assert_eq!(place.ok(&["pack", "test", "demo"])["passed"], 1);
    assert!(!place.path("home").exists());
}

#[test]
fn the_installation_to_test_in_is_gone_afterwards() {
    let place = Place::bare();
    place.demo("");
    let mut command = Command::new(HCP);
    command
        .args(["pack", "test", "demo"])
        .current_dir(place.path(""));
    let child = command
        .env("HCP_HOME", place.path("home"))
        .stdout(std::process::Stdio::piped());
    let child = child.spawn().unwrap();
    let pid = child.id();
    assert!(child.wait_with_output().unwrap().status.success());
    let left: Vec<_> = fs::read_dir("/tmp")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.contains(&format!("-{pid}-")))
        .collect();
    assert_eq!(left, [] as [&str; 0]);
}

#[test]
fn junit_is_xml_whatever_a_tool_says() {
    let place = Place::installed();
    place.demo("");
    let tool = "#!/bin/sh\nprintf 'a<b>&\"c\\033[31m\\nd' >&2\nexit 1\n";
    place.write("demo/bin/tool", tool, 0o755);
    let ran = place.hcp(&["pack", "test", "demo", "--format", "junit"]);
    assert_eq!(ran.status, Some(1));
    let expected = "<testsuite name=\"demo\" tests=\"1\" failures=\"1\" skipped=\"0\">\n";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    let failure = "<failure message=\"a&lt;b&gt;&amp;&quot;c\u{fffd}[31m&#10;d\"/></testcase>";
    assert!(ran.stdout.contains(failure), "{}", ran.stdout);
    let table = place.hcp(&["pack", "test", "demo", "--format", "table"]);
    assert!(
        table
            .stdout
            .contains("demo: 0 passed, 1 failed, 0 skipped; run native-local")
    );
}

#[test]
fn a_pack_that_does_not_read_is_told_like_at_adding() {
    let place = Place::bare();
    place.demo("x = 1\n");
    let ran = place.hcp(&["pack", "test", "demo"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("unknown key"), "{ran:?}");
}
