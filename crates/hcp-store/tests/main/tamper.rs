//! What `verify` tells after somebody changed the file by hand, with plain SQL.

use hcp_spec::audit::{AuditEvent, AuditKind};
use hcp_store::{Checkpoint, StoreError, Verdict};

use crate::home::{Home, call, event};

const COLUMNS: [&str; 21] = [
    "tenant_id",
    "seq",
    "recorded_at",
    "kind",
    "project_id",
    "principal",
    "session_id",
    "pack_id",
    "pack_digest",
    "verb_key",
    "step",
    "ok",
    "error",
    "detail",
    "capability",
    "args",
    "intent_seq",
    "runtime_id",
    "metadata",
    "previous",
    "hash",
];

#[test]
fn the_list_of_columns_is_whole() {
    let (home, _store) = Home::initialised();
    let raw = home.raw();
    let statement = raw.prepare("SELECT * FROM audit_record").unwrap();
    let columns: Vec<&str> = statement.column_names().collect();
    assert_eq!(columns, COLUMNS);
}

#[test]
fn every_column_of_every_row_is_covered() {
    let values = ["NULL", "''", "'x'", "x'78'", "77", "7.5"];
    let (home, store) = Home::with_records(5);
    drop(store);
    for column in COLUMNS {
        for value in values {
            for seq in [1, 3, 5] {
                let copy = home.copy();
                let raw = copy.raw();
                let differs: bool = raw
                    .query_row(
                        &format!(
                            "SELECT {column} IS NOT {value} FROM audit_record WHERE seq = {seq}"
                        ),
                        [],
                        |row| row.get(0),
                    )
                    .unwrap();
                // The first record is the opening of the installation, and sparse.
                let same = seq == 1 || (column == "detail" && value == "''");
                assert!(differs || same, "{column} = {value}");
                raw.execute_batch(&format!(
                    "UPDATE audit_record SET {column} = {value} WHERE seq = {seq}"
                ))
                .unwrap();
                drop(raw);
                let expected = if differs {
                    Verdict::Altered(seq)
                } else {
                    Verdict::Ok
                };
                assert_eq!(copy.verdict(), expected, "{column} = {value} in {seq}");
            }
        }
    }
}

#[test]
fn the_storage_class_is_covered_where_the_column_lets_it_change() {
    // An INTEGER column makes a number of '5' again, and then nothing was changed.
    for (column, value, expected) in [
        ("step", "'6'", Verdict::Ok),
        ("step", "6.0", Verdict::Ok),
        ("step", "x'36'", Verdict::Altered(3)),
        ("step", "' six'", Verdict::Altered(3)),
        ("error", "CAST(error AS BLOB)", Verdict::Altered(3)),
        ("previous", "CAST(previous AS BLOB)", Verdict::Altered(3)),
        ("hash", "CAST(hash AS BLOB)", Verdict::Altered(3)),
        ("hash", "upper(hash)", Verdict::Altered(3)),
    ] {
        let (home, store) = Home::with_records(5);
        drop(store);
        home.tamper(&format!(
            "UPDATE audit_record SET {column} = {value} WHERE seq = 3"
        ));
        assert_eq!(home.verdict(), expected, "{column} = {value}");
    }
}

