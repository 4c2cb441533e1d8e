//! What `pack add` refuses and how it says so, and what it lets in with a warning (design §4, §6.7).

use std::fs;

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{World, text};

/// Adds a pack whose manifest is this text.
fn add(world: &World, manifest: &str) -> crate::world::Ran {
    let folder = world.author(&Pack::of_tool("raw", "echo '{}'"));
    fs::write(folder.join("hcp.toml"), manifest).unwrap();
    world.hcp(&["pack", "add", text(&folder)])
}

const GOOD: &str = r#"hcp = 1
id = "raw"
version = "0.1.0"
summary = "A pack of the tests"
kind = "wrap"
[wrap]
bin = "./bin/raw"
[commands.go]
summary = "Go"
effect = "read"
cli = ["raw", "go", "--n={{n}}"]
args.n = { schema = { type = "integer" } }
[policy.go]
capability = "raw:use"
"#;

#[test]
fn faults_of_a_manifest_are_told_with_their_place() {
    // What is replaced by what, and parts of the message.
    let cases: [(&str, &str, &[&str]); 23] = [
        (
            "summary = \"Go\"",
            "sumary = \"Go\"",
            &["hcp.toml:9:1", "sumary", "summary"],
        ),
        (
            "effect = \"read\"",
            "efect = \"read\"",
            &["hcp.toml:10:1", "efect", "effect"],
        ),
        (
            "effect = \"read\"",
            "effect = \"reads\"",
            &["hcp.toml:10:10", "reads", "read"],
        ),
        (
            "[policy.go]",
            "[polcy.go]",
            &["hcp.toml:13:2", "polcy", "policy"],
        ),
        ("capability = \"raw:use\"", "", &["capability"]),
        (
            "capability = \"raw:use\"",
            "capability = \"raw use\"",
            &["hcp.toml:14:14"],
        ),
        (
            "capability = \"raw:use\"",
            "capability = \"raw:*\"",
            &["hcp.toml:14:14"],
        ),
        ("version = \"0.1.0\"\n", "", &["version"]),
        ("id = \"raw\"\n", "", &["id"]),
        ("kind = \"wrap\"\n", "", &["kind"]),
        ("summary = \"A pack of the tests\"\n", "", &["summary"]),
        ("hcp = 1", "hcp = 2", &["hcp.toml:1"]),
        ("hcp = 1\n", "", &["hcp"]),
        ("bin = \"./bin/raw\"\n", "", &["bin"]),
        ("cli = [\"raw\", \"go\", \"--n={{n}}\"]\n", "", &["go"]),
        ("--n={{n}}", "--n={{m}}", &["m"]),
        ("--n={{n}}", "--n={{n", &["hcp.toml:11"]),
        (
            "\"go\", \"--n={{n}}\"",
            "\"{{verb}}\", \"--n={{n}}\"",
            &["verb"],
        ),
        ("type = \"integer\"", "type = \"intger\"", &["hcp.toml:12"]),
        ("[wrap]", "[wrap]\nenv = 1", &["hcp.toml:7:1", "env"]),
        (
            "[commands.go]",
            "[sandbox]\ntimeout = \"soon\"\n[commands.go]",
            &["hcp.toml:9:11"],
        ),
        (
            "[commands.go]",
            "[sandbox]\nnetwork = [\"host\"]\n[commands.go]",
            &["host"],
        ),
        ("hcp = 1", "hcp = = 1", &["hcp.toml:1:7"]),
    ];
    let world = World::new();
    for (from, to, parts) in cases {
        assert!(GOOD.contains(from), "{from}");
        let refused = add(&world, &GOOD.replacen(from, to, 1));
        assert_eq!(refused.status, Some(2), "{to}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{to}");
        let told = refused.stderr.replace(" --> ", " ");
        for part in parts {
            assert!(told.contains(part), "{to}: lacks {part}: {told}");
        }
    }
    assert_eq!(world.ok(&["pack", "list"]), json!([]));
    assert_eq!(add(&world, GOOD).status, Some(0));
}

#[test]
fn variables_that_a_pack_may_not_set() {
    for name in [
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "TERM",
        "NO_COLOR",
        "PAGER",
        "GIT_PAGER",
        "GIT_TERMINAL_PROMPT",
        "HCP_SANDBOX",
        "HCP_CALL_TENANT",
        "HCP_CALL_ANYTHING",
        "TRACEPARENT",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_X",
        "TOKEN",
        "A=B",
        "",
    ] {
        let world = World::new();
        let manifest = format!(
            "{GOOD}[wrap.agent_env]\n{} = \"x\"\n[binding]\nenv = [\"TOKEN\"]\n",
            json!(name)
        );
        let refused = add(&world, &manifest);
        assert_eq!(refused.status, Some(2), "{name}: {}", refused.stderr);
    }
}

