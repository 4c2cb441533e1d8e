//! A program that tries to get out of whatever it is run in: one attack for each run.
//!
//! `hcp-attacker CASE KEY=VALUE…` prints `WORKED` and what it got, or `HELD` and why not. It only
//! judges what it can see from inside; the test that runs it looks at the canaries from outside. Run
//! outside of a jail, every attack works: that is what makes `HELD` mean something.
#![allow(
    unsafe_code,
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::needless_pass_by_value,
    clippy::undocumented_unsafe_blocks,
    reason = "an attacker does as it likes"
)]

mod execution;
mod files;
mod inheritance;
mod kernel;
mod network;
mod processes;
mod resources;

use std::collections::HashMap;
use std::io::Error;
use std::process::exit;

/// What the attacker was told about its surroundings.
pub(crate) struct Hints(HashMap<String, String>);

impl Hints {
    pub(crate) fn get(&self, key: &str) -> &str {
        self.0.get(key).unwrap_or_else(|| panic!("no hint {key}"))
    }

    pub(crate) fn number(&self, key: &str) -> i32 {
        self.get(key).parse().unwrap()
    }
}

/// What it got, or what held it back.
pub(crate) type Outcome = Result<String, String>;

pub(crate) type Case = (&'static str, fn(&Hints) -> Outcome);

/// The answer of the C library or of a system call: negative means that it was refused.
pub(crate) fn called(what: &str, result: i64) -> Outcome {
    if result < 0 {
        Err(format!("{what}: {}", Error::last_os_error()))
    } else {
        Ok(format!("{what} = {result}"))
    }
}

/// For calls that fail outside as well, for want of sense, but later than a jail would refuse them.
pub(crate) fn got_past(what: &str, result: i64, refusals: &[i32]) -> Outcome {
    let error = Error::last_os_error();
    match error.raw_os_error() {
        Some(number) if result < 0 && refusals.contains(&number) => Err(format!("{what}: {error}")),
        _ => Ok(what.to_owned()),
    }
}

pub(crate) fn told<T: std::fmt::Debug>(result: std::io::Result<T>) -> Outcome {
    result
        .map(|value| format!("{value:?}"))
        .map_err(|error| error.to_string())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let hints = arguments
        .filter_map(|hint| {
            hint.split_once('=')
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
        })
        .collect();
    let cases: Vec<Case> = [
        files::CASES,
        processes::CASES,
        network::CASES,
        kernel::CASES,
        execution::CASES,
        inheritance::CASES,
        resources::CASES,
    ]
    .concat();
    if name == "list" {
        for (name, _) in cases {
            println!("{name}");
        }
        return;
    }
    let (_, attack) = cases
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a case");
    match attack(&Hints(hints)) {
        Ok(loot) => println!("WORKED {loot}"),
        Err(reason) => {
            println!("HELD {reason}");
            exit(1);
        }
    }
}
