//! The bin of every pack of the corpus: does what its arguments say, after it has written down how
//! it was started.
//!
//! In a pack it is a script of two lines: `#!` with the kit's own path and the word `probe`, and a
//! line of JSON that names the log. The kernel then passes arguments on untouched, no shell between,
//! and the log needs no variable that the runtime under test would have to hand through.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// One start, as the probe saw it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spawn {
    /// Its arguments, without `argv[0]`.
    pub argv: Vec<String>,
    /// Its whole environment.
    pub environment: IndexMap<String, String>,
    /// Its working directory.
    pub working_directory: String,
    /// What [`MARKER`] in the working directory holds, when it is there.
    pub marker: Option<String>,
}

/// A file in the root of every pack, which tells that root from every other folder.
pub const MARKER: &str = "pack-root.txt";

/// The second line of the script.
#[derive(Serialize, Deserialize)]
struct Baked {
    log: PathBuf,
}

/// The text of a probe that writes to `log`; `kit` is the path of this very program.
pub fn script(kit: &Path, log: &Path) -> String {
    format!("#!{} probe\n{}\n", kit.display(), json!({ "log": log }))
}

/// Runs as the probe: `arguments` begin with the path of the script. Returns the exit status.
///
/// | argument | effect |
/// |---|---|
/// | `out=TEXT` | prints this, and nothing else, to stdout |
/// | `hex=HEX` | prints these bytes to stdout |
/// | `err=TEXT` | prints this to stderr |
/// | `exit=N` | ends with this status |
///
/// Without `out=` and `hex=` it prints its arguments as `{"argv":[…]}`.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(script) = arguments.next() else {
        return 2;
    };
    let argv: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if log_start(Path::new(&script), &argv).is_err() {
        return 3;
    }
    act(&argv, &mut io::stdout(), &mut io::stderr()).unwrap_or(4)
}

fn log_start(script: &Path, argv: &[String]) -> io::Result<()> {
    let baked: Baked = baked(script)?;
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let spawn = Spawn {
        argv: argv.to_vec(),
        environment: std::env::vars_os()
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
        working_directory: text(std::env::current_dir()?.into()),
        marker: std::fs::read_to_string(MARKER).ok(),
    };
    append(&baked.log, &serde_json::to_string(&spawn)?)
}

fn act(argv: &[String], stdout: &mut impl Write, stderr: &mut impl Write) -> io::Result<i32> {
    let mut printed = false;
    let mut status = 0;
    for word in argv {
        if let Some(text) = word.strip_prefix("out=") {
            stdout.write_all(text.as_bytes())?;
            printed = true;
        } else if let Some(digits) = word.strip_prefix("hex=") {
            stdout.write_all(&bytes(digits))?;
            printed = true;
        } else if let Some(text) = word.strip_prefix("err=") {
            stderr.write_all(text.as_bytes())?;
        } else if let Some(number) = word.strip_prefix("exit=") {
            status = number.parse().unwrap_or(5);
        }
    }
    if !printed {
        writeln!(stdout, "{}", json!({ "argv": argv }))?;
    }
    stdout.flush()?;
    Ok(status)
}

fn bytes(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// The second line of a script of the kit, as JSON.
pub(crate) fn baked<T: for<'de> Deserialize<'de>>(script: &Path) -> io::Result<T> {
    let text = std::fs::read_to_string(script)?;
    let line = text.lines().nth(1).unwrap_or_default();
    Ok(serde_json::from_str(line)?)
}

/// Adds one line in one write, so that two writers never mix theirs.
pub(crate) fn append(log: &Path, line: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().create(true).append(true).open(log)?;
    file.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::act;

    #[test]
    fn arguments_say_what_it_does() {
        let cases: [(&[&str], &[u8], &str, i32); 4] = [
            (
                &["list", "--json"],
                b"{\"argv\":[\"list\",\"--json\"]}\n",
                "",
                0,
            ),
            (&["out=", "--json"], b"", "", 0),
            (&["out=a\n", "err=b", "exit=3"], b"a\n", "b", 3),
            (&["hex=00ff"], &[0, 255], "", 0),
        ];
        for (argv, out, err, status) in cases {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            assert_eq!(act(&argv, &mut stdout, &mut stderr).unwrap(), status);
            assert_eq!(
                (stdout.as_slice(), stderr.as_slice()),
                (out, err.as_bytes())
            );
        }
    }
}
