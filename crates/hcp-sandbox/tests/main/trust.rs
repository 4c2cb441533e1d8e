//! Files that others could change or read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::path::Path;

use hcp_sandbox::{Demand, TrustError, check_private, open_private};

use crate::support::write;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn modes_decide() {
    use Demand::{NotWritableByOthers, Secret0600};
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (mode, demand, expected) in [
        (0o644, NotWritableByOthers, ""),
        (0o600, NotWritableByOthers, ""),
        (0o755, NotWritableByOthers, ""),
        (0o664, NotWritableByOthers, "has mode 0664"),
        (0o602, NotWritableByOthers, "has mode 0602"),
        (0o600, Secret0600, ""),
        (0o400, Secret0600, ""),
        (0o640, Secret0600, "can be read by others: it has mode 0640"),
        (0o604, Secret0600, "can be read by others: it has mode 0604"),
        (0o620, Secret0600, "has mode 0620"),
    ] {
        write(&file, "secret", mode);
        let checked = check_private(&file, "secret", demand);
        let opened = open_private(&file, "secret", demand);
        assert_eq!(checked.is_ok(), opened.is_ok());
        match checked {
            Ok(()) => assert_eq!(expected, "", "{mode:o}"),
            Err(error) => {
                assert!(
                    !expected.is_empty() && error.to_string().ends_with(expected),
                    "{error}"
                );
                assert!(error.to_string().starts_with("secret `"), "{error}");
                assert!(error.hint().unwrap().starts_with("chmod "));
            }
        }
    }
}

#[test]
fn the_way_to_a_file_counts_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let way = folder.path().join("way");
    fs::create_dir(&way).unwrap();
    let file = way.join("file");
    write(&file, "x", 0o600);
    let check = |path: &Path| check_private(path, "config", Demand::NotWritableByOthers);
    for (mode, private) in [
        (0o755, true),
        (0o775, false),
        (0o777, false),
        (0o1777, true),
    ] {
        set_mode(&way, mode);
        assert_eq!(check(&file).is_ok(), private, "{mode:o}");
    }
    // Where a link leads counts, and where it stands too.
    set_mode(&way, 0o777);
    let link = folder.path().join("link");
    symlink("way/file", &link).unwrap();
    assert!(matches!(check(&link), Err(TrustError::Writable { .. })));
    set_mode(&way, 0o700);
    assert!(check(&link).is_ok());
    let stands = folder.path().join("open");
    fs::create_dir(&stands).unwrap();
    symlink(&file, stands.join("link")).unwrap();
    assert!(check(&stands.join("link")).is_ok());
    set_mode(&stands, 0o777);
    assert!(check(&stands.join("link")).is_err());
    // `..` after a link is that of where the link leads.
    set_mode(&stands, 0o700);
    symlink(&way, stands.join("folder")).unwrap();
    assert!(check(&stands.join("folder/../way/file")).is_ok());
    assert!(check(&stands.join("folder/../open/missing")).is_err());
}

#[test]
fn folders_and_missing_files() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    for demand in [Demand::NotWritableByOthers, Demand::Secret0600] {
        let error = check_private(&missing, "config", demand).unwrap_err();
        assert!(matches!(error, TrustError::Unreadable { .. }), "{error}");
    }
    check_private(folder.path(), "home", Demand::NotWritableByOthers).unwrap();
    let error = check_private(folder.path(), "secret", Demand::Secret0600).unwrap_err();
    assert!(matches!(error, TrustError::NotAFile { .. }), "{error}");
    assert!(open_private(folder.path(), "home", Demand::NotWritableByOthers).is_err());
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(check_private(&folder.path().join("loop"), "config", Demand::Secret0600).is_err());
    set_mode(folder.path(), 0o1777);
    assert!(check_private(folder.path(), "home", Demand::NotWritableByOthers).is_err());
}

#[test]
fn what_belongs_to_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let way = folder.path().join("way");
    fs::create_dir(&way).unwrap();
    let file = way.join("file");
    write(&file, "x", 0o600);
    for culprit in [&file, &way] {
        chown(culprit, Some(12_345), None).unwrap();
        let error = check_private(&file, "secret", Demand::Secret0600).unwrap_err();
        assert!(
            matches!(&error, TrustError::Owner { owner: 12_345, culprit: found, .. }
                if Path::new(found) == culprit),
            "{error}"
        );
        chown(culprit, Some(0), None).unwrap();
    }
    check_private(&file, "secret", Demand::Secret0600).unwrap();
    let link = way.join("link");
    symlink("file", &link).unwrap();
    lchown(&link, Some(12_345), None).unwrap();
    let error = check_private(&link, "secret", Demand::Secret0600).unwrap_err();
    assert!(matches!(error, TrustError::Owner { .. }), "{error}");
}
