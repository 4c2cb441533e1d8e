//! What a child left behind outside its process group, but within its session: the jobs of a shell
//! with job control.
//!
//! Only looked for when a call was ended from here or something still holds a pipe of it, since it
//! means asking about every process of the machine. A session's id is its leader's, and cannot come
//! to mean another session as long as the leader is not reaped.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How often it is looked again for processes that were started meanwhile.
const ROUNDS: usize = 8;

/// Kills every process of the session; its leader must be dead and not reaped yet.
pub(crate) fn kill_session(session: Pid) {
    let mut killed = Vec::new();
    for _ in 0..ROUNDS {
        let before = killed.len();
        for pid in every_process() {
            if pid != session && !killed.contains(&pid) && kill_member(pid, session) {
                killed.push(pid);
            }
        }
        if killed.len() == before {
            return;
        }
    }
}

/// The process is asked for its session after it was taken hold of, so that the one that is killed is
/// the one that was asked.
fn kill_member(pid: Pid, session: Pid) -> bool {
    if session_of(pid) != session.as_raw_nonzero().get() {
        return false;
    }
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    session_of(pid) == session.as_raw_nonzero().get()
        && pidfd_send_signal(&process, Signal::KILL).is_ok()
}

/// As a number: those of processes outside our own pid namespace are 0, which `Pid` cannot hold.
#[allow(unsafe_code)]
fn session_of(pid: Pid) -> libc::pid_t {
    // SAFETY: takes and returns plain numbers.
    unsafe { libc::getsid(pid.as_raw_nonzero().get()) }
}

fn every_process() -> impl Iterator<Item = Pid> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
}
