//! `hcp run`: the face of a pack as a command line, built from its manifest (§6.5).
//!
//! It only turns words and flags into the pairs that `exec` takes; whether the call may run, and
//! whether its arguments will do, is judged where every call is judged.

use clap::Args;
use hcp_core::LoadedPack;
use hcp_spec::ExitStatus;
use hcp_spec::manifest::{Argument, Command, Presentation};
use serde_json::Value;

use super::answering::CallOptions;
use super::usage_of;
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// The words are those of the verb, then flags: --name value, --name=value, --name:=JSON, --switch
#[derive(Debug, Args)]
#[command(
    override_usage = "hcp run [OPTIONS] PACK WORD… [--flag[=VALUE]…]\n       \
                      hcp run PACK [WORD…] --help",
    disable_help_flag = true
)]
pub(crate) struct Run {
    #[command(flatten)]
    options: CallOptions,
    /// The pack, the words of its verb, and flags
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PACK WORD"
    )]
    words: Vec<String>,
}

impl Run {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let Some((pack, words)) = self.words.split_first() else {
            return Err(Failure::usage("no pack is named", "hcp run PACK WORD…"));
        };
        if pack.starts_with('-') {
            return Err(Failure::usage(
                format!("`{pack}` is no option of `hcp run`"),
                "options of hcp itself are --session, --verbose and --timings, before the pack",
            ));
        }
        run_words(self.options, pack, words, ambient, terminal)
    }
}

/// Runs a binary that was called by the name of a link: the name is the pack.
pub(crate) fn run_linked(
    pack: &str,
    words: &[String],
    ambient: &Ambient,
    terminal: &Terminal,
) -> Result<ExitStatus, Failure> {
    run_words(CallOptions::default(), pack, words, ambient, terminal)
}

fn run_words(
    options: CallOptions,
    pack: &str,
    words: &[String],
    ambient: &Ambient,
    terminal: &Terminal,
) -> Result<ExitStatus, Failure> {
    let flags = words
        .iter()
        .position(|word| word.starts_with("--"))
        .unwrap_or(words.len());
    let (spoken, flags) = words.split_at_checked(flags).unwrap_or((words, &[]));
    if words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--help" || word == "-h")
    {
        return usage_of::show(pack, spoken, ambient, terminal);
    }
    let joined = spoken.join(" ");
    options.answer((pack, &joined), ambient, terminal, |asker| {
        let loaded = asker.installation.runtime.pack(pack);
        let verb = loaded
            .as_ref()
            .and_then(|pack| find_verb(pack, spoken))
            .map_or(joined.clone(), |(key, _)| key.to_owned());
        let command = loaded
            .as_ref()
            .and_then(|pack| pack.manifest.commands.get(verb.as_str()));
        Ok(asker.pairs(pack, &verb, &pairs(flags, command)))
    })
}

/// The command that the words name: its key, or its key behind the pack's own name and a dot.
pub(super) fn find_verb<'a>(
    pack: &'a LoadedPack,
    words: &[String],
) -> Option<(&'a str, &'a Command)> {
    let says = |key: &str| key.split_whitespace().eq(words.iter().map(String::as_str));
    let commands = || {
        pack.manifest
            .commands
            .iter()
            .map(|(key, command)| (key.as_str(), command))
    };
    let qualified = |key: &str| {
        key.strip_prefix(pack.id.as_str())
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(says)
    };
    commands()
        .find(|(key, _)| says(key))
        .or_else(|| commands().find(|(key, _)| qualified(key)))
}

/// Flags as the pairs that `exec` takes. What is no flag becomes a pair that no command accepts, so
/// that it is refused in the place where arguments are.
fn pairs(flags: &[String], command: Option<&Command>) -> Vec<String> {
    let mut pairs = Vec::with_capacity(flags.len());
    let mut words = flags.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            pairs.push(word.clone());
            continue;
        };
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        let argument = command.and_then(|command| command.args.get(name));
        // Every answer is JSON already; a tool that has the flag as an argument declares it.
        if name == "json" && given.is_none() && argument.is_none() {
            continue;
        }
        let value = given.or_else(|| {
            let takes_value = !is_switch(name, argument);
            words
                .next_if(|next| takes_value && !next.starts_with("--"))
                .cloned()
        });
        pairs.push(match value {
            None => format!("{name}:=true"),
            // On this face every text is the value itself.
            Some(text) if text == "@-" => format!("{name}:={}", Value::String(text)),
            Some(text) => format!("{name}={text}"),
        });
    }
    pairs
}

fn is_switch(name: &str, argument: Option<&Argument>) -> bool {
    match argument {
        None => matches!(name, "confirm" | "apply"),
        Some(argument) => {
            argument.presentation == Some(Presentation::Switch)
                || argument
                    .schema
                    .as_ref()
                    .and_then(|schema| schema.get("type"))
                    == Some(&Value::from("boolean"))
        }
    }
}

#[cfg(test)]
mod tests {
    use hcp_spec::manifest::Command;
    use serde_json::json;

    use super::pairs;

    #[test]
    fn flags_become_the_pairs_of_exec() {
        let command: Command = serde_json::from_value(json!({
            "summary": "s",
            "cli": ["t"],
            "args": {
                "name": { "schema": { "type": "string" } },
                "force": { "schema": { "type": "boolean" } },
                "ids": { "schema": { "type": "array" } },
                "json": { "schema": { "type": "string" } }
            }
        }))
        .unwrap();
        let cases: [(&[&str], &[&str]); 9] = [
            (&["--name", "ann"], &["name=ann"]),
            (&["--name=ann=bob"], &["name=ann=bob"]),
            (&["--name", "-5"], &["name=-5"]),
            (&["--force", "--name", "x"], &["force:=true", "name=x"]),
            (&["--force", "x"], &["force:=true", "x"]),
            (
                &["--confirm", "--ids", "1", "--ids", "2"],
                &["confirm:=true", "ids=1", "ids=2"],
            ),
            (&["--name", "@-"], &["name:=\"@-\""]),
            (&["--json=x"], &["json=x"]),
            (&["--name"], &["name:=true"]),
        ];
        for (flags, expected) in cases {
            let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            assert_eq!(pairs(&flags, Some(&command)), expected, "{flags:?}");
        }
        assert!(pairs(&["--json".to_owned()], None).is_empty());
    }
}
