//! Looking at an installation leaves no trace.

use hcp_spec::audit::AuditKind;
use hcp_store::{RecordFilter, Store, StoreError, Verdict};

use crate::home::{Home, call, event};
use crate::recovery::{holder, kill};

fn look(store: &Store) {
    assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
    assert_eq!(store.records(&RecordFilter::default()).unwrap().len(), 20);
    assert!(store.record_at("default", 20).unwrap().is_some());
    assert_eq!(store.checkpoint("default").unwrap().seq, 20);
    assert_eq!(store.principals().unwrap().len(), 1);
}

#[test]
fn reading_writes_no_byte_with_or_without_a_log_and_a_writer() {
    let (home, store) = Home::with_records(19);
    drop(store);
    // A writer of its own process: within one, SQLite shares what it knows of the log.
    let (writer, seq) = holder(&home);
    assert_eq!(seq, 20);
    assert_untouched_by_looking(&home, "a writer is there");
    kill(writer);
    assert_untouched_by_looking(&home, "its log is left");
    home.tamper("SELECT count(*) FROM tenant");
    assert!(!home.folder().join("hcp.db-wal").exists());
    assert_untouched_by_looking(&home, "all is in the file");
}

fn assert_untouched_by_looking(home: &Home, state: &str) {
    let before = home.contents();
    look(&home.open_to_read());
    let after = home.contents();
    let changed: Vec<_> = after
        .iter()
        .filter(|(path, held)| before.get(*path) != Some(held))
        .map(|(path, _)| path)
        .collect();
    assert!(
        changed.is_empty() && before.len() == after.len(),
        "{state}: {changed:?}"
    );
}

#[test]
fn a_log_without_its_index_is_read() {
    let (home, store) = Home::with_records(20);
    let copy = home.copy();
    drop(store);
    std::fs::remove_file(copy.folder().join("hcp.db-shm")).unwrap();
    look(&copy.open_to_read());
}

#[test]
fn a_reader_follows_a_writer() {
    let (home, mut store) = Home::with_records(3);
    let reader = home.open_to_read();
    for seq in 4..8 {
        store.record(&call(seq)).unwrap();
        assert!(reader.record_at("default", seq).unwrap().is_some());
        assert_eq!(reader.verify(None, None).unwrap(), Verdict::Ok);
    }
}

#[test]
fn a_file_that_was_thought_at_rest_is_judged_again_when_someone_wrote() {
    let (home, store) = Home::with_records(3);
    drop(store);
    home.tamper("SELECT count(*) FROM tenant");
    let reader = home.open_to_read();
    home.open().record(&call(4)).unwrap();
    let error = reader.records(&RecordFilter::default()).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert_eq!(reader.verify(None, None).unwrap(), Verdict::Ok);
}

#[test]
fn a_reader_refuses_to_write() {
    let (home, store) = Home::with_records(20);
    drop(store);
    for mut reader in [home.open_to_read(), {
        home.tamper("SELECT count(*) FROM tenant");
        home.open_to_read()
    }] {
        let before = home.contents();
        let refusals = [
            reader.record(&call(1)).map(drop),
            reader.begin(&event(AuditKind::Intent)).map(drop),
            reader.change(&event(AuditKind::Admin), |_| Ok(())),
        ];
        for refusal in refusals {
            let error = refusal.unwrap_err();
            assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        }
        assert_eq!(reader.recover().unwrap(), 0);
        assert!(before == home.contents());
    }
}

#[test]
fn opening_a_current_installation_writes_no_page() {
    let (home, store) = Home::with_records(3);
    drop(store);
    let log = home.folder().join("hcp.db-wal");
    let before = (
        std::fs::read(home.database()).unwrap(),
        std::fs::read(&log).unwrap(),
    );
    let mut store = home.open();
    store.generation().unwrap();
    assert_eq!(store.recover().unwrap(), 0);
    drop(store);
    assert!(
        before
            == (
                std::fs::read(home.database()).unwrap(),
                std::fs::read(&log).unwrap()
            )
    );
}
