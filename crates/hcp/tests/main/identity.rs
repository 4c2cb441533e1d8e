//! Who may do what (design §8): sessions, grants, tenants and projects, read anew at every call.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{Ran, World, envelope, text, wait_until};

fn pack() -> Pack {
    Pack::of_tool("id", "printf %s \"$HCP_CALL_TENANT/${HCP_CALL_PROJECT-}\"")
}

/// The error and the step of a call in this session.
fn told(world: &World, session: &str) -> (String, Value) {
    let ran = world.exec(&["--session", session, "id", "go"]);
    assert_eq!(ran.status, Some(3), "{}", ran.stdout);
    (ran.error(), world.last_record()["step_name"].clone())
}

fn not_activated() -> (String, Value) {
    (
        "pack id not activated".to_owned(),
        json!("check_activation"),
    )
}

#[test]
fn sessions_that_do_not_count() {
    let world = World::with(&pack());
    assert_eq!(world.exec(&["id", "go"]).result(), "default/");
    world.ok(&["principal", "add", "agent:builder"]);
    world.ok(&["grant", "add", "agent:builder", "id:*"]);
    let closed = world.session(&["--pack", "id"]);
    assert_eq!(
        world.exec(&["--session", &closed, "id", "go"]).result(),
        "default/"
    );
    world.ok(&["session", "close", &closed]);
    let foreign = world.session(&["--principal", "agent:builder", "--pack", "id"]);
    let empty = world.session(&[]);
    for session in [&closed, &foreign, &empty, "ses_0", "", "default", "'; --"] {
        assert_eq!(told(&world, session), not_activated(), "{session}");
    }
    // A session of somebody else is told apart from one that is not there only to the operator.
    let unknown = world.exec(&["--session", "ses_0", "id", "go"]).stdout;
    assert_eq!(
        world.exec(&["--session", &foreign, "id", "go"]).stdout,
        unknown
    );
    world.ok(&["deactivate", "id"]);
    assert_eq!(world.exec(&["id", "go"]).error(), "pack id not activated");
}

#[test]
fn a_session_ends_by_itself() {
    let world = World::with(&pack());
    let session = world.session(&["--pack", "id", "--ttl", "1s"]);
    let call = ["--session", &session, "id", "go"];
    wait_until("the session to expire", || {
        !world.exec(&call).stdout.contains("\"ok\":true")
    });
    let (error, step) = told(&world, &session);
    assert_eq!(error, "denied: session expired");
    assert_eq!(step, "authenticate");
    assert_eq!(
        world.exec(&["id", "go"]).result(),
        "default/",
        "`default` never does"
    );
}

#[test]
fn the_session_of_a_call_is_the_one_named_then_that_of_the_environment() {
    let mut world = World::with(&pack());
    world.ok(&["project", "add", "p1"]);
    world.ok(&["project", "add", "p2"]);
    let one = world.session(&["--pack", "id", "--project", "p1"]);
    let two = world.session(&["--pack", "id", "--project", "p2"]);
    world.set("HCP_SESSION", &one);
    assert_eq!(world.exec(&["id", "go"]).result(), "default/p1");
    assert_eq!(
        world.exec(&["--session", &two, "id", "go"]).result(),
        "default/p2"
    );
    assert_eq!(
        world.send(envelope("id", "go", &json!({}))).result(),
        "default/p1"
    );
    assert_eq!(world.ok(&["session", "show"])["project_id"], "p1");
    assert_eq!(world.ok(&["status"])["session_id"], one.as_str());
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    let mut command = world.command(&["exec", "id", "go"]);
    let ran = Ran::of(command.env("HCP_SESSION", odd).output().unwrap());
    assert_eq!(
        ran.error(),
        "pack id not activated",
        "no session has such a name"
    );
}

#[test]
fn a_token_is_shown_for_another_principal_only() {
    let world = World::new();
    world.ok(&["principal", "add", "agent:builder"]);
    let own = world.ok(&["session", "open", "--json"]);
    assert_eq!(
        own.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["session_id"]
    );
    let other = world.ok(&["--json", "session", "open", "--principal", "agent:builder"]);
    let token = other["token"].as_str().unwrap();
    assert!(token.len() >= 64, "256 random bits: {token}");
    let again = world.ok(&["session", "open", "--principal", "agent:builder"]);
    assert_ne!(again["token"].as_str().unwrap(), token);
    for listed in [
        &["session", "list"][..],
        &["audit", "list"],
        &["session", "show", other["session_id"].as_str().unwrap()],
    ] {
        assert!(!world.hcp(listed).stdout.contains(token), "shown once");
    }
    for (path, _, bytes) in world.snapshot() {
        assert!(
            !String::from_utf8_lossy(&bytes).contains(token),
            "{}",
            path.display()
        );
    }
}

