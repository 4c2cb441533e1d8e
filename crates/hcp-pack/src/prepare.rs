//! One command, made ready once and used for every call: arguments in, argv out.

use std::fmt;

use hcp_spec::envelope::{Arguments, describe};
use hcp_spec::manifest::{Access, Argument, Command, Kind, Manifest, Presentation, Rendering};
use indexmap::IndexMap;
use jsonschema::Validator;
use serde_json::Value;

use crate::arguments::ArgumentError;
use crate::check::composite;
use crate::error::PackError;
use crate::finding::{Finding, Place};
use crate::render::{Template, number_text, value_text};
use crate::resources::{self, Resource};
use crate::schema;
use crate::suggestion::closest;
use crate::template::{Token, command_tokens};
use crate::violation;
use crate::wording::ticked;

/// Arguments that every command accepts (§6.1).
pub(crate) const RESERVED: [&str; 3] = ["confirm", "apply", "mode"];

/// A command with its schemas and its template compiled.
#[derive(Debug)]
pub struct PreparedCommand {
    declared: IndexMap<String, Declared>,
    /// Accepted without a declaration, because the template uses them.
    implied: Vec<String>,
    /// Undeclared arguments are ignored instead of refused.
    literal: bool,
    template: Option<Template>,
}

/// One declared argument.
#[derive(Debug)]
struct Declared {
    required: bool,
    default: Option<Value>,
    schema: Option<Validator>,
    /// The listed numbers, by their digits: a validator compares large ones as doubles.
    listed_numbers: Option<Vec<String>>,
    switch: bool,
    access: Option<Access>,
    /// Whether it stands in argv, where a resource is one string.
    rendered: bool,
}

/// Arguments that a command can be run with: known, complete, of the right types, defaults put in.
/// Only [`PreparedCommand::check`] makes them.
#[derive(Clone, PartialEq)]
pub struct CheckedArguments {
    values: Arguments,
    access: Vec<(String, Access)>,
}

impl PreparedCommand {
    /// Compiles the command with this key.
    ///
    /// # Errors
    /// [`PackError::NoCommand`] when the pack has none, [`PackError::Manifest`] when it has a fault;
    /// a manifest that came through [`crate::parse_manifest`] has none.
    pub fn prepare(manifest: &Manifest, verb_key: &str) -> Result<Self, PackError> {
        let command = manifest
            .commands
            .get(verb_key)
            .ok_or_else(|| PackError::NoCommand {
                pack_id: manifest.id.to_string(),
                verb_key: verb_key.to_owned(),
            })?;
        Ok(Self::compile(manifest, verb_key, command)?)
    }

    pub(crate) fn compile(
        manifest: &Manifest,
        verb_key: &str,
        command: &Command,
    ) -> Result<Self, Finding> {
        let literal = is_literal(manifest);
        let tokens = template_of(manifest, verb_key, command)?;
        let declared = command
            .args
            .iter()
            .map(|(name, argument)| {
                let mut declared = declare(verb_key, name, argument)?;
                let mut used = tokens.iter().flatten().flat_map(Token::names);
                declared.rendered = used.any(|used| used == name);
                Ok((name.clone(), declared))
            })
            .collect::<Result<_, Finding>>()?;
        let names = template_names(command, tokens.as_deref());
        let implied = names
            .into_iter()
            .filter(|name| !command.args.contains_key(name))
            .filter(|name| command.args.is_empty() || literal || is_reserved(name))
            .collect();
        let template = match (tokens, &manifest.wrap) {
            (Some(tokens), Some(wrap)) => Some(Template::new(
                tokens,
                &command.args,
                wrap.json.clone(),
                literal,
            )),
            _ => None,
        };
        Ok(Self {
            declared,
            implied,
            literal,
            template,
        })
    }

