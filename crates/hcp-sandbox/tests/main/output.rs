//! How much of what a child writes is kept, and that none of it blocks anybody.

use std::fs;

use hcp_sandbox::{End, Stdin};

use crate::support::{Run, shell, system, text};

#[test]
fn the_cap_of_stdout_is_exact() {
    for (bytes, end) in [
        (0, End::Exited(0)),
        (100, End::Exited(0)),
        (101, End::OutputOver),
    ] {
        let finished = shell(&format!("head -c {bytes} /dev/zero"), |mut run| {
            run.limits.output = 100;
            run
        });
        assert_eq!(finished.end, end, "{bytes}");
        assert_eq!(finished.stdout.len(), bytes.min(100));
        assert_eq!(finished.stdout_total, bytes as u64);
    }
}

#[test]
fn output_that_comes_over_the_cap_after_the_end_counts_as_well() {
    let finished = shell("(sleep 0.1; head -c 101 /dev/zero) & exit 0", |mut run| {
        run.limits.output = 100;
        run
    });
    assert_eq!(finished.end, End::OutputOver);
}

#[test]
fn too_much_output_is_not_held_in_memory() {
    let before = peak_memory();
    let finished = shell(
        "head -c 600000000 /dev/zero | tr '\\0' x; sleep 300",
        |mut run| {
            run.limits.output = 16 << 20;
            run
        },
    );
    assert_eq!(finished.end, End::OutputOver);
    assert_eq!(finished.stdout.len(), 16 << 20);
    assert!(finished.stdout_total > 16 << 20);
    let grown = peak_memory() - before;
    assert!(grown < 64 << 10, "grew by {grown} KiB");
}

#[test]
fn a_flood_on_stderr_leaves_stdout_whole() {
    let script = "echo '{\"a\":1}'; head -c 1000000000 /dev/zero >&2; printf 'the end' >&2";
    let finished = shell(script, |mut run| {
        run.limits.stderr_tail = 1000;
        run
    });
    assert_eq!(finished.end, End::Exited(0));
    assert_eq!(text(&finished.stdout), "{\"a\":1}\n");
    assert_eq!(finished.stderr_total, 1_000_000_007);
    assert_eq!(finished.stderr.len(), 1000);
    assert!(finished.stderr.ends_with(b"\0the end"));
}

#[test]
fn input_larger_than_a_pipe_is_read_whole() {
    let bin = system("sh");
    let input: Vec<u8> = (0..300_000_u32)
        .map(|number| number.to_le_bytes()[0])
        .collect();
    let mut run = Run::new(&bin).argv(&["-c", "sleep 0.1; cat; echo more >&0"]);
    run.stdin = Stdin::Bytes(input.clone());
    let finished = run.go().unwrap();
    assert_eq!(finished.stdout, input);
    assert_ne!(finished.end, End::Exited(0), "the input can be written to");
}

#[test]
fn what_was_written_is_not_in_the_debug_text() {
    let finished = shell("echo secret; echo secret >&2", |run| run);
    assert!(!format!("{finished:?}").contains("secret"));
}

/// The most memory this process ever held, in KiB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
