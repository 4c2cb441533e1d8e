//! `hcp skill`: a pack as a SKILL.md, for agents that would rather use the command line.

use std::fmt::Write as _;

use clap::Args;
use hcp_output::escape;
use hcp_spec::ExitStatus;
use hcp_spec::manifest::{Command, Manifest};
use hcp_spec::name::VerbKey;
use serde_json::{Value, json};

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// The longest text, in bytes: it costs the agent as much on every use.
const LONGEST: usize = 16 << 10;
/// The longest description that readers of such files accept, in characters.
const DESCRIPTION: usize = 1024;

/// Prints it on stdout; write it to `<skills>/<pack>/SKILL.md`
#[derive(Debug, Args)]
pub(crate) struct Skill {
    /// The pack
    pack: String,
}

impl Skill {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        let pack = installation.operator().load_pack(&self.pack)?;
        terminal.print_bare(skill(&pack.manifest).trim_end());
        Ok(ExitStatus::Ok)
    }
}

fn skill(manifest: &Manifest) -> String {
    let id = manifest.id.as_str();
    let about = format!(
        "{}. Use it through the `hcp` command line.",
        escape(&manifest.summary)
    );
    let about: String = about.chars().take(DESCRIPTION).collect();
    // A JSON string is a string of YAML too.
    let mut text = format!(
        "---\nname: {id}\ndescription: {}\n---\n\n# {id}\n\n",
        json!(about)
    );
    let _ = write!(
        text,
        "{}\n\nCall a command with `hcp exec {id} VERB -- name=value …`. `name=value` is read as the \
         argument's type, `name:=JSON` is JSON. The answer is one line of JSON: \
         `{{\"ok\":true,\"result\":…}}` or `{{\"ok\":false,\"error\":…}}`. `confirm required` means: look \
         at the call again, then repeat it with `confirm=true`. `hcp explain {id} VERB -- …` shows what \
         a call would do.\n",
        escape(&manifest.summary)
    );
    let callable = |key: &VerbKey| manifest.policy.contains_key(key);
    let mut left = manifest.commands.keys().filter(|key| callable(key)).count();
    for (key, command) in manifest.commands.iter().filter(|(key, _)| callable(key)) {
        let section = section(manifest, key, command);
        if text.len() + section.len() > LONGEST - 200 {
            let _ = write!(
                text,
                "\n{left} more commands: `hcp pack show {id}` lists them.\n"
            );
            break;
        }
        text.push_str(&section);
        left -= 1;
    }
    text
}

fn section(manifest: &Manifest, key: &VerbKey, command: &Command) -> String {
    let gated = manifest
        .policy
        .get(key)
        .is_some_and(|policy| Manifest::needs_confirm(command, policy));
    let mut text = format!(
        "\n## {key}\n\n{} ({}{})\n",
        escape(&command.summary),
        command.effect.as_str(),
        if gated { ", needs confirm=true" } else { "" }
    );
    for name in hcp_pack::accepted_names(manifest, key.as_str(), command) {
        let declared = command.args.get(&name);
        let mut facts = Vec::new();
        if declared.is_some_and(|argument| argument.required) {
            facts.push("required".to_owned());
        }
        if let Some(schema) = declared.and_then(|argument| argument.schema.as_ref()) {
            facts.push(format!("`{}`", escape(&schema.to_string())));
        }
        if let Some(summary) = declared.and_then(|argument| argument.summary.as_ref()) {
            facts.push(escape(summary).into_owned());
        }
        let _ = writeln!(text, "- `{}`: {}", escape(&name), facts.join("; "));
    }
    if let Some(example) = command.examples.values().next() {
        let mut pairs: Vec<String> = example.args.iter().map(pair).collect();
        if gated {
            pairs.push("confirm=true".to_owned());
        }
        let words = [" --".to_owned()]
            .into_iter()
            .chain(pairs.iter().map(|pair| format!(" {pair}")));
        let words: String = if pairs.is_empty() {
            String::new()
        } else {
            words.collect()
        };
        let _ = write!(
            text,
            "\n    hcp exec {} {}{words}\n",
            manifest.id,
            shell_word(key.as_str())
        );
    }
    text
}

/// An argument as the command line takes it; a string that would be read as something else is given
/// as JSON.
fn pair((name, value): (&String, &Value)) -> String {
    let plain = value
        .as_str()
        .filter(|text| serde_json::from_str::<Value>(text).is_err() && !text.starts_with('@'));
    shell_word(&match plain {
        Some(text) => format!("{name}={text}"),
        None => format!("{name}:={value}"),
    })
}

fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:/=,@%+".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use hcp_spec::manifest::Manifest;
    use serde_json::json;

    use super::{LONGEST, skill};

    fn manifest(count: usize) -> Manifest {
        let command = json!({
            "summary": "Do it \u{202e}now",
            "cli": ["t", "{{a}}"],
            "args": { "a": { "required": true, "summary": "what", "schema": { "type": "string" } } },
            "examples": { "one": { "args": { "a": "it's 1", "b": 2, "c": "3" } } },
        });
        let keys: Vec<String> = (0..count).map(|number| format!("do {number}")).collect();
        let commands: serde_json::Map<_, _> = keys
            .iter()
            .map(|key| (key.clone(), command.clone()))
            .collect();
        let policy: serde_json::Map<_, _> = keys
            .iter()
            .map(|key| (key.clone(), json!({ "capability": "t:do" })))
            .collect();
        serde_json::from_value(json!({
            "hcp": 1, "id": "t", "version": "1", "summary": "A \"tool\"", "kind": "wrap",
            "commands": commands, "policy": policy,
        }))
        .unwrap()
    }

    #[test]
    fn a_skill_tells_how_each_command_is_called() {
        let text = skill(&manifest(1));
        assert!(
            text.starts_with("---\nname: t\ndescription: \"A \\\"tool\\\"."),
            "{text}"
        );
        let call = "    hcp exec t 'do 0' -- 'a=it'\\''s 1' b:=2 'c:=\"3\"' confirm=true\n";
        assert!(text.contains(call), "{text}");
        assert!(
            text.contains("- `a`: required; `{\"type\":\"string\"}`; what\n"),
            "{text}"
        );
        assert!(!text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn a_skill_of_many_commands_is_bounded_and_says_what_is_left() {
        let text = skill(&manifest(500));
        assert!(text.len() <= LONGEST, "{}", text.len());
        assert!(text.contains(" more commands: `hcp pack show t`"), "{text}");
    }
}
