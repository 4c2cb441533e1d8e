//! `hcp pack list`: what is installed.

use hcp_spec::ExitStatus;
use serde_json::{Value, json};

use crate::ambient::Ambient;
use crate::command::{relative, rfc3339};
use crate::failure::Failure;
use crate::terminal::Terminal;

pub(super) fn run(
    limit: Option<usize>,
    ambient: &Ambient,
    terminal: &Terminal,
) -> Result<ExitStatus, Failure> {
    let installation = ambient.open()?;
    let mut all = installation.runtime.store().packs()?;
    all.truncate(limit.unwrap_or(usize::MAX));
    list(terminal, &all);
    Ok(ExitStatus::Ok)
}

fn list(terminal: &Terminal, all: &[hcp_store::InstalledPack]) {
    let data: Vec<Value> = all
        .iter()
        .map(|pack| {
            json!({
                "pack_id": pack.id.as_str(),
                "version": pack.version,
                "digest": pack.digest,
                "linked": matches!(pack.root, hcp_store::PackRoot::Linked(_)),
                "allow_bins": pack.allow_bins,
                "capabilities": pack.capabilities,
                "added_at": rfc3339(pack.added_at),
            })
        })
        .collect();
    terminal.show(&Value::from(data), |page| {
        let rows = all
            .iter()
            .map(|pack| {
                let short = pack.digest.get(..12).unwrap_or(&pack.digest).to_owned();
                let added = relative(pack.added_at);
                let from = match &pack.root {
                    hcp_store::PackRoot::Pinned => "pinned".to_owned(),
                    hcp_store::PackRoot::Linked(path) => format!("linked {}", path.display()),
                };
                let bins = pack.allow_bins.join(" ");
                vec![
                    pack.id.to_string(),
                    pack.version.clone(),
                    short,
                    added,
                    from,
                    bins,
                ]
            })
            .collect();
        let head = [
            "pack",
            "version",
            "digest",
            "added",
            "runs from",
            "own bins",
        ];
        page.table(&head, rows, "no packs; `hcp pack add DIR` adds one");
    });
}
