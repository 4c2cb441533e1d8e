//! What must hold for an argument with `access`: the tool is given the very text that is judged.
//!
//! A path is judged as it is given, and the jail shows what was judged. A token that adds something
//! to it would make another path, which nobody looked at.

use hcp_spec::manifest::{Argument, Command, Presentation};

use super::command::place_of;
use crate::finding::{Finding, Place};
use crate::schema::{default_of, types};
use crate::template::Token;
use crate::wording::ticked;

/// Checks the tokens that one such argument stands in.
pub(super) fn check(
    place: &Place,
    verb_key: &str,
    command: &Command,
    name: &str,
    tokens: &[Token],
) -> Result<(), Finding> {
    let mut used = tokens
        .iter()
        .filter(|token| token.names().any(|other| other == name))
        .peekable();
    if used.peek().is_none() {
        return Ok(());
    }
    if let Some(argument) = command.args.get(name) {
        check_form(place, name, argument)?;
    }
    if !used.any(|token| matches!(token, Token::Mixed(_))) {
        return Ok(());
    }
    let message = format!(
        "{} names a resource, and this token makes another of it",
        ticked(name)
    );
    Err(
        Finding::new(place_of(verb_key, command, name), message).hint(format!(
            "let it stand alone, as `\"{{{{{name}}}}}\"`, or as a whole value, as \
             `\"--flag={{{{{name}}}}}\"`"
        )),
    )
}

/// A resource is written as the string that it is.
fn check_form(place: &Place, name: &str, argument: &Argument) -> Result<(), Finding> {
    if let Some(presentation) = argument.presentation {
        let word = match presentation {
            Presentation::Json => "json",
            Presentation::Switch => "switch",
        };
        let message = format!(
            "{} names a resource and cannot be written `as = \"{word}\"`",
            ticked(name)
        );
        return Err(Finding::new(place.clone().key("as"), message)
            .hint("remove one of `as` and `access`; a resource is a plain string"));
    }
    if types(argument.schema.as_ref()).contains(&"array") {
        let message = format!(
            "{} names a resource and cannot be an array, whose elements argv joins to one text",
            ticked(name)
        );
        return Err(
            Finding::new(place.clone().key("schema").key("type"), message)
                .hint("write `type = \"string\"`, and an argument for each resource"),
        );
    }
    if default_of(argument.schema.as_ref()).is_some_and(|default| !default.is_string()) {
        return Err(Finding::new(
            place.clone().key("schema").key("default"),
            "the default must be a string, for it names a resource",
        ));
    }
    Ok(())
}
