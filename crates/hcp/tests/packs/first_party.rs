//! The packs that come with hcp: tidy, tested by their own examples, and deaf to what callers try.
//!
//! In every attack the caller may fill in whatever an argument takes. What lies outside of the
//! operator's root must not show up in the answer, and nothing may be run or written.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::place::{FIRST_PARTY, Place, copy, text};

fn packs() -> Vec<(String, PathBuf)> {
    let mut packs: Vec<_> = fs::read_dir(FIRST_PARTY)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("hcp.toml").exists())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .collect();
    packs.sort();
    packs
}

#[test]
fn every_pack_is_tidy_and_passes_its_examples() {
    let place = Place::bare();
    let packs = packs();
    assert!(packs.len() >= 3, "{packs:?}");
    for (id, folder) in packs {
        let folder = text(&folder);
        let lint = place.ok(&["pack", "lint", folder]);
        assert_eq!(lint["findings"], json!([]), "{id}");
        assert_eq!(lint["pack_id"], *id, "the folder has the name of the pack");
        place.ok(&["pack", "fmt", "--check", folder]);
        let report = place.ok(&["pack", "test", folder]);
        assert_eq!(report["failed"], 0, "{report}");
        assert_eq!(report["skipped"], 0, "{report}");
        assert!(report["passed"].as_u64().unwrap() >= 3, "{report}");
    }
}

const SECRET: &str = "TOP-SECRET";

/// The pack installed, with one root that holds its data, and a secret beside the root.
fn besieged(id: &str, bins: &[&str]) -> Place {
    let place = Place::installed();
    let pack = Path::new(FIRST_PARTY).join(id);
    copy(&pack.join("data"), &place.path("open"));
    place.write(
        "outside/secret.json",
        &format!("{{\"a\":\"{SECRET}\"}}"),
        0o644,
    );
    place.write(
        "outside/secret.jq",
        &format!("{{\"a\":\"{SECRET}\"}};"),
        0o644,
    );
    let config = format!(
        "[sandbox]\nmode = \"native-local\"\nread = [{:?}]\n",
        text(&place.path("open"))
    );
    place.write("home/config.toml", &config, 0o600);
    let mut words = vec!["pack", "add", text(&pack)];
    for bin in bins {
        words.extend(["--allow-bin", bin]);
    }
    place.ok(&words);
    place.ok(&["activate", id]);
    place.ok(&["grant", "add", "me", &format!("{id}:read")]);
    place
}

fn call(place: &Place, id: &str, verb: &str, args: &Value) -> Value {
    let envelope = json!({ "pack_id": id, "verb_key": verb, "args": args });
    place.write("envelope", &envelope.to_string(), 0o600);
    place.hcp(&["exec", "--envelope", "envelope"]).json()
}

/// Makes each call; it must be refused with the text that is expected, or answer without the secret.
fn attack(place: &Place, id: &str, calls: &[(&str, Value, &str)]) {
    let before = snapshot(place);
    for (verb, args, expected) in calls {
        let answer = call(place, id, verb, args);
        // Quotes as they are, so that an expectation reads like the error.
        let shown = answer.to_string().replace("\\\"", "'");
        assert!(!shown.contains(SECRET), "{args}: {shown}");
        assert!(shown.contains(expected), "{args}: {shown}");
        assert!(!expected.is_empty(), "{args}: an expectation");
        assert_eq!(snapshot(place), before, "{args}: something was written");
    }
}

