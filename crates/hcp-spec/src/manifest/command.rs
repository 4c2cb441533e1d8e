//! A command of a pack: what it does, its argv or its calls, its arguments, its examples.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Kind;

/// One named command.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// One line for people.
    pub summary: String,
    /// What it does to the world; a command that does not say is taken for destructive.
    #[serde(default)]
    pub effect: Effect,
    /// How it is run, where that differs from the pack.
    pub kind: Option<Kind>,
    /// The argv, with placeholders; the first token is the tool's name and dropped unread (§6.4).
    pub cli: Option<Vec<String>>,
    /// The arguments. Where none is declared, exactly the names of the template are accepted.
    #[serde(default)]
    pub args: IndexMap<String, Argument>,
    /// Calls that show how it is used, and are run as tests.
    #[serde(default)]
    pub examples: IndexMap<String, Example>,
    /// What the result looks like.
    pub result: Option<ResultSchema>,
    /// Lets a pass-through through while it is the pack's only command (§6.7).
    #[serde(default)]
    pub bootstrap: bool,
    /// The calls of a composite, by name.
    #[serde(default)]
    pub steps: IndexMap<String, Call>,
    /// The result of a composite; by default an object of every step's result.
    pub output: Option<Value>,
}

/// What a command does to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Looks, and changes nothing.
    Read,
    /// Adds or changes something.
    Write,
    /// May lose something, or nobody said.
    #[default]
    Destructive,
}

impl Effect {
    /// The word as the manifest writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// One argument of a command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Argument {
    /// Whether a call must give it.
    pub required: bool,
    /// One line for people.
    pub summary: Option<String>,
    /// JSON Schema of the value; a `default` inside it is applied.
    pub schema: Option<Value>,
    /// Another way to write the value into argv.
    #[serde(rename = "as")]
    pub presentation: Option<Presentation>,
    /// Whether a value may begin with `-` where a token begins with it.
    pub dash: bool,
    /// What the value names, when it names something outside the jail.
    pub access: Option<Access>,
}

/// Another way to write a value into argv.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Presentation {
    /// `true` is the bare flag, `false` is nothing.
    Switch,
    /// Compact JSON.
    Json,
}

/// What a value names outside the jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// A path that the call reads.
    Read,
    /// A path that the call writes.
    Write,
    /// A `host:port` that the call connects to.
    Connect,
}

/// A call that shows how a command is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Example {
    /// One line for people.
    pub summary: Option<String>,
    /// The arguments.
    pub args: serde_json::Map<String, Value>,
    /// The argv they must render to, without the bin.
    pub argv: Option<Vec<String>>,
}

/// What a result looks like: a JSON Schema.
pub type ResultSchema = Value;

/// One call of a composite (§6.6).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Pack id, a dot, verb key.
    pub call: String,
    /// Arguments; a value that is one `{{…}}` alone keeps its JSON type.
    #[serde(default)]
    pub args: serde_json::Map<String, Value>,
    /// A CEL condition; the call is left out when it is false.
    pub when: Option<String>,
}
