//! From arguments to argv (§6.4, design §5), and what arguments may name outside (design §4), as
//! `explain` shows it and `exec` does it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{NATIVE, World, envelope, text};

/// A command, the arguments of one call, and the argv that must come of it, or a part of the refusal.
type Case = (
    &'static str,
    Value,
    Result<&'static [&'static str], &'static str>,
);

fn cases() -> Vec<Case> {
    let plain = "cli = [\"any\", \"go\", \"{{v}}\"]";
    let flag = "cli = [\"any\", \"go\", \"--v={{v}}\"]";
    let mixed = "cli = [\"any\", \"go\", \"{{a}}/{{b}}.json\"]";
    vec![
        (plain, json!({}), Ok(&["go", "--json"])),
        (plain, json!({ "v": null }), Ok(&["go", "--json"])),
        (plain, json!({ "v": "" }), Ok(&["go", "--json"])),
        (plain, json!({ "v": true }), Ok(&["go", "true", "--json"])),
        (plain, json!({ "v": 0.1 }), Ok(&["go", "0.1", "--json"])),
        (plain, json!({ "v": -5 }), Ok(&["go", "-5", "--json"])),
        (
            plain,
            json!({ "v": ["a", null, 1] }),
            Ok(&["go", "a,,1", "--json"]),
        ),
        (plain, json!({ "v": "a b" }), Ok(&["go", "a b", "--json"])),
        (
            plain,
            json!({ "v": "--output=/tmp/x" }),
            Err("begins with \"-\""),
        ),
        (plain, json!({ "v": "-" }), Err("begins with \"-\"")),
        (plain, json!({ "v": ["-x"] }), Err("begins with \"-\"")),
        (plain, json!({ "v": { "a": 1 } }), Err("v")),
        (plain, json!({ "w": 1 }), Err("w")),
        (flag, json!({}), Ok(&["go", "--json"])),
        (flag, json!({ "v": null }), Ok(&["go", "--json"])),
        (flag, json!({ "v": "" }), Ok(&["go", "--v=", "--json"])),
        (
            flag,
            json!({ "v": false }),
            Ok(&["go", "--v=false", "--json"]),
        ),
        (flag, json!({ "v": "-x" }), Ok(&["go", "--v=-x", "--json"])),
        (
            mixed,
            json!({ "a": "x", "b": "y" }),
            Ok(&["go", "x/y.json", "--json"]),
        ),
        (mixed, json!({ "a": "x" }), Err("missing")),
        (
            "cli = [\"any\", \"go\", \"--\", \"{{v}}\"]",
            json!({ "v": "--x" }),
            Ok(&["go", "--", "--x", "--json"]),
        ),
        (
            "cli = [\"any\", \"go\", \"{{v}}\"]\nargs.v = { dash = true }",
            json!({ "v": "-x" }),
            Ok(&["go", "-x", "--json"]),
        ),
        (
            "cli = [\"any\", \"go\", \"--v={{v}}\"]\nargs.v = { as = \"switch\" }",
            json!({ "v": true }),
            Ok(&["go", "--v", "--json"]),
        ),
        (
            "cli = [\"any\", \"go\", \"--v={{v}}\"]\nargs.v = { as = \"switch\" }",
            json!({ "v": false }),
            Ok(&["go", "--json"]),
        ),
        (
            "cli = [\"any\", \"go\", \"--v={{v}}\"]\nargs.v = { as = \"json\" }",
            json!({ "v": { "a": [1, "x"] } }),
            Ok(&["go", "--v={\"a\":[1,\"x\"]}", "--json"]),
        ),
        (
            "cli = [\"any\", \"go\", \"--v={{v}}\"]\nargs.v = { schema = { default = 7 } }",
            json!({}),
            Ok(&["go", "--v=7", "--json"]),
        ),
        (
            "cli = [\"any\", \"go\", \"--c={{confirm}}\", \"--m={{mode}}\"]",
            json!({ "confirm": true, "mode": "fast" }),
            Ok(&["go", "--c=true", "--m=fast", "--json"]),
        ),
    ]
}

#[test]
fn arguments_become_argv_or_are_refused() {
    let cases = cases();
    let pack = cases.iter().enumerate().fold(
        Pack::new("any").tool("shift 0; printf '['; for a; do printf '%s|' \"$a\"; done"),
        |pack, (at, (command, ..))| {
            pack.command(&format!("c{at}"), &format!("effect = \"read\"\n{command}"))
        },
    );
    let world = World::with(&pack);
    for (at, (command, args, expected)) in cases.iter().enumerate() {
        let ran = world.send(envelope("any", &format!("c{at}"), args));
        match expected {
            Ok(argv) => {
                let printed = format!("[{}|", argv.join("|"));
                assert_eq!(ran.result(), printed, "{command} {args}");
            }
            Err(part) => {
                let error = ran.error();
                assert!(error.starts_with("args: "), "{command} {args}: {error}");
                assert!(error.contains(part), "{command} {args}: {error}");
            }
        }
    }
}