#[test]
fn grants_by_words_tenant_and_project() {
    let world = World::new();
    world.ok(&["tenant", "add", "acme"]);
    world.ok(&["project", "add", "p1"]);
    let pack = Pack::new("id")
        .governed("go", "effect = \"write\"", "capability = \"a.b:c:d\"")
        .governed(
            "drop",
            "effect = \"destructive\"",
            "capability = \"a.b:c:e\"\nconfirm = false",
        );
    let folder = world.author(&pack);
    world.ok(&["pack", "add", text(&folder)]);
    let sessions = [
        world.session(&["--pack", "id"]),
        world.session(&["--pack", "id", "--project", "p1"]),
        world.session(&["--pack", "id", "--tenant", "acme"]),
    ];
    // The grant, and which verb it reaches in which session: default, project, other tenant.
    let cases: [(&[&str], [bool; 3], [bool; 3]); 12] = [
        (&["a.b:c:d"], [true, true, false], [false; 3]),
        (&["a.b:c:*"], [true, true, false], [true, true, false]),
        (&["a.b:*"], [true, true, false], [true, true, false]),
        (&["*"], [true, true, false], [false; 3]),
        (&["a.b:c"], [false; 3], [false; 3]),
        (&["a.b:c:d:*"], [false; 3], [false; 3]),
        (&["a:*"], [false; 3], [false; 3]),
        (&["A.B:c:d"], [false; 3], [false; 3]),
        (
            &["a.b:c:d", "--project", "p1"],
            [false, true, false],
            [false; 3],
        ),
        (
            &["a.b:*", "--project", "p1"],
            [false, true, false],
            [false, true, false],
        ),
        (
            &["a.b:*", "--tenant", "acme"],
            [false, false, true],
            [false, false, true],
        ),
        (&["*", "--tenant", "acme"], [false, false, true], [false; 3]),
    ];
    for (terms, go, dropped) in cases {
        world.ok(&[&["grant", "add", "me"], terms].concat());
        for (verb, capability, reaches) in [("go", "a.b:c:d", go), ("drop", "a.b:c:e", dropped)] {
            for (session, reached) in sessions.iter().zip(reaches) {
                let ran = world.exec(&["--session", session, "id", verb]);
                if reached {
                    ran.result();
                } else {
                    let expected = format!("denied: missing {capability} for id.{verb}");
                    assert_eq!(ran.error(), expected, "{terms:?}");
                }
            }
        }
        world.ok(&[&["grant", "remove", "me"], terms].concat());
    }
    for pattern in ["", "a:", ":a", "a*", "a:*:b", "*:a", "a b", "а:b"] {
        let ran = world.hcp(&["grant", "add", "me", pattern]);
        assert_eq!(ran.status, Some(2), "{pattern}: {}", ran.stderr);
    }
}

#[test]
fn a_removal_counts_from_the_next_call_on() {
    let world = World::with(&pack());
    world.ok(&["tenant", "add", "acme"]);
    world.ok(&["project", "add", "p1"]);
    world.ok(&["grant", "add", "me", "id:*", "--tenant", "acme"]);
    let acme = world.session(&["--pack", "id", "--tenant", "acme"]);
    let project = world.session(&["--pack", "id", "--project", "p1"]);
    assert_eq!(
        world.exec(&["--session", &acme, "id", "go"]).result(),
        "acme/"
    );
    assert_eq!(
        world.exec(&["--session", &project, "id", "go"]).result(),
        "default/p1"
    );
    world.ok(&["tenant", "remove", "acme"]);
    let no_tenant = ("denied: no tenant".to_owned(), json!("authenticate"));
    assert_eq!(told(&world, &acme), no_tenant);
    world.ok(&["project", "remove", "p1"]);
    let no_project = ("denied: unauthenticated".to_owned(), json!("authenticate"));
    assert_eq!(told(&world, &project), no_project);
    // What comes back under the same name is not what was removed.
    world.ok(&["tenant", "add", "acme"]);
    world.ok(&["project", "add", "p1"]);
    world.ok(&["grant", "add", "me", "id:*", "--tenant", "acme"]);
    for session in [&acme, &project] {
        assert_eq!(told(&world, session), not_activated());
    }
    world.ok(&["grant", "remove", "me", "id:*"]);
    assert_eq!(
        world.exec(&["id", "go"]).error(),
        "denied: missing id:use for id.go"
    );
}

