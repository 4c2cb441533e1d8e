//! What must hold inside one command, by the kind that runs it.

use hcp_spec::manifest::{Command, Kind, Manifest};

use super::{argument, composite};
use crate::finding::{Finding, Place};
use crate::pass_through;
use crate::prepare::{is_literal, is_reserved, template_of};
use crate::schema_cost;
use crate::suggestion::closest;
use crate::template::Token;
use crate::wording::ticked;

/// Checks one command.
pub(super) fn check(manifest: &Manifest, verb_key: &str, command: &Command) -> Result<(), Finding> {
    let place = |key: &str| Place::keys(["commands", verb_key, key]);
    let kind = manifest.kind_of(command);
    if command.cli.as_ref().is_some_and(Vec::is_empty) {
        return Err(Finding::new(place("cli"), "`cli` is empty")
            .hint("its first token is the name of the tool"));
    }
    if *kind == Kind::Composite {
        composite::check(verb_key, command)?;
    } else {
        for (key, written) in [
            ("steps", !command.steps.is_empty()),
            ("output", command.output.is_some()),
        ] {
            if written {
                let message = format!("`{key}` is for commands of kind `composite`");
                return Err(Finding::new(place(key), message)
                    .hint(format!("this one is of kind {}", ticked(kind.as_str()))));
            }
        }
    }
    if let Some(schema) = &command.result {
        schema_cost::check(&place("result"), schema)?;
        argument::check_schema(place("result"), schema)?;
    }
    let tokens = template_of(manifest, verb_key, command)?.unwrap_or_default();
    argument::check_all(verb_key, command, &tokens)?;
    check_names(manifest, verb_key, command, &tokens)?;
    pass_through::check(manifest, verb_key, command, &tokens)
        .map_err(|finding| finding.of_rule("pass-through"))
}

/// Placeholders name declared arguments, once any is declared.
fn check_names(
    manifest: &Manifest,
    verb_key: &str,
    command: &Command,
    tokens: &[Token],
) -> Result<(), Finding> {
    if command.args.is_empty() || is_literal(manifest) {
        return Ok(());
    }
    let undeclared = tokens
        .iter()
        .flat_map(Token::names)
        .find(|name| !command.args.contains_key(*name) && !is_reserved(name));
    let Some(name) = undeclared else {
        return Ok(());
    };
    let place = place_of(verb_key, command, name);
    let finding = Finding::new(
        place,
        format!(
            "{} is not declared in `args`",
            ticked(&format!("{{{{{name}}}}}"))
        ),
    );
    Err(
        match closest(name, command.args.keys().map(String::as_str)) {
            Some(near) => finding.hint(format!(
                "did you mean {}?",
                ticked(&format!("{{{{{near}}}}}"))
            )),
            None => {
                finding.hint("a command that declares arguments accepts no others; declare it too")
            }
        },
    )
}

/// The token that uses a name, where it stands in the text of this command.
pub(super) fn place_of(verb_key: &str, command: &Command, name: &str) -> Place {
    let written = format!("{{{{{name}}}}}");
    match &command.cli {
        None => Place::keys(["wrap", "argv_template"]),
        Some(cli) => {
            let place = Place::keys(["commands", verb_key, "cli"]);
            match cli
                .iter()
                .skip(1)
                .position(|token| token.contains(&written))
            {
                Some(index) => place.index(index + 1),
                None => place,
            }
        }
    }
}
