//! The protocol between the kit and the adapter of a runtime: JSON lines, version 1.
//!
//! The kit writes one request a line to the adapter's stdin and reads one answer a line from its
//! stdout, strictly in turn. `README.md` is its description for people; these types are the same.

mod adapter;
mod serve;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use adapter::{Adapter, split_command};
pub use serve::serve;

use crate::corpus::FaceKind;

/// The version of the protocol that the kit speaks.
pub const VERSION: u32 = 1;

/// What the kit asks for.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Who are you, and what do you claim?
    Hello(Hello),
    /// Begin anew: no pack, no grant, one caller with an empty session, no project.
    Reset,
    /// Put variables into the environment of the runtime itself.
    Environment(Environment),
    /// Mint for a pack with this helper.
    Binding(Binding),
    /// Install a pack.
    Install(Install),
    /// Give the session of the caller a project.
    Project(Project),
    /// Grant the caller a capability.
    Grant(Grant),
    /// Activate a pack on the session of the caller.
    Activate(Named),
    /// Take a pack off the installation.
    Remove(Named),
    /// Make a call.
    Exec(Exec),
    /// Run the health commands of the runtime (§6.7).
    Health,
    /// Tell the audit records since the last reset.
    Audit,
    /// Tell what was started and minted since the last reset, where the kit's own logs cannot know.
    Counts,
}

/// Payload of [`Request::Hello`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The version that the kit speaks.
    pub version: u32,
}

/// Payload of [`Request::Environment`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Environment {
    /// Names and values.
    pub set: IndexMap<String, String>,
}

/// Payload of [`Request::Binding`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// The pack.
    pub pack_id: String,
    /// The helper and its arguments.
    pub command: Vec<String>,
}

/// Payload of [`Request::Install`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Install {
    /// The manifest.
    pub manifest: Value,
    /// The files beside it.
    pub files: Vec<PackFile>,
    /// Bins outside of the pack that it may use.
    pub allow_bins: Vec<String>,
}

/// A file of a pack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackFile {
    /// Where it stands, relative to the root of the pack.
    pub path: String,
    /// Whether it is a program.
    pub executable: bool,
    /// What is in it.
    pub text: String,
}

/// Payload of [`Request::Project`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Project {
    /// Its id.
    pub project_id: String,
}

/// Payload of [`Request::Grant`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// The capability.
    pub capability: String,
}

/// Payload of [`Request::Activate`] and [`Request::Remove`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The pack.
    pub pack_id: String,
}

/// Payload of [`Request::Exec`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exec {
    /// The face that the call comes in by.
    pub face: FaceKind,
    /// The exec envelope as text, perhaps ill-formed.
    pub envelope: String,
    /// On the CLI face: these words instead of the arguments of the envelope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<String>>,
}

impl Request {
    /// Reads a request from a line.
    ///
    /// # Errors
    /// What is wrong with it, on one line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let mut value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let name = value
            .as_object_mut()
            .and_then(|fields| fields.remove("request"));
        let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
        Ok(match name {
            "hello" => Self::Hello(payload(value)?),
            "reset" => Self::Reset,
            "environment" => Self::Environment(payload(value)?),
            "binding" => Self::Binding(payload(value)?),
            "install" => Self::Install(payload(value)?),
            "project" => Self::Project(payload(value)?),
            "grant" => Self::Grant(payload(value)?),
            "activate" => Self::Activate(payload(value)?),
            "remove" => Self::Remove(payload(value)?),
            "exec" => Self::Exec(payload(value)?),
            "health" => Self::Health,
            "audit" => Self::Audit,
            "counts" => Self::Counts,
            other => return Err(format!("unknown request `{other}`")),
        })
    }

    /// The name that the line carries.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Reset => "reset",
            Self::Environment(_) => "environment",
            Self::Binding(_) => "binding",
            Self::Install(_) => "install",
            Self::Project(_) => "project",
            Self::Grant(_) => "grant",
            Self::Activate(_) => "activate",
            Self::Remove(_) => "remove",
            Self::Exec(_) => "exec",
            Self::Health => "health",
            Self::Audit => "audit",
            Self::Counts => "counts",
        }
    }
}

fn payload<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// What an adapter answers. Which fields stand in it depends on the request; `{}` is a plain "done".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// The runtime has no such thing, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
    /// The adapter itself could not do what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// To `install`: the runtime does not take this pack, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// To `exec`: what came out, as text: the result envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// To `exec`: the exit status, on a face that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// To `exec`: the transport failed instead of answering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport_error: Option<String>,
    /// To `audit`: the records, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Vec<Record>>,
    /// To `counts`: children started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawns: Option<usize>,
    /// To `counts`: credentials minted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mints: Option<usize>,
    /// To `hello`: who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Claims>,
}

/// Who a runtime is and what it claims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claims {
    /// Its name, as it stands in `adapter <kind> not executable in <runtime>`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The clauses it claims: `6.1` to `6.7`.
    pub clauses: Vec<String>,
    /// The faces it has; `json` is the one that every runtime must have.
    pub faces: Vec<FaceKind>,
    /// The adapter kinds it runs.
    pub adapters: Vec<String>,
}

/// An audit record, as far as the kit looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The pack.
    pub pack_id: String,
    /// The verb.
    pub verb_key: String,
    /// How it went; absent for a record of a call that is only about to run.
    pub ok: Option<bool>,
    /// The step that refused it.
    pub step: Option<u8>,
}

impl Reply {
    /// The runtime has no such thing.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self {
            unsupported: Some(reason.into()),
            ..Self::default()
        }
    }

    /// The adapter could not do it.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self {
            failed: Some(reason.into()),
            ..Self::default()
        }
    }

    /// The runtime does not take the pack.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self {
            refused: Some(reason.into()),
            ..Self::default()
        }
    }
}
