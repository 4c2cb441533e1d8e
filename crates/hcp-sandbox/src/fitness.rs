//! Whether a file is fit to be run as a program.
//!
//! Everything is asked of an open descriptor. A file that somebody else may write, or that somebody
//! else owns, is not the file that the operator meant, however it came under that name.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, open};
use rustix::io::Errno;

/// Which file it is, for as long as somebody holds it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// How much of a file the kernel looks at for `#!` and what follows.
const START: u64 = 256;
/// How many interpreters of interpreters the kernel follows.
const DEPTH: usize = 4;

/// What is known of a program that is fit.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) identity: Identity,
    pub(crate) is_script: bool,
    /// What is executed for it besides: interpreters, and what loads libraries.
    pub(crate) needs: Vec<Needed>,
    /// The program that a script asks `env` to look for, which is its interpreter in all but name.
    pub(crate) sought: Option<String>,
}

/// A program that is executed because another one is; held open.
#[derive(Debug)]
pub(crate) struct Needed {
    pub(crate) path: PathBuf,
    pub(crate) place: OwnedFd,
}

/// Examines a program and, for a script, its interpreter.
///
/// # Errors
/// What is wrong, on one line.
pub(crate) fn examine(file: &OwnedFd, path: &Path) -> Result<Examined, String> {
    let identity = examine_file(file, path)?;
    let mut shebang = shebang_of(file, path)?;
    let mut examined = Examined {
        identity,
        is_script: shebang.is_some(),
        needs: Vec::new(),
        sought: None,
    };
    if shebang.is_none() {
        examined.needs.extend(loader_of(file));
    }
    for _ in 0..DEPTH {
        let Some(Shebang {
            interpreter: path,
            sought,
        }) = shebang
        else {
            return Ok(examined);
        };
        let within = |detail| format!("interpreter {detail}");
        let file = open_interpreter(&path).map_err(within)?;
        examine_file(&file, &path).map_err(within)?;
        shebang = shebang_of(&file, &path).map_err(within)?;
        if shebang.is_none() {
            examined.needs.extend(loader_of(&file));
        }
        examined.sought = examined.sought.or(sought);
        examined.needs.push(Needed { path, place: file });
    }
    Err(format!(
        "`{}` has an interpreter that has one, too often",
        path.display()
    ))
}

fn examine_file(file: &OwnedFd, path: &Path) -> Result<Identity, String> {
    let path = path.display();
    let stat = rustix::fs::fstat(file).map_err(|error| format!("`{path}`: {error}"))?;
    let mode = stat.st_mode & 0o7777;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(format!("`{path}` is a folder")),
        _ => return Err(format!("`{path}` is not a regular file")),
    }
    if mode & 0o6000 != 0 {
        return Err(format!("`{path}` is set-id (mode {mode:04o})"));
    }
    if mode & 0o022 != 0 {
        return Err(format!(
            "`{path}` can be written by others (mode {mode:04o})"
        ));
    }
    if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
        let owner = stat.st_uid;
        return Err(format!(
            "`{path}` belongs to user {owner}, neither root nor the runtime's"
        ));
    }
    may_execute(file).map_err(|error| match error {
        Errno::ACCESS => format!("`{path}` is not executable"),
        other => format!("`{path}`: {other}"),
    })?;
    let identity = Identity {
        device: stat.st_dev,
        inode: stat.st_ino,
    };
    // A call that starts this very program would be an operator's command line in a tool's clothes.
    if identity == itself().map_err(|error| format!("`{ITSELF}`: {error}"))? {
        return Err(format!("`{path}` is the runtime itself"));
    }
    Ok(identity)
}

/// The program that this process runs.
const ITSELF: &str = "/proc/self/exe";

fn itself() -> rustix::io::Result<Identity> {
    let stat = rustix::fs::stat(ITSELF)?;
    Ok(Identity {
        device: stat.st_dev,
        inode: stat.st_ino,
    })
}

/// What loads the libraries of a program, by its own word; none for a static one.
fn loader_of(file: &OwnedFd) -> Option<Needed> {
    let readable = File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let path = crate::elf::loader_of(&readable)?;
    let place = open_interpreter(&path).ok()?;
    Some(Needed { path, place })
}

/// The first line of a script.
struct Shebang {
    interpreter: PathBuf,
    sought: Option<String>,
}

/// The interpreter that a file names after `#!`. A file that may be run and not be read is a program
/// of its own: a script must be readable to its interpreter, which has no more rights.
fn shebang_of(file: &OwnedFd, path: &Path) -> Result<Option<Shebang>, String> {
    let path = path.display();
    let mut start = Vec::new();
    match File::open(format!("/proc/self/fd/{}", file.as_raw_fd())) {
        Ok(readable) => readable
            .take(START)
            .read_to_end(&mut start)
            .map_err(|error| format!("`{path}`: {error}"))?,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(format!("`{path}` cannot be read: {error}")),
    };
    let Some(line) = start.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | 0);
    let name = line
        .trim_ascii_start()
        .split(is_end)
        .next()
        .unwrap_or_default();
    if name.first() != Some(&b'/') {
        return Err(format!(
            "`{path}` names no interpreter by an absolute path after `#!`"
        ));
    }
    let interpreter = PathBuf::from(std::ffi::OsStr::from_bytes(name));
    let sought = (interpreter.file_name() == Some(std::ffi::OsStr::new("env")))
        .then(|| sought_by_env(&String::from_utf8_lossy(line)))
        .flatten();
    Ok(Some(Shebang {
        interpreter,
        sought,
    }))
}

/// The name in `/usr/bin/env NAME`, `env -S NAME -x`, `env A=b NAME`.
fn sought_by_env(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip(1);
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    Some(name.to_owned())
}

fn open_interpreter(path: &Path) -> Result<OwnedFd, String> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(|error| {
        let name = path.to_string_lossy();
        let name = name.escape_debug();
        match error {
            Errno::NOENT | Errno::NOTDIR => format!("`{name}` is missing"),
            other => format!("`{name}`: {other}"),
        }
    })
}

/// Whether the runtime's user may run the file, mount options included.
#[allow(unsafe_code)]
fn may_execute(file: &OwnedFd) -> rustix::io::Result<()> {
    let descriptor = file.as_fd().as_raw_fd();
    // SAFETY: the path is a static C string and the descriptor is borrowed for the whole call, which
    // reads nothing else of this process.
    let result = unsafe {
        libc::syscall(
            libc::SYS_faccessat2,
            descriptor,
            c"".as_ptr(),
            libc::X_OK,
            libc::AT_EMPTY_PATH | libc::AT_EACCESS,
        )
    };
    if result == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
