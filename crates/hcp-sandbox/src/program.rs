//! Argv and environment in the form that `execve` takes, built before there is a child: between
//! `clone` and `execve` nothing may allocate.

use std::ffi::{CString, OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::launch::LaunchError;

/// The longest argument or `NAME=value`, in bytes, as Linux takes it (`MAX_ARG_STRLEN` less the NUL).
pub(crate) const LONGEST: usize = 131_071;

/// Everything `execve` and `chdir` are given.
pub(crate) struct Program {
    pub(crate) path: CString,
    pub(crate) arguments: Strings,
    pub(crate) environment: Strings,
    pub(crate) working_directory: CString,
}

impl Program {
    /// # Errors
    /// [`LaunchError`] for a NUL byte, an element that is too long, or a name that is none.
    pub(crate) fn new(
        path: &Path,
        arguments: &[OsString],
        environment: &[(OsString, OsString)],
        working_directory: &Path,
    ) -> Result<Self, LaunchError> {
        check_arguments(arguments)?;
        check_environment(environment)?;
        let arguments =
            std::iter::once(path.as_os_str()).chain(arguments.iter().map(OsString::as_os_str));
        Ok(Self {
            path: c_string(path)?,
            arguments: Strings::new(
                arguments.map(|argument| [argument, OsStr::new(""), OsStr::new("")]),
            ),
            environment: Strings::new(
                environment
                    .iter()
                    .map(|(name, value)| [name.as_os_str(), OsStr::new("="), value]),
            ),
            working_directory: c_string(working_directory)?,
        })
    }
}

fn check_arguments(arguments: &[OsString]) -> Result<(), LaunchError> {
    for (index, argument) in arguments.iter().enumerate() {
        let (position, length) = (index + 1, argument.len());
        if argument.as_bytes().contains(&0) {
            return Err(LaunchError::ArgumentNul { position });
        }
        if length > LONGEST {
            return Err(LaunchError::ArgumentTooLong { position, length });
        }
    }
    Ok(())
}

/// Names are told, values never: they may be credentials. A name that is none might be half of one.
fn check_environment(environment: &[(OsString, OsString)]) -> Result<(), LaunchError> {
    for (name, value) in environment {
        let malformed = |byte: &u8| matches!(byte, b'=' | 0);
        if name.is_empty() || name.as_bytes().iter().any(malformed) {
            return Err(LaunchError::VariableName);
        }
        let reason = if value.as_bytes().contains(&0) {
            "its value holds a NUL byte"
        } else if name.len() + 1 + value.len() > LONGEST {
            "it is longer than the system takes"
        } else {
            continue;
        };
        let name = name.to_string_lossy().into_owned();
        return Err(LaunchError::Variable { name, reason });
    }
    Ok(())
}

fn c_string(path: &Path) -> Result<CString, LaunchError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| LaunchError::PathNul)
}

/// A null-terminated array of C strings, all in one piece of memory.
pub(crate) struct Strings {
    /// Owns what `pointers` point into; never changed after they were taken.
    _bytes: Box<[u8]>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    /// Each item is the parts of one string, none with a NUL byte.
    fn new<'a>(items: impl Iterator<Item = [&'a OsStr; 3]>) -> Self {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for parts in items {
            starts.push(bytes.len());
            for part in parts {
                bytes.extend_from_slice(part.as_bytes());
            }
            bytes.push(0);
        }
        let bytes = bytes.into_boxed_slice();
        let mut pointers: Vec<*const c_char> = starts
            .into_iter()
            .filter_map(|start| Some(bytes.get(start..)?.as_ptr().cast()))
            .collect();
        pointers.push(std::ptr::null());
        Self {
            _bytes: bytes,
            pointers,
        }
    }

    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}
