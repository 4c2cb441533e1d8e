//! Who a jailed program is to the host, and how the first process of a jail becomes that.
//!
//! It is never the host's root. A runtime of an ordinary user makes a user namespace, in which the
//! jail's user stands for its own; a runtime of root, which needs no such namespace, changes to a
//! user that owns nothing.

use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use crate::sys;

/// The jail's user and group. From the range that the registry of systemd leaves unused and above
/// what any tool hands out to containers, so that no file on disk belongs to it.
pub(crate) const USER: u32 = 0x7000_0000;

/// How the runtime gets a child that is not itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It may mount and change users.
    Privileged,
    /// Within a user namespace of the child's own.
    UserNamespace,
}

impl Way {
    /// What this process can do. `None` where it is root and may neither mount nor change users: then
    /// a user namespace would leave the host's root inside.
    pub(crate) fn of_this_process() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Some(Self::UserNamespace);
        }
        let needed = CapabilitySet::SYS_ADMIN
            | CapabilitySet::SETUID
            | CapabilitySet::SETGID
            | CapabilitySet::SETPCAP
            | CapabilitySet::CHOWN
            | CapabilitySet::DAC_OVERRIDE;
        let held = rustix::thread::capabilities(None).ok()?.effective;
        held.contains(needed).then_some(Self::Privileged)
    }
}

/// Makes the caller, alone in a new user namespace, its user [`USER`].
pub(crate) fn map_self(user: &[u8], group: &[u8]) -> Result<(), Errno> {
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/gid_map", group)?;
    write(c"/proc/self/uid_map", user)
}

fn write(path: &std::ffi::CStr, content: &[u8]) -> Result<(), Errno> {
    let file = sys::open(libc::AT_FDCWD, path, libc::O_WRONLY, 0)?;
    sys::write(file, content)?;
    sys::close(file);
    Ok(())
}

/// Nothing that runs as root has rights for that alone, none is kept over a change of user, none can
/// be raised; and none of this can be undone.
const SECURE_BITS: usize = 0xef;

/// Gives up every capability for good, the other users' keys, and being root.
pub(crate) fn give_up_privileges(way: Way) -> Result<(), Errno> {
    // Without it the jail would have the runtime's keys, which it has no call to ask for.
    let _ = sys::join_new_keyring();
    for capability in 0..64 {
        match sys::prctl(libc::PR_CAPBSET_DROP, capability, 0) {
            Err(Errno::INVAL) if capability > 0 => break,
            done => done?,
        }
    }
    sys::prctl(libc::PR_SET_SECUREBITS, SECURE_BITS, 0)?;
    sys::prctl(libc::PR_CAP_AMBIENT, AMBIENT_CLEAR, 0)?;
    if way == Way::Privileged {
        sys::drop_groups()?;
    }
    sys::set_group(USER)?;
    sys::set_user(USER)?;
    sys::drop_capabilities()?;
    sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0)
}

const AMBIENT_CLEAR: usize = 4;
