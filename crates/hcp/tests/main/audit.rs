//! The trail as the command line shows it (design §11): its shape, its verdicts, and that looking at
//! it writes nothing.

use std::process::Command;
use std::time::SystemTime;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{NATIVE, World, text};

fn world() -> World {
    let world = World::with(&Pack::of_tool("trail", "echo '{}'"));
    world.exec(&["trail", "go"]).result();
    world.exec(&["trail", "stop"]).error();
    world.send("{}").error();
    world.ok(&["explain", "trail", "go"]);
    world
}

fn verify(world: &World) -> String {
    let ran = world.hcp(&["audit", "verify"]);
    let verdict = ran.stdout.strip_suffix('\n').unwrap().to_owned();
    assert_eq!(ran.status, Some(i32::from(verdict != "OK")), "{verdict}");
    verdict
}

fn alter(world: &World, sql: &str) {
    let connection = Connection::open(world.path("home/hcp.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn records_have_the_shape_of_the_contract() {
    let world = world();
    let records = world.records();
    let kinds: Vec<&str> = records
        .iter()
        .map(|record| record["kind"].as_str().unwrap())
        .collect();
    let expected = [
        "admin", "admin", "admin", "admin", "intent", "outcome", "denied", "invalid", "explain",
    ];
    assert_eq!(kinds, expected);
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], at + 1, "oldest first, without gaps");
        for field in [
            "kind",
            "pack_id",
            "verb_key",
            "step",
            "step_name",
            "error",
            "ok",
        ] {
            assert!(record.get(field).is_some(), "{field}");
        }
        assert_eq!(
            record["step"].is_number(),
            record["step_name"].is_string(),
            "{record}"
        );
    }
    let acts: Vec<&Value> = records[..4]
        .iter()
        .map(|record| &record["verb_key"])
        .collect();
    assert_eq!(acts, ["init", "pack add", "activate", "grant add"]);
    let (intent, outcome) = (&records[4], &records[5]);
    assert_eq!(outcome["intent_seq"], intent["seq"]);
    assert_eq!(intent["ok"], Value::Null);
    assert_eq!(outcome["ok"], true);
    assert_eq!(outcome["step_name"], "record");
    let metadata: Value = serde_json::from_str(outcome["metadata"].as_str().unwrap()).unwrap();
    assert_eq!(metadata["isolation"], "native-local");
    assert_eq!(metadata["exit_code"], 0);
    assert_eq!(verify(&world), "OK");
}

#[test]
fn list_and_show_pick_what_is_asked_for() {
    let world = world();
    let all = world.records();
    let newest = world.ok(&["audit", "list", "--limit", "2"]);
    assert_eq!(
        newest,
        json!(all[all.len() - 2..]),
        "the newest, oldest first"
    );
    assert_eq!(world.ok(&["audit", "list", "--limit", "0"]), json!([]));
    assert_eq!(world.ok(&["audit", "show", "7"]), all[6]);
    assert_eq!(
        world.ok(&["audit", "list", "--tenant", "nobody"]),
        json!([])
    );
    for words in [
        &["audit", "show", "99"][..],
        &["audit", "show", "x"],
        &["audit", "show", "1", "--tenant", "nobody"],
    ] {
        assert_eq!(world.hcp(words).status, Some(2), "{words:?}");
    }
    // `--json` stands before or after the words.
    for words in [
        &["--json", "audit", "list"][..],
        &["audit", "--json", "list"],
        &["audit", "list", "--json"],
    ] {
        assert_eq!(world.ok(words), json!(all), "{words:?}");
    }
}

