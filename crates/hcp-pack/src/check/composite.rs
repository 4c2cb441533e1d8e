//! What must hold for a composite: calls that name a command, and references to what exists.

use hcp_spec::manifest::Command;
use hcp_spec::name::{PackId, VerbKey};
use serde_json::Value;

use crate::finding::{Finding, Place};
use crate::prepare::is_reserved;
use crate::suggestion::closest;
use crate::wording::ticked;

/// Checks a command of kind `composite`.
pub(super) fn check(verb_key: &str, command: &Command) -> Result<(), Finding> {
    let place = |key: &str| Place::keys(["commands", verb_key, key]);
    if command.cli.is_some() {
        return Err(Finding::new(place("cli"), "a composite has no `cli`")
            .hint("its `steps` name the calls that it makes"));
    }
    if command.steps.is_empty() {
        let place = Place::keys(["commands", verb_key]);
        return Err(Finding::new(place, "a composite needs `steps`")
            .hint("write `[commands.<name>.steps.<step>]` with `call = \"pack.verb\"`"));
    }
    for (name, call) in &command.steps {
        let place = place("steps").key(name);
        if !is_step_name(name) {
            let message = format!("{} is no name of a step", ticked(name));
            return Err(Finding::new(place, message).hint("a letter, then letters, digits and `_`"));
        }
        check_call(place.clone().key("call"), &call.call)?;
        for (argument, value) in &call.args {
            check_references(&place.clone().key("args").key(argument), value, command)?;
        }
        if call
            .when
            .as_ref()
            .is_some_and(|when| when.trim().is_empty())
        {
            return Err(Finding::new(place.key("when"), "`when` is empty"));
        }
    }
    match &command.output {
        Some(output) => check_references(&place("output"), output, command),
        None => Ok(()),
    }
}

/// The arguments that the calls of a command use, in the order of use; some may stand twice.
pub(crate) fn argument_names(command: &Command) -> Vec<String> {
    let mut names = Vec::new();
    for call in command.steps.values() {
        for value in call.args.values() {
            collect(value, &mut names);
        }
        if let Some(when) = &call.when {
            names.extend(names_in_condition(when));
        }
    }
    if let Some(output) = &command.output {
        collect(output, &mut names);
    }
    names
}

fn check_call(place: Place, call: &str) -> Result<(), Finding> {
    let problem = match call.split_once('.') {
        None => Some("there is no dot in it".to_owned()),
        Some((pack_id, verb_key)) => PackId::parse(pack_id)
            .err()
            .or_else(|| VerbKey::parse(verb_key).err())
            .map(|error| error.to_string()),
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Finding::new(
            place,
            format!("{} is no call: {problem}", ticked(call)),
        )
        .hint("write the pack id, a dot and the verb key, like `ledger.transfer`")),
    }
}

fn check_references(place: &Place, value: &Value, command: &Command) -> Result<(), Finding> {
    match value {
        Value::String(text) => {
            for reference in references(text) {
                let reference = reference.map_err(|()| {
                    let message = format!("the placeholder in {} has no end", ticked(text));
                    Finding::new(place.clone(), message).hint("close it with `}}`")
                })?;
                check_reference(place, reference, command)?;
            }
            Ok(())
        }
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .try_for_each(|(index, element)| {
                check_references(&place.clone().index(index), element, command)
            }),
        Value::Object(members) => members.iter().try_for_each(|(key, member)| {
            check_references(&place.clone().key(key), member, command)
        }),
        _ => Ok(()),
    }
}

fn check_reference(place: &Place, reference: &str, command: &Command) -> Result<(), Finding> {
    let (root, name) = split_reference(reference);
    let known: Vec<&str> = match root {
        "args" if command.args.is_empty() || is_reserved(name) => return Ok(()),
        "args" => command.args.keys().map(String::as_str).collect(),
        "steps" => command.steps.keys().map(String::as_str).collect(),
        _ => {
            let message = format!("{} leads nowhere", ticked(reference));
            return Err(Finding::new(place.clone(), message)
                .hint("begin with `args.` and an argument, or `steps.` and an earlier step"));
        }
    };
    if known.contains(&name) {
        return Ok(());
    }
    let what = if root == "args" { "argument" } else { "step" };
    let finding = Finding::new(
        place.clone(),
        format!("{} names no {what} of this command", ticked(reference)),
    );
    Err(match closest(name, known.into_iter()) {
        Some(near) => finding.hint(format!("did you mean {}?", ticked(near))),
        None => finding,
    })
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => names.extend(
            references(text)
                .filter_map(Result::ok)
                .map(split_reference)
                .filter(|(root, name)| *root == "args" && !name.is_empty())
                .map(|(_, name)| name.to_owned()),
        ),
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, names)),
        Value::Object(members) => members.values().for_each(|member| collect(member, names)),
        _ => {}
    }
}

/// What stands between `{{` and `}}`, or an error where one is not closed.
fn references(text: &str) -> impl Iterator<Item = Result<&str, ()>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once("{{")?;
        let Some((reference, after)) = after.split_once("}}") else {
            rest = "";
            return Some(Err(()));
        };
        rest = after;
        Some(Ok(reference.trim()))
    })
}

/// `args.to.x` into `args` and `to`.
fn split_reference(reference: &str) -> (&str, &str) {
    let (root, rest) = reference.split_once('.').unwrap_or((reference, ""));
    let name = rest.split(['.', '[']).next().unwrap_or(rest);
    (root, name)
}

/// The arguments that a condition names, as far as they can be seen without reading it.
fn names_in_condition(condition: &str) -> impl Iterator<Item = String> + '_ {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    condition.match_indices("args.").filter_map(move |(at, _)| {
        let before = condition.get(..at)?.chars().next_back();
        if before.is_some_and(|character| is_word(character) || character == '.') {
            return None;
        }
        let rest = condition.get(at + "args.".len()..)?;
        let name: String = rest
            .chars()
            .take_while(|character| is_word(*character))
            .collect();
        (!name.is_empty()).then_some(name)
    })
}

fn is_step_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
