//! Exit statuses of the `hcp` binary, as documented constants.

/// How a run of `hcp` ends, seen from its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// The command did what it was asked.
    Ok = 0,
    /// The Adapter ran and failed, timed out, was signalled or wrote too much.
    AdapterFailed = 1,
    /// Wrong usage, or an ill-formed envelope.
    Usage = 2,
    /// Refused at steps 1 to 7, by the isolation level or by the adapter kind.
    Refused = 3,
    /// An internal fault, or the store or audit could not answer.
    Internal = 70,
    /// The bin of the pack is missing or not allowlisted.
    BinUnavailable = 127,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl ExitStatus {
    /// The number given to the operating system.
    pub const fn code(self) -> u8 {
        self as u8
    }
}
