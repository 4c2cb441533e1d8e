//! What one jail is made of: which mounts stand where, and which rights Landlock gives on them.
//!
//! The part that every jail has is listed once in the life of a runtime; a call adds its pack, its
//! state and the paths that its arguments name.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{FileType, Stat};

use super::held;
use super::identity::{USER, Way};
use super::landlock::{Right, Rule};
use super::root::{Action, Mount, NO_DEVICES, NO_EXECUTE, NO_SET_ID, READ_ONLY, Source, Spot};
use crate::fitness::Identity;
use crate::launch::LaunchError;

/// Where a jail has its HOME.
pub(crate) const HOME: &str = "/home/hcp";
/// Where a jail has its TMPDIR.
pub(crate) const TEMPORARY: &str = "/tmp";

/// The folders of programs and libraries; where one is a link, the jail has the link.
const SYSTEM: [&str; 7] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
];
/// What programs look up besides: libraries, names of programs, certificates, the time zone.
const CONFIGURATION: [&str; 8] = [
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies/back-ends",
    "/etc/localtime",
];
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"];
const LINKS: [(&str, &str); 5] = [
    ("/dev/random", "urandom"),
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
/// What nothing may be mounted over, nor above.
const OWN: [&str; 5] = ["/etc", "/dev", "/proc", HOME, TEMPORARY];

/// The part that every jail has.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) actions: Vec<Action>,
    folders: BTreeSet<PathBuf>,
}

/// Listed once: what the host's system consists of does not change under a runtime.
pub(crate) fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let mut listed = List::default();
        listed.system();
        listed.configuration();
        listed.devices();
        listed.own_folders();
        Base {
            actions: listed.actions,
            folders: listed.folders,
        }
    })
}

/// What is on the root so far.
#[derive(Debug, Default)]
struct List {
    actions: Vec<Action>,
    folders: BTreeSet<PathBuf>,
}

impl List {
    fn system(&mut self) {
        for path in SYSTEM.map(Path::new) {
            let Ok(metadata) = fs::symlink_metadata(path) else {
                continue;
            };
            if metadata.is_symlink() {
                self.link_of(path);
            } else {
                self.host(path, true, READ_ONLY | NO_SET_ID | NO_DEVICES);
            }
        }
    }

    fn configuration(&mut self) {
        self.folders_to(Path::new("/etc"));
        for path in CONFIGURATION.map(Path::new) {
            let Ok(metadata) = fs::symlink_metadata(path) else {
                continue;
            };
            if metadata.is_symlink() {
                self.link_of(path);
            } else {
                let without = READ_ONLY | NO_SET_ID | NO_DEVICES | NO_EXECUTE;
                self.host(path, metadata.is_dir(), without);
            }
        }
        let passwd = format!("hcp:x:{USER}:{USER}::{HOME}:/usr/sbin/nologin\n");
        let group = format!("hcp:x:{USER}:\n");
        for (path, content) in [
            ("/etc/passwd", passwd.as_str()),
            ("/etc/group", &group),
            ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
            ("/etc/resolv.conf", ""),
            (
                "/etc/nsswitch.conf",
                "passwd: files\ngroup: files\nhosts: files\n",
            ),
        ] {
            self.file(Path::new(path), content);
        }
    }

    fn devices(&mut self) {
        for path in DEVICES {
            self.host(Path::new(path), false, READ_ONLY | NO_SET_ID | NO_EXECUTE);
        }
        for (path, target) in LINKS {
            self.link(Path::new(path), Path::new(target));
        }
    }

    fn own_folders(&mut self) {
        for (path, mode) in [(HOME, 0o700), (TEMPORARY, 0o1777)] {
            let path = Path::new(path);
            if let Some(parent) = path.parent() {
                self.folders_to(parent);
            }
            if let Some(spot) = spot(path) {
                let own = true;
                self.actions.push(Action::Folder { spot, mode, own });
            }
            self.folders.insert(path.to_owned());
            self.mount(path, Source::Own, 0);
        }
        let processes = Path::new("/proc");
        self.folders_to(processes);
        if let Some(target) = within(processes) {
            self.actions.push(Action::Processes { target });
        }
    }

    /// A folder and every folder above it.
    fn folders_to(&mut self, path: &Path) {
        self.folders_to_unless(path, &BTreeSet::new());
    }

    fn folders_to_unless(&mut self, path: &Path, there: &BTreeSet<PathBuf>) {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        for folder in above {
            if there.contains(folder) || !self.folders.insert(folder.to_owned()) {
                continue;
            }
            if let Some(spot) = spot(folder) {
                let (mode, own) = (0o755, false);
                self.actions.push(Action::Folder { spot, mode, own });
            }
        }
    }

