//! The trip planner as its users meet it: the built program over its town, and over a folder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, missing_docs)]

use std::process::{Command, Output};

use serde_json::{Value, json};

fn run(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_transit"));
    command.args(words).arg("--json").output().unwrap()
}

/// What the program answered, as JSON that is one line and nothing else.
fn ask(words: &[&str]) -> Value {
    let output = run(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), stderr.as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_ride_a_change_and_a_walk_are_told_with_their_price() {
    let direct = ask(&["plan", "--to=airport", "--at=08:00", "--date=2026-03-02"]);
    assert_eq!(direct["from"], "Central Station");
    assert_eq!(direct["transfers"], 0);
    assert_eq!(direct["price"].to_string(), "4.90");
    assert_eq!(direct["legs"][0]["line"], "T1");

    let words = [
        "plan",
        "--from=central",
        "--to=Ferry Pier",
        "--at=17:45",
        "--date=2026-03-01",
    ];
    let walked = ask(&words);
    let legs = walked["legs"].as_array().unwrap();
    let lines: Vec<_> = legs.iter().map(|leg| leg["line"].clone()).collect();
    assert_eq!(lines, [json!("B3"), json!("T1"), json!("T2"), Value::Null]);
    assert_eq!(walked["transfers"], 2);
    assert_eq!(walked["price"].to_string(), "2.40");
    for pair in legs.windows(2) {
        assert_eq!(pair[0]["to"], pair[1]["from"]);
        assert!(pair[0]["arrives"].as_str() <= pair[1]["departs"].as_str());
    }
}

#[test]
fn a_night_trip_begins_on_the_day_before() {
    let night = ask(&["plan", "--to=market", "--at=00:05", "--date=2026-03-03"]);
    assert!(night["departs"].as_str().unwrap() < "00:30:00", "{night}");
}

#[test]
fn what_the_timetable_does_not_have_is_said_with_status_1_and_wrong_usage_with_2() {
    for (words, status, text) in [
        (
            &["plan", "--to=moon"][..],
            1,
            "error: unknown stop `moon`\nhint: see `transit stops`\n",
        ),
        (
            &["plan", "--to=central"],
            1,
            "error: `Central Station` is both the start and the goal\n",
        ),
        (
            &["plan", "--to=market", "--at=08:00", "--date=1999-01-01"],
            1,
            "error: no way from `Central Station` to `Market Square` from 08:00:00 on 1999-01-01\n\
             hint: try an earlier time, or another day\n",
        ),
        (
            &["stops", "--feed=/nowhere"],
            70,
            "error: `/nowhere/stops.txt`: No such file or directory (os error 2)\n",
        ),
    ] {
        let output = run(words);
        assert_eq!(output.stdout, b"");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), text);
        assert_eq!(output.status.code(), Some(status));
    }
    for words in [
        &["plan"][..],
        &["plan", "--to=market", "--at=25h"],
        &["plan", "--to=x", "--date=today"],
    ] {
        assert_eq!(run(words).status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn a_feed_that_was_written_is_read_and_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let written = ask(&["generate", &format!("--into={path}")]);
    assert_eq!(written["files"].as_array().unwrap().len(), 9);
    let words = [
        "departures",
        "--stop=central",
        "--at=08:00",
        "--date=2026-03-02",
    ];
    let with_feed: Vec<&str> = words.iter().copied().chain(["--feed", path]).collect();
    assert_eq!(ask(&words).as_array().unwrap().len(), 10);
    assert_eq!(ask(&words), ask(&with_feed));
    let broken = folder.path().join("stop_times.txt");
    std::fs::write(
        &broken,
        "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nx,1:00,1:00,central,1\n",
    )
    .unwrap();
    let output = run(&with_feed);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr,
        "error: `stop_times.txt`, line 2: `trip_id` names `x`, which is not there\n"
    );
    assert_eq!(output.status.code(), Some(70));
}

#[test]
fn the_pack_shows_the_very_words_that_the_program_takes() {
    let text = include_str!("../pack/hcp.toml");
    let manifest: toml::Value = toml::from_str(text).unwrap();
    for (verb, command) in manifest["commands"].as_table().unwrap() {
        let examples = command["examples"].as_table().unwrap();
        for (name, example) in examples {
            let argv = example["argv"].as_array().unwrap();
            let words: Vec<_> = argv.iter().map(|word| word.as_str().unwrap()).collect();
            let mut program = Command::new(env!("CARGO_BIN_EXE_transit"));
            let output = program.args(&words).output().unwrap();
            assert!(output.status.success(), "{verb} {name}: {output:?}");
        }
    }
}
