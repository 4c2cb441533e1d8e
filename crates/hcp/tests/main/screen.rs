//! What people see: tables and colours on a terminal, and nothing that a tool, a pack or an agent
//! wrote that could steer it (case 29). The terminal is a real one, made by `script`.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{HCP, Ran, World, envelope, text};

/// What would clear a screen, turn text around, forge a line.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}gnp\u{2066}\u{9b}31m\rforged";

/// Runs a command of hcp with stdin, stdout and stderr on a terminal, and gives what it showed.
fn on_terminal(world: &World, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let quoted: Vec<String> = [HCP]
        .iter()
        .chain(words)
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    let mut command = Command::new("script");
    command
        .args(["-qec", &quoted.join(" "), "/dev/null"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .env("HCP_HOME", world.home())
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    Ran::of(command.output().unwrap())
}

/// That nothing but colours and line breaks is left of what could steer a terminal.
fn assert_tame(shown: &str, what: &str) {
    let mut rest = shown.replace("\r\n", "\n").replace("\u{4}\u{8}\u{8}", "");
    while let Some(at) = rest.find("\u{1b}[") {
        let end = rest[at..].find('m').map(|end| at + end);
        let is_color = end.is_some_and(|end| {
            rest[at + 2..end]
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b';')
        });
        assert!(is_color, "{what}: {shown:?}");
        rest.replace_range(at..=end.unwrap(), "");
    }
    let steers = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(rest.find(steers), None, "{what}: {shown:?}");
    assert!(
        !rest.lines().any(|line| line.starts_with("forged")),
        "{what}: {shown:?}"
    );
}

fn world() -> World {
    let pack = Pack::new("show")
        .tool("printf '%s' \"$2\" >&2; printf '%s' \"$2\"; exit 3")
        .command(
            "go",
            "effect = \"read\"\ncli = [\"show\", \"go\", \"{{text}}\"]",
        )
        .command("drop", "effect = \"destructive\"");
    World::with(&pack)
}

#[test]
fn a_terminal_gets_tables_and_a_pipe_gets_json() {
    let world = world();
    world.exec(&["show", "drop"]).error();
    let cases: [(&[&str], &str); 10] = [
        (&["pack", "list"], "PACK"),
        (&["pack", "show", "show"], "VERB"),
        (&["pack", "show", "show", "go"], "command"),
        (&["session", "list"], "SESSION"),
        (&["session", "show"], "session"),
        (&["grant", "list"], "CAPABILITY"),
        (&["principal", "list"], "PRINCIPAL"),
        (&["tenant", "list"], "TENANT"),
        (&["audit", "list"], "SEQ"),
        (&["status"], "standing"),
    ];
    for (words, part) in cases {
        let shown = on_terminal(&world, words, &[]);
        assert_eq!(shown.status, Some(0), "{words:?}: {}", shown.stdout);
        assert!(shown.stdout.contains(part), "{words:?}: {}", shown.stdout);
        assert!(
            serde_json::from_str::<Value>(&shown.stdout).is_err(),
            "{words:?}"
        );
        assert_tame(&shown.stdout, part);
        let json = on_terminal(&world, &[words, &["--json"]].concat(), &[]).json();
        if words != ["status"] {
            assert_eq!(json, world.ok(words), "{words:?}");
        }
    }
    // Empty lists say so, and on a pipe are empty arrays.
    assert!(
        on_terminal(&world, &["project", "list"], &[])
            .stdout
            .contains("no projects")
    );
    assert_eq!(world.ok(&["project", "list"]), json!([]));
    // Bare words stay bare.
    for words in [&["audit", "verify"][..], &["audit", "checkpoint"]] {
        let shown = on_terminal(&world, words, &[]).stdout.replace("\r\n", "\n");
        assert_eq!(shown, world.hcp(words).stdout);
    }
    // An envelope is an envelope, wherever it goes.
    let shown = on_terminal(&world, &["exec", "show", "drop"], &[]).stdout;
    let first = shown.lines().next().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(first).unwrap()["error"],
        "confirm required"
    );
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let world = world();
    let words = ["explain", "show", "drop"];
    let colored = |variables: &[(&str, &str)]| {
        on_terminal(&world, &words, variables)
            .stdout
            .contains("\u{1b}[")
    };
    assert!(colored(&[]));
    assert!(!colored(&[("NO_COLOR", "1")]));
    assert!(!colored(&[("TERM", "dumb")]));
    for words in [
        &["explain", "show", "drop"][..],
        &["pack", "show", "none"],
        &["frobnicate"],
        &["--help"],
    ] {
        let ran = world.hcp(words);
        assert!(
            !format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}'),
            "{words:?}"
        );
        let plain = on_terminal(&world, words, &[("NO_COLOR", "1")]);
        assert!(
            !plain.stdout.contains('\u{1b}'),
            "{words:?}: {:?}",
            plain.stdout
        );
    }
}

