//! The faults that the reference-wrong runtime can be given, each with the cases that must find it.
//!
//! The table is what keeps the kit honest: a case that no fault makes fail proves nothing, and a
//! fault that no case finds is a hole. A test holds the kit to both.

use serde::Deserialize;

use crate::corpus::{Case, Corpus};
use crate::error::KitError;

/// One way to break the law.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name, for `--fault`.
    pub name: String,
    /// The clause it breaks.
    pub clause: String,
    /// What a runtime with it does.
    pub does: String,
    /// The ids of the cases that must fail for it; one that ends in `*` stands for every case that
    /// begins so.
    pub fails: Vec<String>,
    /// Whether other cases may fail as well, since they lean on what is broken.
    #[serde(default)]
    pub spreads: bool,
}

/// Every fault but the pairs of steps, which follow from the numbers.
const FAULTS: &str = include_str!("faults.json");

/// The faults of a runtime: none, or one.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    active: Option<String>,
}

impl Faults {
    /// Every fault there is.
    ///
    /// # Errors
    /// [`KitError::Cases`] when the table is not well-formed.
    pub fn all() -> Result<Vec<Fault>, KitError> {
        let read = serde_json::from_str(FAULTS);
        let mut all: Vec<Fault> = read.map_err(|error| KitError::Cases {
            file: "faults.json",
            reason: error.to_string(),
        })?;
        for first in 1..=8 {
            all.extend((first + 1..=9).map(|second| order(first, second)));
        }
        Ok(all)
    }

    /// No fault, or the one with this name.
    ///
    /// # Errors
    /// [`KitError::Unknown`] for a name that is none.
    pub fn only(name: Option<&str>) -> Result<Self, KitError> {
        let Some(name) = name else {
            return Ok(Self::default());
        };
        if Self::all()?.iter().all(|fault| fault.name != name) {
            return Err(KitError::Unknown {
                what: "fault",
                name: name.to_owned(),
                list: "wrong-runtime --list-faults",
            });
        }
        Ok(Self {
            active: Some(name.to_owned()),
        })
    }

    /// Whether this one is on.
    pub(super) fn has(&self, name: &str) -> bool {
        self.active.as_deref() == Some(name)
    }

    /// The step that is wrongly asked when `step` has refused.
    pub(super) fn asked_instead_of(&self, step: u8) -> Option<u8> {
        let later = self
            .active
            .as_deref()?
            .strip_prefix(&format!("order-{step}-"))?;
        later.parse().ok()
    }
}

impl Fault {
    /// The cases of the corpus that must fail for it.
    pub fn expected<'a>(&self, corpus: &'a Corpus) -> Vec<&'a Case> {
        let meant = |case: &&Case| {
            self.fails
                .iter()
                .any(|wanted| match wanted.strip_suffix('*') {
                    Some(start) => case.id.starts_with(start),
                    None => *wanted == case.id,
                })
        };
        corpus.cases.iter().filter(meant).collect()
    }
}

fn order(first: u8, second: u8) -> Fault {
    let does = if second == 9 {
        format!("does not record a refusal of step {first}")
    } else {
        format!("asks step {second} before step {first} answers")
    };
    let mut fails = vec![format!("6.3-order-{first}-{second}")];
    match (first, second) {
        // A pack that never was there is neither activated nor has it a Policy entry.
        (1, 2 | 3) => fails.push("6.3-unknown-pack".to_owned()),
        (8, 9) => fails.push("6.3-audited-failure".to_owned()),
        _ => {}
    }
    Fault {
        name: format!("order-{first}-{second}"),
        clause: "6.3".to_owned(),
        does,
        fails,
        // Minting and running leave traces even where they succeed.
        spreads: matches!(second, 7 | 8),
    }
}
