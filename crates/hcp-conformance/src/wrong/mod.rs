//! A reference-wrong runtime: it keeps §6, but for one fault that it can be given.
//!
//! It is the kit's own test. Without a fault every case must pass, so no case asks for more than a
//! small, honest runtime has; with one, the cases meant for it must fail, so each can. It is written
//! to be read: a file a clause, no cleverness, everything in memory but the packs' files. It shares
//! the manifest's types with hcp and not a line of how hcp works.

mod arguments;
mod child;
mod composite;
mod envelope;
mod faces;
mod fault;
mod prohibitions;
mod rendering;
mod result;
mod steps;
mod strings;
mod value;

use std::collections::HashSet;
use std::path::Path;

use hcp_spec::manifest::Manifest;
use indexmap::IndexMap;
use tempfile::TempDir;

pub use fault::{Fault, Faults};

use crate::corpus::FaceKind;
use crate::error::KitError;
use crate::protocol::{Claims, Install, PackFile, Record, Reply, Request};
use crate::workbench::write_program;

/// The name it answers to.
const NAME: &str = "wrong";

/// The runtime.
#[derive(Default)]
pub struct WrongRuntime {
    faults: Faults,
    world: World,
}

/// Everything that `reset` forgets.
#[derive(Default)]
struct World {
    packs: IndexMap<String, Pack>,
    active: HashSet<String>,
    grants: HashSet<String>,
    project: Option<String>,
    providers: IndexMap<String, Vec<String>>,
    environment: IndexMap<String, String>,
    records: Vec<Record>,
}

struct Pack {
    manifest: Manifest,
    folder: TempDir,
    allow_bins: Vec<String>,
    removed: bool,
}

impl Pack {
    fn root(&self) -> &Path {
        self.folder.path()
    }
}

impl WrongRuntime {
    /// A runtime with these faults.
    pub fn new(faults: Faults) -> Self {
        Self {
            faults,
            world: World::default(),
        }
    }

    /// Answers a request of the kit.
    pub fn answer(&mut self, request: Request) -> Reply {
        let world = &mut self.world;
        match request {
            Request::Hello(_) => return self.introduce(),
            Request::Reset => *world = World::default(),
            Request::Environment(environment) => world.environment = environment.set,
            Request::Binding(binding) => {
                world.providers.insert(binding.pack_id, binding.command);
            }
            Request::Install(install) => return self.install(install),
            Request::Project(project) => world.project = Some(project.project_id),
            Request::Grant(grant) => {
                world.grants.insert(grant.capability);
            }
            Request::Activate(named) => {
                world.active.insert(named.pack_id);
            }
            Request::Remove(named) => {
                if let Some(pack) = world.packs.get_mut(&named.pack_id) {
                    pack.removed = true;
                }
            }
            Request::Exec(exec) => return self.exec(&exec),
            Request::Health => return self.look_after_health(),
            Request::Audit => {
                return Reply {
                    records: Some(world.records.clone()),
                    ..Reply::default()
                };
            }
            Request::Counts => return Reply::unsupported("the kit's own logs know better"),
        }
        Reply::default()
    }

    fn introduce(&self) -> Reply {
        let mut adapters = vec!["wrap".to_owned()];
        if !self.faults.has("no-composite") {
            adapters.push("composite".to_owned());
        }
        let clauses = ["6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7"];
        Reply {
            runtime: Some(Claims {
                name: NAME.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                clauses: clauses.map(str::to_owned).to_vec(),
                faces: vec![FaceKind::Json, FaceKind::Cli],
                adapters,
            }),
            ..Reply::default()
        }
    }

    fn install(&mut self, install: Install) -> Reply {
        let manifest: Manifest = match serde_json::from_value(install.manifest) {
            Ok(manifest) => manifest,
            Err(error) => return Reply::refused(error.to_string()),
        };
        if let Some(reason) = self.pass_through_of(&manifest) {
            return Reply::refused(reason);
        }
        match unpack(&install.files) {
            Ok(folder) => {
                let pack = Pack {
                    folder,
                    allow_bins: install.allow_bins,
                    removed: false,
                    manifest,
                };
                let id = pack.manifest.id.as_str().to_owned();
                self.world.packs.insert(id, pack);
                Reply::default()
            }
            Err(error) => Reply::failed(error.to_string()),
        }
    }
}

fn unpack(files: &[PackFile]) -> Result<TempDir, KitError> {
    let unpacking = "unpacking a pack";
    let folder = TempDir::new().map_err(KitError::io(unpacking))?;
    for file in files {
        let path = folder.path().join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(KitError::io(unpacking))?;
        }
        if file.executable {
            write_program(&path, &file.text)?;
        } else {
            std::fs::write(&path, &file.text).map_err(KitError::io(unpacking))?;
        }
    }
    Ok(folder)
}
