//! The JSON Schemas of the repository are those that the code has, and every manifest in it keeps to
//! its own. `HCP_BLESS=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{World, envelope};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn generated() -> [(&'static str, Value); 4] {
    [
        ("pack", hcp_pack::manifest_schema()),
        ("config", hcp_pack::config_schema()),
        ("envelope", hcp_spec::schema::envelope()),
        ("result", hcp_spec::schema::result()),
    ]
}

#[test]
fn the_schemas_are_fresh() {
    for (name, schema) in generated() {
        let path = repository().join("schemas").join(format!("{name}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("HCP_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap();
        assert!(
            written == text,
            "schemas/{name}.json is stale: run this test with HCP_BLESS=1 and commit what it writes"
        );
        let ran = World::bare().hcp(&["schema", name]);
        if std::env::var_os("HCP_BLESS").is_none() {
            assert_eq!(ran.json(), schema, "hcp schema {name}");
        }
        jsonschema::meta::validate(&schema).unwrap();
    }
}

fn manifests(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            manifests(&path, found);
        } else if path.ends_with("hcp.toml") || path.ends_with("hcp.json") {
            found.push(path);
        }
    }
}

#[test]
fn every_manifest_of_the_repository_keeps_to_the_schema() {
    let validator = jsonschema::validator_for(&hcp_pack::manifest_schema()).unwrap();
    let mut found = Vec::new();
    for folder in ["examples", "packs"] {
        manifests(&repository().join(folder), &mut found);
    }
    assert!(!found.is_empty());
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let manifest: Value = if path.ends_with("hcp.toml") {
            toml::from_str(&text).unwrap()
        } else {
            serde_json::from_str(&text).unwrap()
        };
        let faults: Vec<String> = validator
            .iter_errors(&manifest)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert_eq!(faults, Vec::<String>::new(), "{}", path.display());
    }
}

/// The schemas say no and yes where the code does.
#[test]
fn the_schemas_refuse_what_the_code_refuses() {
    let validators: Vec<(&str, jsonschema::Validator)> = generated()
        .iter()
        .map(|(name, schema)| (*name, jsonschema::validator_for(schema).unwrap()))
        .collect();
    let judge = |name: &str, value: &Value| {
        let found = validators.iter().find(|(other, _)| *other == name);
        found.unwrap().1.is_valid(value)
    };
    let cases = [
        ("envelope", json!({ "pack_id": "a", "verb_key": "b" }), true),
        (
            "envelope",
            json!({ "surface_id": "a", "verb_key": "b", "args": {} }),
            true,
        ),
        ("envelope", json!({ "verb_key": "b" }), false),
        (
            "envelope",
            json!({ "pack_id": "a", "verb_key": "b", "args": null }),
            false,
        ),
        (
            "envelope",
            json!({ "pack_id": "a", "verb_key": "b", "more": 1 }),
            false,
        ),
        (
            "result",
            json!({ "ok": true, "pack_id": "a", "verb_key": "b", "result": 1 }),
            true,
        ),
        (
            "result",
            json!({ "ok": false, "pack_id": "a", "verb_key": "b" }),
            false,
        ),
        ("config", json!({}), true),
        (
            "config",
            json!({ "sandbox": { "mode": "native-local" } }),
            true,
        ),
        ("config", json!({ "sandbox": { "mode": "native" } }), false),
        ("config", json!({ "sandbx": {} }), false),
        ("pack", json!({}), false),
    ];
    for (name, value, valid) in cases {
        assert_eq!(judge(name, &value), valid, "{name} {value}");
    }
    let world = World::with(&Pack::of_tool(
        "real",
        "echo '{}'; [ \"$1\" = go ] || exit 1",
    ));
    for args in [json!({}), json!({ "x": 1 })] {
        let answer = world.send(envelope("real", "go", &args)).envelope();
        assert!(judge("result", &answer), "{answer}");
    }
    let manifest: Value = toml::from_str(&Pack::of_tool("real", "").manifest()).unwrap();
    assert!(judge("pack", &manifest), "{manifest}");
}
