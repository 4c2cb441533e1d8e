//! What a child finds itself in: environment, descriptors, session, signals, limits.

use std::time::{Duration, Instant};

use hcp_sandbox::{End, LaunchError};

use crate::support::{Run, shell, system, text};

#[test]
fn the_environment_is_exactly_what_was_given() {
    let bin = system("env");
    let mut run = Run::new(&bin);
    run.environment = vec![
        ("A".into(), "1".into()),
        ("B".into(), "".into()),
        ("C".into(), "x=y z".into()),
    ];
    assert_eq!(text(&run.go().unwrap().stdout), "A=1\nB=\nC=x=y z\n");
    let mut run = Run::new(&bin);
    run.environment = Vec::new();
    assert_eq!(text(&run.go().unwrap().stdout), "");
}

#[test]
fn no_descriptor_but_the_standard_three_is_open() {
    // Opened without O_CLOEXEC, as a library within the runtime might.
    let leaked = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let bin = system("ls");
    let finished = Run::new(&bin).argv(&["/proc/self/fd"]).go().unwrap();
    assert_eq!(
        text(&finished.stdout),
        "0\n1\n2\n3\n",
        "3 is the folder itself"
    );
}

#[test]
fn signals_are_as_a_fresh_process_has_them() {
    // The standard library ignores SIGPIPE in this very process.
    let bin = system("cat");
    let finished = Run::new(&bin).argv(&["/proc/self/status"]).go().unwrap();
    let fields = ["SigBlk", "SigIgn", "SigCgt", "NoNewPrivs"];
    let lines: String = text(&finished.stdout)
        .split_inclusive('\n')
        .filter(|line| fields.iter().any(|field| line.starts_with(field)))
        .collect();
    let zero = "0000000000000000";
    let expected = "SigBlk:\tZ\nSigIgn:\tZ\nSigCgt:\tZ\nNoNewPrivs:\t1\n";
    assert_eq!(lines, expected.replace('Z', zero));
}

#[test]
fn a_session_of_its_own_without_terminal_or_input() {
    let script = "import os, sys; os.write(1, str((os.getsid(0) == os.getpid(), \
                  os.getpgid(0) == os.getpid(), sys.stdin.read(), oct(os.umask(0)))).encode())\n\
                  try:\n os.open('/dev/tty', os.O_RDWR)\nexcept OSError as e:\n os.write(1, b' no tty')";
    let bin = system("python3");
    let start = Instant::now();
    let finished = Run::new(&bin).argv(&["-c", script]).go().unwrap();
    assert_eq!(text(&finished.stdout), "(True, True, '', '0o77') no tty");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn it_starts_in_its_folder_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let finished = shell("pwd", |mut run| {
        run.working_directory = folder.path().to_owned();
        run
    });
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(text(&finished.stdout).trim_end(), real.to_str().unwrap());
    let bin = system("true");
    let mut run = Run::new(&bin);
    run.working_directory = folder.path().join("missing");
    let error = run.go().unwrap_err();
    assert!(
        matches!(error, LaunchError::WorkingDirectory { .. }),
        "{error}"
    );
}

#[test]
fn limits_of_the_system_are_set() {
    let finished = shell("ulimit -c; ulimit -d; ulimit -f; ulimit -t", |mut run| {
        run.limits.memory = Some(64 << 20);
        run.limits.file_size = Some(1 << 20);
        run
    });
    let lines: Vec<&str> = text(&finished.stdout).lines().collect();
    assert_eq!(lines[..3], ["0", "65536", "2048"]);
    assert!(lines[3].parse::<u64>().unwrap() >= 20);
}

#[test]
fn a_file_over_the_limit_and_memory_over_the_limit_end_in_failure() {
    let folder = tempfile::tempdir().unwrap();
    let finished = shell("exec head -c 2000000 /dev/zero >file", |mut run| {
        run.working_directory = folder.path().to_owned();
        run.limits.file_size = Some(1 << 20);
        run
    });
    assert_eq!(finished.end, End::Signalled(libc::SIGXFSZ));
    let bin = system("python3");
    let mut run = Run::new(&bin).argv(&["-c", "len(bytearray(1 << 30))"]);
    run.limits.memory = Some(256 << 20);
    let finished = run.go().unwrap();
    assert_eq!(finished.end, End::Exited(1));
    assert!(text(&finished.stderr).contains("MemoryError"));
}

#[test]
fn a_run_time_that_reserves_much_address_space_still_starts() {
    if !std::path::Path::new("/usr/bin/node").exists() {
        return;
    }
    let bin = system("node");
    let mut run = Run::new(&bin).argv(&["-e", "console.log(1 + 1)"]);
    run.limits.memory = Some(512 << 20);
    assert_eq!(text(&run.go().unwrap().stdout), "2\n");
}
