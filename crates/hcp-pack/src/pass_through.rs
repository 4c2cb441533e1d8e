//! No pack-level pass-through (§6.7): a command names what it does, its caller only fills it in.
//!
//! Three shapes hand the caller the tool itself, or a shell, and are refused with a mend: the key
//! `*`; a first token that the caller chooses; and a shell, interpreter or launcher whose code the
//! caller writes. A placeholder that is limited to values the author listed is as good as text.

use hcp_spec::manifest::{Command, Kind, Manifest, Rendering, Wrap};
use hcp_spec::name::command_tail;
use serde_json::Value;

use crate::finding::{Finding, Place};
use crate::programs::{Program, Role};
use crate::render::value_text;
use crate::schema::{choices, default_of, is_closed, types};
use crate::template::{Segment, Token, place_of_token};
use crate::wording::ticked;

/// Checks that a command is no pass-through.
///
/// # Errors
/// A [`Finding`] that says which shape it has and what to do instead.
pub(crate) fn check(
    manifest: &Manifest,
    verb_key: &str,
    command: &Command,
    tokens: &[Token],
) -> Result<(), Finding> {
    let place = Place::keys(["commands", verb_key]);
    if command.bootstrap {
        return bootstrap(manifest, verb_key, place);
    }
    if command_tail(verb_key).eq(["*"]) || verb_key == "*" {
        return Err(Finding::new(
            place,
            "the key `*` stands for every command of the tool, which is a pass-through",
        )
        .hint("name each command that callers may run"));
    }
    let (Kind::Wrap, Some(wrap)) = (manifest.kind_of(command), &manifest.wrap) else {
        return Ok(());
    };
    let argv = Argv {
        command,
        literal: wrap.rendering == Rendering::Literal,
    };
    argv.first_token(wrap, tokens)
        .and_then(|()| argv.code(wrap, tokens))
        .map_err(|refused| {
            let place = match command.cli {
                Some(_) => place_of_token(manifest, verb_key, command, refused.position),
                // The template is that of every command; what is wrong is this one with it.
                None => place,
            };
            Finding::new(place, refused.message).hint(refused.hint)
        })
}

/// A bootstrap command may be a pass-through, as long as it is alone.
fn bootstrap(manifest: &Manifest, verb_key: &str, place: Place) -> Result<(), Finding> {
    if manifest.commands.len() == 1 {
        return Ok(());
    }
    let others = manifest.commands.len() - 1;
    Err(Finding::new(
        place.key("bootstrap"),
        format!(
            "{} is a bootstrap command beside {others} other{}",
            ticked(verb_key),
            if others == 1 { "" } else { "s" }
        ),
    )
    .hint("a bootstrap command stands alone; remove it now that the pack names its commands"))
}

/// A token that hands its caller too much.
struct Refused {
    /// Its position among the tokens of the command.
    position: usize,
    message: String,
    hint: &'static str,
}

impl Refused {
    fn new(tokens: &[Token], token: &Token, message: String, hint: &'static str) -> Self {
        Self {
            position: tokens
                .iter()
                .position(|other| std::ptr::eq(other, token))
                .unwrap_or_default(),
            message,
            hint,
        }
    }
}

/// The argv of one command, looked at as someone who wants to run something else.
struct Argv<'a> {
    command: &'a Command,
    literal: bool,
}

