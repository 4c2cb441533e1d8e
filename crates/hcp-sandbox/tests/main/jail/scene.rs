//! What an attack is made on: canaries on the host, and a jail that is given as much as any.

use std::fs::{self, File};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hcp_sandbox::{BinSearch, Finished, Jail, Roots, Scratch, check_bin};
use tempfile::TempDir;

use crate::support::{Run, is_alive, write};

pub(crate) const SECRET: &str = "canary-5f0c8a51";

pub(crate) struct Scene {
    folder: TempDir,
    /// A name that a process can have, and no other has.
    pub(crate) mark: String,
    canary: Child,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    local: [UnixListener; 3],
    datagrams: UnixDatagram,
    inherited: OwnedFd,
    memory: i32,
    memory_key: i32,
    shared: PathBuf,
}

impl Scene {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("hcp{}-{number}", std::process::id());
        let memory_key = ((std::process::id() % 0x7fff) << 16 | number).cast_signed();
        // Not in the folder that a jail has one of its own in place of.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [
            "pack/bin", "other", "readable", "writable", "state", "home", "tmp",
        ] {
            fs::create_dir_all(path(name)).unwrap();
        }
        write(&path("secret"), SECRET, 0o600);
        write(&path("other/data"), SECRET, 0o600);
        for name in [
            "pack/data",
            "pack/disposable",
            "readable/file",
            "writable/file",
        ] {
            write(&path(name), "whole", 0o600);
        }
        write(&path("pack/bin/other"), "#!/bin/sh\n", 0o755);
        fs::copy("/bin/true", path("readable/program")).unwrap();
        fs::copy(attacker(), path("pack/bin/attacker")).unwrap();
        let abstract_name = SocketAddr::from_abstract_name(&mark).unwrap();
        let shared = PathBuf::from(format!("/dev/shm/{mark}"));
        write(&shared, SECRET, 0o600);
        let scene = Self {
            canary: Command::new("sleep").arg("1000").spawn().unwrap(),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            local: [
                UnixListener::bind(path("socket")).unwrap(),
                UnixListener::bind(path("readable/socket")).unwrap(),
                UnixListener::bind_addr(&abstract_name).unwrap(),
            ],
            datagrams: UnixDatagram::bind(path("readable/datagrams")).unwrap(),
            inherited: inheritable(&path("secret")),
            memory: shared_memory(memory_key),
            memory_key,
            shared,
            mark,
            folder,
        };
        scene.tcp.set_nonblocking(true).unwrap();
        scene.udp.set_nonblocking(true).unwrap();
        scene.datagrams.set_nonblocking(true).unwrap();
        for listener in &scene.local {
            listener.set_nonblocking(true).unwrap();
        }
        if let Some(listener) = &scene.tcp6 {
            listener.set_nonblocking(true).unwrap();
        }
        add_key();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the attack as any program of this user is run.
    pub(crate) fn outside(&self, case: &str) -> String {
        let hints = self.hints(&self.path("home"), &self.path("tmp"));
        let output = Command::new(self.path("pack/bin/attacker"))
            .arg(case)
            .args(hints)
            .current_dir(self.path("pack"))
            .env("HCP_CANARY", SECRET)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        self.end_marked();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs it in a jail that is given its pack, state, a path to read and a path to write.
    /// At level `no-userns` where HOME and TMPDIR are given.
    pub(crate) fn jailed(&self, case: &str, scratch: Option<&Scratch>) -> Finished {
        let pack = self.path("pack");
        let search = BinSearch {
            pack_root: &pack,
            path: &[],
            allowed: &[],
        };
        let bin = check_bin("./bin/attacker", &search).unwrap();
        let state = self.path("state");
        let roots = Roots::open(&[self.folder.path().to_owned()]).unwrap();
        let granted = |name| roots.resolve(&self.path(name)).unwrap();
        let (readable, writable) = (granted("readable"), granted("writable"));
        let jail = Jail {
            pack: Some(&pack),
            state: Some(&state),
            read: vec![&readable],
            write: vec![&writable],
            exec: &[],
            scratch,
        };
        let (home, temporary) = match scratch {
            Some(scratch) => (scratch.home(), scratch.temporary()),
            None => (Jail::home_path(), Jail::temporary_path()),
        };
        let mut run = Run::new(&bin);
        run.argv = std::iter::once(case.to_owned())
            .chain(self.hints(home, temporary))
            .map(Into::into)
            .collect();
        run.working_directory.clone_from(&pack);
        run.limits.timeout = Duration::from_millis(2500);
        run.limits.memory = Some(128 << 20);
        run.limits.processes = Some(40);
        run.limits.file_size = Some(32 << 20);
        run.jailed(&jail).unwrap()
    }

    fn hints(&self, home: &Path, temporary: &Path) -> Vec<String> {
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let hints = [
            ("secret", path("secret")),
            ("other", path("other/data")),
            ("shm-file", self.shared.to_str().unwrap().to_owned()),
            ("disk", disk()),
            ("folder", path("")),
            ("pack", path("pack")),
            ("pack-side", path("writable")),
            ("readable", path("readable")),
            ("writable", path("writable")),
            ("state", path("state")),
            ("home", home.to_str().unwrap().to_owned()),
            ("scratch", temporary.to_str().unwrap().to_owned()),
            ("pid", self.canary.id().to_string()),
            ("runtime", std::process::id().to_string()),
            ("root", "0".to_owned()),
            ("mark", self.mark.clone()),
            ("tcp", port(&self.tcp)),
            ("tcp6", self.tcp6.as_ref().map_or("1".to_owned(), port)),
            ("udp", self.udp.local_addr().unwrap().port().to_string()),
            ("socket", path("socket")),
            ("abstract", self.mark.clone()),
            ("descriptor", self.inherited.as_raw_fd().to_string()),
            ("shm", self.memory_key.to_string()),
        ];
        hints.map(|(key, value)| format!("{key}={value}")).into()
    }

    /// What is not as it was, seen from the host.
    pub(crate) fn damage(&mut self) -> Vec<String> {
        let mut damage = Vec::new();
        let mut expect = |holds: bool, what: &str| {
            if !holds {
                damage.push(what.to_owned());
            }
        };
        let names = |name: &str| {
            let entries = fs::read_dir(self.path(name)).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        expect(
            names("pack") == ["bin", "data", "disposable"],
            "the pack has other files",
        );
        expect(
            names("pack/bin") == ["attacker", "other"],
            "the pack has other programs",
        );
        let readable = ["datagrams", "file", "program", "socket"];
        expect(
            names("readable") == readable,
            "what may be read has other files",
        );
        let around = [
            "home", "other", "pack", "readable", "secret", "socket", "state", "tmp", "writable",
        ];
        expect(names("") == around, "there are other files around");
        for name in ["pack/data", "readable/file"] {
            let content = fs::read_to_string(self.path(name));
            expect(
                content.is_ok_and(|text| text == "whole"),
                "a file was changed",
            );
        }
        let own = fs::metadata(self.folder.path()).unwrap().uid();
        for name in names("writable") {
            let file = fs::symlink_metadata(self.path("writable").join(name)).unwrap();
            expect(file.mode() & 0o6000 == 0, "a set-id file was made");
            expect(file.uid() == own, "a file is somebody else's");
        }
        expect(self.tcp.accept().is_err(), "a TCP connection came");
        let tcp6 = self
            .tcp6
            .as_ref()
            .is_none_or(|listener| listener.accept().is_err());
        expect(tcp6, "a TCP connection came over IPv6");
        let mut buffer = [0; 16];
        expect(self.udp.recv(&mut buffer).is_err(), "a UDP packet came");
        expect(
            self.datagrams.recv(&mut buffer).is_err(),
            "a local packet came",
        );
        let accepted = self.local.iter().any(|listener| listener.accept().is_ok());
        expect(!accepted, "a local connection came");
        expect(
            is_alive(&self.canary.id().to_string()),
            "the canary is dead",
        );
        expect(self.marked().is_empty(), "a process outlived the call");
        damage
    }

    /// Processes of the host that have the mark as their name.
    fn marked(&self) -> Vec<i32> {
        let entries = fs::read_dir("/proc").unwrap();
        entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = fs::read_to_string(entry.path().join("comm")).ok()?;
                (name.trim_end() == self.mark).then(|| entry.file_name().to_str()?.parse().ok())?
            })
            .collect()
    }

    /// Whether the attack outside left something behind; ends it.
    pub(crate) fn end_marked(&self) -> bool {
        let marked = self.marked();
        for pid in &marked {
            let pid = rustix::process::Pid::from_raw(*pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        !marked.is_empty()
    }
}

impl Drop for Scene {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        let _ = self.canary.kill();
        let _ = self.canary.wait();
        let _ = fs::remove_file(&self.shared);
        // SAFETY: takes numbers, and no structure for this command.
        unsafe { libc::shmctl(self.memory, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// The program that attacks; elsewhere, for a user who cannot read where it was built.
pub(crate) fn attacker() -> PathBuf {
    let built = || env!("CARGO_BIN_EXE_hcp-attacker").into();
    std::env::var_os("HCP_TEST_ATTACKER")
        .unwrap_or_else(built)
        .into()
}

/// The first disk of the machine.
fn disk() -> String {
    let disks = fs::read_dir("/sys/block").unwrap();
    let mut names: Vec<_> = disks.map(|disk| disk.unwrap().file_name()).collect();
    names.sort_by_key(|name| name.to_str().is_some_and(|name| name.starts_with("loop")));
    format!("/dev/{}", names[0].to_str().unwrap())
}

/// A descriptor that a child gets unless somebody prevents it.
fn inheritable(path: &Path) -> OwnedFd {
    let file = OwnedFd::from(File::open(path).unwrap());
    let high = rustix::io::fcntl_dupfd_cloexec(&file, 700).unwrap();
    rustix::io::fcntl_setfd(&high, rustix::io::FdFlags::empty()).unwrap();
    high
}

#[allow(unsafe_code)]
fn shared_memory(key: i32) -> i32 {
    // SAFETY: takes numbers.
    unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | 0o600) }
}

/// Into the session's keyring of this thread, which its children have; where there are keyrings.
#[allow(unsafe_code)]
fn add_key() {
    let (kind, name) = (c"user".as_ptr(), c"hcp-canary".as_ptr());
    // SAFETY: the strings live for good, and four bytes of the name are there to be read.
    unsafe { libc::syscall(libc::SYS_add_key, kind, name, name, 4, -3) };
}