#[test]
fn every_tampering_has_its_verdict() {
    let columns = [
        "recorded_at",
        "kind",
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
        "project_id",
    ];
    let mut cases: Vec<(String, &str)> = columns
        .iter()
        .map(|column| {
            (
                format!(
                    "UPDATE audit_record SET {column} = ifnull({column}, 0) || '1' WHERE seq = 6"
                ),
                "ALTERED 6",
            )
        })
        .collect();
    cases.extend([
        ("UPDATE audit_record SET ok = 0 WHERE seq = 6".to_owned(), "ALTERED 6"),
        ("UPDATE audit_record SET error = NULL WHERE seq = 7".to_owned(), "ALTERED 7"),
        ("DELETE FROM audit_record WHERE seq = 3".to_owned(), "GAP 3"),
        ("DELETE FROM audit_record WHERE seq = 1".to_owned(), "GAP 1"),
        ("DELETE FROM audit_record WHERE seq >= 5".to_owned(), "TRUNCATED"),
        ("DELETE FROM audit_record WHERE seq = 9".to_owned(), "TRUNCATED"),
        ("UPDATE audit_record SET seq = 99 WHERE seq = 9".to_owned(), "ALTERED 9"),
        ("UPDATE audit_record SET seq = 19 WHERE seq = 5; UPDATE audit_record SET seq = 5 WHERE seq = 6; UPDATE audit_record SET seq = 6 WHERE seq = 19".to_owned(), "ALTERED 5"),
    ]);
    for (sql, verdict) in cases {
        let world = world();
        assert_eq!(verify(&world), "OK");
        alter(&world, &sql);
        assert_eq!(verify(&world), verdict, "{sql}");
        // What was altered is still there to be looked at.
        let listed = world.hcp(&["audit", "list"]);
        let told = listed.status == Some(0) || listed.stderr.contains("record 6");
        assert!(told, "{sql}: {}", listed.stderr);
    }
}

#[test]
fn checkpoints_hold_the_trail_to_what_it_was() {
    let world = world();
    let note = world.hcp(&["audit", "checkpoint"]);
    assert_eq!(note.status, Some(0));
    assert_eq!(note.stdout.matches('\n').count(), 1, "the bare note");
    let file = world.write("note", &note.stdout, 0o600);
    let check = |world: &World| {
        let ran = world.hcp(&["audit", "verify", "--checkpoint", text(&file)]);
        (ran.stdout.trim_end().to_owned(), ran.status)
    };
    assert_eq!(check(&world), ("OK".to_owned(), Some(0)));
    // The home of that time, and what became of it.
    let copy = World::bare();
    let copied = Command::new("cp")
        .args(["-a"])
        .args([world.home(), copy.home()])
        .status();
    assert!(copied.unwrap().success());
    world.exec(&["trail", "go"]).result();
    assert_eq!(
        check(&world),
        ("OK".to_owned(), Some(0)),
        "it grew, and is the same"
    );
    let later = world.write("later", &world.hcp(&["audit", "checkpoint"]).stdout, 0o600);
    let against_later = copy.hcp(&["audit", "verify", "--checkpoint", text(&later)]);
    assert_eq!(against_later.stdout, "TRUNCATED\n");
    for _ in 0..3 {
        copy.exec(&["trail", "stop"]).error();
    }
    let forked = copy.hcp(&["audit", "verify", "--checkpoint", text(&later)]);
    assert_eq!(
        (forked.stdout.as_str(), forked.status),
        ("FORKED\n", Some(1))
    );
    let stranger = World::new();
    let other = stranger.hcp(&["audit", "verify", "--checkpoint", text(&file)]);
    assert_eq!(
        (other.stdout.as_str(), other.status),
        ("UNANCHORED\n", Some(1))
    );
    let broken = world.write("broken", "hcp-checkpoint-1 x", 0o600);
    for path in [text(&broken), "absent"] {
        let ran = world.hcp(&["audit", "verify", "--checkpoint", path]);
        assert_eq!(ran.status, Some(2), "{path}");
        assert_eq!(ran.stdout, "");
    }
}

const READERS: [&[&str]; 5] = [
    &["audit", "list"],
    &["audit", "show", "1"],
    &["audit", "verify"],
    &["audit", "checkpoint"],
    &["audit", "list", "--limit", "1"],
];

#[test]
fn looking_at_the_trail_writes_nothing() {
    let world = world();
    let before = world.snapshot();
    for words in READERS {
        world.hcp(words);
        assert!(world.snapshot() == before, "{words:?} changed the home");
    }
}

