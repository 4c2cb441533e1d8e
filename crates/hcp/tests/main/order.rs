//! The order of §6.3 is law: a call that is wrong in several ways is refused by the earliest step
//! that it is wrong at, and no later step is entered.

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{World, text};

/// One way for a call to be wrong.
#[derive(Clone, Copy)]
struct Spoiler {
    name: &'static str,
    /// The step that refuses it.
    step: u64,
    step_name: &'static str,
    error: &'static str,
    status: i32,
    kind: &'static str,
}

const fn spoiler(
    name: &'static str,
    (step, step_name): (u64, &'static str),
    error: &'static str,
    status: i32,
    kind: &'static str,
) -> Spoiler {
    Spoiler {
        name,
        step,
        step_name,
        error,
        status,
        kind,
    }
}

/// In the order in which they must be told. `<pack>` stands for the pack that is called.
const SPOILERS: [Spoiler; 9] = [
    spoiler(
        "pack",
        (1, "resolve_pack"),
        "unknown pack <pack>",
        3,
        "denied",
    ),
    spoiler(
        "session",
        (2, "check_activation"),
        "pack <pack> not activated",
        3,
        "denied",
    ),
    spoiler(
        "policy",
        (3, "resolve_policy"),
        "no policy for bare",
        3,
        "denied",
    ),
    spoiler(
        "project",
        (4, "authenticate"),
        "denied: privacy.land brain requires project_id",
        3,
        "denied",
    ),
    spoiler(
        "grant",
        (5, "assert_capability"),
        "denied: missing <pack>:use for <pack>.go",
        3,
        "denied",
    ),
    spoiler(
        "confirm",
        (6, "enforce_confirm"),
        "confirm required",
        3,
        "denied",
    ),
    spoiler("args", (6, "enforce_confirm"), "args: ", 3, "denied"),
    spoiler("binding", (7, "mint_binding"), "binding: ", 3, "outcome"),
    spoiler(
        "bin",
        (8, "run_adapter"),
        "sandbox: bin \"nowhere\" not allowlisted",
        127,
        "outcome",
    ),
];

/// The packs: whole, without a provider for what they declare, without a bin, without either.
const PACKS: [(&str, bool, bool); 4] = [
    ("sound", false, false),
    ("unbound", true, false),
    ("binless", false, true),
    ("hollow", true, true),
];

fn world() -> World {
    let world = World::new();
    world.ok(&["project", "add", "granted"]);
    world.ok(&["project", "add", "other"]);
    let ran = world.path("ran");
    for (id, unbound, binless) in PACKS {
        let mut pack = Pack::new(id)
            .section("[privacy]\nland = \"brain\"")
            .tool(&format!("echo ran >>'{}'; echo '{{}}'", ran.display()))
            .command(
                "go",
                &format!(
                    "effect = \"destructive\"\ncli = [\"{id}\", \"go\", \"--n={{{{n}}}}\"]\n\
                     args.n = {{ required = true, schema = {{ type = \"integer\" }} }}"
                ),
            )
            .ungoverned("bare", "effect = \"read\"");
        if unbound {
            pack = pack.section("[binding]\nenv = [\"TOKEN\"]");
        }
        if binless {
            pack = pack.wrap("bin = \"nowhere\"");
        }
        let folder = world.author(&pack);
        world.ok(&["pack", "add", text(&folder)]);
        let capability = format!("{id}:use");
        world.ok(&["grant", "add", "me", &capability, "--project", "granted"]);
    }
    world
}

/// The sessions, by whether the packs are activated and in which project.
fn sessions(world: &World) -> impl Fn(bool, Option<&str>) -> String {
    let mut opened = Vec::new();
    for active in [true, false] {
        for project in [Some("granted"), Some("other"), None] {
            let mut words = Vec::new();
            if active {
                words.extend(PACKS.iter().flat_map(|(id, ..)| ["--pack", id]));
            }
            if let Some(project) = project {
                words.extend(["--project", project]);
            }
            opened.push(((active, project), world.session(&words)));
        }
    }
    move |active, project| {
        let found = opened.iter().find(|(key, _)| *key == (active, project));
        found.unwrap().1.clone()
    }
}

/// Every choice of at most three spoilers, and so every pair.
fn choices() -> impl Iterator<Item = Vec<usize>> {
    let bits = 0_u32..(1 << SPOILERS.len());
    bits.filter(|bits| bits.count_ones() <= 3).map(|bits| {
        (0..SPOILERS.len())
            .filter(|at| bits >> at & 1 == 1)
            .collect()
    })
}

#[test]
fn the_earliest_fault_is_told_and_no_later_step_is_entered() {
    let world = world();
    let session_for = sessions(&world);
    let mut told = Vec::new();
    let mut successes = 0;
    for chosen in choices() {
        let names: Vec<&str> = chosen.iter().map(|at| SPOILERS[*at].name).collect();
        let is = |name: &str| names.contains(&name);
        let installed = PACKS
            .iter()
            .find(|(_, unbound, binless)| (*unbound, *binless) == (is("binding"), is("bin")));
        let pack = if is("pack") {
            "ghost"
        } else {
            installed.unwrap().0
        };
        let verb = if is("policy") { "bare" } else { "go" };
        let project = match (is("project"), is("grant")) {
            (true, _) => None,
            (false, true) => Some("other"),
            (false, false) => Some("granted"),
        };
        let session = session_for(!is("session"), project);
        let mut words = vec!["--timings", "--session", &session, pack, verb, "--"];
        words.push(if is("args") { "n=x" } else { "n=1" });
        if !is("confirm") {
            words.push("confirm=true");
        }
        let ran = world.exec(&words);
        let Some(first) = chosen.first().map(|at| SPOILERS[*at]) else {
            assert_eq!(ran.result(), json!({}));
            successes += 1;
            continue;
        };
        check(&names, &first, pack, &ran);
        told.push((names.join(" "), first, pack.to_owned()));
    }
    assert_eq!(successes, 1);
    let marks = std::fs::read_to_string(world.path("ran")).unwrap();
    assert_eq!(marks, "ran\n", "a refused call leaves no child");
    check_records(&world, &told);
}

fn check(names: &[&str], first: &Spoiler, pack: &str, ran: &crate::world::Ran) {
    let error = ran.error();
    let expected = first.error.replace("<pack>", pack);
    if expected.ends_with(": ") {
        assert!(error.starts_with(&expected), "{names:?}: {error}");
    } else {
        assert_eq!(error, expected, "{names:?}");
    }
    assert_eq!(ran.status, Some(first.status), "{names:?}");
    let mut steps = [
        "resolve_pack",
        "check_activation",
        "resolve_policy",
        "authenticate",
        "assert_capability",
        "enforce_confirm",
        "mint_binding",
        "run_adapter",
    ]
    .map(str::to_owned)
    .to_vec();
    steps.truncate(usize::try_from(first.step).unwrap());
    if first.step > 6 {
        // Durable before anything is minted or run, and only then.
        steps.insert(6, "intent".to_owned());
    }
    steps.push("record".to_owned());
    assert_eq!(ran.steps(), steps, "{names:?}");
}

fn check_records(world: &World, told: &[(String, Spoiler, String)]) {
    let ends: Vec<Value> = world
        .records()
        .into_iter()
        .filter(|record| record["kind"] == "denied" || record["kind"] == "outcome")
        .filter(|record| record["ok"] == false)
        .collect();
    assert_eq!(ends.len(), told.len());
    for (record, (names, spoiler, pack)) in ends.iter().zip(told) {
        assert_eq!(record["kind"], spoiler.kind, "{names}");
        assert_eq!(record["step"], spoiler.step, "{names}");
        assert_eq!(record["step_name"], spoiler.step_name, "{names}");
        assert_eq!(record["pack_id"], pack.as_str(), "{names}");
        let expected = spoiler.error.replace("<pack>", pack);
        assert!(
            record["error"].as_str().unwrap().starts_with(&expected),
            "{names}"
        );
    }
}

/// Both faces answer the same to the same call (§6.5).
#[test]
fn both_faces_answer_alike() {
    let world = World::with(
        &Pack::new("twin")
            .tool("case \"$2\" in --n=3) echo no >&2; exit 3;; esac; echo \"{\\\"n\\\": \\\"$2\\\"}\"")
            .command(
                "go",
                "effect = \"destructive\"\ncli = [\"twin\", \"go\", \"--n={{n}}\"]\n\
                 args.n = { required = true, schema = { type = \"integer\" } }",
            ),
    );
    let cases: [(&str, &str, &[&str], Value); 7] = [
        (
            "twin",
            "go",
            &["n=1", "confirm=true"],
            json!({ "n": 1, "confirm": true }),
        ),
        (
            "twin",
            "go",
            &["n=3", "apply=true"],
            json!({ "n": 3, "apply": true }),
        ),
        ("twin", "go", &["n=1"], json!({ "n": 1 })),
        ("twin", "go", &["confirm=true"], json!({ "confirm": true })),
        (
            "twin",
            "go",
            &["m=1", "confirm=true"],
            json!({ "m": 1, "confirm": true }),
        ),
        ("twin", "stop", &["n=1"], json!({ "n": 1 })),
        ("twine", "go", &["n=1"], json!({ "n": 1 })),
    ];
    for (pack, verb, pairs, args) in cases {
        let words = world.exec(&[&[pack, verb, "--"], pairs].concat());
        let json = world.send(crate::world::envelope(pack, verb, &args));
        assert_eq!(words.stdout, json.stdout);
        assert_eq!(words.status, json.status, "{}", words.stdout);
    }
}

/// A verb whose key already begins with the pack's id is named once.
#[test]
fn a_target_names_the_pack_once() {
    let world = World::new();
    let pack = Pack::new("twice")
        .command("twice.go", "effect = \"read\"")
        .command("twicego", "effect = \"read\"");
    let folder = world.author(&pack);
    world.ok(&["pack", "add", text(&folder)]);
    world.ok(&["activate", "twice"]);
    for (verb, target) in [("twice.go", "twice.go"), ("twicego", "twice.twicego")] {
        let error = world.exec(&["twice", verb]).error();
        assert_eq!(error, format!("denied: missing twice:use for {target}"));
    }
}
