//! Control groups: how much memory and how many processes a whole call may have.
//!
//! The program of a call joins a group of its own before it starts; the first process of the jail,
//! which shares the memory of the runtime, never does, so that a call out of memory ends alone. Both
//! layouts are used as they are found: one hierarchy for all (v2), or one for each resource (v1).
//! Where neither lets this process make a group, the call has the limits of the system instead.

use std::fs;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use hcp_spec::config::Level;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What a group bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) memory: Option<u64>,
    pub(crate) processes: Option<u32>,
}

/// The wishes of a pack that a jail of this level leaves unenforced on this machine, as words for
/// people, in a stable order.
pub fn unenforced_in_jail(level: Level) -> Vec<&'static str> {
    let hierarchies = hierarchies();
    let is_full = level == Level::Full;
    let is_counted = hierarchies.processes.is_some();
    [
        (
            !is_full,
            "file-system view: names and sizes of files can be seen",
        ),
        (!is_full, "temporary files: nothing bounds their size"),
        (
            hierarchies.memory.is_none(),
            "memory: bounded for each process, not for the call",
        ),
        (!is_full && !is_counted, "process count: nothing bounds it"),
        (
            is_full && !is_counted && rustix::process::geteuid().is_root(),
            "process count: bounded for all calls together",
        ),
    ]
    .into_iter()
    .filter_map(|(lacks, words)| lacks.then_some(words))
    .collect()
}

/// A group on loan to one call. Making one takes the kernel about as long as a child, so those that
/// a call left as it found them are kept for the next.
#[derive(Debug)]
pub(crate) struct Loan(Group);

/// Groups that nobody uses.
static IDLE: Mutex<Vec<Group>> = Mutex::new(Vec::new());
/// How many of them are kept.
const MOST_IDLE: usize = 64;

impl Loan {
    /// A group with these bounds, as far as this process can make one.
    pub(crate) fn new(bounds: Bounds) -> Self {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.iter().position(|group| group.bounds == bounds);
        let kept = found.map(|index| idle.swap_remove(index));
        drop(idle);
        Self(kept.unwrap_or_else(|| Group::new(bounds)))
    }
}

impl Deref for Loan {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.0
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if !self.0.is_as_new() {
            return;
        }
        let none = Group::none(self.0.bounds);
        let group = std::mem::replace(&mut self.0, none);
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(group);
        }
    }
}

/// Gives back to the system what is kept from one jail to the next. A runtime that ends without it
/// leaves empty control groups, which the next one removes.
pub fn tidy() {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.clear();
}

/// The group of one call; gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    bounds: Bounds,
    folders: Vec<PathBuf>,
    doors: Vec<OwnedFd>,
    /// Which file counts the processes that were killed for want of memory, and which one says how
    /// much there is in use.
    memory: Option<(PathBuf, PathBuf)>,
    /// Which bounds it keeps.
    pub(crate) keeps_memory: bool,
    pub(crate) keeps_processes: bool,
}

impl Group {
    /// One that keeps no bound and is nowhere.
    const fn none(bounds: Bounds) -> Self {
        Self {
            bounds,
            folders: Vec::new(),
            doors: Vec::new(),
            memory: None,
            keeps_memory: false,
            keeps_processes: false,
        }
    }

    fn new(bounds: Bounds) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let hierarchies = hierarchies();
        let name = format!(
            "{PREFIX}{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let mut group = Self::none(bounds);
        if let Some(memory) = bounds.memory {
            group.keeps_memory = hierarchies.memory.as_ref().is_some_and(|hierarchy| {
                group.bound(hierarchy, &name, |folder| {
                    bound_memory(hierarchy, folder, memory)
                })
            });
        }
        if let Some(processes) = bounds.processes {
            group.keeps_processes = hierarchies.processes.as_ref().is_some_and(|hierarchy| {
                group.bound(hierarchy, &name, |folder| {
                    fs::write(folder.join("pids.max"), processes.to_string())
                })
            });
        }
        if group.keeps_memory
            && let Some(hierarchy) = &hierarchies.memory
        {
            let folder = hierarchy.folder.join(&name);
            let killed = hierarchy.pick("memory.oom_control", "memory.events");
            let used = hierarchy.pick("memory.usage_in_bytes", "memory.current");
            group.memory = Some((folder.join(killed), folder.join(used)));
        }
        group
    }

    /// Makes the group in one hierarchy, unless it is there from another bound.
    fn bound(
        &mut self,
        hierarchy: &Hierarchy,
        name: &str,
        set: impl FnOnce(&Path) -> io::Result<()>,
    ) -> bool {
        let folder = hierarchy.folder.join(name);
        let is_new = !self.folders.contains(&folder);
        if is_new {
            if fs::create_dir(&folder).is_err() {
                return false;
            }
            self.folders.push(folder.clone());
        }
        let opened = || -> io::Result<Option<OwnedFd>> {
            set(&folder)?;
            if !is_new {
                return Ok(None);
            }
            let door = folder.join(hierarchy.pick("tasks", "cgroup.procs"));
            let flags = OFlags::WRONLY | OFlags::CLOEXEC;
            Ok(Some(rustix::fs::open(door, flags, Mode::empty())?))
        };
        match opened() {
            Ok(door) => {
                self.doors.extend(door);
                true
            }
            Err(_) => false,
        }
    }

    /// Where a process writes `0` to join.
    pub(crate) fn doors(&self) -> Vec<RawFd> {
        self.doors.iter().map(AsRawFd::as_raw_fd).collect()
    }

