//! Warnings about one command: its Policy entry, its arguments, its examples.

use hcp_spec::manifest::{Command, Effect, Kind, Manifest, Policy};

use super::Seen;
use crate::finding::Place;
use crate::prepare::{PreparedCommand, is_reserved, template_names};
use crate::schema;
use crate::template::{Token, command_tokens};
use crate::wording::ticked;

/// One command under the lamp.
pub(super) struct Subject<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) verb_key: &'a str,
    pub(super) command: &'a Command,
    /// The verb key as messages name it.
    pub(super) verb: String,
    /// What a command of kind `wrap` is rendered from; nothing for other kinds.
    pub(super) tokens: Vec<Token>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(manifest: &'a Manifest, verb_key: &'a str, command: &'a Command) -> Self {
        let tokens = match manifest.kind_of(command) {
            Kind::Wrap => command_tokens(manifest, verb_key, command),
            _ => Ok(None),
        };
        Self {
            manifest,
            verb_key,
            command,
            verb: ticked(verb_key),
            tokens: tokens.ok().flatten().unwrap_or_default(),
        }
    }

    /// Notes everything there is to say about the command.
    pub(super) fn look(&self, found: &mut Vec<Seen>) {
        if self.command.summary.trim().is_empty() {
            found.push(Seen::new(
                "empty-summary",
                self.place().key("summary"),
                format!("{} has no summary", self.verb),
                "say in one line what it does",
            ));
        }
        if let Some(kind) = &self.command.kind {
            super::kind(kind, self.place().key("kind"), found);
        }
        self.policy(found);
        self.template(found);
        self.arguments(found);
        if let Some(result) = &self.command.result {
            let of = format!("the result of {}", self.verb);
            super::schema(result, self.place().key("result"), &of, found);
        }
        self.examples(found);
    }

    pub(super) fn place(&self) -> Place {
        Place::keys(["commands", self.verb_key])
    }

    fn policy(&self, found: &mut Vec<Seen>) {
        let verb = &self.verb;
        let Some(policy) = self.manifest.policy.get(self.verb_key) else {
            found.push(Seen::new(
                "command-without-policy",
                self.place(),
                format!("{verb} has no Policy entry, so every call is refused"),
                "write `[policy.<verb>]` with the capability that a caller must hold",
            ));
            return;
        };
        if policy.confirm == Some(false) {
            found.extend(self.confirm_off(policy));
        }
    }

    fn confirm_off(&self, policy: &Policy) -> Option<Seen> {
        let verb = &self.verb;
        let (rule, message, hint) = if self.command.bootstrap {
            (
                "confirm-not-off",
                format!("{verb} is a bootstrap command and needs confirmation all the same"),
                "remove `confirm = false`",
            )
        } else if policy.approval.is_some() {
            (
                "confirm-not-off",
                format!("{verb} needs approval, which implies confirmation"),
                "remove `confirm = false`",
            )
        } else if self.command.effect == Effect::Destructive {
            (
                "destructive-without-confirm",
                format!("{verb} is destructive and runs without confirmation"),
                "remove `confirm = false`, or say the smaller `effect` that it really has",
            )
        } else {
            return None;
        };
        let place = Place::keys(["policy", self.verb_key, "confirm"]);
        Some(Seen::new(rule, place, message, hint))
    }

    fn arguments(&self, found: &mut Vec<Seen>) {
        let verb = &self.verb;
        let used = template_names(self.command, Some(&self.tokens));
        let rendered = matches!(
            self.manifest.kind_of(self.command),
            Kind::Wrap | Kind::Composite
        );
        for (name, argument) in &self.command.args {
            let place = self.place().key("args").key(name);
            let shown = ticked(name);
            if rendered && !used.contains(name) && !is_reserved(name) {
                found.push(Seen::new(
                    "unused-argument",
                    place.clone(),
                    format!("{verb} declares {shown} and makes no use of it"),
                    "use it in the template, or remove it",
                ));
            }
            if argument.required && schema::default_of(argument.schema.as_ref()).is_some() {
                found.push(Seen::new(
                    "required-with-default",
                    place.clone().key("required"),
                    format!("{shown} of {verb} is required and has a default"),
                    "with a default it is never missing; remove one of the two",
                ));
            }
            found.extend(self.object_without_form(name, argument));
            if let Some(schema) = &argument.schema {
                let of = format!("{shown} of {verb}");
                super::schema(schema, place.key("schema"), &of, found);
            }
        }
    }

    fn examples(&self, found: &mut Vec<Seen>) {
        let place = self.place();
        if self.command.examples.is_empty() {
            found.push(Seen::new(
                "no-examples",
                place,
                format!("{} has no example", self.verb),
                "write `[commands.<verb>.examples.<name>]`; examples are tests",
            ));
            return;
        }
        let Ok(prepared) = PreparedCommand::compile(self.manifest, self.verb_key, self.command)
        else {
            return;
        };
        for (name, example) in &self.command.examples {
            let place = place.clone().key("examples").key(name);
            let example_name = format!("the example {} of {}", ticked(name), self.verb);
            let rendered = prepared
                .check(&example.args)
                .and_then(|checked| prepared.render(&checked));
            match (rendered, &example.argv) {
                (Err(error), _) => found.push(Seen::new(
                    "example-refused",
                    place.key("args"),
                    format!("{example_name} would be refused: {error}"),
                    "write arguments that the command takes",
                )),
                (Ok(argv), Some(expected)) if argv != *expected => found.push(Seen::new(
                    "example-differs",
                    place.key("argv"),
                    format!("{example_name} renders another argv than it says"),
                    "`hcp pack test` shows both",
                )),
                _ => {}
            }
        }
    }
}
