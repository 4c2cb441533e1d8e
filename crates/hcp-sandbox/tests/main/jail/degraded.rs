//! Kernels that lack a layer: forced by a filter that refuses the system calls it needs. The call is
//! refused, never run in less.

use std::os::unix::process::CommandExt;
use std::process::Command;

use hcp_sandbox::{Jail, LaunchError, LevelCache, available_level};
use hcp_spec::config::Level;

use crate::support::{Run, system, text};

/// System calls that are refused, with what; and what the refusal is then told to lack.
const KERNELS: &[(&[libc::c_long], i32, &str)] = &[
    (&[libc::SYS_clone3], libc::ENOSYS, "namespaces"),
    (&[libc::SYS_mount], libc::EPERM, "constructed root"),
    (&[libc::SYS_fsopen], libc::ENOSYS, "constructed root"),
    (&[libc::SYS_fsmount], libc::EPERM, "constructed root"),
    (&[libc::SYS_open_tree], libc::EPERM, "constructed root"),
    (&[libc::SYS_mount_setattr], libc::ENOSYS, "constructed root"),
    (&[libc::SYS_pivot_root], libc::EPERM, "constructed root"),
    (&[libc::SYS_umount2], libc::EPERM, "constructed root"),
    (
        &[libc::SYS_landlock_create_ruleset],
        libc::ENOSYS,
        "Landlock",
    ),
    (&[libc::SYS_landlock_add_rule], libc::EPERM, "Landlock"),
    (&[libc::SYS_landlock_restrict_self], libc::EPERM, "Landlock"),
    (&[libc::SYS_seccomp], libc::ENOSYS, "system call filter"),
    (&[libc::SYS_setresuid], libc::EPERM, "giving up privileges"),
    (&[libc::SYS_capset], libc::EPERM, "giving up privileges"),
    (&[libc::SYS_sethostname], libc::EPERM, "host name namespace"),
];

#[test]
fn a_kernel_that_lacks_a_layer_runs_nothing() {
    for (index, (calls, error, layer)) in KERNELS.iter().enumerate() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "jail::degraded::on_such_a_kernel",
                "--ignored",
                "--nocapture",
            ])
            .env("HCP_TEST_KERNEL", index.to_string());
        let filter = refusing(calls, *error);
        // SAFETY: makes two system calls, and reads what was made before.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || install(&filter));
        }
        let output = command.output().unwrap();
        let (said, complained) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{layer}: {said} {complained}");
    }
}

#[test]
#[ignore = "run by a_kernel_that_lacks_a_layer_runs_nothing"]
fn on_such_a_kernel() {
    let index: usize = std::env::var("HCP_TEST_KERNEL").unwrap().parse().unwrap();
    let expected = KERNELS[index].2;
    let bin = system("true");
    match Run::new(&bin).jailed(&Jail::default()) {
        // Without `clone3`, the first thing that is missing is a network namespace to hold.
        Err(LaunchError::Isolation { layer, .. }) => assert!(
            layer == expected || expected == "namespaces" && layer == "network namespace",
            "{layer} instead of {expected}"
        ),
        other => panic!("{other:?}"),
    }
    let folder = tempfile::tempdir().unwrap();
    let found = available_level(LevelCache::Keep(&folder.path().join("isolation")));
    assert!(found.level < Level::Full && found.missing.len() == 1);
    assert!(!folder.path().join("isolation").exists());
}

fn refusing(calls: &[libc::c_long], error: i32) -> Vec<libc::sock_filter> {
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let mut filter = vec![step(0x20, 0, 0, 0)];
    for call in calls {
        filter.push(step(0x15, u32::try_from(*call).unwrap(), 0, 1));
        filter.push(step(0x06, 0x0005_0000 | error.cast_unsigned(), 0, 0));
    }
    filter.push(step(0x06, 0x7fff_0000, 0, 0));
    filter
}

#[allow(unsafe_code)]
fn install(filter: &[libc::sock_filter]) -> std::io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap(),
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: takes numbers.
    let asked = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the program and its filter live over the call. By `prctl`, since `seccomp` itself may
    // be what is refused.
    let installed = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    if asked == 0 && installed == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}
