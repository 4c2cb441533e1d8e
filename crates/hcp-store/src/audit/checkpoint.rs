//! A note of how a trail stood, to be kept where those who can write the database cannot: the only
//! thing that tells a rewritten history from the true one.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The newest record of a trail at some time. As text it is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The installation the trail belongs to.
    pub installation: String,
    /// The tenant the trail belongs to.
    pub tenant_id: String,
    /// The number of the record, from 1.
    pub seq: u64,
    /// The hash of the record, in hex.
    pub hash: String,
}

/// A text that is no checkpoint.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("not a checkpoint: it is the one line that `hcp audit checkpoint` prints")]
pub struct CheckpointError;

/// The word that a checkpoint of this form begins with.
const FORM: &str = "hcp-checkpoint-1";

impl fmt::Display for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            installation,
            tenant_id,
            seq,
            hash,
        } = self;
        write!(formatter, "{FORM} {installation} {tenant_id} {seq} {hash}")
    }
}

impl FromStr for Checkpoint {
    type Err = CheckpointError;

    /// Reads exactly what `Display` writes; one line break at the end is let through.
    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let line = text.strip_suffix('\n').unwrap_or(text);
        let mut words = line.split(' ');
        let checkpoint = match (
            words.next(),
            words.next(),
            words.next(),
            words.next(),
            words.next(),
        ) {
            (Some(FORM), Some(installation), Some(tenant_id), Some(seq), Some(hash)) => Self {
                installation: installation.to_owned(),
                tenant_id: tenant_id.to_owned(),
                seq: seq.parse().map_err(|_| CheckpointError)?,
                hash: hash.to_owned(),
            },
            _ => return Err(CheckpointError),
        };
        // Writing it again must give the same text: no sign, no leading zero, no further word.
        if checkpoint.is_well_formed() && checkpoint.to_string() == line {
            Ok(checkpoint)
        } else {
            Err(CheckpointError)
        }
    }
}

impl Checkpoint {
    fn is_well_formed(&self) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let word = |text: &str| !text.is_empty() && text.bytes().all(plain);
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        word(&self.installation)
            && word(&self.tenant_id)
            && self.seq > 0
            && self.hash.len() == 64
            && self.hash.bytes().all(digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn what_is_written_is_read_back(
            installation in "ins_[0-9a-f]{32}",
            tenant_id in "[a-z][a-z0-9-]{0,63}",
            seq in 1..=u64::MAX,
            hash in "[0-9a-f]{64}",
        ) {
            let checkpoint = Checkpoint { installation, tenant_id, seq, hash };
            let line = checkpoint.to_string();
            prop_assert_eq!(line.parse(), Ok(checkpoint.clone()));
            prop_assert_eq!(format!("{line}\n").parse(), Ok(checkpoint));
        }

        #[test]
        fn no_text_panics(text in "(hcp-checkpoint-1)?[ \\PC]{0,80}") {
            let _ = text.parse::<Checkpoint>();
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let hash = "0".repeat(64);
        let good = format!("hcp-checkpoint-1 ins_a default 7 {hash}");
        assert!(good.parse::<Checkpoint>().is_ok());
        let cases = [
            String::new(),
            "OK".to_owned(),
            format!(" {good}"),
            format!("{good} "),
            format!("{good}\n\n"),
            format!("{good}\n{good}"),
            good.replace(" 7 ", " 07 "),
            good.replace(" 7 ", " +7 "),
            good.replace(" 7 ", " 0 "),
            good.replace(" 7 ", " -7 "),
            good.replace(" 7 ", " 18446744073709551616 "),
            good.replace(" 7 ", "  7 "),
            good.replace("-1 ", "-2 "),
            good.replace("default", "de\tfault"),
            good.replace("0000", "000G"),
            good.trim_end_matches('0').to_owned(),
        ];
        for text in cases {
            assert_eq!(text.parse::<Checkpoint>(), Err(CheckpointError), "{text:?}");
        }
    }
}