#[test]
fn removed_added_moved_and_beheaded() {
    let copy_of_3 = "INSERT INTO audit_record SELECT tenant_id, 6, recorded_at, kind, project_id, \
        principal, session_id, pack_id, pack_digest, verb_key, step, ok, error, detail, capability, \
        args, intent_seq, runtime_id, metadata, previous, hash FROM audit_record WHERE seq = 3";
    let swap = "UPDATE audit_record SET seq = -1 WHERE seq = 2; \
                UPDATE audit_record SET seq = 2 WHERE seq = 3; \
                UPDATE audit_record SET seq = 3 WHERE seq = -1";
    let cases = [
        ("SELECT 1", Verdict::Ok),
        ("VACUUM", Verdict::Ok),
        ("DELETE FROM audit_record WHERE seq = 1", Verdict::Gap(1)),
        ("DELETE FROM audit_record WHERE seq = 3", Verdict::Gap(3)),
        (
            "DELETE FROM audit_record WHERE seq IN (3, 4)",
            Verdict::Gap(3),
        ),
        (
            "DELETE FROM audit_record WHERE seq IN (2, 4)",
            Verdict::Gap(2),
        ),
        ("DELETE FROM audit_record WHERE seq = 5", Verdict::Truncated),
        ("DELETE FROM audit_record WHERE seq > 1", Verdict::Truncated),
        ("DELETE FROM audit_record", Verdict::Unanchored),
        ("DELETE FROM audit_head", Verdict::Unanchored),
        (
            "DELETE FROM audit_record; DELETE FROM audit_head",
            Verdict::Unanchored,
        ),
        ("UPDATE audit_head SET hash = 'x'", Verdict::Forked),
        ("UPDATE audit_head SET hash = x'00'", Verdict::Unanchored),
        ("UPDATE audit_head SET seq = 4", Verdict::Altered(5)),
        ("UPDATE audit_head SET seq = 0", Verdict::Altered(1)),
        ("UPDATE audit_head SET seq = 6", Verdict::Truncated),
        ("UPDATE audit_head SET seq = -5", Verdict::Unanchored),
        ("UPDATE audit_head SET seq = 'five'", Verdict::Unanchored),
        (
            "UPDATE audit_head SET tenant_id = 'acme'",
            Verdict::Truncated,
        ),
        (copy_of_3, Verdict::Altered(6)),
        (
            "INSERT INTO audit_record (tenant_id, seq) VALUES ('default', 6)",
            Verdict::Altered(6),
        ),
        (
            "INSERT INTO audit_record (tenant_id, seq) VALUES ('default', 9)",
            Verdict::Gap(6),
        ),
        (
            "INSERT INTO audit_record (tenant_id, seq) VALUES ('default', 0)",
            Verdict::Forked,
        ),
        (
            "INSERT INTO audit_record (tenant_id, seq) VALUES ('default', NULL)",
            Verdict::Forked,
        ),
        (
            "INSERT INTO audit_record (tenant_id, seq) VALUES (NULL, 6)",
            Verdict::Forked,
        ),
        (
            "INSERT INTO audit_record (tenant_id, seq) VALUES ('acme', 1)",
            Verdict::Altered(1),
        ),
        (
            "UPDATE audit_record SET tenant_id = 'acme'",
            Verdict::Altered(1),
        ),
        (swap, Verdict::Altered(2)),
        (
            "UPDATE installation SET id = 'ins_other'",
            Verdict::Altered(1),
        ),
        ("ALTER TABLE audit_record ADD COLUMN note TEXT", Verdict::Ok),
        (
            "ALTER TABLE audit_record ADD COLUMN note TEXT DEFAULT 'hi'",
            Verdict::Altered(1),
        ),
        (
            "ALTER TABLE audit_record RENAME COLUMN args TO arguments",
            Verdict::Altered(2),
        ),
        ("INSERT INTO tenant VALUES ('acme', 1)", Verdict::Unanchored),
    ];
    for (sql, expected) in cases {
        let (home, store) = Home::with_records(5);
        drop(store);
        home.tamper(sql);
        assert_eq!(home.verdict(), expected, "{sql}");
    }
}

#[test]
fn an_installation_without_a_record_is_unanchored() {
    let home = Home::empty();
    home.create();
    assert_eq!(home.verdict(), Verdict::Unanchored);
    let (home, _store) = Home::initialised();
    assert_eq!(
        home.open_to_read().verify(Some("none"), None).unwrap(),
        Verdict::Unanchored
    );
}

#[test]
fn a_new_tenant_without_a_call_is_no_defect() {
    let (home, mut store) = Home::initialised();
    store
        .change(&event(AuditKind::Admin), |changes| {
            changes.add_tenant(&"acme".parse().unwrap())
        })
        .unwrap();
    assert_eq!(home.verdict(), Verdict::Ok);
    // But a whole trail that is gone is one.
    store
        .record(&AuditEvent {
            tenant_id: "acme".to_owned(),
            ..call(1)
        })
        .unwrap();
    drop(store);
    home.tamper("DELETE FROM audit_record WHERE tenant_id = 'acme'");
    assert_eq!(home.verdict(), Verdict::Truncated);
    home.tamper("DELETE FROM audit_head WHERE tenant_id = 'acme'");
    assert_eq!(home.verdict(), Verdict::Unanchored);
    assert_eq!(
        home.open_to_read().verify(Some("default"), None).unwrap(),
        Verdict::Ok
    );
}

