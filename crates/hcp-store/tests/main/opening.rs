//! Which files become an installation, which are refused, and with which words.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hcp_store::{Store, StoreError};

use crate::child::{said, start_after, start_without_privileges};
use crate::home::{Home, call};

type Make = fn(&Home);

fn fill(home: &Home, text: &str) {
    fs::write(home.database(), text).unwrap();
}

#[test]
fn creating_is_private_whatever_the_umask() {
    for umask in ["000", "022", "077", "777"] {
        let home = Home::empty();
        let child = start_after(&home, &format!("umask {umask}"), "create");
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            said(&String::from_utf8_lossy(&output.stdout)),
            ["0"],
            "{umask}"
        );
        let names = [
            ("hcp.db", 0o600),
            ("hcp.db-wal", 0o600),
            ("hcp.db-shm", 0o600),
            ("locks", 0o700),
        ];
        for (name, mode) in names {
            let found = fs::metadata(home.folder().join(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(found & 0o7777, mode, "{umask} {name}");
        }
    }
}

#[test]
fn creating_again_changes_nothing() {
    let (home, mut store) = Home::initialised();
    let generation = store.generation().unwrap();
    let mut again = home.create();
    assert_eq!(again.generation().unwrap(), generation);
    assert_eq!(again.record(&call(2)).unwrap(), 2);
    assert_eq!(store.record(&call(3)).unwrap(), 3);
}

#[test]
fn a_store_moves_between_threads() {
    fn check<T: Send>(_: &T) {}
    check(&Home::initialised().1);
}

#[test]
fn eight_creators_at_once_make_one_installation() {
    let home = Home::empty();
    let generations: Vec<u64> = std::thread::scope(|scope| {
        let creators: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| home.create().generation().unwrap()))
            .collect();
        creators
            .into_iter()
            .map(|creator| creator.join().unwrap())
            .collect()
    });
    assert_eq!(generations, [1; 8]);
    let installations: u32 = home
        .raw()
        .query_row("SELECT count(*) FROM installation", [], |row| row.get(0))
        .unwrap();
    assert_eq!(installations, 1);
}

#[test]
fn nothing_there_is_not_initialised_and_stays_so() {
    let home = Home::empty();
    let assert_absent = |found: Result<Store, StoreError>| {
        let error = found.unwrap_err();
        assert!(
            matches!(error, StoreError::NotInitialised { .. }),
            "{error}"
        );
        assert_eq!(
            error.to_string(),
            format!("no installation at `{}`", home.database().display())
        );
        assert_eq!(error.hint().as_deref(), Some("run `hcp init`"));
    };
    assert_absent(home.try_open());
    assert_absent(Store::open_to_read(&home.database()));
    assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
    // What a creation that was killed at once leaves behind.
    fs::write(home.database(), "").unwrap();
    assert_absent(home.try_open());
    assert_absent(Store::open_to_read(&home.database()));
    home.create();
    home.open();
}