    /// Whether the kernel killed a process of it for want of memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let text = self
            .memory
            .as_ref()
            .map(|(killed, _)| fs::read_to_string(killed));
        let Some(Ok(text)) = text else { return false };
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.is_some_and(|count| count.trim() != "0")
    }
}

impl Group {
    /// Whether the next call would find nothing of this one: no count, and hardly any memory that is
    /// still charged to it.
    fn is_as_new(&self) -> bool {
        let Some((_, used)) = &self.memory else {
            return true;
        };
        let used = fs::read_to_string(used).ok();
        let used: Option<u64> = used.and_then(|text| text.trim().parse().ok());
        let limit = self.bounds.memory.unwrap_or(0);
        used.is_some_and(|used| used <= limit / 16) && !self.ran_out_of_memory()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            remove(folder);
        }
    }
}

/// A group can be removed once its last process is not only dead but forgotten.
fn remove(folder: &Path) {
    for _ in 0..50 {
        match rustix::fs::rmdir(folder) {
            Err(Errno::BUSY) => sleep(Duration::from_millis(1)),
            _ => return,
        }
    }
}

fn bound_memory(hierarchy: &Hierarchy, folder: &Path, memory: u64) -> io::Result<()> {
    let limit = hierarchy.pick("memory.limit_in_bytes", "memory.max");
    fs::write(folder.join(limit), memory.to_string())?;
    // What these bound is there only where the machine swaps.
    let swap = hierarchy.pick("memory.memsw.limit_in_bytes", "memory.swap.max");
    let most = hierarchy.pick(&memory.to_string(), "0").to_owned();
    let _ = fs::write(folder.join(swap), most);
    if hierarchy.is_unified {
        let _ = fs::write(folder.join("memory.oom.group"), "1");
    }
    Ok(())
}

const PREFIX: &str = "hcp-";

/// Where groups are made for one resource: beneath the group of this process.
#[derive(Debug)]
struct Hierarchy {
    folder: PathBuf,
    is_unified: bool,
}

impl Hierarchy {
    fn pick<'a>(&self, separate: &'a str, unified: &'a str) -> &'a str {
        if self.is_unified { unified } else { separate }
    }

    /// `None` where this process may not make groups.
    fn new(folder: PathBuf, is_unified: bool) -> Option<Self> {
        let may = rustix::fs::Access::WRITE_OK;
        rustix::fs::accessat(rustix::fs::CWD, &folder, may, rustix::fs::AtFlags::EACCESS).ok()?;
        sweep(&folder);
        Some(Self { folder, is_unified })
    }
}

#[derive(Debug, Default)]
struct Hierarchies {
    memory: Option<Hierarchy>,
    processes: Option<Hierarchy>,
}

fn hierarchies() -> &'static Hierarchies {
    static FOUND: OnceLock<Hierarchies> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let find = |resource| find(&mounts, &own, resource);
        Hierarchies {
            memory: find("memory"),
            processes: find("pids"),
        }
    })
}

/// The hierarchy that has the resource: one of its own, or the unified one where it hands the
/// resource on to the groups beneath.
fn find(mounts: &str, own: &str, resource: &str) -> Option<Hierarchy> {
    let separate = mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut words = kind.split(' ');
        let is_it = words.next() == Some("cgroup")
            && words.nth(1)?.split(',').any(|option| option == resource);
        is_it.then_some(mount)
    });
    if let Some(mount) = separate {
        let path = own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let has = parts.next()?.split(',').any(|name| name == resource);
            has.then(|| parts.next())?
        });
        return Hierarchy::new(beneath(mount, path?)?, false);
    }
    let mount = mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then_some(mount)
    })?;
    let folder = beneath(
        mount,
        own.lines().find_map(|line| line.strip_prefix("0::"))?,
    )?;
    let hands_on = || {
        fs::read_to_string(folder.join("cgroup.subtree_control"))
            .is_ok_and(|text| text.split_whitespace().any(|name| name == resource))
    };
    if !hands_on() {
        // Refused where this process stands in that very group, which is up to who started it.
        let _ = fs::write(
            folder.join("cgroup.subtree_control"),
            format!("+{resource}"),
        );
    }
    hands_on().then(|| Hierarchy::new(folder.clone(), true))?
}

/// The folder of a group, from the line of its mount up to the ` - ` and its path in the hierarchy.
fn beneath(mount: &str, path: &str) -> Option<PathBuf> {
    let mut words = mount.split(' ').skip(3);
    let (root, place) = (words.next()?, words.next()?);
    let inner = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(place).join(inner))
}

/// Removes groups of runtimes that are gone. One that still has a process stays.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let runtime = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if runtime.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = rustix::fs::rmdir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::beneath;

    #[test]
    fn the_folder_of_a_group() {
        for (mount, path, expected) in [
            (
                "31 23 0:28 / /sys/fs/cgroup/pids rw",
                "/",
                Some("/sys/fs/cgroup/pids"),
            ),
            (
                "31 23 0:28 / /sys/fs/cgroup rw",
                "/a/b",
                Some("/sys/fs/cgroup/a/b"),
            ),
            ("31 23 0:28 /a /cg rw", "/a/b", Some("/cg/b")),
            ("31 23 0:28 /a /cg rw", "/ab", None),
            ("31 23", "/", None),
        ] {
            assert_eq!(beneath(mount, path), expected.map(PathBuf::from), "{mount}");
        }
    }
}
