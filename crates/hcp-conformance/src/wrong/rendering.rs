//! §6.4: from a template and arguments to an argv.

use hcp_spec::envelope::{Arguments, ExecEnvelope};
use hcp_spec::manifest::{Argument, Command, Manifest, Presentation};
use hcp_spec::name::command_tail;
use serde_json::Value;

use super::WrongRuntime;
use super::steps::Walk;
use super::strings::{double_text, to_text};

const RESERVED: [&str; 3] = ["confirm", "apply", "mode"];

/// A piece of a token.
enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

impl WrongRuntime {
    /// What stands between steps 6 and 7: whether the call could run with these arguments.
    pub(super) fn check_arguments(&self, walk: &Walk<'_>) -> Result<(), String> {
        let (Some(pack), Some(command)) = (walk.pack, walk.command()) else {
            return Ok(());
        };
        let manifest = &pack.manifest;
        let given = &walk.call.args;
        let names = names_of(manifest, command);
        for (name, value) in given {
            let reserved = RESERVED.contains(&name.as_str());
            let known = reserved || names.contains(&name.as_str()) || !command.steps.is_empty();
            if !known && !self.faults.has("drops-unknown-arguments") {
                return Err(format!("args: unknown argument `{name}`"));
            }
            if reserved && self.faults.has("reserved-refused") && !names.contains(&name.as_str()) {
                return Err(format!("args: unknown argument `{name}`"));
            }
            if name == "mode"
                && value != "mock"
                && !names.contains(&"mode")
                && !self.faults.has("any-mode")
            {
                return Err("args: `mode` can only be \"mock\"".to_owned());
            }
        }
        for (name, argument) in &command.args {
            self.check_declared(name, argument, given.get(name))?;
        }
        if command.steps.is_empty() {
            self.render(manifest, command, walk.call)?;
        }
        Ok(())
    }

    fn check_declared(
        &self,
        name: &str,
        argument: &Argument,
        value: Option<&Value>,
    ) -> Result<(), String> {
        let Some(value) = value else {
            if argument.required && !self.faults.has("nothing-required") {
                return Err(format!("args: missing `{name}`"));
            }
            return Ok(());
        };
        let wanted = argument
            .schema
            .as_ref()
            .and_then(|schema| schema.get("type"));
        let fits = match wanted.and_then(Value::as_str) {
            Some("integer" | "number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            Some("string") => value.is_string(),
            _ => true,
        };
        if fits || self.faults.has("types-ignored") {
            return Ok(());
        }
        Err(format!("args: `{name}` has the wrong type"))
    }

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

    /// The text of an argument; none where it is absent or null.
    fn value(
        &self,
        name: &str,
        command: &Command,
        given: &Arguments,
    ) -> Result<Option<String>, String> {
        let has = |name| self.faults.has(name);
        let Some(value) = given.get(name) else {
            return Ok(None);
        };
        if value.is_null() && !has("null-as-word") {
            return Ok(None);
        }
        let as_json = command.args.get(name).is_some_and(|argument| {
            argument.presentation == Some(Presentation::Json) && !has("as-ignored")
        });
        let text = match self.misrender(value) {
            Some(text) => text,
            None if as_json => value.to_string(),
            None => to_text(value).map_err(|reason| format!("args: `{name}`: {reason}"))?,
        };
        match text.split_once('\0') {
            Some((start, _)) if has("nul-cuts") => Ok(Some(start.to_owned())),
            Some(_) => Err(format!("args: `{name}` holds a NUL byte")),
            None => Ok(Some(text)),
        }
    }

    /// The text of a value as a faulty renderer makes it, where that differs.
    fn misrender(&self, value: &Value) -> Option<String> {
        let has = |name| self.faults.has(name);
        let text = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) if has("booleans-as-numbers") => u8::from(*value).to_string(),
            Value::Bool(false) if has("false-drops") => String::new(),
            Value::Number(number) if has("numbers-as-written") => number.to_string(),
            Value::Number(number) => self.misrender_number(number.as_f64()?)?,
            Value::String(text) if has("ascii-only") => text.replace(|c: char| !c.is_ascii(), ""),
            Value::Array(_) if has("arrays-as-json") => value.to_string(),
            Value::Array(elements) => {
                let texts = elements.iter().map(|one| {
                    self.misrender(one)
                        .filter(|_| has("null-as-word") || !one.is_null())
                });
                let texts: Vec<_> = texts.collect();
                if texts.iter().all(Option::is_none) {
                    return None;
                }
                let each = texts.into_iter().zip(elements);
                let each = each
                    .map(|(text, one)| text.unwrap_or_else(|| to_text(one).unwrap_or_default()));
                each.collect::<Vec<_>>().join(",")
            }
            Value::Object(_) if has("objects-as-javascript") => "[object Object]".to_owned(),
            _ => return None,
        };
        Some(text)
    }

    // Losing digits is the fault.
    #[allow(clippy::cast_possible_truncation)]
    fn misrender_number(&self, number: f64) -> Option<String> {
        let has = |name| self.faults.has(name);
        if has("never-exponents") {
            Some(format!("{number}"))
        } else if has("numbers-with-point") && number.fract() == 0.0 {
            Some(format!("{number:.1}"))
        } else if has("single-precision") {
            Some(double_text(f64::from(number as f32)))
        } else if has("integers-as-doubles") {
            Some(double_text(number))
        } else {
            None
        }
    }
}

/// The arguments that a command has: those it declares, or else those that its template uses.
fn names_of<'m>(manifest: &'m Manifest, command: &'m Command) -> Vec<&'m str> {
    if !command.args.is_empty() {
        return command.args.keys().map(String::as_str).collect();
    }
    let shared = manifest
        .wrap
        .as_ref()
        .and_then(|wrap| wrap.argv_template.as_ref());
    let tokens = command.cli.as_ref().or(shared);
    let pieces = tokens.into_iter().flatten().flat_map(|token| pieces(token));
    let names = pieces.filter_map(|piece| match piece {
        Piece::Name(name) if name != "verb" => Some(name),
        Piece::Name(_) | Piece::Text(_) => None,
    });
    names.collect()
}

fn pieces(token: &str) -> Vec<Piece<'_>> {
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
