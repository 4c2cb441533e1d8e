//! Reading manifests and configs: syntax, types, then what must hold between keys.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hcp_spec::config::Config;
use hcp_spec::manifest::Manifest;
use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use crate::check;
use crate::error::PackError;
use crate::finding::Finding;
use crate::node::{self, Fault, Node};
use crate::private;
use crate::source::{Format, SourceFile};

/// The largest manifest or config that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads and checks the manifest of the pack in `root`: exactly one of `hcp.toml` and `hcp.json`.
///
/// # Errors
/// [`PackError`] when there is none or both, when it is no plain file, too large or not UTF-8, and
/// for everything that [`parse_manifest`] refuses.
pub fn read_manifest(root: &Path) -> Result<Manifest, PackError> {
    parse_manifest(&manifest_source(root)?)
}

/// Reads a manifest whose very bytes went through [`read_manifest`] before, as those of a pinned pack
/// did: syntax and types only. The checks between keys take longer than the rest of a call.
///
/// # Errors
/// As [`read_manifest`], for what it still looks at.
pub fn read_checked_manifest(root: &Path) -> Result<Manifest, PackError> {
    let source = manifest_source(root)?;
    let located = |fault: Fault| PackError::at(&source, fault);
    let root = node::parse(&source).map_err(located)?;
    node::read(&root).map_err(located)
}

/// The text of the manifest of the pack in `root`, named as `root` is: relative where that is.
///
/// # Errors
/// [`PackError`] when there is none or both, and when it is no plain file, too large or not UTF-8.
pub fn manifest_source(root: &Path) -> Result<SourceFile, PackError> {
    let toml = root.join("hcp.toml");
    let json = root.join("hcp.json");
    let (path, format) = match (toml.symlink_metadata(), json.symlink_metadata()) {
        (Ok(_), Ok(_)) => return Err(PackError::TwoManifests(root.to_owned())),
        (Ok(_), Err(_)) => (toml, Format::Toml),
        (Err(_), Ok(_)) => (json, Format::Json),
        (Err(_), Err(_)) => return Err(PackError::NoManifest(root.to_owned())),
    };
    let name = path.display().to_string();
    Ok(SourceFile {
        text: read_text(&path, &name)?,
        name,
        format,
    })
}

/// Parses a manifest and checks everything that its text alone can tell.
///
/// # Errors
/// [`PackError::Source`] with the place of the first fault: syntax, an unknown or missing key, a
/// value of the wrong type, or keys that contradict each other, a pass-through (§6.7) among them.
pub fn parse_manifest(source: &SourceFile) -> Result<Manifest, PackError> {
    let located = |fault: Fault| PackError::at(source, fault);
    let root = node::parse(source).map_err(located)?;
    // Before the keys: another version of the format may well have other keys.
    check::format_version(&root).map_err(located)?;
    let manifest: Manifest = node::read(&root).map_err(located)?;
    check::manifest(&manifest).map_err(|finding| located(place(&root, finding)))?;
    Ok(manifest)
}

/// Parses the operator's config.
///
/// # Errors
/// [`PackError::Source`] with the place of the first fault. Neither the error nor its report repeats a
/// value or a line that credentials come from: a secret may have been written there by mistake.
pub fn parse_config(source: &SourceFile) -> Result<Config, PackError> {
    let root = node::parse(source).map_err(|fault| private::unread(source, fault))?;
    let located = |fault: Fault| private::located(source, &root, fault);
    let config: Config = node::read_discreetly(&root, private::holds_secrets).map_err(located)?;
    check::config(&config).map_err(|finding| located(place(&root, finding)))?;
    Ok(config)
}

/// The JSON Schema (draft 2020-12) of a manifest.
pub fn manifest_schema() -> Value {
    schemars::schema_for!(Manifest).to_value()
}

/// The JSON Schema (draft 2020-12) of the operator's config.
pub fn config_schema() -> Value {
    schemars::schema_for!(Config).to_value()
}

fn place(root: &Node, finding: Finding) -> Fault {
    Fault {
        span: root.locate(&finding.place),
        message: finding.message,
        hint: finding.hint,
    }
}

fn read_text(path: &Path, name: &str) -> Result<String, PackError> {
    let failed = |error: std::io::Error| PackError::io(name, error);
    let mut bytes = Vec::new();
    open_plain(path, name)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(PackError::TooLarge {
            name: name.to_owned(),
            limit: MAX_BYTES,
        });
    }
    String::from_utf8(bytes).map_err(|error| PackError::NotText {
        name: name.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// Opens a plain file and nothing else: no link is followed, and neither a pipe nor a device is
/// waited for. `name` is what messages call it.
pub(crate) fn open_plain(path: &Path, name: impl AsRef<Path>) -> Result<File, PackError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let special = |what| PackError::SpecialFile {
        path: name.as_ref().to_owned(),
        what,
    };
    let descriptor = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => descriptor,
        Err(rustix::io::Errno::LOOP) => return Err(special("a symbolic link")),
        Err(rustix::io::Errno::NXIO) => return Err(special("a special file")),
        Err(error) => return Err(PackError::io(name.as_ref(), error)),
    };
    let file = File::from(descriptor);
    let metadata = file
        .metadata()
        .map_err(|error| PackError::io(name.as_ref(), error))?;
    if metadata.is_dir() {
        return Err(special("a folder"));
    }
    if !metadata.is_file() {
        return Err(special("a special file"));
    }
    Ok(file)
}
