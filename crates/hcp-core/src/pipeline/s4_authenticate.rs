//! Step 4: the Principal still stands, the session has not run out, tenant and project are there.
//!
//! Read anew at every call, so that a removal counts from the next call on.

use std::sync::Arc;

use hcp_spec::manifest::Land;
use hcp_spec::{Refusal, Step};
use hcp_store::Session;

use super::mode::{Judgement, Mode, Refused};
use super::s3_resolve_policy::{Governance, Governed};
use super::walk::Walk;
use crate::call::Call;
use crate::catalog::LoadedPack;

/// In whose name and where a call acts.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    /// The session.
    pub session: Arc<Session>,
    /// How many tenants the installation has.
    pub tenants: u64,
}

/// A call of a Principal that stands.
pub(super) struct Authenticated<M: Mode> {
    pub(super) call: Arc<Call>,
    pub(super) pack: M::Fact<Arc<LoadedPack>>,
    pub(super) governance: M::Fact<Governance>,
    pub(super) identity: M::Fact<Identity>,
}

pub(super) fn authenticate<M: Mode>(
    walk: &mut Walk<'_, M>,
    governed: Governed<M>,
) -> Result<Authenticated<M>, Refused> {
    walk.enter(Step::Authenticate);
    let Governed {
        call,
        pack,
        session,
        governance,
    } = governed;
    let spare = walk.spare_session.take();
    let judged = match M::known(&session).or(spare.as_ref()) {
        Some(session) => match judge(walk, session, M::known(&pack)) {
            Ok(judged) => judged,
            Err(refusal) => Judgement::Refused(refusal.into()),
        },
        None => Judgement::Unjudged,
    };
    let identity = walk.settle(Step::Authenticate, judged)?;
    Ok(Authenticated {
        call,
        pack,
        governance,
        identity,
    })
}

fn judge<M: Mode>(
    walk: &Walk<'_, M>,
    session: &Arc<Session>,
    pack: Option<&Arc<LoadedPack>>,
) -> Result<Judgement<Identity>, Refusal> {
    let view = &walk.view;
    if !view.principal_stands(session.principal.as_str())? {
        return Ok(Judgement::Refused(Refused::because(
            Refusal::Unauthenticated,
            "the Principal was removed",
        )));
    }
    if session
        .expires_at
        .is_some_and(|expiry| expiry <= jiff::Timestamp::now().as_millisecond())
    {
        return Ok(Judgement::Refused(Refusal::SessionExpired.into()));
    }
    if !view.tenant_stands(session.tenant_id.as_str())? {
        return Ok(Judgement::Refused(Refusal::NoTenant.into()));
    }
    let identity = Identity {
        session: session.clone(),
        tenants: view.tenant_count()?,
    };
    let brain = pack.is_some_and(|pack| pack.manifest.privacy.land == Land::Brain);
    let project = match &session.project_id {
        Some(project) => view.project_stands(session.tenant_id.as_str(), project.as_str())?,
        None => false,
    };
    if brain && !project {
        return Ok(Judgement::RefusedKnowing(
            identity,
            Refusal::BrainRequiresProject.into(),
        ));
    }
    if session.project_id.is_some() && !project {
        return Ok(Judgement::RefusedKnowing(
            identity,
            Refused::because(
                Refusal::Unauthenticated,
                "the session's project was removed",
            ),
        ));
    }
    if session.closed {
        return Ok(Judgement::Refused(Refused::because(
            Refusal::SessionExpired,
            "the session is closed",
        )));
    }
    Ok(Judgement::Passed(identity))
}
