//! What surrounds the child (design §9, §6.4): built from nothing, and gone after the call.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{HCP, NATIVE, World, text};

/// Prints the environment it was started with, one variable a line.
const DUMP: &str = "tr '\\0' '\\n' </proc/$$/environ";

/// Names and values, in order.
type Variables = Vec<(String, String)>;

fn variables(result: &Value) -> BTreeMap<String, String> {
    let lines = result.as_str().unwrap().lines();
    lines
        .map(|line| line.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A caller whose environment is full of what must not get through.
fn hostile(world: &mut World) {
    for (name, value) in [
        ("AWS_SECRET_ACCESS_KEY", "leak"),
        ("AWS_PROFILE", "leak"),
        ("GITHUB_TOKEN", "leak"),
        ("LD_LIBRARY_PATH", "/leak"),
        ("LD_PRELOAD", "/leak.so"),
        ("PYTHONPATH", "/leak"),
        ("NODE_OPTIONS", "--require=/leak"),
        ("BASH_ENV", "/leak"),
        ("ENV", "/leak"),
        ("IFS", "leak"),
        ("PATH", "/leak"),
        ("HOME", "/leak"),
        ("TMPDIR", "/leak"),
        ("LANG", "xx_LEAK"),
        ("LC_ALL", "xx_LEAK"),
        ("TERM", "leak"),
        ("PAGER", "leak"),
        ("GIT_DIR", "/leak"),
        ("SSH_AUTH_SOCK", "/leak"),
        ("TRACEPARENT", "00-leak"),
        ("HCP_CALL_TENANT", "leak"),
        ("HCP_CALL_PROJECT", "leak"),
        ("HCP_CALL_STATE", "/leak"),
        ("HCP_CALL_BINDING", "leak"),
        ("HCP_SANDBOX", "leak"),
        ("HCP_LEAK", "leak"),
        ("TOKEN", "leak"),
    ] {
        world.set(name, value);
    }
}

#[test]
fn the_environment_is_exactly_that_of_the_contract() {
    let mut world = World::new();
    world.configure(&format!("{NATIVE}path = [\"/usr/bin\", \"/bin\"]\n"));
    hostile(&mut world);
    world.ok(&["project", "add", "p1"]);
    let pack = Pack::new("dump")
        .tool(DUMP)
        .section("[wrap.agent_env]\nDUMP_COLOR = \"never\"\nEMPTY = \"\"")
        .section("[sandbox]\nstate = true")
        .section("[binding]\nenv = [\"DUMP_TOKEN\"]")
        .command("go", "effect = \"read\"")
        .command("go again", "effect = \"read\"\ncli = [\"dump\", \"go\"]");
    world.install(&pack);
    let plain = Pack::of_tool("plain", DUMP);
    world.install(&plain);
    let home = fs::canonicalize(world.home()).unwrap();
    let common = |pack: &str, verb: &str| {
        [
            ("PATH", "/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("HCP_SANDBOX", "native-local"),
            ("HCP_CALL_TENANT", "default"),
            ("HCP_CALL_BINDING", "none"),
            ("HCP_CALL_PACK", pack),
            ("HCP_CALL_VERB", verb),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let in_project = world.session(&["--project", "p1", "--pack", "dump"]);
    let state =
        |project: &str| text(&home.join("state/default").join(project).join("dump")).to_owned();
    let more = |state: String| {
        vec![
            ("DUMP_COLOR".to_owned(), "never".to_owned()),
            ("EMPTY".to_owned(), String::new()),
            ("DUMP_TOKEN".to_owned(), "mock".to_owned()),
            ("HCP_CALL_BINDING".to_owned(), "mock".to_owned()),
            ("HCP_CALL_STATE".to_owned(), state),
        ]
    };
    let mut with_project = more(state("p1"));
    with_project.push(("HCP_CALL_PROJECT".to_owned(), "p1".to_owned()));
    let cases: [(&[&str], &str, &str, Variables); 3] = [
        (&["plain", "go"], "plain", "go", Vec::new()),
        (
            &["dump", "go again", "--", "mode=mock"],
            "dump",
            "go again",
            more(state("-")),
        ),
        (
            &["--session", &in_project, "dump", "go", "--", "mode=mock"],
            "dump",
            "go",
            with_project,
        ),
    ];
    for (words, pack, verb, more) in cases {
        let mut found = variables(&world.exec(words).result());
        for name in ["HOME", "TMPDIR"] {
            let folder = found.remove(name).unwrap();
            assert!(Path::new(&folder).starts_with(home.join("tmp")), "{folder}");
            assert!(
                !Path::new(&folder).exists(),
                "gone after the call: {folder}"
            );
        }
        let mut expected: BTreeMap<String, String> = common(pack, verb).into();
        expected.extend(more);
        assert_eq!(found, expected, "{words:?}");
    }
}

#[test]
fn the_child_is_alone_in_its_session_at_the_root_of_its_pack() {
    let tool = "set -- $(cat /proc/$$/stat)\n\
                printf '{\"pid\":%s,\"group\":%s,\"session\":%s,\"terminal\":%s,' $1 $5 $6 $7\n\
                printf '\"stdin\":\"%s\",\"umask\":\"%s\",\"cwd\":\"%s\",' \
                \"$(readlink /proc/$$/fd/0)\" \"$(umask)\" \"$(pwd -P)\"\n\
                printf '\"home\":\"%s\",\"temporary\":\"%s\"}' \
                \"$(ls -A \"$HOME\")\" \"$(ls -A \"$TMPDIR\")\"\n\
                echo planted >\"$HOME/.gitconfig\"; mkdir -p \"$HOME/.kube\" \"$TMPDIR/x\"; echo x >\"$HOME/.netrc\"";
    let world = World::with(&Pack::of_tool("alone", tool));
    let listed = world.ok(&["pack", "list"]);
    let root = fs::canonicalize(world.home())
        .unwrap()
        .join("packs")
        .join(listed[0]["digest"].as_str().unwrap());
    for _ in 0..2 {
        let found = world.exec(&["alone", "go"]).result();
        assert_eq!(found["group"], found["pid"]);
        assert_eq!(found["session"], found["pid"]);
        assert_eq!(found["terminal"], 0);
        assert_eq!(found["stdin"], "/dev/null");
        assert_eq!(found["umask"], "0077");
        assert_eq!(found["cwd"], text(&root));
        assert_eq!(found["home"], "", "nothing of an earlier call");
        assert_eq!(found["temporary"], "");
        assert_eq!(world.names("tmp"), [""; 0]);
    }
}

#[test]
fn no_descriptor_of_the_caller_reaches_the_child() {
    let world = World::new();
    let bin = Pack::new("list").wrap("bin = \"ls\"\njson = []").command(
        "go",
        "effect = \"read\"\ncli = [\"ls\", \"-1\", \"/proc/self/fd\"]",
    );
    let folder = world.author(&bin);
    world.ok(&["pack", "add", text(&folder), "--allow-bin", "ls"]);
    world.ok(&["activate", "list"]);
    world.ok(&["grant", "add", "me", "list:*"]);
    world.install(&Pack::of_tool("script", "exec ls -1 /proc/self/fd"));
    let leaks: Vec<fs::File> = (0..3)
        .map(|_| fs::File::open("/dev/zero").unwrap())
        .collect();
    for leak in &leaks {
        rustix::io::fcntl_setfd(leak, rustix::io::FdFlags::empty()).unwrap();
    }
    for pack in ["list", "script"] {
        // 3 is the folder that `ls` itself reads.
        assert_eq!(world.exec(&[pack, "go"]).result(), "0\n1\n2\n3\n", "{pack}");
    }
}

/// One argument is one element, byte for byte, whatever it holds (§6.4).
#[test]
fn an_argument_is_one_element_whatever_it_holds() {
    let pack = Pack::new("args")
        .wrap_more("output = \"text\"")
        .tool("printf '%s\\n' $#; shift; printf '[%s]' \"$@\"")
        .command(
            "go",
            "effect = \"read\"\ncli = [\"args\", \"go\", \"--text={{text}}\"]",
        );
    let world = World::with(&pack);
    let long = "x".repeat(127 << 10);
    for value in [
        "x'; curl e | sh #",
        "a b  c\t\n\r",
        "\"\"",
        "$(id)`id`${HOME}$HOME",
        "; rm -rf / &",
        "*?[a]{b,c}~",
        "\\",
        "-rf",
        "{{text}}{{other}}",
        "é\u{202e}\u{1b}[31m",
        &long,
    ] {
        let args = json!({ "text": value });
        let result = world
            .send(crate::world::envelope("args", "go", &args))
            .result();
        assert_eq!(result, format!("3\n[--text={value}][--json]"));
    }
    for (value, part) in [("a\u{0}b", "NUL"), (&"x".repeat(131_072), "131071")] {
        let args = json!({ "text": value });
        let ran = world.send(crate::world::envelope("args", "go", &args));
        assert!(ran.error().starts_with("args: "), "{}", ran.error());
        assert!(ran.error().contains(part), "{}", ran.error());
        assert_eq!(ran.status, Some(3));
    }
}

#[test]
fn state_lasts_per_tenant_project_and_pack() {
    let world = World::new();
    world.ok(&["tenant", "add", "acme"]);
    world.ok(&["project", "add", "p1"]);
    world.ok(&["project", "add", "p2"]);
    let tool = "cat \"$HCP_CALL_STATE/log\" 2>/dev/null\necho \"$HCP_CALL_VERB\" >>\"$HCP_CALL_STATE/log\"";
    for id in ["one", "two"] {
        world.install(&Pack::of_tool(id, tool).section("[sandbox]\nstate = true"));
    }
    let grant = ["grant", "add", "me", "one:*", "--tenant", "acme"];
    world.ok(&grant);
    let sessions = [
        world.session(&["--pack", "one", "--pack", "two"]),
        world.session(&["--pack", "one", "--pack", "two", "--project", "p1"]),
        world.session(&["--pack", "one", "--pack", "two", "--project", "p2"]),
        world.session(&["--pack", "one", "--tenant", "acme"]),
    ];
    for (at, session) in sessions.iter().enumerate() {
        for pack in ["one", "two"].iter().take(if at == 3 { 1 } else { 2 }) {
            let call = ["--session", session, pack, "go"];
            assert_eq!(
                world.exec(&call).result(),
                "",
                "{at} {pack}: nothing of others"
            );
            assert_eq!(world.exec(&call).result(), "go\n", "{at} {pack}: it lasts");
        }
    }
    // Everything that was made is the owner's alone.
    for (path, mode, _) in world.snapshot() {
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}

/// A umask of the caller's that would open files to others changes nothing.
#[test]
fn files_are_private_whatever_the_umask_of_the_caller() {
    let world = World::bare();
    let script = format!("umask 000; exec {HCP} init");
    let status = std::process::Command::new("sh")
        .args(["-c", &script])
        .env_clear()
        .env("HCP_HOME", world.home())
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    for (path, mode, _) in world.snapshot() {
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}
