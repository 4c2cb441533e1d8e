//! Ratios, printed and looked at by hand; never asserted, as the machine is shared:
//! `cargo test --release -p hcp-output -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hcp_output::{Redactor, read_result};
use hcp_spec::manifest::OutputForm;

const SIZE: usize = 16 << 20;

#[test]
#[ignore = "measures; run by hand in a release build"]
fn sixteen_mebibytes_against_serde_json() {
    let secret = b"k3y-Zq81-0fPw-77Lx".as_slice();
    for (name, text) in [
        ("records", records()),
        ("numbers", numbers()),
        ("long strings", strings("0123456789 abcdef ")),
        ("escapes", strings("line\\n\\\"\\u00e9%20")),
    ] {
        let floor = fastest(|| {
            let ignored: serde::de::IgnoredAny = serde_json::from_slice(text.as_bytes()).unwrap();
            black_box(ignored);
        });
        let mut line = format!("{name}: serde_json {floor:?}");
        for (what, redactor) in [
            ("plain", Redactor::none()),
            ("one secret", Redactor::new([secret])),
        ] {
            let mut copies = vec![text.clone().into_bytes(); 5];
            let ours = fastest(|| {
                let stdout = copies.pop().unwrap();
                black_box(read_result(stdout, OutputForm::Json, &redactor));
            });
            let ratio = ours.as_secs_f64() / floor.as_secs_f64();
            line += &format!("; {what} {ours:?} = {ratio:.2}");
        }
        eprintln!("{line}");
    }
}

fn fastest(mut run: impl FnMut()) -> Duration {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap()
}

fn records() -> String {
    let record = r#"  {
    "id": 9007199254740993,
    "name": "A record of some length",
    "price": 1.10,
    "tags": [
      "one",
      "two"
    ],
    "active": true,
    "parent": null
  }"#;
    listed(record, ",\n")
}

fn numbers() -> String {
    listed("  1234.5678", ",\n")
}

fn strings(part: &str) -> String {
    listed(&format!("  \"{}\"", part.repeat(60)), ",\n")
}

fn listed(item: &str, separator: &str) -> String {
    let count = SIZE / (item.len() + separator.len());
    format!("[\n{}\n]\n", vec![item; count].join(separator))
}