    /// Checks the arguments of a call: none unknown, none missing, every value as its schema wants
    /// it; `null` counts as absent, and defaults are put in. What `confirm` and `apply` hold is for
    /// step 6 to judge.
    ///
    /// # Errors
    /// [`ArgumentError`] for the first thing that is wrong.
    pub fn check(&self, args: &Arguments) -> Result<CheckedArguments, ArgumentError> {
        let mut values = Arguments::with_capacity(args.len());
        for (name, value) in args {
            if let Some(declared) = self.declared.get(name) {
                if value.is_null() {
                    continue;
                }
                declared.check(name, value)?;
            } else if !self.implied.contains(name) {
                self.accept_unused(name, value)?;
                continue;
            }
            if !value.is_null() {
                values.insert(name.clone(), value.clone());
            }
        }
        for (name, declared) in &self.declared {
            if values.contains_key(name) {
                continue;
            }
            match &declared.default {
                Some(default) => {
                    values.insert(name.clone(), default.clone());
                }
                None if declared.required => {
                    return Err(ArgumentError::Missing { name: name.clone() });
                }
                None => {}
            }
        }
        Ok(CheckedArguments {
            access: self.access_of(&values),
            values,
        })
    }

    /// The argv of a call without the bin, `wrap.json` at its end (§6.4). Empty for a command that is
    /// not of kind `wrap`.
    ///
    /// # Errors
    /// [`ArgumentError`] when a value has no argv form, would be taken for a flag, is too long, or is
    /// absent where a token cannot do without it.
    pub fn render(&self, args: &CheckedArguments) -> Result<Vec<String>, ArgumentError> {
        match &self.template {
            Some(template) => template.render(&args.values),
            None => Ok(Vec::new()),
        }
    }

    /// Names of the arguments that mean something to this command: the declared ones, or those that
    /// its template uses.
    pub fn accepted(&self) -> impl Iterator<Item = &str> {
        self.declared
            .keys()
            .chain(&self.implied)
            .map(String::as_str)
    }

    /// An argument that the command makes no use of: a reserved one, or one too many.
    fn accept_unused(&self, name: &str, value: &Value) -> Result<(), ArgumentError> {
        match name {
            "confirm" | "apply" => Ok(()),
            "mode" if value.as_str() == Some("mock") => Ok(()),
            "mode" => Err(ArgumentError::invalid("mode", "must be \"mock\"")),
            _ if self.literal => Ok(()),
            _ => Err(ArgumentError::Unknown {
                name: name.to_owned(),
                suggestion: closest(name, self.accepted().chain(RESERVED)).map(str::to_owned),
                accepted: self.accepted().map(str::to_owned).collect(),
            }),
        }
    }

    fn access_of(&self, values: &Arguments) -> Vec<(String, Access)> {
        self.declared
            .iter()
            .filter(|(name, _)| values.contains_key(*name))
            .filter_map(|(name, declared)| Some((name.clone(), declared.access?)))
            .collect()
    }
}

