//! `hcp pack diff`: what changes for the operator when other bytes take the place of an installed pack.

use std::path::PathBuf;

use clap::Args;
use hcp_core::operator::PackDifference;
use hcp_pack::{Difference, FileChange};
use hcp_spec::ExitStatus;
use serde_json::{Value, json};

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// A `!` marks what lets more happen than before, or runs something else. Nothing is changed
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The folder that holds hcp.toml or hcp.json
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Diff {
    pub(super) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let difference = ambient.open()?.operator().diff_pack(&self.folder)?;
        terminal.show(&to_json(&difference), |page| {
            page.field("pack", &versions(&difference));
            page.field("installed", &difference.installed.digest);
            page.field("folder", &difference.digest);
            page.line("");
            page.table(
                &["", "what", "before", "after"],
                rows(&difference),
                "nothing differs",
            );
        });
        Ok(ExitStatus::Ok)
    }
}

pub(super) fn to_json(difference: &PackDifference) -> Value {
    let installed = &difference.installed;
    let changes: Vec<Value> = difference.changes.iter().map(change_data).collect();
    let files: Vec<Value> = difference
        .files
        .iter()
        .map(|file| json!({ "path": file.path.to_string_lossy(), "change": word(file.change) }))
        .collect();
    json!({
        "pack_id": difference.pack_id,
        "same": difference.is_none(),
        "installed": { "version": installed.version, "digest": installed.digest },
        "folder": { "version": difference.version, "digest": difference.digest },
        "changes": changes,
        "files": files,
    })
}

/// Tells it beside the data, before anything is changed.
pub(super) fn tell(difference: &PackDifference, terminal: &Terminal) {
    terminal.note(&versions(difference));
    for change in &difference.changes {
        terminal.note(&format!("  {}", sentence(change)));
    }
    for file in &difference.files {
        terminal.note(&format!(
            "  ! file {} {}",
            file.path.display(),
            word(file.change)
        ));
    }
}

fn versions(difference: &PackDifference) -> String {
    let (id, before, after) = (
        &difference.pack_id,
        &difference.installed.version,
        &difference.version,
    );
    if before == after {
        format!("{id} {before}")
    } else {
        format!("{id} {before} → {after}")
    }
}

fn change_data(change: &Difference) -> Value {
    json!({
        "about": change.about,
        "before": change.before,
        "after": change.after,
        "widens": change.widens,
    })
}

fn rows(difference: &PackDifference) -> Vec<Vec<String>> {
    let cell = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let changes = difference.changes.iter().map(|change| {
        vec![
            mark(change).to_owned(),
            change.about.clone(),
            cell(&change.before),
            cell(&change.after),
        ]
    });
    let files = difference.files.iter().map(|file| {
        let path = format!("file {}", file.path.display());
        let (before, after) = match file.change {
            FileChange::Added => ("-", "there"),
            FileChange::Removed => ("there", "-"),
            FileChange::Changed => ("there", "changed"),
        };
        vec!["!".to_owned(), path, before.to_owned(), after.to_owned()]
    });
    changes.chain(files).collect()
}

fn sentence(change: &Difference) -> String {
    let (mark, about) = (mark(change), &change.about);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("{mark} {about}: {before} → {after}"),
        (None, Some(after)) => format!("{mark} {about}: new: {after}"),
        (Some(before), None) => format!("{mark} {about}: gone: {before}"),
        (None, None) => format!("{mark} {about}"),
    }
}

const fn mark(change: &Difference) -> &'static str {
    if change.widens { "!" } else { " " }
}

const fn word(change: FileChange) -> &'static str {
    match change {
        FileChange::Added => "added",
        FileChange::Removed => "removed",
        FileChange::Changed => "changed",
    }
}
