//! Attacks on a jail, each of which works outside of one.
//!
//! The program that makes them is `hcp-attacker`. Each is first made outside, by the same user, where it
//! must work; then in a jail that is given as much as any, where it must be held back, and the host
//! must find everything as it was. All of it once as whoever runs the tests and, where that is root,
//! once more as an ordinary user.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use hcp_sandbox::{End, Finished, Scratch, tidy};

use super::as_an_ordinary_user;
use super::scene::{SECRET, Scene, attacker};
use crate::support::text;

/// Who can make the attack outside of a jail.
#[derive(Clone, Copy, PartialEq)]
enum Control {
    Anyone,
    /// Root only.
    Root,
    /// Whoever the kernel of this machine lets: it may be built without the thing, or be set against
    /// it.
    Perhaps,
    /// Nobody, on most kernels; held back all the same.
    Nobody,
    /// Anyone; it works when something is left behind, which the host sees.
    Outlives,
}

/// What becomes of it in a jail.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// It says itself that it was held back.
    Held,
    /// It believes that it worked, and nothing is left of it.
    Gone,
    /// Killed by the filter for system calls.
    Killed,
    /// Ended for want of memory, where control groups can be made.
    Starved,
    /// Ended for writing too much.
    Over,
    TimedOut,
}

use Control::{Anyone, Nobody, Outlives, Perhaps, Root};
use Fate::{Gone, Held, Killed, Over, Starved, TimedOut};

