//! What a jail is given: its pack, its state, paths to read and to write, programs to start.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use hcp_sandbox::{BinSearch, CheckedBin, End, Finished, GrantedPath, Jail, Roots, check_bin};
use tempfile::TempDir;

use crate::support::{Run, search_path, system, text, write};

/// A pack, a state folder and two roots, readable to their owner only.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pack/bin", "state", "open/inner", "closed"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let place = Self { folder };
        for name in ["pack", "state", "open", "closed"] {
            fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        for name in ["open/file", "open/inner/file", "closed/file", "pack/data"] {
            write(&place.path(name), "content", 0o600);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn granted(&self, path: &Path) -> GrantedPath {
        Roots::open(&[self.path("open")])
            .unwrap()
            .resolve(path)
            .unwrap()
    }

    /// A script of the pack, run with `argv` and what `jail` adds to pack and state.
    fn run(&self, script: &str, argv: &[&str], jail: Jail<'_>) -> Finished {
        write(&self.path("pack/bin/tool"), script, 0o500);
        let bin = self.bin("./bin/tool");
        let (pack, state) = (self.path("pack"), self.path("state"));
        let jail = Jail {
            pack: Some(&pack),
            state: Some(&state),
            ..jail
        };
        let mut run = Run::new(&bin).argv(argv);
        run.working_directory = self.path("pack");
        run.jailed(&jail).unwrap()
    }

    fn bin(&self, name: &str) -> CheckedBin {
        let search = BinSearch {
            pack_root: &self.path("pack"),
            path: &search_path(),
            allowed: &[],
        };
        check_bin(name, &search).unwrap()
    }
}

/// For each path given: what reading it, and then writing it, comes to.
const TOUCH: &str = "#!/usr/bin/env python3
import os, sys
def attempt(name, action):
    try: return name + ' ' + str(action())
    except OSError as error: return name + ' ' + error.strerror
def read(path):
    return os.listdir(path) if os.path.isdir(path) else open(path).read()
def write(path):
    if os.path.isdir(path): path += '/made'
    open(path, 'w').write('written')
    return 'done'
for path in sys.argv[1:]:
    print(attempt('read', lambda: read(path)), attempt('write', lambda: write(path)), sep='; ')
";

fn touched(finished: &Finished) -> Vec<&str> {
    assert_eq!(text(&finished.stderr), "");
    text(&finished.stdout).lines().collect()
}

#[test]
fn pack_state_and_granted_paths_and_nothing_else() {
    let place = Place::new();
    let paths = [
        "pack",
        "pack/data",
        "state",
        "open/file",
        "open/inner",
        "closed",
        "open",
        "",
    ]
    .map(|name| place.path(name).to_str().unwrap().to_owned());
    let argv: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (file, inner) = (
        place.granted(&place.path("open/file")),
        place.granted(&place.path("open/inner")),
    );
    let finished = place.run(
        TOUCH,
        &argv,
        Jail {
            read: vec![&file],
            write: vec![&inner],
            ..Jail::default()
        },
    );
    let closed = "Read-only file system";
    let missing = "No such file or directory";
    let found = touched(&finished);
    assert_eq!(found[1], format!("read content; write {closed}"));
    assert!(
        found[0].ends_with(&format!("write {closed}")),
        "{}",
        found[0]
    );
    assert_eq!(found[2], "read []; write done");
    assert_eq!(found[3], format!("read content; write {closed}"));
    assert_eq!(found[4], "read ['file']; write done");
    assert!(
        found[5].starts_with(&format!("read {missing}")),
        "{}",
        found[5]
    );
    // What leads to a granted path holds nothing else.
    assert!(
        found[6].starts_with("read ['") && !found[6].contains("closed"),
        "{}",
        found[6]
    );
    assert!(!found[7].contains("closed"), "{}", found[7]);
    for made in ["state/made", "open/inner/made"] {
        assert_eq!(fs::read_to_string(place.path(made)).unwrap(), "written");
        let metadata = fs::metadata(place.path(made)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
        let owner = std::os::unix::fs::MetadataExt::uid(&metadata);
        assert_eq!(
            owner,
            rustix::process::geteuid().as_raw(),
            "as if the runtime had made it"
        );
    }
}

#[test]
fn a_file_that_is_to_be_made_is_made_or_gone_again() {
    for (script, content) in [(TOUCH, Some("written")), ("#!/usr/bin/env python3\n", None)] {
        let place = Place::new();
        let path = place.path("open/new");
        let granted = place.granted(&path);
        assert!(!granted.exists());
        place.run(
            script,
            &[path.to_str().unwrap()],
            Jail {
                write: vec![&granted],
                ..Jail::default()
            },
        );
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), content);
    }
}

