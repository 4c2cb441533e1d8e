//! What can go wrong outside of a call: opening an installation, and the acts of its operator.

use std::io;
use std::path::PathBuf;

use hcp_pack::PackError;
use hcp_sandbox::TrustError;
use hcp_store::StoreError;
use thiserror::Error;

/// An act that did not happen. `Display` is one line; [`CoreError::hint`] says what to do.
#[derive(Debug, Error)]
pub enum CoreError {
    /// There is no installation.
    #[error("there is no hcp home at `{}`", path.display())]
    NoHome {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A manifest or config does not read.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something is others' to write, or a secret others' to read.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The store's address is of no kind that is built in.
    #[error("store.url `{url}` is not `sqlite:` and a path")]
    StoreUrl {
        /// As written.
        url: String,
    },
    /// The operator's config is looser than the floor.
    #[error("`{key}` is looser than `{floor}` allows")]
    LooserThanFloor {
        /// The key.
        key: String,
        /// The file of the floor.
        floor: String,
    },
    /// A pack of this id is installed with other bytes.
    #[error("pack `{id}` is already installed with other bytes")]
    OtherBytes {
        /// The pack.
        id: String,
    },
    /// Another pack or a grant already uses a capability word.
    #[error("capability `{word}` is already used by {by}")]
    CapabilityInUse {
        /// The word.
        word: String,
        /// Who uses it.
        by: String,
    },
    /// Something that was named is not there.
    #[error("{kind} `{name}` {state}")]
    Missing {
        /// What kind of thing.
        kind: &'static str,
        /// Its name.
        name: String,
        /// `is not installed`, `does not exist`, …
        state: &'static str,
        /// A near name, when there is one.
        nearest: Option<String>,
    },
    /// A name does not have its form.
    #[error(transparent)]
    Name(#[from] hcp_spec::name::NameError),
    /// A file or folder could not be used.
    #[error("{what}: {error}")]
    Io {
        /// Which.
        what: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The act is not allowed as it stands.
    #[error("{what}")]
    NotAllowed {
        /// What is not allowed, and why.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A fault of hcp itself.
    #[error("internal: {0}")]
    Internal(String),
}

impl CoreError {
    /// What to do about it, on one line.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoHome { .. } => Some("run `hcp init` to make one".to_owned()),
            Self::Pack(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::StoreUrl { .. } => {
                Some("write `sqlite:` and a path, like `sqlite:hcp.db`".into())
            }
            Self::LooserThanFloor { .. } => {
                Some("tighten it or remove it from your config".to_owned())
            }
            Self::OtherBytes { .. } => Some(
                "`hcp pack diff DIR` shows what changed, `hcp pack add DIR --replace` accepts it; \
                 sessions must activate it again"
                    .to_owned(),
            ),
            Self::CapabilityInUse { word, .. } => Some(format!(
                "use another word, or accept that grants of it reach this pack too: \
                 --share-capability {word}"
            )),
            Self::Missing { nearest, .. } => nearest
                .as_ref()
                .map(|name| format!("did you mean `{name}`?")),
            Self::NotAllowed { hint, .. } => Some(hint.clone()),
            Self::Trust(error) => error.hint(),
            Self::Name(_) | Self::Io { .. } | Self::Internal(_) => None,
        }
    }
}
