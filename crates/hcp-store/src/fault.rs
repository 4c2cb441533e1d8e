//! From SQLite's errors to ours: the one place that knows what its codes mean.
//!
//! Functions on a bare connection do not know the name of its file; they return a [`Fault`], and
//! whoever owns the connection turns it into a [`StoreError`] that names the file.

use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::error::StoreError;

/// An error on its way to the file's name.
#[derive(Debug)]
pub(crate) enum Fault {
    /// What SQLite said.
    Sql(rusqlite::Error),
    /// Rows that contradict each other.
    Corrupt(String),
    /// Complete already.
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// The error that names `path`.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Store(error) => error,
            Self::Corrupt(what) => StoreError::Corrupt { path, what },
            Self::Sql(rusqlite::Error::SqliteFailure(failure, message)) => {
                named(failure, message, &path)
            }
            Self::Sql(rusqlite::Error::SqlInputError { error, msg, .. }) => {
                named(error, Some(msg), &path)
            }
            Self::Sql(error) => match misread(&error) {
                Some(what) => StoreError::Corrupt { path, what },
                None => StoreError::Io {
                    path,
                    reason: one_line(&error.to_string()),
                },
            },
        }
    }

    /// Whether SQLite refused to read through a shared memory file that is absent or stale.
    pub(crate) fn needs_shared_memory(&self) -> bool {
        matches!(self, Self::Sql(rusqlite::Error::SqliteFailure(failure, _))
            if matches!(failure.code, ErrorCode::CannotOpen | ErrorCode::ReadOnly))
    }
}

/// The error of a file operation of our own.
pub(crate) fn io_error(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
        io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        _ => StoreError::Io {
            path,
            reason: error.to_string(),
        },
    }
}

fn named(failure: ffi::Error, message: Option<String>, path: &Path) -> StoreError {
    let path = path.to_owned();
    match failure.code {
        ErrorCode::NotADatabase => StoreError::NotADatabase { path },
        ErrorCode::DatabaseCorrupt => StoreError::Corrupt {
            path,
            what: one_line(
                message
                    .as_deref()
                    .unwrap_or("a page holds no valid content"),
            ),
        },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly { path },
        ErrorCode::DiskFull => StoreError::Full { path },
        // The shared memory file could not grow: only a lack of room does that.
        ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            StoreError::Full { path }
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy { path },
        ErrorCode::CannotOpen => StoreError::Io {
            path,
            reason: "cannot be opened, or its folder cannot take the files beside it".to_owned(),
        },
        // A statement of ours does not fit the tables: they are not the ones that we made.
        // A constraint of ours was about to be broken: rows contradict each other.
        ErrorCode::Unknown | ErrorCode::ConstraintViolation => StoreError::Corrupt {
            path,
            what: one_line(
                message
                    .as_deref()
                    .unwrap_or("a table is not as it was made"),
            ),
        },
        _ => StoreError::Io {
            path,
            reason: one_line(&message.unwrap_or_else(|| failure.to_string())),
        },
    }
}

/// What a row held instead of what it must hold.
fn misread(error: &rusqlite::Error) -> Option<String> {
    match error {
        rusqlite::Error::InvalidColumnType(_, name, class) => {
            let class = class.to_string().to_lowercase();
            Some(format!(
                "column `{}` holds a value of class {class}",
                one_line(name)
            ))
        }
        rusqlite::Error::FromSqlConversionFailure(_, _, error) => {
            Some(one_line(&error.to_string()))
        }
        rusqlite::Error::IntegralValueOutOfRange(_, number) => {
            Some(format!("the number {number} is out of range"))
        }
        rusqlite::Error::Utf8Error(..) => Some("a text is not UTF-8".to_owned()),
        rusqlite::Error::QueryReturnedNoRows => Some("a row that must be there is gone".to_owned()),
        _ => None,
    }
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
