//! Random identifiers and the clock: the only two things the store takes from outside its file.

use jiff::Timestamp;

use crate::error::StoreError;

/// Makes the id of a new session: 128 random bits, safe in a URL. It is made before the session is
/// opened, so that the record of the opening can name it.
///
/// # Errors
/// [`StoreError::Random`] when the system gives no random bits.
pub fn new_session_id() -> Result<String, StoreError> {
    random_id("ses_")
}

/// `prefix` and 128 random bits in hex.
pub(crate) fn random_id(prefix: &str) -> Result<String, StoreError> {
    let mut bits = [0_u8; 16];
    getrandom::fill(&mut bits).map_err(|error| StoreError::Random(error.to_string()))?;
    Ok(format!("{prefix}{}", hex(&bits)))
}

/// Bytes as lowercase hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// Milliseconds since the epoch.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// A time of a column as UTC, RFC 3339, milliseconds; `None` for one that no calendar holds.
pub(crate) fn rfc3339(milliseconds: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?;
    Some(format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_long_safe_and_never_the_same() {
        let (one, other) = (new_session_id().unwrap(), new_session_id().unwrap());
        assert_ne!(one, other);
        let bits = one.strip_prefix("ses_").unwrap();
        assert_eq!(bits.len(), 32);
        assert!(bits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn times_keep_three_digits_and_hex_every_bit() {
        assert_eq!(rfc3339(0).unwrap(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            rfc3339(1_700_000_000_120).unwrap(),
            "2023-11-14T22:13:20.120Z"
        );
        assert_eq!(rfc3339(i64::MAX), None);
        assert_eq!(hex(&[0x00, 0x0f, 0xa5, 0xff]), "000fa5ff");
    }
}