#[test]
fn a_checkpoint_tells_one_whole_history_from_another() {
    let (ours, store) = Home::with_records(3);
    drop(store);
    ours.tamper("SELECT 1");
    let other = ours.copy();
    for (home, numbers) in [(&ours, 10..14), (&other, 20..24)] {
        let mut store = home.open();
        for number in numbers {
            store.record(&call(number)).unwrap();
        }
    }
    let early = Home::with_records(3).1.checkpoint("default").unwrap();
    let note = ours.open_to_read().checkpoint("default").unwrap();
    let cases: [(&Home, Option<&str>, Checkpoint, Verdict); 9] = [
        (&ours, None, note.clone(), Verdict::Ok),
        (&other, None, note.clone(), Verdict::Forked),
        (&other, Some("default"), note.clone(), Verdict::Forked),
        (
            &ours,
            None,
            Checkpoint {
                seq: 8,
                ..note.clone()
            },
            Verdict::Truncated,
        ),
        (
            &ours,
            None,
            Checkpoint {
                seq: u64::MAX,
                ..note.clone()
            },
            Verdict::Truncated,
        ),
        (
            &ours,
            None,
            Checkpoint {
                seq: 6,
                ..note.clone()
            },
            Verdict::Forked,
        ),
        (
            &ours,
            None,
            Checkpoint {
                tenant_id: "acme".to_owned(),
                ..note.clone()
            },
            Verdict::Unanchored,
        ),
        (&ours, None, early, Verdict::Unanchored),
        (&ours, Some("acme"), note.clone(), Verdict::Unanchored),
    ];
    for (home, tenant, note, expected) in cases {
        let verdict = home.open_to_read().verify(tenant, Some(&note)).unwrap();
        assert_eq!(verdict, expected, "{tenant:?} {note}");
    }
    // Records cut off together with their head.
    let mut store = ours.open();
    store.record(&call(99)).unwrap();
    let note = store.checkpoint("default").unwrap();
    drop(store);
    ours.tamper(
        "DELETE FROM audit_record WHERE seq > 5;
         UPDATE audit_head SET seq = 5, hash = (SELECT hash FROM audit_record WHERE seq = 5)",
    );
    assert_eq!(ours.verdict(), Verdict::Ok);
    assert_eq!(
        ours.open_to_read().verify(None, Some(&note)).unwrap(),
        Verdict::Truncated
    );
}

#[test]
fn verdicts_are_bare_words() {
    let words = [
        (Verdict::Ok, "OK"),
        (Verdict::Altered(7), "ALTERED 7"),
        (Verdict::Gap(18), "GAP 18"),
        (Verdict::Truncated, "TRUNCATED"),
        (Verdict::Forked, "FORKED"),
        (Verdict::Unanchored, "UNANCHORED"),
    ];
    for (verdict, word) in words {
        assert_eq!(verdict.to_string(), word);
    }
}

#[test]
fn nothing_is_appended_to_a_trail_that_lost_its_head_nor_noted_of_one_that_ends_wrongly() {
    let (home, store) = Home::with_records(3);
    drop(store);
    home.tamper("DELETE FROM audit_record WHERE seq = 3");
    let error = home.open_to_read().checkpoint("default").unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    home.tamper("DELETE FROM audit_head");
    let error = home.open().record(&call(4)).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the audit trail of tenant `default` has lost its head")
    );
    assert_eq!(home.verdict(), Verdict::Unanchored);
    home.tamper("INSERT INTO audit_head VALUES ('default', 1, 'x')");
    let error = home.open().record(&call(4)).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[test]
fn what_is_written_after_a_cut_does_not_hide_it() {
    let (home, store) = Home::with_records(5);
    drop(store);
    home.tamper("DELETE FROM audit_record WHERE seq > 3");
    assert_eq!(home.open().record(&call(6)).unwrap(), 6);
    assert_eq!(home.verdict(), Verdict::Gap(4));
}