impl Declared {
    fn check(&self, name: &str, value: &Value) -> Result<(), ArgumentError> {
        if let Some(schema) = &self.schema
            && !schema.is_valid(value)
        {
            let problem = schema.validate(value).err().map_or_else(
                || "does not fit its schema".to_owned(),
                |error| violation::problem(&error),
            );
            return Err(ArgumentError::invalid(name, problem));
        }
        if let (Some(listed), Value::Number(number)) = (&self.listed_numbers, value)
            && !(number.is_i64() || number.is_u64())
            && !number_text(number).is_some_and(|text| listed.contains(&text))
        {
            return Err(ArgumentError::invalid(
                name,
                "is none of the listed numbers",
            ));
        }
        if self.switch && !value.is_boolean() {
            let problem = format!("must be a boolean, not {}", describe(value));
            return Err(ArgumentError::invalid(name, problem));
        }
        if self.access.is_some() {
            let strings = resources::strings(value).filter(|_| !self.rendered || value.is_string());
            let Some(strings) = strings else {
                let problem = if self.rendered {
                    "must be a string, for it names a resource"
                } else {
                    "must be a string or an array of strings, for it names a resource"
                };
                return Err(ArgumentError::invalid(name, problem));
            };
            if strings.iter().any(|text| text.contains('\0')) {
                return Err(ArgumentError::Nul {
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CheckedArguments {
    /// The names alone: a value may be a secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.values.keys()).finish()
    }
}

impl CheckedArguments {
    /// The values, `null`s left out and defaults put in; reserved arguments only where the command
    /// declares or uses them.
    pub const fn values(&self) -> &Arguments {
        &self.values
    }

    /// Everything outside the jail that the call names, in the order of declaration.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'_>> {
        self.access.iter().flat_map(|(name, access)| {
            let strings = self.values.get(name).and_then(resources::strings);
            strings
                .unwrap_or_default()
                .into_iter()
                .map(|value| Resource {
                    name,
                    access: *access,
                    value,
                })
        })
    }
}

/// Names of the arguments that a command accepts beside the reserved ones: those it declares, or
/// else those that its template or its calls use. Empty for a template that cannot be read.
pub fn accepted_names(manifest: &Manifest, verb_key: &str, command: &Command) -> Vec<String> {
    if !command.args.is_empty() {
        return command.args.keys().cloned().collect();
    }
    let tokens = template_of(manifest, verb_key, command).ok().flatten();
    template_names(command, tokens.as_deref())
}

/// Whether the pack keeps to the letter of §6.4.
pub(crate) fn is_literal(manifest: &Manifest) -> bool {
    manifest
        .wrap
        .as_ref()
        .is_some_and(|wrap| wrap.rendering == Rendering::Literal)
}

pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

fn declare(verb_key: &str, name: &str, argument: &Argument) -> Result<Declared, Finding> {
    let schema = argument.schema.as_ref().map(schema::compile).transpose();
    let schema = schema.map_err(|error| {
        let place = Place::keys(["commands", verb_key, "args", name, "schema"]);
        Finding::new(place, violation::schema_fault(&error))
    })?;
    Ok(Declared {
        required: argument.required,
        default: schema::default_of(argument.schema.as_ref()).cloned(),
        schema,
        listed_numbers: schema::choices(argument.schema.as_ref())
            .map(|choices| choices.into_iter().filter_map(value_text).collect()),
        switch: argument.presentation == Some(Presentation::Switch),
        access: argument.access,
        rendered: false,
    })
}

/// The template of a command, if its kind has one; of other kinds only what the command itself says
/// counts, never the template of the tool.
///
/// # Errors
/// A [`Finding`] for a command of kind `wrap` without tool or template, and for a faulty token.
pub(crate) fn template_of(
    manifest: &Manifest,
    verb_key: &str,
    command: &Command,
) -> Result<Option<Vec<Token>>, Finding> {
    let wrap = *manifest.kind_of(command) == Kind::Wrap;
    let place = || Place::keys(["commands", verb_key]);
    if wrap && manifest.wrap.is_none() {
        let message = "kind `wrap` needs the table `wrap` with the key `bin`";
        return Err(
            Finding::new(place(), message).hint("write `[wrap]` and `bin = \"./bin/tool\"`")
        );
    }
    if !wrap && command.cli.is_none() {
        return Ok(None);
    }
    let tokens = command_tokens(manifest, verb_key, command)?;
    if tokens.is_none() {
        let verb = ticked(verb_key);
        let message = format!("{verb} has no `cli`, and the pack no `wrap.argv_template`");
        return Err(Finding::new(place(), message)
            .hint("write the argv as `cli = [\"tool\", \"subcommand\", \"--flag={{name}}\"]`"));
    }
    Ok(tokens)
}

/// The names that a command uses, each once, in the order of use.
pub(crate) fn template_names(command: &Command, tokens: Option<&[Token]>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let used = tokens.unwrap_or_default().iter().flat_map(Token::names);
    for name in used
        .map(str::to_owned)
        .chain(composite::argument_names(command))
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
