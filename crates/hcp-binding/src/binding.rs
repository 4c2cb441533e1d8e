//! What was minted for one call, for as long as the call lasts.

use std::fmt;

use jiff::Timestamp;

use crate::error::BindingError;
use crate::exec::Lease;
use crate::secret::Secret;

/// The credentials of one call. Dropping it revokes what can be revoked, so that a call that goes
/// wrong on the way leaves nothing behind; [`Binding::revoke`] also says whether that worked.
pub struct Binding {
    state: State,
    environment: Vec<(String, Secret)>,
    expires_at: Option<Timestamp>,
    lease: Option<Lease>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    Mock,
    None,
}

impl Binding {
    /// Nothing is declared, so nothing was minted.
    pub(crate) const fn none() -> Self {
        Self {
            state: State::None,
            environment: Vec::new(),
            expires_at: None,
            lease: None,
        }
    }

    pub(crate) fn mock(environment: Vec<(String, Secret)>) -> Self {
        Self {
            state: State::Mock,
            environment,
            ..Self::none()
        }
    }

    pub(crate) fn lasting(environment: Vec<(String, Secret)>) -> Self {
        Self {
            state: State::Live,
            environment,
            ..Self::none()
        }
    }

    pub(crate) const fn leased(
        environment: Vec<(String, Secret)>,
        expires_at: Timestamp,
        lease: Option<Lease>,
    ) -> Self {
        Self {
            state: State::Live,
            environment,
            expires_at: Some(expires_at),
            lease,
        }
    }

    /// The value of `HCP_CALL_BINDING`: `live`, `mock` or `none`.
    pub const fn state(&self) -> &'static str {
        match self.state {
            State::Live => "live",
            State::Mock => "mock",
            State::None => "none",
        }
    }

    /// The variables of the child, in the order in which the pack declares them.
    pub fn environment(&self) -> impl Iterator<Item = (&str, &Secret)> {
        let pairs = self.environment.iter();
        pairs.map(|(name, secret)| (name.as_str(), secret))
    }

    /// What must be masked wherever the child repeats it. The text `mock` is no secret.
    pub fn secrets(&self) -> impl Iterator<Item = &[u8]> {
        let live = self.state == State::Live;
        let secrets = self.environment.iter().filter(move |_| live);
        secrets.map(|(_, secret)| secret.expose())
    }

    /// When the credentials end by themselves; `None` for those that do not.
    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Takes the credentials back; to be called however the call ended.
    ///
    /// # Errors
    /// [`BindingError::NotRevoked`] when the helper failed at it; they then live until they expire.
    pub fn revoke(mut self) -> Result<(), BindingError> {
        self.lease.take().map_or(Ok(()), Lease::end)
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Binding")
            .field("state", &self.state())
            .field("environment", &names)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
