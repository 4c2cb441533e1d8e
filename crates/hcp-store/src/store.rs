//! The store itself: one connection to the database, and the runtime that it acts as.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use hcp_spec::audit::AuditEvent;
use rusqlite::{Connection, TransactionBehavior};

use crate::audit::{recover, write};
use crate::database;
use crate::error::StoreError;
use crate::fault::Fault;
use crate::identity::random_id;
use crate::lock::RuntimeLock;
use crate::state::Changes;

/// State and audit of one installation, through one connection.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    runtime_id: String,
    runtime: Runtime,
    /// The newest generation that was read, and the state of the file that it holds for.
    seen: Cell<Option<(i64, u64)>>,
}

/// What the store may do to the file.
#[derive(Debug)]
enum Runtime {
    /// Anything; the lock is taken with the first intent.
    Writing {
        locks: PathBuf,
        lock: Option<RuntimeLock>,
    },
    /// Nothing. `immutable`: the file is read as if nobody wrote it.
    Reading { immutable: bool },
}

impl Store {
    /// Opens the database at `path`, and creates it (mode 0600, whatever the umask) and the folder for
    /// the locks of runtimes where they are absent. The folder of `path` must be there.
    ///
    /// # Errors
    /// [`StoreError::NotADatabase`] for a file of another program, which is not touched; the other
    /// variants for what else keeps the file from being used.
    pub fn create(path: &Path, locks: &Path) -> Result<Self, StoreError> {
        let connection = database::create(path, locks)?;
        Self::writing(connection, path, locks)
    }

    /// Opens the database at `path`. Writes only where its schema is older than this program's.
    ///
    /// # Errors
    /// [`StoreError::NotInitialised`] when there is none; else as [`Store::create`].
    pub fn open(path: &Path, locks: &Path) -> Result<Self, StoreError> {
        let connection = database::open(path)?;
        Self::writing(connection, path, locks)
    }

