//! Tools that misbehave, seen through the faces: each ends by itself, and each ending is told apart.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::scene::{Scene, is_alive};
use crate::serving::Serving;

/// A verb, what its tool does (with `$0` as a word to find its processes by), and the envelope's
/// answer without its ids.
const CASES: [(&str, &str, &str); 15] = [
    (
        "pipe",
        "cd \"$TMPDIR\"; mkfifo p; (while :; do echo c; sleep 1; done) >p & cat p",
        r#"{"ok":false,"error":"timed out after 2s"}"#,
    ),
    (
        "background",
        "sleep 30 & echo started",
        r#"{"ok":true,"result":"started\n"}"#,
    ),
    (
        "stdin",
        "cat; echo done",
        r#"{"ok":true,"result":"done\n"}"#,
    ),
    (
        "terminal",
        "echo x 2>/dev/null >/dev/tty || echo none",
        r#"{"ok":true,"result":"none\n"}"#,
    ),
    ("exit", "exit 4", r#"{"ok":false,"error":"exit 4"}"#),
    (
        "stderr",
        "echo why >&2; exit 4",
        r#"{"ok":false,"error":"why\n","stderr":"why\n"}"#,
    ),
    (
        "warned",
        "echo oh >&2; echo 1",
        r#"{"ok":true,"result":1,"stderr":"oh\n"}"#,
    ),
    (
        "signal",
        "kill -KILL $$",
        r#"{"ok":false,"error":"signal SIGKILL"}"#,
    ),
    (
        "forever",
        "sleep 30",
        r#"{"ok":false,"error":"timed out after 2s"}"#,
    ),
    (
        "bytes",
        "printf 'a\\377b'",
        "{\"ok\":true,\"result\":\"a\u{fffd}b\"}",
    ),
    (
        "log",
        "printf '{\"a\":1}\\nlog\\n'",
        r#"{"ok":true,"result":"{\"a\":1}\nlog\n"}"#,
    ),
    (
        "pretty",
        "printf '{\\n  \"a\" : 1.10,\\n  \"b\" : [ ]\\n}\\n'",
        r#"{"ok":true,"result":{"a":1.10,"b":[]}}"#,
    ),
    ("empty", ":", r#"{"ok":true,"result":""}"#),
    (
        "steering",
        "printf '\\033[2J\\342\\200\\256'; exit 0",
        "{\"ok\":true,\"result\":\"\\u001b[2J\u{202e}\"}",
    ),
    (
        "output",
        "head -c 3000000 /dev/zero",
        r#"{"ok":false,"error":"output over 1048576 bytes"}"#,
    ),
];

fn install(scene: &Scene) {
    let mut manifest =
        "hcp = 1\nid = \"cases\"\nversion = \"1\"\nsummary = \"Cases\"\nkind = \"wrap\"\n\
                        [wrap]\nbin = \"./bin/cases\"\njson = []\n\
                        [sandbox]\ntimeout = \"2s\"\noutput = \"1MiB\"\n"
            .to_owned();
    let mut tool = "#!/bin/sh\ncase $1 in\n".to_owned();
    for (verb, script, _) in CASES {
        manifest.push_str(&format!(
            "[commands.{verb}]\nsummary = \"x\"\neffect = \"read\"\ncli = [\"cases\", \"{verb}\"]\n\
             [policy.{verb}]\ncapability = \"cases:use\"\n"
        ));
        tool.push_str(&format!("{verb}) {script} ;;\n"));
    }
    tool.push_str("esac\n");
    let root = scene.path("cases");
    let bin = root.join("bin/cases");
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::write(root.join("hcp.toml"), manifest).unwrap();
    fs::write(&bin, tool).unwrap();
    fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).unwrap();
    scene.run(&["pack", "add", root.to_str().unwrap()]);
    scene.run(&["activate", "cases"]);
    scene.run(&["grant", "add", "me", "cases:use"]);
}

/// What an envelope says beside its ids and what a failed tool wrote to stdout.
fn essence(mut envelope: Value) -> Value {
    let fields = envelope.as_object_mut().unwrap();
    for field in ["pack_id", "verb_key", "stdout"] {
        fields.remove(field);
    }
    envelope
}

#[test]
fn tools_that_misbehave_end_and_are_told_apart_on_every_face() {
    let scene = Scene::new();
    install(&scene);
    let mut lines = Serving::start(&scene, &["stdio", "--ids"]);
    let mut mcp = Serving::mcp(&scene, &["--tools", "direct"]);
    // All at once, so that those that have to be waited for are waited for once.
    for (number, (verb, _, _)) in CASES.iter().enumerate() {
        let envelope = json!({ "pack_id": "cases", "verb_key": verb });
        lines.send(&json!({ "id": number, "envelope": envelope }));
        let params = json!({ "name": format!("cases__{verb}") });
        mcp.send(
            &json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params }),
        );
    }
    for _ in CASES {
        let (line, message) = (lines.receive(), mcp.receive());
        let result = &message["result"];
        for (answer, envelope) in [
            (&line, line["envelope"].clone()),
            (&message, result["structuredContent"].clone()),
        ] {
            let number = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
            let (verb, _, expected) = CASES[number];
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(essence(envelope), expected, "{verb}");
        }
        assert_eq!(
            result["isError"],
            json!(result["structuredContent"]["ok"] != true)
        );
    }
    assert!(!is_alive(&scene.home().join("packs")));
    assert_eq!(lines.finish(), (vec![], Some(0)));
    assert_eq!(mcp.finish(), (vec![], Some(0)));
    assert_eq!(fs::read_dir(scene.home().join("tmp")).unwrap().count(), 0);
}
