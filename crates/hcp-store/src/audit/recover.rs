//! Closing the intents of runtimes that are gone, each exactly once.
//!
//! Whoever can take the lock of a runtime, or finds none, knows that it is dead: it locks before its
//! first intent. The rows are read again inside the writing transaction, so of two recoverers at once
//! the later one finds nothing left to close.

use std::path::Path;

use hcp_spec::audit::{AuditEvent, AuditKind};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::read::record_at;
use super::write::{append, column_number};
use crate::fault::Fault;
use crate::lock::{self, Owner};

/// Closes what can be closed, as the runtime `own`, and answers how many intents that were.
pub(crate) fn recover(connection: &mut Connection, locks: &Path, own: &str) -> Result<u64, Fault> {
    let mut closed = 0;
    for runtime_id in other_runtimes(connection, own)? {
        let Owner::Gone(held) = lock::owner_of(locks, &runtime_id)? else {
            continue;
        };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        closed += close_all(&transaction, &runtime_id, own)?;
        transaction.commit()?;
        if let Some(lock) = held {
            lock.remove();
        }
    }
    if closed > 0 {
        lock::sweep(locks);
    }
    Ok(closed)
}

/// Whether a runtime has an intent that is open.
pub(crate) fn has_open_intent(connection: &Connection, runtime_id: &str) -> Result<bool, Fault> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM open_intent WHERE runtime_id = ?1)")?
        .query_row([runtime_id], |row| row.get(0))?)
}

fn other_runtimes(connection: &Connection, own: &str) -> Result<Vec<String>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT runtime_id FROM open_intent WHERE runtime_id <> ?1")?;
    let runtimes = statement.query_map([own], |row| row.get(0))?;
    Ok(runtimes.collect::<rusqlite::Result<_>>()?)
}

fn close_all(transaction: &Transaction<'_>, runtime_id: &str, own: &str) -> Result<u64, Fault> {
    let open: Vec<(String, i64)> = transaction
        .prepare_cached(
            "SELECT tenant_id, seq FROM open_intent WHERE runtime_id = ?1 ORDER BY tenant_id, seq",
        )?
        .query_map([runtime_id], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut closed = 0;
    for (tenant_id, seq) in &open {
        append(
            transaction,
            &interrupted(transaction, tenant_id, *seq, own)?,
        )?;
        closed += 1;
    }
    transaction
        .prepare_cached("DELETE FROM open_intent WHERE runtime_id = ?1")?
        .execute(params![runtime_id])?;
    Ok(closed)
}

/// The record that closes an intent: what the intent said, except the arguments, which it still says.
/// A damaged intent does not keep the installation from starting; its closing says so.
fn interrupted(
    connection: &Connection,
    tenant_id: &str,
    seq: i64,
    own: &str,
) -> Result<AuditEvent, Fault> {
    let seq = seq.unsigned_abs();
    let intent = record_at(connection, tenant_id, column_number(seq)?);
    let mut event = match intent {
        Ok(Some(intent)) => intent.event,
        _ => AuditEvent {
            detail: Some("the record of the intent cannot be read".to_owned()),
            ..AuditEvent::new(AuditKind::Interrupted, tenant_id, "", own)
        },
    };
    event.kind = AuditKind::Interrupted;
    event.ok = Some(false);
    event.error = Some("interrupted".to_owned());
    event.args = None;
    event.metadata = None;
    event.intent_seq = Some(seq);
    own.clone_into(&mut event.runtime_id);
    Ok(event)
}
