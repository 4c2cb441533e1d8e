//! Judging a trail: every record's hash computed anew, in one pass and one read transaction.
//!
//! What the file alone can tell: a value that was changed, a record that is missing, records that
//! were cut off behind the newest. What it cannot tell is a history rewritten as a whole, hashes and
//! head included; a [`Checkpoint`] kept elsewhere can.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Statement, params};

use super::chain::{RecordHash, genesis};
use super::checkpoint::Checkpoint;
use crate::fault::Fault;
use crate::schema::installation_id;

/// What [`crate::Store::verify`] found. `Display` is the bare word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every record is as it was written, and none is missing.
    Ok,
    /// The record of this number is not as it was written, or was never written by hcp.
    Altered(u64),
    /// The record of this number is missing, and later ones are there.
    Gap(u64),
    /// Records are missing behind the newest one.
    Truncated,
    /// The records form a whole history, and not the one that was noted.
    Forked,
    /// Nothing says what the newest record ought to be, or the checkpoint is of another trail.
    Unanchored,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => formatter.write_str("OK"),
            Self::Altered(seq) => write!(formatter, "ALTERED {seq}"),
            Self::Gap(seq) => write!(formatter, "GAP {seq}"),
            Self::Truncated => formatter.write_str("TRUNCATED"),
            Self::Forked => formatter.write_str("FORKED"),
            Self::Unanchored => formatter.write_str("UNANCHORED"),
        }
    }
}

/// Judges one trail, or all of them; the first that is not whole speaks for all. Must run inside a
/// read transaction.
pub(crate) fn verify(
    connection: &Connection,
    tenant: Option<&str>,
    checkpoint: Option<&Checkpoint>,
) -> Result<Verdict, Fault> {
    let installation = installation_id(connection)?;
    let mut walk = Walk {
        installation: &installation,
        checkpoint,
        trails: BTreeMap::new(),
        rows: 0,
        strays: 0,
    };
    walk.expect_trails(connection, tenant)?;
    walk.all_records(connection, tenant)?;
    let ours = checkpoint.is_none_or(|note| {
        note.installation == installation && tenant.is_none_or(|tenant| note.tenant_id == tenant)
    });
    if walk.rows == 0 {
        // Only a note kept elsewhere can tell that there ought to be something.
        let missed = ours && checkpoint.is_some();
        return Ok(if missed {
            Verdict::Truncated
        } else {
            Verdict::Unanchored
        });
    }
    match (walk.judge(connection)?, checkpoint) {
        (Verdict::Ok, Some(_)) if !ours => Ok(Verdict::Unanchored),
        (Verdict::Ok, Some(checkpoint)) => Ok(walk.against(checkpoint)),
        (verdict, _) => Ok(verdict),
    }
}

/// The pass over the records.
struct Walk<'a> {
    installation: &'a str,
    checkpoint: Option<&'a Checkpoint>,
    trails: BTreeMap<String, Trail>,
    rows: u64,
    /// Rows that stand in no trail: without a number or a tenant of ours.
    strays: u64,
}

/// What is known of one tenant's trail so far.
struct Trail {
    /// Whether its tenant or its head is there, rather than only records that name it.
    expected: bool,
    head: Option<(u64, String)>,
    newest: u64,
    newest_hash: String,
    /// The number whose hash a checkpoint notes, and that hash once it was passed.
    noted: Option<u64>,
    noted_hash: Option<String>,
    defect: Option<Defect>,
}

enum Defect {
    Altered(u64),
    /// No record of this number; it may have been moved rather than removed.
    Missing(u64),
}

impl Walk<'_> {
    /// Begins every trail there ought to be: one per tenant, and one per head.
    fn expect_trails(
        &mut self,
        connection: &Connection,
        tenant: Option<&str>,
    ) -> Result<(), Fault> {
        let mut statement = connection.prepare(
            "SELECT names.id, head.seq, head.hash
             FROM (SELECT id FROM tenant UNION SELECT tenant_id FROM audit_head) AS names
             LEFT JOIN audit_head AS head ON head.tenant_id = names.id
             WHERE ?1 IS NULL OR names.id = ?1",
        )?;
        let mut rows = statement.query(params![tenant])?;
        while let Some(row) = rows.next()? {
            let Some(id) = as_text(row.get_ref(0)?) else {
                self.strays += 1;
                continue;
            };
            let head = match row.get_ref(1)? {
                ValueRef::Integer(seq) => u64::try_from(seq).ok(),
                _ => None,
            }
            .zip(as_text(row.get_ref(2)?).map(str::to_owned));
            self.begin(id, head, true);
        }
        Ok(())
    }

    fn begin(&mut self, id: &str, head: Option<(u64, String)>, expected: bool) {
        let noted = self.checkpoint.filter(|note| note.tenant_id == id);
        let trail = Trail {
            expected,
            head,
            newest: 0,
            newest_hash: genesis(self.installation, id),
            noted: noted.map(|note| note.seq),
            noted_hash: None,
            defect: None,
        };
        self.trails.insert(id.to_owned(), trail);
    }

    fn all_records(&mut self, connection: &Connection, tenant: Option<&str>) -> Result<(), Fault> {
        let filter = if tenant.is_some() {
            "WHERE tenant_id = ?1"
        } else {
            "WHERE ?1 IS NULL"
        };
        let mut statement = connection.prepare(&format!(
            "SELECT * FROM audit_record {filter} ORDER BY tenant_id, seq"
        ))?;
        let layout = Layout::of(&statement)?;
        let mut rows = statement.query(params![tenant])?;
        while let Some(row) = rows.next()? {
            self.rows += 1;
            self.row(row, &layout)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>, layout: &Layout) -> Result<(), Fault> {
        let tenant = as_text(row.get_ref(layout.tenant_id)?);
        if let Some(id) = tenant.filter(|id| !self.trails.contains_key(*id)) {
            self.begin(id, None, false);
        }
        let trail = tenant.and_then(|id| self.trails.get_mut(id));
        let seq = match row.get_ref(layout.seq)? {
            ValueRef::Integer(seq) => u64::try_from(seq).ok().filter(|seq| *seq > 0),
            _ => None,
        };
        match (trail, seq) {
            (Some(trail), Some(seq)) if trail.defect.is_none() => trail.step(seq, row, layout),
            (Some(_), Some(_)) => Ok(()),
            _ => {
                self.strays += 1;
                Ok(())
            }
        }
    }

    /// The verdict of the file by itself.
    fn judge(&self, connection: &Connection) -> Result<Verdict, Fault> {
        // A trail that nobody expects often holds what is missing from another; that one speaks first.
        let (expected, unexpected): (Vec<_>, Vec<_>) =
            self.trails.values().partition(|trail| trail.expected);
        for trail in expected.into_iter().chain(unexpected) {
            match trail.judge(connection)? {
                Verdict::Ok => {}
                verdict => return Ok(verdict),
            }
        }
        Ok(if self.strays > 0 {
            Verdict::Forked
        } else {
            Verdict::Ok
        })
    }

    /// The verdict of a whole trail against what was noted of it.
    fn against(&self, checkpoint: &Checkpoint) -> Verdict {
        match self.trails.get(&checkpoint.tenant_id) {
            None => Verdict::Unanchored,
            Some(trail) if trail.newest < checkpoint.seq => Verdict::Truncated,
            Some(trail) if trail.noted_hash.as_ref() != Some(&checkpoint.hash) => Verdict::Forked,
            Some(_) => Verdict::Ok,
        }
    }
}

