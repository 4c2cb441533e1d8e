//! Step 1: find the pack, and make sure that its bytes are the ones that were added.

use std::sync::Arc;

use hcp_spec::{Refusal, Step};

use super::mode::{Judgement, Mode, Refused};
use super::walk::Walk;
use crate::call::Call;
use crate::catalog::{LoadedPack, Unusable};

/// A call whose pack is known.
pub(super) struct Resolved<M: Mode> {
    pub(super) call: Arc<Call>,
    pub(super) pack: M::Fact<Arc<LoadedPack>>,
}

pub(super) fn resolve_pack<M: Mode>(
    walk: &mut Walk<'_, M>,
    call: Arc<Call>,
) -> Result<Resolved<M>, Refused> {
    walk.enter(Step::ResolvePack);
    let unknown = || Refusal::UnknownPack(call.pack_id.clone());
    let judged = match walk.view.pack(&call.pack_id) {
        Ok(Some(pack)) => {
            walk.trail.pack_digest = Some(pack.digest.clone());
            Judgement::Passed(pack)
        }
        Ok(None) => Judgement::Refused(unknown().into()),
        Err(Unusable::Pack(detail)) => Judgement::Refused(Refused::because(unknown(), detail)),
        Err(Unusable::Store(error)) => Judgement::Refused(error.into()),
    };
    let pack = walk.settle(Step::ResolvePack, judged)?;
    Ok(Resolved { call, pack })
}
