//! Taking more than a call may have.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;

use crate::{Case, Outcome, told};

pub(crate) const CASES: &[Case] = &[
    ("many-processes", |_| {
        let count = (0..300).take_while(|_| fork_sleeper()).count();
        if count == 300 {
            Ok("300".to_owned())
        } else {
            Err(format!("{count}"))
        }
    }),
    ("many-threads", |_| {
        let count = (0..300)
            .take_while(|_| {
                let body = || std::thread::sleep(std::time::Duration::from_secs(5));
                std::thread::Builder::new()
                    .stack_size(16 << 10)
                    .spawn(body)
                    .is_ok()
            })
            .count();
        if count == 300 {
            Ok("300".to_owned())
        } else {
            Err(format!("{count}"))
        }
    }),
    ("much-memory", |_| {
        let mut taken = Vec::new();
        for _ in 0..400 {
            taken.push(vec![1_u8; 1 << 20]);
        }
        Ok(format!("{} MiB", taken.len()))
    }),
    ("much-shared-memory", |_| {
        let (rights, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
        );
        let size = 400 << 20;
        let mapped = unsafe { libc::mmap(std::ptr::null_mut(), size, rights, kind, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().to_string());
        }
        unsafe { std::ptr::write_bytes(mapped.cast::<u8>(), 1, size) };
        Ok("400 MiB".to_owned())
    }),
    ("fill-tmp", |hints| fill(hints.get("scratch"))),
    ("fill-home", |hints| fill(hints.get("home"))),
    ("many-files", |hints| {
        let folder = format!("{}/many", hints.get("scratch"));
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let made =
            (0..70_000).try_for_each(|number| File::create(format!("{folder}/{number}")).map(drop));
        let _ = fs::remove_dir_all(&folder);
        told(made)
    }),
    ("huge-file", |hints| {
        // Sparse, so that it costs nothing but its size.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let path = format!("{}/huge", hints.get("writable"));
        let file = File::create(&path).map_err(|error| error.to_string())?;
        let written = file.write_at(b"x", 64 << 20);
        let _ = fs::remove_file(path);
        told(written)
    }),
    ("much-output", |_| {
        let line = [b'x'; 4096];
        let mut output = std::io::stdout().lock();
        for _ in 0..1024 {
            output.write_all(&line).map_err(|error| error.to_string())?;
        }
        Ok("4 MiB".to_owned())
    }),
    ("many-descriptors", |_| {
        let file = File::open("/dev/null").map_err(|error| error.to_string())?;
        let mut copies = Vec::new();
        for _ in 0..5000 {
            match file.try_clone() {
                Ok(copy) => copies.push(copy),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok("5000".to_owned())
    }),
    ("never-end", |_| {
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
        std::thread::sleep(std::time::Duration::from_secs(4));
        Ok("4 s".to_owned())
    }),
];

fn fork_sleeper() -> bool {
    match unsafe { libc::fork() } {
        -1 => false,
        0 => unsafe {
            libc::sleep(1);
            libc::_exit(0)
        },
        _ => true,
    }
}

fn fill(folder: &str) -> Outcome {
    let block = vec![1_u8; 1 << 20];
    // None of them larger than one file may be.
    let paths: Vec<String> = (0..20)
        .map(|number| format!("{folder}/filler-{number}"))
        .collect();
    let filled = paths.iter().try_for_each(|path| {
        let mut file = File::create(path)?;
        (0..10).try_for_each(|_| file.write_all(&block))
    });
    for path in &paths {
        let _ = fs::remove_file(path);
    }
    told(filled)
}
