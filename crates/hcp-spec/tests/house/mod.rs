//! Which crate may use which, and what every source file has to look like.

mod sources;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Every crate with the crates of the workspace that it may use, tests included. Dependencies point
/// one way: a crate may only name what stands above it.
const MAY_USE: [(&str, &[&str]); 13] = [
    ("hcp-spec", &[]),
    ("hcp-pack", &["hcp-spec"]),
    ("hcp-output", &["hcp-spec"]),
    ("hcp-sandbox", &["hcp-spec"]),
    ("hcp-store", &["hcp-spec"]),
    ("hcp-binding", &["hcp-spec", "hcp-output", "hcp-sandbox"]),
    ("hcp-core", BELOW_CORE),
    ("hcp-server", BELOW_SERVER),
    ("hcp-conformance", &["hcp-spec", "hcp-core", "hcp-server"]),
    ("hcp", EVERY_LIBRARY),
    ("hcp-bench", EVERY_LIBRARY),
    // The tool of an example knows nothing of hcp; a pack is all that joins the two.
    ("ledger", &[]),
    ("transit", &[]),
];

const BELOW_CORE: &[&str] = &[
    "hcp-spec",
    "hcp-pack",
    "hcp-output",
    "hcp-sandbox",
    "hcp-store",
    "hcp-binding",
];
const BELOW_SERVER: &[&str] = &[
    "hcp-spec",
    "hcp-pack",
    "hcp-output",
    "hcp-sandbox",
    "hcp-store",
    "hcp-binding",
    "hcp-core",
];
const EVERY_LIBRARY: &[&str] = &[
    "hcp-spec",
    "hcp-pack",
    "hcp-output",
    "hcp-sandbox",
    "hcp-store",
    "hcp-binding",
    "hcp-core",
    "hcp-server",
    "hcp-conformance",
];

#[test]
fn dependencies_point_one_way() {
    let used = edges(&metadata());
    assert!(used.len() > 5, "only these crates were found: {used:?}");
    assert_eq!(wrong_edges(&used), Vec::<String>::new());
}

#[test]
fn a_wrong_edge_and_an_unlisted_crate_are_seen() {
    let used = BTreeMap::from([
        ("hcp-pack".to_owned(), vec!["hcp-spec".to_owned()]),
        ("hcp-store".to_owned(), vec!["hcp-pack".to_owned()]),
        ("newcomer".to_owned(), vec![]),
    ]);
    assert_eq!(
        wrong_edges(&used),
        [
            "`hcp-store` may not use `hcp-pack`",
            "`newcomer` is not listed in MAY_USE"
        ]
    );
}

#[test]
fn source_files_keep_the_rules() {
    let root = PathBuf::from(metadata()["workspace_root"].as_str().unwrap());
    let files = sources::rust_files(&root);
    assert!(
        files.len() > 20,
        "only {} files under {}",
        files.len(),
        root.display()
    );
    let faults: Vec<_> = files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            sources::faults(file, &text)
        })
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The crates of the workspace, each with those of the others that its manifest names.
fn edges(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            let within = dependencies.iter().filter(|one| one["path"].is_string());
            (name(package), within.map(name).collect())
        })
        .collect()
}

fn wrong_edges(used: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, uses) in used {
        let Some((_, allowed)) = MAY_USE.iter().find(|(listed, _)| listed == name) else {
            wrong.push(format!("`{name}` is not listed in MAY_USE"));
            continue;
        };
        for other in uses
            .iter()
            .filter(|other| !allowed.contains(&other.as_str()))
        {
            wrong.push(format!("`{name}` may not use `{other}`"));
        }
    }
    wrong
}
