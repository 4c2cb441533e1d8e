//! The operator's config as it takes effect: defaults filled in, paths absolute, and nothing looser
//! than the floor that the machine's administrator may have set.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use hcp_pack::{Format, SourceFile, parse_config};
use hcp_sandbox::{Demand, GrantedPath, Roots, TrustError, open_private};
use hcp_spec::config::{Config, Level, Mode, PolicyConfig, SandboxConfig};
use hcp_spec::quantity::TimeLimit;

use crate::error::CoreError;
use crate::home::Home;

/// The config as it takes effect.
#[derive(Debug)]
pub struct Settings {
    /// The folder that paths of the config are relative to.
    pub folder: PathBuf,
    /// What was written, the floor merged in.
    pub config: Config,
    /// The ceiling of what packs and arguments may be given.
    pub sandbox: SandboxSettings,
    /// What arguments may name.
    pub roots: GrantableRoots,
}

/// The `[sandbox]` section with every default filled in and every path absolute.
#[derive(Clone, Debug)]
pub struct SandboxSettings {
    /// How children are run.
    pub mode: Mode,
    /// The least isolation that may run.
    pub level: Level,
    /// Where bins are looked for, and the child's `PATH`.
    pub path: Vec<PathBuf>,
    /// Bins that every pack may use.
    pub allow_bins: Vec<String>,
    /// `host:port` pairs that may be given.
    pub network: Vec<String>,
    /// The longest wall clock.
    pub timeout_max: TimeLimit,
    /// Roots to read beneath.
    pub read: Vec<PathBuf>,
    /// Roots to write beneath.
    pub write: Vec<PathBuf>,
}

/// The operator's roots, opened once.
#[derive(Debug)]
pub struct GrantableRoots {
    read: Roots,
    write: Roots,
}

impl GrantableRoots {
    fn open(sandbox: &SandboxSettings) -> io::Result<Self> {
        Ok(Self {
            read: Roots::open(&sandbox.read)?,
            write: Roots::open(&sandbox.write)?,
        })
    }

    /// The path, when it lies beneath a root that may be read; what may be written may be read.
    pub fn to_read(&self, path: &Path) -> Option<GrantedPath> {
        self.read.resolve(path).or_else(|| self.write.resolve(path))
    }

    /// The path, when it lies beneath a root that may be written.
    pub fn to_write(&self, path: &Path) -> Option<GrantedPath> {
        self.write.resolve(path)
    }
}

impl Settings {
    /// Reads the config of `home`, and the floor when there is one. An absent file is every default.
    ///
    /// # Errors
    /// When a file is not the owner's alone to write, is not a config, or loosens the floor.
    pub fn read(home: &Home, floor: Option<&Path>) -> Result<Self, CoreError> {
        let own = read_config(&home.config_file())?;
        let floor = match floor {
            Some(path) => read_config(path)?.map(|config| (path, config)),
            None => None,
        };
        let folder = home.config_folder().to_owned();
        let mut config = own.unwrap_or_default();
        make_absolute(&mut config.sandbox, &folder);
        if let Some((path, mut floor)) = floor {
            make_absolute(&mut floor.sandbox, path.parent().unwrap_or(Path::new("/")));
            config = crate::floor::apply(path, floor, config)?;
        }
        let sandbox = effective(&config.sandbox)?;
        let roots = GrantableRoots::open(&sandbox).map_err(|error| CoreError::Io {
            what: "the roots of the config".to_owned(),
            error,
        })?;
        Ok(Self {
            folder,
            config,
            sandbox,
            roots,
        })
    }

    /// What the operator tightens for `<pack>.<verb>`.
    pub fn policy(&self, target: &str) -> Option<&PolicyConfig> {
        self.config.policy.get(target)
    }

    /// The file of the SQLite store.
    ///
    /// # Errors
    /// [`CoreError::StoreUrl`] for anything that is not `sqlite:` and a path.
    pub fn store_file(&self, home: &Home) -> Result<PathBuf, CoreError> {
        match &self.config.store.url {
            None => Ok(home.data_folder().join("hcp.db")),
            Some(url) => match url.strip_prefix("sqlite:") {
                Some(path) if !path.is_empty() => Ok(self.folder.join(path)),
                _ => Err(CoreError::StoreUrl { url: url.clone() }),
            },
        }
    }
}

fn read_config(path: &Path) -> Result<Option<Config>, CoreError> {
    let file = match open_private(path, "config", Demand::NotWritableByOthers) {
        Ok(file) => file,
        Err(TrustError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let text = io::read_to_string(file).map_err(|error| CoreError::Io {
        what: path.display().to_string(),
        error,
    })?;
    let source = SourceFile {
        name: path.display().to_string(),
        text,
        format: Format::Toml,
    };
    Ok(Some(parse_config(&source)?))
}

fn make_absolute(sandbox: &mut SandboxConfig, folder: &Path) {
    let lists = [&mut sandbox.path, &mut sandbox.read, &mut sandbox.write];
    for path in lists.into_iter().flatten().flatten() {
        *path = folder.join(&*path);
        // A path that climbs is the place it leads to: what arguments name is compared with that.
        if path.components().any(|part| part == Component::ParentDir)
            && let Ok(place) = path.canonicalize()
        {
            *path = place;
        }
    }
}

fn effective(written: &SandboxConfig) -> Result<SandboxSettings, CoreError> {
    let default_path = || {
        ["/usr/local/bin", "/usr/bin", "/bin"]
            .map(PathBuf::from)
            .to_vec()
    };
    let timeout_max = match &written.timeout_max {
        Some(limit) => limit.clone(),
        None => TimeLimit::parse("10m").map_err(|error| CoreError::Internal(error.to_string()))?,
    };
    debug_assert!(timeout_max.duration() > Duration::ZERO);
    Ok(SandboxSettings {
        mode: written.mode.unwrap_or_default(),
        level: written.level.unwrap_or_default(),
        path: written.path.clone().unwrap_or_else(default_path),
        allow_bins: written.allow_bins.clone().unwrap_or_default(),
        network: written.network.clone().unwrap_or_default(),
        timeout_max,
        read: written.read.clone().unwrap_or_default(),
        write: written.write.clone().unwrap_or_default(),
    })
}
