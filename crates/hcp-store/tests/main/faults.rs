//! Power cuts, full disks and stubborn neighbours: nothing that was acknowledged is lost, and every
//! refusal is one line.

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::Duration;

use hcp_spec::audit::AuditKind;
use hcp_store::{RecordFilter, StoreError, Verdict};

use crate::child::{said, start, start_after};
use crate::home::{Home, call, event};

#[test]
fn killed_at_any_instant_the_file_opens_and_keeps_what_was_acknowledged() {
    let (home, store) = Home::initialised();
    drop(store);
    for round in 0..30_u64 {
        let mut writer = start(&home, "write");
        let mut stdout = BufReader::new(writer.stdout.take().unwrap());
        let mut heard = String::new();
        // The first number tells that it is at work.
        while !heard.contains("> ") {
            assert_ne!(stdout.read_line(&mut heard).unwrap(), 0, "{heard}");
        }
        std::thread::sleep(Duration::from_micros(round * 700));
        writer.kill().unwrap();
        writer.wait().unwrap();
        stdout.read_to_string(&mut heard).unwrap();
        let acknowledged = said(&heard)
            .iter()
            .filter_map(|word| word.parse().ok())
            .max()
            .unwrap();
        let mut store = home.open();
        assert!(store.record_at("default", acknowledged).unwrap().is_some());
        assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
        assert!(store.recover().unwrap() <= 1);
    }
    let records = home.open().records(&RecordFilter::default()).unwrap();
    let count = |kind| {
        records
            .iter()
            .filter(|record| record.event.kind == kind)
            .count()
    };
    // `write` ends its calls with a `denied` record.
    let ended = count(AuditKind::Denied) + count(AuditKind::Interrupted);
    assert_eq!(count(AuditKind::Intent), ended);
    assert!(ended >= 30, "{ended}");
}

#[test]
fn a_file_that_cannot_grow_refuses_and_keeps_what_it_has() {
    let (home, store) = Home::initialised();
    drop(store);
    // Room for the file as it is and for a short log.
    let writer = start_after(&home, "trap '' XFSZ; ulimit -f 400", "write");
    let heard = String::from_utf8(writer.wait_with_output().unwrap().stdout).unwrap();
    let words = said(&heard);
    let refusal = words.last().unwrap();
    assert!(refusal.starts_with("refused: "), "{refusal}");
    assert!(
        refusal.contains(&home.database().display().to_string()),
        "{refusal}"
    );
    let acknowledged: u64 = words[words.len() - 2].parse().unwrap();
    let mut store = home.open();
    assert!(store.record_at("default", acknowledged).unwrap().is_some());
    assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
    store.recover().unwrap();
    store.record(&call(1)).unwrap();
    assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
}

#[test]
fn a_writer_that_never_lets_go_is_told_after_a_while() {
    let (home, mut store) = Home::initialised();
    let holder = home.raw();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.record(&call(1)).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert!(
        store.principal("human:ann").unwrap().is_some(),
        "reading goes on"
    );
    holder.execute_batch("ROLLBACK").unwrap();
    store.record(&call(1)).unwrap();
}

#[test]
fn an_act_that_panics_leaves_nothing() {
    let (home, mut store) = Home::initialised();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.change(
            &event(AuditKind::Admin),
            |changes| -> Result<(), StoreError> {
                changes.add_tenant(&"acme".parse().unwrap())?;
                panic!("in the middle of an act");
            },
        )
    }));
    assert!(panicked.is_err());
    assert_eq!(store.tenant("acme").unwrap(), None);
    store.record(&call(1)).unwrap();
    assert_eq!(home.verdict(), Verdict::Ok);
}

#[test]
fn the_log_does_not_grow_without_bound() {
    let (home, mut store) = Home::initialised();
    let mut large = call(1);
    large.args = Some("x".repeat(200_000));
    for _ in 0..60 {
        store.record(&large).unwrap();
    }
    let log = std::fs::metadata(home.folder().join("hcp.db-wal"))
        .unwrap()
        .len();
    assert!(log < 6_000_000, "{log}");
}
