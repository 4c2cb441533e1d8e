//! The files of a pack: one digest for one content, copies that keep it, a sign of every change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use hcp_pack::{Identity, PackError, Tree, remove_copy};
use tempfile::TempDir;

fn pack() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("bin/inner")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::write(root.join("hcp.toml"), "hcp = 1").unwrap();
    fs::write(root.join("bin/tool"), "#!/bin/sh").unwrap();
    fs::set_permissions(root.join("bin/tool"), Permissions::from_mode(0o755)).unwrap();
    fs::write(root.join("bin/inner/data"), vec![7; 200_000]).unwrap();
    folder
}

fn digest(root: &Path) -> String {
    Tree::scan(root).unwrap().digest().to_owned()
}

#[test]
fn the_digest_covers_names_modes_and_bytes() {
    let folder = pack();
    let root = folder.path();
    let tree = Tree::scan(root).unwrap();
    assert_eq!(tree.digest().len(), 64);
    assert_eq!(tree.bytes(), 200_016);
    let files: Vec<_> = tree
        .files()
        .map(|(path, mode)| (path.to_str().unwrap(), mode))
        .collect();
    assert_eq!(
        files,
        [
            ("bin/inner/data", false),
            ("bin/tool", true),
            ("hcp.toml", false)
        ]
    );
    assert_eq!(digest(root), digest(pack().path()));

    let changes: [fn(&Path); 6] = [
        |root| fs::write(root.join("hcp.toml"), "hcp = 2").unwrap(),
        |root| fs::rename(root.join("hcp.toml"), root.join("hcp.tomm")).unwrap(),
        |root| fs::set_permissions(root.join("bin/tool"), Permissions::from_mode(0o644)).unwrap(),
        |root| fs::write(root.join("new"), "").unwrap(),
        |root| fs::remove_dir(root.join("empty")).unwrap(),
        |root| fs::rename(root.join("bin/inner/data"), root.join("bin/data")).unwrap(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let folder = pack();
        let seen = Identity::take(folder.path()).unwrap();
        assert!(seen.still_stands(folder.path()), "{index}");
        change(folder.path());
        assert_ne!(digest(folder.path()), tree.digest(), "{index}");
        assert_ne!(identity(folder.path()), seen.text(), "{index}");
        assert!(!seen.still_stands(folder.path()), "{index}");
    }
}

#[test]
fn what_is_no_plain_file_is_refused() {
    let refused = |make: fn(&Path), what: &str| {
        let folder = pack();
        make(&folder.path().join("bin/x"));
        let error = Tree::scan(folder.path()).unwrap_err();
        assert!(matches!(error, PackError::SpecialFile { .. }), "{error}");
        assert_eq!(
            error.to_string(),
            format!("`bin/x` is {what}, and a pack holds plain files and folders only")
        );
    };
    refused(|path| symlink("tool", path).unwrap(), "a symbolic link");
    refused(
        |path| symlink("/etc/passwd", path).unwrap(),
        "a symbolic link",
    );
    refused(|path| symlink("inner", path).unwrap(), "a symbolic link");
    refused(
        |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "a named pipe",
    );
    refused(
        |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
        "a socket",
    );
    refused(
        |path| {
            fs::write(path, "x").unwrap();
            fs::set_permissions(path, Permissions::from_mode(0o4755)).unwrap();
        },
        "a file that runs as another user or group",
    );
}

#[test]
fn a_copy_is_the_same_tree_read_only() {
    let folder = pack();
    let tree = Tree::scan(folder.path()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("copy");
    tree.copy_to(&copy).unwrap();
    assert_eq!(digest(&copy), tree.digest());
    let mode = |path: &str| fs::metadata(copy.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("bin/tool"), 0o500);
    assert_eq!(mode("hcp.toml"), 0o400);
    assert_eq!(mode("bin/inner"), 0o500);
    assert_eq!(mode(""), 0o500);
    let there = tree.copy_to(&copy).unwrap_err();
    assert!(matches!(there, PackError::Io { .. }), "{there}");
    remove_copy(&copy).unwrap();
    assert!(!copy.exists());
}

#[test]
fn a_file_that_changed_since_the_scan_is_not_copied() {
    let folder = pack();
    let tree = Tree::scan(folder.path()).unwrap();
    let home = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bin/tool"), "#!/bin/zsh").unwrap();
    let error = tree.copy_to(&home.path().join("one")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`bin/tool` changed while the pack was read"
    );
    fs::remove_file(folder.path().join("bin/tool")).unwrap();
    symlink("/bin/sh", folder.path().join("bin/tool")).unwrap();
    let error = tree.copy_to(&home.path().join("two")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`bin/tool` is a symbolic link"),
        "{error}"
    );
}

#[test]
fn the_identity_stays_until_something_changes() {
    let folder = pack();
    let root = folder.path();
    let seen = identity(root);
    assert_eq!(identity(root), seen);
    // The same bytes written again are a change all the same: only a digest could tell.
    fs::write(root.join("bin/inner/data"), vec![7; 200_000]).unwrap();
    assert_ne!(identity(root), seen);
    for number in 0..500 {
        fs::write(
            root.join(format!("a-rather-long-name-for-a-file-{number}")),
            "",
        )
        .unwrap();
    }
    let seen = identity(root);
    assert_eq!(identity(root), seen);
    fs::remove_file(root.join("a-rather-long-name-for-a-file-499")).unwrap();
    assert_ne!(identity(root), seen);
    assert!(Identity::take(&root.join("nowhere")).is_err());
    symlink("nowhere", root.join("link")).unwrap();
    assert!(Identity::take(root).is_ok());
}

#[test]
fn another_folder_under_the_same_name_is_another_pack() {
    let folder = pack();
    let root = folder.path().join("moved");
    let other = pack();
    fs::rename(other.path().join("bin"), &root).unwrap();
    let seen = Identity::take(&root).unwrap();
    assert!(seen.still_stands(&root));
    fs::rename(&root, folder.path().join("away")).unwrap();
    fs::create_dir(&root).unwrap();
    assert!(!seen.still_stands(&root));
}

fn identity(root: &Path) -> String {
    Identity::take(root).unwrap().text()
}