impl Argv<'_> {
    fn first_token(&self, wrap: &Wrap, tokens: &[Token]) -> Result<(), Refused> {
        // What may be left out lets the token behind it move to the front.
        let first = tokens
            .iter()
            .find(|token| self.is_open(token) || !self.may_be_removed(token));
        let Some(first) = first else {
            return Ok(());
        };
        if wrap.single || !begins_with_slot(first) || !self.is_open(first) {
            return Ok(());
        }
        let names = self.names(first, is_closed);
        Err(Refused::new(
            tokens,
            first,
            format!(
                "the first token after the bin is whatever {names} says, which is a pass-through"
            ),
            "write the subcommand as text, list its values in an `enum`, or set `wrap.single = true` \
             for a tool that has no subcommands",
        ))
    }

    fn code(&self, wrap: &Wrap, tokens: &[Token]) -> Result<(), Refused> {
        let outer = Program::of(&wrap.bin).map(|program| (program, self.exposed(program, tokens)));
        let found = match outer {
            Some((program, Some(token))) => Some((program, wrap.bin.as_str(), token)),
            _ => self.nested(tokens),
        };
        let Some((program, name, token)) = found else {
            return Ok(());
        };
        let names = self.names(token, is_no_code);
        Err(Refused::new(
            tokens,
            token,
            format!(
                "{} is {}, and {names} would choose what it runs, which is a pass-through",
                ticked(name),
                program.noun()
            ),
            "write the code or the program as text and hand values over as its arguments, or list \
             the values in an `enum`",
        ))
    }

    /// The first token by which a caller could choose what `program` runs.
    fn exposed<'t>(&self, program: &Program, tokens: &'t [Token]) -> Option<&'t Token> {
        match program.role {
            Role::Joiner => tokens.iter().find(|token| self.is_free(token)),
            Role::Runner => self.exposed_command(program, tokens),
            Role::Shell | Role::Interpreter | Role::Launcher => {
                self.exposed_operand(program, tokens)
            }
        }
    }

    /// Flags whose value is a command, and values that could become such a flag.
    fn exposed_command<'t>(&self, program: &Program, tokens: &'t [Token]) -> Option<&'t Token> {
        let mut after_code_flag = false;
        for token in tokens {
            let is_flag = match token {
                Token::Literal(text) if text == "--" && !after_code_flag => return None,
                Token::Literal(text) => program.takes_code(text),
                _ => false,
            };
            let open = self.is_free(token);
            if open
                && (after_code_flag || attached(program, token) || self.may_begin_with_dash(token))
            {
                return Some(token);
            }
            // A value that is left out makes the next token that of the flag.
            after_code_flag = is_flag || (after_code_flag && self.may_be_removed(token));
        }
        None
    }

    /// Walks up to the operand that is run, or whose program is; everything before it must be text.
    fn exposed_operand<'t>(&self, program: &Program, tokens: &'t [Token]) -> Option<&'t Token> {
        let mut skip = program.skip;
        let mut code_seen = false;
        let mut flags_ended = false;
        let mut rest = tokens;
        while let Some((token, after)) = rest.split_first() {
            rest = after;
            if self.is_free(token) {
                if self.is_harmless(program, token, code_seen, flags_ended) {
                    if code_seen && !matches!(token, Token::Flag { .. }) && !program.permutes {
                        return None;
                    }
                    continue;
                }
                return Some(token);
            }
            let Token::Literal(text) = token else {
                // One of the author's values. It settles what a shell or interpreter runs; what a
                // launcher would start by it is not looked into, so nothing open may follow.
                let settles =
                    !self.is_open(token) && begins_with_slot(token) && !self.may_be_removed(token);
                if settles && program.role != Role::Launcher && !program.permutes {
                    return None;
                }
                continue;
            };
            if text == "--" && !flags_ended {
                if code_seen && program.role != Role::Shell {
                    return None;
                }
                flags_ended = true;
            } else if !flags_ended && (is_flag(text) || program.takes_code(text)) {
                let takes_code = program.takes_code(text);
                if takes_code || program.loads(text) {
                    if program.role != Role::Shell || text.starts_with("--") {
                        let (value, after) = rest.split_first()?;
                        if self.is_free(value) {
                            return Some(value);
                        }
                        if self.may_be_removed(value) {
                            // Everything behind it may move up, to where the code stands.
                            return after.iter().find(|token| self.is_free(token));
                        }
                        rest = after;
                    }
                    code_seen |= takes_code;
                } else if program.has_code_attached(text) {
                    code_seen = true;
                } else if program.takes_value(text) {
                    let (value, after) = rest.split_first()?;
                    if self.is_free(value) && !is_never_removed(value) {
                        return Some(value);
                    }
                    if self.may_be_removed(value) {
                        return after.iter().find(|token| self.is_free(token));
                    }
                    rest = after;
                }
                if code_seen && program.code_ends_flags {
                    return None;
                }
            } else if program.role == Role::Launcher {
                if skip > 0 {
                    skip -= 1;
                } else if !text.contains('=') {
                    return Program::of(text).and_then(|inner| self.exposed(inner, rest));
                }
            } else if program.permutes {
                code_seen = true;
            } else {
                return None;
            }
        }
        None
    }

    /// Whether a token that the caller fills in can be neither the code nor a flag that takes code.
    fn is_harmless(&self, program: &Program, token: &Token, code_seen: bool, ended: bool) -> bool {
        match token {
            Token::Flag { .. } => !attached(program, token),
            _ => {
                code_seen
                    && program.role != Role::Shell
                    && (ended || !(attached(program, token) || self.may_begin_with_dash(token)))
            }
        }
    }

    /// A shell or interpreter inside the argv of another program: `docker run x sh -c {{code}}`.
    fn nested<'t>(&self, tokens: &'t [Token]) -> Option<(&'static Program, &'t str, &'t Token)> {
        tokens.iter().enumerate().find_map(|(index, token)| {
            let Token::Literal(name) = token else {
                return None;
            };
            let program = Program::of(name)
                .filter(|program| matches!(program.role, Role::Shell | Role::Interpreter))?;
            let mut code = false;
            for token in tokens.iter().skip(index + 1) {
                match token {
                    Token::Literal(text) if is_flag(text) => code |= program.takes_code(text),
                    token if self.is_free(token) && (code || attached(program, token)) => {
                        return Some((program, name.as_str(), token));
                    }
                    token if !self.is_free(token) && self.may_be_removed(token) => {}
                    _ => return None,
                }
            }
            None
        })
    }

    /// Whether the caller decides what stands in this token: a placeholder without a list of values.
    fn is_open(&self, token: &Token) -> bool {
        token.names().any(|name| !self.limits(name, is_closed))
    }

    /// Whether what the caller puts into this token could be code or the name of a program.
    fn is_free(&self, token: &Token) -> bool {
        token.names().any(|name| !self.limits(name, is_no_code))
    }

    /// The arguments of a token that its author does not limit like this, for a message.
    fn names(&self, token: &Token, limit: fn(Option<&Value>) -> bool) -> String {
        let names = token.names().filter(|name| !self.limits(name, limit));
        names.map(ticked).collect::<Vec<_>>().join(", ")
    }

    fn limits(&self, name: &str, limit: fn(Option<&Value>) -> bool) -> bool {
        let argument = self.command.args.get(name);
        argument.is_some_and(|argument| limit(argument.schema.as_ref()))
    }

    /// Whether a token that the author limits can still render to nothing. Flags are not looked at:
    /// whether one stands there or not, the token behind it is no subcommand by its place alone.
    fn may_be_removed(&self, token: &Token) -> bool {
        begins_with_slot(token)
            && !is_never_removed(token)
            && token.names().any(|name| {
                let argument = self.command.args.get(name);
                argument.is_none_or(|argument| {
                    let schema = argument.schema.as_ref();
                    let always_there = argument.required || default_of(schema).is_some();
                    let empty =
                        |choice: &Value| value_text(choice).is_some_and(|text| text.is_empty());
                    !always_there
                        || match choices(schema) {
                            Some(all) => all.into_iter().any(empty),
                            None => !is_no_code(schema),
                        }
                })
            })
    }

    fn may_begin_with_dash(&self, token: &Token) -> bool {
        begins_with_slot(token)
            && (self.literal
                || token.names().any(|name| {
                    self.command
                        .args
                        .get(name)
                        .is_some_and(|argument| argument.dash)
                }))
    }
}

