//! The nine steps of §6.3, a file each, in the order of the law.
//!
//! Each step takes by value what the step before returned and returns a type that only it can make,
//! so a call cannot reach a step without having passed the ones before. `explain` walks the first
//! six of these very functions in a mode whose types lead no further.

mod enclosure;
mod environment;
mod mode;
mod s1_resolve_pack;
mod s2_check_activation;
mod s3_resolve_policy;
mod s4_authenticate;
mod s5_assert_capability;
mod s6_enforce_confirm;
mod s7_mint_binding;
mod s8_run_adapter;
mod s9_record;
mod walk;

use std::sync::Arc;
use std::time::Instant;

use hcp_store::Intent;

pub use mode::{Note, Phase, Refused};
pub(crate) use s2_check_activation::is_about_session;
pub(crate) use s6_enforce_confirm::{OUTSIDE, Prepared, Resource};
pub(crate) use s9_record::record_invalid;

use crate::answer::Answer;
use crate::call::Call;
use crate::catalog::LoadedPack;
use crate::explanation::Explanation;
use crate::runtime::Runtime;
use crate::view::View;
use mode::{Dry, Live, Mode};
use s1_resolve_pack::resolve_pack;
use s2_check_activation::check_activation;
pub(crate) use s3_resolve_policy::Governance;
use s3_resolve_policy::resolve_policy;
use s4_authenticate::authenticate;
use s5_assert_capability::assert_capability;
use s6_enforce_confirm::{Confirmed, enforce_confirm};
use s7_mint_binding::mint_binding;
use s8_run_adapter::{Ran, run_adapter};
use s9_record::{Intended, intend, record_explain, record_outcome, record_refusal};
use walk::Walk;

/// Steps 1 to 6: may this Principal make this call, and could it run?
fn decide<M: Mode>(walk: &mut Walk<'_, M>, call: Arc<Call>) -> Result<Confirmed<M>, Refused> {
    let resolved = resolve_pack(walk, call)?;
    let activated = check_activation(walk, resolved)?;
    let governed = resolve_policy(walk, activated)?;
    let authenticated = authenticate(walk, governed)?;
    let authorized = assert_capability(walk, authenticated)?;
    enforce_confirm(walk, authorized)
}

/// Steps 7 and 8, for a call whose intent is durable.
fn perform(runtime: &Runtime, walk: &mut Walk<'_, Live>, intended: Intended) -> (Intent, Ran) {
    match mint_binding(walk, intended) {
        Ok(bound) => run_adapter(runtime, walk, bound),
        Err(unminted) => (unminted.0, Ran::refused(unminted.1)),
    }
}

/// All nine steps of one call.
pub(crate) fn exec(runtime: &Runtime, view: &View, call: Call) -> Answer {
    let began = Instant::now();
    let call = Arc::new(call);
    let mut walk = Walk::new(Live::new(), view);
    let decided =
        decide(&mut walk, call.clone()).and_then(|confirmed| intend(runtime, &mut walk, confirmed));
    match decided {
        Ok(intended) => {
            let (intent, ran) = perform(runtime, &mut walk, intended);
            record_outcome(runtime, walk, &call, intent, ran, began)
        }
        Err(refused) => record_refusal(runtime, walk, &call, refused, began),
    }
}

/// The facts that a dry walk ended with; each may be missing, and none leads to step 7.
pub(crate) struct DryConfirmed {
    pub(crate) pack: Option<Arc<LoadedPack>>,
    pub(crate) governance: Option<Governance>,
    pub(crate) prepared: Option<Prepared>,
}

/// Steps 1 to 6 of one call in the dry mode, and nothing else: nothing is minted, nothing runs.
pub(crate) fn explain(runtime: &Runtime, view: &View, call: Call) -> Explanation {
    let call = Arc::new(call);
    let mut walk = Walk::new(Dry::default(), view);
    let decided = decide(&mut walk, call.clone());
    let first = walk
        .mode
        .notes
        .iter()
        .find_map(|note| note.refused.as_ref().map(|refused| (note.step, refused)));
    let recorded = record_explain(runtime, &walk, &call, first).map_err(|error| error.to_string());
    let confirmed = decided.ok().map(|confirmed| DryConfirmed {
        pack: confirmed.pack,
        governance: confirmed.governance,
        prepared: confirmed.prepared,
    });
    Explanation::of(view, &call, &walk.mode.notes, confirmed, recorded)
}

/// Steps 1 to 6 without step 9, for measuring them.
pub(crate) fn decide_only(view: &View, call: Call) -> Result<(), Refused> {
    let mut walk = Walk::new(Live::new(), view);
    decide(&mut walk, Arc::new(call)).map(drop)
}
