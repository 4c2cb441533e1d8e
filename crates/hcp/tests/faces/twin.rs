//! §6.5: for equal arguments every face gives the same result, for every example of every pack of the
//! workspace and for envelopes that are made at random, right and wrong.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use hcp_spec::manifest::Manifest;
use serde_json::{Map, Value, json};

use crate::scene::Scene;
use crate::serving::Serving;

/// A way to make a call; each answers with the exact text of the envelope.
type Face<'a> = Box<dyn FnMut(&Value) -> String + 'a>;

const FACES: [&str; 6] = ["exec", "envelope", "stdio", "ids", "mcp", "hcp_exec"];

fn face<'a>(scene: &'a Scene, name: &str) -> Face<'a> {
    match name {
        "exec" => Box::new(|call| by_words(scene, call)),
        "envelope" => Box::new(|call| by_envelope(scene, call)),
        "stdio" => {
            let mut serving = Serving::start(scene, &["stdio"]);
            Box::new(move |call| {
                serving.send(call);
                serving.line().unwrap()
            })
        }
        "ids" => {
            let mut serving = Serving::start(scene, &["stdio", "--ids"]);
            Box::new(move |call| {
                serving.send(&json!({ "id": "i", "envelope": call }));
                let line = serving.line().unwrap();
                let inner = line.strip_prefix(r#"{"id":"i","envelope":"#).unwrap();
                inner.strip_suffix('}').unwrap().to_owned()
            })
        }
        "mcp" => {
            let mut serving = Serving::mcp(scene, &[]);
            Box::new(move |call| {
                let name = |key: &str| call[key].as_str().unwrap().replace([' ', '.'], "_");
                let tool = format!("{}__{}", name("pack_id"), name("verb_key"));
                by_tool(&mut serving, &tool, call.get("args").unwrap_or(&json!({})))
            })
        }
        _ => {
            let mut serving = Serving::mcp(scene, &["--tools", "search"]);
            Box::new(move |call| by_tool(&mut serving, "hcp_exec", call))
        }
    }
}

fn by_words(scene: &Scene, call: &Value) -> String {
    let word = |key: &str| call[key].as_str().unwrap().to_owned();
    let pairs = call
        .get("args")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let pairs = pairs.iter().map(|(name, value)| format!("{name}:={value}"));
    let output = scene
        .hcp()
        .args(["exec", &word("pack_id"), &word("verb_key"), "--"])
        .args(pairs)
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end_matches('\n')
        .to_owned()
}

