//! The ledger as its users meet it: the built program, real books in real folders, several
//! processes at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, missing_docs)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct Books {
    folder: TempDir,
}

impl Books {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn command(&self, words: &str) -> Command {
        let mut command = bare(words);
        command
            .arg("--json")
            .env("HCP_CALL_STATE", self.folder.path());
        command
    }

    /// What the program answered, as JSON that is one line and nothing else.
    fn ask(&self, words: &str) -> Value {
        let output = self.command(words).output().unwrap();
        assert_eq!(stderr(&output), "", "{words}");
        assert_eq!(output.status.code(), Some(0), "{words}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "{words}");
        serde_json::from_str(&text).unwrap()
    }

    /// What the program refused, and with which exit status.
    fn refused(&self, words: &str) -> (Option<i32>, String) {
        let output = self.command(words).output().unwrap();
        assert_eq!(output.stdout, b"", "{words}");
        (output.status.code(), stderr(&output))
    }

    fn balance(&self, account: &str) -> String {
        self.ask(&format!("balance --account={account}"))["balance"].to_string()
    }
}

fn bare(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ledger"));
    command
        .args(words.split_whitespace())
        .env_remove("HCP_CALL_STATE")
        .stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn new_books_open_with_a_few_empty_accounts() {
    let books = Books::new();
    let listed = books.ask("account list");
    let seen: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["account"], one["balance"]))
        .collect();
    assert_eq!(
        seen,
        [
            "\"cash\" 0.00",
            "\"income\" 0.00",
            "\"rent\" 0.00",
            "\"travel\" 0.00"
        ]
    );
}

#[test]
fn what_one_account_gives_another_receives() {
    let books = Books::new();
    let done = books.ask("transfer --from=cash --to=rent --amount=10 --memo=March");
    assert_eq!(done["transfer"], 1);
    assert_eq!(done["memo"], "March");
    for (key, text) in [
        ("amount", "10.00"),
        ("from_balance", "-10.00"),
        ("to_balance", "10.00"),
    ] {
        assert_eq!(done[key].to_string(), text, "{key}");
    }
    books.ask("transfer --from rent --to cash --amount 0.1");
    assert_eq!(books.balance("cash"), "-9.90");
    assert_eq!(books.balance("rent"), "9.90");
    let all = books.ask("balance");
    assert_eq!(all[0]["account"], "cash");
    assert_eq!(all[0]["balance"].to_string(), "-9.90");
}

#[test]
fn a_statement_runs_from_the_opening_to_the_closing_balance() {
    let books = Books::new();
    books.ask("transfer --from=income --to=cash --amount=100");
    books.ask("transfer --from=cash --to=rent --amount=60.5");
    books.ask("transfer --from=travel --to=rent --amount=1");
    let statement = books.ask("statement --account=cash");
    let entries = statement["entries"].as_array().unwrap();
    let seen: Vec<_> = entries
        .iter()
        .map(|entry| {
            let other = entry["other"].as_str().unwrap();
            format!("{other} {} {}", entry["amount"], entry["balance"])
        })
        .collect();
    assert_eq!(seen, ["income 100.00 100.00", "rent -60.50 39.50"]);
    assert_eq!(statement["opening"].to_string(), "0.00");
    assert_eq!(statement["closing"].to_string(), "39.50");

    let before = books.ask("statement --account=cash --to-date=2000-01-01");
    assert_eq!(before["entries"], serde_json::json!([]));
    assert_eq!(before["closing"].to_string(), "0.00");
    let after = books.ask("statement --account=cash --from-date=2200-01-01");
    assert_eq!(after["entries"], serde_json::json!([]));
    assert_eq!(after["opening"].to_string(), "39.50");
}

#[test]
fn the_books_refuse_with_one_and_change_nothing() {
    let books = Books::new();
    books.ask("account add purse --no-overdraft");
    books.ask("account add brim");
    books.ask("account add old");
    books.ask("close --account=old");
    books.ask("transfer --from=cash --to=purse --amount=5");
    books.ask("transfer --from=cash --to=brim --amount=92233720368547700");
    let cases = [
        (
            "transfer --from=nobody --to=rent --amount=1",
            "error: unknown account `nobody`\n",
        ),
        (
            "transfer --from=rent --to=nobody --amount=1",
            "error: unknown account `nobody`\n",
        ),
        (
            "transfer --from=rent --to=rent --amount=1",
            "error: account `rent` cannot be both sides of a transfer\n",
        ),
        (
            "transfer --from=purse --to=rent --amount=5.01",
            "error: account `purse` holds 5.00, less than 5.01\n",
        ),
        (
            "transfer --from=rent --to=brim --amount=100",
            "error: account `brim` cannot hold that much\n",
        ),
        (
            "transfer --from=cash --to=rent --amount=100",
            "error: account `cash` cannot hold that much\n",
        ),
        (
            "transfer --from=rent --to=old --amount=1",
            "error: account `old` is closed\n",
        ),
        ("account add cash", "error: account `cash` exists already\n"),
        ("account add old", "error: account `old` exists already\n"),
        (
            "balance --account=nobody",
            "error: unknown account `nobody`\n",
        ),
        (
            "statement --account=nobody",
            "error: unknown account `nobody`\n",
        ),
        (
            "close --account=purse",
            "error: account `purse` still holds 5.00\n",
        ),
        ("close --account=old", "error: account `old` is closed\n"),
    ];
    let before = books.ask("balance");
    for (words, expected) in cases {
        let (code, text) = books.refused(words);
        assert!(text.starts_with(expected), "{words}: {text}");
        assert_eq!(code, Some(1), "{words}");
    }
    assert_eq!(books.ask("balance"), before);
}

