//! The crate from outside: manifests as text, packs as folders, calls as arguments.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod arguments;
mod code_slots;
mod config;
mod format;
mod lint;
mod manifest;
mod pairs;
mod pass_through;
mod rendering;
mod resources;
mod schemas;
mod tree;

use hcp_pack::{Format, PackError, PreparedCommand, SourceFile, parse_manifest};
use hcp_spec::envelope::Arguments;
use hcp_spec::manifest::Manifest;
use serde_json::Value;

/// A manifest in TOML.
fn toml(text: &str) -> Result<Manifest, PackError> {
    parse_manifest(&SourceFile {
        name: "hcp.toml".to_owned(),
        text: text.to_owned(),
        format: Format::Toml,
    })
}

/// A manifest in JSON.
fn json(text: &str) -> Result<Manifest, PackError> {
    parse_manifest(&SourceFile {
        name: "hcp.json".to_owned(),
        text: text.to_owned(),
        format: Format::Json,
    })
}

const HEAD: &str = "hcp = 1\nid = \"p\"\nversion = \"1\"\nsummary = \"s\"\nkind = \"wrap\"\n";

/// A pack of one tool without subcommands and one command, `do`.
fn pack(command: &str) -> String {
    format!(
        "{HEAD}[wrap]\nbin = \"./tool\"\nsingle = true\n[commands.do]\nsummary = \"s\"\n{command}"
    )
}

fn prepared(command: &str) -> PreparedCommand {
    let manifest = toml(&pack(command)).unwrap_or_else(|error| panic!("{}", error.report(false)));
    PreparedCommand::prepare(&manifest, "do").unwrap()
}

fn object(text: &str) -> Arguments {
    match hcp_spec::json::parse_value(text, 128).unwrap() {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

/// Checks and renders; the error is the text of the refusal.
fn run(command: &PreparedCommand, args: &str) -> Result<Vec<String>, String> {
    let checked = command.check(&object(args)).map_err(|e| e.to_string())?;
    command.render(&checked).map_err(|e| e.to_string())
}
