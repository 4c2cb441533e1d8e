//! How a command is shown to a client: its schemas, what it does, and what stands before it.

use std::sync::Arc;

use hcp_core::Runtime;
use hcp_output::escape;
use hcp_pack::accepted_names;
use hcp_spec::manifest::{Access, Argument, Command, Effect, Manifest, Rendering};
use hcp_spec::name::target;
use hcp_store::{Grant, Session};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::catalogue::Callable;

/// What is told beside a command's own description.
pub(super) struct Standing<'a> {
    runtime: &'a Runtime,
    grants: Vec<Grant>,
    project: Option<String>,
}

impl<'a> Standing<'a> {
    /// What the operator's config and the grants of the session's Principal say. Only for showing:
    /// a call is judged by the steps.
    pub(super) fn of(runtime: &'a Runtime, session: Option<&Session>) -> Self {
        let grants = session.and_then(|session| {
            let (principal, tenant) = (&session.principal, &session.tenant_id);
            let store = runtime.store();
            store.grants_of(principal.as_str(), tenant.as_str()).ok()
        });
        Self {
            runtime,
            grants: grants.unwrap_or_default(),
            project: session
                .and_then(|session| session.project_id.as_ref())
                .map(ToString::to_string),
        }
    }

    fn covers(&self, callable: &Callable, command: &Command) -> bool {
        let Some(policy) = callable.pack.manifest.policy.get(&callable.verb_key) else {
            return false;
        };
        let destructive = command.effect == Effect::Destructive;
        self.grants.iter().any(|grant| {
            let within = grant.project_id.as_ref().map(ToString::to_string);
            (within.is_none() || within == self.project)
                && grant.capability.covers(&policy.capability, destructive)
        })
    }

    /// Whether the command has a gate, and whether a person stands at it.
    fn gate(&self, callable: &Callable, command: &Command) -> Gate {
        let manifest = &callable.pack.manifest;
        let Some(policy) = manifest.policy.get(&callable.verb_key) else {
            return Gate::Open;
        };
        let name = target(manifest.id.as_str(), callable.verb_key.as_str());
        let tightened = self.runtime.settings().policy(&name);
        let approval = policy.approval.or(tightened.and_then(|own| own.approval));
        let confirm = Manifest::needs_confirm(command, policy)
            || tightened.and_then(|own| own.confirm).unwrap_or(false);
        match (approval, confirm) {
            (Some(_), _) => Gate::Approval,
            (None, true) => Gate::Confirm,
            (None, false) => Gate::Open,
        }
    }
}

/// What stands between a call and its command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Open,
    Confirm,
    Approval,
}

impl Gate {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "none",
            Self::Confirm => "confirm=true",
            Self::Approval => "confirm=true and a person's approval",
        }
    }
}

/// The tool of a command.
pub(super) fn tool(callable: &Callable, standing: &Standing<'_>) -> Option<Tool> {
    let manifest = &callable.pack.manifest;
    let command = manifest.commands.get(&callable.verb_key)?;
    let gate = standing.gate(callable, command);
    let mut description = format!(
        "{}\nEffect: {}. Gate: {}.",
        escape(&command.summary),
        command.effect.as_str(),
        gate.as_str()
    );
    if !standing.covers(callable, command) {
        description.push_str(" Not granted: calls are denied until the operator grants it.");
    }
    let mut tool = Tool::default();
    tool.name = callable.name.clone().into();
    tool.title = Some(format!("{} {}", manifest.id, callable.verb_key));
    tool.description = Some(description.into());
    tool.input_schema = Arc::new(input_schema(callable, command, gate));
    tool.output_schema = command.result.as_ref().map(output_schema).map(Arc::new);
    tool.annotations = Some(annotations(manifest, command));
    Some(tool)
}

/// A command as a search tells it, on one line.
pub(super) fn summary(callable: &Callable, standing: &Standing<'_>) -> Value {
    let manifest = &callable.pack.manifest;
    let command = manifest.commands.get(&callable.verb_key);
    json!({
        "pack_id": manifest.id.as_str(),
        "verb_key": callable.verb_key.as_str(),
        "summary": command.map(|command| escape(&command.summary).into_owned()),
        "effect": command.map(|command| command.effect.as_str()),
        "gate": command.map(|command| standing.gate(callable, command).as_str()),
    })
}

fn annotations(manifest: &Manifest, command: &Command) -> ToolAnnotations {
    let connects = |argument: &Argument| argument.access == Some(Access::Connect);
    let open = !manifest.sandbox.network.is_empty() || command.args.values().any(connects);
    ToolAnnotations::from_raw(
        None,
        Some(command.effect == Effect::Read),
        Some(command.effect == Effect::Destructive),
        Some(command.effect == Effect::Read),
        Some(open),
    )
}

fn input_schema(callable: &Callable, command: &Command, gate: Gate) -> JsonObject {
    let manifest = &callable.pack.manifest;
    let mut properties = JsonObject::new();
    for name in accepted_names(manifest, callable.verb_key.as_str(), command) {
        let declared = command.args.get(&name);
        properties.insert(name, declared.map_or_else(|| json!({}), argument_schema));
    }
    if gate != Gate::Open {
        let confirm = json!({
            "type": "boolean",
            "description": "true says that the call is meant as it stands",
        });
        for name in ["confirm", "apply"] {
            properties
                .entry(name.to_owned())
                .or_insert_with(|| confirm.clone());
        }
    }
    if manifest.binding.is_some() {
        properties.entry("mode".to_owned()).or_insert_with(
            || json!({ "enum": ["mock"], "description": "mock: without real credentials" }),
        );
    }
    let required: Vec<&String> = command
        .args
        .iter()
        .filter(|(_, argument)| argument.required)
        .map(|(name, _)| name)
        .collect();
    let literal = manifest
        .wrap
        .as_ref()
        .is_some_and(|wrap| wrap.rendering == Rendering::Literal);
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(literal));
    schema
}

fn argument_schema(argument: &Argument) -> Value {
    let mut schema = match &argument.schema {
        Some(Value::Object(schema)) => schema.clone(),
        Some(Value::Bool(false)) => return json!(false),
        _ => JsonObject::new(),
    };
    if let Some(summary) = &argument.summary {
        schema
            .entry("description".to_owned())
            .or_insert_with(|| json!(escape(summary)));
    }
    Value::Object(schema)
}

/// The schema of an envelope whose result is of `schema`.
fn output_schema(schema: &Value) -> JsonObject {
    let text = json!({ "type": "string" });
    let envelope = json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "pack_id": text,
            "verb_key": text,
            "result": schema,
            "error": text,
            "stdout": text,
            "stderr": text,
        },
        "required": ["ok", "pack_id", "verb_key"],
        "additionalProperties": false,
    });
    match envelope {
        Value::Object(envelope) => envelope,
        _ => JsonObject::new(),
    }
}
