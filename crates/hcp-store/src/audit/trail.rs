//! The audit trail as a [`Store`] offers it: appending, closing what was left open, reading, judging.

use hcp_spec::audit::{AuditEvent, AuditRecord};

use super::checkpoint::Checkpoint;
use super::read::{self as records, RecordFilter};
use super::verify::{self, Verdict};
use super::write::{self, Intent};
use crate::error::StoreError;
use crate::fault::Fault;
use crate::schema;
use crate::store::Store;

impl Store {
    /// Appends a record to its tenant's trail, and answers with its number there. It is durable then
    /// (§6.3 step 9).
    ///
    /// # Errors
    /// Why it could not be written.
    pub fn record(&mut self, event: &AuditEvent) -> Result<u64, StoreError> {
        self.write(|connection| write::append(connection, event))
    }

    /// Records that a call is about to mint and run. Before its first intent the store takes the lock
    /// that tells other processes that this one lives.
    ///
    /// # Errors
    /// Why it could not be written; the call must not run then.
    pub fn begin(&mut self, event: &AuditEvent) -> Result<Intent, StoreError> {
        self.hold_lock()?;
        let runtime_id = self.runtime_id().to_owned();
        self.write(|connection| {
            let intent = Intent {
                seq: write::append(connection, event)?,
                tenant_id: event.tenant_id.clone(),
                runtime_id,
            };
            write::open_intent(connection, &intent)?;
            Ok(intent)
        })
    }

    /// Records how a call with an intent ended. The record goes to the trail of the intent, and names
    /// it. When this fails, the intent stays open and is closed as interrupted by a later start.
    ///
    /// # Errors
    /// Why it could not be written.
    // Taking the intent means that it cannot be finished twice.
    #[allow(clippy::needless_pass_by_value)]
    pub fn finish(&mut self, intent: Intent, outcome: &AuditEvent) -> Result<u64, StoreError> {
        let outcome = AuditEvent {
            tenant_id: intent.tenant_id.clone(),
            intent_seq: Some(intent.seq),
            ..outcome.clone()
        };
        self.write(|connection| {
            write::close_intent(connection, &intent)?;
            write::append(connection, &outcome)
        })
    }

    /// Closes the intents of runtimes that are gone, each with an `interrupted` record, and answers
    /// how many there were. Costs one look at an empty table when there is none.
    ///
    /// # Errors
    /// Those of the database and of the lock files.
    pub fn recover(&mut self) -> Result<u64, StoreError> {
        self.recover_others()
    }

    /// The records that `filter` selects, oldest first, all in memory.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for a row that is no record; [`StoreError::Busy`] where a file that
    /// was read as immutable was written meanwhile.
    pub fn records(&self, filter: &RecordFilter) -> Result<Vec<AuditRecord>, StoreError> {
        let mut found = Vec::new();
        self.for_each_record(filter, |record| {
            found.push(record);
            Ok::<(), StoreError>(())
        })?;
        Ok(found)
    }

    /// Hands the records that `filter` selects to `each`, oldest first, one at a time, and stops at
    /// its first error.
    ///
    /// # Errors
    /// That of `each`, or as [`Store::records`].
    pub fn for_each_record<E: From<StoreError>>(
        &self,
        filter: &RecordFilter,
        mut each: impl FnMut(AuditRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stopped = None;
        self.snapshot(|connection| {
            let walked = records::for_each(connection, filter, |record| {
                each(record).map_err(|error| {
                    stopped = Some(error);
                    Stop::Caller
                })
            });
            match walked {
                Ok(()) | Err(Stop::Caller) => Ok(()),
                Err(Stop::Database(fault)) => Err(fault),
            }
        })?;
        stopped.map_or(Ok(()), Err)
    }

    /// One record of a tenant's trail.
    ///
    /// # Errors
    /// As [`Store::records`].
    pub fn record_at(&self, tenant_id: &str, seq: u64) -> Result<Option<AuditRecord>, StoreError> {
        let Ok(seq) = i64::try_from(seq) else {
            return Ok(None);
        };
        self.snapshot(|connection| records::record_at(connection, tenant_id, seq))
    }

    /// Judges the trail of one tenant, or of all, and against a checkpoint where one is given.
    ///
    /// # Errors
    /// Those of the database: where pages are damaged there is no verdict.
    pub fn verify(
        &self,
        tenant_id: Option<&str>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Verdict, StoreError> {
        let judged = self.snapshot(|connection| verify::verify(connection, tenant_id, checkpoint));
        match judged {
            // Someone began to write to a file that was read as immutable.
            Err(StoreError::Busy { .. }) if self.is_overtaken() => {
                Self::open_to_read(self.path())?.verify(tenant_id, checkpoint)
            }
            judged => judged,
        }
    }

    /// Notes how the trail of a tenant stands now.
    ///
    /// # Errors
    /// [`StoreError::NotThere`] for a trail without a record; [`StoreError::Corrupt`] where the newest
    /// record is not the one that the trail's head names.
    pub fn checkpoint(&self, tenant_id: &str) -> Result<Checkpoint, StoreError> {
        self.snapshot(|connection| {
            let Some((seq, hash)) = write::head(connection, tenant_id)?.filter(|head| head.0 > 0)
            else {
                return Err(Fault::Store(StoreError::NotThere {
                    kind: "audit trail of tenant",
                    name: tenant_id.to_owned(),
                }));
            };
            let newest = records::record_at(connection, tenant_id, seq)?;
            if newest.is_none_or(|record| record.hash != hash) {
                return Err(Fault::Corrupt(format!(
                    "the audit trail of tenant `{tenant_id}` does not end as its head says"
                )));
            }
            Ok(Checkpoint {
                installation: schema::installation_id(connection)?,
                tenant_id: tenant_id.to_owned(),
                seq: seq.unsigned_abs(),
                hash,
            })
        })
    }
}

/// Why a walk over records ended early.
enum Stop {
    Caller,
    Database(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Database(fault)
    }
}
