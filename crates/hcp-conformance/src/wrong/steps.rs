//! §6.3: the nine steps, in order; the first that refuses ends the call.

use hcp_spec::ResultValue;
use hcp_spec::envelope::ExecEnvelope;
use hcp_spec::manifest::{Command, Effect, Kind, Land, Policy};
use hcp_spec::name::target;

use super::{Pack, WrongRuntime};
use crate::protocol::Record;

/// Why a call ended early.
#[derive(Clone, Debug, Default)]
pub(super) struct Refused {
    pub(super) step: u8,
    pub(super) error: String,
    pub(super) stdout: Option<String>,
    pub(super) stderr: Option<String>,
}

/// A call that ran well.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) result: ResultValue,
    /// Whether stdout held bytes that are no text.
    pub(super) replaced: bool,
    pub(super) stderr: Option<String>,
}

/// A call on its way.
pub(super) struct Walk<'a> {
    pub(super) call: &'a ExecEnvelope,
    pub(super) pack: Option<&'a Pack>,
    pub(super) credentials: Vec<(String, String)>,
    pub(super) ran: Option<Ran>,
    /// Whether a composite makes the call.
    pub(super) inner: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn command(&self) -> Option<&'a Command> {
        self.pack?
            .manifest
            .commands
            .get(self.call.verb_key.as_str())
    }

    fn policy(&self) -> Option<&'a Policy> {
        self.pack?.manifest.policy.get(self.call.verb_key.as_str())
    }
}

