//! Which file a bin is, and that no other is ever run in its place.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use hcp_sandbox::{BinError, BinSearch, CheckedBin, LaunchError, check_bin};
use tempfile::TempDir;

use crate::support::{Run, text, write};

/// A pack, and a folder on the search path beside it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pack/bin", "one", "two"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, says: &str) -> PathBuf {
        let path = self.path(name);
        write(&path, &format!("#!/bin/sh\necho {says}\n"), 0o755);
        path
    }

    fn check(&self, bin: &str, allowed: &[&str]) -> Result<CheckedBin, BinError> {
        let search = BinSearch {
            pack_root: &self.path("pack"),
            path: &[
                self.path("one"),
                PathBuf::from("relative"),
                self.path("two"),
            ],
            allowed: &allowed
                .iter()
                .map(|entry| (*entry).to_owned())
                .collect::<Vec<_>>(),
        };
        check_bin(bin, &search)
    }
}

fn says(bin: &CheckedBin) -> String {
    text(&Run::new(bin).go().unwrap().stdout)
        .trim_end()
        .to_owned()
}

fn detail(error: BinError) -> String {
    match error {
        BinError::Unfit { detail } => detail,
        other => panic!("{other}"),
    }
}

#[test]
fn bins_of_the_pack_need_no_entry_and_never_leave_it() {
    let place = Place::new();
    place.script("pack/bin/tool", "inner");
    place.script("one/tool", "outer");
    place.script("pack-tool", "beside");
    symlink("bin/tool", place.path("pack/inner-link")).unwrap();
    symlink("../one/tool", place.path("pack/outer-link")).unwrap();
    symlink(place.path("one/tool"), place.path("pack/absolute-link")).unwrap();
    symlink("../one", place.path("pack/folder-link")).unwrap();
    for bin in [
        "./bin/tool",
        "./bin/../bin/tool",
        "./inner-link",
        ".//bin/./tool",
    ] {
        assert_eq!(says(&place.check(bin, &[]).unwrap()), "inner", "{bin}");
    }
    let outer = place.path("one/tool");
    let everything = [
        outer.to_str().unwrap(),
        "tool",
        "../one/tool",
        "./outer-link",
    ];
    for bin in [
        "../one/tool",
        "./../one/tool",
        "./../pack/bin/tool",
        "./missing/../../one/tool",
        "./bin/../../one/tool",
        "./outer-link",
        "./absolute-link",
        "./folder-link/tool",
        "../pack-tool",
        "..",
        "./..",
        "../missing",
    ] {
        let error = place.check(bin, &everything).unwrap_err();
        assert_eq!(error, BinError::NotAllowlisted, "{bin}");
    }
    for bin in ["./missing", "./bin/missing", "./bin/tool/x", "./bin/\0tool"] {
        let error = place.check(bin, &everything).unwrap_err();
        assert!(matches!(error, BinError::NotFound { .. }), "{bin}: {error}");
    }
    assert!(matches!(place.check(".", &[]), Err(BinError::Unfit { .. })));
}

#[test]
fn other_bins_need_an_entry() {
    let place = Place::new();
    let (one, two) = (
        place.script("one/tool", "one"),
        place.script("two/tool", "two"),
    );
    let other = place.script("two/other", "other");
    let (one, two, other) = (
        one.to_str().unwrap(),
        two.to_str().unwrap(),
        other.to_str().unwrap(),
    );
    let runs: [(&str, &[&str], &str); 6] = [
        ("tool", &["tool"], "one"),
        ("tool", &["x", one], "one"),
        ("other", &["other"], "other"),
        ("other", &[other], "other"),
        (one, &[one], "one"),
        (two, &["tool", two], "two"),
    ];
    for (bin, allowed, expected) in runs {
        assert_eq!(
            says(&place.check(bin, allowed).unwrap()),
            expected,
            "{bin} {allowed:?}"
        );
    }
    let dotted = place.path("one/../one/tool");
    let refused: [(&str, &[&str]); 11] = [
        ("tool", &[]),
        ("tool", &["other", "tool ", "TOOL", "t*", "*", ""]),
        ("tool", &[two]),
        ("tool", &["./tool", "one/tool"]),
        (one, &["tool"]),
        (one, &[two]),
        (dotted.to_str().unwrap(), &[one, "tool"]),
        ("one/tool", &["one/tool", "tool"]),
        ("", &["", "tool"]),
        ("/", &["tool"]),
        ("missing", &["tool"]),
    ];
    for (bin, allowed) in refused {
        let error = place.check(bin, allowed).unwrap_err();
        assert_eq!(error, BinError::NotAllowlisted, "{bin} {allowed:?}");
    }
    let missing = place.path("one/missing");
    let missing = missing.to_str().unwrap();
    for (bin, allowed) in [
        ("missing", "missing"),
        ("missing", missing),
        (missing, missing),
    ] {
        let error = place.check(bin, &[allowed]).unwrap_err();
        assert!(matches!(error, BinError::NotFound { .. }), "{bin}: {error}");
    }
}

