//! How much isolation this machine gives, found out by trying to get out of a jail.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use hcp_spec::config::Level;

use super::{Goal, Parts, Plan, Sockets, Way, probe, seccomp, start};
use crate::launch::{LaunchError, Stdin, Streaming};
use crate::limits::Limits;

/// How much isolation there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelReport {
    /// The highest level that can be had.
    pub level: Level,
    /// What is missing for the level above it, in words; none at the highest.
    pub missing: Vec<String>,
}

/// A file that keeps the answer for the next process of the same program, user and boot. Nobody else
/// may be able to write it.
#[derive(Clone, Copy, Debug)]
pub enum LevelCache<'a> {
    /// Only looked at.
    Read(&'a Path),
    /// Looked at, and written when it does not say.
    Keep(&'a Path),
}

/// How much isolation this process can give. Found out once for as long as the process lives, by a
/// jail that tries to break out of itself, unless the cache says so.
///
/// The answer is for people and for refusing early: a jail that lacks a layer is not started whatever
/// stands here.
pub fn available_level(cache: LevelCache<'_>) -> LevelReport {
    static FOUND: OnceLock<LevelReport> = OnceLock::new();
    FOUND.get_or_init(|| find(cache)).clone()
}

fn find(cache: LevelCache<'_>) -> LevelReport {
    let key = key();
    let (LevelCache::Read(file) | LevelCache::Keep(file)) = cache;
    let kept = fs::read_to_string(file).ok();
    if kept.is_some() && kept == key {
        return LevelReport::full();
    }
    let Err(missing) = attempt(Level::Full) else {
        if let (LevelCache::Keep(file), Some(key)) = (cache, key) {
            // Without it, the next process finds out by itself.
            let _ = keep(file, &key);
        }
        return LevelReport::full();
    };
    // Root has no second best: it could only be itself, with all that it owns.
    let is_root = rustix::process::geteuid().is_root();
    match attempt(Level::NoUserns) {
        Ok(()) if !is_root => LevelReport {
            level: Level::NoUserns,
            missing: vec![missing],
        },
        Err(other) if !is_root && other != missing => LevelReport {
            level: Level::None,
            missing: vec![missing, other],
        },
        _ => LevelReport {
            level: Level::None,
            missing: vec![missing],
        },
    }
}

impl LevelReport {
    const fn full() -> Self {
        Self {
            level: Level::Full,
            missing: Vec::new(),
        }
    }
}

/// Only success is kept: what is missing may be there the next time.
fn keep(cache: &Path, key: &str) -> std::io::Result<()> {
    let beside = cache.with_extension(format!("{}", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(key.as_bytes())?;
    fs::rename(beside, cache)
}

/// What the answer depends on.
fn key() -> Option<String> {
    let system = rustix::system::uname();
    let program = fs::metadata("/proc/self/exe").ok()?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!(
        "{} {} {}:{}:{}:{} {}\n",
        system.release().to_str().ok()?,
        boot.trim(),
        program.dev(),
        program.ino(),
        program.mtime(),
        program.mtime_nsec(),
        rustix::process::geteuid().as_raw(),
    ))
}

/// Makes a jail and tries to get out of it; what is missing, when something is.
fn attempt(level: Level) -> Result<(), String> {
    let status = probe_jail(level).map_err(|error| match error {
        LaunchError::Isolation { layer, .. } => layer.to_owned(),
        other => other.to_string(),
    })?;
    match status {
        Some(0) => Ok(()),
        Some(status) => Err(probe::layer(status).to_owned()),
        None => Err("process namespace".to_owned()),
    }
}

const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(5),
    output: 0,
    stderr_tail: 0,
    memory: None,
    processes: None,
    file_size: None,
};

fn probe_jail(level: Level) -> Result<Option<i32>, LaunchError> {
    use std::os::fd::AsRawFd;
    let way = match level {
        Level::Full => Some(Way::of_this_process().ok_or_else(super::no_user)?),
        _ => None,
    };
    let streaming = Streaming::new(Stdin::Null, &LIMITS)?;
    let plan = way.map_or_else(|| Plan::on_host(&[]), Plan::new);
    let jailed = start(&Parts {
        way,
        landlock: super::landlock_version(way)?,
        goal: Goal::Probe,
        standard: [
            streaming.input.as_raw_fd(),
            streaming.child_stdout.as_raw_fd(),
            streaming.child_stderr.as_raw_fd(),
        ],
        limits: &[],
        doors: &[],
        size: &super::size(&LIMITS)?,
        actions: &[],
        rules: &plan.rules,
        filter: &seccomp::filter(Sockets::Pairs, super::alone(way)),
    })?;
    Ok(jailed.probed())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{LevelCache, find, key};

    #[test]
    fn the_jail_holds_here_and_success_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("isolation");
        let found = find(LevelCache::Read(&cache));
        assert_eq!(found.missing, Vec::<String>::new());
        assert!(!cache.exists());
        assert_eq!(find(LevelCache::Keep(&cache)), found);
        assert_eq!(std::fs::read_to_string(&cache).unwrap(), key().unwrap());
        let mode = std::fs::metadata(&cache).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(find(LevelCache::Keep(&cache)), found);
    }
}
