//! Step 2: the pack is activated on the session of this call, with the bytes it has now.
//!
//! No session, an unknown one, a closed one and one of somebody else all read alike, so that nobody
//! learns which sessions exist.

use std::sync::Arc;

use hcp_spec::{Refusal, Step};
use hcp_store::Session;

use super::mode::{Judgement, Mode, Refused};
use super::s1_resolve_pack::Resolved;
use super::walk::Walk;
use crate::call::Call;
use crate::catalog::LoadedPack;

/// A call whose session runs this pack.
pub(super) struct Activated<M: Mode> {
    pub(super) call: Arc<Call>,
    pub(super) pack: M::Fact<Arc<LoadedPack>>,
    pub(super) session: M::Fact<Arc<Session>>,
}

pub(super) fn check_activation<M: Mode>(
    walk: &mut Walk<'_, M>,
    resolved: Resolved<M>,
) -> Result<Activated<M>, Refused> {
    walk.enter(Step::CheckActivation);
    let Resolved { call, pack } = resolved;
    let judged = judge(walk, &call, M::known(&pack));
    let session = walk.settle(Step::CheckActivation, judged)?;
    Ok(Activated {
        call,
        pack,
        session,
    })
}

fn judge<M: Mode>(
    walk: &mut Walk<'_, M>,
    call: &Call,
    pack: Option<&Arc<LoadedPack>>,
) -> Judgement<Arc<Session>> {
    let not_activated =
        |detail: &str| Refused::because(Refusal::NotActivated(call.pack_id.clone()), detail);
    let session = match walk.view.session_of(call) {
        Ok(Some(session)) => session,
        Ok(None) => return Judgement::Refused(not_activated("there is no such session")),
        Err(refusal) => return Judgement::Refused(refusal.into()),
    };
    if session.principal != call.principal {
        return Judgement::Refused(not_activated("the session belongs to another Principal"));
    }
    if session.closed {
        // One that was closed because its Principal, tenant or project went is told so by step 4.
        match walk.view.surroundings_stand(&session) {
            Ok(true) => return Judgement::Refused(not_activated("the session is closed")),
            Ok(false) => {}
            Err(refusal) => return Judgement::Refused(refusal.into()),
        }
    }
    walk.trail.belongs_to(&session);
    let Some(pack) = pack else {
        return known_but_unjudged(walk, session);
    };
    match session
        .packs
        .iter()
        .find(|active| active.pack_id.as_str() == pack.id)
    {
        Some(active) if pack.is_linked() || active.digest == pack.digest => {
            Judgement::Passed(session)
        }
        Some(_) => Judgement::RefusedKnowing(
            session,
            not_activated("the pack has other bytes than when it was activated"),
        ),
        None => Judgement::RefusedKnowing(session, not_activated("not among the session's packs")),
    }
}

/// Without a pack there is nothing to judge, yet step 4 can still look at the session.
fn known_but_unjudged<M: Mode>(
    walk: &mut Walk<'_, M>,
    session: Arc<Session>,
) -> Judgement<Arc<Session>> {
    walk.spare_session = Some(session);
    Judgement::Unjudged
}
