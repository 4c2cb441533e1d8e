//! Paths of arguments, beneath what the operator opened.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hcp_sandbox::Roots;

#[test]
fn only_what_stands_beneath_a_root_is_granted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["root/sub", "root2", "outside"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for name in [
        "root/file",
        "root/sub/file",
        "outside/file",
        "single",
        "root2/file",
    ] {
        fs::write(at(name), "x").unwrap();
    }
    symlink("sub/file", at("root/inner")).unwrap();
    symlink("../outside", at("root/outer")).unwrap();
    symlink(at("outside"), at("root/absolute")).unwrap();
    symlink("missing", at("root/dangling")).unwrap();
    symlink("../outside/new", at("root/dangling-out")).unwrap();
    symlink("/proc/self/root", at("root/magic")).unwrap();
    let roots = Roots::open(&[at("root"), at("single"), at("gone")]).unwrap();
    assert_eq!(roots.missing(), [at("gone")]);

    for (path, exists) in [
        ("root", true),
        ("root/", true),
        ("root/file", true),
        ("root/./sub//file", true),
        ("root/sub/../file", true),
        ("root/inner", true),
        ("single", true),
        ("root/new", false),
        ("root/sub/new", false),
    ] {
        let granted = roots.resolve(&at(path)).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(granted.exists(), exists, "{path}");
    }
    for path in [
        "",
        "outside/file",
        "root2/file",
        "root/../outside/file",
        "root/../root/file",
        "root/outer/file",
        "root/outer/new",
        "root/outer",
        "root/absolute/file",
        "root/dangling",
        "root/dangling-out",
        "root/magic/etc/passwd",
        "root/missing/new",
        "root/missing/..",
        "root/file/x",
        "single/x",
        "gone/file",
    ] {
        assert!(roots.resolve(&at(path)).is_none(), "{path}");
    }
    for path in ["root/file", "file", "", "./file", "~/file"] {
        assert!(roots.resolve(Path::new(path)).is_none(), "{path}");
    }
    assert!(Roots::default().resolve(&at("root/file")).is_none());
}

#[test]
fn a_grant_holds_what_it_was_given_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "granted").unwrap();
    let roots = Roots::open(&[folder.path().to_owned()]).unwrap();
    let granted = roots.resolve(&file).unwrap();
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    let place = rustix::fs::fstat(&granted).unwrap();
    assert_eq!(place.st_size, 7);
    assert!(roots.resolve(&file).is_none());
}

#[test]
fn a_root_is_absolute() {
    assert!(Roots::open(&[PathBuf::from("relative")]).is_err());
}
