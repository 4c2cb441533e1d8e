//! Reading records back, oldest first, one at a time.

use hcp_spec::audit::{AuditEvent, AuditKind, AuditRecord};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::write::column_number;
use crate::fault::Fault;
use crate::identity::rfc3339;

/// Which records are meant; every field narrows, and the default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// Only this tenant's.
    pub tenant: Option<String>,
    /// Only the newest so many of those that the other fields select; still oldest first.
    pub limit: Option<u64>,
    /// Only those about this.
    pub kind: Option<AuditKind>,
    /// Only those of this pack.
    pub pack_id: Option<String>,
    /// Only those of this verb, or of this act of the operator.
    pub verb_key: Option<String>,
    /// Only what this Principal did.
    pub principal: Option<String>,
    /// Only those of this session.
    pub session_id: Option<String>,
    /// Only those with a greater number.
    pub after: Option<u64>,
}

const COLUMNS: &str = "seq, recorded_at, kind, tenant_id, project_id, principal, session_id, \
    pack_id, pack_digest, verb_key, step, ok, error, detail, capability, args, intent_seq, \
    runtime_id, metadata, previous, hash";

/// Hands every record that `filter` selects to `each`. Only one of them is in memory at a time. Must
/// run inside a read transaction, as it may take two statements.
pub(crate) fn for_each<E: From<Fault>>(
    connection: &Connection,
    filter: &RecordFilter,
    mut each: impl FnMut(AuditRecord) -> Result<(), E>,
) -> Result<(), E> {
    // Records are never removed, so rows lie in the order in which they were written.
    let order = if filter.tenant.is_some() {
        "seq"
    } else {
        "rowid"
    };
    let (mut conditions, mut values) = conditions(filter)?;
    if let Some(limit) = filter.limit {
        let Some(oldest) = oldest_of_newest(connection, order, &conditions, &values, limit)? else {
            return Ok(());
        };
        conditions.push(format!("{order} >= ?"));
        values.push(Value::Integer(oldest));
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM audit_record{} ORDER BY {order}",
        joined(&conditions)
    );
    let mut statement = connection.prepare_cached(&sql).map_err(Fault::from)?;
    let mut rows = statement
        .query(params_from_iter(values))
        .map_err(Fault::from)?;
    while let Some(row) = rows.next().map_err(Fault::from)? {
        each(record(row)?)?;
    }
    Ok(())
}

/// One record of a trail.
pub(crate) fn record_at(
    connection: &Connection,
    tenant_id: &str,
    seq: i64,
) -> Result<Option<AuditRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM audit_record WHERE tenant_id = ?1 AND seq = ?2");
    connection
        .prepare_cached(&sql)?
        .query_row(params![tenant_id, seq], |row| Ok(record(row)))
        .optional()?
        .transpose()
}

/// Where the newest `limit` rows begin; `None` when none is wanted.
fn oldest_of_newest(
    connection: &Connection,
    order: &str,
    conditions: &[String],
    values: &[Value],
    limit: u64,
) -> Result<Option<i64>, Fault> {
    let Some(skipped) = limit.checked_sub(1) else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT {order} FROM audit_record{} ORDER BY {order} DESC LIMIT 1 OFFSET ?",
        joined(conditions)
    );
    let skipped = Value::Integer(i64::try_from(skipped).unwrap_or(i64::MAX));
    let values = values.iter().chain([&skipped]);
    let oldest = connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| row.get(0))
        .optional()?;
    // Fewer than `limit`: all of them.
    Ok(Some(oldest.unwrap_or(i64::MIN)))
}

fn conditions(filter: &RecordFilter) -> Result<(Vec<String>, Vec<Value>), Fault> {
    let texts = [
        ("tenant_id", filter.tenant.as_deref()),
        ("kind", filter.kind.map(AuditKind::as_str)),
        ("pack_id", filter.pack_id.as_deref()),
        ("verb_key", filter.verb_key.as_deref()),
        ("principal", filter.principal.as_deref()),
        ("session_id", filter.session_id.as_deref()),
    ];
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    for (column, wanted) in texts {
        if let Some(wanted) = wanted {
            conditions.push(format!("{column} = ?"));
            values.push(Value::Text(wanted.to_owned()));
        }
    }
    if let Some(after) = filter.after {
        conditions.push("seq > ?".to_owned());
        values.push(Value::Integer(column_number(after)?));
    }
    Ok((conditions, values))
}

fn joined(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    }
}

fn record(row: &Row<'_>) -> Result<AuditRecord, Fault> {
    let seq: i64 = row.get(0)?;
    let damaged = |what: &str| Fault::Corrupt(format!("audit record {seq} has no {what}"));
    let kind: String = row.get(2)?;
    let intent_seq: Option<i64> = row.get(16)?;
    Ok(AuditRecord {
        seq: u64::try_from(seq).map_err(|_| damaged("valid number"))?,
        time: rfc3339(row.get(1)?).ok_or_else(|| damaged("valid time"))?,
        event: AuditEvent {
            kind: AuditKind::from_word(&kind).ok_or_else(|| damaged("known kind"))?,
            tenant_id: row.get(3)?,
            project_id: row.get(4)?,
            principal: row.get(5)?,
            session_id: row.get(6)?,
            pack_id: row.get(7)?,
            pack_digest: row.get(8)?,
            verb_key: row.get(9)?,
            step: row.get(10)?,
            ok: row.get(11)?,
            error: row.get(12)?,
            detail: row.get(13)?,
            capability: row.get(14)?,
            args: row.get(15)?,
            intent_seq: intent_seq.map(i64::unsigned_abs),
            runtime_id: row.get(17)?,
            metadata: row.get(18)?,
        },
        previous: row.get(19)?,
        hash: row.get(20)?,
    })
}
