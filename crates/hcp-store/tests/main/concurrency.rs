//! Many writers on one file.

use hcp_store::{RecordFilter, Verdict};

use crate::child::start;
use crate::home::{Home, call};

fn assert_whole(home: &Home, count: u64) {
    let records = home
        .open_to_read()
        .records(&RecordFilter::default())
        .unwrap();
    let numbers: Vec<u64> = records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
    assert_eq!(home.verdict(), Verdict::Ok);
}

#[test]
fn eight_processes_number_their_records_without_a_gap() {
    let (home, _store) = Home::initialised();
    let writers: Vec<_> = (0..8).map(|_| start(&home, "hundred")).collect();
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    assert_whole(&home, 801);
}

#[test]
fn eight_threads_do_too_while_others_read() {
    let (home, _store) = Home::initialised();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut store = home.open();
                for number in 0..25 {
                    store.record(&call(number)).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..50 {
                assert_eq!(home.verdict(), Verdict::Ok);
            }
        });
    });
    assert_whole(&home, 201);
}
