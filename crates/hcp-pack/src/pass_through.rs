//! No pack-level pass-through (§6.7): a command names what it does, its caller only fills it in.
//!
//! Three shapes hand the caller the tool itself, or a shell, and are refused with a mend: the key
//! `*`; a first token that the caller chooses; and a shell, interpreter or launcher whose code the
//! caller writes. A placeholder that is limited to values the author listed is as good as text, and
//! each of the values is judged as if it stood there.

use hcp_spec::manifest::{Command, Kind, Manifest, Rendering, Wrap};
use hcp_spec::name::command_tail;
use serde_json::Value;

use crate::finding::{Finding, Place};
use crate::possible::{Element, is_no_code, possibilities};
use crate::reading::{Exposed, Manner, Reading};
use crate::schema::is_closed;
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
        .and_then(|()| argv.run(wrap, tokens))
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
        let first = tokens.iter().find(|token| {
            let open = begins_with_slot(token) && self.is_open(token);
            open || !possibilities(self.command, token).contains(&Element::Removed)
        });
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

    /// Reads the argv as its programs would, and finds the first token that would run something.
    fn run(&self, wrap: &Wrap, tokens: &[Token]) -> Result<(), Refused> {
        let mut readings: Vec<Reading> = Reading::of_bin(&wrap.bin).into_iter().collect();
        let mut flags_ended = false;
        for token in tokens {
            let elements = possibilities(self.command, token);
            let manner = Manner {
                dash: flags_ended || self.may_begin_with_dash(token),
                removable: elements.contains(&Element::Removed),
            };
            let mut further = Vec::new();
            for element in elements {
                for reading in &readings {
                    let more = reading
                        .read(&element, manner)
                        .map_err(|exposed| self.refuse(tokens, token, reading, exposed))?;
                    add(&mut further, more);
                }
                if let Element::Text(word) = &element {
                    add(&mut further, Reading::suspected(word));
                }
            }
            readings = further;
            // Behind a `--` in the template, values may begin with `-`.
            flags_ended |= *token == Token::Literal("--".to_owned());
        }
        Ok(())
    }

    fn refuse(
        &self,
        tokens: &[Token],
        token: &Token,
        reading: &Reading,
        exposed: Exposed,
    ) -> Refused {
        let names = self.names(token, is_no_code);
        let name = ticked(&reading.name);
        let message = match exposed {
            Exposed::Code | Exposed::Nothing => format!(
                "{name} is {}, and {names} would choose what it runs, which is a pass-through",
                reading.program.noun()
            ),
            Exposed::Subcommand => format!(
                "{name} has subcommands, and {names} would choose which one runs, which is a \
                 pass-through"
            ),
        };
        let hint = match exposed {
            Exposed::Nothing => {
                "left out or empty, it makes its flag take the next token; make it `required`, with \
                 `type = \"string\"` and `minLength = 1`"
            }
            _ if reading.moved => {
                "a value before it may be left out or empty, and it would move up; make that one \
                 `required`, with `type = \"string\"` and `minLength = 1`"
            }
            Exposed::Code => {
                "write the code or the program as text and hand values over as its arguments, or \
                 list the values in an `enum`"
            }
            Exposed::Subcommand => "write the subcommand as text, or list its values in an `enum`",
        };
        Refused::new(tokens, token, message, hint)
    }

    /// Whether the caller decides what stands in this token: a placeholder without a list of values.
    fn is_open(&self, token: &Token) -> bool {
        token.names().any(|name| !self.limits(name, is_closed))
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

    fn may_begin_with_dash(&self, token: &Token) -> bool {
        self.literal
            || token.names().any(|name| {
                let argument = self.command.args.get(name);
                argument.is_some_and(|argument| argument.dash)
            })
    }
}

/// Adds readings that are not there yet.
fn add(readings: &mut Vec<Reading>, more: impl IntoIterator<Item = Reading>) {
    for reading in more {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
}

pub(crate) fn begins_with_slot(token: &Token) -> bool {
    match token {
        Token::Bare(_) => true,
        Token::Mixed(segments) => matches!(segments.first(), Some(Segment::Slot(_))),
        Token::Literal(_) | Token::Flag { .. } => false,
    }
}
