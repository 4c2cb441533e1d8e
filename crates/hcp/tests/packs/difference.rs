//! `hcp pack diff` and `hcp pack add --replace`: nothing of a changed pack runs before the operator
//! saw the change and accepted it.

use serde_json::{Value, json};

use crate::place::{DEMO, Place};

fn added() -> Place {
    let place = Place::installed();
    place.demo("");
    place.ok(&["pack", "add", "demo"]);
    place.ok(&["activate", "demo"]);
    place.ok(&["grant", "add", "me", "demo:show"]);
    place
}

fn call(place: &Place) -> Value {
    place.hcp(&["exec", "demo", "show", "--", "word=x"]).json()
}

#[test]
fn every_change_is_told_with_what_it_may_widen() {
    let place = added();
    assert_eq!(place.ok(&["pack", "diff", "demo"])["same"], true);
    let policy = "capability = \"demo:show\"";
    let cases: &[(&str, &str, &str, bool)] = &[
        ("version = \"1\"", "version = \"2\"", "version", false),
        (
            "effect = \"read\"",
            "effect = \"write\"",
            "show.effect",
            true,
        ),
        ("\"show\", \"--word", "\"list\", \"--word", "show.cli", true),
        ("required = true\n", "", "show.args.word", true),
        (
            "required = true\n",
            "required = true\nsummary = \"s\"\n",
            "show.args.word",
            false,
        ),
        (policy, "capability = \"demo:other\"", "show.policy", true),
        (
            policy,
            "capability = \"demo:show\"\nconfirm = true",
            "show.policy",
            false,
        ),
        (
            "[policy.show]\ncapability = \"demo:show\"\n",
            "",
            "show.policy",
            false,
        ),
        ("./bin/tool", "./bin/other", "wrap.bin", true),
        (
            "[commands.show]\n",
            "[sandbox]\nnetwork = [\"h:1\"]\n[commands.show]\n",
            "sandbox.network",
            true,
        ),
        (
            "[commands.show]\n",
            "[sandbox]\nexec = [\"sh\"]\n[commands.show]\n",
            "sandbox.exec",
            true,
        ),
        (
            "[commands.show]\n",
            "[binding]\nenv = [\"TOKEN\"]\n[commands.show]\n",
            "binding.env",
            true,
        ),
        (
            "[commands.show]\n",
            "[commands.more]\nsummary = \"s\"\ncli = [\"t\", \"m\"]\n[commands.show]\n",
            "more",
            true,
        ),
        ("show", "display", "display", true),
    ];
    for (from, to, about, widens) in cases {
        assert!(DEMO.contains(from), "{from}");
        place.write("demo/hcp.toml", &DEMO.replace(from, to), 0o644);
        let difference = place.ok(&["pack", "diff", "demo"]);
        let changes = difference["changes"].as_array().unwrap();
        let change = changes.iter().find(|change| change["about"] == *about);
        let change = change.unwrap_or_else(|| panic!("{about}: {difference}"));
        assert_eq!(change["widens"], *widens, "{about}: {change}");
        assert_eq!(
            difference["files"],
            json!([{ "path": "hcp.toml", "change": "changed" }])
        );
        assert_eq!(difference["same"], false);
    }
    place.demo("");
    place.write("demo/bin/tool", "#!/bin/sh\necho 1\n", 0o755);
    place.write("demo/new", "", 0o644);
    let difference = place.ok(&["pack", "diff", "demo"]);
    let files =
        json!([{ "path": "bin/tool", "change": "changed" }, { "path": "new", "change": "added" }]);
    assert_eq!(
        (&difference["files"], &difference["changes"]),
        (&files, &json!([]))
    );
}

#[test]
fn other_bytes_run_only_once_they_are_accepted_and_activated() {
    let place = added();
    assert_eq!(
        call(&place)["result"],
        json!(["show", "--word=x", "--json"])
    );
    place.write("demo/bin/tool", "#!/bin/sh\necho 2\n", 0o755);
    let ran = place.hcp(&["pack", "add", "demo"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr
            .contains("pack `demo` is already installed with other bytes"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.contains("hcp pack diff DIR") && ran.stderr.contains("--replace"),
        "{ran:?}"
    );
    assert_eq!(
        call(&place)["result"],
        json!(["show", "--word=x", "--json"])
    );

    let before = place.ok(&["pack", "list"])[0]["digest"].clone();
    let ran = place.hcp(&["pack", "add", "demo", "--replace"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("! file bin/tool changed"),
        "shown first: {ran:?}"
    );
    assert_eq!(ran.json()["replaced"]["installed"]["digest"], before);
    assert_eq!(call(&place)["error"], "pack demo not activated");
    place.ok(&["activate", "demo"]);
    assert_eq!(call(&place)["result"], 2);

    let records = place.ok(&["audit", "list"]);
    let acts: Vec<&Value> = records
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["verb_key"] == "pack add")
        .collect();
    assert_eq!(acts.len(), 2, "one act, one record");
    assert!(
        !place
            .path("home/packs")
            .join(before.as_str().unwrap())
            .exists(),
        "the old copy is gone"
    );
    assert_eq!(place.ok(&["pack", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(
        place.ok(&["pack", "add", "demo", "--replace"])["added"],
        false
    );
    assert_eq!(
        call(&place)["result"],
        2,
        "nothing was replaced, so the session keeps it"
    );
}

#[test]
fn a_replacement_inherits_no_rights_and_no_bins() {
    let place = added();
    place.ok(&["grant", "add", "me", "demo:*"]);
    place.ok(&["pack", "add", "demo", "--replace", "--allow-bin", "jq"]);
    let more = "[commands.wipe]\nsummary = \"s\"\ncli = [\"t\", \"wipe\"]\n[policy.wipe]\ncapability = \"demo:wipe\"\n";
    place.demo(more);
    let ran = place.hcp(&["pack", "add", "demo", "--replace"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(
        ran.stderr
            .contains("capability `demo:wipe` is already used by a grant of `demo:*`"),
        "{ran:?}"
    );
    assert_eq!(
        place.ok(&["pack", "list"])[0]["allow_bins"],
        json!(["jq"]),
        "nothing changed"
    );

    let ran = place.hcp(&[
        "pack",
        "add",
        "demo",
        "--replace",
        "--share-capability",
        "demo:wipe",
    ]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("bins allowed by you: gone: jq"),
        "{ran:?}"
    );
    assert_eq!(place.ok(&["pack", "list"])[0]["allow_bins"], json!([]));
}

#[test]
fn what_is_not_installed_cannot_be_compared() {
    let place = Place::installed();
    place.demo("");
    for words in [
        &["pack", "diff", "demo"][..],
        &["pack", "add", "demo", "--replace"],
    ] {
        let ran = place.hcp(words);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(
            ran.stderr.contains("pack `demo` is not installed"),
            "{ran:?}"
        );
    }
    assert_eq!(place.ok(&["pack", "list"]), json!([]));
}
