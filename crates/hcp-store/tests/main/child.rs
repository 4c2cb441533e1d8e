//! Other processes: this very test program, started again in a role.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::{env, fs, io, thread, time::Duration};

use hcp_spec::audit::AuditKind;
use hcp_store::Store;

use crate::home::{Home, call, event};

const ROLE: &str = "HCP_STORE_TEST_ROLE";
const FOLDER: &str = "HCP_STORE_TEST_FOLDER";

/// Starts `role` on the installation of `home`, its stdout piped.
pub fn start(home: &Home, role: &str) -> Child {
    dress(Command::new(env::current_exe().unwrap()), home, role)
        .spawn()
        .unwrap()
}

/// Starts `role` after a shell did `preparation`: a limit, a umask.
pub fn start_after(home: &Home, preparation: &str, role: &str) -> Child {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("{preparation}; exec \"$0\" \"$@\""));
    shell.arg(env::current_exe().unwrap());
    dress(shell, home, role).spawn().unwrap()
}

/// Starts `role` as a user to whom permission bits mean something.
pub fn start_without_privileges(home: &Home, role: &str) -> Child {
    // Where this program lies may be closed to that user.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = place.path().join("test-program");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new(program);
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.uid(65534).gid(65534);
    }
    dress(command, home, role).spawn().unwrap()
}

fn dress(mut command: Command, home: &Home, role: &str) -> Command {
    command
        .args([
            "--exact",
            "child::role",
            "--ignored",
            "--nocapture",
            "--quiet",
        ])
        .env(ROLE, role)
        .env(FOLDER, home.folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Says something to the parent; the marker tells it from what the test harness says.
fn say(word: impl std::fmt::Display) {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "\n> {word}").unwrap();
    stdout.flush().unwrap();
}

/// What a child said, from its whole stdout.
pub fn said(stdout: &str) -> Vec<String> {
    let said = stdout.lines().filter_map(|line| line.strip_prefix("> "));
    said.map(str::to_owned).collect()
}

#[test]
#[ignore = "not a test: the role that another test starts this program in"]
fn role() {
    let (Ok(role), Some(folder)) = (env::var(ROLE), env::var_os(FOLDER)) else {
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let (database, locks) = (folder.join("hcp.db"), folder.join("locks"));
    let make = if role == "create" {
        Store::create
    } else {
        Store::open
    };
    let mut store = match make(&database, &locks) {
        Ok(store) => store,
        Err(error) => {
            say(format!("refused: {error}"));
            return;
        }
    };
    match role.as_str() {
        // Announces a call and then runs forever.
        "hold" => {
            let intent = store.begin(&event(AuditKind::Intent)).unwrap();
            say(intent.seq);
            loop {
                thread::sleep(Duration::from_hours(1));
            }
        }
        // Writes a hundred records.
        "hundred" => {
            for number in 0..100 {
                store.record(&call(number)).unwrap();
            }
        }
        // Writes calls with intents until it cannot, telling the number of each once it is durable.
        "write" => loop {
            let written = store.begin(&event(AuditKind::Intent)).and_then(|intent| {
                say(intent.seq);
                store.finish(intent, &call(0))
            });
            match written {
                Ok(seq) => say(seq),
                Err(error) => {
                    say(format!("refused: {error}"));
                    return;
                }
            }
        },
        // Closes what others left open.
        "create" | "recover" => say(store.recover().unwrap()),
        other => panic!("no such role: {other}"),
    }
}
