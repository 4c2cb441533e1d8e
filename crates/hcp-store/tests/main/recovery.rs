//! Intents whose runtime is gone.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Child;

use hcp_spec::audit::{AuditEvent, AuditKind};
use hcp_store::{RecordFilter, Verdict};

use crate::child::{said, start};
use crate::home::{Home, call, event};

/// A child that announced a call, and the number of its intent.
pub fn holder(home: &Home) -> (Child, u64) {
    let mut child = start(home, "hold");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let seq = lines.find_map(|line| line.unwrap().strip_prefix("> ").map(str::to_owned));
    (child, seq.unwrap().parse().unwrap())
}

pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn locks_left(home: &Home) -> usize {
    fs::read_dir(home.locks()).unwrap().count()
}

fn interrupted(home: &Home) -> Vec<AuditEvent> {
    let kind = Some(AuditKind::Interrupted);
    let filter = RecordFilter {
        kind,
        ..RecordFilter::default()
    };
    let records = home.open_to_read().records(&filter).unwrap();
    records.into_iter().map(|record| record.event).collect()
}

#[test]
fn a_killed_runtime_is_closed_once_and_a_living_one_never() {
    let (home, mut store) = Home::initialised();
    let (alive, _) = holder(&home);
    let (dead, seq) = holder(&home);
    assert_eq!(store.recover().unwrap(), 0);
    kill(dead);
    assert_eq!(store.recover().unwrap(), 1);
    assert_eq!(store.recover().unwrap(), 0);
    let closed = interrupted(&home);
    assert_eq!(closed.len(), 1);
    assert_eq!(closed[0].intent_seq, Some(seq));
    assert_eq!(closed[0].runtime_id, store.runtime_id());
    assert_eq!(
        (closed[0].ok, closed[0].error.as_deref()),
        (Some(false), Some("interrupted"))
    );
    assert_eq!(locks_left(&home), 1);
    kill(alive);
    assert_eq!(store.recover().unwrap(), 1);
    assert_eq!((locks_left(&home), home.verdict()), (0, Verdict::Ok));
}

#[test]
fn the_closing_says_what_the_intent_said() {
    let (home, mut store) = Home::initialised();
    let intent = AuditEvent {
        kind: AuditKind::Intent,
        tenant_id: "acme".to_owned(),
        ok: None,
        error: None,
        intent_seq: None,
        ..call(1)
    };
    let open = store.begin(&intent).unwrap();
    assert_eq!(home.open().recover().unwrap(), 0, "the owner lives");
    let _ = open;
    drop(store);
    let mut next = home.open();
    assert_eq!(next.recover().unwrap(), 1);
    let expected = AuditEvent {
        kind: AuditKind::Interrupted,
        ok: Some(false),
        error: Some("interrupted".to_owned()),
        intent_seq: Some(1),
        args: None,
        metadata: None,
        runtime_id: next.runtime_id().to_owned(),
        ..intent
    };
    assert_eq!(interrupted(&home), [expected]);
}

#[test]
fn an_outcome_leaves_nothing_to_close_and_no_lock() {
    let (home, mut store) = Home::initialised();
    for _ in 0..3 {
        let intent = store.begin(&event(AuditKind::Intent)).unwrap();
        assert_eq!(locks_left(&home), 1);
        store.finish(intent, &event(AuditKind::Outcome)).unwrap();
    }
    drop(store);
    assert_eq!(locks_left(&home), 0);
    assert_eq!(home.open().recover().unwrap(), 0);
}

#[test]
fn of_many_recoverers_at_once_one_closes() {
    let (home, _store) = Home::initialised();
    for round in 1..=5 {
        kill(holder(&home).0);
        let recoverers: Vec<_> = (0..4).map(|_| start(&home, "recover")).collect();
        let closed: u64 = recoverers
            .into_iter()
            .map(|child| child.wait_with_output().unwrap().stdout)
            .map(|stdout| {
                said(&String::from_utf8(stdout).unwrap())[0]
                    .parse::<u64>()
                    .unwrap()
            })
            .sum();
        assert_eq!((closed, interrupted(&home).len()), (1, round));
    }
    assert_eq!(home.verdict(), Verdict::Ok);
}

#[test]
fn without_its_lock_file_a_runtime_counts_as_gone() {
    let (home, mut store) = Home::initialised();
    kill(holder(&home).0);
    fs::remove_dir_all(home.locks()).unwrap();
    assert_eq!(store.recover().unwrap(), 1);
}

#[test]
fn damage_does_not_keep_the_next_start_from_closing() {
    for sql in [
        "DELETE FROM audit_record WHERE kind = 'intent'",
        "UPDATE audit_record SET kind = 'what' WHERE kind = 'intent'",
        "UPDATE open_intent SET runtime_id = '../../etc/passwd'",
    ] {
        let (home, store) = Home::initialised();
        kill(holder(&home).0);
        drop(store);
        home.tamper(sql);
        assert_eq!(home.open().recover().unwrap(), 1, "{sql}");
        assert_eq!(interrupted(&home).len(), 1, "{sql}");
    }
}
