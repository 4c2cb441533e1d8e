//! Provider `exec`: a helper of the operator mints, and revokes what it minted.

use std::path::Path;
use std::time::Duration;

use hcp_sandbox::Cancel;
use hcp_spec::config::Provider;
use hcp_spec::manifest::BindingNeed;
use hcp_spec::quantity::TimeLimit;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::answer::Answer;
use crate::binding::Binding;
use crate::error::BindingError;
use crate::helper::Helper;
use crate::mint::Scope;
use crate::secret::Secret;

/// The ceiling of a credential's life where the operator says none.
const DEFAULT_LIFE: (&str, Duration) = ("15m", Duration::from_mins(15));
/// How far the clock of whoever issues credentials may be ahead of ours.
const SKEW: Duration = Duration::from_secs(30);

/// What a helper is asked on stdin.
#[derive(Serialize)]
struct MintRequest<'a> {
    version: u32,
    pack_id: &'a str,
    verb_key: &'a str,
    principal: &'a str,
    tenant_id: &'a str,
    project_id: Option<&'a str>,
    capability: &'a str,
    ttl_seconds: u64,
}

#[derive(Serialize)]
struct RevokeRequest<'a> {
    version: u32,
    revoke: &'a str,
}

/// Asks the helper and holds its answer against what was asked for.
pub(crate) fn mint(
    need: &BindingNeed,
    provider: &Provider,
    folder: &Path,
    scope: &Scope<'_>,
    cancel: &Cancel,
) -> Result<Binding, BindingError> {
    let helper = Helper::check(provider, folder)?;
    let life = Life::of(need, provider);
    let request = MintRequest {
        version: 1,
        pack_id: scope.pack_id,
        verb_key: scope.verb_key,
        principal: scope.principal,
        tenant_id: scope.tenant_id,
        project_id: scope.project_id,
        capability: scope.capability,
        ttl_seconds: life.duration.as_secs().max(1),
    };
    let written = helper.ask(write(&request), cancel)?;
    let mut answer = Answer::parse(&written)?;
    // From here on, leaving by an error drops the lease, which revokes.
    let lease = answer.revoke.take().map(|text| Lease {
        revocation: Some((helper, text)),
    });
    life.check(answer.expires_at)?;
    let environment = take_declared(need, &mut answer, scope)?;
    Ok(Binding::leased(environment, answer.expires_at, lease))
}

/// Exactly the declared variables, in their order.
fn take_declared(
    need: &BindingNeed,
    answer: &mut Answer,
    scope: &Scope<'_>,
) -> Result<Vec<(String, Secret)>, BindingError> {
    let mut environment = Vec::with_capacity(need.env.len());
    for variable in &need.env {
        let secret = answer
            .take(variable)
            .ok_or_else(|| BindingError::HelperNotSet(variable.clone()))?;
        if let Some(defect) = secret.defect() {
            let variable = variable.clone();
            return Err(BindingError::HelperValue { variable, defect });
        }
        environment.push((variable.clone(), secret));
    }
    if answer.is_empty() {
        Ok(environment)
    } else {
        Err(BindingError::HelperUndeclared(scope.pack_id.to_owned()))
    }
}

/// How long a credential may live: what the pack needs, at most what the operator allows.
struct Life {
    text: String,
    duration: Duration,
}

impl Life {
    fn of(need: &BindingNeed, provider: &Provider) -> Self {
        let given = |limit: &TimeLimit| (limit.text().to_owned(), limit.duration());
        let (text, duration) = DEFAULT_LIFE;
        let ceiling = provider
            .ttl
            .as_ref()
            .map_or((text.to_owned(), duration), given);
        let needed = need.ttl.as_ref().map(given);
        let (text, duration) = needed
            .filter(|(_, duration)| *duration < ceiling.1)
            .unwrap_or(ceiling);
        Self { text, duration }
    }

    fn check(&self, expires_at: Timestamp) -> Result<(), BindingError> {
        let left = expires_at.duration_since(Timestamp::now());
        if left <= SignedDuration::ZERO {
            return Err(BindingError::Expired);
        }
        if left.unsigned_abs() > self.duration.saturating_add(SKEW) {
            return Err(BindingError::LivesTooLong(self.text.clone()));
        }
        Ok(())
    }
}

/// The duty to tell a helper that a credential is no longer needed: done at [`Lease::end`], or when
/// it is dropped.
pub(crate) struct Lease {
    revocation: Option<(Helper, Zeroizing<String>)>,
}

impl Lease {
    pub(crate) fn end(mut self) -> Result<(), BindingError> {
        self.revoke()
    }

    fn revoke(&mut self) -> Result<(), BindingError> {
        let Some((helper, text)) = self.revocation.take() else {
            return Ok(());
        };
        let request = RevokeRequest {
            version: 1,
            revoke: &text,
        };
        // A switch of its own: a call that was taken back must still be cleaned up after.
        let cancel = Cancel::new().map_err(|error| helper.unfit(error.kind()));
        cancel
            .and_then(|cancel| helper.ask(write(&request), &cancel))
            .map(drop)
            .map_err(|error| BindingError::NotRevoked(Box::new(error)))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Whoever drops it is failing for another reason, which is the one to tell.
        let _ = self.revoke();
    }
}

/// Texts, a number and nothing else: these always have a JSON form.
fn write(request: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(request).unwrap_or_default()
}
