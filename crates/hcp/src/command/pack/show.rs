//! `hcp pack show`: the commands of a pack, or one of them with its arguments.

use hcp_core::LoadedPack;
use hcp_spec::ExitStatus;
use hcp_spec::manifest::{Argument, Command, Manifest};
use serde_json::{Value, json};

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Page, Terminal};

pub(super) fn run(
    id: &str,
    verb: Option<&str>,
    ambient: &Ambient,
    terminal: &Terminal,
) -> Result<ExitStatus, Failure> {
    let installation = ambient.open()?;
    let pack = installation.operator().load_pack(id)?;
    match verb {
        Some(verb) => show_command(terminal, &pack, verb)?,
        None => show(terminal, &pack),
    }
    Ok(ExitStatus::Ok)
}

fn show(terminal: &Terminal, pack: &LoadedPack) {
    let manifest = &pack.manifest;
    let commands: Vec<Value> = manifest
        .commands
        .iter()
        .map(|(key, c)| command_data(manifest, key.as_str(), c))
        .collect();
    let data = json!({
        "pack_id": pack.id,
        "version": manifest.version,
        "summary": manifest.summary,
        "kind": manifest.kind.as_str(),
        "digest": pack.digest,
        "linked": pack.is_linked(),
        "commands": commands,
    });
    terminal.show(&data, |page| {
        page.field("pack", &format!("{} {}", pack.id, manifest.version));
        page.field("summary", &manifest.summary);
        page.field("digest", &pack.digest);
        page.line("");
        let rows = manifest
            .commands
            .iter()
            .map(|(key, command)| {
                let policy = manifest.policy.get(key);
                vec![
                    key.to_string(),
                    command.effect.as_str().to_owned(),
                    policy.map_or("no policy".to_owned(), |p| p.capability.to_string()),
                    policy
                        .map_or("", |p| gate(Manifest::needs_confirm(command, p)))
                        .to_owned(),
                    command.summary.clone(),
                ]
            })
            .collect();
        let head = ["verb", "effect", "capability", "gate", "summary"];
        page.table(&head, rows, "no commands");
    });
}

fn show_command(terminal: &Terminal, pack: &LoadedPack, verb: &str) -> Result<(), Failure> {
    let manifest = &pack.manifest;
    let Some(command) = manifest.commands.get(verb) else {
        let keys = manifest
            .commands
            .keys()
            .map(hcp_spec::name::VerbKey::as_str);
        let hint = hcp_pack::closest(verb, keys).map_or_else(
            || format!("`hcp pack show {}` lists its commands", pack.id),
            |nearest| format!("did you mean `{nearest}`?"),
        );
        return Err(Failure::usage(
            format!("pack `{}` has no command `{verb}`", pack.id),
            hint,
        ));
    };
    terminal.show(&command_data(manifest, verb, command), |page| {
        page.field("command", &format!("{} {verb}", pack.id));
        page.field("summary", &command.summary);
        page.field("effect", command.effect.as_str());
        match manifest.policy.get(verb) {
            Some(policy) => {
                page.field("capability", policy.capability.as_str());
                page.field("gate", gate(Manifest::needs_confirm(command, policy)));
            }
            None => page.field(
                "capability",
                "none: it has no Policy entry and cannot be run",
            ),
        }
        page.line("");
        arguments(page, command);
        for (name, example) in &command.examples {
            page.line("");
            page.field("example", example.summary.as_deref().unwrap_or(name));
            page.line(&format!(
                "  hcp exec {} '{verb}' -- {}",
                pack.id,
                pairs(&example.args)
            ));
        }
    });
    Ok(())
}

fn arguments(page: &mut Page<'_>, command: &Command) {
    let rows = command
        .args
        .iter()
        .map(|(name, argument)| {
            let need = if argument.required { "required" } else { "" };
            let summary = argument.summary.clone().unwrap_or_default();
            vec![
                name.clone(),
                schema_type(argument),
                need.to_owned(),
                summary,
            ]
        })
        .collect();
    page.table(
        &["argument", "type", "", "summary"],
        rows,
        "it declares no arguments",
    );
}

fn pairs(args: &serde_json::Map<String, Value>) -> String {
    let pair = |(key, value): (&String, &Value)| match value {
        Value::String(text) if !text.contains(|c: char| c.is_whitespace() || c == '\'') => {
            format!("{key}={text}")
        }
        Value::Number(_) | Value::Bool(_) => format!("{key}={value}"),
        other => format!("'{key}:={}'", other.to_string().replace('\'', "'\\''")),
    };
    args.iter().map(pair).collect::<Vec<_>>().join(" ")
}

fn schema_type(argument: &Argument) -> String {
    let schema = argument.schema.as_ref();
    match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(word)) => word.clone(),
        Some(other) => other.to_string(),
        None if schema.is_some_and(|schema| schema.get("enum").is_some()) => "enum".to_owned(),
        None => "any".to_owned(),
    }
}

fn command_data(manifest: &Manifest, key: &str, command: &Command) -> Value {
    let policy = manifest.policy.get(key);
    json!({
        "verb_key": key,
        "summary": command.summary,
        "kind": manifest.kind_of(command).as_str(),
        "effect": command.effect.as_str(),
        "capability": policy.map(|policy| policy.capability.as_str()),
        "confirm": policy.map(|policy| Manifest::needs_confirm(command, policy)),
        "args": command.args,
        "examples": command.examples,
    })
}

const fn gate(confirm: bool) -> &'static str {
    if confirm { "confirm" } else { "open" }
}
