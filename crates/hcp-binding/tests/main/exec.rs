//! Provider `exec`: what a helper is asked, what it may answer, and that it is told when it is over.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::scene::{SECRET, Scene, variables};

fn later(seconds: i64) -> String {
    (Timestamp::now() + SignedDuration::from_secs(seconds)).to_string()
}

/// A good answer, with some of its fields set otherwise.
fn answer(changes: &Value) -> Value {
    let env = json!({ "LEDGER_TOKEN": SECRET });
    let mut answer = json!({ "version": 1, "env": env, "expires_at": later(60) });
    for (key, value) in changes.as_object().unwrap() {
        answer[key.as_str()] = value.clone();
    }
    answer
}

/// A helper that gives `answer`.
fn provider(scene: &Scene, answer: &str) -> Value {
    scene.write("answer", answer, 0o600);
    json!({ "provider": "exec", "command": [scene.helper("cat answer"), "--for", "a b"] })
}

fn revocation() -> Value {
    json!({ "version": 1, "revoke": "lease-1" })
}

fn revocable() -> String {
    answer(&json!({ "revoke": "lease-1" })).to_string()
}

#[test]
fn a_helper_is_asked_for_this_call_and_sees_nothing_else() {
    let mut scene = Scene::new();
    scene.need = json!({ "env": ["LEDGER_TOKEN"], "ttl": "5m" });
    let provider = provider(&scene, &answer(&json!({})).to_string());
    let binding = scene.mint(&provider).unwrap();
    assert_eq!(binding.state(), "live");
    let expected = [("LEDGER_TOKEN".to_owned(), SECRET.to_owned())];
    assert_eq!(variables(&binding), expected);
    assert_eq!(binding.secrets().collect::<Vec<_>>(), [SECRET.as_bytes()]);
    assert!(binding.expires_at().unwrap() > Timestamp::now());
    assert_eq!(scene.read("environment"), "");
    assert_eq!(scene.read("arguments"), "--for a b\n");
    assert_eq!(
        scene.read("requests"),
        "{\"version\":1,\"pack_id\":\"ledger\",\"verb_key\":\"transfer\",\
         \"principal\":\"agent:builder\",\"tenant_id\":\"acme\",\"project_id\":null,\
         \"capability\":\"ledger:write\",\"ttl_seconds\":300}\n"
    );
    // Nothing to revoke, so nobody is asked to.
    binding.revoke().unwrap();
    assert_eq!(scene.requests().len(), 1);
}

#[test]
fn the_shorter_of_need_and_ceiling_is_asked_for_and_kept_to() {
    for (need, ceiling, seconds, text) in [
        (None, None, 900, "15m"),
        (Some("5m"), None, 300, "5m"),
        (Some("1h"), None, 900, "15m"),
        (Some("1h"), Some("30m"), 1800, "30m"),
        (Some("5m"), Some("30m"), 300, "5m"),
        (None, Some("10m"), 600, "10m"),
        (Some("250ms"), None, 1, "250ms"),
    ] {
        let mut scene = Scene::new();
        scene.need = json!({ "env": ["LEDGER_TOKEN"], "ttl": need });
        let long = answer(&json!({ "expires_at": later(seconds + 60) }));
        let mut provider = provider(&scene, &long.to_string());
        provider["ttl"] = json!(ceiling);
        let expected = format!("credential lives longer than {text}");
        assert_eq!(scene.refusal(&provider), expected);
        assert_eq!(scene.requests()[0]["ttl_seconds"], json!(seconds));
        let good = answer(&json!({ "expires_at": later(seconds + 10) }));
        scene.write("answer", good.to_string(), 0o600);
        assert!(scene.mint(&provider).is_ok());
    }
}

#[test]
fn answers_that_are_not_what_was_asked_for_are_refused_and_revoked() {
    let with = |value: &str| json!({ "env": { "LEDGER_TOKEN": value } });
    for (changes, expected) in [
        (json!({ "env": {} }), "helper did not set LEDGER_TOKEN"),
        (
            json!({ "env": { "LEDGER_TOKEN": SECRET, "LD_PRELOAD": SECRET } }),
            "helper set a variable that ledger does not declare",
        ),
        (with(""), "helper set LEDGER_TOKEN to a value that is empty"),
        (
            with(&format!("{SECRET}\0")),
            "helper set LEDGER_TOKEN to a value that holds a NUL byte",
        ),
        (
            json!({ "expires_at": later(-1) }),
            "credential has expired already",
        ),
        (
            json!({ "expires_at": later(3600) }),
            "credential lives longer than 15m",
        ),
    ] {
        let scene = Scene::new();
        let mut answer = answer(&changes);
        answer["revoke"] = json!("lease-1");
        let provider = provider(&scene, &answer.to_string());
        assert_eq!(scene.refusal(&provider), expected);
        assert_eq!(scene.requests()[1..], [revocation()], "{expected}");
    }
}

