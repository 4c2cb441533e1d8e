//! Credentials (§6.3 step 7, §6.7, design §10): from where the operator says, or not at all, and never
//! to be seen again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::pack::{Pack, write_tool};
use crate::world::{NATIVE, Ran, World};

/// What nothing but the tool may ever see. It has characters that each encoding writes differently.
const SECRET: &str = "s3cr3t/Of+The Tests=&%7e";

/// A pack that needs `TOKEN` and tells whether it has one, and of which kind.
fn needy(world: &World) -> Pack {
    Pack::new("needy")
        .tool(&format!(
            "echo ran >>'{}'\necho \"{{\\\"length\\\":${{#TOKEN}},\\\"binding\\\":\\\"$HCP_CALL_BINDING\\\"}}\"",
            world.path("ran").display()
        ))
        .section("[binding]\nenv = [\"TOKEN\"]\nttl = \"5m\"")
        .command("go", "effect = \"read\"")
}

fn ran(world: &World) -> bool {
    world.path("ran").exists()
}

/// A call that is refused at step 7: nothing ran, and nothing of the secret is told.
fn refused(world: &World, ran_before: &Ran, part: &str) {
    let error = ran_before.error();
    assert!(error.starts_with("binding: "), "{error}");
    assert!(error.contains(part), "{part}: {error}");
    assert_eq!(ran_before.status, Some(3), "{error}");
    assert!(!ran(world), "{error}");
    for told in [&ran_before.stdout, &ran_before.stderr] {
        assert!(!told.contains("s3cr3t"), "{told}");
    }
    let record = world.last_record();
    assert_eq!(record["kind"], "outcome");
    assert_eq!(record["step_name"], "mint_binding");
    assert_eq!(record["error"].as_str(), Some(error.as_str()));
    assert!(!record.to_string().contains("s3cr3t"));
}

#[test]
fn secrets_in_files() {
    let file = "env.TOKEN = { file = \"secrets/token\" }";
    let shared = format!("{file}\nshared = true");
    // The section, the mode of the file, more tenants than one, and a part of the refusal.
    let cases: [(&str, u32, bool, Option<&str>); 10] = [
        (file, 0o600, false, None),
        (file, 0o400, false, None),
        (file, 0o644, false, Some("secrets/token")),
        (file, 0o640, false, Some("secrets/token")),
        (file, 0o666, false, Some("secrets/token")),
        (file, 0o600, true, Some("tenant")),
        (&shared, 0o600, true, None),
        (
            "env.TOKEN = { file = \"secrets/absent\" }",
            0o600,
            false,
            Some("secrets/absent"),
        ),
        (
            "env.TOKEN = { file = \"secrets\" }",
            0o600,
            false,
            Some("secrets"),
        ),
        (
            "env.OTHER = { file = \"secrets/token\" }",
            0o600,
            false,
            Some("OTHER"),
        ),
    ];
    for (section, mode, tenants, part) in cases {
        let world = World::new();
        world.configure(&format!(
            "{NATIVE}[bindings.needy]\nprovider = \"static\"\n{section}\n"
        ));
        world.write("home/secrets/token", format!("{SECRET}\n"), mode);
        if tenants {
            world.ok(&["tenant", "add", "acme"]);
        }
        world.install(&needy(&world));
        let answer = world.exec(&["needy", "go"]);
        match part {
            Some(part) => refused(&world, &answer, part),
            None => assert_eq!(
                answer.result(),
                json!({ "length": SECRET.len(), "binding": "live" }),
                "{section} {mode:o}"
            ),
        }
    }
}

