//! Provider `static`: which files are taken, and how they are read.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::scene::{SECRET, Scene, variables};

fn provider(file: &str) -> Value {
    json!({ "provider": "static", "env": { "LEDGER_TOKEN": { "file": file } } })
}

#[test]
fn one_trailing_line_break_is_not_part_of_a_secret() {
    let scene = Scene::new();
    for (written, read) in [
        (SECRET, SECRET),
        ("a\n", "a"),
        ("a\r\n", "a"),
        ("a\n\n", "a\n"),
        ("a\r", "a\r"),
        (" a b \n", " a b "),
    ] {
        scene.write("token", written, 0o600);
        let binding = scene.mint(&provider("token")).unwrap();
        assert_eq!(binding.state(), "live");
        let expected = [("LEDGER_TOKEN".to_owned(), read.to_owned())];
        assert_eq!(variables(&binding), expected);
        assert_eq!(binding.secrets().collect::<Vec<_>>(), [read.as_bytes()]);
        assert_eq!(binding.expires_at(), None);
        binding.revoke().unwrap();
    }
    let path = scene.write("token-read-only", "a", 0o400);
    assert!(scene.mint(&provider(path.to_str().unwrap())).is_ok());
}

#[test]
fn files_that_are_not_private_or_not_secrets_are_refused() {
    let scene = Scene::new();
    scene.write("open", SECRET, 0o640);
    scene.write("loose", SECRET, 0o602);
    scene.write("token", SECRET, 0o600);
    symlink("token", scene.folder().join("link")).unwrap();
    fs::create_dir(scene.folder().join("folder")).unwrap();
    scene.write("empty", "\n", 0o600);
    scene.write("nul", format!("{SECRET}\0"), 0o600);
    scene.write("large", "x".repeat((64 << 10) + 1), 0o600);
    scene.write("largest", "x".repeat(64 << 10), 0o600);
    assert!(scene.mint(&provider("largest")).is_ok());
    for (file, defect) in [
        ("open", "is readable by others"),
        ("link", "is a link"),
        ("folder", "is not a regular file"),
        ("missing", "does not exist"),
        ("empty", "is empty"),
        ("nul", "holds a NUL byte"),
        ("large", "is over 65536 bytes"),
    ] {
        let expected = format!("secret file `{file}` {defect}");
        assert_eq!(scene.refusal(&provider(file)), expected);
    }
    let refusal = scene.refusal(&provider("loose"));
    let expected = "secret file `loose` can be changed by others";
    assert!(refusal.starts_with(expected), "{refusal}");
}

#[test]
fn a_folder_that_others_can_write_spoils_the_file_in_it() {
    let scene = Scene::new();
    fs::create_dir(scene.folder().join("secrets")).unwrap();
    scene.write("secrets/token", SECRET, 0o600);
    assert!(scene.mint(&provider("secrets/token")).is_ok());
    let mode = fs::Permissions::from_mode(0o777);
    fs::set_permissions(scene.folder().join("secrets"), mode).unwrap();
    let refusal = scene.refusal(&provider("secrets/token"));
    let expected = "secret file `secrets/token` can be changed by others";
    assert!(refusal.starts_with(expected), "{refusal}");
}

#[test]
fn exactly_the_declared_variables_are_provided() {
    let mut scene = Scene::new();
    scene.write("token", SECRET, 0o600);
    scene.need = json!({ "env": ["B", "A"] });
    let both = json!({ "A": { "file": "token" }, "B": { "file": "token" } });
    let both = json!({ "provider": "static", "env": both });
    let binding = scene.mint(&both).unwrap();
    let names: Vec<&str> = binding.environment().map(|(name, _)| name).collect();
    assert_eq!(names, ["B", "A"]);
    let one = |name: &str| {
        let env = json!({ name: { "file": "token" } });
        json!({ "provider": "static", "env": env })
    };
    for (name, expected) in [
        ("A", "ledger declares B and provider static does not set it"),
        ("C", "provider static sets C, which ledger does not declare"),
    ] {
        assert_eq!(scene.refusal(&one(name)), expected);
    }
}

#[test]
fn one_secret_for_several_tenants_must_be_meant() {
    let mut scene = Scene::new();
    scene.write("token", SECRET, 0o600);
    let general = provider("token");
    assert!(scene.mint(&general).is_ok());
    scene.tenants = 2;
    let expected = "the secret of ledger would serve 2 tenants: set `shared = true`, or give each \
                    tenant its own";
    assert_eq!(scene.refusal(&general), expected);
    let mut shared = general.clone();
    shared["shared"] = json!(true);
    assert!(scene.mint(&shared).is_ok());
    let own = json!({ "tenants": { "acme": { "bindings": { "ledger": general } } } });
    assert!(scene.mint_with(&own).is_ok());
}
