//! The adapter of hcp: drives the real binary, by its public command line and nothing else.
//!
//! Each case has an installation of its own, made at `reset` and gone at the next. A face is a file:
//! it turns an envelope into a command line and what was printed into an answer.

mod envelope_face;
mod exec_face;
mod home;
mod mcp_face;
mod run_face;
mod stdio_face;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::corpus::FaceKind;
use crate::error::KitError;
use crate::protocol::{Claims, Exec, Install, Record, Reply, Request};
use crate::workbench::write_program;
use home::{Home, said};

/// The face of hcp that is held to the cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Face {
    /// `hcp exec --envelope -`; what is asked of the CLI face goes in by `exec` with words
    #[default]
    Envelope,
    /// `hcp exec PACK VERB -- k:=json…` for everything
    Exec,
    /// `hcp run PACK WORD… --flag=value…` for the CLI face, `hcp exec --envelope -` for the other
    Run,
    /// a line of `hcp stdio`; what is asked of the CLI face goes in by `exec`
    Stdio,
    /// a tool call of `hcp mcp`; what is asked of the CLI face goes in by `exec`
    Mcp,
}

impl Face {
    /// The clauses that hcp claims on this face. Words and tool calls cannot say an ill-formed envelope.
    const fn clauses(self) -> &'static [&'static str] {
        match self {
            Self::Envelope | Self::Run | Self::Stdio => {
                &["6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7"]
            }
            Self::Exec | Self::Mcp => &["6.2", "6.3", "6.4", "6.5", "6.6", "6.7"],
        }
    }
}

/// The hcp command line as a runtime under test.
pub struct HcpRuntime {
    hcp: PathBuf,
    face: Face,
    home: Option<Home>,
}

impl HcpRuntime {
    /// The program at `hcp`, called by `face`.
    pub const fn new(hcp: PathBuf, face: Face) -> Self {
        Self {
            hcp,
            face,
            home: None,
        }
    }

    /// Answers a request of the kit.
    pub fn answer(&mut self, request: Request) -> Reply {
        self.try_answer(request)
            .unwrap_or_else(|error| Reply::failed(error.to_string()))
    }

    fn try_answer(&mut self, request: Request) -> Result<Reply, KitError> {
        match request {
            Request::Hello(_) => return self.introduce(),
            Request::Reset => {
                // The installation before goes first: two of them are never there at once.
                self.home = None;
                self.home = Some(Home::make(&self.hcp)?);
                return Ok(Reply::default());
            }
            _ => {}
        }
        let Some(home) = &mut self.home else {
            return Ok(Reply::failed("nothing was reset yet"));
        };
        match request {
            Request::Environment(environment) => home.environment = environment.set,
            Request::Binding(binding) => home.bind(binding.pack_id, binding.command)?,
            Request::Install(install) => return add_pack(home, &install),
            Request::Project(project) => {
                home.operate(&["project", "add", &project.project_id])?;
                let words = [
                    "session",
                    "open",
                    "--project",
                    &project.project_id,
                    "--json",
                ];
                let opened: Value = home.operate_for_json(&words)?;
                let id = opened.get("session_id").and_then(Value::as_str);
                home.session = id.map(str::to_owned);
            }
            Request::Grant(grant) => home.operate(&["grant", "add", "me", &grant.capability])?,
            Request::Activate(named) => {
                let mut words = vec!["activate", named.pack_id.as_str()];
                words.extend(home.session_words());
                home.operate(&words)?;
            }
            Request::Remove(named) => home.operate(&["pack", "remove", &named.pack_id])?,
            Request::Exec(exec) => return call(home, self.face, &exec),
            Request::Health => {
                home.operate(&["status"])?;
                // Not every version has it; where it is, it must not mint either.
                home.run(&["doctor"])?;
            }
            Request::Audit => return records(home),
            Request::Hello(_) | Request::Reset => {}
            Request::Counts => return Ok(Reply::unsupported("hcp does not count for the kit")),
        }
        Ok(Reply::default())
    }

    fn introduce(&self) -> Result<Reply, KitError> {
        let version = Home::version(&self.hcp)?;
        Ok(Reply {
            runtime: Some(Claims {
                name: "hcp".to_owned(),
                version,
                clauses: self
                    .face
                    .clauses()
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                faces: vec![FaceKind::Json, FaceKind::Cli],
                adapters: vec!["wrap".to_owned(), "composite".to_owned()],
            }),
            ..Reply::default()
        })
    }
}

fn call(home: &Home, face: Face, exec: &Exec) -> Result<Reply, KitError> {
    match (exec.face, face) {
        (FaceKind::Json, Face::Envelope | Face::Run) => envelope_face::call(home, &exec.envelope),
        (FaceKind::Json, Face::Stdio) => stdio_face::call(home, &exec.envelope),
        (FaceKind::Json, Face::Mcp) => mcp_face::call(home, &exec.envelope),
        (FaceKind::Cli, Face::Run) => run_face::call(home, exec),
        (FaceKind::Json, Face::Exec)
        | (FaceKind::Cli, Face::Envelope | Face::Exec | Face::Stdio | Face::Mcp) => {
            exec_face::call(home, exec)
        }
    }
}

fn add_pack(home: &Home, install: &Install) -> Result<Reply, KitError> {
    let writing = "writing a pack";
    let id = install.manifest.get("id").and_then(Value::as_str);
    let folder = home.pack_source(id.unwrap_or("unnamed"));
    for file in &install.files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(KitError::io(writing))?;
        }
        if file.executable {
            write_program(&path, &file.text)?;
        } else {
            fs::write(&path, &file.text).map_err(KitError::io(writing))?;
        }
    }
    let manifest = folder.join("hcp.json");
    fs::write(manifest, install.manifest.to_string()).map_err(KitError::io(writing))?;
    let folder = folder.to_string_lossy().into_owned();
    let mut words = vec!["pack", "add", folder.as_str()];
    for bin in &install.allow_bins {
        words.extend(["--allow-bin", bin.as_str()]);
    }
    let output = home.run(&words)?;
    Ok(match output.status.code() {
        Some(0) => Reply::default(),
        Some(70) | None => Reply::failed(said(&output)),
        Some(_) => Reply::refused(said(&output)),
    })
}

fn records(home: &Home) -> Result<Reply, KitError> {
    let list: Value = home.operate_for_json(&["audit", "list", "--json"])?;
    let text = |record: &Value, name: &str| {
        record
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let of_calls = list.as_array().into_iter().flatten().filter(|record| {
        let kind = text(record, "kind");
        ["denied", "outcome", "interrupted", "invalid"].contains(&kind.as_str())
    });
    let records = of_calls.map(|record| Record {
        pack_id: text(record, "pack_id"),
        verb_key: text(record, "verb_key"),
        ok: record.get("ok").and_then(Value::as_bool),
        step: record
            .get("step")
            .and_then(Value::as_u64)
            .and_then(|step| u8::try_from(step).ok()),
    });
    Ok(Reply {
        records: Some(records.collect()),
        ..Reply::default()
    })
}
