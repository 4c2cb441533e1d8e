//! What a process gives up: being somebody, capabilities, files, system calls.

use std::ffi::c_int;
use std::os::fd::RawFd;

use super::{Answer, Word, call, filled};

pub(crate) fn drop_groups() -> Answer<()> {
    call!(SYS_setgroups, 0_usize, 0_usize).map(drop)
}

pub(crate) fn set_group(group: u32) -> Answer<()> {
    call!(SYS_setresgid, group, group, group).map(drop)
}

pub(crate) fn set_user(user: u32) -> Answer<()> {
    call!(SYS_setresuid, user, user, user).map(drop)
}

/// Empties the permitted, effective and inheritable capabilities of this process.
pub(crate) fn drop_capabilities() -> Answer<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0_u32; 6];
    call!(SYS_capset, header.as_ptr(), none.as_ptr()).map(drop)
}

/// Of `prctl`, what takes numbers only.
pub(crate) fn prctl(option: c_int, value: usize, other: usize) -> Answer<()> {
    call!(SYS_prctl, option, value, other, 0_usize, 0_usize).map(drop)
}

pub(crate) fn join_new_keyring() -> Answer<()> {
    const JOIN_SESSION_KEYRING: c_int = 1;
    call!(SYS_keyctl, JOIN_SESSION_KEYRING, 0_usize).map(drop)
}

/// `landlock_ruleset_attr` of the kernel.
#[repr(C)]
pub(crate) struct RulesetAttributes {
    pub(crate) files: u64,
    pub(crate) network: u64,
    pub(crate) scopes: u64,
}

pub(crate) fn landlock_ruleset(attributes: &RulesetAttributes) -> Answer<RawFd> {
    let size = size_of::<RulesetAttributes>();
    let attributes = std::ptr::from_ref(attributes);
    call!(SYS_landlock_create_ruleset, attributes, size, 0_u32).map(|fd| fd as RawFd)
}

/// The version of Landlock; an error where there is none.
pub(crate) fn landlock_version() -> Answer<usize> {
    const VERSION: u32 = 1;
    call!(SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION)
}

pub(crate) fn landlock_allow(ruleset: RawFd, place: RawFd, access: u64) -> Answer<()> {
    #[repr(C, packed)]
    struct PathBeneath {
        access: u64,
        place: RawFd,
    }
    const PATH_BENEATH: u32 = 1;
    let rule = PathBeneath { access, place };
    call!(
        SYS_landlock_add_rule,
        ruleset,
        PATH_BENEATH,
        &raw const rule,
        0_u32
    )
    .map(drop)
}

pub(crate) fn landlock_restrict(ruleset: RawFd) -> Answer<()> {
    call!(SYS_landlock_restrict_self, ruleset, 0_u32).map(drop)
}

pub(crate) fn seccomp(filter: &[libc::sock_filter]) -> Answer<()> {
    const SET_MODE_FILTER: u32 = 1;
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    call!(SYS_seccomp, SET_MODE_FILTER, 0_u32, &raw const program).map(drop)
}
