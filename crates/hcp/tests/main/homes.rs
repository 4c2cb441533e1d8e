//! Homes and configs that are not as they should be: each is refused by name, and none is written to.

use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::pack::Pack;
use crate::world::{HCP, NATIVE, Ran, World, text};

fn pack() -> Pack {
    Pack::of_tool("house", "echo '{}'")
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn without_init_every_command_says_what_to_do() {
    let commands: [&[&str]; 9] = [
        &["pack", "list"],
        &["activate", "x"],
        &["session", "list"],
        &["grant", "list"],
        &["status"],
        &["explain", "x", "y"],
        &["audit", "list"],
        &["audit", "verify"],
        &["exec", "x", "y"],
    ];
    for words in commands {
        let world = World::bare();
        let ran = world.hcp(words);
        assert_eq!(ran.status, Some(70), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("hcp init"), "{words:?}: {}", ran.stderr);
        assert!(!world.home().exists(), "{words:?} made a home");
    }
    let world = World::bare();
    for words in [&["schema", "pack"][..], &["--version"], &["--help"]] {
        assert_eq!(world.hcp(words).status, Some(0), "{words:?} needs no home");
    }
}

type Spoil = fn(&World);

#[test]
fn databases_that_are_none_of_ours_are_left_alone() {
    let cases: [(&str, Spoil); 5] = [
        ("text", |world| {
            world.write(
                "home/hcp.db",
                "no database at all, but long enough to be looked at".repeat(100),
                0o600,
            );
        }),
        ("another program's", |world| {
            fs::remove_file(world.path("home/hcp.db")).unwrap();
            let other = rusqlite::Connection::open(world.path("home/hcp.db")).unwrap();
            other
                .execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
                .unwrap();
        }),
        ("cut off", |world| {
            let bytes = fs::read(world.path("home/hcp.db")).unwrap();
            world.write("home/hcp.db", &bytes[..bytes.len() / 2], 0o600);
        }),
        ("overwritten in the middle", |world| {
            let mut bytes = fs::read(world.path("home/hcp.db")).unwrap();
            let middle = bytes.len() / 3;
            bytes[100..middle].fill(0xA5);
            world.write("home/hcp.db", &bytes, 0o600);
        }),
        ("a folder", |world| {
            fs::remove_file(world.path("home/hcp.db")).unwrap();
            fs::create_dir(world.path("home/hcp.db")).unwrap();
        }),
    ];
    for (what, spoil) in cases {
        let world = World::with(&pack());
        // Everything into the one file first.
        let connection = rusqlite::Connection::open(world.path("home/hcp.db")).unwrap();
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        drop(connection);
        for file in ["home/hcp.db-wal", "home/hcp.db-shm"] {
            let _ = fs::remove_file(world.path(file));
        }
        spoil(&world);
        let before = fs::read(world.path("home/hcp.db")).ok();
        let ran = world.exec(&["house", "go"]);
        assert!(
            ran.error().starts_with("store: "),
            "{what}: {}",
            ran.error()
        );
        assert_eq!(ran.status, Some(70), "{what}");
        for words in [
            &["status"][..],
            &["grant", "list"],
            &["audit", "list"],
            &["init"],
        ] {
            let ran = world.hcp(words);
            assert_eq!(
                ran.status,
                Some(70),
                "{what} {words:?}: {} {}",
                ran.stdout,
                ran.stderr
            );
        }
        assert_eq!(
            fs::read(world.path("home/hcp.db")).ok(),
            before,
            "{what}: left as it is"
        );
    }
}

#[test]
fn what_others_can_write_is_refused() {
    let cases: [(&str, &str, u32); 6] = [
        ("home", "home", 0o777),
        ("home", "home", 0o770),
        ("home", "home", 0o1777),
        ("config", "home/config.toml", 0o666),
        ("config", "home/config.toml", 0o620),
        ("", "home/hcp.db", 0o666),
    ];
    for (what, file, bits) in cases {
        let world = World::with(&pack());
        mode(&world.path(file), bits);
        for words in [
            &["exec", "house", "go"][..],
            &["status"],
            &["grant", "list"],
            &["audit", "list"],
        ] {
            let ran = world.hcp(words);
            assert_ne!(ran.status, Some(0), "{file} {bits:o} {words:?}");
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(
                told.contains(what) && told.contains("others"),
                "{file} {bits:o} {words:?}: {told}"
            );
        }
        mode(
            &world.path(file),
            if file == "home" { 0o700 } else { 0o600 },
        );
        world.exec(&["house", "go"]).result();
    }
}

#[test]
fn faults_of_the_config_are_told_with_their_place() {
    let cases: [(&str, &[&str]); 12] = [
        (
            "[sandbox]\nmod = \"native-local\"\n",
            &["config.toml:2:1", "mod", "mode"],
        ),
        (
            "[sandbox]\nmode = \"native\"\n",
            &["config.toml:2:8", "native"],
        ),
        ("[sandbx]\n", &["config.toml:1:2", "sandbx", "sandbox"]),
        ("[sandbox]\ntimeout_max = 30\n", &["config.toml:2:15"]),
        (
            "[sandbox]\nallow_bins = [\"./x\"]\n",
            &["config.toml:2", "./x"],
        ),
        (
            "[store]\nurl = \"postgres:x\"\n",
            &["config.toml:2", "postgres:x"],
        ),
        (
            "[bindings.x]\nprovider = \"statik\"\n",
            &["config.toml:2:12", "static"],
        ),
        ("[bindings.x]\nprovider = \"static\"\n", &["env"]),
        (
            "[bindings.x]\nprovider = \"exec\"\ncommand = [\"mint\"]\n",
            &["config.toml:3", "absolute"],
        ),
        (
            "[bindings.x]\nprovider = \"static\"\nenv.T = \"the-secret-itself\"\n",
            &["config.toml:3"],
        ),
        (
            "[policy.house]\nconfirm = true\n",
            &["config.toml:1", "house"],
        ),
        ("[sandbox\n", &["config.toml:1"]),
    ];
    let world = World::with(&pack());
    for (config, parts) in cases {
        world.configure(config);
        for words in [
            &["status"][..],
            &["exec", "house", "go"],
            &["audit", "verify"],
        ] {
            let ran = world.hcp(words);
            assert_eq!(ran.status, Some(2), "{config} {words:?}: {}", ran.stderr);
            for part in parts {
                assert!(
                    ran.stderr.contains(part),
                    "{config} {words:?} lacks {part}: {}",
                    ran.stderr
                );
            }
        }
    }
    world.configure("");
    assert_eq!(
        world.ok(&["status"])["sandbox_mode"],
        "sandbox",
        "an absent key is its default"
    );
}

/// A full disk refuses calls, and what was there before is still there.
#[test]
fn a_full_disk_loses_nothing() {
    let world = World::bare();
    let folder = world.path("small");
    fs::create_dir(&folder).unwrap();
    world.author(&pack());
    let script = format!(
        "set -e; mount -t tmpfs -o size=1m,mode=700 none '{small}'; export HCP_HOME='{small}/home'\n\
         '{HCP}' init >/dev/null; printf '{NATIVE}' >'{small}/home/config.toml'\n\
         '{HCP}' pack add '{pack}' >/dev/null 2>&1; '{HCP}' activate house >/dev/null\n\
         '{HCP}' grant add me 'house:*' >/dev/null; '{HCP}' exec house go >/dev/null\n\
         dd if=/dev/zero of='{small}/filler' bs=4k 2>/dev/null || true\n\
         set +e; i=0; while [ $i -lt 40 ]; do i=$((i+1)); '{HCP}' exec house go >'{out}' 2>/dev/null; s=$?; [ $s = 0 ] || break; done\n\
         echo \"status $s\"; cat '{out}'; rm '{small}/filler'\n\
         '{HCP}' exec house go; '{HCP}' audit verify; ls '{small}/home/tmp' | wc -l",
        small = folder.display(),
        pack = world.path("packs/house").display(),
        out = world.path("out").display(),
    );
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    if !told.contains("status ") {
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(
            why.contains("permitted") || why.contains("denied"),
            "{told}{why}"
        );
        eprintln!("skipped: this machine does not let a test mount anything: {why}");
        return;
    }
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "status 70", "{told}");
    let refused: Value = serde_json::from_str(lines[1]).unwrap();
    let error = refused["error"].as_str().unwrap();
    assert!(
        error.starts_with("audit: ") || error.starts_with("store: "),
        "{error}"
    );
    let after: Value = serde_json::from_str(lines[2]).unwrap();
    assert_eq!(after["ok"], true, "{told}");
    assert_eq!(lines[3], "OK", "{told}");
    assert_eq!(lines[4].trim(), "0", "{told}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let world = World::with(&pack());
    for _ in 0..20 {
        world.exec(&["house", "go"]).result();
    }
    for words in [
        "audit list",
        "pack list",
        "status",
        "--help",
        "schema pack",
        "exec house go",
    ] {
        let script = format!("{{ {HCP} {words}; echo \"status $?\" >&2; }} | head -c 1 >/dev/null");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .env_clear()
            .env("HCP_HOME", world.home());
        command.env("PATH", "/usr/bin:/bin");
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.stderr, "status 0\n", "{words}");
    }
}

