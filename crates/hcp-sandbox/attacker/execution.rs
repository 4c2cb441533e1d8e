//! Starting what was not named.

use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::{Case, Outcome, called};

pub(crate) const CASES: &[Case] = &[
    ("start-shell", |_| start("/bin/sh")),
    ("start-other-program", |_| start("/usr/bin/env")),
    ("start-pack-program", |hints| {
        start(&format!("{}/bin/other", hints.get("pack")))
    }),
    ("start-program-in-home", |hints| planted(hints.get("home"))),
    ("start-program-in-tmp", |hints| {
        planted(hints.get("scratch"))
    }),
    ("start-program-in-state", |hints| {
        planted(hints.get("state"))
    }),
    ("start-program-in-a-grant", |hints| {
        planted(hints.get("writable"))
    }),
    ("start-program-of-a-grant", |hints| {
        start(&format!("{}/program", hints.get("readable")))
    }),
    ("start-script", |hints| {
        let path = format!("{}/script", hints.get("scratch"));
        fs::write(&path, "#!/bin/sh\nexit 0\n").map_err(|error| error.to_string())?;
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, mode).map_err(|error| error.to_string())?;
        start(&path)
    }),
    ("start-program-in-memory", |_| {
        let memory = unsafe { libc::memfd_create(c"program".as_ptr(), 0) };
        called("memfd_create", memory.into())?;
        let mut file = unsafe { fs::File::from_raw_fd(memory) };
        let program = fs::read("/bin/true").map_err(|error| error.to_string())?;
        file.write_all(&program)
            .map_err(|error| error.to_string())?;
        start(&format!("/proc/self/fd/{memory}"))
    }),
    ("map-code-from-tmp", |hints| {
        let path = format!("{}/code", hints.get("scratch"));
        fs::write(&path, [0xc3; 4096]).map_err(|error| error.to_string())?;
        let file = fs::File::open(&path).map_err(|error| error.to_string())?;
        let (rights, shared) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                rights,
                shared,
                file.as_raw_fd(),
                0,
            )
        };
        called("mmap", if mapped == libc::MAP_FAILED { -1 } else { 0 })
    }),
    ("start-set-id-program", |_| {
        let found = [
            "/usr/bin/su",
            "/bin/su",
            "/usr/bin/passwd",
            "/usr/bin/mount",
        ]
        .into_iter()
        .find(|path| fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o4000 != 0));
        start(found.ok_or("there is none")?)
    }),
];

fn start(program: &str) -> Outcome {
    let started = Command::new(program)
        .arg("--version")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    started
        .map(|status| status.to_string())
        .map_err(|error| error.to_string())
}

/// Writes a program there, and starts it.
fn planted(folder: &str) -> Outcome {
    let path = format!("{folder}/planted");
    fs::copy("/bin/true", &path).map_err(|error| format!("copy: {error}"))?;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&path, mode).map_err(|error| format!("chmod: {error}"))?;
    start(&path)
}
