//! `hcp pack new`: what it writes stands up to lint and test, and can be added and called at once.

use std::fs;

use crate::place::Place;

#[test]
fn a_new_pack_passes_and_runs() {
    let place = Place::installed();
    let made = place.ok(&["pack", "new", "greeter"]);
    assert_eq!(made["pack_id"], "greeter");
    let lint = place.ok(&["pack", "lint", "greeter"]);
    assert_eq!(lint["findings"], serde_json::json!([]), "{lint}");
    let tested = place.ok(&["pack", "test", "greeter"]);
    assert_eq!(
        (&tested["passed"], &tested["failed"]),
        (&1.into(), &0.into()),
        "{tested}"
    );
    place.ok(&["pack", "fmt", "--check", "greeter"]);

    place.ok(&["pack", "add", "greeter"]);
    place.ok(&["activate", "greeter"]);
    place.ok(&["grant", "add", "me", "greeter:read"]);
    let answer = place.ok(&["exec", "greeter", "greet", "--", "name=Ada"]);
    assert_eq!(answer["result"]["greeting"], "Hello, Ada");

    let manifest = place.read("greeter/hcp.toml");
    assert!(manifest.starts_with("#:schema ./hcp.schema.json\n"));
    let schema: serde_json::Value =
        serde_json::from_str(&place.read("greeter/hcp.schema.json")).unwrap();
    assert!(schema["properties"]["commands"].is_object(), "{schema}");
    assert!(!place.path("greeter/.gitignore").exists());
}

#[test]
fn the_id_is_the_folder_or_what_is_said() {
    let place = Place::bare();
    assert_eq!(
        place.ok(&["pack", "new", "a/b/deep", "--id", "other"])["pack_id"],
        "other"
    );
    fs::create_dir(place.path("empty")).unwrap();
    assert_eq!(place.ok(&["pack", "new", "empty"])["pack_id"], "empty");
    for (words, message) in [
        (&["pack", "new", "empty"][..], "something is in it already"),
        (&["pack", "new", "Upper"], "name it with --id"),
        (&["pack", "new", "x", "--id", "../up"], "is not a pack id"),
    ] {
        let ran = place.hcp(words);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    assert!(!place.path("Upper").exists() && !place.path("x").exists());
}
