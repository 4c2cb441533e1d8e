//! Appending to a trail: a record takes the next number of its tenant and the hash of the record
//! before it, inside the writer's transaction.

use hcp_spec::audit::AuditEvent;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::chain::{RecordHash, genesis};
use crate::fault::Fault;
use crate::identity::now;
use crate::schema::installation_id;

/// A call that was announced and has not ended yet. Its end is [`crate::Store::finish`]; one that is
/// merely dropped stays open, and the next start closes it as interrupted.
#[derive(Debug)]
#[must_use = "an intent needs its outcome"]
pub struct Intent {
    /// The number of its record in the tenant's trail.
    pub seq: u64,
    pub(crate) tenant_id: String,
    pub(crate) runtime_id: String,
}

/// Every column but `hash`, in the order of the names: the order of the hash, and of the values in
/// [`append`].
const COLUMNS: [&str; 20] = [
    "args",
    "capability",
    "detail",
    "error",
    "intent_seq",
    "kind",
    "metadata",
    "ok",
    "pack_digest",
    "pack_id",
    "previous",
    "principal",
    "project_id",
    "recorded_at",
    "runtime_id",
    "seq",
    "session_id",
    "step",
    "tenant_id",
    "verb_key",
];

const INSERT: &str = "INSERT INTO audit_record (args, capability, detail, error, intent_seq, kind, \
    metadata, ok, pack_digest, pack_id, previous, principal, project_id, recorded_at, runtime_id, \
    seq, session_id, step, tenant_id, verb_key, hash) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
    ?20, ?21)";

/// Appends `event` to its tenant's trail and answers with its number. Must run inside an immediate
/// transaction.
pub(crate) fn append(connection: &Connection, event: &AuditEvent) -> Result<u64, Fault> {
    let (newest, previous) = match head(connection, &event.tenant_id)? {
        Some(head) => head,
        None => (0, fresh_genesis(connection, &event.tenant_id)?),
    };
    let seq = newest
        .checked_add(1)
        .ok_or_else(|| Fault::Corrupt("an audit trail is out of numbers".to_owned()))?;
    let intent_seq = event.intent_seq.map(column_number).transpose()?;
    let values: [ValueRef<'_>; 20] = [
        text_or_null(event.args.as_deref()),
        text_or_null(event.capability.as_deref()),
        text_or_null(event.detail.as_deref()),
        text_or_null(event.error.as_deref()),
        number_or_null(intent_seq),
        text(event.kind.as_str()),
        text_or_null(event.metadata.as_deref()),
        number_or_null(event.ok.map(i64::from)),
        text_or_null(event.pack_digest.as_deref()),
        text_or_null(event.pack_id.as_deref()),
        text(&previous),
        text(&event.principal),
        text_or_null(event.project_id.as_deref()),
        ValueRef::Integer(now()),
        text(&event.runtime_id),
        ValueRef::Integer(seq),
        text_or_null(event.session_id.as_deref()),
        number_or_null(event.step.map(i64::from)),
        text(&event.tenant_id),
        text_or_null(event.verb_key.as_deref()),
    ];
    let mut hash = RecordHash::new();
    for (name, value) in COLUMNS.into_iter().zip(values) {
        hash.column(name, value);
    }
    let hash = hash.finish();
    let row = values
        .into_iter()
        .chain([text(&hash)])
        .map(rusqlite::types::ToSqlOutput::Borrowed);
    let written = connection
        .prepare_cached(INSERT)?
        .execute(params_from_iter(row))?;
    really_written(written)?;
    put_head(connection, &event.tenant_id, seq, &hash)?;
    Ok(seq.unsigned_abs())
}

/// Gives a new tenant's trail its beginning. A trail that is there already goes on.
pub(crate) fn begin_trail(connection: &Connection, tenant_id: &str) -> Result<(), Fault> {
    if head(connection, tenant_id)?.is_none() {
        let genesis = fresh_genesis(connection, tenant_id)?;
        put_head(connection, tenant_id, 0, &genesis)?;
    }
    Ok(())
}

/// The number and hash of the newest record of a trail.
pub(crate) fn head(
    connection: &Connection,
    tenant_id: &str,
) -> Result<Option<(i64, String)>, Fault> {
    Ok(connection
        .prepare_cached("SELECT seq, hash FROM audit_head WHERE tenant_id = ?1")?
        .query_row([tenant_id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// Notes that an intent is open.
pub(crate) fn open_intent(connection: &Connection, intent: &Intent) -> Result<(), Fault> {
    connection
        .prepare_cached("INSERT INTO open_intent (runtime_id, tenant_id, seq) VALUES (?1, ?2, ?3)")?
        .execute(params![
            intent.runtime_id,
            intent.tenant_id,
            column_number(intent.seq)?
        ])?;
    Ok(())
}

/// Notes that an intent is no longer open.
pub(crate) fn close_intent(connection: &Connection, intent: &Intent) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "DELETE FROM open_intent WHERE runtime_id = ?1 AND tenant_id = ?2 AND seq = ?3",
        )?
        .execute(params![
            intent.runtime_id,
            intent.tenant_id,
            column_number(intent.seq)?
        ])?;
    Ok(())
}

/// A number of ours as SQLite keeps it.
pub(crate) fn column_number(number: u64) -> Result<i64, Fault> {
    i64::try_from(number).map_err(|_| Fault::Corrupt(format!("no record has the number {number}")))
}

/// The genesis of a trail that has no record. Records without a head mean that the head was removed,
/// and nothing may be appended as if the trail began here.
fn fresh_genesis(connection: &Connection, tenant_id: &str) -> Result<String, Fault> {
    let beheaded: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM audit_record WHERE tenant_id = ?1)")?
        .query_row([tenant_id], |row| row.get(0))?;
    if beheaded {
        return Err(Fault::Corrupt(format!(
            "the audit trail of tenant `{tenant_id}` has lost its head"
        )));
    }
    Ok(genesis(&installation_id(connection)?, tenant_id))
}

fn put_head(connection: &Connection, tenant_id: &str, seq: i64, hash: &str) -> Result<(), Fault> {
    let written = connection
        .prepare_cached(
            "INSERT INTO audit_head (tenant_id, seq, hash) VALUES (?1, ?2, ?3)
             ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        )?
        .execute(params![tenant_id, seq, hash])?;
    really_written(written)
}

/// A database may be made to take a row and drop it; a record that was not written is no record.
fn really_written(rows: usize) -> Result<(), Fault> {
    match rows {
        1 => Ok(()),
        _ => Err(Fault::Corrupt(
            "the audit trail does not take records".to_owned(),
        )),
    }
}

fn text(text: &str) -> ValueRef<'_> {
    ValueRef::Text(text.as_bytes())
}

fn text_or_null(value: Option<&str>) -> ValueRef<'_> {
    value.map_or(ValueRef::Null, text)
}

fn number_or_null(value: Option<i64>) -> ValueRef<'static> {
    value.map_or(ValueRef::Null, ValueRef::Integer)
}