    /// Opens the database at `path` to look at it. Neither the file nor its folder is written, so that
    /// a trail can be verified on a medium that cannot be written, or by someone who may only read.
    /// (One exception: where a log lies beside the file and its index is gone, SQLite makes the index.)
    ///
    /// # Errors
    /// [`StoreError::OlderSchema`] where it would have to be brought up to date first; else as
    /// [`Store::open`]. Every function that writes answers [`StoreError::ReadOnly`].
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let (connection, immutable) = database::open_to_read(path)?;
        Self::with(connection, path, Runtime::Reading { immutable })
    }

    /// A number that changes whenever anything but the audit trail was changed, by any process. As
    /// long as nobody wrote to the file, asking costs next to nothing.
    ///
    /// # Errors
    /// Those of the database.
    pub fn generation(&self) -> Result<u64, StoreError> {
        self.ask(|connection| {
            // Counts the commits of other connections; our own forget what was seen.
            let version: i64 = connection
                .prepare_cached("PRAGMA data_version")?
                .query_row([], |row| row.get(0))?;
            if let Some((seen, generation)) = self.seen.get()
                && seen == version
            {
                return Ok(generation);
            }
            let generation: i64 = connection
                .prepare_cached("SELECT generation FROM installation")?
                .query_row([], |row| row.get(0))?;
            let generation = generation.unsigned_abs();
            self.seen.set(Some((version, generation)));
            Ok(generation)
        })
    }

    /// Does what `act` does, and records it as `event`, in one transaction: both become durable, or
    /// neither. On an error nothing is recorded.
    ///
    /// # Errors
    /// What `act` answered, or why the transaction could not be written.
    pub fn change<T>(
        &mut self,
        event: &AuditEvent,
        act: impl FnOnce(&Changes<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.seen.set(None);
        let path = self.path.clone();
        self.write(|connection| {
            let done = act(&Changes {
                connection,
                path: &path,
            })?;
            connection
                .prepare_cached("UPDATE installation SET generation = generation + 1")?
                .execute([])?;
            write::append(connection, event)?;
            Ok(done)
        })
    }

    /// Remembers under which identity and times of its files a pack still has this digest. That is
    /// no act of anybody and nothing that calls see: no record is written and the generation stays.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remember_identity(
        &mut self,
        pack_id: &str,
        digest: &str,
        identity: &str,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            connection
                .prepare_cached("UPDATE pack SET identity = ?3 WHERE id = ?1 AND digest = ?2")?
                .execute([pack_id, digest, identity])?;
            Ok(())
        })
    }

    /// The runtime that this store acts as; no two stores have the same.
    pub fn runtime_id(&self) -> &str {
        &self.runtime_id
    }

    fn writing(connection: Connection, path: &Path, locks: &Path) -> Result<Self, StoreError> {
        let runtime = Runtime::Writing {
            locks: locks.to_owned(),
            lock: None,
        };
        Self::with(connection, path, runtime)
    }

    fn with(connection: Connection, path: &Path, runtime: Runtime) -> Result<Self, StoreError> {
        Ok(Self {
            connection,
            path: path.to_owned(),
            runtime_id: random_id("run_")?,
            runtime,
            seen: Cell::new(None),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn recover_others(&mut self) -> Result<u64, StoreError> {
        let Runtime::Writing { locks, .. } = &self.runtime else {
            return Ok(0);
        };
        recover::recover(&mut self.connection, locks, &self.runtime_id)
            .map_err(|fault| fault.at(&self.path))
    }

    /// Takes the lock that tells other processes that this one lives, unless it is held already.
    pub(crate) fn hold_lock(&mut self) -> Result<(), StoreError> {
        match &mut self.runtime {
            Runtime::Writing { locks, lock } => {
                if lock.is_none() {
                    *lock = Some(RuntimeLock::take(locks, &self.runtime_id)?);
                }
                Ok(())
            }
            Runtime::Reading { .. } => Err(StoreError::ReadOnly {
                path: self.path.clone(),
            }),
        }
    }

    pub(crate) fn write<T>(
        &mut self,
        act: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let connection = &mut self.connection;
        let transact = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = act(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        transact().map_err(|fault: Fault| fault.at(&self.path))
    }

    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        question(&self.connection).map_err(|error| Fault::from(error).at(&self.path))
    }

    /// Runs `look` over one state of the database, however many statements it takes.
    pub(crate) fn snapshot<T>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let seen = self
            .connection
            .unchecked_transaction()
            .map_err(Fault::from)
            .and_then(|transaction| look(&transaction));
        if self.is_overtaken() {
            return Err(StoreError::Busy {
                path: self.path.clone(),
            });
        }
        seen.map_err(|fault| fault.at(&self.path))
    }

    pub(crate) fn is_overtaken(&self) -> bool {
        let immutable = matches!(self.runtime, Runtime::Reading { immutable: true });
        immutable && database::log_of(&self.path).exists()
    }
}

impl Drop for Store {
    /// Gives the lock up. Its file stays where an intent is still open: whoever closes that one
    /// removes it.
    fn drop(&mut self) {
        if let Runtime::Writing { lock, .. } = &mut self.runtime
            && let Some(lock) = lock.take()
            && let Ok(false) = recover::has_open_intent(&self.connection, &self.runtime_id)
        {
            lock.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::RecordFilter;
    use crate::audit::verify::Verdict;
    use hcp_spec::audit::AuditKind;

    #[test]
    fn a_full_disk_refuses_the_record_and_keeps_the_rest() {
        let home = tempfile::tempdir().unwrap();
        let (path, locks) = (home.path().join("hcp.db"), home.path().join("locks"));
        let mut store = Store::create(&path, &locks).unwrap();
        let mut event = AuditEvent::new(AuditKind::Denied, "default", "human:ann", "run_x");
        event.args = Some("x".repeat(3000));
        store.record(&event).unwrap();
        let pages: u32 = store
            .ask(|connection| connection.query_row("PRAGMA page_count", [], |row| row.get(0)))
            .unwrap();
        let limit = |store: &Store, pages: u32| {
            store
                .ask(|connection| connection.pragma_update(None, "max_page_count", pages))
                .unwrap();
        };
        limit(&store, pages + 5);
        let mut written = 1;
        let error = loop {
            match store.record(&event) {
                Ok(seq) => written = seq,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!("no room left to write `{}`", path.display())
        );
        assert!(
            store.begin(&event).is_err(),
            "a call that cannot be announced must not run"
        );
        assert_eq!(store.recover().unwrap(), 0);
        let records = store.records(&RecordFilter::default()).unwrap();
        assert_eq!(u64::try_from(records.len()).unwrap(), written);
        assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
        limit(&store, pages + 500);
        assert_eq!(store.record(&event).unwrap(), written + 1);
        assert_eq!(store.verify(None, None).unwrap(), Verdict::Ok);
    }
}
