//! The help of a pack's command line, from its manifest: an example first, then the flags.

use hcp_core::LoadedPack;
use hcp_spec::ExitStatus;
use hcp_spec::manifest::{Command, Effect, Manifest};
use serde_json::Value;

use super::run::find_verb;
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Page, Terminal};

/// Shows the help of the command that `words` name, or of the pack.
pub(super) fn show(
    pack: &str,
    words: &[String],
    ambient: &Ambient,
    terminal: &Terminal,
) -> Result<ExitStatus, Failure> {
    let installation = ambient.open()?;
    let pack = installation.operator().load_pack(pack)?;
    terminal.show_always(|page| match find_verb(&pack, words) {
        Some((key, command)) => of_command(page, &pack, key, command),
        None => of_pack(page, &pack, words),
    });
    Ok(ExitStatus::Ok)
}

fn of_pack(page: &mut Page<'_>, pack: &LoadedPack, words: &[String]) {
    page.line(&pack.manifest.summary);
    page.line("");
    page.line(&format!("Usage: hcp run {} WORD… [--flag VALUE]…", pack.id));
    page.line("");
    let begins = |key: &str| {
        let mut parts = key.split_whitespace();
        words.iter().all(|word| parts.next() == Some(word.as_str()))
    };
    let rows = pack
        .manifest
        .commands
        .iter()
        .filter(|(key, _)| begins(key.as_str()))
        .map(|(key, command)| vec![key.to_string(), command.summary.clone()])
        .collect();
    page.table(&["verb", "summary"], rows, "no such verb");
}

fn of_command(page: &mut Page<'_>, pack: &LoadedPack, key: &str, command: &Command) {
    let policy = pack.manifest.policy.get(key);
    if let Some(example) = command.examples.values().next() {
        page.line(&format!(
            "Example: hcp run {} {key}{}",
            pack.id,
            flags(&example.args)
        ));
        page.line("");
    }
    page.line(&command.summary);
    let effect = match command.effect {
        Effect::Read => "It reads",
        Effect::Write => "It writes",
        Effect::Destructive => "It may destroy",
    };
    match policy {
        None => page.line("It has no Policy entry, so every call is refused."),
        Some(policy) if Manifest::needs_confirm(command, policy) => page.line(&format!(
            "{effect}, needs {} and --confirm.",
            policy.capability
        )),
        Some(policy) => page.line(&format!("{effect}, needs {}.", policy.capability)),
    }
    page.line("");
    let rows = command
        .args
        .iter()
        .map(|(name, argument)| {
            let need = if argument.required { "required" } else { "" };
            let summary = argument.summary.clone().unwrap_or_default();
            vec![format!("--{name}"), need.to_owned(), summary]
        })
        .collect();
    page.table(&["flag", "", "summary"], rows, "It declares no flags.");
}

fn flags(args: &serde_json::Map<String, Value>) -> String {
    let word = |text: &str| {
        let plain = !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-:/@,".contains(&b));
        if plain {
            text.to_owned()
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let one = |name: &str, value: &Value| match value {
        Value::Bool(true) => format!(" --{name}"),
        Value::String(text) => format!(" --{name} {}", word(text)),
        other => format!(" --{name} {}", word(&other.to_string())),
    };
    args.iter()
        .map(|(name, value)| match value {
            Value::Array(elements) => elements.iter().map(|value| one(name, value)).collect(),
            value => one(name, value),
        })
        .collect()
}
