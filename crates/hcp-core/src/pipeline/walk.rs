//! What goes along with a call from step to step: the mode, what the runtime knows, and the trail of
//! facts that the record will tell, whichever step ends the call.

use std::sync::Arc;

use hcp_spec::Step;
use hcp_store::Session;

use super::mode::{Judgement, Mode, Refused};
use crate::view::View;

/// Facts for the record, as far as the call came.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// Digest of the resolved pack.
    pub pack_digest: Option<String>,
    /// The session, once it is known to be the caller's own.
    pub session_id: Option<String>,
    /// Its tenant.
    pub tenant_id: Option<String>,
    /// Its project.
    pub project_id: Option<String>,
    /// The capability of the Policy entry.
    pub capability: Option<String>,
    /// What went wrong beside the call: a Binding that was not revoked.
    pub warning: Option<String>,
}

impl Trail {
    pub(super) fn belongs_to(&mut self, session: &Session) {
        self.session_id = Some(session.id.clone());
        self.tenant_id = Some(session.tenant_id.to_string());
        self.project_id = session.project_id.as_ref().map(ToString::to_string);
    }
}

/// One walk through the steps.
pub(super) struct Walk<'a, M> {
    pub(super) mode: M,
    pub(super) view: &'a View,
    pub(super) trail: Trail,
    /// A session that step 2 could not judge, for step 4 of a dry walk to look at.
    pub(super) spare_session: Option<Arc<Session>>,
}

impl<'a, M: Mode> Walk<'a, M> {
    pub(super) fn new(mode: M, view: &'a View) -> Self {
        Self {
            mode,
            view,
            trail: Trail::default(),
            spare_session: None,
        }
    }

    pub(super) fn enter(&mut self, step: Step) {
        tracing::debug!(step = step.name(), "enter");
        self.mode.enter(step);
    }

    pub(super) fn settle<T>(
        &mut self,
        step: Step,
        judged: Judgement<T>,
    ) -> Result<M::Fact<T>, Refused> {
        self.mode.settle(step, judged)
    }
}
