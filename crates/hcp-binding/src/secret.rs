//! A value that must not be seen: wiped from memory when dropped, and silent when printed.

use std::fmt;

use zeroize::Zeroizing;

/// A credential. It has no `Display` and no serialized form, and its `Debug` tells nothing.
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    pub(crate) const fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }

    /// The bytes, for the environment of the child and for masking; never for a message.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Why it cannot stand in an environment, if so.
    pub(crate) fn defect(&self) -> Option<&'static str> {
        if self.0.is_empty() {
            Some("is empty")
        } else if self.0.contains(&0) {
            Some("holds a NUL byte")
        } else {
            None
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(redacted)")
    }
}