#[test]
fn what_is_granted_is_the_file_and_not_its_name() {
    let place = Place::new();
    let path = place.path("open/file");
    let granted = place.granted(&path);
    fs::rename(&path, place.path("open/moved")).unwrap();
    for swap in ["link", "file"] {
        let _ = fs::remove_file(&path);
        match swap {
            "link" => symlink(place.path("closed/file"), &path).unwrap(),
            _ => write(&path, "another", 0o600),
        }
        let bin = system("true");
        let jail = Jail {
            read: vec![&granted],
            ..Jail::default()
        };
        let error = Run::new(&bin).jailed(&jail).unwrap_err();
        assert!(
            error.to_string().contains("cannot be shown in the jail"),
            "{error}"
        );
    }
}

#[test]
fn what_the_jail_has_of_its_own_is_never_covered() {
    let bin = system("true");
    for path in [
        "/",
        "/etc",
        "/usr",
        "/proc",
        "/dev",
        "/tmp",
        "/home",
        "/proc/sys",
    ] {
        let roots = Roots::open(&[PathBuf::from(path)]).unwrap();
        let Some(granted) = roots.resolve(Path::new(path)) else {
            continue;
        };
        for jail in [
            Jail {
                read: vec![&granted],
                ..Jail::default()
            },
            Jail {
                write: vec![&granted],
                ..Jail::default()
            },
        ] {
            assert!(Run::new(&bin).jailed(&jail).is_err(), "{path}");
        }
    }
}

#[test]
fn only_named_programs_are_started() {
    let place = Place::new();
    let start = "#!/usr/bin/env python3
import os, subprocess, sys
for path in sys.argv[1:]:
    try: print(subprocess.run([path], capture_output=True).returncode)
    except OSError as error: print(error.strerror)
";
    write(&place.path("pack/bin/other"), "#!/bin/sh\nexit 3\n", 0o500);
    write(
        &place.path("open/inner/program"),
        "#!/bin/sh\nexit 4\n",
        0o700,
    );
    let paths = ["pack/bin/other", "open/inner/program"]
        .map(|name| place.path(name).to_str().unwrap().to_owned());
    let argv = ["/bin/true", "/bin/sh", "/bin/false", &paths[0], &paths[1]];
    let inner = place.granted(&place.path("open/inner"));
    let tools = [system("false"), place.bin("./bin/other")];
    let finished = place.run(
        start,
        &argv,
        Jail {
            read: vec![&inner],
            exec: &tools,
            ..Jail::default()
        },
    );
    let refused = "Permission denied";
    // Naming a script names its interpreter.
    assert_eq!(touched(&finished), [refused, "0", "1", "3", refused]);
}

#[test]
fn a_program_from_elsewhere_is_shown_alone() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("beside"), "", 0o644);
    fs::copy("/bin/cat", folder.path().join("tool")).unwrap();
    let path = folder.path().join("tool");
    let allowed = path.to_str().unwrap().to_owned();
    let search = BinSearch {
        pack_root: Path::new("/nowhere"),
        path: &[],
        allowed: std::slice::from_ref(&allowed),
    };
    let bin = check_bin(&allowed, &search).unwrap();
    let beside = folder.path().join("beside");
    let finished = Run::new(&bin)
        .argv(&[beside.to_str().unwrap()])
        .jailed(&Jail::default())
        .unwrap();
    assert_eq!(finished.end, End::Exited(1));
    assert!(text(&finished.stderr).contains("No such file"));
}

#[test]
fn home_and_temporary_folder_are_fresh_bounded_and_hold_no_program() {
    let script = "import os
for folder in ('/home/hcp', '/tmp'):
    print(os.listdir(folder), oct(os.stat(folder).st_mode & 0o7777))
    path = folder + '/program'
    open(path, 'w').write('#!/bin/sh\\n')
    os.chmod(path, 0o755)
    try: os.execv(path, [path])
    except OSError as error: print(error.strerror)
    try:
        for number in range(70000): os.mkdir(f'{folder}/{number}')
    except OSError as error: print(error.strerror)
    for number in range(40000):
        try: os.rmdir(f'{folder}/{number}')
        except OSError: break
    try:
        with open(folder + '/large', 'wb') as file:
            for _ in range(80): file.write(bytes(1 << 20))
    except OSError as error: print(error.strerror)
    os.remove(folder + '/large')
";
    let full = "No space left on device";
    let expected = |mode: &str| format!("[] {mode}\nPermission denied\n{full}\n{full}\n");
    for _ in 0..2 {
        let finished = super::python(script, |mut run| {
            run.limits.memory = Some(128 << 20);
            run
        });
        assert_eq!(text(&finished.stderr), "");
        let found = format!("{}{}", expected("0o700"), expected("0o1777"));
        assert_eq!(text(&finished.stdout), found);
    }
}
