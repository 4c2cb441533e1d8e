//! A case: how the world is set up, what is called, and what must be seen.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How binding a case is, and so whether it is asked at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Level {
    /// The law demands it.
    #[serde(rename = "MUST")]
    Must,
    /// The law forbids the opposite.
    #[serde(rename = "MUST NOT")]
    MustNot,
    /// The law advises it: a failure is told and does not count.
    #[serde(rename = "SHOULD")]
    Should,
    /// Stricter than the letter: calls that are refused although the letter would run them.
    #[serde(rename = "strict")]
    Strict,
    /// What the law leaves open, as the hcp contract decides it.
    #[serde(rename = "hcp")]
    Hcp,
}

impl Level {
    /// The word that case files and reports write.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::MustNot => "MUST NOT",
            Self::Should => "SHOULD",
            Self::Strict => "strict",
            Self::Hcp => "hcp",
        }
    }

    /// Whether a failure of it makes a claim untrue.
    pub const fn counts(self) -> bool {
        !matches!(self, Self::Should)
    }
}

/// One case.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Stable, and unique in the corpus: `6.3-order-2-5`.
    pub id: String,
    /// The clause it holds to: `6.3`. The file says it for all of its cases.
    #[serde(default)]
    pub clause: String,
    /// How binding it is.
    pub level: Level,
    /// What it proves, in a sentence.
    pub proves: String,
    /// Asked only of a runtime that has this face, beside the JSON one.
    #[serde(default)]
    pub needs_face: Option<FaceKind>,
    /// Asked only of a runtime that runs this adapter kind.
    #[serde(default)]
    pub needs_adapter: Option<String>,
    /// Asked only of a runtime that does not run this adapter kind.
    #[serde(default)]
    pub without_adapter: Option<String>,
    /// The world before the first call.
    #[serde(default)]
    pub setup: Setup,
    /// The calls, in order.
    pub calls: Vec<Call>,
}

/// The world before the first call: by default the pack `ledger`, activated, every capability
/// granted, no project.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// The packs; absent means `ledger`.
    pub packs: Option<Vec<PackSetup>>,
    /// The capabilities that the caller holds; absent means each that a Policy entry names.
    pub grants: Option<Vec<String>>,
    /// The project of the session.
    pub project: Option<String>,
    /// What mints for a pack.
    pub bindings: IndexMap<String, Helper>,
    /// Variables in the environment of the runtime itself.
    pub environment: IndexMap<String, String>,
}

/// A pack of the set-up.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PackSetup {
    /// The manifest, by its name in `packs.json`.
    #[serde(rename = "use")]
    pub template: String,
    /// A JSON Merge Patch (RFC 7386) over that manifest.
    #[serde(default)]
    pub patch: Value,
    /// Whether it is activated on the session.
    #[serde(default = "yes")]
    pub activate: bool,
    /// Whether it is removed again once everything else stands.
    #[serde(default)]
    pub remove: bool,
    /// Whether the runtime may refuse to install it, which then is as good as refusing the call.
    #[serde(default)]
    pub may_refuse: bool,
    /// Bins outside of the pack that the operator allows.
    #[serde(default)]
    pub allow_bins: Vec<String>,
}

impl PackSetup {
    /// The pack as `packs.json` has it, activated.
    pub fn plain(template: &str) -> Self {
        Self {
            template: template.to_owned(),
            patch: Value::Null,
            activate: true,
            remove: false,
            may_refuse: false,
            allow_bins: Vec::new(),
        }
    }
}

const fn yes() -> bool {
    true
}

/// What a credential helper does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Helper {
    /// Answers with a credential.
    Works,
    /// Says something on stderr and fails.
    Fails,
}

/// A way into the runtime (§6.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaceKind {
    /// Takes an exec envelope.
    #[default]
    Json,
    /// Takes words and flags.
    Cli,
}

/// One call; exactly one of `envelope`, `text` and `health` says which.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Call {
    /// The face it comes in by.
    pub face: FaceKind,
    /// A well-formed envelope.
    pub envelope: Option<Value>,
    /// An envelope as raw text, perhaps ill-formed.
    pub text: Option<String>,
    /// So many spaces are put behind the text.
    pub padding: usize,
    /// `@nested` in the text becomes so many arrays within each other.
    pub nesting: usize,
    /// Arguments as `k=v` words, on the CLI face, instead of those of the envelope.
    pub pairs: Option<Vec<String>>,
    /// The health commands of the runtime instead of a call (§6.7).
    pub health: bool,
    /// How long the answer may take.
    pub time_limit_ms: Option<u64>,
    /// What must be seen.
    pub expect: Expectation,
}

/// What must be seen; what is absent is not looked at.
// Each is asked for or not; that is what a bool is for.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// `ok` of the result envelope.
    pub ok: Option<bool>,
    /// Either an envelope with `ok: false` or an error of the transport: it just must not run.
    pub refused: bool,
    /// The exact `error`; `{runtime}` stands for the name that the adapter gave.
    pub error: Option<String>,
    /// What `error` must not be.
    pub error_not: Option<String>,
    /// How `error` begins.
    pub error_starts_with: Option<String>,
    /// `pack_id` of the result envelope.
    pub pack_id: Option<String>,
    /// `verb_key` of the result envelope.
    pub verb_key: Option<String>,
    /// `result` as a JSON text, compared as a value.
    pub result: Option<String>,
    /// `result` as a JSON text, compared byte for byte.
    pub result_text: Option<String>,
    /// `stdout` of the result envelope.
    pub stdout: Option<String>,
    /// `stderr` of the result envelope.
    pub stderr: Option<String>,
    /// Every field has the type that §6.2 gives it, and none that must be there is missing.
    pub well_formed: bool,
    /// No field stands beside those of §6.2.
    pub only_fields: bool,
    /// What the one child saw as arguments.
    pub argv: Option<Vec<String>>,
    /// Variables of the one child, each with the values it may have; none means absent.
    pub environment: IndexMap<String, Vec<String>>,
    /// The child's working directory is the root of its pack.
    pub in_pack_root: bool,
    /// How many children were started.
    pub spawns: Option<usize>,
    /// How often something was minted.
    pub mints: Option<usize>,
    /// The exit status of the CLI face.
    pub exit_status: Option<i32>,
    /// The CLI face ended with another status than 0.
    pub exit_nonzero: bool,
    /// What the CLI face printed is one JSON text.
    pub structured: bool,
    /// The number, from 0, of an earlier call with the same `ok`, `result` and `error`.
    pub same_as: Option<usize>,
    /// The audit trail tells of this call.
    pub audited: Option<Audited>,
}

/// What the newest audit record about this pack and verb must say.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Audited {
    /// Whether the call went well.
    pub ok: bool,
    /// The number of the step that refused it.
    #[serde(default)]
    pub step: Option<u8>,
}
