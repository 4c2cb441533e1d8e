//! What a jailed program is and what it can see.

use std::collections::BTreeSet;

use super::python;
use crate::support::text;

/// The words that a script prints.
fn words(script: &str) -> BTreeSet<String> {
    let finished = python(script, |run| run);
    assert_eq!(text(&finished.stderr), "");
    text(&finished.stdout)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_program_is_nobody_with_nothing() {
    let script = "import os\n\
                  print(os.getuid(), os.getgid(), os.getpid(), os.getppid(), oct(os.umask(0)))\n\
                  for line in open('/proc/self/status'):\n\
                  \x20 name, value = line.split(':')\n\
                  \x20 if name.startswith('Cap') or name in ('NoNewPrivs', 'Seccomp'):\n\
                  \x20   print(name + '=' + value.strip())";
    let none = "0000000000000000";
    let expected = [
        "1879048192".to_owned(),
        "2".to_owned(),
        "1".to_owned(),
        "0o77".to_owned(),
        format!("CapInh={none}"),
        format!("CapPrm={none}"),
        format!("CapEff={none}"),
        format!("CapBnd={none}"),
        format!("CapAmb={none}"),
        "NoNewPrivs=1".to_owned(),
        "Seccomp=2".to_owned(),
    ];
    assert_eq!(words(script), BTreeSet::from(expected));
}

#[test]
fn a_program_sees_what_every_jail_has() {
    let listed = |path: &str| words(&format!("import os; print(*os.listdir('{path}'))"));
    let root = listed("/");
    let known: BTreeSet<String> = [
        "bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp",
        "usr",
    ]
    .map(str::to_owned)
    .into();
    assert!(root.is_subset(&known), "{root:?}");
    assert!(root.contains("usr") && root.contains("proc"));
    assert_eq!(listed("/home"), BTreeSet::from(["hcp".to_owned()]));
    assert!(listed("/home/hcp").is_empty() && listed("/tmp").is_empty());
    let processes = BTreeSet::from(["self", "thread-self", "2"].map(str::to_owned));
    assert_eq!(listed("/proc"), processes);
    // The fourth is the listing itself.
    let descriptors = BTreeSet::from(["0", "1", "2", "3"].map(str::to_owned));
    assert_eq!(listed("/proc/self/fd"), descriptors);
}
