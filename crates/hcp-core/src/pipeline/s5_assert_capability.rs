//! Step 5: a grant of this Principal, in this tenant and project, covers the capability.

use std::sync::Arc;

use hcp_spec::manifest::Effect;
use hcp_spec::{Refusal, Step};

use super::mode::{Judgement, Mode, Refused};
use super::s3_resolve_policy::Governance;
use super::s4_authenticate::{Authenticated, Identity};
use super::walk::Walk;
use crate::call::Call;
use crate::catalog::LoadedPack;

/// A call that its Principal may make.
pub(super) struct Authorized<M: Mode> {
    pub(super) call: Arc<Call>,
    pub(super) pack: M::Fact<Arc<LoadedPack>>,
    pub(super) governance: M::Fact<Governance>,
    pub(super) identity: M::Fact<Identity>,
}

pub(super) fn assert_capability<M: Mode>(
    walk: &mut Walk<'_, M>,
    authenticated: Authenticated<M>,
) -> Result<Authorized<M>, Refused> {
    walk.enter(Step::AssertCapability);
    let Authenticated {
        call,
        pack,
        governance,
        identity,
    } = authenticated;
    let judged = match (M::known(&governance), M::known(&identity)) {
        (Some(governance), Some(identity)) => judge(walk, governance, identity),
        _ => Judgement::Unjudged,
    };
    walk.settle(Step::AssertCapability, judged)?;
    Ok(Authorized {
        call,
        pack,
        governance,
        identity,
    })
}

fn judge<M: Mode>(
    walk: &Walk<'_, M>,
    governance: &Governance,
    identity: &Identity,
) -> Judgement<()> {
    let session = &identity.session;
    let grants = match walk
        .view
        .grants(session.principal.as_str(), session.tenant_id.as_str())
    {
        Ok(grants) => grants,
        Err(refusal) => return Judgement::Refused(refusal.into()),
    };
    let destructive = governance.effect == Effect::Destructive;
    let covered = grants.covers(
        &governance.capability,
        session.project_id.as_ref().map(AsRef::as_ref),
        destructive,
    );
    if covered {
        return Judgement::Passed(());
    }
    Judgement::Refused(
        Refusal::MissingCapability {
            capability: governance.capability.as_str().to_owned(),
            target: governance.target.clone(),
        }
        .into(),
    )
}
