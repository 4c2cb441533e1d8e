//! `hcp audit`: what happened, and whether the trail still says so. Nothing here writes.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use hcp_core::open_to_read;
use hcp_spec::ExitStatus;
use hcp_spec::Step;
use hcp_spec::audit::{AuditRecord, DEFAULT_TENANT};
use hcp_spec::name::TenantId;
use hcp_store::{Checkpoint, RecordFilter, Store, StoreError, Verdict};
use serde_json::{Value, json};

use crate::ambient::{Ambient, FLOOR};
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// List the records, oldest first
    List {
        /// Only those of this tenant
        #[arg(long)]
        tenant: Option<TenantId>,
        /// Show only the newest N
        #[arg(long)]
        limit: Option<u64>,
    },
    /// Show one record
    Show {
        /// Its number
        seq: u64,
        /// The tenant whose trail it is in
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: TenantId,
    },
    /// Check the trail: prints OK, ALTERED N, GAP N, TRUNCATED, FORKED or UNANCHORED
    Verify {
        /// Only the trail of this tenant [default: every tenant's]
        #[arg(long)]
        tenant: Option<TenantId>,
        /// A note that `hcp audit checkpoint` printed before
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
    },
    /// Print a note of where the trail stands, to be kept elsewhere
    Checkpoint {
        /// The tenant whose trail is noted
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: TenantId,
    },
}

impl Audit {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let store = open_to_read(&ambient.home()?, Some(Path::new(FLOOR)))?;
        match self {
            Self::List { tenant, limit } => list(&store, terminal, tenant.as_ref(), limit)?,
            Self::Show { seq, tenant } => {
                let record = store.record_at(tenant.as_str(), seq)?.ok_or_else(|| {
                    let hint = "`hcp audit list` lists the records";
                    Failure::usage(format!("tenant `{tenant}` has no record {seq}"), hint)
                })?;
                show(terminal, &record);
            }
            Self::Verify { tenant, checkpoint } => {
                let note = checkpoint.as_deref().map(read_checkpoint).transpose()?;
                let tenant = tenant.as_ref().map(TenantId::as_str);
                let verdict = store.verify(tenant, note.as_ref())?;
                terminal.print_bare(&verdict.to_string());
                if verdict != Verdict::Ok {
                    return Ok(ExitStatus::AdapterFailed);
                }
            }
            Self::Checkpoint { tenant } => {
                terminal.print_bare(&store.checkpoint(tenant.as_str())?.to_string());
            }
        }
        Ok(ExitStatus::Ok)
    }
}

fn list(
    store: &Store,
    terminal: &Terminal,
    tenant: Option<&TenantId>,
    limit: Option<u64>,
) -> Result<(), Failure> {
    let filter = RecordFilter {
        tenant: tenant.map(ToString::to_string),
        limit,
        ..RecordFilter::default()
    };
    if terminal.wants_json() {
        let mut array = terminal.array();
        store.for_each_record(&filter, |record| {
            array.push(&describe(&record));
            Ok::<(), StoreError>(())
        })?;
        array.end();
        return Ok(());
    }
    let records = store.records(&filter)?;
    terminal.show(&Value::Null, |page| {
        let rows = records
            .iter()
            .map(|record| {
                let event = &record.event;
                let call = [event.pack_id.as_deref(), event.verb_key.as_deref()];
                let call: Vec<&str> = call.into_iter().flatten().collect();
                vec![
                    record.seq.to_string(),
                    record.time.clone(),
                    event.kind.as_str().to_owned(),
                    event.principal.clone(),
                    call.join(" "),
                    event.step.map(|step| step.to_string()).unwrap_or_default(),
                    event.error.clone().unwrap_or_default(),
                ]
            })
            .collect();
        let head = ["seq", "time", "kind", "principal", "call", "step", "error"];
        page.table(&head, rows, "no records");
    });
    Ok(())
}

fn show(terminal: &Terminal, record: &AuditRecord) {
    let data = describe(record);
    terminal.show(&data, |page| {
        let Some(fields) = data.as_object() else {
            return;
        };
        for (name, value) in fields {
            match value {
                Value::Null => {}
                Value::String(text) => page.field(name, text),
                other => page.field(name, &other.to_string()),
            }
        }
        let tone = if record.event.ok == Some(false) {
            Tone::Bad
        } else {
            Tone::Good
        };
        page.marked(tone, "●", record.event.kind.as_str());
    });
}

/// A record as JSON; `args` and `metadata` stay the texts that the hash covers.
fn describe(record: &AuditRecord) -> Value {
    let event = &record.event;
    json!({
        "seq": record.seq,
        "time": record.time,
        "kind": event.kind.as_str(),
        "tenant_id": event.tenant_id,
        "project_id": event.project_id,
        "principal": event.principal,
        "session_id": event.session_id,
        "pack_id": event.pack_id,
        "pack_digest": event.pack_digest,
        "verb_key": event.verb_key,
        "step": event.step,
        "step_name": event.step.and_then(Step::from_number).map(Step::name),
        "ok": event.ok,
        "error": event.error,
        "detail": event.detail,
        "capability": event.capability,
        "args": event.args,
        "intent_seq": event.intent_seq,
        "runtime_id": event.runtime_id,
        "metadata": event.metadata,
        "previous": record.previous,
        "hash": record.hash,
    })
}

fn read_checkpoint(path: &Path) -> Result<Checkpoint, Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::usage(
            format!(
                "the checkpoint `{}` could not be read: {error}",
                path.display()
            ),
            "name a file that holds what `hcp audit checkpoint` printed",
        )
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    text.trim().parse().map_err(|error| wrong(&error))
}
