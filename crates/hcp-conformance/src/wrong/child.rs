//! §6.4: finding the bin, starting it as an argv array, and what its end means.

use std::path::{Component, Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};

use hcp_spec::manifest::{Command, Wrap};

use super::steps::{Ran, Refused, Walk};
use super::{Pack, WrongRuntime};

impl WrongRuntime {
    pub(super) fn run_wrap(
        &self,
        walk: &Walk<'_>,
        pack: &Pack,
        command: &Command,
    ) -> Result<Ran, Refused> {
        let Some(wrap) = &pack.manifest.wrap else {
            return Err(Refused::at_8("the pack wraps nothing".to_owned()));
        };
        let argv = self
            .render(&pack.manifest, command, walk.call)
            .map_err(Refused::at_8)?;
        let Some(bin) = self.find_bin(pack, &wrap.bin).map_err(Refused::at_8)? else {
            return Ok(self.succeeded(b"", ""));
        };
        let output = self.start(&bin, &argv, walk, pack, wrap);
        let output = output.map_err(|error| Refused::at_8(format!("sandbox: {error}")))?;
        self.read_end(&output, wrap)
    }

    /// The program; `None` where a fault takes a missing one for a success.
    fn find_bin(&self, pack: &Pack, bin: &str) -> Result<Option<PathBuf>, String> {
        let has = |name| self.faults.has(name);
        let not_allowed = || format!("sandbox: bin \"{bin}\" not allowlisted");
        let path = if bin.starts_with('.') {
            if leads_out(bin) && !has("leads-out") && !has("skips-step-8") {
                return Err(not_allowed());
            }
            if has("bin-from-anywhere") {
                PathBuf::from(bin)
            } else {
                pack.root().join(bin)
            }
        } else {
            let allowed = pack.allow_bins.iter().any(|allowed| allowed == bin)
                || has("skips-step-8")
                || has("allows-existing-bins") && Path::new(bin).exists();
            if !allowed || has("bin-of-pack-only") {
                return Err(not_allowed());
            }
            PathBuf::from(bin)
        };
        if path.exists() {
            return Ok(Some(path));
        }
        if has("missing-bin-is-success") {
            return Ok(None);
        }
        if has("not-found-is-not-allowed") {
            return Err(not_allowed());
        }
        Err(format!("sandbox: bin \"{bin}\" not found"))
    }

    fn start(
        &self,
        bin: &Path,
        argv: &[String],
        walk: &Walk<'_>,
        pack: &Pack,
        wrap: &Wrap,
    ) -> std::io::Result<Output> {
        let has = |name| self.faults.has(name);
        let mut process = Process::new(bin);
        if has("shell") {
            process = Process::new("/bin/sh");
            process
                .arg("-c")
                .arg(format!("{} {}", bin.display(), argv.join(" ")));
        } else {
            process.args(argv);
        }
        process.env_clear().stdin(Stdio::null());
        if has("inherits-environment") {
            process.envs(&self.world.environment);
        }
        if !has("own-working-directory") {
            process.current_dir(pack.root());
        }
        if !has("no-sandbox-variable") {
            process.env("HCP_SANDBOX", "native-local");
        }
        if !has("no-agent-env") {
            process.envs(&wrap.agent_env);
        }
        process.envs(walk.credentials.iter().map(|(name, value)| (name, value)));
        process.output()
    }

    fn read_end(&self, output: &Output, wrap: &Wrap) -> Result<Ran, Refused> {
        let has = |name| self.faults.has(name);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let code = output.status.code().unwrap_or(-1);
        let named = !has("zero-only")
            && wrap
                .success
                .iter()
                .any(|success| i32::from(*success) == code);
        let believed = has("trusts-stdout") && stdout.contains("\"ok\": true");
        let succeeded = code == 0 || named || believed || code == 127 && has("127-is-success");
        let complained = has("stderr-is-failure") && !stderr.is_empty();
        if succeeded && !complained {
            return Ok(self.succeeded(&output.stdout, &stderr));
        }
        let error = match stderr.as_str() {
            "" if has("error-is-vague") => "failed".to_owned(),
            "" => format!("exit {code}"),
            _ if has("error-is-status") => format!("exit {code}"),
            text if has("trims-stderr") => text.trim().to_owned(),
            text => text.to_owned(),
        };
        Err(Refused {
            stdout: Some(stdout).filter(|text| !text.is_empty()),
            stderr: Some(stderr).filter(|text| !text.is_empty()),
            ..Refused::at_8(error)
        })
    }

    fn succeeded(&self, stdout: &[u8], stderr: &str) -> Ran {
        Ran {
            result: self.read_result(stdout),
            replaced: std::str::from_utf8(stdout).is_err(),
            stderr: Some(stderr.to_owned()).filter(|text| !text.is_empty()),
        }
    }
}

/// Whether a path climbs above where it starts.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_i32;
    Path::new(path).components().any(|component| {
        depth += match component {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => 0,
        };
        depth < 0
    })
}
