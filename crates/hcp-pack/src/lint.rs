//! Warnings: what an author would want to know, and what never keeps a pack from being added.

use hcp_spec::manifest::{Command, Effect, Kind, Manifest};

use crate::pass_through::begins_with_slot;
use crate::prepare::{PreparedCommand, is_literal, is_reserved, template_names};
use crate::programs::Program;
use crate::schema;
use crate::template::{Token, command_tokens};
use crate::wording::ticked;

/// Something that an author may want to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The rule, by a name that stays.
    pub rule: &'static str,
    /// What was seen, on one line.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// Everything that lint has to say about a manifest, in the order of its text.
pub fn warnings(manifest: &Manifest) -> Vec<Warning> {
    let mut found = Vec::new();
    pack(manifest, &mut found);
    for (key, command) in &manifest.commands {
        let subject = Subject {
            manifest,
            verb_key: key.as_str(),
            command,
            tokens: match manifest.kind_of(command) {
                Kind::Wrap => command_tokens(manifest, key.as_str(), command)
                    .ok()
                    .flatten()
                    .unwrap_or_default(),
                _ => Vec::new(),
            },
        };
        subject.policy(&mut found);
        subject.template(&mut found);
        subject.arguments(&mut found);
        subject.examples(&mut found);
    }
    for key in manifest.policy.keys() {
        if !manifest.commands.contains_key(key) {
            found.push(warning(
                "policy-without-command",
                format!(
                    "the Policy entry {} belongs to no command",
                    ticked(key.as_str())
                ),
                "remove it, or spell it like the command",
            ));
        }
    }
    found
}

fn pack(manifest: &Manifest, found: &mut Vec<Warning>) {
    if manifest.summary.trim().is_empty() {
        found.push(warning(
            "empty-summary",
            "the pack has no summary".to_owned(),
            "say in one line what the tool is for",
        ));
    }
    if manifest.commands.is_empty() {
        found.push(warning(
            "no-commands",
            "the pack has no commands".to_owned(),
            "name the first one: `[commands.<verb>]`",
        ));
    }
    let Some(wrap) = &manifest.wrap else {
        return;
    };
    if is_literal(manifest) {
        found.push(warning(
            "literal-rendering",
            "`wrap.rendering = \"literal\"` lets values be taken for flags".to_owned(),
            "leave it out unless callers depend on the letter of the rendering rules",
        ));
    }
    if let Some(program) = Program::of(&wrap.bin) {
        found.push(warning(
            "bin-runs-programs",
            format!("{} is {}", ticked(&wrap.bin), program.noun()),
            "wrap the program that does the work, or put a script into the pack and wrap that",
        ));
    }
}

/// One command under the lamp.
struct Subject<'a> {
    manifest: &'a Manifest,
    verb_key: &'a str,
    command: &'a Command,
    tokens: Vec<Token>,
}

