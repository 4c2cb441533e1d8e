//! `hcp mcp`: tools, results, cancelling, changes, long results, search, and hostile clients.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::scene::{Scene, eventually, is_alive, peak_memory};
use crate::serving::Serving;

#[test]
fn tools_tell_what_a_command_takes_and_does() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let listed = serving.ask(json!(1), "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "tool__say",
            "tool__sleep",
            "tool__fail",
            "tool__repeat",
            "tool__wipe_all",
            "tool__secret"
        ]
    );
    assert_eq!(
        tools[0]["description"],
        "Print a text\nEffect: read. Gate: none."
    );
    assert_eq!(
        tools[0]["inputSchema"],
        json!({
            "type": "object",
            "properties": { "text": { "type": "string", "description": "what to print" } },
            "required": ["text"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        tools[0]["outputSchema"]["required"],
        json!(["ok", "pack_id", "verb_key"])
    );
    assert_eq!(
        tools[0]["annotations"],
        json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false })
    );
    assert_eq!(
        tools[4]["description"],
        "Lose everything\nEffect: destructive. Gate: confirm=true."
    );
    assert_eq!(
        tools[4]["inputSchema"]["properties"]["confirm"]["type"],
        "boolean"
    );
    assert_eq!(tools[4]["annotations"]["destructiveHint"], true);
    let secret = tools[5]["description"].as_str().unwrap();
    assert!(secret.contains("Not granted"), "{secret}");
}

#[test]
fn every_refusal_is_a_result_that_an_agent_can_branch_on() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let cases = [
        (
            "tool__say",
            json!({ "text": "{\"n\":9007199254740993}" }),
            None,
        ),
        ("tool__wipe_all", json!({}), Some("confirm required")),
        (
            "tool__wipe_all",
            json!({ "confirm": "true" }),
            Some("confirm required"),
        ),
        ("tool__wipe_all", json!({ "apply": true }), None),
        (
            "tool__secret",
            json!({}),
            Some("denied: missing hidden:use for tool.secret"),
        ),
        ("tool__orphan", json!({}), Some("no policy for orphan")),
        ("tool__nothing", json!({}), Some("no policy for nothing")),
        ("gone__x", json!({}), Some("unknown pack gone")),
        ("tool__say", json!({}), Some("args: missing \"text\"")),
        (
            "tool__say",
            json!([]),
            Some("invalid envelope: args must be an object, not an array"),
        ),
        (
            "nonsense",
            json!({}),
            Some("invalid envelope: `nonsense` is not a tool: <pack>__<verb>"),
        ),
        ("tool__fail", json!({ "text": "why" }), Some("why")),
        (
            "hcp_exec",
            json!({ "pack_id": "tool", "verb_key": "secret" }),
            Some("denied: missing hidden:use for tool.secret"),
        ),
        (
            "hcp_exec",
            json!({ "pack_id": "tool" }),
            Some("invalid envelope: verb_key is missing"),
        ),
    ];
    for (name, args, error) in cases {
        let result = serving.call(name, &args);
        let envelope = &result["structuredContent"];
        match error {
            None => assert_eq!(envelope["ok"], true, "{name} {args}: {result}"),
            Some(error) => assert_eq!(envelope["error"], error, "{name} {args}"),
        }
        assert_eq!(result["isError"], error.is_some(), "{name} {args}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, *envelope);
        assert!(result["_meta"]["hcp/audit_seq"].is_u64(), "{result}");
    }
}

#[test]
fn results_go_out_as_the_tool_wrote_them() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let written = r#"{"a":1e400,"b":1.10,"c":9007199254740993,"d":"\ud800\u0041","e":{"$serde_json::private::Number":"1"}}"#;
    let params = json!({ "name": "tool__say", "arguments": { "text": written } });
    serving.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    let line = serving.line().unwrap();
    let structured = format!(
        r#""structuredContent":{{"ok":true,"pack_id":"tool","verb_key":"say","result":{written}}}"#
    );
    assert!(line.contains(&structured), "{line}");
}