    fn host(&mut self, path: &Path, is_folder: bool, without: u64) {
        let Ok(source) = CString::new(path.as_os_str().as_bytes()) else {
            return;
        };
        self.room_for(path, is_folder, &BTreeSet::new());
        self.mount(path, Source::Host(source), without);
    }

    /// Something to mount on.
    fn room_for(&mut self, path: &Path, is_folder: bool, there: &BTreeSet<PathBuf>) {
        if is_folder {
            self.folders_to_unless(path, there);
        } else {
            if let Some(parent) = path.parent() {
                self.folders_to_unless(parent, there);
            }
            self.actions.extend(spot(path).map(Action::Empty));
        }
    }

    fn mount(&mut self, path: &Path, source: Source, without: u64) {
        if let Some(target) = within(path) {
            self.actions.push(Action::Mount(Mount {
                source,
                target,
                without,
                mapping: None,
                mapping_may_fail: false,
            }));
        }
    }

    fn file(&mut self, path: &Path, content: &str) {
        if let Some(spot) = spot(path) {
            let content = content.as_bytes().to_vec();
            self.actions.push(Action::File { spot, content });
        }
    }

    fn link_of(&mut self, path: &Path) {
        if let Ok(target) = fs::read_link(path) {
            self.link(path, &target);
        }
    }

    fn link(&mut self, path: &Path, target: &Path) {
        let target = CString::new(target.as_os_str().as_bytes());
        if let (Some(spot), Ok(target)) = (spot(path), target) {
            self.actions.push(Action::Link { spot, target });
        }
    }
}

/// A path of the jail, relative to its root; `None` for the root and for what is no path.
fn within(path: &Path) -> Option<CString> {
    let relative = path.strip_prefix("/").ok()?;
    let named = !relative.as_os_str().is_empty();
    named.then(|| CString::new(relative.as_os_str().as_bytes()).ok())?
}

fn spot(path: &Path) -> Option<Spot> {
    Some(Spot {
        folder: path.parent().and_then(within),
        name: CString::new(path.file_name()?.as_bytes()).ok()?,
    })
}

/// What one call adds.
#[derive(Debug)]
pub(crate) struct Plan {
    /// `None` where the host's own files are seen, as far as Landlock lets them.
    way: Option<Way>,
    list: List,
    pub(crate) rules: Vec<Rule>,
    places: Vec<Place>,
}

/// A file or folder of the host that is shown at its own path.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    stat: StatOf,
    without: u64,
}

#[derive(Clone, Copy, Debug)]
struct StatOf {
    identity: Identity,
    user: u32,
    group: u32,
    is_folder: bool,
    open_to_all: bool,
}

impl From<Stat> for StatOf {
    fn from(stat: Stat) -> Self {
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let needed = if is_folder { 0o005 } else { 0o004 };
        Self {
            identity: Identity {
                device: stat.st_dev,
                inode: stat.st_ino,
            },
            user: stat.st_uid,
            group: stat.st_gid,
            is_folder,
            open_to_all: stat.st_mode & needed == needed,
        }
    }
}

impl Plan {
    /// Without a root of its own, where HOME and TMPDIR are folders of the host.
    pub(crate) fn on_host(own: &[&Path]) -> Self {
        let mut plan = Self::empty(None);
        for path in SYSTEM.iter().chain(&CONFIGURATION).map(Path::new) {
            if let Ok(metadata) = fs::metadata(path) {
                let right = Right::reading(metadata.is_dir());
                plan.rule(path, right, None);
            }
        }
        for path in DEVICES.iter().map(Path::new).filter(|path| path.exists()) {
            plan.rule(path, Right::Device, None);
        }
        for path in own {
            plan.rule(path, Right::Write, None);
        }
        plan
    }

    const fn empty(way: Option<Way>) -> Self {
        Self {
            way,
            list: List {
                actions: Vec::new(),
                folders: BTreeSet::new(),
            },
            rules: Vec::new(),
            places: Vec::new(),
        }
    }

    pub(crate) fn new(way: Way) -> Self {
        let mut plan = Self::empty(Some(way));
        plan.rule(Path::new("/"), Right::Read, None);
        for path in [HOME, TEMPORARY] {
            plan.rule(Path::new(path), Right::Write, None);
        }
        for path in DEVICES {
            plan.rule(Path::new(path), Right::Device, None);
        }
        plan
    }

    /// Shows a folder of programs, read-only.
    pub(crate) fn programs(&mut self, path: &Path, place: BorrowedFd<'_>) -> io::Result<()> {
        self.place(path, place, READ_ONLY | NO_SET_ID | NO_DEVICES)?;
        Ok(())
    }