impl Trail {
    fn step(&mut self, seq: u64, row: &Row<'_>, layout: &Layout) -> Result<(), Fault> {
        let expected = self.newest + 1;
        self.defect = match seq.cmp(&expected) {
            Ordering::Greater => Some(Defect::Missing(expected)),
            // The numbering admits this only once its index is gone.
            Ordering::Less => Some(Defect::Altered(seq)),
            Ordering::Equal => self.follow(seq, row, layout)?,
        };
        Ok(())
    }

    /// Takes in the record that has the next number, or tells what is wrong with it.
    fn follow(
        &mut self,
        seq: u64,
        row: &Row<'_>,
        layout: &Layout,
    ) -> Result<Option<Defect>, Fault> {
        let hash = layout.hash_of(row)?;
        if !is_text(row.get_ref(layout.hash)?, &hash) {
            return Ok(Some(Defect::Altered(seq)));
        }
        if !is_text(row.get_ref(layout.previous)?, &self.newest_hash) {
            // Whole in itself, and not the successor of the record before: of the two, that one does
            // not belong to the rest of the history.
            return Ok(Some(Defect::Altered(self.newest.max(1))));
        }
        if self.noted == Some(seq) {
            self.noted_hash = Some(hash.clone());
        }
        self.newest = seq;
        self.newest_hash = hash;
        Ok(None)
    }

    fn judge(&self, connection: &Connection) -> Result<Verdict, Fault> {
        match self.defect {
            Some(Defect::Altered(seq)) => return Ok(Verdict::Altered(seq)),
            Some(Defect::Missing(seq)) => {
                let moved = self.is_successor_elsewhere(connection)?;
                return Ok(if moved {
                    Verdict::Altered(seq)
                } else {
                    Verdict::Gap(seq)
                });
            }
            None => {}
        }
        let Some((head, head_hash)) = &self.head else {
            return Ok(Verdict::Unanchored);
        };
        Ok(if self.newest < *head {
            if self.is_successor_elsewhere(connection)? {
                Verdict::Altered(self.newest + 1)
            } else {
                Verdict::Truncated
            }
        } else if self.newest > *head {
            Verdict::Altered(head + 1)
        } else if self.newest_hash != *head_hash {
            Verdict::Forked
        } else {
            Verdict::Ok
        })
    }

    /// Whether the record that ought to come next is there under another number or tenant: then it was
    /// altered, not removed.
    fn is_successor_elsewhere(&self, connection: &Connection) -> Result<bool, Fault> {
        Ok(connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM audit_record WHERE previous = ?1)",
            [&self.newest_hash],
            |row| row.get(0),
        )?)
    }
}

/// Where the columns stand, and in which order they are hashed.
struct Layout {
    tenant_id: usize,
    seq: usize,
    previous: usize,
    hash: usize,
    hashed: Vec<(String, usize)>,
}

impl Layout {
    fn of(statement: &Statement<'_>) -> Result<Self, Fault> {
        let mut hashed: Vec<(String, usize)> = statement
            .column_names()
            .map(str::to_owned)
            .zip(0..)
            .filter(|(name, _)| name != "hash")
            .collect();
        hashed.sort();
        Ok(Self {
            tenant_id: statement.column_index("tenant_id")?,
            seq: statement.column_index("seq")?,
            previous: statement.column_index("previous")?,
            hash: statement.column_index("hash")?,
            hashed,
        })
    }

    fn hash_of(&self, row: &Row<'_>) -> Result<String, Fault> {
        let mut hash = RecordHash::new();
        for (name, index) in &self.hashed {
            hash.column(name, row.get_ref(*index)?);
        }
        Ok(hash.finish())
    }
}

fn as_text(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::Text(text) => std::str::from_utf8(text).ok(),
        _ => None,
    }
}

fn is_text(value: ValueRef<'_>, expected: &str) -> bool {
    as_text(value) == Some(expected)
}
