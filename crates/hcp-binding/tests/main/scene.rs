//! A config folder with secrets and helpers in it, and one call to mint for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hcp_binding::{Binding, BindingError, Mode, Scope, mint, select};
use hcp_sandbox::Cancel;
use hcp_spec::config::Config;
use hcp_spec::manifest::BindingNeed;
use serde_json::{Value, json};

/// What no message, no `Debug` and no request may ever hold.
pub(crate) const SECRET: &str = "t0p-s3cret-value";

pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) tenants: u64,
    pub(crate) need: Value,
    pub(crate) mode: Mode,
    pub(crate) cancel: Cancel,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            tenants: 1,
            need: json!({ "env": ["LEDGER_TOKEN"] }),
            mode: Mode::Live,
            cancel: Cancel::new().unwrap(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.folder().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// A helper that notes what it was asked and what surrounds it, then runs `body`.
    pub(crate) fn helper(&self, body: &str) -> String {
        let script = format!(
            "#!/bin/sh\ncat >>requests\necho >>requests\ncat /proc/$$/environ >environment\n\
             echo \"$@\" >arguments\necho {SECRET} >&2\n{body}\n"
        );
        self.write("helper", script, 0o700).display().to_string()
    }

    /// What the helper was asked, one request a line.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder().join("requests")).unwrap_or_default();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder().join(name)).unwrap()
    }

    /// Mints with `provider` as the general section of pack `ledger`.
    pub(crate) fn mint(&self, provider: &Value) -> Result<Binding, BindingError> {
        self.mint_with(&json!({ "bindings": { "ledger": provider } }))
    }

    pub(crate) fn mint_with(&self, config: &Value) -> Result<Binding, BindingError> {
        let config: Config = serde_json::from_value(config.clone()).unwrap();
        let need: Option<BindingNeed> = serde_json::from_value(self.need.clone()).unwrap();
        let scope = Scope {
            pack_id: "ledger",
            verb_key: "transfer",
            principal: "agent:builder",
            tenant_id: "acme",
            project_id: None,
            capability: "ledger:write",
            tenants: self.tenants,
        };
        let provider = select(&config, "acme", "ledger", "transfer");
        let need = need.as_ref();
        let minted = mint(
            need,
            provider,
            self.folder(),
            &scope,
            self.mode,
            &self.cancel,
        );
        let told = match &minted {
            Ok(binding) => format!(
                "{binding:?} {:?}",
                binding.environment().collect::<Vec<_>>()
            ),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!told.contains(SECRET), "{told}");
        minted
    }

    /// The text of the refusal that `provider` leads to.
    pub(crate) fn refusal(&self, provider: &Value) -> String {
        self.mint(provider).unwrap_err().to_string()
    }
}

/// The variables of a Binding as text.
pub(crate) fn variables(binding: &Binding) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    binding
        .environment()
        .map(|(name, secret)| (name.to_owned(), text(secret.expose())))
        .collect()
}
