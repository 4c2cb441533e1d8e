//! What stands between steps 6 and 7: whether a call could run with its arguments.

use hcp_spec::manifest::{Argument, Command, Manifest};
use serde_json::Value;

use super::WrongRuntime;
use super::rendering::{Piece, pieces};
use super::steps::Walk;

pub(super) const RESERVED: [&str; 3] = ["confirm", "apply", "mode"];

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