#[test]
fn removing_a_principal_takes_its_grants_and_sessions() {
    let world = World::with(&pack());
    world.ok(&["principal", "add", "agent:builder"]);
    world.ok(&["grant", "add", "agent:builder", "id:*"]);
    let session = world.session(&["--principal", "agent:builder", "--pack", "id"]);
    world.ok(&["principal", "remove", "agent:builder"]);
    let grants = world.ok(&["grant", "list"]);
    assert!(!grants.to_string().contains("agent:builder"), "{grants}");
    assert_eq!(world.ok(&["session", "show", &session])["closed"], true);
    for (words, status) in [
        (&["principal", "remove", "agent:builder"][..], 2),
        (&["principal", "add", "local:mallory"], 2),
        (&["principal", "add", "builder"], 2),
        (&["principal", "add", "robot:x"], 2),
        (&["grant", "add", "agent:builder", "id:use"], 2),
        (&["session", "open", "--principal", "agent:builder"], 2),
        (&["session", "open", "--tenant", "nowhere"], 2),
        (&["session", "open", "--project", "nowhere"], 2),
        (&["session", "open", "--pack", "nowhere"], 2),
        (&["tenant", "remove", "default"], 2),
        (&["tenant", "remove", "nowhere"], 2),
        (&["project", "add", "p", "--tenant", "nowhere"], 2),
    ] {
        let ran = world.hcp(words);
        assert_eq!(ran.status, Some(status), "{words:?}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with("error: "),
            "{words:?}: {}",
            ran.stderr
        );
    }
}

#[test]
fn results_that_land_in_the_brain_need_a_project() {
    let world = World::new();
    world.ok(&["project", "add", "p1"]);
    for (land, needs) in [("local", false), ("tenant", false), ("brain", true)] {
        let id = format!("land-{land}");
        let pack =
            Pack::of_tool(&id, "printf ok").section(&format!("[privacy]\nland = \"{land}\""));
        world.install(&pack);
        let inside = world.session(&["--pack", &id, "--project", "p1"]);
        assert_eq!(
            world.exec(&["--session", &inside, &id, "go"]).result(),
            "ok"
        );
        let outside = world.exec(&[&id, "go"]);
        if needs {
            assert_eq!(
                outside.error(),
                "denied: privacy.land brain requires project_id"
            );
            assert_eq!(world.last_record()["step_name"], "authenticate");
        } else {
            assert_eq!(outside.result(), "ok");
        }
    }
}

/// Whoever shows a token, or names a socket, is not the operator of this home.
#[test]
fn with_a_token_the_home_is_never_opened() {
    let commands: [&[&str]; 12] = [
        &["init"],
        &["pack", "list"],
        &["pack", "add", "."],
        &["activate", "id"],
        &["session", "open"],
        &["principal", "list"],
        &["grant", "add", "me", "*"],
        &["tenant", "list"],
        &["audit", "list"],
        &["audit", "verify"],
        &["status"],
        &["explain", "id", "go"],
    ];
    for variable in ["HCP_TOKEN", "HCP_SOCKET"] {
        let mut world = World::with(&pack());
        world.set(variable, "whatever");
        let before = world.snapshot();
        for words in commands {
            let ran = world.hcp(words);
            assert_eq!(ran.status, Some(3), "{words:?}: {}", ran.stderr);
            assert_eq!(ran.stdout, "", "{words:?}");
            assert!(ran.stderr.contains(variable), "{words:?}: {}", ran.stderr);
        }
        for ran in [
            world.exec(&["id", "go"]),
            world.send(envelope("id", "go", &json!({}))),
        ] {
            assert_eq!(ran.error(), "denied: unauthenticated");
            assert_eq!(ran.status, Some(3));
            assert_eq!(ran.envelope()["pack_id"], "id");
        }
        assert!(
            world.snapshot() == before,
            "{variable}: the home was touched"
        );
    }
}

#[test]
fn init_makes_the_caller_and_nothing_more() {
    let world = World::bare();
    let made = world.ok(&["init"]);
    assert_eq!(made["created"], true);
    let principal = made["principal"].as_str().unwrap();
    assert!(principal.starts_with("local:"), "{principal}");
    assert!(!world.path("home/config.toml").exists());
    assert_eq!(world.ok(&["grant", "list"]), json!([]));
    assert_eq!(world.ok(&["pack", "list"]), json!([]));
    assert_eq!(world.ok(&["tenant", "list"])[0]["id"], "default");
    let sessions = world.ok(&["session", "list"]);
    assert_eq!(sessions.as_array().unwrap().len(), 1);
    assert_eq!(sessions[0]["name"], "default");
    assert_eq!(sessions[0]["expires_at"], Value::Null);
    assert_eq!(sessions[0]["principal"], principal);
    assert_eq!(world.ok(&["init"])["created"], false);
    assert_eq!(world.ok(&["session", "list"]), sessions);
    assert_eq!(world.ok(&["status"])["standing"], "advisory");
}
