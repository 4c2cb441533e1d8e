//! `hcp pack lint`: everything that keeps a pack from being added, and everything that its author may
//! want to change. It needs no installation.

use std::path::{Path, PathBuf};

use clap::Args;
use hcp_pack::{
    Level, PackError, Rule, Tree, Warning, closest, manifest_source, parse_manifest, rule,
    warnings_in,
};
use hcp_sandbox::{BinError, BinSearch, check_bin};
use hcp_spec::ExitStatus;
use hcp_spec::manifest::{Kind, Manifest};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// Exits with 1 when there is an error, and with 0 when there are warnings only
#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// The folder that holds hcp.toml or hcp.json
    #[arg(value_name = "DIR", required_unless_present = "explain")]
    folder: Option<PathBuf>,
    /// Say what a rule is about, why it is there and how to mend what broke it
    #[arg(long, value_name = "RULE", conflicts_with = "folder")]
    explain: Option<String>,
}

/// One breach of a rule.
struct Breach {
    level: Level,
    rule: &'static str,
    /// File, line and column, where the text tells.
    place: Option<(String, usize, usize)>,
    message: String,
    hint: Option<String>,
}

impl Lint {
    pub(super) fn run(self, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        match (self.explain, self.folder) {
            (Some(id), _) => explain(&id, terminal),
            (None, Some(folder)) => lint(&folder, terminal),
            // The command line is not taken without one of them.
            (None, None) => Err(Failure::usage("no folder is named", "hcp pack lint DIR")),
        }
    }
}

fn explain(id: &str, terminal: &Terminal) -> Result<ExitStatus, Failure> {
    let Some(Rule {
        id,
        level,
        what,
        why,
        mend,
    }) = rule(id)
    else {
        let ids = hcp_pack::RULES.iter().map(|rule| rule.id);
        let hint = closest(id, ids).map_or_else(
            || "`hcp pack lint DIR` names the rules that a pack breaks".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(Failure::usage(format!("there is no rule `{id}`"), hint));
    };
    let level = level.as_str();
    let data = json!({ "rule": id, "level": level, "what": what, "why": why, "mend": mend });
    terminal.show(&data, |page| {
        page.field("rule", &format!("{id} ({level})"));
        page.field("what", what);
        page.field("why", why);
        page.field("mend", mend);
    });
    Ok(ExitStatus::Ok)
}

fn lint(folder: &Path, terminal: &Terminal) -> Result<ExitStatus, Failure> {
    if !folder.is_dir() {
        return Err(Failure::usage(
            format!("`{}` is not a folder", folder.display()),
            "name the folder that holds the manifest",
        ));
    }
    let (manifest, breaches) = look(folder);
    let count = |level| breaches.iter().filter(|one| one.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    let data = json!({
        "pack_id": manifest.as_ref().map(|manifest| manifest.id.as_str()),
        "errors": errors,
        "warnings": warnings,
        "findings": breaches.iter().map(Breach::to_json).collect::<Vec<_>>(),
    });
    terminal.show(&data, |page| {
        if breaches.is_empty() {
            return page.marked(Tone::Good, "✓", "nothing to say");
        }
        let rows = breaches.iter().map(Breach::row).collect();
        page.table(&["level", "rule", "what", "mend"], rows, "");
        page.line("");
        page.line(&format!(
            "{errors} errors, {warnings} warnings; `hcp pack lint --explain RULE` says why"
        ));
    });
    Ok(if errors == 0 {
        ExitStatus::Ok
    } else {
        ExitStatus::AdapterFailed
    })
}

/// What is wrong with a pack, errors first. The manifest, when it reads.
fn look(folder: &Path) -> (Option<Manifest>, Vec<Breach>) {
    let mut breaches = Vec::new();
    let read = manifest_source(folder)
        .and_then(|source| Ok((parse_manifest(&source)?, source)))
        .map_err(|error| breaches.push(Breach::from(error)))
        .ok();
    if let Err(error) = Tree::scan(folder) {
        breaches.push(Breach::from(error));
    }
    if let Some((manifest, source)) = &read {
        breaches.extend(warnings_in(source, manifest).into_iter().map(Breach::from));
        breaches.extend(own_bin(folder, manifest));
    }
    (read.map(|(manifest, _)| manifest), breaches)
}

/// Whether a bin that the pack ships can be run. What the operator lists is for the operator to say.
fn own_bin(folder: &Path, manifest: &Manifest) -> Option<Breach> {
    let wrap = manifest.wrap.as_ref()?;
    let wraps = manifest
        .commands
        .values()
        .any(|command| *manifest.kind_of(command) == Kind::Wrap);
    if !wraps || !wrap.bin.starts_with('.') {
        return None;
    }
    let search = BinSearch {
        pack_root: folder,
        path: &[],
        allowed: &[],
    };
    let detail = match check_bin(&wrap.bin, &search) {
        Ok(_) => return None,
        Err(BinError::NotAllowlisted) => "it leads out of the pack".to_owned(),
        Err(BinError::NotFound { detail } | BinError::Unfit { detail }) => detail,
    };
    Some(Breach::from(Warning {
        rule: "bin-unavailable",
        message: format!("bin `{}` cannot be run: {detail}", wrap.bin),
        hint: "build it or put it there, and let its owner execute it (chmod 0755)".to_owned(),
        place: None,
    }))
}

impl Breach {
    fn to_json(&self) -> Value {
        let place = self.place.as_ref();
        json!({
            "level": self.level.as_str(),
            "rule": self.rule,
            "file": place.map(|(file, ..)| file),
            "line": place.map(|(_, line, _)| line),
            "column": place.map(|(.., column)| column),
            "message": self.message,
            "hint": self.hint,
        })
    }

    fn row(&self) -> Vec<String> {
        let what = match &self.place {
            Some((file, line, column)) => format!("{file}:{line}:{column}: {}", self.message),
            None => self.message.clone(),
        };
        let mend = self.hint.clone().unwrap_or_default();
        vec![
            self.level.as_str().to_owned(),
            self.rule.to_owned(),
            what,
            mend,
        ]
    }
}

impl From<PackError> for Breach {
    fn from(error: PackError) -> Self {
        let (place, message) = match &error {
            PackError::Source(fault) => {
                let (line, column) = fault.place();
                let place = (fault.name().to_owned(), line, column);
                (Some(place), fault.message().to_owned())
            }
            other => (None, other.to_string()),
        };
        Self {
            level: Level::Error,
            rule: error.rule(),
            place,
            message,
            hint: error.hint(),
        }
    }
}

impl From<Warning> for Breach {
    fn from(warning: Warning) -> Self {
        Self {
            level: Level::Warning,
            rule: warning.rule,
            place: warning
                .place
                .map(|place| (place.file, place.line, place.column)),
            message: warning.message,
            hint: Some(warning.hint),
        }
    }
}