#[test]
fn the_first_hit_counts_and_is_not_passed_over() {
    let place = Place::new();
    place.script("two/tool", "two");
    fs::create_dir(place.path("one/tool")).unwrap();
    assert_eq!(
        says(&place.check("tool", &["tool"]).unwrap()),
        "two",
        "a folder is no hit"
    );
    fs::remove_dir(place.path("one/tool")).unwrap();
    write(&place.path("one/tool"), "#!/bin/sh\n", 0o644);
    let error = place.check("tool", &["tool"]).unwrap_err();
    assert!(detail(error).ends_with("is not executable"));
}

#[test]
fn unfit_files_are_refused_with_the_reason() {
    let place = Place::new();
    let modes = [
        (0o4755, "is set-id (mode 4755)"),
        (0o2755, "is set-id (mode 2755)"),
        (0o775, "can be written by others (mode 0775)"),
        (0o757, "can be written by others (mode 0757)"),
        (0o644, "is not executable"),
    ];
    for bin in ["./bin/tool", "tool"] {
        for (mode, reason) in modes {
            for file in ["pack/bin/tool", "one/tool"] {
                write(&place.path(file), "#!/bin/sh\n", mode);
            }
            let detail = detail(place.check(bin, &["tool"]).unwrap_err());
            assert!(detail.ends_with(reason), "{detail}");
        }
    }
    fs::create_dir(place.path("pack/folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("pack/pipe"), 0o755.into()).unwrap();
    for (bin, reason) in [
        ("./folder", "is a folder"),
        ("./pipe", "is not a regular file"),
    ] {
        let detail = detail(place.check(bin, &[]).unwrap_err());
        assert!(detail.ends_with(reason), "{detail}");
    }
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::new();
    let tool = place.script("pack/bin/tool", "hello");
    chown(&tool, Some(12_345), None).unwrap();
    let detail = detail(place.check("./bin/tool", &[]).unwrap_err());
    assert!(detail.contains("belongs to user 12345"), "{detail}");
}

#[test]
fn the_interpreter_of_a_script_is_judged_as_well() {
    let place = Place::new();
    let tool = place.path("pack/bin/tool");
    let open_to_all = place.path("open");
    write(&open_to_all, "#!/bin/sh\n", 0o777);
    for (text, reason) in [
        (
            "#!/no/such/interpreter -x\n".to_owned(),
            "interpreter `/no/such/interpreter` is missing",
        ),
        (
            "#!/bin/sh\r\n".to_owned(),
            "interpreter `/bin/sh\\r` is missing",
        ),
        (
            "#! \n".to_owned(),
            "names no interpreter by an absolute path after `#!`",
        ),
        (
            "#!sh\n".to_owned(),
            "names no interpreter by an absolute path after `#!`",
        ),
        ("#!/bin\n".to_owned(), "interpreter `/bin` is a folder"),
        (
            format!("#!{}\n", open_to_all.display()),
            "can be written by others (mode 0777)",
        ),
    ] {
        write(&tool, &text, 0o755);
        let detail = detail(place.check("./bin/tool", &[]).unwrap_err());
        assert!(detail.ends_with(reason), "{detail}");
    }
    write(
        &tool,
        "#! /bin/sh -e\necho fine; false; echo never\n",
        0o755,
    );
    assert_eq!(says(&place.check("./bin/tool", &[]).unwrap()), "fine");
    // An interpreter that is a script itself.
    place.script("pack/bin/inner", "chained");
    write(
        &tool,
        &format!("#!{}\n", place.path("pack/bin/inner").display()),
        0o755,
    );
    assert_eq!(says(&place.check("./bin/tool", &[]).unwrap()), "chained");
}

#[test]
fn what_is_no_program_is_never_given_to_a_shell() {
    let place = Place::new();
    for content in ["", "echo run by a shell\n"] {
        write(&place.path("pack/bin/tool"), content, 0o755);
        let error = Run::new(&place.check("./bin/tool", &[]).unwrap())
            .go()
            .unwrap_err();
        assert!(matches!(error, LaunchError::Unfit { .. }), "{error}");
        assert!(error.to_string().contains("`#!`"), "{error}");
    }
}

#[test]
fn a_program_that_is_swapped_after_the_check_is_not_run() {
    let place = Place::new();
    let tool = place.path("pack/bin/tool");
    fs::copy("/bin/echo", &tool).unwrap();
    let checked = place.check("./bin/tool", &[]).unwrap();
    assert!(!checked.is_script());
    fs::rename(place.script("evil", "swapped"), &tool).unwrap();
    let finished = Run::new(&checked).argv(&["checked"]).go().unwrap();
    assert_eq!(
        text(&finished.stdout),
        "checked\n",
        "the very file that was checked"
    );
}

#[test]
fn a_script_that_is_swapped_after_the_check_is_refused() {
    let place = Place::new();
    let tool = place.script("pack/bin/tool", "checked");
    let checked = place.check("./bin/tool", &[]).unwrap();
    assert!(checked.is_script());
    assert_eq!(says(&checked), "checked");
    fs::rename(place.script("evil", "swapped"), &tool).unwrap();
    let error = Run::new(&checked).go().unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("not the file that was checked any more"),
        "{error}"
    );
    fs::remove_file(&tool).unwrap();
    assert!(Run::new(&checked).go().is_err());
}

#[test]
fn a_program_sees_the_name_it_was_found_under() {
    let place = Place::new();
    symlink("/bin/sh", place.path("one/another-name")).unwrap();
    let bin = place.check("another-name", &["another-name"]).unwrap();
    assert_eq!(bin.path(), place.path("one/another-name"));
    let finished = Run::new(&bin).argv(&["-c", "echo $0"]).go().unwrap();
    assert_eq!(Path::new(text(&finished.stdout).trim_end()), bin.path());
}

#[test]
fn a_program_that_may_be_run_and_not_read_is_run() {
    let place = Place::new();
    let tool = place.path("pack/bin/tool");
    fs::copy("/bin/echo", &tool).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o111)).unwrap();
    let bin = place.check("./bin/tool", &[]).unwrap();
    assert_eq!(
        text(&Run::new(&bin).argv(&["x"]).go().unwrap().stdout),
        "x\n"
    );
}

#[test]
fn the_runtime_itself_is_no_bin_under_any_name() {
    let place = Place::new();
    let own = std::env::current_exe().unwrap();
    let listed = own.to_str().unwrap();
    assert!(detail(place.check(listed, &[listed]).unwrap_err()).contains("is the runtime itself"));
    symlink(&own, place.path("one/alias")).unwrap();
    assert!(
        detail(place.check("alias", &["alias"]).unwrap_err()).contains("is the runtime itself")
    );
    let script = place.path("pack/bin/script");
    write(&script, &format!("#!{listed}\n"), 0o755);
    let found = detail(place.check("./bin/script", &[]).unwrap_err());
    assert!(
        found.starts_with("interpreter") && found.contains("is the runtime itself"),
        "{found}"
    );
    // The same bytes in another file are another program: its home is not the operator's.
    fs::copy(&own, place.path("pack/bin/copy")).unwrap();
    place.check("./bin/copy", &[]).unwrap();
}