#[test]
fn hostile_text_of_arguments_tools_and_ids_is_shown_escaped() {
    let world = world();
    let with_value = format!("text={HOSTILE}");
    let cases: [&[&str]; 13] = [
        &["exec", "show", "go", "--", &with_value],
        &["exec", "-v", HOSTILE, HOSTILE],
        &["exec", "show", HOSTILE],
        &["exec", "show", "go", "--", HOSTILE],
        &["exec", "--session", HOSTILE, "show", "go"],
        &["explain", "show", "go", "--", &with_value],
        &["explain", HOSTILE, HOSTILE],
        &["activate", HOSTILE],
        &["pack", "show", "show", HOSTILE],
        &["pack", "add", HOSTILE],
        &["grant", "add", "me", HOSTILE],
        &["exec", "--envelope", HOSTILE],
        &[HOSTILE],
    ];
    for words in cases {
        let shown = on_terminal(&world, words, &[]);
        assert_tame(&shown.stdout, &format!("{words:?}"));
        // Also where it is not a terminal yet, what is meant for people is tame.
        assert_tame(&world.hcp(words).stderr, &format!("{words:?}"));
    }
    // The trail still holds the very bytes, one record is one line, and the list is tame.
    let shown = on_terminal(&world, &["audit", "list"], &[]);
    assert_tame(&shown.stdout, "audit list");
    let rows = shown
        .stdout
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(rows.count(), world.records().len());
    let records = world.records();
    assert!(records.iter().any(|record| record["pack_id"] == HOSTILE));
    for record in &records {
        let seq = record["seq"].to_string();
        assert_tame(
            &on_terminal(&world, &["audit", "show", &seq], &[]).stdout,
            "audit show",
        );
        let json = on_terminal(&world, &["audit", "show", &seq, "--json"], &[]);
        assert_tame(&json.stdout, "audit show --json");
        assert_eq!(json.json(), *record, "escaped, and the same");
    }
    // On a pipe the envelope holds what the tool wrote.
    let answer = world
        .send(envelope("show", "go", &json!({ "text": HOSTILE })))
        .envelope();
    assert_eq!(answer["error"], HOSTILE);
    // A log is for people too.
    let mut logged = world;
    logged.set("HCP_LOG", "trace");
    assert_tame(
        &logged.exec(&["show", "go", "--", &with_value]).stderr,
        "HCP_LOG",
    );
}

#[test]
fn hostile_text_of_a_pack_is_shown_escaped() {
    let world = World::new();
    let quoted = json!(HOSTILE).to_string().replace("\\u009b", "\u{9b}");
    let folder = world.author(&Pack::of_tool("evil", "echo '{}'"));
    let manifest = fs::read_to_string(folder.join("hcp.toml")).unwrap();
    for (from, to) in [
        (
            "summary = \"A pack of the tests\"",
            format!("summary = {quoted}"),
        ),
        ("summary = \"go\"", format!("summary = {quoted}")),
        ("version = \"0.1.0\"", format!("version = {quoted}")),
        ("id = \"evil\"", format!("id = {quoted}")),
        (
            "capability = \"evil:use\"",
            format!("capability = {quoted}"),
        ),
        ("effect = \"read\"", format!("effect = {quoted}")),
        ("hcp = 1\n", format!("hcp = 1\n{quoted} = 1\n")),
        ("hcp = 1\n", format!("hcp = 1\nodd{HOSTILE} = 1\n")),
        ("hcp = 1\n", format!("# {HOSTILE}\nhcp = ? # {HOSTILE}\n")),
        (
            "cli = [\"evil\", \"go\"]",
            format!("cli = [\"evil\", {quoted}]"),
        ),
    ] {
        assert!(manifest.contains(from), "{from}");
        fs::write(folder.join("hcp.toml"), manifest.replacen(from, &to, 1)).unwrap();
        for variables in [&[][..], &[("NO_COLOR", "1")]] {
            let added = on_terminal(&world, &["pack", "add", text(&folder)], variables);
            assert_tame(&added.stdout, &to);
            for words in [
                &["pack", "list"][..],
                &["pack", "show", "evil"],
                &["pack", "show", "evil", "go"],
                &["explain", "evil", "go"],
                &["audit", "list"],
            ] {
                assert_tame(&on_terminal(&world, words, variables).stdout, &to);
            }
        }
        world.hcp(&["pack", "remove", "evil"]);
    }
}
