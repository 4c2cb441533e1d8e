//! §6.4: from a template and arguments to an argv.

use hcp_spec::envelope::{Arguments, ExecEnvelope};
use hcp_spec::manifest::{Command, Manifest, Presentation};
use hcp_spec::name::command_tail;
use serde_json::Value;

use super::WrongRuntime;
use super::arguments::RESERVED;

/// A piece of a token.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

impl WrongRuntime {
    pub(super) fn render(
        &self,
        manifest: &Manifest,
        command: &Command,
        call: &ExecEnvelope,
    ) -> Result<Vec<String>, String> {
        let has = |name| self.faults.has(name);
        let wrap = manifest.wrap.as_ref();
        let shared = wrap.and_then(|wrap| wrap.argv_template.as_ref());
        let mut given = call.args.clone();
        if has("reserved-not-rendered") {
            given.retain(|name, _| !RESERVED.contains(&name.as_str()));
        }
        let mut argv = Vec::new();
        let own = command
            .cli
            .as_ref()
            .filter(|_| !(has("template-wins") && shared.is_some()));
        if let Some(cli) = own {
            let first = usize::from(!has("keeps-first-token"));
            if has("first-token-read") {
                let token = cli.first().map_or("", String::as_str);
                self.render_tokens([token].into_iter(), command, &given, &mut argv)?;
                if argv.first().is_some_and(|first| first == token) {
                    argv.clear();
                }
            }
            self.render_tokens(
                cli.iter().skip(first).map(String::as_str),
                command,
                &given,
                &mut argv,
            )?;
        } else {
            for token in shared.into_iter().flatten() {
                if token == "{{verb}}" && !has("verb-unexpanded") {
                    argv.extend(self.verb_words(&call.verb_key));
                } else if token == "{{verb}}" {
                    argv.push(token.clone());
                } else {
                    self.render_tokens([token.as_str()].into_iter(), command, &given, &mut argv)?;
                }
            }
        }
        self.append_json(wrap.map_or(&[][..], |wrap| &wrap.json), &mut argv);
        Ok(argv)
    }

    fn verb_words(&self, key: &str) -> Vec<String> {
        let has = |name| self.faults.has(name);
        let tail = match key.rsplit_once('.') {
            Some((_, last)) if has("verb-last-word") => return vec![last.to_owned()],
            _ if has("verb-whole-key") => {
                return key.split_whitespace().map(str::to_owned).collect();
            }
            _ => command_tail(key),
        };
        if has("verb-unsplit") {
            return vec![tail.collect::<Vec<_>>().join(" ")];
        }
        tail.map(str::to_owned).collect()
    }

    fn append_json(&self, json: &[String], argv: &mut Vec<String>) {
        let has = |name| self.faults.has(name);
        if has("no-json") || has("json-once") && argv.iter().any(|word| word == "--json") {
            return;
        }
        if has("json-fixed") {
            argv.push("--json".to_owned());
            return;
        }
        let end = argv
            .iter()
            .position(|word| word == "--")
            .filter(|_| has("json-before-dashes"));
        let end = end.unwrap_or(argv.len());
        argv.splice(end..end, json.iter().cloned());
    }

    fn render_tokens<'t>(
        &self,
        tokens: impl Iterator<Item = &'t str>,
        command: &Command,
        given: &Arguments,
        argv: &mut Vec<String>,
    ) -> Result<(), String> {
        let has = |name| self.faults.has(name);
        let mut seen: Vec<&str> = Vec::new();
        let mut behind_dashes = false;
        for token in tokens {
            behind_dashes |= token == "--";
            let name = pieces(token).into_iter().find_map(|piece| match piece {
                Piece::Name(name) => Some(name),
                Piece::Text(_) => None,
            });
            if let Some(name) = name.filter(|_| has("once-each")) {
                if seen.contains(&name) {
                    argv.push(token.to_owned());
                    continue;
                }
                seen.push(name);
            }
            let Some(mut word) = self.render_token(token, command, given, behind_dashes)? else {
                continue;
            };
            if has("expands-twice") && word.contains("{{") {
                word = self
                    .render_token(&word, command, given, true)?
                    .unwrap_or_default();
            }
            if has("flag-and-value") && token.starts_with('-') && name.is_some() {
                argv.extend(word.splitn(2, '=').map(str::to_owned));
            } else if has("splits-values") && name.is_some() {
                argv.extend(word.split_whitespace().map(str::to_owned));
            } else {
                argv.push(word);
            }
        }
        Ok(())
    }

    /// One token: one element of the argv, or none.
    fn render_token(
        &self,
        token: &str,
        command: &Command,
        given: &Arguments,
        behind_dashes: bool,
    ) -> Result<Option<String>, String> {
        let has = |name| self.faults.has(name);
        let pieces = pieces(token);
        let rendered = match pieces.as_slice() {
            [] => return Ok(None),
            [Piece::Name(name)] => {
                let text = self.value(name, command, given)?.unwrap_or_default();
                if text.is_empty() && !has("keeps-empty-tokens") {
                    return Ok(None);
                }
                text
            }
            [Piece::Text(flag), Piece::Name(name)]
                if flag.starts_with('-') && flag.ends_with('=') =>
            {
                return self.render_flag(flag, name, command, given);
            }
            _ => self.render_mixed(&pieces, command, given)?,
        };
        if let Some(Piece::Name(name)) = pieces.first() {
            let argument = command.args.get(*name);
            let allowed = behind_dashes
                || argument.is_some_and(|argument| argument.dash && !has("dash-flag-ignored"))
                || given.get(*name).is_some_and(Value::is_number)
                || has("dash-accepted");
            if rendered.starts_with('-') && (!allowed || has("dash-refused")) {
                return Err(format!("args: `{name}` begins with \"-\""));
            }
        }
        Ok(Some(rendered))
    }

    fn render_flag(
        &self,
        flag: &str,
        name: &str,
        command: &Command,
        given: &Arguments,
    ) -> Result<Option<String>, String> {
        let has = |name| self.faults.has(name);
        let switch = command.args.get(name).is_some_and(|argument| {
            argument.presentation == Some(Presentation::Switch) && !has("as-ignored")
        });
        if switch {
            let on = given.get(name) == Some(&Value::Bool(true));
            return Ok(on.then(|| flag.trim_end_matches('=').to_owned()));
        }
        let text = match self.value(name, command, given)? {
            None if has("empty-flag-kept") => String::new(),
            None => return Ok(None),
            Some(text) if text.is_empty() && has("drops-empty-flags") => return Ok(None),
            Some(text) if text.starts_with('-') && has("dash-refused") => {
                return Err(format!("args: `{name}` begins with \"-\""));
            }
            Some(text) => text,
        };
        Ok(Some(format!("{flag}{text}")))
    }

    fn render_mixed(
        &self,
        pieces: &[Piece<'_>],
        command: &Command,
        given: &Arguments,
    ) -> Result<String, String> {
        let (mut text, mut first) = (String::new(), true);
        for piece in pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Name(name) if self.faults.has("one-placeholder") && !first => {
                    text.extend(["{{", name, "}}"]);
                }
                Piece::Name(name) => {
                    first = false;
                    match self.value(name, command, given)? {
                        Some(value) => text.push_str(&value),
                        None if self.faults.has("missing-is-empty") => {}
                        None => return Err(format!("args: missing `{name}`")),
                    }
                }
            }
        }
        Ok(text)
    }
}

pub(super) fn pieces(token: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), token);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else {
            break;
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Name(name));
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}
