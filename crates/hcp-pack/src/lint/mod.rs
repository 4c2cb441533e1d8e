//! Warnings: what an author would want to know, and what never keeps a pack from being added.

mod command;
mod template;

use hcp_spec::manifest::{Kind, Manifest};

use crate::finding::Place;
use crate::keywords::unknown_keywords;
use crate::node;
use crate::prepare::is_literal;
use crate::programs::Program;
use crate::source::{SourceFile, TextPlace};
use crate::suggestion::closest;
use crate::wording::ticked;

/// The kinds of Adapter that a manifest may name (§6.6).
const KINDS: [&str; 4] = ["composite", "http", "mcp", "wrap"];

/// Something that an author may want to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The rule, by a name that stays.
    pub rule: &'static str,
    /// What was seen, on one line.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Where; `None` where no text is at hand.
    pub place: Option<TextPlace>,
}

/// Everything that lint has to say about a manifest, without the places.
pub fn warnings(manifest: &Manifest) -> Vec<Warning> {
    let seen = all(manifest);
    seen.into_iter()
        .map(|seen| seen.into_warning(None))
        .collect()
}

/// Everything that lint has to say about a manifest that was read from `source`, with the places.
pub fn warnings_in(source: &SourceFile, manifest: &Manifest) -> Vec<Warning> {
    let root = node::parse(source).ok();
    let place = |seen: &Seen| {
        let root = root.as_ref()?;
        Some(source.place(root.locate(&seen.place).start))
    };
    all(manifest)
        .into_iter()
        .map(|seen| {
            let place = place(&seen);
            seen.into_warning(place)
        })
        .collect()
}

/// A warning whose place is still told by keys.
struct Seen {
    rule: &'static str,
    place: Place,
    message: String,
    hint: String,
}

impl Seen {
    fn new(
        rule: &'static str,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            place,
            message: message.into(),
            hint: hint.into(),
        }
    }

    fn into_warning(self, place: Option<TextPlace>) -> Warning {
        Warning {
            rule: self.rule,
            message: self.message,
            hint: self.hint,
            place,
        }
    }
}

fn all(manifest: &Manifest) -> Vec<Seen> {
    let mut found = Vec::new();
    pack(manifest, &mut found);
    for (key, command) in &manifest.commands {
        command::Subject::new(manifest, key.as_str(), command).look(&mut found);
    }
    policies(manifest, &mut found);
    found
}

fn pack(manifest: &Manifest, found: &mut Vec<Seen>) {
    if manifest.summary.trim().is_empty() {
        found.push(Seen::new(
            "empty-summary",
            Place::keys(["summary"]),
            "the pack has no summary",
            "say in one line what the tool is for",
        ));
    }
    kind(&manifest.kind, Place::keys(["kind"]), found);
    if manifest.commands.is_empty() {
        found.push(Seen::new(
            "no-commands",
            Place::keys(["commands"]),
            "the pack has no commands",
            "name the first one: `[commands.<verb>]`",
        ));
    }
    let Some(wrap) = &manifest.wrap else {
        return;
    };
    if is_literal(manifest) {
        found.push(Seen::new(
            "literal-rendering",
            Place::keys(["wrap", "rendering"]),
            "`wrap.rendering = \"literal\"` lets values be taken for flags",
            "leave it out unless callers depend on the letter of the rendering rules",
        ));
    }
    if let Some(program) = Program::of(&wrap.bin) {
        found.push(Seen::new(
            "bin-runs-programs",
            Place::keys(["wrap", "bin"]),
            format!("{} is {}", ticked(&wrap.bin), program.noun()),
            "wrap the program that does the work, or put a script into the pack and wrap that",
        ));
    }
}

/// A word that is no kind is most likely a misspelt one: it adds, and every call is refused.
fn kind(kind: &Kind, place: Place, found: &mut Vec<Seen>) {
    let word = kind.as_str();
    if KINDS.contains(&word) {
        return;
    }
    found.push(Seen::new(
        "unknown-kind",
        place,
        format!(
            "{} is no kind of Adapter that is known here, so every call is refused at step 8",
            ticked(word)
        ),
        match closest(word, KINDS.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "write `wrap` for a program, or `composite` for calls of other commands".to_owned()
            }
        },
    ));
}

fn policies(manifest: &Manifest, found: &mut Vec<Seen>) {
    for key in manifest.policy.keys() {
        if manifest.commands.contains_key(key) {
            continue;
        }
        // A command that has its own entry is hardly the one that is meant.
        let without_entry = manifest
            .commands
            .keys()
            .filter(|command| !manifest.policy.contains_key(*command))
            .map(hcp_spec::name::VerbKey::as_str);
        found.push(Seen::new(
            "policy-without-command",
            Place::keys(["policy", key.as_str()]),
            format!(
                "the Policy entry {} belongs to no command",
                ticked(key.as_str())
            ),
            match closest(key.as_str(), without_entry) {
                Some(near) => format!("did you mean {}?", ticked(near)),
                None => "remove it, or spell it like the command".to_owned(),
            },
        ));
    }
}

/// Words of a schema that let everything through because no validator knows them.
fn schema(schema: &serde_json::Value, place: Place, of: &str, found: &mut Vec<Seen>) {
    for unknown in unknown_keywords(place, schema) {
        found.push(Seen::new(
            "unknown-schema-keyword",
            unknown.place,
            format!(
                "the schema of {of} says {}, which is no keyword of JSON Schema and does nothing",
                ticked(unknown.word)
            ),
            match unknown.suggestion {
                Some(near) => format!("did you mean {}?", ticked(near)),
                None => "remove it, or let it begin with `x-` where other tools read it".to_owned(),
            },
        ));
    }
}