/// Whether no value can be code: the author lists them, or they are numbers, `true` and `false`.
fn is_no_code(schema: Option<&Value>) -> bool {
    let types = types(schema);
    let harmless = ["boolean", "integer", "null", "number"];
    is_closed(schema) || (!types.is_empty() && types.iter().all(|word| harmless.contains(word)))
}

fn is_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with(['-', '+'])
}

pub(crate) fn begins_with_slot(token: &Token) -> bool {
    match token {
        Token::Bare(_) => true,
        Token::Mixed(segments) => matches!(segments.first(), Some(Segment::Slot(_))),
        Token::Literal(_) | Token::Flag { .. } => false,
    }
}

/// Whether a placeholder stands where the value of a code flag is attached, or among short flags,
/// where it could be one.
fn attached(program: &Program, token: &Token) -> bool {
    match token {
        Token::Flag { flag, .. } => program.attaches(flag) || !flag.starts_with("--"),
        Token::Mixed(segments) => match segments.first() {
            Some(Segment::Text(text)) if text.starts_with("--") => program.attaches(text),
            Some(Segment::Text(text)) => text.starts_with('-'),
            _ => false,
        },
        Token::Literal(_) | Token::Bare(_) => false,
    }
}

/// Tokens with text of their own are never left out, so nothing behind them moves up.
fn is_never_removed(token: &Token) -> bool {
    match token {
        Token::Mixed(segments) => segments
            .iter()
            .any(|segment| matches!(segment, Segment::Text(_))),
        Token::Literal(_) => true,
        Token::Bare(_) | Token::Flag { .. } => false,
    }
}
