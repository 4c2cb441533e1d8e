//! The helper of provider `exec`: the one program that is run outside the jail, so the very file
//! that was examined is the one that runs, at minting and at revoking alike.

use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hcp_sandbox::{
    BinError, BinSearch, Cancel, CheckedBin, Demand, End, Launch, Limits, Stdin, TrustError,
    check_bin, check_private, run_native_local, signal_name,
};
use hcp_spec::config::Provider;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::error::BindingError;

/// How long a helper may take. The text of [`BindingError::HelperTimedOut`] repeats it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How much it may answer, in bytes. The text of [`BindingError::HelperOutputOver`] repeats it.
const OUTPUT: u64 = 64 << 10;

/// A helper that was found fit, held open.
pub(crate) struct Helper {
    bin: CheckedBin,
    arguments: Vec<OsString>,
    /// Where it starts: the folder of the config.
    folder: PathBuf,
}

impl Helper {
    /// Examines the helper of a section: an absolute path, that only we or root can change, with the
    /// bytes that the operator pinned, if any.
    pub(crate) fn check(provider: &Provider, folder: &Path) -> Result<Self, BindingError> {
        let (path, arguments) = provider
            .command
            .split_first()
            .ok_or(BindingError::NoCommand)?;
        let unfit = |defect: String| BindingError::Helper {
            path: path.clone(),
            defect,
        };
        if !Path::new(path).is_absolute() {
            return Err(unfit("is not an absolute path".to_owned()));
        }
        check_private(Path::new(path), "helper", Demand::NotWritableByOthers)
            .map_err(|error| unfit(distrust(&error)))?;
        let search = BinSearch {
            pack_root: folder,
            path: &[],
            allowed: std::slice::from_ref(path),
        };
        let bin = check_bin(path, &search).map_err(|error| match error {
            BinError::NotAllowlisted | BinError::NotFound { .. } => {
                unfit("cannot be opened".to_owned())
            }
            BinError::Unfit { detail } => unfit(format!("is unfit: {detail}")),
        })?;
        if let Some(digest) = &provider.digest {
            let found = digest_of(&bin).map_err(|error| unfit(error.kind().to_string()))?;
            if !found.eq_ignore_ascii_case(digest) {
                return Err(unfit("does not have the digest that is pinned".to_owned()));
            }
        }
        Ok(Self {
            bin,
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: folder.to_owned(),
        })
    }

    /// Runs the helper once: `request` on stdin, an empty environment, and what it wrote to stdout.
    /// Its stderr is dropped unread, as nobody knows what stands in it.
    pub(crate) fn ask(
        &self,
        request: Vec<u8>,
        cancel: &Cancel,
    ) -> Result<Zeroizing<Vec<u8>>, BindingError> {
        let finished = run_native_local(Launch {
            bin: &self.bin,
            argv: self.arguments.clone(),
            environment: Vec::new(),
            working_directory: self.folder.clone(),
            stdin: Stdin::Bytes(request),
            limits: Limits {
                timeout: TIMEOUT,
                output: OUTPUT,
                stderr_tail: 0,
                memory: None,
                processes: None,
                file_size: None,
            },
            cancel,
        })
        .map_err(|error| self.unfit(error))?;
        let written = Zeroizing::new(finished.stdout);
        match finished.end {
            End::Exited(0) => Ok(written),
            End::Exited(status) => Err(BindingError::HelperExited(status)),
            End::Signalled(signal) => Err(BindingError::HelperSignalled(signal_name(signal))),
            End::TimedOut => Err(BindingError::HelperTimedOut),
            End::Cancelled => Err(BindingError::Cancelled),
            End::OutOfMemory => Err(BindingError::HelperSignalled("lack of memory".to_owned())),
            End::OutputOver => Err(BindingError::HelperOutputOver),
        }
    }

    /// The helper is there and could not be run.
    pub(crate) fn unfit(&self, reason: impl Display) -> BindingError {
        BindingError::Helper {
            path: self.bin.path().display().to_string(),
            defect: format!("cannot be run: {reason}"),
        }
    }
}

/// The SHA-256 of the very file that was examined, in hex, whatever its name means by now.
fn digest_of(bin: &CheckedBin) -> std::io::Result<String> {
    let mut file = File::open(format!("/proc/self/fd/{}", bin.as_fd().as_raw_fd()))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = file.read(&mut buffer)?;
        let Some(read) = buffer.get(..length).filter(|read| !read.is_empty()) else {
            break;
        };
        hash.update(read);
    }
    let digest = hash.finalize();
    Ok(digest.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

fn distrust(error: &TrustError) -> String {
    match error {
        TrustError::Unreadable { source, .. } => format!("cannot be opened: {}", source.kind()),
        TrustError::Writable { culprit, .. } => {
            format!("can be changed by others: see the mode of `{culprit}`")
        }
        TrustError::Readable { .. } => "is readable by others".to_owned(),
        TrustError::Owner { culprit, owner, .. } => {
            format!("can be changed by others: `{culprit}` belongs to user {owner}")
        }
        TrustError::NotAFile { .. } => "is not a regular file".to_owned(),
    }
}