    /// Lets one program be executed, and shows it where the jail would not have it.
    pub(crate) fn program(&mut self, path: &Path, place: BorrowedFd<'_>) -> io::Result<()> {
        let is_shown = SYSTEM.iter().any(|system| path.starts_with(system))
            || self
                .places
                .iter()
                .any(|shown| path.starts_with(&shown.path));
        if !is_shown {
            self.place(path, place, READ_ONLY | NO_SET_ID | NO_DEVICES)?;
        }
        let stat = StatOf::from(rustix::fs::fstat(place)?);
        self.rule(path, Right::Execute, Some(stat.identity));
        Ok(())
    }

    /// Shows a path that may be read.
    pub(crate) fn read(&mut self, path: &Path, place: BorrowedFd<'_>) -> Result<(), LaunchError> {
        may_stand(path)?;
        let without = READ_ONLY | NO_SET_ID | NO_DEVICES | NO_EXECUTE;
        self.place(path, place, without).map_err(unseen(path))?;
        Ok(())
    }

    /// Shows a path that may be read and written.
    pub(crate) fn write(&mut self, path: &Path, place: BorrowedFd<'_>) -> Result<(), LaunchError> {
        may_stand(path)?;
        let without = NO_SET_ID | NO_DEVICES | NO_EXECUTE;
        let stat = self.place(path, place, without).map_err(unseen(path))?;
        let right = if stat.is_folder {
            Right::Write
        } else {
            Right::WriteFile
        };
        self.rule(path, right, Some(stat.identity));
        Ok(())
    }

    fn place(&mut self, path: &Path, place: BorrowedFd<'_>, without: u64) -> io::Result<StatOf> {
        let stat = StatOf::from(rustix::fs::fstat(place)?);
        if self.way.is_none() {
            let right = Right::reading(stat.is_folder);
            self.rule(path, right, Some(stat.identity));
            return Ok(stat);
        }
        self.places.push(Place {
            path: path.to_owned(),
            stat,
            without,
        });
        Ok(stat)
    }

    fn rule(&mut self, path: &Path, right: Right, identity: Option<Identity>) {
        if let Ok(path) = CString::new(path.as_os_str().as_bytes()) {
            self.rules.push(Rule {
                path,
                right,
                identity,
            });
        }
    }

    /// What is to be done for this call, the outer places before those within them.
    ///
    /// # Errors
    /// When a place belongs to somebody whose files cannot be shown as the jail's.
    pub(crate) fn actions(&mut self) -> Result<Vec<Action>, LaunchError> {
        let mut places = std::mem::take(&mut self.places);
        places.sort_by_key(|place| place.path.components().count());
        for place in &places {
            self.show(place)?;
        }
        Ok(std::mem::take(&mut self.list.actions))
    }

    fn show(&mut self, place: &Place) -> Result<(), LaunchError> {
        let path = &place.path;
        let source = CString::new(path.as_os_str().as_bytes()).map_err(|_| LaunchError::PathNul)?;
        let target = within(path).ok_or_else(|| LaunchError::Place {
            path: path.display().to_string(),
        })?;
        let is_optional = place.without & READ_ONLY != 0 && place.stat.open_to_all;
        let mapping = match self.way {
            None | Some(Way::UserNamespace) => None,
            Some(Way::Privileged) => match held::mapping_of(place.stat.user, place.stat.group) {
                Ok(mapping) => Some(mapping),
                Err(_) if is_optional => None,
                Err(source) => {
                    let layer = "mounts that map owners";
                    return Err(LaunchError::Isolation { layer, source });
                }
            },
        };
        self.list
            .room_for(path, place.stat.is_folder, &base().folders);
        self.list.actions.push(Action::Mount(Mount {
            source: Source::Checked(source, place.stat.identity),
            target,
            without: place.without,
            mapping,
            mapping_may_fail: is_optional,
        }));
        Ok(())
    }
}

/// What the jail has of its own stays what it is.
fn may_stand(path: &Path) -> Result<(), LaunchError> {
    let hides = |own: &&str| Path::new(own).starts_with(path);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let inner = ["/dev", "/proc"].iter().any(|own| path.starts_with(own));
    if climbs || inner || OWN.iter().chain(&SYSTEM).any(hides) {
        return Err(LaunchError::Place {
            path: path.display().to_string(),
        });
    }
    Ok(())
}

fn unseen(path: &Path) -> impl Fn(io::Error) -> LaunchError {
    let path = path.display().to_string();
    move |source| LaunchError::Unseen {
        path: path.clone(),
        source,
    }
}

/// Opens a folder as a mere place.
pub(crate) fn open_place(path: &Path) -> io::Result<impl AsFd> {
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?)
}