#[test]
fn arguments_are_read_as_strictly_as_an_envelope() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let large = "x".repeat((1 << 20) + 100);
    let huge = "x".repeat(3 << 20);
    let cases = [
        (
            r#"{"text":"a","text":"b"}"#.to_owned(),
            "key \"text\" is given twice in one object",
        ),
        (
            format!(r#"{{"text":{deep}}}"#),
            "nested deeper than 128 levels",
        ),
        (format!(r#"{{"text":"{large}"}}"#), "over 1048576 bytes"),
        (format!(r#"{{"text":"{huge}"}}"#), "over 1048576 bytes"),
    ];
    for (args, reason) in cases {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"tool__say","arguments":{args}}}}}"#
        );
        serving.write(line.as_bytes());
        serving.write(b"\n");
        let answer = serving.receive();
        let envelope = &answer["result"]["structuredContent"];
        assert_eq!(
            envelope["error"],
            format!("invalid envelope: {reason}"),
            "{answer}"
        );
        assert_eq!(answer["id"], 9);
    }
    let number = json!({ "$serde_json::private::Number": "1" });
    let refused = serving.call("tool__say", &json!({ "text": number }));
    assert_eq!(
        refused["structuredContent"]["error"],
        "args: \"text\" must be a string, not an object"
    );
}

#[test]
fn a_cancel_ends_the_tree_and_is_nothing_for_an_id_that_ended() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let mark = scene.path("mark");
    let cancel = |id: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let call = |name: &str, args: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": name, "arguments": args } });
    serving.send(&call(
        "tool__sleep",
        json!({ "seconds": "50", "mark": mark }),
    ));
    eventually("the sleep", || mark.exists());
    serving.send(&cancel(json!("unknown")));
    serving.send(&cancel(json!(7)));
    serving.send(&cancel(json!(7)));
    // The id is used again while the first call is still being ended: the answer is the second's.
    serving.send(&call("tool__say", json!({ "text": "second" })));
    assert_eq!(
        serving.receive()["result"]["structuredContent"]["result"],
        "second"
    );
    serving.send(&cancel(json!(7)));
    eventually("the end of the sleep", || !is_alive(&mark));
    serving.send(&call("tool__say", json!({ "text": "third" })));
    assert_eq!(
        serving.receive()["result"]["structuredContent"]["result"],
        "third"
    );
    assert_eq!(serving.finish(), (vec![], Some(0)));
    let trail = scene.run(&["audit", "list", "--json"]);
    assert_eq!(trail.matches("\"cancelled\"").count(), 1, "{trail}");
}

#[test]
fn a_signal_and_a_client_that_is_gone_end_what_runs() {
    let scene = Scene::new();
    let mark = scene.path("mark");
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "tool__sleep", "arguments": { "seconds": "50", "mark": mark } },
    });
    for gone in [false, true] {
        let mut serving = Serving::mcp(&scene, &[]);
        serving.send(&call);
        eventually("the sleep", || mark.exists());
        if gone {
            serving.close_input();
            serving.close_output();
        } else {
            serving.signal("-TERM");
            assert_eq!(
                serving.receive()["result"]["structuredContent"]["error"],
                "cancelled"
            );
        }
        assert_eq!(serving.wait(), Some(130));
        assert!(!is_alive(&mark));
        fs::remove_file(&mark).unwrap();
    }
}

#[test]
fn an_end_of_input_lets_calls_finish() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let args = json!({ "seconds": "0.3", "mark": scene.path("mark") });
    let params = json!({ "name": "tool__sleep", "arguments": args });
    serving.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    let (lines, status) = serving.finish();
    assert_eq!((lines.len(), status), (1, Some(0)));
    assert!(lines[0].contains("slept"), "{lines:?}");
}

#[test]
fn a_long_result_is_cut_at_a_character_and_read_in_ranges() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let result = serving.call("tool__repeat", &json!({ "count": 300_000 }));
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 3, "{}", content.len());
    assert_eq!(content[0]["text"].as_str().unwrap().len(), 64 << 10);
    let notice = content[1]["text"].as_str().unwrap();
    assert!(notice.contains("65536 of"), "{notice}");
    let uri = content[2]["uri"].as_str().unwrap();
    let whole = result["structuredContent"].to_string();
    let (mut joined, mut offset) = (String::new(), 0_u64);
    while offset < whole.len() as u64 {
        let part = json!({ "uri": format!("{uri}?offset={offset}&length=100000") });
        let answer = serving.ask(json!("read"), "resources/read", &part);
        let part = &answer["result"]["contents"][0];
        joined.push_str(part["text"].as_str().unwrap());
        offset = part["_meta"]["hcp/end"].as_u64().unwrap();
    }
    assert_eq!(joined, whole);
    let missing = serving.ask(
        json!("read"),
        "resources/read",
        &json!({ "uri": "hcp://results/99" }),
    );
    assert!(
        missing["error"]["message"]
            .as_str()
            .unwrap()
            .contains("hcp://results/99")
    );
}