#[test]
fn what_is_not_provided_is_refused_whatever_the_caller_has() {
    let sections = [
        "",
        "[bindings.other]\nprovider = \"static\"\nenv.TOKEN = { file = \"secrets/token\" }\n",
        "[bindings.\"needy.stop\"]\nprovider = \"static\"\nenv.TOKEN = { file = \"secrets/token\" }\n",
        "[bindings.needy]\nprovider = \"vault\"\n",
        "[bindings.needy]\nprovider = \"oauth2\"\n",
        "[bindings.needy]\nprovider = \"jwt\"\n",
        "[bindings.needy]\nprovider = \"exec\"\ncommand = [\"/bin/false\"]\n",
        "[tenants.acme.bindings.needy]\nprovider = \"static\"\nenv.TOKEN = { file = \"secrets/token\" }\n",
    ];
    for section in sections {
        let mut world = World::new();
        world.configure(&format!("{NATIVE}{section}"));
        world.write("home/secrets/token", SECRET, 0o600);
        world.set("TOKEN", SECRET);
        world.install(&needy(&world));
        refused(&world, &world.exec(&["needy", "go"]), "");
    }
}

#[test]
fn a_mock_is_asked_for_and_asks_nobody() {
    let world = World::new();
    world.configure(&format!(
        "{NATIVE}[bindings.needy]\nprovider = \"exec\"\ncommand = [\"{}\"]\n",
        world.path("helper").display()
    ));
    write_tool(
        &world.path("helper"),
        &format!("touch '{}'; exit 1", world.path("asked").display()),
    );
    world.install(&needy(&world));
    let answer = world.exec(&["needy", "go", "--", "mode=mock"]);
    assert_eq!(answer.result(), json!({ "length": 4, "binding": "mock" }));
    assert!(!world.path("asked").exists());
    let error = world.exec(&["needy", "go", "--", "mode=mocked"]).error();
    assert!(error.contains("mode"), "{error}");
}

/// A pack that declares nothing gets nothing, whatever the config says.
#[test]
fn nothing_is_minted_for_a_pack_that_declares_nothing() {
    let world = World::new();
    let asked = world.path("asked");
    write_tool(
        &world.path("helper"),
        &format!("touch '{}'", asked.display()),
    );
    world.configure(&format!(
        "{NATIVE}[bindings.plain]\nprovider = \"exec\"\ncommand = [\"{}\"]\n",
        world.path("helper").display()
    ));
    world.install(&Pack::of_tool("plain", "printf %s \"$HCP_CALL_BINDING\""));
    assert_eq!(world.exec(&["plain", "go"]).result(), "none");
    assert!(!asked.exists());
}

/// A helper that notes what it is asked, and answers a credential that lasts this many seconds.
fn helper(world: &World, answer: &str) {
    let body = format!(
        "cat >>'{0}'; echo >>'{0}'\ncat /proc/$$/environ >>'{1}'\necho {SECRET:?} >&2\n\
         expiry() {{ date -u -d \"@$(($(date +%s) + $1))\" +%Y-%m-%dT%H:%M:%SZ; }}\n{answer}",
        world.path("requests").display(),
        world.path("surroundings").display(),
    );
    write_tool(&world.path("helper"), &body);
    world.configure(&format!(
        "{NATIVE}[bindings.needy]\nprovider = \"exec\"\ncommand = [\"{}\"]\n",
        world.path("helper").display()
    ));
}

