//! Packs, from the text of a manifest to the argv of a call.
//!
//! A pack is read once ([`read_manifest`]) and refused with the place in its text when anything in
//! it could not be kept; a command of it is compiled once ([`PreparedCommand`]) and then checks
//! arguments and renders argv (§6.4) for every call. The rest of the crate is about the files of a
//! pack: the digest that pins them ([`Tree`]) and the cheap sign that nothing changed ([`Identity`]).
//!
//! This crate reads files and starts nothing. It never looks at the environment or the clock.

mod arguments;
mod check;
mod difference;
mod error;
mod finding;
mod format;
mod identity;
mod keywords;
mod lint;
mod manifest;
mod node;
mod pairs;
mod pass_through;
mod possible;
mod prepare;
mod private;
mod programs;
mod reading;
mod render;
mod resources;
mod rules;
mod schema;
mod schema_cost;
mod source;
mod suggestion;
mod template;
mod tree;
mod violation;
mod wording;

pub use arguments::ArgumentError;
pub use difference::{Difference, differences};
pub use error::{PackError, SourceFault};
pub use format::format_manifest;
pub use identity::Identity;
pub use lint::{Warning, warnings, warnings_in};
pub use manifest::{
    config_schema, manifest_schema, manifest_source, parse_config, parse_manifest,
    read_checked_manifest, read_manifest,
};
pub use pairs::{parse_pairs, read_text};
pub use prepare::{CheckedArguments, PreparedCommand, accepted_names};
pub use render::value_text;
pub use resources::Resource;
pub use rules::{Level, RULES, Rule, rule};
pub use schema::check_result;
pub use source::{Format, SourceFile, TextPlace};
pub use suggestion::closest;
pub use tree::{FileChange, FileDifference, Tree, remove_copy};
