//! Step 7 (§6.3): the credentials of one call, minted for it and taken back after it.
//!
//! What a pack declares comes from the provider that the operator configured ([`select`]), or the
//! call is refused: nothing here reads the environment of the runtime, and there is no fallback
//! (§6.7). A [`Binding`] holds what was minted; when it is revoked or dropped, a helper that gave out
//! something to revoke is told so. No error, `Debug` or log line holds a secret or what a helper
//! wrote.

mod answer;
mod binding;
mod error;
mod exec;
mod files;
mod helper;
mod mint;
mod secret;
mod select;

pub use binding::Binding;
pub use error::BindingError;
pub use mint::{Mode, Scope, foresee, mint};
pub use secret::Secret;
pub use select::{Selected, select};
