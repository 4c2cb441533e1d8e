//! The installation that a test runs in: made for it, with the pack pinned, activated and granted
//! exactly the capabilities that it names, and gone afterwards.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hcp_core::operator::{AddOptions, GrantTerms, initialise};
use hcp_core::{Home, LoadedPack, Runtime, Settings};
use hcp_pack::{Tree, read_manifest};
use hcp_sandbox::{Cancel, Scratch, remove_tree};
use hcp_spec::config::Mode;
use hcp_spec::manifest::Manifest;
use hcp_spec::name::CapabilityPattern;
use serde_json::{Map, Value};

use crate::ambient::{Ambient, FLOOR, Installation, caller};
use crate::failure::Failure;

/// Where it is made. The caller's TMPDIR is none of the variables that hcp reads.
const TEMPORARY: &str = "/tmp";

/// An installation to test in; dropping it removes it.
pub(super) struct Bench {
    pub(super) installation: Installation,
    pub(super) pack: Arc<LoadedPack>,
    pub(super) cancel: Cancel,
    tree: Tree,
    folder: PathBuf,
    /// Whether an example names a path.
    names_paths: bool,
    /// The home of the installation, and the copy of the pack that examples may read and write.
    scratch: Scratch,
}

impl Bench {
    /// # Errors
    /// When the pack cannot be added, or the operator's config cannot be read.
    pub(super) fn set_up(
        folder: &Path,
        ambient: &Ambient,
        cancel: Cancel,
    ) -> Result<Self, Failure> {
        let manifest = read_manifest(folder)?;
        let tree = Tree::scan(folder)?;
        let names_paths = names_paths(&manifest);
        let scratch = Scratch::create(Path::new(TEMPORARY)).map_err(failed)?;
        let home = Home::beneath(scratch.home());
        let operators = Settings::read(&ambient.home()?, Some(Path::new(FLOOR)))?;
        let paths = names_paths.then(|| scratch.temporary());
        fs::write(home.config_file(), config(&operators, paths)).map_err(failed)?;

        let caller = caller();
        initialise(&home, Some(Path::new(FLOOR)), &caller)?;
        let runtime = Runtime::open(home, Some(Path::new(FLOOR)))?;
        let installation = Installation {
            runtime,
            principal: caller.principal,
        };
        install(&installation, folder, &manifest)?;
        let pack = installation.operator().load_pack(manifest.id.as_str())?;
        Ok(Self {
            pack: Arc::new(pack),
            installation,
            cancel,
            tree,
            folder: folder.to_owned(),
            names_paths,
            scratch,
        })
    }

    pub(super) fn pack_id(&self) -> &str {
        &self.pack.id
    }

    pub(super) fn isolation(&self) -> Mode {
        self.installation.runtime.settings().sandbox.mode
    }

    /// Forgets what calls left: the lasting folder of the pack, and what they wrote to its files.
    ///
    /// # Errors
    /// When it cannot be removed or written anew.
    pub(super) fn begin_anew(&self) -> Result<(), Failure> {
        let state = self.installation.runtime.home().data_folder().join("state");
        match remove_tree(&state) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        if self.names_paths {
            self.copy_files().map_err(failed)?;
        }
        Ok(())
    }

    /// The arguments of an example as a call gives them: a path is relative to the pack's own files,
    /// of which calls get a copy that they may write.
    pub(super) fn resolve(
        &self,
        verb_key: &str,
        written: &Map<String, Value>,
    ) -> Map<String, Value> {
        use hcp_spec::manifest::Access;
        let command = self.pack.manifest.commands.get(verb_key);
        let is_path = |name: &str| {
            let argument = command.and_then(|command| command.args.get(name));
            argument.is_some_and(|argument| {
                matches!(argument.access, Some(Access::Read | Access::Write))
            })
        };
        let mut args = written.clone();
        for (_, value) in args.iter_mut().filter(|(name, _)| is_path(name)) {
            match value {
                Value::String(path) => self.place(path),
                Value::Array(paths) => paths.iter_mut().for_each(|path| {
                    if let Value::String(path) = path {
                        self.place(path);
                    }
                }),
                _ => {}
            }
        }
        args
    }

    fn place(&self, path: &mut String) {
        if let Some(placed) = self.scratch.temporary().join(&path).to_str() {
            placed.clone_into(path);
        }
    }

    fn copy_files(&self) -> io::Result<()> {
        let target = self.scratch.temporary();
        for entry in fs::read_dir(target)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                remove_tree(&entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        for (path, executable) in self.tree.files() {
            let copy = target.join(path);
            if let Some(parent) = copy.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(self.folder.join(path), &copy)?;
            let mode = if executable { 0o700 } else { 0o600 };
            fs::set_permissions(&copy, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }
}

fn names_paths(manifest: &Manifest) -> bool {
    manifest
        .commands
        .values()
        .flat_map(|command| command.args.values())
        .any(|argument| argument.access.is_some())
}

/// Native-local, unless the operator or the machine's administrator chose otherwise; no wider than
/// they allow in everything else.
fn config(operators: &Settings, paths: Option<&Path>) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let listed = |texts: Vec<String>| Value::from(texts).to_string();
    let sandbox = &operators.sandbox;
    let mode = operators.config.sandbox.mode.unwrap_or(Mode::NativeLocal);
    let search = sandbox
        .path
        .iter()
        .map(|folder| folder.display().to_string());
    let mut lines = vec![
        "[sandbox]".to_owned(),
        format!("mode = {}", quoted(mode.as_str())),
        format!("path = {}", listed(search.collect())),
        format!("network = {}", listed(sandbox.network.clone())),
        format!("timeout_max = {}", quoted(sandbox.timeout_max.text())),
    ];
    if let Some(level) = operators.config.sandbox.level {
        // The word of the config is that of its JSON form.
        let level = serde_json::to_value(level).unwrap_or_default();
        lines.push(format!("level = {level}"));
    }
    if let Some(paths) = paths {
        let paths = listed(vec![paths.display().to_string()]);
        lines.push(format!("read = {paths}"));
        lines.push(format!("write = {paths}"));
    }
    lines.join("\n") + "\n"
}

/// Whoever tests a pack runs its program anyway, so a bin that it does not ship is allowed to it here.
fn install(installation: &Installation, folder: &Path, manifest: &Manifest) -> Result<(), Failure> {
    let operator = installation.operator();
    let outside = manifest
        .wrap
        .iter()
        .map(|wrap| wrap.bin.clone())
        .filter(|bin| !bin.starts_with('.'));
    let options = AddOptions {
        allow_bins: outside.collect(),
        ..AddOptions::default()
    };
    operator.add_pack(folder, &options)?;
    operator.activate(None, &[manifest.id.to_string()])?;
    for policy in manifest.policy.values() {
        operator.add_grant(&GrantTerms {
            principal: installation.principal.clone(),
            capability: CapabilityPattern::parse(policy.capability.as_str())?,
            tenant: None,
            project: None,
        })?;
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value)] // It stands behind `map_err`.
fn failed(error: io::Error) -> Failure {
    Failure::internal(format!("the folder to test in: {error}"))
}