#[rustfmt::skip]
const ATTACKS: &[(&str, Control, Fate)] = &[
    ("read-secret", Anyone, Held),
    ("read-secret-by-dots", Anyone, Held),
    ("read-secret-by-link", Anyone, Held),
    ("read-secret-by-proc-root", Anyone, Held),
    ("read-secret-by-proc-cwd", Anyone, Held),
    ("read-beside-a-grant", Anyone, Held),
    ("read-other-pack", Anyone, Held),
    ("read-shared-memory", Anyone, Held),
    ("read-shadow", Root, Held),
    ("read-host-passwd", Anyone, Held),
    ("list-host-root", Anyone, Held),
    ("list-run", Anyone, Held),
    ("list-sys", Anyone, Held),
    ("list-cgroups", Anyone, Held),
    ("list-devices", Anyone, Held),
    ("read-kernel-symbols", Perhaps, Held),
    ("read-kernel-memory", Perhaps, Held),
    ("read-kernel-log", Root, Held),
    ("read-disk", Root, Held),
    ("read-system-settings", Anyone, Held),
    ("write-core-pattern", Root, Held),
    ("write-sysrq", Perhaps, Held),
    ("write-pack", Anyone, Held),
    ("overwrite-pack", Anyone, Held),
    ("remove-pack-file", Anyone, Held),
    ("chmod-pack", Anyone, Held),
    ("write-grant-to-read", Anyone, Held),
    ("truncate-grant-to-read", Anyone, Held),
    ("move-out-of-a-grant", Anyone, Held),
    ("write-beside-a-grant", Anyone, Held),
    ("write-usr", Root, Held),
    ("write-etc", Root, Held),
    ("write-host-tmp", Anyone, Held),
    ("link-pack-file", Anyone, Held),
    ("make-device", Root, Held),
    ("make-set-id-by-chmod", Anyone, Held),
    ("make-set-id-by-open", Anyone, Held),
    ("make-set-id-by-openat2", Anyone, Held),
    ("give-a-file-away", Root, Held),
    ("make-file-capability", Root, Held),
    ("open-by-handle", Root, Held),
    ("signal-host-process", Anyone, Held),
    ("signal-parent", Anyone, Held),
    ("trace-host-process", Perhaps, Held),
    ("trace-parent", Perhaps, Held),
    ("read-memory-of-host-process", Anyone, Held),
    ("read-memory-of-parent", Anyone, Held),
    ("open-memory-of-host-process", Anyone, Held),
    ("open-memory-of-parent", Anyone, Held),
    ("read-environment-of-host-process", Anyone, Held),
    ("see-host-processes", Anyone, Held),
    ("find-runtime", Anyone, Held),
    ("hold-host-process", Anyone, Held),
    ("take-descriptor-of-host-process", Anyone, Held),
    ("slow-host-process", Anyone, Held),
    ("limit-host-process", Anyone, Held),
    ("move-host-process", Anyone, Held),
    ("compare-with-host-process", Perhaps, Held),
    ("become-root", Root, Held),
    ("become-another", Root, Held),
    ("join-group", Root, Held),
    ("raise-capabilities", Root, Held),
    ("have-capabilities", Anyone, Held),
    ("be-host-root", Root, Held),
    ("raise-limits", Perhaps, Held),
    ("dump-core", Perhaps, Held),
    ("gain-privileges", Anyone, Held),
    ("outlive-in-session", Outlives, Gone),
    ("outlive-as-daemon", Outlives, Gone),
    ("outlive-by-chain", Outlives, Gone),
    ("tcp-to-host", Anyone, Held),
    ("tcp6-to-host", Perhaps, Held),
    ("tcp-listen", Anyone, Held),
    ("udp-to-host", Anyone, Held),
    ("local-to-host", Anyone, Held),
    ("local-in-a-grant", Anyone, Held),
    ("local-abstract", Anyone, Held),
    ("local-datagram", Anyone, Held),
    ("local-datagram-by-pair", Anyone, Held),
    ("virtual-machine-socket", Perhaps, Held),
    ("netlink", Anyone, Held),
    ("kernel-crypto", Perhaps, Held),
    ("packet", Root, Held),
    ("raw", Root, Held),
    ("multipath-tcp", Perhaps, Held),
    ("see-interfaces", Anyone, Held),
    ("mount", Perhaps, Held),
    ("remount-writable", Perhaps, Held),
    ("unmount", Root, Held),
    ("new-file-system", Perhaps, Held),
    ("copy-mount", Root, Held),
    ("list-mounts", Perhaps, Held),
    ("new-user-namespace", Perhaps, Held),
    ("new-mount-namespace", Root, Held),
    ("new-user-namespace-by-clone", Perhaps, Held),
    ("new-user-namespace-by-clone3", Perhaps, Held),
    ("enter-namespace", Root, Held),
    ("change-root", Root, Held),
    ("climb-out-of-root", Root, Held),
    ("pivot-root", Root, Held),
    ("host-name", Root, Held),
    ("bpf", Root, Held),
    ("io-uring", Perhaps, Held),
    ("user-fault", Perhaps, Held),
    ("performance-events", Perhaps, Held),
    ("add-key", Perhaps, Held),
    ("request-key", Perhaps, Held),
    ("session-keyring", Perhaps, Held),
    ("push-terminal-input", Anyone, Held),
    ("push-terminal-input-by-high-bits", Anyone, Held),
    ("paste-into-console", Anyone, Held),
    ("no-randomization", Anyone, Held),
    ("readable-is-executable", Anyone, Held),
    ("x32", Nobody, Held),
    ("calls-of-32-bits", Perhaps, Killed),
    ("kernel-log", Root, Held),
    ("quota", Root, Held),
    ("swap", Root, Held),
    ("restart", Root, Held),
    ("load-kernel", Root, Held),
    ("load-module", Root, Held),
    ("account", Root, Held),
    ("set-clock", Anyone, Held),
    ("watch-file-system", Perhaps, Held),
    ("local-descriptors", Perhaps, Held),
    ("machine-ports", Perhaps, Held),
    ("call-of-tomorrow", Perhaps, Held),
    ("start-shell", Anyone, Held),
    ("start-other-program", Anyone, Held),
    ("start-pack-program", Anyone, Held),
    ("start-program-in-home", Anyone, Held),
    ("start-program-in-tmp", Anyone, Held),
    ("start-program-in-state", Anyone, Held),
    ("start-program-in-a-grant", Anyone, Held),
    ("start-program-of-a-grant", Anyone, Held),
    ("start-script", Anyone, Held),
    ("start-program-in-memory", Anyone, Held),
    ("map-code-from-tmp", Anyone, Held),
    ("start-set-id-program", Perhaps, Held),
    ("inherit-descriptor", Anyone, Held),
    ("find-any-descriptor", Anyone, Held),
    ("inherit-variable", Anyone, Held),
    ("read-variable-by-proc", Anyone, Held),
    ("find-key", Perhaps, Held),
    ("attach-shared-memory", Anyone, Held),
    ("have-terminal", Anyone, Held),
    ("loose-umask", Perhaps, Held),
    ("many-processes", Anyone, Held),
    ("many-threads", Anyone, Held),
    ("much-memory", Anyone, Starved),
    ("much-shared-memory", Anyone, Starved),
    ("fill-tmp", Anyone, Held),
    ("fill-home", Anyone, Held),
    ("many-files", Anyone, Held),
    ("huge-file", Anyone, Held),
    ("much-output", Anyone, Over),
    ("many-descriptors", Perhaps, Held),
    ("never-end", Anyone, TimedOut),
];

/// `HCP_BLESS=1` writes the page anew.
#[test]
fn the_page_of_attacks_is_fresh() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/security/attacks.md"
    );
    let mut fresh = format!(
        "{INTRODUCTION}\n| attack | outside, it is made by | `full` | `no-userns` |\n|---|---|---|---|\n"
    );
    for (name, control, fate) in ATTACKS {
        let control = match control {
            Anyone | Outlives => "anyone",
            Root => "root",
            Perhaps => "anyone, or root, where the kernel has it",
            Nobody => "nobody, on most kernels",
        };
        let fate = match fate {
            Held => "held back",
            Gone => "gone with the call",
            Killed => "killed",
            Starved => "out of memory",
            Over => "ended: too much output",
            TimedOut => "ended: timed out",
        };
        let without = if WORK_WITHOUT_NAMESPACES.contains(name) {
            "**works**"
        } else {
            fate
        };
        writeln!(fresh, "| `{name}` | {control} | {fate} | {without} |").unwrap();
    }
    if std::env::var_os("HCP_BLESS").is_some() {
        fs::write(page, &fresh).unwrap();
    }
    assert!(
        fs::read_to_string(page).unwrap_or_default() == fresh,
        "run with HCP_BLESS=1"
    );
}