fn requests(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path("requests")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const GOOD_ANSWER: &str = "printf '{\"version\":1,\"env\":{\"TOKEN\":\"minted-1\"},\"expires_at\":\"%s\",\"revoke\":\"r-1\"}' \"$(expiry 200)\"";

#[test]
fn a_helper_is_asked_exactly_and_told_to_revoke() {
    let mut world = World::new();
    helper(&world, GOOD_ANSWER);
    world.set("AWS_SECRET_ACCESS_KEY", SECRET);
    world.ok(&["project", "add", "p1"]);
    world.install(&needy(&world));
    let in_project = world.session(&["--pack", "needy", "--project", "p1"]);
    for (words, project) in [
        (vec!["needy", "go"], Value::Null),
        (vec!["--session", &in_project, "needy", "go"], json!("p1")),
    ] {
        let _ = std::fs::remove_file(world.path("requests"));
        let answer = world.exec(&words);
        assert_eq!(answer.result(), json!({ "length": 8, "binding": "live" }));
        let expected = json!([
            {
                "version": 1, "pack_id": "needy", "verb_key": "go",
                "principal": world.ok(&["status"])["principal"], "tenant_id": "default",
                "project_id": project, "capability": "needy:use", "ttl_seconds": 300
            },
            { "version": 1, "revoke": "r-1" },
        ]);
        assert_eq!(Value::from(requests(&world)), expected);
        for told in [&answer.stdout, &answer.stderr] {
            assert!(!told.contains("s3cr3t"), "{told}");
        }
    }
    let surroundings = std::fs::read_to_string(world.path("surroundings")).unwrap();
    assert_eq!(surroundings, "", "its environment is empty");
}

#[test]
fn a_helper_that_does_not_keep_to_the_contract_is_refused() {
    let tails: [&str; 9] = [
        "exit 3",
        "true",
        "echo not json",
        "kill -9 $$",
        "printf '{\"version\":2,\"env\":{\"TOKEN\":\"s3cr3t\"},\"expires_at\":\"%s\"}' \"$(expiry 60)\"",
        "printf '{\"version\":1,\"env\":{\"OTHER\":\"s3cr3t\"},\"expires_at\":\"%s\"}' \"$(expiry 60)\"",
        "printf '{\"version\":1,\"env\":{\"TOKEN\":\"s3cr3t\",\"OTHER\":\"x\"},\"expires_at\":\"%s\"}' \"$(expiry 60)\"",
        "printf '{\"version\":1,\"env\":{\"TOKEN\":\"s3cr3t\"},\"expires_at\":\"%s\"}' \"$(expiry 1200)\"",
        "printf '{\"version\":1,\"env\":{\"TOKEN\":\"s3cr3t\"},\"expires_at\":\"%s\"}' \"$(expiry -5)\"",
    ];
    for tail in tails {
        let world = World::new();
        helper(&world, tail);
        world.install(&needy(&world));
        refused(&world, &world.exec(&["needy", "go"]), "");
    }
}

#[test]
fn a_helper_that_others_can_change_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    helper(&world, GOOD_ANSWER);
    world.install(&needy(&world));
    for mode in [0o777, 0o775] {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path("helper"), permissions).unwrap();
        refused(&world, &world.exec(&["needy", "go"]), "helper");
        assert!(!world.path("requests").exists());
    }
}

/// A credential is given back also when the tool fails.
#[test]
fn a_failed_call_revokes_as_well() {
    let world = World::new();
    helper(&world, GOOD_ANSWER);
    world.install(&needy(&world).tool("echo no >&2; exit 1"));
    assert_eq!(world.exec(&["needy", "go"]).error(), "no\n");
    assert_eq!(
        requests(&world)[1],
        json!({ "version": 1, "revoke": "r-1" })
    );
}

/// The forms in which a tool may print its credential.
fn forms() -> Vec<(&'static str, String)> {
    let percent: String = SECRET
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let hex = SECRET
        .bytes()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    vec![
        ("whole", SECRET.to_owned()),
        ("base64", STANDARD.encode(SECRET)),
        (
            "base64 within more",
            STANDARD.encode(format!("user:{SECRET}")),
        ),
        ("hex", hex),
        ("percent", percent),
    ]
}

