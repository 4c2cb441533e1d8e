//! The audit trail as it is written and read when nobody interferes.

use hcp_spec::audit::{AuditEvent, AuditKind, AuditRecord};
use hcp_store::{RecordFilter, StoreError, Verdict};

use crate::home::{Home, call, event};

#[test]
fn a_record_holds_what_the_event_said() {
    let (home, mut store) = Home::initialised();
    let before = store.record_at("default", 1).unwrap().unwrap();
    let seq = store.record(&call(7)).unwrap();
    let record = home
        .open_to_read()
        .record_at("default", seq)
        .unwrap()
        .unwrap();
    assert_eq!((seq, record.seq), (2, 2));
    assert_eq!(record.event, call(7));
    assert_eq!(record.previous, before.hash);
    assert_eq!(record.hash.len(), 64);
    assert_eq!(record.time.len(), "2026-01-01T00:00:00.000Z".len());
    assert!(record.time.ends_with('Z'));
    let sparse = event(AuditKind::Invalid);
    let seq = store.record(&sparse).unwrap();
    assert_eq!(
        store.record_at("default", seq).unwrap().unwrap().event,
        sparse
    );
    for (tenant, seq) in [
        ("default", 0),
        ("default", 9),
        ("default", u64::MAX),
        ("acme", 1),
    ] {
        assert_eq!(store.record_at(tenant, seq).unwrap(), None);
    }
}

#[test]
fn numbers_count_per_tenant() {
    let (home, mut store) = Home::initialised();
    let acme = AuditEvent {
        tenant_id: "acme".to_owned(),
        ..call(1)
    };
    let numbers: Vec<u64> = [&acme, &call(1), &acme, &acme, &call(1)]
        .into_iter()
        .map(|event| store.record(event).unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 2, 3, 3]);
    for tenant in [None, Some("acme"), Some("default")] {
        assert_eq!(
            home.open_to_read().verify(tenant, None).unwrap(),
            Verdict::Ok,
            "{tenant:?}"
        );
    }
}

#[test]
fn an_outcome_names_its_intent_in_the_intents_trail() {
    let (_home, mut store) = Home::initialised();
    let acme = AuditEvent {
        tenant_id: "acme".to_owned(),
        ..event(AuditKind::Intent)
    };
    store.record(&acme).unwrap();
    let intent = store.begin(&acme).unwrap();
    assert_eq!(intent.seq, 2);
    let seq = store.finish(intent, &event(AuditKind::Outcome)).unwrap();
    let outcome = store.record_at("acme", seq).unwrap().unwrap();
    assert_eq!(
        (outcome.event.intent_seq, outcome.event.kind),
        (Some(2), AuditKind::Outcome)
    );
}

#[test]
fn filters_narrow_and_a_limit_keeps_the_newest_oldest_first() {
    let (home, mut store) = Home::with_records(10);
    for (index, kind) in [AuditKind::Explain, AuditKind::Denied, AuditKind::Explain]
        .into_iter()
        .enumerate()
    {
        let tenant_id = if index == 1 { "acme" } else { "default" }.to_owned();
        let pack_id = Some("transit".to_owned());
        store
            .record(&AuditEvent {
                tenant_id,
                pack_id,
                ..event(kind)
            })
            .unwrap();
    }
    let all = RecordFilter::default;
    let tenant = |id: &str| Some(id.to_owned());
    let cases: [(RecordFilter, &[u64]); 11] = [
        (all(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 12]),
        (
            RecordFilter {
                limit: Some(3),
                ..all()
            },
            &[11, 1, 12],
        ),
        (
            RecordFilter {
                limit: Some(0),
                ..all()
            },
            &[],
        ),
        (
            RecordFilter {
                limit: Some(99),
                tenant: tenant("acme"),
                ..all()
            },
            &[1],
        ),
        (
            RecordFilter {
                limit: Some(2),
                tenant: tenant("default"),
                ..all()
            },
            &[11, 12],
        ),
        (
            RecordFilter {
                tenant: tenant("none"),
                ..all()
            },
            &[],
        ),
        (
            RecordFilter {
                kind: Some(AuditKind::Explain),
                ..all()
            },
            &[11, 12],
        ),
        (
            RecordFilter {
                kind: Some(AuditKind::Denied),
                limit: Some(2),
                ..all()
            },
            &[10, 1],
        ),
        (
            RecordFilter {
                pack_id: tenant("transit"),
                ..all()
            },
            &[11, 1, 12],
        ),
        (
            RecordFilter {
                after: Some(9),
                tenant: tenant("default"),
                ..all()
            },
            &[10, 11, 12],
        ),
        (
            RecordFilter {
                principal: tenant("human:bob"),
                ..all()
            },
            &[],
        ),
    ];
    for store in [home.open_to_read(), home.open()] {
        for (filter, expected) in &cases {
            let found: Vec<u64> = store
                .records(filter)
                .unwrap()
                .into_iter()
                .map(|record| record.seq)
                .collect();
            assert_eq!(&found, expected, "{filter:?}");
        }
    }
}

#[test]
fn a_walk_stops_where_its_caller_says() {
    #[derive(Debug)]
    enum Ended {
        Enough,
        Failed,
    }
    impl From<StoreError> for Ended {
        fn from(_: StoreError) -> Self {
            Self::Failed
        }
    }
    let (_home, store) = Home::with_records(5);
    let mut seen: Vec<AuditRecord> = Vec::new();
    let ended = store.for_each_record(&RecordFilter::default(), |record| {
        seen.push(record);
        if seen.len() == 2 {
            Err(Ended::Enough)
        } else {
            Ok(())
        }
    });
    assert!(matches!(ended, Err(Ended::Enough)), "{ended:?}");
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_checkpoint_notes_the_newest_record() {
    let (home, mut store) = Home::with_records(4);
    let note = home.open_to_read().checkpoint("default").unwrap();
    assert_eq!((note.seq, note.tenant_id.as_str()), (4, "default"));
    assert_eq!(
        note.hash,
        store.record_at("default", 4).unwrap().unwrap().hash
    );
    for seq in 5..8 {
        store.record(&call(seq)).unwrap();
    }
    let note: hcp_store::Checkpoint = format!("{note}\n").parse().unwrap();
    assert_eq!(store.verify(None, Some(&note)).unwrap(), Verdict::Ok);
    assert_eq!(
        store.verify(Some("default"), Some(&note)).unwrap(),
        Verdict::Ok
    );
    let error = store.checkpoint("none").unwrap_err();
    assert_eq!(
        error.to_string(),
        "audit trail of tenant `none` is not there"
    );
}
