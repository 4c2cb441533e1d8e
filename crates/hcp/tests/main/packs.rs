//! Packs as they are installed (design §4): pinned to the bytes that were added, and not to be run
//! with others until the operator accepts them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::pack::{Pack, write_tool};
use crate::world::{World, text};

fn pack(words: &str) -> Pack {
    Pack::of_tool("pinned", &format!("printf %s {words}")).file("data/note", "a note")
}

/// The copy that runs.
fn copy(world: &World) -> PathBuf {
    let digest = world.ok(&["pack", "list"])[0]["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    world.home().join("packs").join(digest)
}

fn open_up(folder: &Path) {
    for path in [folder.to_owned(), folder.join("bin"), folder.join("data")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

type Tamper = fn(&Path);

#[test]
fn a_copy_that_was_changed_is_unknown() {
    let cases: [(&str, Tamper); 9] = [
        ("a byte of the tool", |root| {
            let path = root.join("bin/pinned");
            let bytes = fs::read_to_string(&path).unwrap().replace("one", "two");
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
        }),
        ("a byte, in place, with the times put back", |root| {
            let path = root.join("bin/pinned");
            let times = root.join("data/note");
            Command::new("touch")
                .arg("-r")
                .args([&path, &times])
                .status()
                .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            let bytes = fs::read_to_string(&path).unwrap().replace("one", "two");
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
            Command::new("touch")
                .arg("-r")
                .args([&times, &path])
                .status()
                .unwrap();
        }),
        ("the manifest", |root| {
            let path = root.join("hcp.toml");
            let text = fs::read_to_string(&path).unwrap();
            fs::remove_file(&path).unwrap();
            fs::write(&path, format!("{text}\n# looser")).unwrap();
        }),
        ("a name", |root| {
            fs::rename(root.join("data/note"), root.join("data/other")).unwrap();
        }),
        ("a file more", |root| {
            fs::write(root.join("data/more"), "").unwrap();
        }),
        ("a file less", |root| {
            fs::remove_file(root.join("data/note")).unwrap();
        }),
        ("a mode", |root| {
            fs::set_permissions(root.join("data/note"), fs::Permissions::from_mode(0o500)).unwrap();
        }),
        ("a link in the place of a file", |root| {
            fs::remove_file(root.join("data/note")).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", root.join("data/note")).unwrap();
        }),
        ("everything gone", |root| fs::remove_dir_all(root).unwrap()),
    ];
    for (what, tamper) in cases {
        let world = World::with(&pack("one"));
        assert_eq!(world.exec(&["pinned", "go"]).result(), "one");
        let root = copy(&world);
        open_up(&root);
        tamper(&root);
        let ran = world.exec(&["pinned", "go"]);
        assert_eq!(ran.error(), "unknown pack pinned", "{what}");
        assert_eq!(ran.status, Some(3), "{what}");
        let record = world.last_record();
        assert_eq!(record["step_name"], "resolve_pack", "{what}");
        assert!(record["detail"].is_string(), "{what}: the record tells why");
        assert!(ran.stderr.contains("why: "), "{what}: {}", ran.stderr);
        let activate = world.hcp(&["activate", "pinned"]);
        assert_eq!(activate.status, Some(2), "{what}");
        // Adding the true bytes again mends it.
        world.ok(&["pack", "add", text(&world.path("packs/pinned"))]);
        assert_eq!(world.exec(&["pinned", "go"]).result(), "one", "{what}");
    }
}

#[test]
fn other_bytes_need_the_operator_and_a_new_activation() {
    let world = World::with(&pack("one"));
    let folder = world.author(&pack("two"));
    assert_eq!(
        world.exec(&["pinned", "go"]).result(),
        "one",
        "the copy runs, not the folder"
    );
    let added = world.hcp(&["pack", "add", text(&folder)]);
    assert_eq!(added.status, Some(2));
    assert!(
        added
            .stderr
            .contains("`pinned` is already installed with other bytes")
    );
    assert_eq!(world.exec(&["pinned", "go"]).result(), "one");
    world.ok(&["pack", "remove", "pinned"]);
    assert_eq!(world.exec(&["pinned", "go"]).error(), "unknown pack pinned");
    assert!(
        world.names("packs").is_empty(),
        "nothing is left of the copy"
    );
    world.ok(&[
        "pack",
        "add",
        text(&folder),
        "--share-capability",
        "pinned:use",
    ]);
    assert_eq!(
        world.exec(&["pinned", "go"]).error(),
        "pack pinned not activated"
    );
    world.ok(&["activate", "pinned"]);
    assert_eq!(world.exec(&["pinned", "go"]).result(), "two");
    // The very same bytes change nothing.
    let again = world.ok(&["pack", "add", text(&folder)]);
    assert_eq!(again["added"], false);
    assert_eq!(world.exec(&["pinned", "go"]).result(), "two");
}

#[test]
fn a_linked_pack_runs_from_where_it_is() {
    let world = World::new();
    let folder = world.author(&pack("one"));
    world.ok(&["pack", "add", "--link", text(&folder)]);
    world.ok(&["activate", "pinned"]);
    world.ok(&["grant", "add", "me", "pinned:*"]);
    assert_eq!(world.exec(&["pinned", "go"]).result(), "one");
    assert_eq!(world.ok(&["pack", "list"])[0]["linked"], true);
    write_tool(&folder.join("bin/pinned"), "pwd -P");
    let expected = format!("{}\n", fs::canonicalize(&folder).unwrap().display());
    assert_eq!(world.exec(&["pinned", "go"]).result(), expected.as_str());
    fs::write(folder.join("hcp.toml"), "hcp = 1").unwrap();
    assert_eq!(world.exec(&["pinned", "go"]).error(), "unknown pack pinned");
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(world.exec(&["pinned", "go"]).error(), "unknown pack pinned");
    world.ok(&["pack", "remove", "pinned"]);
}

/// Case 30: a new pack does not inherit rights by naming them.
#[test]
fn a_capability_in_use_is_not_shared_unasked() {
    let world = World::new();
    let own = |id: &str, word: &str| {
        let policy = format!("capability = \"{word}\"");
        Pack::new(id).governed("go", "effect = \"read\"", &policy)
    };
    let add = |pack: &Pack, more: &[&str]| {
        let folder = world.author(pack);
        world.hcp(&[&["pack", "add", text(&folder)], more].concat())
    };
    assert_eq!(add(&own("first", "shared:word"), &[]).status, Some(0));
    world.ok(&["grant", "add", "me", "granted:word"]);
    world.ok(&["grant", "add", "me", "wide:*"]);
    let cases = [
        ("shared:word", "pack `first`"),
        ("granted:word", "a grant of `granted:word`"),
        ("wide:anything", "a grant of `wide:*`"),
    ];
    for (at, (word, by)) in cases.into_iter().enumerate() {
        let pack = own(&format!("later{at}"), word);
        let refused = add(&pack, &[]);
        assert_eq!(refused.status, Some(2), "{word}");
        assert!(refused.stderr.contains(by), "{word}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("--share-capability"),
            "{word}: {}",
            refused.stderr
        );
        let unrelated = add(&pack, &["--share-capability", "other:word"]);
        assert_eq!(unrelated.status, Some(2), "{word}");
        let shared = add(&pack, &["--share-capability", word]);
        assert_eq!(shared.status, Some(0), "{word}: {}", shared.stderr);
    }
    assert_eq!(add(&own("own", "own:word"), &[]).status, Some(0));
}

#[test]
fn a_pack_holds_plain_files_and_folders_only() {
    let cases: [(&str, Tamper); 6] = [
        ("a link to a file", |root| {
            std::os::unix::fs::symlink("bin/odd", root.join("link")).unwrap();
        }),
        ("a bin that is a link out", |root| {
            fs::remove_file(root.join("bin/odd")).unwrap();
            std::os::unix::fs::symlink("/bin/sh", root.join("bin/odd")).unwrap();
        }),
        ("a dangling link", |root| {
            std::os::unix::fs::symlink("/nowhere", root.join("link")).unwrap();
        }),
        ("a pipe", |root| {
            Command::new("mkfifo")
                .arg(root.join("pipe"))
                .status()
                .unwrap();
        }),
        ("a socket", |root| {
            drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
        }),
        ("a set-uid file", |root| {
            let mode = fs::Permissions::from_mode(0o4755);
            fs::set_permissions(root.join("bin/odd"), mode).unwrap();
        }),
    ];
    for (what, change) in cases {
        let world = World::new();
        let folder = world.author(&Pack::of_tool("odd", "echo '{}'"));
        change(&folder);
        let added = world.hcp(&["pack", "add", text(&folder)]);
        assert_eq!(added.status, Some(2), "{what}: {}", added.stderr);
        assert!(
            added.stderr.contains("plain files and folders only"),
            "{what}: {}",
            added.stderr
        );
        assert_eq!(world.ok(&["pack", "list"]), json!([]), "{what}");
        assert!(world.names("packs").is_empty(), "{what}");
    }
}

/// Case 26: what cannot be run adds with a warning, and step 8 refuses it.
#[test]
fn bins_that_are_no_programs() {
    let cases: [(&str, Tamper); 4] = [
        ("a folder", |bin| {
            fs::remove_file(bin).unwrap();
            fs::create_dir(bin).unwrap();
        }),
        ("not executable", |bin| {
            fs::set_permissions(bin, fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("an interpreter that is not there", |bin| {
            fs::write(bin, "#!/no/such/interpreter\n").unwrap();
        }),
        ("neither script nor program", |bin| {
            fs::write(bin, "echo hello\n").unwrap();
        }),
    ];
    for (what, change) in cases {
        let world = World::new();
        let pack = Pack::of_tool("odd", "echo '{}'");
        let folder = world.author(&pack);
        change(&folder.join("bin/odd"));
        let added = world.hcp(&["pack", "add", text(&folder)]);
        assert_eq!(added.status, Some(0), "{what}: {}", added.stderr);
        world.ok(&["activate", "odd"]);
        world.ok(&["grant", "add", "me", "odd:*"]);
        let ran = world.exec(&["odd", "go"]);
        let error = ran.error();
        assert!(
            error.starts_with("sandbox: bin \"./bin/odd\" not "),
            "{what}: {error}"
        );
        assert_eq!(ran.status, Some(127), "{what}: {error}");
        assert!(
            added.stderr.contains("warning: "),
            "{what}: {}",
            added.stderr
        );
    }
}

#[test]
fn many_packs_are_as_good_as_one() {
    let world = World::new();
    let template = world.author(&Pack::of_tool("many", "printf many"));
    let manifest = fs::read_to_string(template.join("hcp.toml")).unwrap();
    // Added through the library's own command, each with a capability of its own.
    for at in 0..300 {
        let id = format!("many{at}");
        let folder = world.path(&format!("packs/{id}"));
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::copy(template.join("bin/many"), folder.join("bin/many")).unwrap();
        let text = manifest
            .replace("id = \"many\"", &format!("id = \"{id}\""))
            .replace("many:use", &format!("{id}:use"));
        fs::write(folder.join("hcp.toml"), text).unwrap();
        world.ok(&["pack", "add", folder.to_str().unwrap()]);
    }
    let listed = world.ok(&["pack", "list"]);
    assert_eq!(
        listed.as_array().unwrap().len(),
        300,
        "lists print everything"
    );
    let some = world.ok(&["pack", "list", "--limit", "7"]);
    assert_eq!(some.as_array().unwrap().len(), 7);
    world.ok(&["activate", "many7", "many299"]);
    world.ok(&["grant", "add", "me", "many299:use"]);
    assert_eq!(world.exec(&["many299", "go"]).result(), "many");
    assert_eq!(
        world.exec(&["many7", "go"]).error(),
        "denied: missing many7:use for many7.go"
    );
    assert_eq!(
        world.exec(&["many8", "go"]).error(),
        "pack many8 not activated"
    );
}
