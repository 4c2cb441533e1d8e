//! `hcp connect` and `hcp skill`: what they write, and that it works.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::scene::Scene;

fn connect(scene: &Scene, words: &[&str]) -> Output {
    let user = scene.path("user");
    fs::create_dir_all(&user).unwrap();
    let mut command = scene.hcp();
    command
        .arg("connect")
        .args(words)
        .current_dir(&user)
        .env("HOME", &user);
    command.output().unwrap()
}

#[test]
fn every_client_gets_an_entry_that_works() {
    let scene = Scene::new();
    let here = scene.path("user").display().to_string();
    let local = ["projects", &here, "mcpServers", "hcp"];
    let cases: [(&[&str], &str, &[&str]); 8] = [
        (&["claude"], ".claude.json", &local),
        (
            &["claude", "--scope", "user"],
            ".claude.json",
            &["mcpServers", "hcp"],
        ),
        (
            &["claude", "--scope", "project"],
            ".mcp.json",
            &["mcpServers", "hcp"],
        ),
        (
            &["generic", "--name", "other"],
            ".mcp.json",
            &["mcpServers", "other"],
        ),
        (&["cursor"], ".cursor/mcp.json", &["mcpServers", "hcp"]),
        (
            &["vscode"],
            ".config/Code/User/mcp.json",
            &["servers", "hcp"],
        ),
        (
            &["vscode", "--scope", "project"],
            ".vscode/mcp.json",
            &["servers", "hcp"],
        ),
        (&["codex"], ".codex/config.toml", &[]),
    ];
    for (words, file, keys) in cases {
        let file = scene.path("user").join(file);
        let shown = connect(&scene, &[words, &["--print"]].concat());
        let before = fs::read_to_string(&file).ok();
        let output = connect(&scene, words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&told["ready"], &told["changed"]),
            (&true.into(), &true.into())
        );
        assert_eq!(told["tools"].as_array().unwrap().len(), 6, "{told}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("+ "),
            "{output:?}"
        );
        let text = fs::read_to_string(&file).unwrap();
        assert_ne!(before.as_deref(), Some(text.as_str()));
        assert_eq!(text, String::from_utf8(shown.stdout).unwrap());
        if keys.is_empty() {
            assert!(text.contains("[mcp_servers.hcp]"), "{text}");
        } else {
            let value: Value = serde_json::from_str(&text).unwrap();
            let entry = keys.iter().fold(&value, |at, key| &at[*key]);
            assert_eq!(entry["args"], serde_json::json!(["mcp"]), "{text}");
            let started = Command::new(entry["command"].as_str().unwrap())
                .args(["status", "--json"])
                .env_clear()
                .envs(
                    entry["env"]
                        .as_object()
                        .unwrap()
                        .iter()
                        .map(|(k, v)| (k, v.as_str().unwrap())),
                )
                .output();
            assert!(started.unwrap().status.success());
        }
        let again = connect(&scene, words);
        let told: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!(told["changed"], false, "{words:?}");
    }
}

#[test]
fn a_file_that_would_lose_something_is_left_alone() {
    let scene = Scene::new();
    let file = scene.path("user").join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "// mine\n{}\n").unwrap();
    let output = connect(&scene, &["cursor"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "// mine\n{}\n");
    assert_eq!(
        connect(&scene, &["generic", "--scope", "user"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_skill_names_what_can_be_called() {
    let scene = Scene::new();
    let text = scene.run(&["skill", "tool"]);
    assert!(text.starts_with("---\nname: tool\n"), "{text}");
    assert!(text.contains("## wipe all\n\nLose everything (destructive, needs confirm=true)"));
    assert!(!text.contains("orphan"), "{text}");
    assert_eq!(scene.output(&["skill", "nothing"]).status.code(), Some(2));
}
