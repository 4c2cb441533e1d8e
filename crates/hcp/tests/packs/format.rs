//! `hcp pack fmt`: the file is written when it has to be, and only then.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use crate::place::{DEMO, Place};

#[test]
fn a_manifest_is_formatted_in_place_and_checked() {
    let place = Place::bare();
    place.demo("");
    let ran = place.hcp(&["pack", "fmt", "--check", "demo"]);
    assert_eq!(
        (ran.status, &ran.json()["changed"]),
        (Some(0), &false.into())
    );

    let messy = DEMO.replace("hcp = 1\nid = \"demo\"\n", "id = \"demo\" # which\nhcp=1\n");
    let file = place.write("demo/hcp.toml", &messy, 0o640);
    let ran = place.hcp(&["pack", "fmt", "--check", "demo"]);
    assert_eq!(
        (ran.status, &ran.json()["changed"]),
        (Some(1), &true.into())
    );
    assert_eq!(place.read("demo/hcp.toml"), messy, "--check writes nothing");

    place.ok(&["pack", "fmt", "demo"]);
    let tidy = DEMO.replace("id = \"demo\"\n", "id = \"demo\" # which\n");
    assert_eq!(place.read("demo/hcp.toml"), tidy);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let inode = file.metadata().unwrap().ino();
    place.ok(&["pack", "fmt", "demo"]);
    assert_eq!(
        file.metadata().unwrap().ino(),
        inode,
        "nothing to write, nothing written"
    );
    assert_eq!(std::fs::read_dir(place.path("demo")).unwrap().count(), 2);
}

#[test]
fn a_faulty_manifest_stays_as_it_is() {
    let place = Place::bare();
    place.demo("x=1\n");
    let ran = place.hcp(&["pack", "fmt", "demo"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("hcp.toml:"), "{ran:?}");
    assert!(place.read("demo/hcp.toml").ends_with("x=1\n"));
}