#[test]
fn templates_of_the_pack_serve_every_verb() {
    let pack = Pack::new("tpl")
        .wrap_more("argv_template = [\"{{verb}}\", \"--v={{v}}\"]\njson = [\"-o\", \"json\"]")
        .section(
            "[commands.\"tpl.account list\"]\nsummary = \"x\"\neffect = \"read\"\n\
             [policy.\"tpl.account list\"]\ncapability = \"tpl:use\"\n\
             [commands.plain]\nsummary = \"x\"\neffect = \"read\"\n[policy.plain]\ncapability = \"tpl:use\"",
        );
    let world = World::with(&pack);
    for (verb, argv) in [
        (
            "tpl.account list",
            json!(["account", "list", "--v=1", "-o", "json"]),
        ),
        ("plain", json!(["plain", "--v=1", "-o", "json"])),
    ] {
        let explained = world.ok(&["explain", "tpl", verb, "--", "v=1"]);
        assert_eq!(explained["argv"], argv, "{explained}");
    }
}

/// What an argument names outside must lie within what the operator opened.
#[test]
fn resources_lie_within_what_the_operator_opened() {
    let world = World::new();
    for folder in ["open", "drop", "closed"] {
        fs::create_dir(world.path(folder)).unwrap();
        fs::write(world.path(folder).join("file"), folder).unwrap();
    }
    symlink(world.path("closed"), world.path("open/out")).unwrap();
    symlink("/etc/passwd", world.path("open/passwd")).unwrap();
    world.configure(&format!(
        "{NATIVE}read = [\"../open\"]\nwrite = [{}]\nnetwork = [\"example.org:443\"]\n",
        json!(text(&world.path("drop")))
    ));
    let take = |access: &str| {
        format!(
            "effect = \"read\"\ncli = [\"res\", \"go\", \"--v={{{{v}}}}\"]\nargs.v = {{ access = \"{access}\" }}"
        )
    };
    let pack = Pack::new("res")
        .command("read", &take("read"))
        .command("write", &take("write"))
        .command("connect", &take("connect"));
    world.install(&pack);
    let at = |name: &str| world.path(name).display().to_string();
    let cases = [
        ("read", at("open/file"), true),
        ("read", at("open"), true),
        ("read", at("drop/file"), true),
        ("read", at("closed/file"), false),
        ("read", at("open/../closed/file"), false),
        ("read", at("open/out/file"), false),
        ("read", at("open/passwd"), false),
        ("read", "/etc/passwd".to_owned(), false),
        ("read", String::new(), false),
        ("write", at("drop/file"), true),
        ("write", at("drop/new"), true),
        ("write", at("open/file"), false),
        ("write", at("drop/../closed/new"), false),
        ("connect", "example.org:443".to_owned(), true),
        ("connect", "example.org:80".to_owned(), false),
        ("connect", "example.org".to_owned(), false),
        ("connect", "evil.example.org:443".to_owned(), false),
        ("connect", "169.254.169.254:80".to_owned(), false),
    ];
    for (verb, value, inside) in cases {
        let ran = world.send(envelope("res", verb, &json!({ "v": value })));
        if inside {
            ran.result();
        } else {
            let outside = "args: v is outside what the operator opened";
            assert_eq!(ran.error(), outside, "{verb} {value}");
            assert_eq!(ran.status, Some(3));
        }
    }
    let explained = world.ok(&[
        "explain",
        "res",
        "read",
        "--",
        &format!("v={}", at("open/file")),
    ]);
    let resource = explained["resources"][0].as_str().unwrap();
    assert!(
        resource.starts_with("reads ") && resource.ends_with("open/file"),
        "{resource}"
    );
}

/// Case 6: what waits for a person ends by itself.
#[test]
fn nothing_waits_for_a_person() {
    let pack = Pack::new("asks")
        .tool(
            "case \"$1\" in\n\
             stdin) read line; echo \"read $?\";;\n\
             tty) (: </dev/tty) 2>/dev/null; echo \"tty $?\";;\n\
             pager) seq 1000 | ${PAGER-less} | tail -n 1;;\n\
             esac",
        )
        .section("[sandbox]\ntimeout = \"5s\"")
        .command("stdin", "effect = \"read\"")
        .command("tty", "effect = \"read\"")
        .command("pager", "effect = \"read\"");
    let world = World::with(&pack);
    assert_eq!(world.exec(&["asks", "stdin"]).result(), "read 1\n");
    assert_ne!(world.exec(&["asks", "tty"]).result(), "tty 0\n");
    assert_eq!(world.exec(&["asks", "pager"]).result(), 1000);
}
