//! Landlock, the layer beneath the mounts: what may be read, written and executed, by file.
//!
//! It is what limits execution: everything that a call can see may be read, a few places may be
//! written, and only the programs that were named can be started. A filter, hook or pager that a
//! repository names starts nothing.

use std::ffi::CString;
use std::os::fd::RawFd;

use rustix::io::Errno;

use crate::fitness::Identity;
use crate::sys::{self, RulesetAttributes};

/// The version that knows every right and scope used here. Older ones cannot hold back signals and
/// abstract sockets, which namespaces do as well.
pub(crate) const COMPLETE: usize = 6;
/// The least version with which the jail is whole: before it, files could be cut short and moved,
/// and TCP was none of its business.
pub(crate) const LEAST: usize = 4;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_FOLDER: u64 = 1 << 3;
const REMOVE_FOLDER: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_FOLDER: u64 = 1 << 7;
const MAKE_FILE: u64 = 1 << 8;
const MAKE_SOCKET: u64 = 1 << 9;
const MAKE_PIPE: u64 = 1 << 10;
const MAKE_LINK: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
/// Every right, device files and what is done to devices among them, which nobody is given.
const EVERY_RIGHT: u64 = (1 << 16) - 1;
/// Of those, what the version before device control knew.
const BEFORE_DEVICES: u64 = (1 << 15) - 1;
/// Binding and connecting TCP; nobody is given either.
const TCP: u64 = 0b11;
/// Abstract Unix sockets, and signals, of who is not in the jail.
const SCOPES: u64 = 0b11;

/// What one rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Reading what is beneath.
    Read,
    /// Reading one file.
    ReadFile,
    /// Reading one device file and writing it.
    Device,
    /// Whatever can be done to files and folders beneath, short of executing them.
    Write,
    /// Reading and changing one file.
    WriteFile,
    /// Executing one file.
    Execute,
}

impl Right {
    /// Reading a folder or a file.
    pub(crate) const fn reading(is_folder: bool) -> Self {
        if is_folder {
            Self::Read
        } else {
            Self::ReadFile
        }
    }

    const fn bits(self) -> u64 {
        match self {
            Self::Read => READ_FILE | READ_FOLDER,
            Self::ReadFile => READ_FILE,
            Self::Device => READ_FILE | WRITE_FILE,
            Self::WriteFile => READ_FILE | WRITE_FILE | TRUNCATE,
            Self::Execute => READ_FILE | EXECUTE,
            Self::Write => {
                READ_FILE
                    | READ_FOLDER
                    | WRITE_FILE
                    | TRUNCATE
                    | REMOVE_FILE
                    | REMOVE_FOLDER
                    | MAKE_FILE
                    | MAKE_FOLDER
                    | MAKE_LINK
                    | MAKE_PIPE
                    | MAKE_SOCKET
                    | REFER
            }
        }
    }
}

/// A right on a file or on what is beneath a folder.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Where it is, as the jail sees it.
    pub(crate) path: CString,
    pub(crate) right: Right,
    /// The file that must be there; anything, when it is the jail's own.
    pub(crate) identity: Option<Identity>,
}

/// Puts the calling thread, and all that come from it, under these rules.
///
/// # Errors
/// What the kernel says, and `ESTALE` when another file stands where a checked one stood.
pub(crate) fn restrict(rules: &[Rule], version: usize) -> Result<(), Errno> {
    let ruleset = sys::landlock_ruleset(&RulesetAttributes {
        files: if version < 5 {
            BEFORE_DEVICES
        } else {
            EVERY_RIGHT
        },
        network: TCP,
        scopes: if version < COMPLETE { 0 } else { SCOPES },
    })?;
    for rule in rules {
        allow(ruleset, rule)?;
    }
    sys::landlock_restrict(ruleset)
}

fn allow(ruleset: RawFd, rule: &Rule) -> Result<(), Errno> {
    let place = sys::open(libc::AT_FDCWD, &rule.path, libc::O_PATH, 0)?;
    if let Some(identity) = rule.identity
        && sys::identity(place)? != identity
    {
        return Err(Errno::STALE);
    }
    sys::landlock_allow(ruleset, place, rule.right.bits())?;
    sys::close(place);
    Ok(())
}
