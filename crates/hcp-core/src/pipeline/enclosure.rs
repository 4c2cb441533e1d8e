//! What a child of step 8 is run in: a jail, or, where the operator chose that, nothing.
//!
//! What a jail is given comes from this call: its pack, its state, the paths that its arguments name,
//! and of the pack's wishes what the operator opened. A wish that cannot be kept refuses the call;
//! nothing is run in less than was asked for.

use std::io;
use std::path::{Path, PathBuf};

use hcp_sandbox::{
    CheckedBin, Finished, GrantedPath, Jail, Launch, LaunchError, LevelCache, Limits, Scratch,
    available_level, run_jailed, run_native_local,
};
use hcp_spec::Refusal;
use hcp_spec::config::{Level, Mode as SandboxMode};
use hcp_spec::manifest::Sandbox;

use super::mode::{Live, Refused};
use super::s6_enforce_confirm::Resource;
use super::s7_mint_binding::Bound;
use super::walk::Walk;

/// Bytes of the largest file that a jailed call may write.
const FILE_SIZE: u64 = 1 << 30;

/// What a child is run in.
pub(super) struct Enclosure {
    walls: Walls,
    state: Option<PathBuf>,
}

enum Walls {
    Jail {
        exec: Vec<CheckedBin>,
        read: Vec<GrantedPath>,
        /// Its HOME and TMPDIR, where the level has none of its own.
        scratch: Option<Scratch>,
    },
    /// A plain child with folders of its own, and the word for it.
    None(Scratch, &'static str),
}

impl Enclosure {
    /// Gets ready what the call needs; `find` resolves a bin as the operator allows it.
    ///
    /// # Errors
    /// When the isolation that is asked for cannot be had, or a wish cannot be kept.
    pub(super) fn new(
        walk: &Walk<'_, Live>,
        bound: &Bound,
        find: impl Fn(&str) -> Result<CheckedBin, Refused>,
    ) -> Result<Self, Refused> {
        let confirmed = &bound.intended.confirmed;
        let (view, pack) = (walk.view, &confirmed.pack);
        let wish = &pack.manifest.sandbox;
        let scratch = || {
            let made = view.scratch().and_then(Scratch::create);
            made.map_err(|error| unmade(&error))
        };
        let level = level_to_be_had(walk, wish)?;
        let walls = match level {
            None => Walls::None(scratch()?, view.settings.sandbox.mode.as_str()),
            Some(Level::None) => Walls::None(scratch()?, Level::None.as_str()),
            Some(level) => Walls::Jail {
                exec: wish
                    .exec
                    .iter()
                    .map(|bin| find(bin))
                    .collect::<Result<_, _>>()?,
                read: read_wishes(walk, bound, wish)?,
                scratch: (level < Level::Full).then(scratch).transpose()?,
            },
        };
        let session = &confirmed.identity.session;
        let project = session.project_id.as_ref().map(AsRef::as_ref);
        let folder = || {
            view.home
                .state_folder(session.tenant_id.as_str(), project, &pack.id)
        };
        let state = wish
            .state
            .then(folder)
            .transpose()
            .map_err(|error| unmade(&error))?;
        Ok(Self { walls, state })
    }

    /// What `HOME` is to the child.
    pub(super) fn home(&self) -> &Path {
        match &self.walls {
            Walls::Jail { scratch: None, .. } => Jail::home_path(),
            Walls::Jail {
                scratch: Some(scratch),
                ..
            }
            | Walls::None(scratch, _) => scratch.home(),
        }
    }

    /// What `TMPDIR` is to the child.
    pub(super) fn temporary(&self) -> &Path {
        match &self.walls {
            Walls::Jail { scratch: None, .. } => Jail::temporary_path(),
            Walls::Jail {
                scratch: Some(scratch),
                ..
            }
            | Walls::None(scratch, _) => scratch.temporary(),
        }
    }

    /// The folder that lasts, when the pack asks for one.
    pub(super) fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// How the child is isolated, in a word: a level, or the mode without one.
    pub(super) fn word(&self) -> &'static str {
        match &self.walls {
            Walls::Jail { scratch: None, .. } => Level::Full.as_str(),
            Walls::Jail { .. } => Level::NoUserns.as_str(),
            Walls::None(_, word) => word,
        }
    }

    /// Runs the child.
    ///
    /// # Errors
    /// When nothing ran.
    pub(super) fn run(&self, launch: Launch<'_>, bound: &Bound) -> Result<Finished, LaunchError> {
        let Walls::Jail {
            exec,
            read,
            scratch,
        } = &self.walls
        else {
            return run_native_local(launch);
        };
        let mut jail = Jail {
            pack: Some(&bound.intended.confirmed.pack.root),
            state: self.state.as_deref(),
            read: read.iter().collect(),
            write: Vec::new(),
            exec,
            scratch: scratch.as_ref(),
        };
        for resource in &bound.intended.confirmed.prepared.resources {
            match resource {
                Resource::Read(path) => jail.read.push(path),
                Resource::Write(path) => jail.write.push(path),
                Resource::Connect(_) => {}
            }
        }
        let limits = Limits {
            file_size: Some(FILE_SIZE),
            ..launch.limits
        };
        run_jailed(Launch { limits, ..launch }, &jail)
    }
}

/// The level that the call gets, which is at least what was asked for; `None` where the operator chose
/// to have none of it.
fn level_to_be_had(walk: &Walk<'_, Live>, wish: &Sandbox) -> Result<Option<Level>, Refused> {
    let settings = &walk.view.settings.sandbox;
    if settings.mode == SandboxMode::NativeLocal {
        return Ok(None);
    }
    let least = settings.level.max(wish.level.unwrap_or(Level::None));
    let found = available_level(LevelCache::Keep(&walk.view.home.isolation_file()));
    if found.level >= least {
        return Ok(Some(found.level));
    }
    Err(Refused::because(
        Refusal::Isolation(found.missing.join(", ")),
        format!(
            "level `{}` is asked for, and this machine gives `{}`",
            least.as_str(),
            found.level.as_str()
        ),
    ))
}

/// What the pack wants to read, as far as the operator opened it. What it wants to reach refuses the
/// call: no jail has a network yet.
fn read_wishes(
    walk: &Walk<'_, Live>,
    bound: &Bound,
    wish: &Sandbox,
) -> Result<Vec<GrantedPath>, Refused> {
    let resources = &bound.intended.confirmed.prepared.resources;
    let connects = |resource: &Resource| matches!(resource, Resource::Connect(_));
    if !wish.network.is_empty() || resources.iter().any(connects) {
        return Err(Refused::because(
            Refusal::Isolation("network access out of a jail is not built yet".to_owned()),
            "only mode native-local reaches the network in this version",
        ));
    }
    let roots = &walk.view.settings.roots;
    let open = |path: &String| {
        roots.to_read(Path::new(path)).ok_or_else(|| {
            Refused::because(
                Refusal::Isolation(format!("`{path}` is outside what the operator opened")),
                "the pack asks for it in sandbox.read; sandbox.read of the config is the ceiling",
            )
        })
    };
    wish.read.iter().map(open).collect()
}

fn unmade(error: &io::Error) -> Refused {
    Refused::because(
        Refusal::Isolation("the folders of the call could not be made".to_owned()),
        error.to_string(),
    )
}