#[test]
fn one_manifest_in_one_of_two_formats() {
    let world = World::new();
    let folder = world.author(&Pack::of_tool("raw", "printf json"));
    let value: Value = toml::from_str(GOOD).unwrap();
    fs::write(folder.join("hcp.json"), value.to_string()).unwrap();
    let both = world.hcp(&["pack", "add", text(&folder)]);
    assert_eq!(both.status, Some(2));
    assert!(
        both.stderr.contains("both `hcp.toml` and `hcp.json`"),
        "{}",
        both.stderr
    );
    fs::remove_file(folder.join("hcp.toml")).unwrap();
    world.ok(&["pack", "add", text(&folder)]);
    world.ok(&["activate", "raw"]);
    world.ok(&["grant", "add", "me", "raw:use"]);
    assert_eq!(world.exec(&["raw", "go", "--", "n=1"]).result(), "json");
    fs::remove_file(folder.join("hcp.json")).unwrap();
    let none = world.hcp(&["pack", "add", text(&folder)]);
    assert_eq!(none.status, Some(2));
    assert!(
        none.stderr.contains("neither `hcp.toml` nor `hcp.json`"),
        "{}",
        none.stderr
    );
    let broken = value.to_string().replacen("\"summary\"", "\"sumary\"", 1);
    fs::write(folder.join("hcp.json"), broken).unwrap();
    let told = world.hcp(&["pack", "add", text(&folder)]);
    assert!(told.stderr.contains("hcp.json:1:"), "{}", told.stderr);
}

#[test]
fn a_pass_through_is_refused_with_reason_and_mend() {
    let cases: [(&str, &str, &str, bool); 14] = [
        ("*", "cli = [\"raw\", \"go\"]", "", true),
        ("go", "cli = [\"raw\", \"{{sub}}\"]", "", true),
        ("go", "cli = [\"raw\", \"{{sub}}\", \"--x\"]", "", true),
        ("go", "cli = [\"raw\", \"{{sub}}\"]", "single = true", false),
        (
            "go",
            "cli = [\"raw\", \"{{sub}}\"]\nargs.sub = { schema = { enum = [\"a\", \"b\"] } }",
            "",
            false,
        ),
        ("go", "cli = [\"raw\", \"go\", \"{{sub}}\"]", "", false),
        (
            "go",
            "cli = [\"sh\", \"-c\", \"{{code}}\"]",
            "bin = \"sh\"",
            true,
        ),
        (
            "go",
            "cli = [\"bash\", \"-ec\", \"{{code}}\"]",
            "bin = \"/bin/bash\"",
            true,
        ),
        (
            "go",
            "cli = [\"python3\", \"-c\", \"{{code}}\"]",
            "bin = \"python3\"",
            true,
        ),
        (
            "go",
            "cli = [\"node\", \"-e\", \"{{code}}\"]",
            "bin = \"node\"",
            true,
        ),
        (
            "go",
            "cli = [\"env\", \"A=b\", \"{{program}}\"]",
            "bin = \"env\"",
            true,
        ),
        (
            "go",
            "cli = [\"xargs\", \"-n1\", \"{{program}}\"]",
            "bin = \"xargs\"",
            true,
        ),
        (
            "go",
            "cli = [\"sudo\", \"-n\", \"{{program}}\"]",
            "bin = \"sudo\"",
            true,
        ),
        (
            "go",
            "cli = [\"sh\", \"-c\", \"echo hello\"]",
            "bin = \"sh\"",
            false,
        ),
    ];
    for (at, (key, command, wrap, refused)) in cases.into_iter().enumerate() {
        let world = World::new();
        let pack = Pack::new("raw").command(key, &format!("effect = \"read\"\n{command}"));
        let pack = if wrap.contains("bin =") {
            pack.wrap(wrap)
        } else {
            pack.wrap_more(wrap)
        };
        let folder = world.author(&pack);
        let added = world.hcp(&["pack", "add", text(&folder)]);
        assert_eq!(
            added.status,
            Some(if refused { 2 } else { 0 }),
            "{at}: {}",
            added.stderr
        );
        if refused {
            assert!(
                added.stderr.contains("pass-through"),
                "{at}: {}",
                added.stderr
            );
            assert!(
                added.stderr.contains("hint") || added.stderr.contains("help"),
                "{at}: {}",
                added.stderr
            );
            assert_eq!(world.ok(&["pack", "list"]), json!([]));
        }
    }
}

#[test]
fn bootstrap_stands_alone_and_needs_confirm() {
    let bootstrap = "effect = \"read\"\nbootstrap = true\ncli = [\"raw\", \"{{sub}}\"]";
    let pack = Pack::new("raw")
        .wrap_more("json = []")
        .tool("printf %s \"$1\"")
        .governed(
            "any",
            bootstrap,
            "capability = \"raw:use\"\nconfirm = false",
        );
    let world = World::with(&pack);
    assert_eq!(
        world.exec(&["raw", "any", "--", "sub=x"]).error(),
        "confirm required"
    );
    let confirmed = world.exec(&["raw", "any", "--", "sub=x", "confirm=true"]);
    assert_eq!(confirmed.result(), "x");
    let second = World::new();
    let folder = second.author(&pack.command("named", "effect = \"read\""));
    let refused = second.hcp(&["pack", "add", text(&folder)]);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("bootstrap"), "{}", refused.stderr);
}