fn by_envelope(scene: &Scene, call: &Value) -> String {
    let mut command = scene.hcp();
    command.args(["exec", "--envelope", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "{call}").unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end_matches('\n')
        .to_owned()
}

/// Calls a tool; the text of its result, which must be what its structure says.
fn by_tool(serving: &mut Serving, name: &str, args: &Value) -> String {
    let params = json!({ "name": name, "arguments": args });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    serving.send(&request);
    // As text: a result may hold escapes that no value can.
    let line = serving.line().unwrap();
    let answer: Called = serde_json::from_str(&line).unwrap();
    let structured = answer.result.structured_content.get().to_owned();
    let text = answer.result.content[0]["text"].as_str().unwrap();
    match answer.result.content.len() {
        1 => assert_eq!(text, structured),
        // Too long to be given as one text; what is given is how it begins.
        _ => assert!(structured.starts_with(text)),
    }
    structured
}

#[derive(serde::Deserialize)]
struct Called {
    result: CallResult,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: Vec<Value>,
    structured_content: Box<serde_json::value::RawValue>,
}

/// Packs of the workspace: folders with a manifest.
fn packs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![(root.join("examples"), 0), (root.join("packs"), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let is_pack = ["hcp.toml", "hcp.json"]
            .iter()
            .any(|name| folder.join(name).exists());
        if is_pack {
            found.push(folder);
        } else if depth < 3 {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(
                entries
                    .filter(|e| e.path().is_dir())
                    .map(|e| (e.path(), depth + 1)),
            );
        }
    }
    found.sort();
    found
}

/// Installs a copy of a pack; its own tool stands beside `hcp` when it is one of the workspace. Where
/// it was not built, every face must say so alike.
fn install(scene: &Scene, pack: &Path, id: &str) {
    let copy = scene.path(id);
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(pack)
        .arg(&copy)
        .status();
    assert!(copied.unwrap().success());
    let built = Path::new(env!("CARGO_BIN_EXE_hcp")).with_file_name(id);
    if built.is_file() {
        fs::create_dir_all(copy.join("bin")).unwrap();
        fs::copy(built, copy.join("bin").join(id)).unwrap();
        fs::set_permissions(copy.join("bin").join(id), fs::Permissions::from_mode(0o755)).unwrap();
    }
    scene.run(&["pack", "add", copy.to_str().unwrap()]);
    scene.run(&["activate", id]);
    scene.run(&["grant", "add", "me", &format!("{id}:*")]);
}

/// The examples of a pack as envelopes, confirmed and not.
fn examples(manifest: &Manifest) -> Vec<Value> {
    let mut calls = Vec::new();
    for (verb_key, command) in &manifest.commands {
        for example in command.examples.values() {
            let mut args = example.args.clone();
            let (pack_id, verb_key) = (manifest.id.as_str(), verb_key.as_str());
            calls.push(json!({ "pack_id": pack_id, "verb_key": verb_key, "args": args }));
            args.insert("confirm".to_owned(), json!(true));
            calls.push(json!({ "pack_id": pack_id, "verb_key": verb_key, "args": args }));
        }
    }
    calls
}

#[test]
fn every_example_of_every_pack_is_answered_alike_by_every_face() {
    let packs = packs();
    assert!(!packs.is_empty());
    for pack in packs {
        let manifest = hcp_pack::read_manifest(&pack).unwrap();
        let id = manifest.id.as_str();
        let calls = examples(&manifest);
        assert!(!calls.is_empty(), "{id}");
        let mut first: Option<Vec<String>> = None;
        for name in FACES {
            // A tool may keep state, so every face starts with an installation of its own.
            let scene = Scene::new();
            install(&scene, &pack, id);
            let mut ask = face(&scene, name);
            let answers: Vec<String> = calls.iter().map(|call| settled(&ask(call))).collect();
            match &first {
                None => first = Some(answers),
                Some(expected) => {
                    for (call, (answer, expected)) in calls.iter().zip(answers.iter().zip(expected))
                    {
                        assert_eq!(answer, expected, "{name}: {call}");
                    }
                }
            }
        }
    }
}

/// An answer without what the clock put in: digits of times and dates.
fn settled(answer: &str) -> String {
    let mut settled = String::new();
    for part in answer.split('"') {
        let is_time = part.len() >= 10
            && part.as_bytes().get(4) == Some(&b'-')
            && part.as_bytes().get(7) == Some(&b'-');
        settled.push_str(if is_time { "TIME" } else { part });
        settled.push('"');
    }
    settled
}

#[test]
fn generated_envelopes_are_answered_alike_by_every_face() {
    const COUNT: u64 = 500;
    let scene = Scene::new();
    let mut faces: Vec<(&str, Face<'_>)> = FACES.map(|name| (name, face(&scene, name))).into();
    let mut random = Random(0x5eed);
    let mut succeeded = 0;
    for number in 0..COUNT {
        let call = random.envelope();
        let expressible = |name: &str| match name {
            // A process for each call is slow, so some are enough.
            "envelope" => number % 10 == 0,
            "exec" => number % 10 == 0 && random_is_whole(&call),
            // The name of a tool says less than the key; only an installed pack tells which it was.
            "mcp" => random_is_whole(&call) && call["pack_id"] == "tool",
            _ => true,
        };
        let mut answers = Vec::new();
        for (name, ask) in faces.iter_mut().filter(|(name, _)| expressible(name)) {
            answers.push((*name, ask(&call)));
        }
        let (_, expected) = answers[0].clone();
        for (name, answer) in &answers {
            assert_eq!(*answer, expected, "{name}: {call}");
        }
        succeeded += u64::from(expected.starts_with(r#"{"ok":true"#));
    }
    assert!(
        (50..450).contains(&succeeded),
        "{succeeded} of {COUNT} succeeded"
    );
}

/// Whether words and a tool's name can say it at all.
fn random_is_whole(call: &Value) -> bool {
    let fields = call.as_object().unwrap();
    let known = |key: &String| ["pack_id", "verb_key", "args"].contains(&key.as_str());
    let text = |key: &str| call[key].as_str().is_some_and(|text| !text.is_empty());
    let args = call.get("args").is_none_or(Value::is_object);
    fields.keys().all(known) && text("pack_id") && text("verb_key") && args
}

/// A small generator of numbers, the same at every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.next(words.len() as u64)).unwrap()]
    }

    fn envelope(&mut self) -> Value {
        let mut call = Map::new();
        let alias = self.next(12) == 0;
        if self.next(25) > 0 {
            let pack = self.pick(&["tool", "tool", "tool", "tool", "tool", "tool", "gone"]);
            call.insert(
                if alias { "surface_id" } else { "pack_id" }.to_owned(),
                json!(pack),
            );
        }
        let verb = self.pick(&[
            "say", "say", "say", "fail", "repeat", "wipe all", "secret", "orphan", "no",
        ]);
        if self.next(25) > 0 {
            call.insert("verb_key".to_owned(), json!(verb));
        }
        let mut args = Map::new();
        match verb {
            "repeat" => args.insert("count".to_owned(), self.count()),
            "say" | "fail" if self.next(10) > 0 => args.insert("text".to_owned(), self.text()),
            _ => None,
        };
        if self.next(4) == 0 {
            let key = self.pick(&["confirm", "apply", "mode", "txet"]);
            let value = self.pick(&["true", "\"true\"", "1", "\"mock\"", "null"]);
            args.insert(key.to_owned(), serde_json::from_str(value).unwrap());
        }
        match self.next(20) {
            0 => drop(call.insert("args".to_owned(), json!(null))),
            1 => drop(call.insert("args".to_owned(), json!(["x"]))),
            2 => drop(call.insert("extra".to_owned(), json!(1))),
            _ => drop(call.insert("args".to_owned(), Value::Object(args))),
        }
        Value::Object(call)
    }

    fn count(&mut self) -> Value {
        let text = self.pick(&[
            "0",
            "3",
            "70000",
            "1.0",
            "1e1",
            "\"3\"",
            "true",
            "-1",
            "9007199254740993000",
        ]);
        serde_json::from_str(text).unwrap()
    }

    fn text(&mut self) -> Value {
        let texts = [
            "\"plain\"",
            "\"\"",
            "\"-x\"",
            "\"{\\\"n\\\":1e400,\\\"m\\\":1.10}\"",
            "\"[1,\\n 2]\"",
            "\"\\\"\\\\ud800\\\"\"",
            "\"x'; $(id) #\\n\\u0007\"",
            "\"\\u202eé€😀\"",
            "\"{{text}}\"",
            "\"{\\\"a\\\":1}\\nlog\"",
            "\"nul\\u0000\"",
            "12",
            "null",
            "{\"a\":1}",
            "[\"x\"]",
            "1e400",
        ];
        serde_json::from_str(self.pick(&texts)).unwrap()
    }
}
