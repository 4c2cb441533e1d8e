//! What a call costs, printed for people; nothing here asserts a time.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use hcp_spec::audit::AuditKind;
use hcp_store::{Session, Verdict};

use crate::home::{Home, call, event, pack, session};

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}

fn timed(count: usize, mut act: impl FnMut()) -> Duration {
    median(
        (0..count)
            .map(|_| {
                let since = Instant::now();
                act();
                since.elapsed()
            })
            .collect(),
    )
}

#[test]
#[ignore = "prints measurements: cargo test --release -p hcp-store cost -- --ignored --nocapture"]
fn of_one_call() {
    let (home, mut store) = Home::initialised();
    store
        .change(&event(AuditKind::Admin), |changes| {
            changes.add_pack(&pack("ledger", &["ledger:read", "ledger:write"]))?;
            changes.open_session(&Session {
                name: Some("default".to_owned()),
                ..session("ses_1", "human:ann")
            })?;
            changes.activate("ses_1", "ledger", "digest of ledger")?;
            changes.add_grant(
                &"human:ann".parse().unwrap(),
                &"ledger:*".parse().unwrap(),
                &"default".parse().unwrap(),
                None,
            )
        })
        .unwrap();
    let mut file = File::create(home.folder().join("bare")).unwrap();
    let bare = timed(200, || {
        file.write_all(&[1; 4096]).unwrap();
        file.sync_data().unwrap();
    });
    let open = timed(200, || drop(home.open()));
    let read = |store: &hcp_store::Store| {
        store.principal_of_uid(1000).unwrap().unwrap();
        store.default_session("human:ann").unwrap().unwrap();
        store.pack("ledger").unwrap().unwrap();
        store.tenant("default").unwrap().unwrap();
        store.grants_of("human:ann", "default").unwrap();
    };
    let open_and_read = timed(200, || read(&home.open()));
    let warm_read = timed(200, || read(&store));
    let begin_and_finish = timed(200, || {
        let intent = store.begin(&event(AuditKind::Intent)).unwrap();
        store.finish(intent, &call(1)).unwrap();
    });
    let whole = |calls: u32| {
        let since = Instant::now();
        for _ in 0..calls {
            let mut store = home.open();
            store.recover().unwrap();
            read(&store);
            let intent = store.begin(&event(AuditKind::Intent)).unwrap();
            store.finish(intent, &call(1)).unwrap();
        }
        since.elapsed() / calls
    };
    let beside_another = whole(500);
    let since = Instant::now();
    for _ in 0..10_000 {
        store.generation().unwrap();
    }
    let generation = since.elapsed() / 10_000;
    drop(store);
    let alone = whole(1000);
    println!("bare 4 KiB write + fdatasync      {bare:?}");
    println!("open                              {open:?}");
    println!("open + five reads                 {open_and_read:?}");
    println!("five reads, warm                  {warm_read:?}");
    println!("begin + finish, warm              {begin_and_finish:?}");
    println!("whole call, mean, beside a server {beside_another:?}");
    println!("whole call, mean, alone           {alone:?}");
    println!("generation, unchanged             {generation:?}");
}

#[test]
#[ignore = "prints measurements: cargo test --release -p hcp-store cost -- --ignored --nocapture"]
fn of_verifying_a_hundred_thousand_records() {
    let (home, mut store) = Home::initialised();
    // Durability is not what is measured here.
    let mut event = call(1);
    event.args = Some("x".repeat(200));
    let raw = home.raw();
    raw.execute_batch("PRAGMA synchronous = OFF").unwrap();
    drop(raw);
    for _ in 1..100_000 {
        store.record(&event).unwrap();
    }
    let reader = home.open_to_read();
    let since = Instant::now();
    assert_eq!(reader.verify(None, None).unwrap(), Verdict::Ok);
    println!("verify 100,000 records            {:?}", since.elapsed());
    let since = Instant::now();
    let mut count = 0;
    reader
        .for_each_record(&hcp_store::RecordFilter::default(), |_| {
            count += 1;
            Ok::<(), hcp_store::StoreError>(())
        })
        .unwrap();
    println!("read {count} records             {:?}", since.elapsed());
}
