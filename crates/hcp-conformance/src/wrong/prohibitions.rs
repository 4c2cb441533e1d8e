//! §6.7: what a runtime must not do, and step 7, at which most of it would be done.

use std::process::{Command, Stdio};

use hcp_spec::manifest::Manifest;
use serde_json::Value;

use super::WrongRuntime;
use super::steps::Walk;
use crate::protocol::Reply;

type Credentials = Vec<(String, String)>;

impl WrongRuntime {
    /// Why the pack lets anything through beside the commands it names.
    pub(super) fn pass_through_of(&self, manifest: &Manifest) -> Option<String> {
        if manifest.commands.contains_key("*") && !self.faults.has("pass-through") {
            return Some("the key * lets anything through".to_owned());
        }
        let single = manifest.wrap.as_ref().is_some_and(|wrap| wrap.single);
        if single || self.faults.has("word-pass-through") || manifest.commands.contains_key("*") {
            return None;
        }
        let free = manifest.commands.iter().find(|(_, command)| {
            let first = command.cli.as_ref().and_then(|cli| cli.get(1));
            first.is_some_and(|token| token.starts_with("{{"))
        });
        free.map(|(key, _)| format!("the first word of `{key}` is free"))
    }

    /// Whether a fault stands in for a Policy entry that is missing.
    pub(super) fn does_without_policy(&self, walk: &Walk<'_>) -> bool {
        let some_entry = walk
            .pack
            .is_some_and(|pack| !pack.manifest.policy.is_empty());
        self.faults.has("confirm-is-policy") && self.is_confirmed(&walk.call.args)
            || self.faults.has("policy-of-first") && some_entry
            || self.faults.has("composite-lawless") && walk.inner
    }

    /// Step 7: mint what the pack needs, or refuse.
    pub(super) fn mint(&self, walk: &mut Walk<'_>) -> Result<(), String> {
        let Some(pack) = walk.pack else {
            return Ok(());
        };
        let has = |name| self.faults.has(name);
        if has("arguments-after-mint") && !walk.credentials.is_empty() {
            return Ok(());
        }
        let provider = self.world.providers.get(pack.manifest.id.as_str());
        let Some(need) = &pack.manifest.binding else {
            if let Some(command) = provider.filter(|_| has("mints-always")) {
                ask(command)?;
            }
            return Ok(());
        };
        if self.wants_mock(&walk.call.args) {
            walk.credentials = need
                .env
                .iter()
                .map(|name| (name.clone(), "mock".to_owned()))
                .collect();
            return Ok(());
        }
        let ambient = || -> Credentials {
            let variables = &self.world.environment;
            let found = need
                .env
                .iter()
                .filter_map(|name| Some((name.clone(), variables.get(name)?.clone())));
            found.collect()
        };
        let Some(command) = provider else {
            if has("ambient-provider") && !ambient().is_empty() || has("skips-step-7") {
                walk.credentials = ambient();
                return Ok(());
            }
            return if has("unprovided-runs") {
                Ok(())
            } else {
                Err("binding: nobody mints".to_owned())
            };
        };
        if has("mints-twice") {
            ask(command)?;
        }
        walk.credentials = match ask(command) {
            Ok(minted) if has("ambient-wins") && !ambient().is_empty() => {
                drop(minted);
                ambient()
            }
            Ok(minted) => minted,
            Err(_) if has("ambient-credentials") && !ambient().is_empty() => ambient(),
            Err(_) if has("mint-fails-open") => Credentials::new(),
            Err(error) => return Err(error),
        };
        if has("credential-kept-back") {
            walk.credentials.clear();
        }
        Ok(())
    }

    /// The health commands: there is nothing to look after.
    pub(super) fn look_after_health(&self) -> Reply {
        if self.faults.has("health-mints") {
            for command in self.world.providers.values() {
                let _ = ask(command);
            }
        }
        Reply::default()
    }
}

fn ask(command: &[String]) -> Result<Credentials, String> {
    let failed = || "binding: the helper failed".to_owned();
    let (program, arguments) = command.split_first().ok_or_else(failed)?;
    let output = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(|_| failed())?;
    if !output.status.success() {
        return Err(failed());
    }
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| failed())?;
    let variables = answer
        .get("env")
        .and_then(Value::as_object)
        .ok_or_else(failed)?;
    let texts = variables
        .iter()
        .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    texts.collect::<Option<Credentials>>().ok_or_else(failed)
}