const INTRODUCTION: &str = "# Attacks on the jail

Generated from the table in `crates/hcp-sandbox/tests/main/jail/attacks.rs`, whose tests make each of them:
outside of a jail, where it must work; in a jail of level `full`, as root and as an ordinary user; in one of
level `no-userns`. Canaries are looked at from the host. `full` bounds memory for the whole call only where
control groups can be made; `hcp explain` says so where not.
";

#[test]
fn every_attack_is_made() {
    let output = Command::new(attacker()).arg("list").output().unwrap();
    let made: BTreeSet<&str> = text(&output.stdout).lines().collect();
    let listed: BTreeSet<&str> = ATTACKS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(made, listed);
    assert_eq!(listed.len(), ATTACKS.len(), "one of them is listed twice");
}

#[test]
fn attacks_work_outside_and_are_held_back_in_a_jail() {
    let mut faults = Vec::new();
    for (name, control, fate) in ATTACKS {
        let mut complain = |what: String| faults.push(format!("{name}: {what}"));
        if let Err(what) = works_outside(name, *control) {
            complain(what);
        }
        let mut scene = Scene::new();
        let finished = scene.jailed(name, None);
        if let Err(what) = is_held_back(&finished, *fate) {
            complain(what);
        }
        for damage in scene.damage() {
            complain(damage);
        }
    }
    tidy();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn works_outside(name: &str, control: Control) -> Result<(), String> {
    let is_root = rustix::process::geteuid().is_root();
    if control == Nobody || control == Root && !is_root {
        return Ok(());
    }
    let scene = Scene::new();
    let said = scene.outside(name);
    let worked = said.contains("WORKED");
    match control {
        Perhaps if !worked => Ok(()),
        _ if worked => Ok(()),
        _ => Err(format!("does not work outside: {said}")),
    }
}

fn is_held_back(finished: &Finished, fate: Fate) -> Result<(), String> {
    let (said, complained) = (text(&finished.stdout), text(&finished.stderr));
    if said.contains(SECRET) || complained.contains(SECRET) {
        return Err("a secret got out".to_owned());
    }
    let held = said.starts_with("HELD") && finished.end == End::Exited(1);
    let is_root = rustix::process::geteuid().is_root();
    let holds = match fate {
        Held => held,
        Gone => said.starts_with("WORKED") && finished.end == End::Exited(0),
        Killed => held || finished.end == End::Signalled(libc::SIGSYS),
        // Without groups, memory that processes share is not bounded; the level says so.
        Starved => held || !is_root || finished.end == End::OutOfMemory,
        Over => finished.end == End::OutputOver,
        TimedOut => finished.end == End::TimedOut,
    };
    if holds {
        Ok(())
    } else {
        let start: String = said.chars().take(200).collect();
        Err(format!("{:?} {start} {complained}", finished.end))
    }
}

/// What level `no-userns` does not hold back: seeing that a file is there, changing the mode of what
/// is the user's own, and using up what only namespaces and control groups would bound.
const WORK_WITHOUT_NAMESPACES: &[&str] = &[
    "list-host-root",
    "list-run",
    "list-devices",
    "chmod-pack",
    "map-code-from-tmp",
    "many-processes",
    "many-threads",
    "fill-tmp",
    "fill-home",
    "many-files",
];

/// The same attacks at level `no-userns`, which only an ordinary user has.
#[test]
fn without_namespaces_most_attacks_are_held_back() {
    if rustix::process::geteuid().is_root() {
        return as_an_ordinary_user("jail::attacks::without_namespaces_most_attacks_are_held_back");
    }
    let mut faults = Vec::new();
    for (name, _, fate) in ATTACKS {
        let mut complain = |what: String| faults.push(format!("{name}: {what}"));
        let mut scene = Scene::new();
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let scratch = Scratch::create(parent.path()).unwrap();
        let held = is_held_back(&scene.jailed(name, Some(&scratch)), *fate);
        match (held, WORK_WITHOUT_NAMESPACES.contains(name)) {
            (Err(what), false) => complain(what),
            (Ok(()), true) => complain("is held back by now".to_owned()),
            _ => {}
        }
        for damage in scene.damage() {
            complain(damage);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The same table, as somebody who is not root.
#[test]
fn an_ordinary_user_is_held_back_as_well() {
    if rustix::process::geteuid().is_root() {
        as_an_ordinary_user("jail::attacks::attacks_work_outside_and_are_held_back_in_a_jail");
    }
}
