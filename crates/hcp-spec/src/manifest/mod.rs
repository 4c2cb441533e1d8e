//! The manifest of a pack: one type for `hcp.toml` and `hcp.json`.
//!
//! These types say what may stand in a manifest and what an absent key means. What must hold between
//! keys (a placeholder without an argument, a pass-through command) is checked where packs are read.

mod command;
mod sandbox;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use command::{Access, Argument, Call, Command, Effect, Example, Presentation, ResultSchema};
pub use sandbox::Sandbox;

use crate::name::{Capability, PackId, VerbKey};
use crate::quantity::TimeLimit;

/// The version of the manifest format that this runtime reads.
pub const FORMAT: u32 = 1;

/// A pack, as its author describes it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the manifest format: 1.
    pub hcp: u32,
    /// The id of the pack.
    pub id: PackId,
    /// The version of the pack, free text.
    pub version: String,
    /// One line for people.
    pub summary: String,
    /// How commands are run, unless a command says otherwise.
    pub kind: Kind,
    /// What may happen to results.
    #[serde(default)]
    pub privacy: Privacy,
    /// The wrapped tool; needed where a command is of kind `wrap`.
    pub wrap: Option<Wrap>,
    /// What the pack asks of the jail.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// The credentials a call needs.
    pub binding: Option<BindingNeed>,
    /// The commands, by verb key.
    #[serde(default)]
    pub commands: IndexMap<VerbKey, Command>,
    /// The Policy entries, by verb key. A command without one cannot be run (§6.7).
    #[serde(default)]
    pub policy: IndexMap<VerbKey, Policy>,
}

/// How a command is run (§6.6). Words without an Adapter in this runtime are refused at step 8.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend("pattern" = "^[a-z][a-z0-9-]*$"))]
pub enum Kind {
    /// A program started with an argv array.
    Wrap,
    /// Calls of other commands, in process.
    Composite,
    /// Any other word.
    Other(String),
}

impl Kind {
    /// The word as the manifest writes it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Wrap => "wrap",
            Self::Composite => "composite",
            Self::Other(word) => word,
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let well_formed = word.starts_with(|first: char| first.is_ascii_lowercase())
            && word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        match word.as_str() {
            "wrap" => Ok(Self::Wrap),
            "composite" => Ok(Self::Composite),
            _ if well_formed => Ok(Self::Other(word)),
            _ => Err(serde::de::Error::custom(format!(
                "`{word}` is not an adapter kind: a lowercase letter, then lowercase letters, \
                 digits or `-`, like `wrap`"
            ))),
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What may happen to results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Privacy {
    /// Where results land.
    pub land: Land,
}

/// Where results land.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Land {
    /// With the caller.
    #[default]
    Local,
    /// With the tenant.
    Tenant,
    /// In the project's memory, so a project must be named (§6.3 step 4).
    Brain,
}

/// The tool behind commands of kind `wrap` (§6.4).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wrap {
    /// The program: with a leading `.` against the pack root, otherwise as given.
    pub bin: String,
    /// The argv of every command that has no `cli` of its own.
    pub argv_template: Option<Vec<String>>,
    /// What is appended last; `["--json"]` unless said.
    #[serde(default = "default_json_flag")]
    pub json: Vec<String>,
    /// What stdout is taken for.
    #[serde(default)]
    pub output: OutputForm,
    /// Exit codes that mean success; 0 is always among them.
    #[serde(default)]
    pub success: Vec<u8>,
    /// The tool has no subcommands, so a command may begin with a placeholder.
    #[serde(default)]
    pub single: bool,
    /// Whether the stricter-than-the-letter rules of rendering hold.
    #[serde(default)]
    pub rendering: Rendering,
    /// Further variables of the child.
    #[serde(default)]
    pub agent_env: IndexMap<String, String>,
}

fn default_json_flag() -> Vec<String> {
    vec!["--json".to_owned()]
}

/// What stdout is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputForm {
    /// JSON when it is one JSON text, else the raw string.
    #[default]
    Json,
    /// Always the raw string.
    Text,
    /// The bytes, encoded.
    Base64,
}

/// How closely rendering keeps to the letter of §6.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rendering {
    /// Refuse what could be mistaken for a flag, and undeclared arguments.
    #[default]
    Strict,
    /// The letter of §6.4, for packs that need it.
    Literal,
}

/// The credentials a call needs (§6.3 step 7).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindingNeed {
    /// The variables that a Binding must set.
    pub env: Vec<String>,
    /// How long they are needed.
    pub ttl: Option<TimeLimit>,
}

/// What a Principal must hold, and what must be confirmed, before a command runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The capability that a grant must cover.
    pub capability: Capability,
    /// Whether the call must be confirmed; by default destructive commands must.
    pub confirm: Option<bool>,
    /// Whether a person must approve as well; implies `confirm`.
    pub approval: Option<Approval>,
}

/// Who must approve a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// A person other than the one who asked.
    Human,
}

impl Manifest {
    /// The kind that runs this command.
    pub fn kind_of<'a>(&'a self, command: &'a Command) -> &'a Kind {
        command.kind.as_ref().unwrap_or(&self.kind)
    }

    /// Whether the gate of this command is closed without a confirmation (§6.3 step 6), as the pack
    /// says it.
    pub fn needs_confirm(command: &Command, policy: &Policy) -> bool {
        policy.approval.is_some()
            || command.bootstrap
            || policy
                .confirm
                .unwrap_or(command.effect == Effect::Destructive)
    }
}