impl<'w> WrongRuntime {
    /// Walks the steps 1 to 8.
    pub(super) fn walk(&'w self, call: &'w ExecEnvelope, inner: bool) -> Result<Ran, Refused> {
        let mut walk = Walk {
            call,
            pack: None,
            credentials: Vec::new(),
            ran: None,
            inner,
        };
        if self.faults.has("mints-first") || self.faults.has("runs-first") {
            walk.pack = self.world.packs.get(&call.pack_id);
            if self.faults.has("mints-first") {
                let _ = self.mint(&mut walk);
            } else {
                let _ = self.run_adapter(&mut walk);
            }
        }
        for step in 1..=8 {
            if self.faults.has(&format!("skips-step-{step}")) && (2..8).contains(&step) {
                continue;
            }
            self.step(step, &mut walk).or_else(|refused| {
                let later = self
                    .faults
                    .asked_instead_of(step)
                    .filter(|later| *later < 9);
                later.map_or(Ok(()), |later| self.step(later, &mut walk))?;
                Err(refused)
            })?;
        }
        walk.ran.ok_or_else(Refused::default)
    }

    fn step(&'w self, step: u8, walk: &mut Walk<'w>) -> Result<(), Refused> {
        let judged = match step {
            1 => self.resolve_pack(walk),
            2 => self.check_activation(walk),
            3 => self.resolve_policy(walk),
            4 => self.authenticate(walk),
            5 => self.assert_capability(walk),
            6 => self.enforce_confirm(walk),
            7 => self.mint(walk),
            _ => return self.run_adapter(walk),
        };
        judged.map_err(|error| Refused {
            step,
            error: if self.faults.has("vague-errors") {
                "denied".to_owned()
            } else {
                error
            },
            ..Refused::default()
        })
    }

    fn resolve_pack(&'w self, walk: &mut Walk<'w>) -> Result<(), String> {
        let packs = &self.world.packs;
        walk.pack = packs.get(&walk.call.pack_id);
        if walk.pack.is_none() && self.faults.has("first-pack-for-all") {
            walk.pack = packs.values().next();
        }
        match walk.pack {
            Some(pack) if !pack.removed || self.faults.has("skips-step-1") => Ok(()),
            _ => Err(format!("unknown pack {}", walk.call.pack_id)),
        }
    }

    fn check_activation(&self, walk: &Walk<'w>) -> Result<(), String> {
        let active = &self.world.active;
        let pack_id = walk.pack.map_or("", |pack| pack.manifest.id.as_str());
        if active.contains(pack_id) || self.faults.has("any-activation") && !active.is_empty() {
            return Ok(());
        }
        Err(format!("pack {} not activated", walk.call.pack_id))
    }

    fn resolve_policy(&self, walk: &Walk<'w>) -> Result<(), String> {
        let declared = walk.command().is_some();
        if declared && (walk.policy().is_some() || self.does_without_policy(walk)) {
            return Ok(());
        }
        Err(format!("no policy for {}", walk.call.verb_key))
    }

    fn authenticate(&self, walk: &Walk<'w>) -> Result<(), String> {
        let land = walk
            .pack
            .map_or(Land::Local, |pack| pack.manifest.privacy.land);
        let needed = match land {
            Land::Brain => self.world.project.is_none() || self.faults.has("brain-always-refused"),
            Land::Tenant => self.faults.has("project-always-needed"),
            Land::Local => false,
        };
        if needed {
            return Err("denied: privacy.land brain requires project_id".to_owned());
        }
        Ok(())
    }

    fn assert_capability(&self, walk: &Walk<'w>) -> Result<(), String> {
        if walk.inner && self.faults.has("composite-all-powerful") {
            return Ok(());
        }
        let (pack_id, verb_key) = (walk.call.pack_id.as_str(), walk.call.verb_key.as_str());
        let capability = match walk.policy() {
            Some(policy) => policy.capability.as_str().to_owned(),
            None => format!("{pack_id}:{verb_key}"),
        };
        let grants = &self.world.grants;
        let lenient = self.faults.has("any-capability") && !grants.is_empty()
            || walk.policy().is_none() && !grants.is_empty();
        if grants.contains(&capability) || lenient {
            return Ok(());
        }
        let target = if self.faults.has("target-twice") {
            format!("{pack_id}.{verb_key}")
        } else {
            target(pack_id, verb_key)
        };
        Err(format!("denied: missing {capability} for {target}"))
    }

    fn enforce_confirm(&self, walk: &mut Walk<'w>) -> Result<(), String> {
        if self.faults.has("arguments-before-gate") {
            self.check_arguments(walk)?;
        }
        let destructive = walk
            .command()
            .is_some_and(|command| command.effect == Effect::Destructive);
        let gated = match walk.policy() {
            Some(policy) => policy.confirm.unwrap_or(destructive),
            None => destructive,
        };
        if (gated || self.faults.has("gate-always")) && !self.is_confirmed(&walk.call.args) {
            return Err("confirm required".to_owned());
        }
        if self.faults.has("arguments-after-mint") {
            self.mint(walk)?;
        }
        self.check_arguments(walk)
    }

    /// Step 8. Which kinds there are is §6.6, how a child is run is §6.4.
    pub(super) fn run_adapter(&'w self, walk: &mut Walk<'w>) -> Result<(), Refused> {
        let (Some(pack), Some(command)) = (walk.pack, walk.command()) else {
            return Err(Refused::at_8(format!(
                "no policy for {}",
                walk.call.verb_key
            )));
        };
        let kind = match &command.kind {
            Some(kind) if !self.faults.has("kind-of-pack") => kind,
            _ => &pack.manifest.kind,
        };
        let ran = match kind {
            Kind::Wrap => self.run_wrap(walk, pack, command)?,
            Kind::Composite if !self.faults.has("no-composite") => {
                self.run_composite(walk, command)?
            }
            other => self.run_other_kind(other, walk, pack, command)?,
        };
        walk.ran = Some(ran);
        Ok(())
    }

    /// Step 9.
    pub(super) fn record(&mut self, call: &ExecEnvelope, outcome: &Result<Ran, Refused>) {
        let step = outcome.as_ref().err().map(|refused| refused.step);
        let has = |name: &str| self.faults.has(name);
        let left_out = has("no-audit")
            || step.is_some() && has("audits-success-only")
            || step.is_some_and(|step| self.faults.asked_instead_of(step) == Some(9));
        if !left_out {
            self.world.records.push(Record {
                pack_id: call.pack_id.clone(),
                verb_key: call.verb_key.clone(),
                ok: Some(outcome.is_ok()),
                step,
            });
        }
    }
}

impl Refused {
    pub(super) fn at_8(error: String) -> Self {
        Self {
            step: 8,
            error,
            ..Self::default()
        }
    }
}