#[test]
fn a_command_without_policy_adds_and_is_refused_at_step_three() {
    let pack = Pack::new("half")
        .command("go", "effect = \"read\"")
        .ungoverned("bare", "");
    let world = World::with(&pack);
    world.exec(&["half", "go"]).result();
    for verb in ["bare", "none", "", "GO", "go "] {
        let ran = world.exec(&["half", verb, "--", "confirm=true"]);
        assert_eq!(ran.error(), format!("no policy for {verb}"));
        assert_eq!(ran.status, Some(3));
        assert_eq!(world.last_record()["step_name"], "resolve_policy");
    }
}

#[test]
fn a_manifest_larger_than_any_honest_one_is_refused() {
    let world = World::new();
    let padded = format!("{GOOD}\n# {}\n", "x".repeat(10 << 20));
    let refused = add(&world, &padded);
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.stderr.contains("hcp.toml` is over "),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.len() < 1000);
    let folder = world.path("packs/raw");
    fs::write(folder.join("hcp.toml"), b"hcp = 1\n\xff").unwrap();
    let refused = world.hcp(&["pack", "add", text(&folder)]);
    assert!(refused.stderr.contains("not UTF-8"), "{}", refused.stderr);
    let nested = format!(
        "{GOOD}\n[x]\ny = {}{}\n",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    assert_eq!(
        add(&world, &nested).status,
        Some(2),
        "deep nesting is no crash"
    );
}

/// An id is compared byte for byte; what merely looks like one is another.
#[test]
fn ids_that_only_look_alike_are_unknown_on_every_face() {
    let world = World::with(&Pack::of_tool("raw", "echo '{}'"));
    for id in [
        "rаw",
        "ｒａｗ",
        "RAW",
        "Raw",
        "raw ",
        " raw",
        "raw\u{200b}",
        "r\u{e0061}aw",
        "raẃ",
        "../raw",
        "raw/",
    ] {
        let words = world.exec(&[id, "go"]);
        assert_eq!(words.error(), format!("unknown pack {id}"));
        assert_eq!(words.status, Some(3));
        let json = world.send(crate::world::envelope(id, "go", &json!({})));
        assert_eq!(json.stdout, words.stdout);
        let explained = world.ok(&["explain", id, "go"]);
        assert_eq!(explained["steps"][0]["error"], format!("unknown pack {id}"));
        for command in [
            &["activate", id][..],
            &["pack", "show", id],
            &["pack", "remove", id],
        ] {
            let ran = world.hcp(command);
            assert_eq!(ran.status, Some(2), "{id}: {}", ran.stderr);
        }
        let refused = add(
            &World::new(),
            &GOOD.replacen("id = \"raw\"", &format!("id = {}", json!(id)), 1),
        );
        assert_eq!(refused.status, Some(2), "{id}: {}", refused.stderr);
    }
    for id in ["1a", "-a", "a_b", "a.b", &"a".repeat(65)] {
        let refused = add(
            &World::new(),
            &GOOD.replacen("id = \"raw\"", &format!("id = {}", json!(id)), 1),
        );
        assert_eq!(refused.status, Some(2), "{id}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("hcp.toml:2:6"),
            "{id}: {}",
            refused.stderr
        );
    }
    let longest = "a".repeat(64);
    let fine = add(
        &World::new(),
        &GOOD.replacen("id = \"raw\"", &format!("id = {}", json!(longest)), 1),
    );
    assert_eq!(fine.status, Some(0), "{}", fine.stderr);
}

#[test]
fn what_is_installed_is_shown() {
    let world = World::with(&Pack::of_tool("shown", "echo '{}'"));
    let listed = world.ok(&["pack", "list"]);
    assert_eq!(listed[0]["pack_id"], "shown");
    assert_eq!(listed[0]["digest"].as_str().unwrap().len(), 64);
    let shown = world.ok(&["pack", "show", "shown"]);
    assert_eq!(shown["commands"][0]["verb_key"], "go");
    assert_eq!(shown["commands"][0]["capability"], "shown:use");
    let near = world.hcp(&["pack", "show", "showm"]);
    assert_eq!(near.status, Some(2));
    assert!(
        near.stderr.contains("did you mean `shown`?"),
        "{}",
        near.stderr
    );
    let verb = world.hcp(&["pack", "show", "shown", "god"]);
    assert!(
        verb.stderr.contains("did you mean `go`?"),
        "{}",
        verb.stderr
    );
}