#[test]
fn words_that_are_not_utf8_are_a_wrong_command_line() {
    let world = World::with(&pack());
    let odd = std::ffi::OsString::from_vec(b"go\xff".to_vec());
    for before in [
        &["exec", "house"][..],
        &["exec", "house", "go", "--"],
        &["activate"],
        &["explain", "house"],
    ] {
        let output = world.command(before).arg(&odd).output().unwrap();
        let ran = Ran::of(output);
        assert_eq!(ran.status, Some(2), "{before:?}");
        assert!(
            ran.stderr.starts_with("error: "),
            "{before:?}: {}",
            ran.stderr
        );
    }
    // A folder is a path, which need not be text.
    let folder = world.path("packs").join(&odd);
    fs::rename(world.author(&Pack::of_tool("bytes", "echo '{}'")), &folder).unwrap();
    let output = world
        .command(&["pack", "add"])
        .arg(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_wrong_command_line_is_status_two() {
    let world = World::new();
    let cases: [&[&str]; 14] = [
        &["session", "open", "--ttl", "9999999999h"],
        &["pack", "add", "nowhere"],
        &["tenant", "add", "default"],
        &["grant", "remove", "me", "not:there"],
        &[],
        &["frobnicate"],
        &["pack"],
        &["pack", "frobnicate"],
        &["exec", "--frobnicate", "a", "b"],
        &["grant", "add", "me"],
        &["session", "open", "--ttl", "soon"],
        &["session", "open", "--ttl", "0s"],
        &["audit", "list", "--limit", "-1"],
        &["schema", "frobnicate"],
    ];
    for words in cases {
        let ran = world.hcp(words);
        assert_eq!(ran.status, Some(2), "{words:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{words:?}");
    }
}

/// Without `HCP_HOME` the folders are those of XDG.
#[test]
fn the_folders_of_xdg_are_used_when_no_home_is_named() {
    let world = World::bare();
    fs::create_dir(world.path("user")).unwrap();
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(HCP);
        command
            .args(words)
            .env_clear()
            .env("HOME", world.path("user"));
        command.envs(variables.iter().copied()).stdin(Stdio::null());
        Ran::of(command.output().unwrap())
    };
    assert_eq!(run(&["init"], &[]).status, Some(0));
    assert!(world.path("user/.local/share/hcp/hcp.db").exists());
    let (config, data) = (world.path("config"), world.path("data"));
    fs::create_dir(&config).unwrap();
    fs::create_dir(&data).unwrap();
    let xdg = [
        ("XDG_CONFIG_HOME", text(&config)),
        ("XDG_DATA_HOME", text(&data)),
    ];
    assert_eq!(run(&["init"], &xdg).status, Some(0));
    assert!(data.join("hcp/hcp.db").exists());
    world.write("config/hcp/config.toml", NATIVE, 0o600);
    assert_eq!(
        run(&["status"], &xdg).json()["sandbox_mode"],
        "native-local"
    );
    let nowhere = Command::new(HCP)
        .arg("status")
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
}

/// What the administrator of the machine wrote holds, whatever the operator's config says.
#[test]
fn the_floor_of_the_machine_is_not_loosened() {
    let floor =
        "[sandbox]\ntimeout_max = \"1s\"\nallow_bins = []\n[policy.\"house.go\"]\nconfirm = true\n";
    let world = World::with(&pack());
    let script = "mount -t tmpfs none /etc && mkdir -m 755 /etc/hcp && umask 022 && \
                  printf %s \"$0\" >/etc/hcp/config.toml && exec \"$@\"";
    let run = |floor: &str, words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script, floor, HCP]);
        Ran::of(
            command
                .args(words)
                .env("HCP_HOME", world.home())
                .output()
                .unwrap(),
        )
    };
    if run("", &["--version"]).status != Some(0) {
        eprintln!("skipped: this machine does not let a test mount anything");
        return;
    }
    let go = ["exec", "house", "go"];
    assert_eq!(run("", &go).result(), serde_json::json!({}));
    assert_eq!(run(floor, &go).error(), "confirm required");
    run(floor, &["exec", "house", "go", "--", "confirm=true"]).result();
    for (own, key) in [
        ("timeout_max = \"2s\"\n", "sandbox.timeout_max"),
        ("allow_bins = [\"git\"]\n", "sandbox.allow_bins"),
    ] {
        world.configure(&format!("{NATIVE}{own}"));
        let ran = run(floor, &["status"]);
        assert_eq!(ran.status, Some(2), "{own}: {}", ran.stderr);
        assert!(ran.stderr.contains(key), "{own}: {}", ran.stderr);
    }
    world.configure(NATIVE);
    let ran = run("[sandbox]\nmode = \"sandbox\"\n", &["status"]);
    assert!(
        ran.stderr.contains("`sandbox.mode` is looser"),
        "{}",
        ran.stderr
    );
    let ran = run("[sandbx]\n", &["status"]);
    assert!(
        ran.stderr.contains("/etc/hcp/config.toml:1:2"),
        "{}",
        ran.stderr
    );
}