impl Subject<'_> {
    fn policy(&self, found: &mut Vec<Warning>) {
        let verb = ticked(self.verb_key);
        if self.command.summary.trim().is_empty() {
            found.push(warning(
                "empty-summary",
                format!("{verb} has no summary"),
                "say in one line what it does",
            ));
        }
        let Some(policy) = self.manifest.policy.get(self.verb_key) else {
            found.push(warning(
                "command-without-policy",
                format!("{verb} has no Policy entry, so every call is refused"),
                "write `[policy.<verb>]` with the capability that a caller must hold",
            ));
            return;
        };
        let off = policy.confirm == Some(false);
        if off && self.command.bootstrap {
            found.push(warning(
                "confirm-not-off",
                format!("{verb} is a bootstrap command and needs confirmation all the same"),
                "remove `confirm = false`",
            ));
        } else if off && policy.approval.is_some() {
            found.push(warning(
                "confirm-not-off",
                format!("{verb} needs approval, which implies confirmation"),
                "remove `confirm = false`",
            ));
        } else if off && self.command.effect == Effect::Destructive {
            found.push(warning(
                "destructive-without-confirm",
                format!("{verb} is destructive and runs without confirmation"),
                "remove `confirm = false`, or say the smaller `effect` that it really has",
            ));
        }
    }

    fn template(&self, found: &mut Vec<Warning>) {
        let verb = ticked(self.verb_key);
        let Some(wrap) = &self.manifest.wrap else {
            return;
        };
        let twice = self.tokens.iter().find_map(|token| match token {
            Token::Literal(text) if wrap.json.len() == 1 && wrap.json.contains(text) => Some(text),
            _ => None,
        });
        if let Some(flag) = twice {
            found.push(warning(
                "json-flag-twice",
                format!("{verb} writes {}, which is appended as well", ticked(flag)),
                "leave it out of the template, or set `wrap.json = []`",
            ));
        }
        let is_flag = |token: &&Token| match token {
            Token::Literal(text) => text.starts_with('-'),
            Token::Flag { .. } => true,
            Token::Bare(_) | Token::Mixed(_) => false,
        };
        let behind_flags = self
            .tokens
            .iter()
            .find(|token| !is_flag(token))
            .filter(|token| begins_with_slot(token) && self.is_open(token));
        if behind_flags.is_some() && !wrap.single {
            found.push(warning(
                "placeholder-behind-flags",
                format!("{verb} has only flags before its first placeholder"),
                "make sure that no caller chooses the subcommand; write it as text, or set \
                 `wrap.single = true`",
            ));
        }
    }

    fn arguments(&self, found: &mut Vec<Warning>) {
        let verb = ticked(self.verb_key);
        let used = template_names(self.command, Some(&self.tokens));
        let rendered = matches!(
            self.manifest.kind_of(self.command),
            Kind::Wrap | Kind::Composite
        );
        for (name, argument) in &self.command.args {
            if rendered && !used.contains(name) && !is_reserved(name) {
                found.push(warning(
                    "unused-argument",
                    format!("{verb} declares {} and makes no use of it", ticked(name)),
                    "use it in the template, or remove it",
                ));
            }
            if argument.required && schema::default_of(argument.schema.as_ref()).is_some() {
                found.push(warning(
                    "required-with-default",
                    format!("{} of {verb} is required and has a default", ticked(name)),
                    "with a default it is never missing; remove one of the two",
                ));
            }
        }
    }

    fn examples(&self, found: &mut Vec<Warning>) {
        let verb = ticked(self.verb_key);
        if self.command.examples.is_empty() {
            found.push(warning(
                "no-examples",
                format!("{verb} has no example"),
                "write `[commands.<verb>.examples.<name>]`; examples are tests",
            ));
            return;
        }
        let Ok(prepared) = PreparedCommand::compile(self.manifest, self.verb_key, self.command)
        else {
            return;
        };
        for (name, example) in &self.command.examples {
            let example_name = format!("the example {} of {verb}", ticked(name));
            let rendered = prepared
                .check(&example.args)
                .and_then(|checked| prepared.render(&checked));
            match (rendered, &example.argv) {
                (Err(error), _) => found.push(warning(
                    "example-refused",
                    format!("{example_name} would be refused: {error}"),
                    "write arguments that the command takes",
                )),
                (Ok(argv), Some(expected)) if argv != *expected => found.push(warning(
                    "example-differs",
                    format!("{example_name} renders another argv than it says"),
                    "`hcp pack test` shows both",
                )),
                _ => {}
            }
        }
    }

    fn is_open(&self, token: &Token) -> bool {
        token.names().any(|name| {
            let argument = self.command.args.get(name);
            !argument.is_some_and(|argument| schema::is_closed(argument.schema.as_ref()))
        })
    }
}

fn warning(rule: &'static str, message: String, hint: &str) -> Warning {
    Warning {
        rule,
        message,
        hint: hint.to_owned(),
    }
}
