//! Opening the file: who may touch it, how SQLite is told to treat it, and how to read it without
//! leaving a trace.
//!
//! The file is only ever opened by SQLite, never as an ordinary file beside it: closing any other
//! descriptor of it would drop the POSIX locks of every connection of this process.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::StoreError;
use crate::fault::{Fault, io_error};
use crate::schema::{self, Form, MIGRATIONS};

/// How long a writer waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it looks. A commit takes about as long, so that nobody waits for nothing.
const POLL: Duration = Duration::from_millis(1);
/// The least that SQLite ever writes: one page of the smallest size, in bytes.
const SMALLEST: u64 = 512;
/// A commit is on the disk when it returns. The log is moved into the file every 50 pages: a call
/// that has the file to itself reads the whole log to find its way, so that it had better stay short.
const PRAGMAS: &str = "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; \
                       PRAGMA wal_autocheckpoint = 50;";
/// Every statement of the crate stays prepared.
const STATEMENTS: usize = 96;

/// Creates whatever is absent and opens the database at the newest schema.
pub(crate) fn create(path: &Path, locks: &Path) -> Result<Connection, StoreError> {
    make_private_folder(locks)?;
    make_private_file(path)?;
    let mut connection = writable(path)?;
    let found = schema::form(&connection, MIGRATIONS).map_err(|fault| fault.at(path))?;
    if found == Form::Empty {
        use_write_ahead_log(&connection).map_err(|fault| fault.at(path))?;
    }
    let is_new = found == Form::Empty;
    settle(&mut connection, path, found)?;
    if is_new {
        // From the start the file by itself, without its log, is an installation.
        connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|error| Fault::from(error).at(path))?;
    }
    Ok(connection)
}

/// Opens a database that is there, and writes only where its schema is older than ours.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = writable(path)?;
    let found = schema::form(&connection, MIGRATIONS).map_err(|fault| fault.at(path))?;
    if found == Form::Empty {
        return Err(StoreError::NotInitialised {
            path: path.to_owned(),
        });
    }
    settle(&mut connection, path, found)?;
    Ok(connection)
}

/// Opens a database without writing anything, the files beside it included, wherever that can be
/// done. Also tells whether the file is read as if nobody could change it: then [`log_of`] must still
/// be absent when the reading is over.
pub(crate) fn open_to_read(path: &Path) -> Result<(Connection, bool), StoreError> {
    inspect(path)?;
    let attempts: &[(&str, bool)] = if log_of(path).exists() {
        // Through the shared memory of whoever writes, read-only. Only where that is absent or
        // useless is a connection opened that makes it anew.
        &[("?readonly_shm=1", false), ("", false)]
    } else {
        // No log, no writer: everything is in the file itself.
        &[("?immutable=1", true)]
    };
    let mut last = Fault::Corrupt("it cannot be read".to_owned());
    for (query, immutable) in attempts {
        let found = connect(path, query, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|connection| {
            let form = schema::form(&connection, MIGRATIONS)?;
            Ok((connection, form))
        });
        match found {
            Ok((connection, form)) => {
                return match schema::refuse(&form, path) {
                    Some(error) => Err(error),
                    None => Ok((connection, *immutable)),
                };
            }
            Err(fault) if fault.needs_shared_memory() => last = fault,
            Err(fault) => return Err(fault.at(path)),
        }
    }
    Err(last.at(path))
}

/// The write-ahead log beside a database.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// Creates a folder that only its owner may enter, whatever the umask; one that is there stays.
pub(crate) fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(0o700)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|error| io_error(folder, &error))
}

fn make_private_file(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(file) => file
            .set_permissions(Permissions::from_mode(0o600))
            .and_then(|()| match path.parent() {
                Some(folder) if folder != Path::new("") => File::open(folder)?.sync_all(),
                _ => File::open(".")?.sync_all(),
            }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|error| io_error(path, &error))
}

fn writable(path: &Path) -> Result<Connection, StoreError> {
    inspect(path)?;
    let connection =
        connect(path, "", OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|fault| fault.at(path))?;
    // SQLite opens a file that we may only read without a word.
    match connection.is_readonly("main") {
        Ok(false) => Ok(connection),
        Ok(true) => Err(StoreError::ReadOnly {
            path: path.to_owned(),
        }),
        Err(error) => Err(Fault::from(error).at(path)),
    }
}

/// What can be told of the file without opening it.
fn inspect(path: &Path) -> Result<(), StoreError> {
    let owned = || path.to_owned();
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::NotInitialised { path: owned() },
        _ => io_error(path, &error),
    })?;
    // SQLite takes a file of a few bytes for an empty one, and would write over them.
    if !metadata.is_file() || (1..SMALLEST).contains(&metadata.len()) {
        return Err(StoreError::NotADatabase { path: owned() });
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(StoreError::WritableByOthers {
            path: owned(),
            mode,
        });
    }
    Ok(())
}

fn connect(path: &Path, query: &str, access: OpenFlags) -> Result<Connection, Fault> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(uri(path, query), flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let mut since = Instant::now();
    connection.busy_handler(Some(move |tries| {
        if tries == 0 {
            since = Instant::now();
        }
        thread::sleep(POLL);
        since.elapsed() < PATIENCE
    }))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // None of ours; one that somebody put into the file could make a record vanish as it is written.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // The end of a single call must not pay for moving the log into the file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// Brings what was found to the newest schema, or says why not.
fn settle(connection: &mut Connection, path: &Path, found: Form) -> Result<(), StoreError> {
    let found = match found {
        Form::Empty | Form::Older(_) => schema::migrate(connection, MIGRATIONS)
            .and_then(|()| schema::form(connection, MIGRATIONS))
            .map_err(|fault| fault.at(path))?,
        settled => settled,
    };
    schema::refuse(&found, path).map_or(Ok(()), Err)
}

/// Switches an empty file to a write-ahead log. Two creators may do so at once, and SQLite does not
/// call the busy handler for this one.
fn use_write_ahead_log(connection: &Connection) -> Result<(), Fault> {
    let since = Instant::now();
    loop {
        let mode: rusqlite::Result<String> =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => {
                return Err(Fault::Corrupt(
                    "it cannot keep a write-ahead log".to_owned(),
                ));
            }
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == ErrorCode::DatabaseBusy && since.elapsed() < PATIENCE =>
            {
                thread::sleep(POLL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The path as a URI, so that no byte of it means anything to SQLite.
fn uri(path: &Path, query: &str) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push('%');
            uri.push_str(&crate::identity::hex(&[*byte]));
        }
    }
    uri + query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_path_has_a_meaning_of_its_own() {
        let cases = [
            ("/home/a b/hcp.db", "file:/home/a%20b/hcp.db"),
            ("/x?mode=memory#y", "file:/x%3fmode%3dmemory%23y"),
            ("/50%/ä", "file:/50%25/%c3%a4"),
            (":memory:", "file:%3amemory%3a"),
        ];
        for (path, expected) in cases {
            assert_eq!(uri(Path::new(path), ""), expected);
        }
    }
}