#[test]
fn a_credential_is_masked_wherever_it_comes_out() {
    let forms = forms();
    let mut pack = Pack::new("leaky")
        .section("[binding]\nenv = [\"TOKEN\"]")
        .command("split", "effect = \"read\"")
        .command("json", "effect = \"read\"")
        .command("fails", "effect = \"read\"")
        .command("echo", "effect = \"read\"\ncli = [\"leaky\", \"echo\", \"{{text}}\"]")
        .tool(
            "case \"$1\" in\n\
             split) half=${TOKEN#?????????}; printf %s \"${TOKEN%\"$half\"}\"; sleep 0.05; printf %s \"$half\";;\n\
             json) printf '{\"token\": \"%s\", \"n\": 1.10}' \"$TOKEN\";;\n\
             fails) echo \"out $TOKEN\"; echo \"err $TOKEN\" >&2; exit 1;;\n\
             echo) printf %s \"$2\";;\n\
             *) cat \"out/$1\"; cat \"out/$1\" >&2;;\n\
             esac",
        );
    for (at, (_, form)) in forms.iter().enumerate() {
        let key = format!("form{at}");
        pack = pack
            .command(&key, "effect = \"read\"")
            .file(&format!("out/{key}"), form.as_str());
    }
    let mut world = World::new();
    world.configure(&format!(
        "{NATIVE}[bindings.leaky]\nprovider = \"static\"\nenv.TOKEN = {{ file = \"token\" }}\n"
    ));
    world.write("home/token", SECRET, 0o600);
    world.install(&pack);
    world.set("HCP_LOG", "trace");
    let mut told = String::new();
    let mut note = |ran: &Ran| {
        told.push_str(&ran.stdout);
        told.push_str(&ran.stderr);
    };
    for (at, (name, _)) in forms.iter().enumerate() {
        let ran = world.exec(&["-v", "leaky", &format!("form{at}")]);
        let envelope = ran.envelope();
        assert!(
            envelope["result"].to_string().contains("[redacted]"),
            "{name}: {envelope}"
        );
        assert!(
            envelope["stderr"].to_string().contains("[redacted]"),
            "{name}: {envelope}"
        );
        note(&ran);
    }
    let split = world.exec(&["leaky", "split"]);
    assert_eq!(split.result(), "[redacted]");
    let json = world.exec(&["leaky", "json"]);
    assert_eq!(
        json.result(),
        json!({ "token": "[redacted]", "n": serde_json::from_str::<Value>("1.10").unwrap() })
    );
    assert!(json.stdout.contains("1.10"));
    let fails = world.exec(&["leaky", "fails"]);
    let envelope = fails.envelope();
    assert_eq!(envelope["error"], "err [redacted]\n");
    assert_eq!(envelope["stdout"], "out [redacted]\n");
    let echo = world.exec(&["leaky", "echo", "--", "text=plain"]);
    assert_eq!(echo.result(), "plain");
    for ran in [&split, &json, &fails, &echo] {
        note(ran);
    }
    told.push_str(&world.hcp(&["audit", "list"]).stdout);
    let store = std::fs::read(world.path("home/hcp.db")).unwrap();
    let wal = std::fs::read(world.path("home/hcp.db-wal")).unwrap_or_default();
    told.push_str(&String::from_utf8_lossy(&store));
    told.push_str(&String::from_utf8_lossy(&wal));
    for (name, form) in &forms {
        assert!(!told.contains(form.as_str()), "{name} stands somewhere");
    }
}

/// A section of the tenant wins over the general one.
#[test]
fn a_tenant_has_its_own_provider() {
    let world = World::new();
    world.ok(&["tenant", "add", "acme"]);
    world.configure(&format!(
        "{NATIVE}[bindings.needy]\nprovider = \"static\"\nshared = true\nenv.TOKEN = {{ file = \"one\" }}\n\
         [tenants.acme.bindings.needy]\nprovider = \"static\"\nenv.TOKEN = {{ file = \"three\" }}\n"
    ));
    world.write("home/one", "general-secret", 0o600);
    world.write("home/three", "acme", 0o600);
    world.install(&needy(&world));
    world.ok(&["grant", "add", "me", "needy:*", "--tenant", "acme"]);
    let acme = world.session(&["--tenant", "acme", "--pack", "needy"]);
    assert_eq!(world.exec(&["needy", "go"]).result()["length"], 14);
    assert_eq!(
        world.exec(&["--session", &acme, "needy", "go"]).result()["length"],
        4
    );
}