#[test]
fn a_client_is_told_when_the_tools_change() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    assert_eq!(serving.names_of_tools().len(), 6);
    let changes: [&dyn Fn(); 4] = [
        &|| drop(scene.run(&["grant", "add", "me", "hidden:use"])),
        &|| {
            scene.write_config(
                "[sandbox]\nmode = \"native-local\"\n[policy.\"tool.say\"]\nconfirm = true\n",
            );
        },
        &|| drop(scene.run(&["deactivate", "tool"])),
        &|| drop(scene.run(&["activate", "tool"])),
    ];
    for change in changes {
        change();
        let told = serving.receive();
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
    let listed = serving.ask(json!(1), "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(
        tools[0]["description"],
        "Print a text\nEffect: read. Gate: confirm=true."
    );
    assert_eq!(
        tools[5]["description"],
        "Needs what nobody was granted\nEffect: read. Gate: none."
    );
}

#[test]
fn many_commands_are_searched_instead_of_listed() {
    let scene = Scene::new();
    let mut manifest =
        "hcp = 1\nid = \"many\"\nversion = \"1\"\nsummary = \"Many\"\nkind = \"wrap\"\n\
                        [wrap]\nbin = \"./bin/tool\"\njson = []\n"
            .to_owned();
    for number in 0..40 {
        manifest.push_str(&format!(
            "[commands.verb{number}]\nsummary = \"Paint a picture number {number}\"\neffect = \"read\"\n\
             cli = [\"tool\", \"say\", \"{{{{colour}}}}\"]\n[policy.verb{number}]\ncapability = \"many:use\"\n"
        ));
    }
    scene.add_pack("many", &manifest);
    scene.run(&["activate", "many"]);
    let three = ["hcp_search", "hcp_describe", "hcp_exec"];
    let mut serving = Serving::mcp(&scene, &[]);
    assert_eq!(serving.names_of_tools(), three);
    assert_eq!(
        Serving::mcp(&scene, &["--tools", "direct"])
            .names_of_tools()
            .len(),
        46
    );
    assert_eq!(
        Serving::mcp(&scene, &["--tools", "search"]).names_of_tools(),
        three
    );
    let found = |serving: &mut Serving, query: &str| -> Vec<String> {
        let result = serving.call("hcp_search", &json!({ "query": query, "limit": 3 }));
        let commands = result["structuredContent"]["commands"]
            .as_array()
            .unwrap()
            .clone();
        commands
            .iter()
            .map(|one| one["verb_key"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(found(&mut serving, "picture 17")[0], "verb17");
    assert_eq!(found(&mut serving, "lose EVERYTHING"), ["wipe all"]);
    assert!(found(&mut serving, "zebra").is_empty());
    let described = serving.call(
        "hcp_describe",
        &json!({ "pack_id": "tool", "verb_key": "say" }),
    );
    let schema = &described["structuredContent"]["args_schema"];
    assert_eq!(schema["required"], json!(["text"]), "{described}");
    let unknown = serving.call(
        "hcp_describe",
        &json!({ "pack_id": "tool", "verb_key": "orphan" }),
    );
    assert_eq!(unknown["isError"], true);
    let done = serving.call(
        "hcp_exec",
        &json!({ "pack_id": "tool", "verb_key": "say", "args": { "text": "x" } }),
    );
    assert_eq!(done["structuredContent"]["result"], "x");
}

#[test]
fn hostile_framing_is_refused_in_bounded_memory() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let mut input = serving.take_input();
    let pid = serving.pid();
    let writer = std::thread::spawn(move || {
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..256 {
            input.write_all(&chunk).unwrap();
        }
        input.write_all(b"\n\xff\xfe\n[]\n{}\n\n").unwrap();
        for id in 0..100_000 {
            writeln!(
                input,
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"
            )
            .unwrap();
        }
        input.write_all(b"{\"jsonrpc\":").unwrap();
        let peak = peak_memory(pid);
        assert!(peak < 100 << 20, "{peak} bytes");
    });
    let (mut errors, mut pongs) = (0, 0);
    while pongs < 100_000 {
        let message = serving.receive();
        errors += usize::from(message.get("error").is_some());
        pongs += usize::from(message.get("result").is_some());
    }
    writer.join().unwrap();
    let (rest, status) = serving.finish();
    errors += rest.len();
    assert_eq!((errors, status), (5, Some(0)), "{rest:?}");
}

#[test]
fn a_long_call_tells_its_progress() {
    let scene = Scene::new();
    let mut serving = Serving::mcp(&scene, &[]);
    let args = json!({ "seconds": "1.3", "mark": scene.path("mark") });
    let params =
        json!({ "name": "tool__sleep", "arguments": args, "_meta": { "progressToken": "p" } });
    serving.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    let told = serving.receive();
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(told["params"]["progressToken"], "p");
    assert_eq!(serving.receive()["id"], 1);
}
