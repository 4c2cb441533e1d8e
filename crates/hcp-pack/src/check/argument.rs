//! What must hold for the declared arguments of a command.

use hcp_spec::manifest::{Argument, Command, Presentation};
use jsonschema::Validator;
use serde_json::Value;

use super::command::place_of;
use super::resource;
use crate::finding::{Finding, Place};
use crate::keywords;
use crate::prepare::is_reserved;
use crate::resources;
use crate::schema;
use crate::schema_cost;
use crate::template::{Token, argument_name};
use crate::violation;
use crate::wording::ticked;

/// Checks every declared argument.
pub(super) fn check_all(
    verb_key: &str,
    command: &Command,
    tokens: &[Token],
) -> Result<(), Finding> {
    for (name, argument) in &command.args {
        let place = Place::keys(["commands", verb_key, "args", name]);
        argument_name(name).map_err(|problem| {
            Finding::new(
                place.clone(),
                format!("{} is no name: {problem}", ticked(name)),
            )
        })?;
        if matches!(name.as_str(), "confirm" | "apply") && argument.required {
            return Err(Finding::new(
                place.key("required"),
                format!("{} cannot be required", ticked(name)),
            )
            .hint("whether a call is confirmed is for the Policy entry to say: `confirm = true`"));
        }
        if is_reserved(name) && argument.access.is_some() {
            let message = format!("{} is reserved and names no resource", ticked(name));
            return Err(Finding::new(place.key("access"), message));
        }
        check_value(&place, argument)?;
        if argument.access.is_some() {
            resource::check(&place, verb_key, command, name, tokens)?;
        }
        if argument.presentation == Some(Presentation::Switch) {
            check_switch(verb_key, command, name, tokens)?;
        }
    }
    Ok(())
}

/// Checks that this is a JSON Schema that needs nothing from outside.
pub(super) fn check_schema(place: Place, schema: &Value) -> Result<Validator, Finding> {
    keywords::check_types(place.clone(), schema)?;
    schema::compile(schema).map_err(|error| {
        // The instance of a faulty schema is the schema: its path leads on in the manifest.
        let pointer = error.instance_path().to_string();
        let place = pointer
            .split('/')
            .skip(1)
            .fold(place, |place, key| match key.parse() {
                Ok(index) => place.index(index),
                Err(_) => place.key(&key.replace("~1", "/").replace("~0", "~")),
            });
        Finding::new(place, violation::schema_fault(&error))
            .hint("it must be a JSON Schema of draft 2020-12 with patterns of linear time")
    })
}

fn check_value(place: &Place, argument: &Argument) -> Result<(), Finding> {
    let Some(schema) = &argument.schema else {
        return Ok(());
    };
    let place = place.clone().key("schema");
    schema_cost::check(&place, schema)?;
    let validator = check_schema(place.clone(), schema)?;
    let Some(default) = schema::default_of(Some(schema)) else {
        return Ok(());
    };
    let wrong = |problem: &str| {
        Finding::new(
            place.clone().key("default"),
            format!("the default {problem}"),
        )
        .hint("a default must fit the schema that it stands in")
    };
    if let Err(error) = validator.validate(default) {
        return Err(wrong(&violation::problem(&error)));
    }
    if argument.access.is_some() && resources::strings(default).is_none() {
        return Err(wrong("must be a string or an array of strings"));
    }
    if argument.presentation == Some(Presentation::Switch) && !default.is_boolean() {
        return Err(wrong("must be a boolean"));
    }
    Ok(())
}

/// A switch has a flag to switch: it stands as `--flag={{name}}` and nowhere else.
fn check_switch(
    verb_key: &str,
    command: &Command,
    name: &str,
    tokens: &[Token],
) -> Result<(), Finding> {
    let misused = tokens
        .iter()
        .filter(|token| token.names().any(|used| used == name))
        .any(|token| !matches!(token, Token::Flag { .. }));
    if !misused {
        return Ok(());
    }
    let message = format!("{} is a switch and stands only as a flag", ticked(name));
    Err(Finding::new(place_of(verb_key, command, name), message)
        .hint(format!("write `\"--{name}={{{{{name}}}}}\"`")))
}
