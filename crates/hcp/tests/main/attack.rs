//! What an attack on the command line found: each test says what the contract wants, and fails until
//! that is so.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::pack::Pack;
use crate::world::{NATIVE, Ran, World, envelope, text};

/// A child that is killed when the test is over, however it ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Killed {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < time {
            if self.0.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

/// Design §4: a shell, interpreter or launcher whose code slot is a placeholder is a pass-through.
#[test]
fn no_shape_of_a_pass_through_is_added() {
    let closed = |word: &str| {
        format!(
            "args.f = {{ required = true, dash = true, schema = {{ enum = [\"{word}\"] }} }}\n\
             args.x = {{}}"
        )
    };
    let cases = [
        ("sh", r#"["sh", "{{f}}", "{{x}}"]"#, closed("-c")),
        ("python3", r#"["python3", "{{f}}", "{{x}}"]"#, closed("-c")),
        (
            "find",
            r#"["find", ".", "{{f}}", "{{x}}", ";"]"#,
            closed("-exec"),
        ),
        (
            "git",
            r#"["git", "{{f}}", "{{x}}", "status"]"#,
            closed("-c"),
        ),
        (
            "find",
            r#"["find", "--", ".", "-exec", "{{x}}", ";"]"#,
            String::new(),
        ),
        ("sed", r#"["sed", "--expr={{x}}", "f"]"#, String::new()),
        ("env", r#"["env", "--split={{x}}"]"#, String::new()),
        (
            "tar",
            r#"["tar", "--to-comm={{x}}", "-xf", "a"]"#,
            String::new(),
        ),
        ("git", r#"["git", "rebase", "--exec={{x}}"]"#, String::new()),
        (
            "git",
            r#"["git", "grep", "--open-files-in-pager={{x}}", "a"]"#,
            String::new(),
        ),
        ("git", r#"["git", "bisect", "run", "{{x}}"]"#, String::new()),
        // Where `y` is absent, the first token after the bin is whatever `x` says.
        (
            "git",
            r#"["git", "--git-dir={{y}}", "{{x}}"]"#,
            String::new(),
        ),
        (
            "docker",
            r#"["docker", "exec", "c", "{{f}}", "-c", "{{x}}"]"#,
            closed("sh"),
        ),
    ];
    let world = World::new();
    let mut added = Vec::new();
    for (number, (bin, cli, lines)) in cases.iter().enumerate() {
        let pack = Pack::new(&format!("through-{number}"))
            .wrap(&format!("bin = \"{bin}\"\njson = []"))
            .command("go", &format!("effect = \"read\"\ncli = {cli}\n{lines}"));
        let folder = world.author(&pack);
        if world.hcp(&["pack", "add", text(&folder)]).status == Some(0) {
            added.push(*cli);
        }
    }
    assert!(added.is_empty(), "added: {added:#?}");
}

/// Design §4: a path is resolved beneath one of the roots, following no link out of it. The path that
/// is judged must be the one that the tool is given.
#[test]
fn the_tool_is_given_the_path_that_was_judged() {
    let world = World::new();
    let secret = world.write("outside/secret.txt", "SECRET", 0o600);
    fs::create_dir(world.path("root")).unwrap();
    symlink(&secret, world.path("root/x.txt")).unwrap();
    let root = world.path("root");
    world.configure(&format!("{NATIVE}read = [\"{}\"]\n", root.display()));
    let pack = Pack::new("reader")
        .tool("cat \"$2\"")
        .wrap_more("json = []")
        .command(
            "suffix",
            "effect = \"read\"\ncli = [\"reader\", \"suffix\", \"{{path}}.txt\"]\n\
             args.path = { required = true, access = \"read\" }",
        )
        .command(
            "join",
            "effect = \"read\"\ncli = [\"reader\", \"join\", \"{{path}}/{{name}}\"]\n\
             args.path = { required = true, access = \"read\" }\nargs.name = { required = true }",
        );
    let folder = world.author(&pack);
    if world.hcp(&["pack", "add", text(&folder)]).status != Some(0) {
        return; // Refusing such a manifest keeps the promise as well.
    }
    world.ok(&["activate", "reader"]);
    world.ok(&["grant", "add", "me", "reader:*"]);
    let path = format!("path={}", root.join("x").display());
    let suffix = world.exec(&["reader", "suffix", "--", &path]);
    let path = format!("path={}", root.display());
    let join = world.exec(&["reader", "join", "--", &path, "name=../outside/secret.txt"]);
    assert!(!suffix.stdout.contains("SECRET"), "{}", suffix.stdout);
    assert!(!join.stdout.contains("SECRET"), "{}", join.stdout);
}

/// Design §4: a capability word that another pack uses is refused without `--share-capability`.
#[test]
fn two_packs_added_at_once_do_not_share_a_word() {
    let world = World::new();
    for _ in 0..3 {
        let folders = ["one", "two"].map(|id| {
            let pack = Pack::new(id).file("blob", vec![7; 1 << 20]).governed(
                "go",
                "effect = \"read\"",
                "capability = \"both:use\"",
            );
            world.author(&pack)
        });
        let adding: Vec<Child> = folders
            .iter()
            .map(|folder| world.start(&["pack", "add", text(folder)]))
            .collect();
        let added = adding
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .filter(|output| output.status.success())
            .count();
        assert_eq!(added, 1);
        world.hcp(&["pack", "remove", "one"]);
        world.hcp(&["pack", "remove", "two"]);
    }
}

/// Design §10: what the operator tightens is never silently ignored. `<pack>.<verb>` names the same
/// command where the verb key begins with the pack id.
#[test]
fn a_policy_section_counts_however_the_command_is_written() {
    let world = World::with(&Pack::of_tool("tool", "echo ran"));
    world.configure(&format!(
        "{NATIVE}[policy.\"tool.tool.go\"]\nconfirm = true\n"
    ));
    let ran = world.exec(&["tool", "go"]);
    assert_ne!(ran.status, Some(0), "{}", ran.stdout);
}

/// README: an intent is on the disk before anything runs. SQLite may be told to drop the row; no
/// trigger of such a file is let run.
#[test]
fn a_record_is_not_dropped_on_its_way() {
    let world = World::with(&Pack::of_tool("tool", "echo ran"));
    let database = rusqlite::Connection::open(world.home().join("hcp.db")).unwrap();
    database
        .execute_batch(
            "CREATE TRIGGER a BEFORE INSERT ON audit_record BEGIN SELECT RAISE(IGNORE); END;
             CREATE TRIGGER b BEFORE UPDATE ON audit_head BEGIN SELECT RAISE(IGNORE); END;
             CREATE TRIGGER c BEFORE INSERT ON audit_head BEGIN SELECT RAISE(IGNORE); END;",
        )
        .unwrap();
    drop(database);
    let before = world.records().len();
    assert_eq!(world.exec(&["tool", "go"]).status, Some(0));
    assert_eq!(world.records().len(), before + 2);
    assert_eq!(world.hcp(&["audit", "verify"]).stdout.trim(), "OK");
}

/// A schema that branches twice on each of 40 levels must not hold the runtime, and a signal ends it.
#[test]
fn a_schema_cannot_hold_the_runtime() {
    let mut definitions = String::new();
    for level in 0..40 {
        let next = level + 1;
        let _ = writeln!(
            definitions,
            "d{level} = {{ anyOf = [{{ \"$ref\" = \"#/$defs/d{next}\" }}, \
             {{ \"$ref\" = \"#/$defs/d{next}\" }}] }}"
        );
    }
    let lines = "effect = \"read\"\ncli = [\"tool\", \"go\", \"{{x}}\"]";
    let pack = Pack::new("tool").command("go", lines).section(&format!(
        "[commands.go.args.x.schema]\n\"$ref\" = \"#/$defs/d0\"\n\
         [commands.go.args.x.schema.\"$defs\"]\nd40 = {{ type = \"integer\" }}\n{definitions}"
    ));
    let world = World::new();
    let folder = world.author(&pack);
    let added = world.hcp(&["pack", "add", text(&folder)]);
    if added.status != Some(0) {
        assert!(added.stderr.contains("schema"), "{}", added.stderr);
        return; // Refusing such a schema is as good.
    }
    world.ok(&["activate", "tool"]);
    world.ok(&["grant", "add", "me", "tool:*"]);
    let mut call = Killed(world.start(&["exec", "tool", "go", "--", "x=text"]));
    std::thread::sleep(Duration::from_secs(2));
    call.signal(Signal::TERM);
    assert!(
        call.ends_within(Duration::from_secs(3)),
        "it goes on, and SIGTERM does not end it"
    );
}

/// A call that waits for the text of stdin ends when it is asked to.
#[test]
fn a_call_that_waits_for_stdin_can_be_interrupted() {
    let lines = "effect = \"read\"\ncli = [\"tool\", \"go\", \"{{x}}\"]";
    let world = World::with(&Pack::new("tool").command("go", lines));
    let mut command = world.command(&["exec", "tool", "go", "--", "x=@-"]);
    let mut call = Killed(command.stdin(Stdio::piped()).spawn().unwrap());
    let _open = call.0.stdin.take();
    std::thread::sleep(Duration::from_millis(500));
    call.signal(Signal::TERM);
    call.signal(Signal::INT);
    assert!(call.ends_within(Duration::from_secs(3)));
}

/// `run` says of itself: what is no flag becomes a pair that no command accepts.
#[test]
fn on_the_face_of_a_tool_a_bare_word_confirms_nothing() {
    let lines = "effect = \"destructive\"\ncli = [\"tool\", \"wipe\", \"{{x}}\"]";
    let world = World::with(&Pack::new("tool").command("wipe", lines));
    let ran = world.hcp(&["run", "tool", "wipe", "--x", "a", "confirm=true"]);
    assert_eq!(ran.error(), "confirm required");
}

/// A value is a value: neither the gate nor the help is opened by what stands where one belongs.
#[test]
fn on_the_face_of_a_tool_a_value_is_no_flag() {
    let lines = "effect = \"destructive\"\ncli = [\"tool\", \"wipe\", \"{{x}}\"]\n\
                 args.x = { required = true, dash = true }";
    let world = World::with(&Pack::new("tool").command("wipe", lines));
    let help = world.hcp(&["run", "tool", "wipe", "--x", "-h"]);
    assert_ne!(help.status, Some(0), "{}", help.stdout);
    let confirmed = world.hcp(&["run", "tool", "wipe", "--x", "--confirm"]);
    assert_eq!(confirmed.error(), "confirm required");
}

/// README: `hcp schema pack` prints the JSON Schema of a manifest, `hcp schema config` that of a config.
#[test]
fn schemas_say_something() {
    let world = World::new();
    for name in ["pack", "config"] {
        let schema = world.ok(&["schema", name]);
        assert!(schema["properties"].is_object(), "{name}: {schema}");
    }
}

/// A record keeps what tells an id apart; its error must not bring back the whole megabyte.
#[test]
fn a_refusal_of_a_huge_id_is_a_small_record() {
    let world = World::new();
    world.send(envelope(&"x".repeat(900_000), "go", &serde_json::json!({})));
    let record = world.last_record().to_string();
    assert!(record.len() < 16 << 10, "{} bytes", record.len());
}

/// A session that was named and cannot be read is not the default one.
#[test]
fn a_session_that_cannot_be_read_is_not_the_default_one() {
    let world = World::with(&Pack::of_tool("tool", "echo ran"));
    let mut command = world.command(&["exec", "tool", "go"]);
    command.env("HCP_SESSION", OsStr::from_bytes(b"\xff"));
    let ran = Ran::of(command.output().unwrap());
    assert_ne!(ran.status, Some(0), "{}", ran.stdout);
}

/// Design §7: a home that others can write is refused, by those who only read it too.
#[test]
fn the_trail_of_a_home_that_others_write_is_not_vouched_for() {
    let world = World::bare();
    world.ok(&["init"]);
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o777)).unwrap();
    let verdict = world.hcp(&["audit", "verify"]);
    assert_ne!(verdict.stdout.trim(), "OK");
}

/// What stdin holds beyond the limit is refused, not cut off.
#[test]
fn too_much_on_stdin_is_not_cut() {
    let lines = "effect = \"read\"\nargs.x = { schema = { type = \"string\" } }";
    let world = World::with(&Pack::new("tool").command("go", lines));
    let ran = world.pipe(
        &["exec", "tool", "go", "--", "x=@-"],
        &vec![b'a'; 3_000_000],
    );
    assert_ne!(ran.status, Some(0), "{}", ran.stdout);
}
