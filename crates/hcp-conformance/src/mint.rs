//! The credential helper of the corpus: answers with made-up credentials, or fails, and writes down
//! that it was asked. Like the [`probe`](crate::probe) it is a script of two lines.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::corpus::Helper;
use crate::probe::{append, baked};

/// What every credential of the helper begins with.
pub const MINTED: &str = "minted-by-the-kit";

/// How long a credential lives, in seconds.
const LIFE_SECONDS: i64 = 60;

#[derive(Serialize, Deserialize)]
struct Baked {
    log: PathBuf,
    mode: Helper,
    env: Vec<String>,
}

/// The text of a helper that mints the variables `env` and writes to `log`.
pub fn script(kit: &Path, log: &Path, mode: Helper, env: &[String]) -> String {
    let baked = Baked {
        log: log.to_owned(),
        mode,
        env: env.to_vec(),
    };
    format!("#!{} mint\n{}\n", kit.display(), json!(baked))
}

/// Runs as the helper: `arguments` begin with the path of the script. Returns the exit status.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(script) = arguments.next() else {
        return 2;
    };
    answer(Path::new(&script)).unwrap_or(3)
}

fn answer(script: &Path) -> io::Result<i32> {
    let baked: Baked = baked(script)?;
    let mut asked = String::new();
    io::stdin().lock().read_to_string(&mut asked)?;
    let asked: Value = serde_json::from_str(&asked).unwrap_or_default();
    if asked.get("revoke").is_some() {
        return Ok(0);
    }
    append(&baked.log, &json!({ "mode": baked.mode }).to_string())?;
    if baked.mode == Helper::Fails {
        writeln!(io::stderr(), "the kit's helper fails as it was told")?;
        return Ok(1);
    }
    let env: IndexMap<&str, String> = baked
        .env
        .iter()
        .map(|name| (name.as_str(), format!("{MINTED}-{name}")))
        .collect();
    let end = jiff::Timestamp::now().as_second() + LIFE_SECONDS;
    let end = jiff::Timestamp::from_second(end).map_err(io::Error::other)?;
    let reply = json!({ "version": 1, "env": env, "expires_at": end.to_string() });
    writeln!(io::stdout(), "{reply}")?;
    Ok(0)
}
