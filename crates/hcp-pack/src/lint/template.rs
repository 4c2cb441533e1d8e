//! Warnings about how a command is written into argv.

use hcp_spec::manifest::{Argument, Kind, Presentation};

use super::Seen;
use super::command::Subject;
use crate::finding::Place;
use crate::pass_through::begins_with_slot;
use crate::prepare::is_literal;
use crate::schema;
use crate::template::{Token, place_of_token};
use crate::wording::ticked;

impl Subject<'_> {
    pub(super) fn template(&self, found: &mut Vec<Seen>) {
        found.extend(self.dropped_first_token());
        found.extend(self.json_flag_twice());
        found.extend(self.placeholder_behind_flags());
        let pairs = self.tokens.iter().zip(self.tokens.iter().skip(1));
        for (position, (flag, value)) in pairs.enumerate() {
            found.extend(self.dangling_flag(position, flag, value));
        }
    }

    /// The first token of `cli` is the name of the tool; anything else there is lost (§6.4).
    fn dropped_first_token(&self) -> Option<Seen> {
        let wrap = self.manifest.wrap.as_ref()?;
        let first = self.command.cli.as_ref()?.first()?;
        let file = wrap.bin.rsplit('/').next().unwrap_or(&wrap.bin);
        let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
        let names = [wrap.bin.as_str(), file, stem, self.manifest.id.as_str()];
        let wraps = *self.manifest.kind_of(self.command) == Kind::Wrap;
        if !wraps || names.contains(&first.as_str()) {
            return None;
        }
        Some(Seen::new(
            "dropped-first-token",
            self.place().key("cli").index(0),
            format!(
                "the `cli` of {} begins with {}, which is dropped unread",
                self.verb,
                ticked(first)
            ),
            format!(
                "its first token is the name of the tool: write {} before it, or instead of it",
                ticked(file)
            ),
        ))
    }

    fn json_flag_twice(&self) -> Option<Seen> {
        let wrap = self.manifest.wrap.as_ref()?;
        let [json] = wrap.json.as_slice() else {
            return None;
        };
        let is_json = |token: &Token| matches!(token, Token::Literal(text) if text == json);
        let position = self.tokens.iter().position(is_json)?;
        Some(Seen::new(
            "json-flag-twice",
            self.place_of_token(position),
            format!(
                "{} writes {}, which is appended as well",
                self.verb,
                ticked(json)
            ),
            "leave it out of the template, or set `wrap.json = []`",
        ))
    }

    fn placeholder_behind_flags(&self) -> Option<Seen> {
        let wrap = self.manifest.wrap.as_ref()?;
        let is_flag = |token: &Token| match token {
            Token::Literal(text) => text.starts_with('-'),
            Token::Flag { .. } => true,
            Token::Bare(_) | Token::Mixed(_) => false,
        };
        let position = self.tokens.iter().position(|token| !is_flag(token))?;
        let token = self.tokens.get(position)?;
        if wrap.single || !begins_with_slot(token) || !self.is_open(token) {
            return None;
        }
        Some(Seen::new(
            "placeholder-behind-flags",
            self.place_of_token(position),
            format!("{} has only flags before its first placeholder", self.verb),
            "make sure that no caller chooses the subcommand; write it as text, or set \
             `wrap.single = true`",
        ))
    }

    /// `--limit` and its value in two tokens: only the value goes away when nobody gives one, and the
    /// flag takes whatever comes next.
    fn dangling_flag(&self, position: usize, flag: &Token, value: &Token) -> Option<Seen> {
        let (Token::Literal(flag), Token::Bare(name)) = (flag, value) else {
            return None;
        };
        let takes_value =
            flag.starts_with('-') && !flag.contains('=') && !flag.trim_matches('-').is_empty();
        let argument = self.command.args.get(name);
        let always_there = argument.is_some_and(|argument| {
            argument.required || schema::default_of(argument.schema.as_ref()).is_some()
        });
        if !takes_value || always_there {
            return None;
        }
        let shown = ticked(name);
        Some(Seen::new(
            "dangling-flag",
            self.place_of_token(position),
            format!(
                "{} of {} stays when {shown} is absent",
                ticked(flag),
                self.verb
            ),
            format!(
                "write {}, or make sure of a value: `required = true` or a `default`",
                ticked(&format!("{flag}={{{{{name}}}}}"))
            ),
        ))
    }

    /// An argument that only takes objects cannot be written into argv as text.
    pub(super) fn object_without_form(&self, name: &str, argument: &Argument) -> Option<Seen> {
        let types = schema::types(argument.schema.as_ref());
        let only_objects =
            types.contains(&"object") && types.iter().all(|word| ["object", "null"].contains(word));
        let used = self
            .tokens
            .iter()
            .flat_map(Token::names)
            .any(|used| used == name);
        if !only_objects
            || !used
            || argument.presentation == Some(Presentation::Json)
            || is_literal(self.manifest)
        {
            return None;
        }
        Some(Seen::new(
            "object-without-form",
            self.place().key("args").key(name),
            format!(
                "{} of {} takes only objects, which have no argv form, so every call that gives it \
                 is refused",
                ticked(name),
                self.verb
            ),
            "set `as = \"json\"` to pass its compact JSON",
        ))
    }

    fn place_of_token(&self, position: usize) -> Place {
        place_of_token(self.manifest, self.verb_key, self.command, position)
    }

    fn is_open(&self, token: &Token) -> bool {
        token.names().any(|name| {
            let argument = self.command.args.get(name);
            !argument.is_some_and(|argument| schema::is_closed(argument.schema.as_ref()))
        })
    }
}
