//! The rules that packs are held to, by ids that stay, each with what it means, why it is there and
//! how to mend what broke it.
//!
//! An error keeps a pack from being added. A warning never does.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which never changes its meaning.
    pub id: &'static str,
    /// How much a breach weighs.
    pub level: Level,
    /// What is wrong when it is broken.
    pub what: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to do.
    pub mend: &'static str,
}

/// How much a breach weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The pack cannot be added.
    Error,
    /// It can; somebody may want to look.
    Warning,
}

impl Level {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

const fn error(
    id: &'static str,
    what: &'static str,
    why: &'static str,
    mend: &'static str,
) -> Rule {
    Rule {
        id,
        level: Level::Error,
        what,
        why,
        mend,
    }
}

const fn warning(
    id: &'static str,
    what: &'static str,
    why: &'static str,
    mend: &'static str,
) -> Rule {
    Rule {
        id,
        level: Level::Warning,
        what,
        why,
        mend,
    }
}

/// Every rule, errors first.
pub const RULES: &[Rule] = &[
    error(
        "no-manifest",
        "neither hcp.toml nor hcp.json stands in the root of the folder",
        "the manifest is what makes a folder a pack",
        "`hcp pack new DIR` writes one to start from",
    ),
    error(
        "two-manifests",
        "hcp.toml and hcp.json both stand in the root",
        "they could differ, and nobody could tell which one holds",
        "keep the one that you edit",
    ),
    error(
        "manifest-syntax",
        "the manifest, or the config, is not TOML or JSON",
        "nothing in it can be read",
        "mend the text at the line and column that are named",
    ),
    error(
        "manifest-keys",
        "a key is unknown or missing, or its value has the wrong type",
        "a key that is passed over would be a wish that nobody keeps",
        "spell it as `hcp schema pack` says; the message suggests the nearest key",
    ),
    error(
        "manifest-contradiction",
        "every key is well formed, and together they say nothing that could be kept",
        "what could only turn out wrong when a call runs is told to the author instead",
        "the hint beside the message says what the keys may say together",
    ),
    error(
        "pass-through",
        "a command hands its caller the whole tool, a shell or an interpreter",
        "a policy can only govern commands that are named; one that takes anything is a shell",
        "name each command that callers may run, list a first word's choices in an `enum`, or set \
         `wrap.single = true` for a tool that has no subcommands",
    ),
    error(
        "manifest-too-large",
        "the manifest is over one mebibyte",
        "it describes commands, and is read before anything is trusted",
        "move data into files beside it",
    ),
    error(
        "manifest-not-text",
        "the manifest is not UTF-8",
        "names are compared byte for byte, so there must be one way to write them",
        "save it as UTF-8",
    ),
    error(
        "special-file",
        "the folder holds a link, pipe, socket, device or set-id file",
        "a pack is pinned by its bytes, and those lead out of it or have none",
        "put a copy of what it stands for in its place, or remove it",
    ),
    error(
        "changed-while-read",
        "a file changed while the pack was read",
        "what was checked would not be what is pinned",
        "run it again once nothing writes to the folder",
    ),
    error(
        "unreadable",
        "a file or folder of the pack could not be read",
        "what cannot be read cannot be pinned",
        "give yourself the right to read it, or remove it",
    ),
    error(
        "no-such-command",
        "a command is named that the pack does not declare",
        "only declared commands can be compiled",
        "spell it as the manifest does",
    ),
    warning(
        "empty-summary",
        "the pack or a command says nothing about itself",
        "people and models choose commands by their summaries",
        "say in one line what it does",
    ),
    warning(
        "no-commands",
        "the pack names no command",
        "nothing of it can be called",
        "write the first one: `[commands.<verb>]`",
    ),
    warning(
        "command-without-policy",
        "a command has no Policy entry",
        "every call of it is refused with `no policy for <verb>`",
        "write `[policy.<verb>]` with the capability that a caller must hold",
    ),
    warning(
        "policy-without-command",
        "a Policy entry belongs to no command",
        "it governs nothing, and the command it was meant for may stand open or closed",
        "spell it like the command, or remove it",
    ),
    warning(
        "destructive-without-confirm",
        "a destructive command runs without confirmation",
        "what cannot be taken back should need a second thought",
        "remove `confirm = false`, or say the smaller `effect` that the command really has",
    ),
    warning(
        "confirm-not-off",
        "`confirm = false` stands where the gate cannot be opened",
        "approval and bootstrap need confirmation whatever else is written",
        "remove `confirm = false`",
    ),
    warning(
        "literal-rendering",
        "`wrap.rendering = \"literal\"` is set",
        "values that begin with `-` reach the tool, which may take them for flags, and undeclared \
         arguments are dropped",
        "leave it out unless callers depend on the letter of the rendering rules",
    ),
    warning(
        "bin-runs-programs",
        "the bin is a shell, an interpreter or a launcher",
        "whoever fills in its arguments may end up choosing the program",
        "wrap the program that does the work, or put a script into the pack and wrap that",
    ),
    warning(
        "unknown-kind",
        "the kind is none that this version runs",
        "such a pack is added, and every call of it is refused at step 8",
        "write `wrap` or `composite`",
    ),
    warning(
        "unknown-schema-keyword",
        "a schema has a keyword that JSON Schema does not know",
        "a keyword that is not known is passed over, and so checks nothing",
        "write the keyword as JSON Schema (draft 2020-12) does, or begin it with `x-`",
    ),
    warning(
        "dropped-first-token",
        "the first token of `cli` is neither the bin's name nor the pack's id",
        "the first token is the tool's name and dropped unread; a subcommand there would be lost",
        "put the tool's name in front",
    ),
    warning(
        "dangling-flag",
        "a flag stands in a token of its own before a value that may be absent",
        "without the value the flag stays, and takes the next word for its value",
        "write the two as one token, `--flag={{value}}`, which is left out as a whole",
    ),
    warning(
        "object-without-form",
        "an argument that can only be an object is used in argv",
        "an object has no argv form, so every call with it is refused",
        "set `as = \"json\"` on the argument to pass its compact JSON",
    ),
    warning(
        "bin-unavailable",
        "the bin is not there, not fit to be run, or not allowlisted",
        "calls are refused at step 8",
        "ship it in the pack, list it in sandbox.allow_bins, or add the pack with --allow-bin",
    ),
    warning(
        "json-flag-twice",
        "a template writes the flag that `wrap.json` appends",
        "the tool gets it twice",
        "leave it out of the template, or set `wrap.json = []`",
    ),
    warning(
        "placeholder-behind-flags",
        "only flags stand before the first placeholder of a tool with subcommands",
        "the caller may be choosing the subcommand",
        "write the subcommand as text, or set `wrap.single = true` when there are none",
    ),
    warning(
        "unused-argument",
        "a declared argument is used nowhere",
        "callers believe that it does something",
        "use it in the template, or remove it",
    ),
    warning(
        "required-with-default",
        "an argument is required and has a default",
        "with a default it is never missing, so `required` says nothing",
        "remove one of the two",
    ),
    warning(
        "no-examples",
        "a command has no example",
        "examples show people how to call it, and `hcp pack test` runs them",
        "write `[commands.<verb>.examples.<name>]`",
    ),
    warning(
        "example-refused",
        "the arguments of an example would be refused",
        "it teaches a call that does not work",
        "write arguments that the command takes",
    ),
    warning(
        "example-differs",
        "an example renders another argv than it says",
        "either the template or the example is not what was meant",
        "`hcp pack test` shows both; correct the one that is wrong",
    ),
    warning(
        "composite-leads-nowhere",
        "a composite calls a pack or verb that is not there",
        "its calls fail at that step",
        "add the pack that it calls, or correct the name",
    ),
    warning(
        "composite-refused",
        "with this pack, a composite of another one reaches further than it says",
        "its calls are refused",
        "let it say the effect and the gates of what it calls",
    ),
];