#[test]
fn wrong_usage_is_two_and_names_the_fault() {
    let books = Books::new();
    let cases = [
        ("transfer --from=cash --to=rent", "--amount"),
        (
            "transfer --from=cash --to=rent --amount=1.005",
            "more than two decimals",
        ),
        ("transfer --from=cash --to=rent --amount=0", "more than 0"),
        (
            "transfer --from=cash --to=rent --amount=-1",
            "not a decimal amount",
        ),
        (
            "transfer --from=cash --to=rent --amount=1e+21",
            "not a decimal amount",
        ),
        ("account add Cash", "`Cash` is not an account"),
        (
            "statement --account=cash --from-date=2024-02-30",
            "not a date",
        ),
        ("settle", "unrecognized subcommand"),
    ];
    for (words, expected) in cases {
        let (code, text) = books.refused(words);
        assert!(text.contains(expected), "{words}: {text}");
        assert_eq!(code, Some(2), "{words}");
    }
}

#[test]
fn books_live_where_they_are_told_to_and_nowhere_else() {
    let nowhere = bare("balance").env("HCP_CALL_STATE", "").output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert_eq!(
        stderr(&nowhere),
        "error: no state folder\nhint: give `--state DIR`, or set `HCP_CALL_STATE`\n"
    );

    let books = Books::new();
    let other = TempDir::new().unwrap();
    let state = other.path().to_str().unwrap();
    books.ask(&format!("account add here --state={state}"));
    assert!(other.path().join("ledger.db").is_file());
    assert!(!books.folder.path().join("ledger.db").exists());

    let missing = other.path().join("missing");
    let (code, text) = books.refused(&format!("balance --state={}", missing.display()));
    assert!(text.contains("is not a folder"), "{text}");
    assert_eq!(code, Some(2));
    assert!(!missing.exists());
}

#[test]
fn people_get_a_table() {
    let books = Books::new();
    books.ask("transfer --from=cash --to=rent --amount=1234.5");
    let output = bare("balance")
        .arg("--state")
        .arg(books.folder.path())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "account   balance\ncash     -1234.50\nincome       0.00\nrent      1234.50\ntravel       0.00\n"
    );
}

#[test]
fn books_of_another_format_or_of_another_hand_are_not_used() {
    let edit = |folder: &Path, text: &str| {
        let database = rusqlite::Connection::open(folder.join("ledger.db")).unwrap();
        database.execute_batch(text).unwrap();
    };
    for (text, expected) in [
        ("PRAGMA user_version = 9", "error: the books have format 9"),
        (
            "UPDATE account SET balance = 1 WHERE name = 'cash'",
            "error: the books are out of balance",
        ),
    ] {
        let books = Books::new();
        books.ask("balance");
        edit(books.folder.path(), text);
        let (code, said) = books.refused("balance");
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(code, Some(70), "{said}");
    }
}

/// Processes that start on a folder without books, all at once: each transfer is there once, and an
/// account that may not be overdrawn gives exactly what it holds.
#[test]
fn many_processes_at_once_keep_the_books() {
    let books = Books::new();
    let run = |amount: &str, count: usize, from: &str, to: &str| -> Vec<Output> {
        let words = format!("transfer --from={from} --to={to} --amount={amount}");
        let children: Vec<_> = (0..count)
            .map(|_| {
                let mut command = books.command(&words);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        children
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .collect()
    };
    let begun = run("0.25", 12, "cash", "rent");
    assert!(
        begun.iter().all(|output| output.status.success()),
        "{begun:?}"
    );
    assert_eq!(books.balance("rent"), "3.00");

    books.ask("account add purse --no-overdraft");
    books.ask("transfer --from=cash --to=purse --amount=5");
    let drawn = run("1", 12, "purse", "travel");
    let done = drawn
        .iter()
        .filter(|output| output.status.success())
        .count();
    let refused = drawn
        .iter()
        .filter(|output| output.status.code() == Some(1))
        .count();
    assert_eq!((done, refused), (5, 7), "{drawn:?}");
    assert_eq!(books.balance("purse"), "0.00");
    assert_eq!(books.balance("travel"), "5.00");
    let statement = books.ask("statement --account=rent");
    assert_eq!(statement["entries"].as_array().unwrap().len(), 12);
}

/// The pack says how the program is called; what it says has to be so.
#[test]
fn the_examples_of_the_pack_are_calls_that_work() {
    let manifest = include_str!("../pack/hcp.toml")
        .parse::<toml::Table>()
        .unwrap();
    let books = Books::new();
    for (verb, command) in manifest["commands"].as_table().unwrap() {
        let examples = command["examples"].as_table().unwrap();
        assert!(!examples.is_empty(), "{verb}");
        for (name, example) in examples {
            let words = example["argv"].as_array().unwrap().iter();
            let words = words.map(|word| word.as_str().unwrap());
            let output = bare("")
                .args(words)
                .env("HCP_CALL_STATE", books.folder.path())
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{verb} {name}: {output:?}");
            serde_json::from_slice::<Value>(&output.stdout).unwrap();
        }
    }
}
