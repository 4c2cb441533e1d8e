//! What a pack asks of the jail; the operator's config is the ceiling.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Level;
use crate::quantity::{ByteSize, TimeLimit};

/// What a pack asks of the jail. An absent limit means the default beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// A folder that lasts, one for each tenant, project and pack.
    pub state: bool,
    /// Programs that the bin itself may start.
    pub exec: Vec<String>,
    /// `host:port` pairs that it may reach.
    pub network: Vec<String>,
    /// Further paths that it may read.
    pub read: Vec<String>,
    /// The least isolation it wants.
    pub level: Option<Level>,
    /// Wall clock of a call; `30s` unless said.
    pub timeout: Option<TimeLimit>,
    /// Bytes of stdout; `16MiB` unless said.
    pub output: Option<ByteSize>,
    /// Memory of a call; `512MiB` unless said.
    pub memory: Option<ByteSize>,
    /// Processes and threads of a call; 64 unless said.
    pub processes: Option<u32>,
}

impl Sandbox {
    /// Wall clock of a call when nobody says.
    pub const DEFAULT_TIMEOUT: &'static str = "30s";
    /// Bytes of stdout when nobody says.
    pub const DEFAULT_OUTPUT: u64 = 16 << 20;
    /// Bytes of memory when nobody says.
    pub const DEFAULT_MEMORY: u64 = 512 << 20;
    /// Processes when nobody says.
    pub const DEFAULT_PROCESSES: u32 = 64;
}
