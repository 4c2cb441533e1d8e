//! `hcp session`: who works, where, with which packs, for how long.

use clap::{Args, Subcommand};
use hcp_core::operator::OpenOptions;
use hcp_spec::ExitStatus;
use hcp_spec::name::{ProjectId, TenantId};
use hcp_spec::quantity::TimeLimit;
use hcp_store::Session;
use serde_json::{Value, json};

use super::{relative, rfc3339};
use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// Open a session; prints its id, and a token when it is another Principal's
    Open(Open),
    /// List the sessions
    List {
        /// Show only the first N
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Show one session
    Show {
        /// Its id [default: your default session]
        id: Option<String>,
    },
    /// Close a session; it never opens again
    Close {
        /// Its id
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Whose it is: a Principal, or `me`
    #[arg(long, default_value = "me")]
    principal: String,
    /// Its tenant [default: default]
    #[arg(long)]
    tenant: Option<TenantId>,
    /// Its project
    #[arg(long)]
    project: Option<ProjectId>,
    /// A pack to activate; may be given several times
    #[arg(long = "pack", value_name = "ID")]
    packs: Vec<String>,
    /// How long it lasts, like 30m or 8h
    #[arg(long, default_value = "8h", value_parser = TimeLimit::parse)]
    ttl: TimeLimit,
}

impl Sessions {
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let installation = ambient.open()?;
        match self {
            Self::Open(open) => {
                let options = OpenOptions {
                    principal: Some(installation.principal_named(&open.principal)?),
                    tenant: open.tenant,
                    project: open.project,
                    packs: open.packs,
                    ttl: Some(open.ttl.duration()),
                };
                let opened = installation.operator().open_session(&options)?;
                let data = match &opened.token {
                    Some(token) => json!({ "session_id": opened.session_id, "token": token }),
                    None => json!({ "session_id": opened.session_id }),
                };
                terminal.show(&data, |page| {
                    page.marked(Tone::Good, "✓", &format!("opened {}", opened.session_id));
                    if let Some(token) = &opened.token {
                        page.field("token", token);
                        page.line("It is shown this once; whoever has it is this Principal.");
                    }
                });
            }
            Self::Close { id } => {
                installation.operator().close_session(&id)?;
                terminal.show(&json!({ "closed": id }), |page| {
                    page.marked(Tone::Good, "✓", &format!("closed {id}"));
                });
            }
            Self::Show { id } => {
                let id = ambient.session(id);
                show(terminal, &installation.operator().session(id.as_deref())?);
            }
            Self::List { limit } => {
                let mut all = installation.runtime.store().sessions()?;
                all.truncate(limit.unwrap_or(usize::MAX));
                list(terminal, &all);
            }
        }
        Ok(ExitStatus::Ok)
    }
}

fn list(terminal: &Terminal, all: &[Session]) {
    terminal.show(&all.iter().map(describe).collect(), |page| {
        let rows = all
            .iter()
            .map(|session| {
                vec![
                    session.id.clone(),
                    session.principal.to_string(),
                    session.tenant_id.to_string(),
                    session
                        .project_id
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                    state(session),
                    packs(session).join(" "),
                ]
            })
            .collect();
        let head = [
            "session",
            "principal",
            "tenant",
            "project",
            "state",
            "packs",
        ];
        page.table(&head, rows, "no sessions");
    });
}

fn show(terminal: &Terminal, session: &Session) {
    terminal.show(&describe(session), |page| {
        page.field("session", &session.id);
        page.field("principal", session.principal.as_str());
        page.field("tenant", session.tenant_id.as_str());
        page.field(
            "project",
            session
                .project_id
                .as_ref()
                .map_or("none", ProjectId::as_str),
        );
        page.field("opened", &relative(session.opened_at));
        page.field("state", &state(session));
        let packs = packs(session);
        page.field("packs", if packs.is_empty() { "none" } else { "" });
        for pack in &session.packs {
            page.line(&format!("  {}  {}", pack.pack_id, pack.digest));
        }
    });
}

fn describe(session: &Session) -> Value {
    let packs: Vec<Value> = session
        .packs
        .iter()
        .map(|pack| json!({ "pack_id": pack.pack_id.as_str(), "digest": pack.digest }))
        .collect();
    json!({
        "session_id": session.id,
        "name": session.name,
        "principal": session.principal.as_str(),
        "tenant_id": session.tenant_id.as_str(),
        "project_id": session.project_id,
        "opened_at": rfc3339(session.opened_at),
        "expires_at": session.expires_at.map(rfc3339),
        "closed": session.closed,
        "packs": packs,
    })
}

fn packs(session: &Session) -> Vec<&str> {
    session
        .packs
        .iter()
        .map(|pack| pack.pack_id.as_str())
        .collect()
}

fn state(session: &Session) -> String {
    match session.expires_at {
        _ if session.closed => "closed".to_owned(),
        None => "never expires".to_owned(),
        Some(at) if at <= jiff::Timestamp::now().as_millisecond() => {
            format!("expired {}", relative(at))
        }
        Some(at) => format!("expires {}", relative(at)),
    }
}