/// As a user who may only read, also where the last writer was killed and left its journal behind.
#[test]
fn the_trail_can_be_read_where_nothing_can_be_written() {
    let world = world();
    let read_only = "mount --bind \"$HCP_HOME\" \"$HCP_HOME\" && mount -o remount,bind,ro \"$HCP_HOME\" && exec \"$@\"";
    let run = |words: &[&str]| {
        Command::new("unshare")
            .args([
                "--mount",
                "--map-root-user",
                "sh",
                "-c",
                read_only,
                "sh",
                crate::world::HCP,
            ])
            .args(words)
            .env("HCP_HOME", world.home())
            .output()
            .unwrap()
    };
    if !run(&["--version"]).status.success() {
        eprintln!("skipped: this machine does not let a test mount anything");
        return;
    }
    for words in READERS {
        let output = run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_eq!(output.stdout, world.command(words).output().unwrap().stdout);
    }
    // A call cannot be recorded there, and so it is not made.
    let output = run(&["exec", "trail", "go"]);
    assert_eq!(output.status.code(), Some(70), "{output:?}");
    let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = envelope["error"].as_str().unwrap();
    assert!(
        error.starts_with("store: ") || error.starts_with("audit: "),
        "{error}"
    );
}

#[test]
fn tenants_have_trails_of_their_own() {
    let world = world();
    world.ok(&["tenant", "add", "acme"]);
    world.ok(&["grant", "add", "me", "trail:*", "--tenant", "acme"]);
    let acme = world.session(&["--tenant", "acme", "--pack", "trail"]);
    world.exec(&["--session", &acme, "trail", "go"]).result();
    world.exec(&["trail", "go"]).result();
    let of = |tenant: &str| {
        let records = world.ok(&["audit", "list", "--tenant", tenant]);
        let list = records.as_array().unwrap().clone();
        for (at, record) in list.iter().enumerate() {
            assert_eq!(record["seq"], at + 1);
            assert_eq!(record["tenant_id"], tenant);
        }
        list.iter()
            .map(|record| record["verb_key"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("acme"),
        ["tenant add", "grant add", "session open", "go", "go"]
    );
    assert_eq!(of("default").len(), 11);
    assert_eq!(world.records().len(), 16);
    let note = world
        .hcp(&["audit", "checkpoint", "--tenant", "acme"])
        .stdout;
    assert!(note.contains(" acme 5 "), "{note}");
    alter(
        &world,
        "DELETE FROM audit_record WHERE tenant_id = 'acme' AND seq = 4",
    );
    assert_eq!(verify(&world), "GAP 4");
    let own = world.hcp(&["audit", "verify", "--tenant", "default"]);
    assert_eq!(own.stdout, "OK\n");
    world.ok(&["tenant", "remove", "acme"]);
    assert_eq!(
        world
            .ok(&["audit", "list", "--tenant", "acme"])
            .as_array()
            .unwrap()
            .len(),
        5,
        "records stay"
    );
}

/// A call whose intent cannot be written is not made (design §2).
#[test]
fn without_an_intent_nothing_runs() {
    let world = World::new();
    let mark = world.path("mark");
    world.install(&Pack::of_tool(
        "trail",
        &format!("touch '{}'", mark.display()),
    ));
    world.configure(NATIVE);
    // A constraint that whatever comes from now on breaks; hcp lets no trigger run.
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    alter(
        &world,
        &format!("ALTER TABLE audit_record ADD COLUMN no_more CHECK (recorded_at <= {now})"),
    );
    for words in [&["trail", "go"][..], &["trail", "stop"], &["ghost", "go"]] {
        let ran = world.exec(words);
        assert!(
            ran.error().starts_with("audit: "),
            "{words:?}: {}",
            ran.error()
        );
        assert_eq!(ran.status, Some(70), "{words:?}");
    }
    assert!(!mark.exists());
    for words in [
        &["grant", "add", "me", "more:x"][..],
        &["tenant", "add", "acme"],
    ] {
        let ran = world.hcp(words);
        assert_eq!(ran.status, Some(70), "{words:?}: {}", ran.stderr);
    }
    assert!(
        !world.ok(&["grant", "list"]).to_string().contains("more:x"),
        "no act without its record"
    );
}
