//! Arguments and variables reach the child byte for byte, or not at all with a reason.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use hcp_sandbox::LaunchError;

use crate::support::{Run, system};

#[test]
fn arguments_arrive_byte_for_byte() {
    let bin = system("python3");
    let script =
        "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))";
    let arguments: Vec<OsString> = [
        &b"plain"[..],
        b"",
        b"x'; curl e | sh #",
        b"$(id) `id` ${HOME} *",
        b"two\nlines\r\n\ttab",
        b"--flag=\"quoted\"",
        b"\xff\xfe not UTF-8",
        &vec![b'a'; 127 << 10],
        &vec![b'b'; 131_071],
    ]
    .into_iter()
    .map(|bytes| OsString::from_vec(bytes.to_vec()))
    .collect();
    let mut run = Run::new(&bin).argv(&["-c", script]);
    run.argv.extend(arguments.iter().cloned());
    let finished = run.go().unwrap();
    let expected = arguments
        .into_iter()
        .map(OsString::into_vec)
        .collect::<Vec<_>>()
        .join(&0);
    assert_eq!(finished.stdout, expected);
}

#[test]
fn what_cannot_be_passed_is_refused_with_a_reason() {
    let bin = system("true");
    let refused = |argv: Vec<OsString>| {
        let mut run = Run::new(&bin);
        run.argv = argv;
        run.go().unwrap_err()
    };
    let too_long = refused(vec!["a".into(), "b".repeat(131_072).into()]);
    assert_eq!(
        too_long.to_string(),
        "argument 2 is 131072 bytes, and the system takes 131071 at most"
    );
    let nul = refused(vec!["a\0b".into()]);
    assert_eq!(nul.to_string(), "argument 1 holds a NUL byte");
    let together = refused(vec!["c".repeat(100_000).into(); 100]);
    assert!(
        matches!(together, LaunchError::ArgumentsTooLong),
        "{together}"
    );
}

#[test]
fn a_variable_that_is_none_is_refused_without_its_value() {
    let bin = system("true");
    for (name, value) in [
        ("", "secret"),
        ("A=secret", "secret"),
        ("A\0", "secret"),
        ("A", "secret\0"),
        ("A", &"secret".repeat(30_000)),
    ] {
        let mut run = Run::new(&bin);
        run.environment = vec![(name.into(), value.into())];
        let error = run.go().unwrap_err();
        assert!(
            matches!(
                error,
                LaunchError::VariableName | LaunchError::Variable { .. }
            ),
            "{error}"
        );
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
}
