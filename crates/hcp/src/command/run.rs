//! `hcp run`: the face of a pack as a command line, built from its manifest (§6.5).
//!
//! It only turns words and flags into the pairs that `exec` takes; whether the call may run, and
//! whether its arguments will do, is judged where every call is judged.

use clap::{Args, CommandFactory};
use hcp_core::LoadedPack;
use hcp_spec::ExitStatus;
use hcp_spec::manifest::{Argument, Command, Presentation};
use serde_json::Value;

use super::answering::CallOptions;
use super::{Cli, usage_of};
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
        if pack == "--help" || pack == "-h" {
            own_help(terminal);
            return Ok(ExitStatus::Ok);
        }
        if pack.starts_with('-') {
            return Err(Failure::usage(
                format!("`{pack}` is no option of `hcp run`"),
                "options of hcp itself are --session, --verbose and --timings, before the pack",
            ));
        }
        run_words(self.options, pack, words, ambient, terminal)
    }
}

/// The help flag is not clap's here, since behind the pack it is the pack's.
fn own_help(terminal: &Terminal) {
    let mut all = Cli::command();
    all.build();
    if let Some(command) = all.find_subcommand_mut("run") {
        terminal.print_bytes(command.render_long_help().to_string().as_bytes());
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
        .position(|word| word.starts_with('-'))
        .unwrap_or(words.len());
    let (spoken, flags) = words.split_at_checked(flags).unwrap_or((words, &[]));
    // Only in the first place: behind a flag it is that flag's value, whoever chose it.
    if flags
        .first()
        .is_some_and(|word| word == "--help" || word == "-h")
    {
        return usage_of::show(pack, spoken, ambient, terminal);
    }
    if spoken.is_empty() && flags.is_empty() {
        usage_of::show(pack, spoken, ambient, terminal)?;
        return Ok(ExitStatus::Usage);
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
        let read = pairs(flags, command);
        Ok(asker.pairs(pack, &verb, &read.pairs, read.fault))
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

/// Flags as the pairs that `exec` takes, and what is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReadFlags {
    pub(super) pairs: Vec<String>,
    /// Told where arguments are judged.
    pub(super) fault: Option<String>,
}

/// Reads flags. One that takes a value takes the next word whatever it looks like, so that no value
/// is ever taken for a flag.
pub(super) fn pairs(flags: &[String], command: Option<&Command>) -> ReadFlags {
    let mut read = ReadFlags::default();
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            read.fault
                .get_or_insert_with(|| format!("{word:?} is no flag of this command"));
            continue;
        };
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let name = declared_name(name, command);
        let argument = command.and_then(|command| command.args.get(&name));
        // Every answer is JSON already; a tool that has the flag as an argument declares it.
        if name == "json" && given.is_none() && argument.is_none() {
            continue;
        }
        let pair = if let Some(text) = given {
            value_pair(&name, text)
        } else if is_switch(&name, argument) {
            format!("{name}:=true")
        } else if let Some(text) = words.next() {
            value_pair(&name, text)
        } else {
            read.fault
                .get_or_insert_with(|| format!("{name:?} needs a value"));
            continue;
        };
        read.pairs.push(pair);
    }
    read
}

/// On this face every text is the value itself, also one that `exec` would read from stdin.
fn value_pair(name: &str, text: &str) -> String {
    if text == "@-" {
        format!("{name}:={}", Value::String(text.to_owned()))
    } else {
        format!("{name}={text}")
    }
}

/// A flag is said with dashes where the argument is declared with underscores.
fn declared_name(flag: &str, command: Option<&Command>) -> String {
    let spelled = flag.replace('-', "_");
    match command {
        Some(command)
            if !command.args.contains_key(flag) && command.args.contains_key(&spelled) =>
        {
            spelled
        }
        _ => flag.to_owned(),
    }
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

    use super::{ReadFlags, pairs};

    #[test]
    fn flags_become_the_pairs_of_exec() {
        let command: Command = serde_json::from_value(json!({
            "summary": "s",
            "cli": ["t"],
            "args": {
                "name": { "schema": { "type": "string" } },
                "force": { "schema": { "type": "boolean" } },
                "dry_run": { "as": "switch", "schema": { "type": "boolean" } },
                "ids": { "schema": { "type": "array" } },
                "json": { "schema": { "type": "string" } }
            }
        }))
        .unwrap();
        let cases: [(&[&str], &[&str], Option<&str>); 13] = [
            (&["--dry-run"], &["dry_run:=true"], None),
            (&["--name", "ann"], &["name=ann"], None),
            (&["--name=ann=bob"], &["name=ann=bob"], None),
            (&["--name", "-5"], &["name=-5"], None),
            (&["--name", "--confirm"], &["name=--confirm"], None),
            (&["--name", "--help"], &["name=--help"], None),
            (
                &["--force", "--name", "x"],
                &["force:=true", "name=x"],
                None,
            ),
            (
                &["--force", "x"],
                &["force:=true"],
                Some("\"x\" is no flag of this command"),
            ),
            (
                &["confirm=true"],
                &[],
                Some("\"confirm=true\" is no flag of this command"),
            ),
            (
                &["--confirm", "--ids", "1", "--ids", "2"],
                &["confirm:=true", "ids=1", "ids=2"],
                None,
            ),
            (&["--name", "@-"], &["name:=\"@-\""], None),
            (&["--json=x"], &["json=x"], None),
            (&["--name"], &[], Some("\"name\" needs a value")),
        ];
        for (flags, expected, fault) in cases {
            let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            let read = pairs(&flags, Some(&command));
            assert_eq!(read.pairs, expected, "{flags:?}");
            assert_eq!(read.fault.as_deref(), fault, "{flags:?}");
        }
        assert_eq!(pairs(&["--json".to_owned()], None), ReadFlags::default());
    }
}
