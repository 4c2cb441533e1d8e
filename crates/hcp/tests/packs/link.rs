//! `hcp pack link`, and that hcp itself is never what a pack runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use crate::place::{DEMO, HCP, Place, text};

fn added() -> Place {
    let place = Place::installed();
    place.demo("");
    place.ok(&["pack", "add", "demo"]);
    place.ok(&["activate", "demo"]);
    place.ok(&["grant", "add", "me", "demo:show"]);
    place
}

#[test]
fn a_linked_pack_is_a_command_of_its_own() {
    let place = added();
    let linked = place.ok(&["pack", "link", "demo"]);
    let link = place.path("user/.local/bin/demo");
    assert_eq!(linked["link"], text(&link));
    let ran = place.run(Command::new(&link).args(["show", "--word", "x y"]));
    assert_eq!(
        ran.json()["result"],
        json!(["show", "--word=x y", "--json"]),
        "{ran:?}"
    );
    let refused = place.run(Command::new(&link).args(["show"]));
    assert_eq!(refused.status, Some(3), "{refused:?}");

    assert_eq!(place.ok(&["pack", "link", "demo"])["changed"], false);
    assert_eq!(
        place.ok(&["pack", "link", "demo", "--remove"])["linked"],
        false
    );
    assert!(fs::symlink_metadata(&link).is_err());
    let again = place.hcp(&["pack", "link", "demo", "--remove"]);
    assert_eq!(again.status, Some(2));
    assert!(again.stderr.contains("there is no link"), "{again:?}");
    place.ok(&["pack", "link", "demo", "--dir", "elsewhere/bin"]);
    assert!(
        fs::symlink_metadata(place.path("elsewhere/bin/demo"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn what_is_not_our_link_is_left_alone() {
    let place = added();
    fs::create_dir(place.path("bin")).unwrap();
    let link = place.path("bin/demo");
    let occupy: [(&str, &dyn Fn()); 5] = [
        ("a file", &|| fs::write(&link, "x").unwrap()),
        ("a link elsewhere", &|| symlink("/bin/sh", &link).unwrap()),
        ("a link to nothing", &|| symlink("none", &link).unwrap()),
        ("a folder", &|| fs::create_dir(&link).unwrap()),
        ("hcp itself, not as a link", &|| {
            fs::hard_link(HCP, &link)
                .or_else(|_| fs::copy(HCP, &link).map(drop))
                .unwrap();
        }),
    ];
    for (what, occupy) in occupy {
        occupy();
        for more in [&[][..], &["--remove"]] {
            let ran = place.hcp(&[&["pack", "link", "demo", "--dir", "bin"], more].concat());
            assert_eq!(ran.status, Some(2), "{what}: {ran:?}");
            assert!(
                ran.stderr.contains("is no link to this hcp"),
                "{what}: {ran:?}"
            );
            assert!(fs::symlink_metadata(&link).is_ok(), "{what} is still there");
        }
        let _ = fs::remove_file(&link);
        let _ = fs::remove_dir(&link);
    }
}

#[test]
fn only_installed_packs_with_an_honest_name_are_linked() {
    let place = added();
    for (id, message) in [
        ("demos", "did you mean `demo`?"),
        ("hcp", "would be hcp itself"),
        ("../demo", "is not a pack id"),
    ] {
        let ran = place.hcp(&["pack", "link", id]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    assert!(!place.path("user").exists());
}

#[test]
fn hcp_itself_is_no_bin() {
    let place = Place::installed();
    let manifest = DEMO.replace("./bin/tool", HCP);
    place.write("demo/hcp.toml", &manifest, 0o644);
    let added = place.hcp(&["pack", "add", "demo", "--allow-bin", HCP]);
    assert!(added.stderr.contains("is the runtime itself"), "{added:?}");
    place.ok(&["activate", "demo"]);
    place.ok(&["grant", "add", "me", "demo:show"]);
    let ran = place.hcp(&["exec", "demo", "show", "--", "word=x"]);
    assert_eq!(ran.status, Some(127), "{ran:?}");
    assert_eq!(
        ran.json()["error"],
        format!("sandbox: bin \"{HCP}\" not allowlisted")
    );

    // Nor under another name, from a folder that is run in place.
    place.write("other/hcp.toml", &DEMO.replace("demo", "other"), 0o644);
    fs::create_dir(place.path("other/bin")).unwrap();
    if fs::hard_link(HCP, place.path("other/bin/tool")).is_ok() {
        let added = place.hcp(&["pack", "add", "other", "--link"]);
        assert!(added.stderr.contains("is the runtime itself"), "{added:?}");
    }
}