/// Everything beside the home.
fn snapshot(place: &Place) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for folder in ["open", "outside"] {
        for entry in fs::read_dir(place.path(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn jq_reads_the_one_file_and_no_other() {
    let place = besieged("jq", &["jq"]);
    let file = place.path("open/people.json");
    let file = text(&file);
    let outside = place.path("outside");
    let outside = text(&outside);
    let filter = |filter: &str| json!({ "file": file, "filter": filter });
    let climbing = format!("{}/../outside/secret.json", text(&place.path("open")));
    let answer = call(&place, "jq", "filter", &filter(".[].born"));
    assert_eq!(answer["result"], json!([1815, 1906]), "{answer}");
    let is_outside = "args: file is outside what the operator opened";
    attack(
        &place,
        "jq",
        &[
            (
                "filter",
                filter(&format!(
                    "import \"secret\" as $s {{search:\"{outside}\"}}; $s"
                )),
                "syntax error",
            ),
            (
                "filter",
                filter(&format!(
                    "1]; import \"secret\" as $s {{search:\"{outside}\"}}; [$s"
                )),
                "syntax error",
            ),
            (
                "filter",
                filter(&format!("include \"secret\" {{search:\"{outside}\"}}; .")),
                "syntax error",
            ),
            (
                "filter",
                filter(&format!("\n\nimport \"{outside}/secret\" as $s; $s")),
                "syntax error",
            ),
            (
                "filter",
                filter("\"secret\" | modulemeta"),
                "modulemeta is switched off",
            ),
            (
                "filter",
                filter("1] | [input, input_filename"),
                "\"ok\":false",
            ),
            ("filter", filter("$ENV | keys"), "HCP_CALL_PACK"),
            ("filter", filter("--slurpfile"), "\"ok\":false"),
            (
                "filter",
                json!({ "file": file, "filter": ".", "params": { "x": "$ENV" } }),
                "\"ok\":true",
            ),
            (
                "filter",
                json!({ "file": file, "filter": ".", "rawfile": "x" }),
                "args: unknown argument",
            ),
            (
                "filter",
                json!({ "file": format!("{outside}/secret.json"), "filter": "." }),
                is_outside,
            ),
            (
                "filter",
                json!({ "file": climbing, "filter": "." }),
                is_outside,
            ),
            (
                "filter",
                json!({ "file": "people.json", "filter": "." }),
                is_outside,
            ),
            (
                "filter",
                json!({ "file": "--rawfile", "filter": "." }),
                is_outside,
            ),
            (
                "filter",
                json!({ "file": [file, format!("{outside}/secret.json")], "filter": "." }),
                "args: 'file' must be a string, for it names a resource",
            ),
            (
                "keys",
                json!({ "file": format!("{outside}/secret.json") }),
                is_outside,
            ),
        ],
    );
}

#[test]
fn a_link_out_of_the_root_leads_nowhere() {
    let place = besieged("jq", &["jq"]);
    std::os::unix::fs::symlink(place.path("outside/secret.json"), place.path("open/link")).unwrap();
    let file = place.path("open/link");
    let answer = call(
        &place,
        "jq",
        "filter",
        &json!({ "file": text(&file), "filter": "." }),
    );
    assert_eq!(
        answer["error"],
        "args: file is outside what the operator opened"
    );
}

const PATTERN: &str = "args: 'sql' does not match the pattern";
const FORBIDDEN: &str = "args: 'sql' does not fit its schema";

/// What a caller may try as SQL, `@` for the folder that is none of its business, and what comes of it.
const SQL: [(&str, &str); 16] = [
    (".shell touch @/ran", PATTERN),
    (" .read @/secret.json", PATTERN),
    ("SELECT 1\n.shell touch @/ran", "syntax error"),
    ("ATTACH '@/new.db' AS o", PATTERN),
    ("SELECT 1; ATTACH '@/new.db' AS o", FORBIDDEN),
    (
        "SELECT load_extension('@/x')",
        "cannot use the load_extension() function",
    ),
    (
        "SELECT readfile('@/secret.json')",
        "cannot use the readfile() function",
    ),
    (
        "SELECT writefile('@/ran', 'x')",
        "cannot use the writefile() function",
    ),
    ("SELECT edit('x', 'id')", "cannot use the edit() function"),
    ("SELECT data FROM fsdir('@')", FORBIDDEN),
    ("SELECT data FROM \"FsDir\"('@')", FORBIDDEN),
    ("SELECT * FROM zipfile('@/secret.json')", FORBIDDEN),
    ("WITH a AS (SELECT 1) DELETE FROM book", "readonly"),
    (
        "WITH a AS (SELECT 1) INSERT INTO book SELECT 'a', 'b'",
        "readonly",
    ),
    ("PRAGMA writable_schema = 1", PATTERN),
    ("-cmd", PATTERN),
];

#[test]
fn sqlite_answers_selects_and_nothing_else() {
    let place = besieged("sqlite3", &[]);
    let file = place.path("open/books.db");
    let outside = place.path("outside");
    let call = |(sql, expected): (&str, _)| {
        let sql = sql.replace('@', text(&outside));
        (
            "query",
            json!({ "database": text(&file), "sql": sql }),
            expected,
        )
    };
    attack(&place, "sqlite3", &SQL.map(call));
}

#[test]
fn sqlite_binds_values_and_opens_the_one_database() {
    let place = besieged("sqlite3", &[]);
    let file = place.path("open/books.db");
    let file = text(&file);
    let bound = |name: &str| {
        let query = "SELECT title FROM book WHERE author = :params ->> 'name'";
        json!({ "database": file, "sql": query, "params": { "name": name } })
    };
    let answer = call(&place, "sqlite3", "query", &bound("O'Brien"));
    assert_eq!(
        answer["result"],
        json!([{ "title": "At Swim-Two-Birds" }]),
        "{answer}"
    );
    let values = [
        "x' OR '1'='1",
        "'); DELETE FROM book; --",
        "$(touch ran)`touch ran`\n.shell id",
    ];
    let values = values.map(|value| ("query", bound(value), "\"result\":[]"));
    attack(&place, "sqlite3", &values);

    let outside = format!("{}/new.db", text(&place.path("outside")));
    let is_outside = "args: database is outside what the operator opened";
    let paths = [
        (outside.as_str(), is_outside),
        ("-init", is_outside),
        (":memory:", is_outside),
        (&format!("file:{file}"), is_outside),
        (&format!("{file}x"), "unable to open database"),
    ];
    for verb in ["query", "schema"] {
        attack(
            &place,
            "sqlite3",
            &paths.map(|(path, expected)| {
                let mut args = json!({ "database": path });
                if verb == "query" {
                    args["sql"] = "SELECT 1".into();
                }
                (verb, args, expected)
            }),
        );
    }
}

#[test]
fn findmnt_takes_no_flag_from_a_caller() {
    let place = Place::installed();
    place.write("open/file", "", 0o644);
    fs::create_dir(place.path("outside")).unwrap();
    let config = format!(
        "[sandbox]\nmode = \"native-local\"\nread = [{:?}]\n",
        text(&place.path("open"))
    );
    place.write("home/config.toml", &config, 0o600);
    place.ok(&[
        "pack",
        "add",
        text(&Path::new(FIRST_PARTY).join("host")),
        "--allow-bin",
        "findmnt",
    ]);
    place.ok(&["activate", "host"]);
    place.ok(&["grant", "add", "me", "host:read"]);
    let pattern = "args: 'types' does not match the pattern";
    let is_outside = "args: path is outside what the operator opened";
    attack(
        &place,
        "host",
        &[
            ("mounts", json!({ "types": "--poll" }), pattern),
            (
                "mounts",
                json!({ "types": "proc --tab-file=/etc/passwd" }),
                pattern,
            ),
            (
                "mounts",
                json!({ "types": ["proc", "--poll"] }),
                "args: 'types' must be a string",
            ),
            (
                "mounts",
                json!({ "tab-file": "/etc/passwd" }),
                "args: unknown argument",
            ),
            ("mount", json!({ "path": "/etc/shadow" }), is_outside),
            ("mount", json!({ "path": "--poll" }), is_outside),
            (
                "mount",
                json!({ "path": text(&place.path("open/file")) }),
                "filesystems",
            ),
        ],
    );
}
