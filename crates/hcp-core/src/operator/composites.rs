//! What the composites of a pack reach (§6.6), judged before the pack is added and before a session
//! may use it.
//!
//! Packs come and go one by one, so a composite may be added before what it calls. What is not there
//! cannot be judged and is told as a warning; it is judged again at activation and at each call.

use std::sync::Arc;

use hcp_pack::Warning;
use hcp_spec::manifest::Manifest;

use super::Operator;
use crate::catalog::LoadedPack;
use crate::composite::{check_composites, check_reach};
use crate::error::CoreError;
use crate::pipeline::Governance;

impl Operator<'_> {
    /// Refuses a pack with a composite that does not compile or reaches too far.
    ///
    /// # Errors
    /// [`CoreError::Pack`] or [`CoreError::NotAllowed`], naming the composite.
    pub(super) fn check_composites(&self, pack: &Arc<LoadedPack>) -> Result<(), CoreError> {
        let find = |id: &str| self.beside(pack, id);
        check_composites(&pack.manifest)?;
        for verb_key in pack.composites() {
            check_reach(&find, self.runtime.settings(), pack, verb_key).map_err(|overreach| {
                CoreError::NotAllowed {
                    what: overreach.what,
                    hint: overreach.hint,
                }
            })?;
        }
        Ok(())
    }

    /// What composites have to do with adding this pack: calls of its own that lead nowhere yet, and
    /// composites of others that may no longer be called once it is there.
    pub(super) fn composite_warnings(&self, manifest: &Manifest) -> Vec<Warning> {
        let pack = Arc::new(LoadedPack::before_adding(manifest));
        let mut found = Vec::new();
        for verb_key in pack.composites() {
            let Ok(plan) = pack.plan(verb_key) else {
                continue;
            };
            for call in plan.calls() {
                let problem = match self.beside(&pack, &call.pack_id) {
                    None => format!("pack `{}` is not installed", call.pack_id),
                    Some(callee) => {
                        match Governance::of(self.runtime.settings(), &callee, &call.verb_key) {
                            Ok(_) => continue,
                            Err(problem) => problem.to_owned(),
                        }
                    }
                };
                found.push(Warning {
                    rule: "composite-leads-nowhere",
                    message: format!("`{verb_key}` calls `{}`: {problem}", call.target()),
                    hint: "calls fail at that step until it is there".to_owned(),
                    place: None,
                });
            }
        }
        found.extend(self.others_that_overreach(&pack));
        found
    }

    fn others_that_overreach(&self, pack: &Arc<LoadedPack>) -> Vec<Warning> {
        let installed = self.runtime.store().packs().unwrap_or_default();
        let find = |id: &str| self.beside(pack, id);
        let mut found = Vec::new();
        for row in installed.iter().filter(|row| row.id.as_str() != pack.id) {
            let Ok(other) = self.load_pack(row.id.as_str()).map(Arc::new) else {
                continue;
            };
            for verb_key in other.composites() {
                if let Err(overreach) =
                    check_reach(&find, self.runtime.settings(), &other, verb_key)
                {
                    found.push(Warning {
                        rule: "composite-refused",
                        message: overreach.what,
                        hint: format!("its calls are refused until: {}", overreach.hint),
                        place: None,
                    });
                }
            }
        }
        found
    }

    /// The pack with this id as things stand once `pack` is there.
    fn beside(&self, pack: &Arc<LoadedPack>, id: &str) -> Option<Arc<LoadedPack>> {
        if id == pack.id {
            return Some(pack.clone());
        }
        self.load_pack(id).ok().map(Arc::new)
    }
}
