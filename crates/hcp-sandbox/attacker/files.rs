//! Files that are none of the call's.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use crate::{Case, Outcome, called, told};

pub(crate) const CASES: &[Case] = &[
    ("read-secret", |hints| read(hints.get("secret"))),
    ("read-secret-by-dots", |hints| {
        read(&format!(
            "../../../../../../../../..{}",
            hints.get("secret")
        ))
    }),
    ("read-secret-by-link", |hints| {
        let link = format!("{}/link", hints.get("scratch"));
        symlink(hints.get("secret"), &link).map_err(|error| error.to_string())?;
        let found = read(&link);
        let _ = fs::remove_file(link);
        found
    }),
    ("read-secret-by-proc-root", |hints| {
        read(&format!("/proc/self/root{}", hints.get("secret")))
    }),
    ("read-secret-by-proc-cwd", |hints| {
        read(&format!(
            "/proc/self/cwd/../../../../../../../..{}",
            hints.get("secret")
        ))
    }),
    ("read-beside-a-grant", |hints| {
        read(&format!("{}/../secret", hints.get("readable")))
    }),
    ("read-other-pack", |hints| read(hints.get("other"))),
    ("read-shared-memory", |hints| read(hints.get("shm-file"))),
    ("read-shadow", |_| read("/etc/shadow")),
    ("read-host-passwd", |_| {
        let text = read("/etc/passwd")?;
        if text.contains("root") {
            Ok(text)
        } else {
            Err("another one".to_owned())
        }
    }),
    ("list-host-root", |_| {
        exists(&["/root", "/srv", "/boot", "/opt", "/var/lib"])
    }),
    ("list-run", |_| exists(&["/run", "/var/run"])),
    ("list-sys", |_| list("/sys")),
    ("list-cgroups", |_| list("/sys/fs/cgroup")),
    ("list-devices", |_| {
        exists(&["/dev/tty", "/dev/ptmx", "/dev/shm", "/dev/kmsg"])
    }),
    ("read-kernel-symbols", |_| read("/proc/kallsyms")),
    ("read-kernel-memory", |_| told(File::open("/proc/kcore"))),
    ("read-kernel-log", |_| told(File::open("/dev/kmsg"))),
    ("read-disk", |hints| told(File::open(hints.get("disk")))),
    ("read-system-settings", |_| {
        read("/proc/sys/kernel/osrelease")
    }),
    ("write-core-pattern", |_| {
        open_to_write("/proc/sys/kernel/core_pattern")
    }),
    ("write-sysrq", |_| open_to_write("/proc/sysrq-trigger")),
    ("write-pack", |hints| {
        create(&format!("{}/made", hints.get("pack")))
    }),
    ("overwrite-pack", |hints| {
        open_to_write(&format!("{}/data", hints.get("pack")))
    }),
    ("remove-pack-file", |hints| {
        told(fs::remove_file(format!("{}/disposable", hints.get("pack"))))
    }),
    ("chmod-pack", |hints| {
        told(fs::set_permissions(
            hints.get("pack"),
            fs::Permissions::from_mode(0o755),
        ))
    }),
    ("write-grant-to-read", |hints| {
        create(&format!("{}/made", hints.get("readable")))
    }),
    ("truncate-grant-to-read", |hints| {
        let path = c_string(&format!("{}/file", hints.get("readable")));
        called(
            "truncate",
            unsafe { libc::truncate(path.as_ptr(), 0) }.into(),
        )
    }),
    ("move-out-of-a-grant", |hints| {
        let writable = hints.get("writable");
        told(fs::rename(
            format!("{writable}/file"),
            format!("{writable}/../moved"),
        ))
    }),
    ("write-beside-a-grant", |hints| {
        create(&format!("{}/../beside", hints.get("writable")))
    }),
    ("write-usr", |_| create("/usr/hcp-canary")),
    ("write-etc", |_| create("/etc/hcp-canary")),
    ("write-host-tmp", |hints| {
        let path = format!("{}/planted", hints.get("folder"));
        create(&path)
    }),
    ("link-pack-file", |hints| {
        let from = format!("{}/data", hints.get("pack"));
        told(fs::hard_link(
            from,
            format!("{}/linked", hints.get("pack-side")),
        ))
    }),
    ("make-device", |hints| {
        let path = c_string(&format!("{}/device", hints.get("scratch")));
        let made = unsafe { libc::mknod(path.as_ptr(), libc::S_IFBLK | 0o600, 0x0801) };
        called("mknod", made.into())
    }),
    ("make-set-id-by-chmod", |hints| {
        let path = format!("{}/set-id", hints.get("writable"));
        fs::write(&path, "").map_err(|error| error.to_string())?;
        told(fs::set_permissions(
            path,
            fs::Permissions::from_mode(0o4755),
        ))
    }),
    ("make-set-id-by-open", |hints| {
        let path = format!("{}/set-id-opened", hints.get("writable"));
        told(
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o4755)
                .open(path),
        )
    }),
    ("make-set-id-by-openat2", |hints| {
        let path = c_string(&format!("{}/set-id-openat2", hints.get("writable")));
        let how = [(libc::O_CREAT | libc::O_WRONLY) as u64, 0o4755, 0];
        let opened = unsafe {
            libc::syscall(
                libc::SYS_openat2,
                libc::AT_FDCWD,
                path.as_ptr(),
                how.as_ptr(),
                24,
            )
        };
        called("openat2", opened)
    }),
    ("give-a-file-away", |hints| {
        let path = format!("{}/given", hints.get("writable"));
        fs::write(&path, "").map_err(|error| error.to_string())?;
        told(std::os::unix::fs::chown(path, Some(12_345), None))
    }),
    ("make-file-capability", |hints| {
        let path = format!("{}/capable", hints.get("writable"));
        fs::write(&path, "").map_err(|error| error.to_string())?;
        let path = c_string(&path);
        let value: [u32; 5] = [0x0200_0000, 0x20_0000, 0, 0, 0];
        let set = unsafe {
            libc::setxattr(
                path.as_ptr(),
                c"security.capability".as_ptr(),
                value.as_ptr().cast(),
                20,
                0,
            )
        };
        called("setxattr", set.into())
    }),
    ("open-by-handle", |hints| {
        #[repr(C)]
        struct Handle {
            bytes: u32,
            kind: i32,
            content: [u8; 128],
        }
        let mut handle = Handle {
            bytes: 128,
            kind: 0,
            content: [0; 128],
        };
        let mut mount = 0;
        let path = c_string(hints.get("readable"));
        let named = unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                libc::AT_FDCWD,
                path.as_ptr(),
                &raw mut handle,
                &raw mut mount,
                0,
            )
        };
        called("name_to_handle_at", named)?;
        let folder = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY) };
        let opened =
            unsafe { libc::syscall(libc::SYS_open_by_handle_at, folder, &raw const handle, 0) };
        called("open_by_handle_at", opened)
    }),
];

fn read(path: &str) -> Outcome {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(4096).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    Ok(text)
}

fn list(path: &str) -> Outcome {
    let count = fs::read_dir(path)
        .map_err(|error| error.to_string())?
        .count();
    Ok(format!("{count} names"))
}

fn exists(paths: &[&str]) -> Outcome {
    match paths.iter().find(|path| Path::new(path).exists()) {
        Some(path) => Ok((*path).to_owned()),
        None => Err("none is there".to_owned()),
    }
}

fn open_to_write(path: &str) -> Outcome {
    told(OpenOptions::new().write(true).open(path))
}

/// Takes away again what it made.
fn create(path: &str) -> Outcome {
    let made = File::create(path).and_then(|mut file| file.write_all(b"planted"));
    let done = told(made);
    let _ = fs::remove_file(path);
    done
}

pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text).unwrap()
}