#[test]
fn what_is_not_ours_is_refused_and_left_alone() {
    let cases: [(&str, Make); 6] = [
        ("text", |home| fill(home, &"dear diary, ".repeat(500))),
        ("few bytes", |home| fill(home, "x")),
        ("less than a page", |home| fill(home, &"x".repeat(700))),
        ("folder", |home| fs::create_dir(home.database()).unwrap()),
        ("a table", |home| {
            home.tamper("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)");
        }),
        ("another id", |home| {
            home.tamper("PRAGMA application_id = 7");
        }),
    ];
    for (name, make) in cases {
        let home = Home::empty();
        make(&home);
        fs::create_dir(home.locks()).unwrap();
        let before = home.contents();
        for found in [
            Store::create(&home.database(), &home.locks()),
            home.try_open(),
            Store::open_to_read(&home.database()),
        ] {
            let Err(error) = found else {
                panic!("{name} was opened");
            };
            assert!(
                matches!(error, StoreError::NotADatabase { .. }),
                "{name}: {error:?}"
            );
            assert_one_line_that_names(&error, &home);
        }
        let mut after = home.contents();
        // Looking at a database in a folder may touch the times of the folder itself.
        after.retain(|path, _| before.contains_key(path) && path.is_file());
        let mut before = before;
        before.retain(|path, _| path.is_file());
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn a_damaged_file_is_an_error_and_not_a_panic() {
    let (home, store) = Home::with_records(40);
    drop(store);
    home.tamper("PRAGMA wal_checkpoint(TRUNCATE)");
    let whole = fs::read(home.database()).unwrap();
    let mut refused = 0;
    for (page, byte) in
        (0..whole.len() / 4096).flat_map(|page| [(page, 0), (page, 100), (page, 4000)])
    {
        let mut damaged = whole.clone();
        let start = page * 4096 + byte;
        damaged[start..(start + 90).min(whole.len())].fill(0xA5);
        fs::write(home.database(), damaged).unwrap();
        for beside in ["hcp.db-wal", "hcp.db-shm"] {
            let _ = fs::remove_file(home.folder().join(beside));
        }
        let used = home.try_open().and_then(|mut store| {
            store.principals()?;
            store.packs()?;
            store.records(&hcp_store::RecordFilter::default())?;
            store.record(&call(1))?;
            store.verify(None, None)
        });
        if let Err(error) = used {
            refused += 1;
            assert_one_line_that_names(&error, &home);
        }
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_newer_schema_is_used_or_refused_as_it_says() {
    let (home, store) = Home::initialised();
    drop(store);
    home.tamper("UPDATE schema SET version = 9, minimum_reader = 1");
    home.open();
    home.open_to_read();
    home.tamper("UPDATE schema SET version = 9, minimum_reader = 2");
    for found in [home.try_open(), Store::open_to_read(&home.database())] {
        let error = found.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::NewerSchema {
                    version: 9,
                    known: 1,
                    ..
                }
            ),
            "{error}"
        );
        assert_one_line_that_names(&error, &home);
    }
}

#[test]
fn an_older_schema_is_not_brought_up_to_date_by_reading() {
    let (home, store) = Home::initialised();
    drop(store);
    home.tamper("UPDATE schema SET version = 0");
    let error = Store::open_to_read(&home.database()).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::OlderSchema {
                version: 0,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_file_that_others_can_write_is_refused() {
    let (home, store) = Home::initialised();
    drop(store);
    for (mode, refused) in [(0o620, true), (0o602, true), (0o666, true), (0o644, false)] {
        fs::set_permissions(home.database(), fs::Permissions::from_mode(mode)).unwrap();
        match home.try_open() {
            Ok(_) => assert!(!refused, "{mode:o}"),
            Err(error) => {
                assert!(refused, "{mode:o}: {error}");
                assert!(
                    matches!(error, StoreError::WritableByOthers { .. }),
                    "{error}"
                );
                assert_one_line_that_names(&error, &home);
            }
        }
    }
}

#[test]
fn files_and_folders_that_are_not_ours_are_named() {
    let unowned = "cannot be opened, or its folder cannot take the files beside it";
    let cases = [
        ("read-only file", 0o755, 0o444, "cannot be written"),
        ("unreadable file", 0o755, 0o000, unowned),
        ("closed folder", 0o000, 0o600, "Permission denied"),
    ];
    for (name, folder_mode, file_mode, expected) in cases {
        let (home, store) = Home::initialised();
        drop(store);
        home.tamper("PRAGMA user_version");
        let set_mode = |path: &std::path::Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(&home.database(), file_mode);
        set_mode(home.folder(), folder_mode);
        let child = start_without_privileges(&home, "recover");
        let output = child.wait_with_output().unwrap();
        set_mode(home.folder(), 0o755);
        let said = said(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        assert!(said[0].starts_with("refused: `"), "{name}: {said:?}");
        assert!(said[0].contains(expected), "{name}: {said:?}");
    }
}

fn assert_one_line_that_names(error: &StoreError, home: &Home) {
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    assert!(
        text.contains(&home.folder().display().to_string()),
        "{text}"
    );
}