#[test]
fn what_is_no_answer_is_never_repeated() {
    for answer in [
        String::new(),
        SECRET.to_owned(),
        format!("{{\"token\":\"{SECRET}\"}}"),
        answer(&json!({ "version": 2 })).to_string(),
        format!("{} {SECRET}", answer(&json!({}))),
    ] {
        let scene = Scene::new();
        let refusal = scene.refusal(&provider(&scene, &answer));
        let expected = "helper answered something that is not version 1 JSON";
        assert_eq!(refusal, expected, "{answer}");
    }
}

#[test]
fn helpers_that_fail_say_how_and_nothing_more() {
    for (body, expected) in [
        ("cat answer; exit 3", "helper exited with 3"),
        ("cat answer; kill -9 $$", "helper was ended by SIGKILL"),
        (
            "head -c 65537 /dev/zero",
            "helper answered more than 65536 bytes",
        ),
    ] {
        let scene = Scene::new();
        scene.write("answer", revocable(), 0o600);
        let provider = json!({ "provider": "exec", "command": [scene.helper(body)] });
        assert_eq!(scene.refusal(&provider), expected);
    }
    let scene = Scene::new();
    scene.cancel.cancel();
    let provider = json!({ "provider": "exec", "command": [scene.helper("exec sleep 60")] });
    assert_eq!(scene.refusal(&provider), "cancelled");
}

#[test]
fn a_credential_is_revoked_once_by_word_or_by_drop() {
    let scene = Scene::new();
    let provider = provider(&scene, &revocable());
    scene.mint(&provider).unwrap().revoke().unwrap();
    assert_eq!(scene.requests()[1..], [revocation()]);
    drop(scene.mint(&provider).unwrap());
    assert_eq!(scene.requests()[3..], [revocation()]);
    // A call that was taken back is cleaned up after all the same.
    let binding = scene.mint(&provider).unwrap();
    scene.cancel.cancel();
    binding.revoke().unwrap();
    assert_eq!(scene.requests()[5..], [revocation()]);
}

#[test]
fn a_revocation_that_fails_is_told() {
    let scene = Scene::new();
    scene.write("answer", revocable(), 0o600);
    let body = "if grep -q '\"revoke\"' requests; then exit 4; fi; cat answer";
    let provider = json!({ "provider": "exec", "command": [scene.helper(body)] });
    let error = scene.mint(&provider).unwrap().revoke().unwrap_err();
    let expected = "credential could not be revoked: helper exited with 4";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn only_a_helper_that_others_cannot_change_is_run() {
    let scene = Scene::new();
    let good = provider(&scene, &answer(&json!({})).to_string());
    let path = good["command"][0].as_str().unwrap();
    let chmod = |path: &str, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let refusal = |command: &str| {
        let provider = json!({ "provider": "exec", "command": [command] });
        scene.refusal(&provider)
    };
    for relative in ["helper", "./helper", "bin/helper"] {
        let expected = format!("helper `{relative}` is not an absolute path");
        assert_eq!(refusal(relative), expected);
    }
    let missing = format!("{path}-missing");
    let expected = format!("helper `{missing}` cannot be opened");
    assert!(refusal(&missing).starts_with(&expected));
    chmod(path, 0o722);
    assert!(refusal(path).contains("can be changed by others"));
    chmod(path, 0o600);
    assert!(refusal(path).contains("is not executable"));
    chmod(path, 0o700);
    let folder = scene.folder().to_str().unwrap();
    chmod(folder, 0o777);
    assert!(refusal(path).contains("can be changed by others"));
    chmod(folder, 0o700);
    assert!(scene.requests().is_empty());
    assert!(scene.mint(&good).is_ok());
}

#[test]
fn a_pinned_helper_is_these_bytes_or_none() {
    let scene = Scene::new();
    let mut provider = provider(&scene, &answer(&json!({})).to_string());
    let path = provider["command"][0].as_str().unwrap().to_owned();
    let digest = Sha256::digest(fs::read(&path).unwrap());
    let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    for digest in [hex.concat(), hex.concat().to_uppercase()] {
        provider["digest"] = json!(digest);
        assert!(scene.mint(&provider).is_ok());
    }
    for digest in ["0".repeat(64), String::new(), hex[..31].concat()] {
        provider["digest"] = json!(digest);
        let expected = format!("helper `{path}` does not have the digest that is pinned");
        assert_eq!(scene.refusal(&provider), expected);
    }
}
