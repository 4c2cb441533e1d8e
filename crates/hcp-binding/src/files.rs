//! Provider `static`: one file for each variable, that nobody else can read.

use std::io::Read;
use std::path::Path;

use hcp_sandbox::{Demand, TrustError, open_private};
use hcp_spec::config::SecretSource;
use hcp_spec::manifest::BindingNeed;
use zeroize::Zeroizing;

use crate::error::BindingError;
use crate::mint::Scope;
use crate::secret::Secret;
use crate::select::Selected;

/// The longest secret, in bytes.
const LONGEST: usize = 64 << 10;

/// Reads every declared variable; the section must set exactly these.
pub(crate) fn read(
    need: &BindingNeed,
    selected: Selected<'_>,
    folder: &Path,
    scope: &Scope<'_>,
) -> Result<Vec<(String, Secret)>, BindingError> {
    let provider = selected.provider;
    let pack_id = || scope.pack_id.to_owned();
    if !selected.of_one_tenant && !provider.shared && scope.tenants > 1 {
        return Err(BindingError::NotShared {
            pack_id: pack_id(),
            tenants: scope.tenants,
        });
    }
    if let Some(variable) = provider.env.keys().find(|name| !need.env.contains(name)) {
        return Err(BindingError::Undeclared {
            variable: variable.clone(),
            pack_id: pack_id(),
        });
    }
    let read = |variable: &String| {
        let source = provider
            .env
            .get(variable)
            .ok_or_else(|| BindingError::NotProvided {
                variable: variable.clone(),
                pack_id: pack_id(),
            })?;
        Ok((variable.clone(), read_secret(folder, source)?))
    };
    need.env.iter().map(read).collect()
}

fn read_secret(folder: &Path, source: &SecretSource) -> Result<Secret, BindingError> {
    let unfit = |defect: String| BindingError::SecretFile {
        path: source.file.display().to_string(),
        defect,
    };
    let path = folder.join(&source.file);
    // The way to it may lead over links of ours, but the operator wrote down a file, not a link.
    if path
        .symlink_metadata()
        .is_ok_and(|found| found.is_symlink())
    {
        return Err(unfit("is a link".to_owned()));
    }
    let file =
        open_private(&path, "secret", Demand::Secret0600).map_err(|error| unfit(defect(&error)))?;
    // Room for the whole at once: growing would leave copies in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
    file.take(LONGEST as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unfit(format!("cannot be read: {}", error.kind())))?;
    if bytes.len() > LONGEST {
        return Err(unfit(format!("is over {LONGEST} bytes")));
    }
    let end = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let length = end.strip_suffix(b"\r").filter(|_| end.len() < bytes.len());
    let length = length.unwrap_or(end).len();
    bytes.truncate(length);
    let secret = Secret::new(bytes);
    secret
        .defect()
        .map_or(Ok(secret), |defect| Err(unfit(defect.to_owned())))
}

/// Told of the path as the config writes it, not of where that leads.
fn defect(error: &TrustError) -> String {
    match error {
        TrustError::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            "does not exist".to_owned()
        }
        TrustError::Unreadable { source, .. } => format!("cannot be read: {}", source.kind()),
        TrustError::Readable { .. } => "is readable by others".to_owned(),
        TrustError::Writable { culprit, .. } => {
            format!("can be changed by others: see the mode of `{culprit}`")
        }
        TrustError::Owner { culprit, owner, .. } => {
            format!("can be changed by others: `{culprit}` belongs to user {owner}")
        }
        TrustError::NotAFile { .. } => "is not a regular file".to_owned(),
    }
}
