//! The child of a call: which program may run, what it starts with, how it is watched and ended.
//!
//! Step 8 of the pipeline (§6.3) comes here with a bin as the manifest writes it and an argv that is
//! already rendered. [`check_bin`] decides which file that is and keeps hold of it, so that nothing
//! else can be started in its place; [`run_jailed`] runs it in a jail that shows it what this call may
//! touch and nothing else, [`run_native_local`] as a plain child with limits. Both give back everything
//! it wrote and how it ended. [`available_level`] says how much isolation a machine gives. Around that stand the checks that need the file
//! system: the operator's roots ([`Roots`]), files that others could change ([`check_private`]), and
//! the folders that live as long as one call ([`Scratch`]).
//!
//! This is the only crate that spawns tools, and the only one with `unsafe`: the system calls between
//! `clone` and `execve`, where the standard library offers no way to say what is needed.

#[cfg(target_os = "linux")]
mod beneath;
#[cfg(target_os = "linux")]
mod bin;
#[cfg(target_os = "linux")]
mod cancel;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod elf;
#[cfg(target_os = "linux")]
mod fitness;
#[cfg(target_os = "linux")]
mod interrupt;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod jail;
#[cfg(all(
    target_os = "linux",
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
#[path = "jail_absent.rs"]
mod jail;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod limits;
mod network;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod roots;
#[cfg(target_os = "linux")]
mod scratch;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod signal;
#[cfg(target_os = "linux")]
mod supervise;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod sys;
#[cfg(target_os = "linux")]
mod trust;
mod unenforced;

#[cfg(target_os = "linux")]
pub use jail::{
    Jail, LevelCache, LevelReport, available_level, run_jailed, tidy, unenforced_in_jail,
};
#[cfg(target_os = "linux")]
pub use {
    bin::{BinError, BinSearch, CheckedBin, check_bin},
    cancel::Cancel,
    launch::{End, Finished, Launch, LaunchError, Stdin, run_native_local},
    limits::Limits,
    roots::{GrantedPath, Roots},
    scratch::{Scratch, remove_tree},
    signal::signal_name,
    trust::{Demand, TrustError, check_private, open_private},
};
pub use {network::network_allows, unenforced::unenforced};
