//! What surrounds the process: the variables that hcp reads, the user who runs it, the folders of
//! the installation. Nothing else in the workspace looks at the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hcp_core::operator::{Caller, Operator};
use hcp_core::{Home, Runtime};
use hcp_spec::name::PrincipalName;

use crate::failure::Failure;

/// The config of the machine's administrator, which nothing loosens.
pub(crate) const FLOOR: &str = "/etc/hcp/config.toml";

/// What surrounds the process.
pub(crate) struct Ambient {
    home: Option<OsString>,
    session: Option<String>,
    remote: Option<&'static str>,
    log: Option<String>,
    config_base: Option<PathBuf>,
    data_base: Option<PathBuf>,
}

impl Ambient {
    pub(crate) fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name).and_then(|value| value.into_string().ok());
        let folder = |name: &str| {
            set(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let user = folder("HOME");
        let beneath = |tail: &str| user.as_ref().map(|home| home.join(tail));
        Self {
            home: set("HCP_HOME"),
            // A name that is no text is the name of no session, not a wish for the default one.
            session: set("HCP_SESSION").map(|id| id.to_string_lossy().into_owned()),
            remote: ["HCP_TOKEN", "HCP_SOCKET"]
                .into_iter()
                .find(|name| std::env::var_os(name).is_some()),
            log: text("HCP_LOG"),
            config_base: folder("XDG_CONFIG_HOME").or_else(|| beneath(".config")),
            data_base: folder("XDG_DATA_HOME").or_else(|| beneath(".local/share")),
        }
    }

    /// Logs to stderr when `HCP_LOG` names a level.
    pub(crate) fn start_log(&self) {
        let Some(level) = self.log.as_deref().and_then(|word| word.parse().ok()) else {
            return;
        };
        let level: tracing_subscriber::filter::LevelFilter = level;
        tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_max_level(level)
            .with_ansi(false)
            .init();
    }

    /// The session that calls use when the command line names none.
    pub(crate) fn session(&self, named: Option<String>) -> Option<String> {
        named.or_else(|| self.session.clone())
    }

    /// The variable that says a token's Principal is to act, when one does.
    pub(crate) const fn remote(&self) -> Option<&'static str> {
        self.remote
    }

    /// The folders of the installation.
    pub(crate) fn home(&self) -> Result<Home, Failure> {
        if let Some(variable) = self.remote {
            return Err(Failure::no_server(variable));
        }
        if let Some(home) = &self.home {
            let path = std::path::absolute(Path::new(home)).map_err(|error| {
                Failure::internal(format!("HCP_HOME {}: {error}", Path::new(home).display()))
            })?;
            return Ok(Home::beneath(&path));
        }
        match (&self.config_base, &self.data_base) {
            (Some(config), Some(data)) => Ok(Home::split(config.join("hcp"), data.join("hcp"))),
            _ => Err(Failure::usage(
                "neither HCP_HOME nor HOME says where the installation is",
                "set HCP_HOME to a folder",
            )),
        }
    }

    /// Opens the installation and finds out who the caller is in it.
    pub(crate) fn open(&self) -> Result<Installation, Failure> {
        let runtime = Runtime::open(self.home()?, Some(Path::new(FLOOR)))?;
        let caller = caller();
        let known = runtime.store().principal_of_uid(caller.uid)?;
        let principal = match known {
            Some(principal) => principal.name,
            None => caller.principal,
        };
        Ok(Installation { runtime, principal })
    }
}

/// An opened installation, and who uses it.
pub(crate) struct Installation {
    pub(crate) runtime: Runtime,
    pub(crate) principal: PrincipalName,
}

impl Installation {
    /// The caller at work as the operator: whoever can open the home is.
    pub(crate) fn operator(&self) -> Operator<'_> {
        Operator::new(&self.runtime, self.principal.clone())
    }

    /// A Principal as the command line names it: `me` is the caller's own.
    pub(crate) fn principal_named(&self, text: &str) -> Result<PrincipalName, Failure> {
        if text == "me" {
            Ok(self.principal.clone())
        } else {
            Ok(PrincipalName::parse(text)?)
        }
    }
}

/// The user who runs the process.
pub(crate) fn caller() -> Caller {
    let uid = rustix::process::geteuid().as_raw();
    let named = user_name(uid).and_then(|name| PrincipalName::parse(&format!("local:{name}")).ok());
    let by_number = || PrincipalName::parse(&format!("local:uid-{uid}"));
    let principal = named.map_or_else(by_number, Ok);
    match principal {
        Ok(principal) => Caller { uid, principal },
        // A number always makes a well-formed name; there is no other way to say who this is.
        Err(_) => std::process::exit(i32::from(hcp_spec::ExitStatus::Internal.code())),
    }
}

fn user_name(uid: u32) -> Option<String> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse::<u32>().ok()? == uid).then(|| name.to_owned())
    })
}
