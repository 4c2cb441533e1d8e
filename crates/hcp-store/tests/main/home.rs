//! An installation in a temporary folder, and ways to look behind the store's back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hcp_spec::audit::{AuditEvent, AuditKind};
use hcp_store::{InstalledPack, PackRoot, Session, Store, StoreError, Verdict};
use rusqlite::Connection;
use tempfile::TempDir;

pub struct Home {
    folder: TempDir,
}

impl Home {
    /// A folder with nothing in it.
    pub fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// An installation with the tenant `default`, the Principal `human:ann`, and one record of that.
    pub fn initialised() -> (Self, Store) {
        let home = Self::empty();
        let mut store = home.create();
        store
            .change(&event(AuditKind::Admin), |changes| {
                changes.add_tenant(&"default".parse().unwrap())?;
                changes.add_principal(&"human:ann".parse().unwrap(), Some(1000))
            })
            .unwrap();
        (home, store)
    }

    /// An installation whose trail has `count` records.
    pub fn with_records(count: u64) -> (Self, Store) {
        let (home, mut store) = Self::initialised();
        for seq in 2..=count {
            assert_eq!(store.record(&call(seq)).unwrap(), seq);
        }
        (home, store)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn database(&self) -> PathBuf {
        self.folder().join("hcp.db")
    }

    pub fn locks(&self) -> PathBuf {
        self.folder().join("locks")
    }

    pub fn create(&self) -> Store {
        Store::create(&self.database(), &self.locks()).unwrap()
    }

    pub fn open(&self) -> Store {
        self.try_open().unwrap()
    }

    pub fn try_open(&self) -> Result<Store, StoreError> {
        Store::open(&self.database(), &self.locks())
    }

    pub fn open_to_read(&self) -> Store {
        Store::open_to_read(&self.database()).unwrap()
    }

    /// A connection of somebody else. Like the sqlite3 command line, it moves the log into the file
    /// and removes it when it is closed last.
    pub fn raw(&self) -> Connection {
        Connection::open(self.database()).unwrap()
    }

    /// Runs SQL behind the store's back.
    pub fn tamper(&self, sql: &str) {
        self.raw()
            .execute_batch(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub fn verdict(&self) -> Verdict {
        self.open_to_read().verify(None, None).unwrap()
    }

    /// Every file with its bytes and the time it was last written.
    pub fn contents(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut contents = BTreeMap::new();
        let mut folders = vec![self.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            let written = fs::metadata(&folder).unwrap().modified().unwrap();
            contents.insert(folder.clone(), (Vec::new(), written));
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let written = fs::metadata(&path).unwrap().modified().unwrap();
                    contents.insert(path.clone(), (fs::read(&path).unwrap(), written));
                }
            }
        }
        contents
    }

    /// Another installation with the same files.
    pub fn copy(&self) -> Self {
        let copy = Self::empty();
        for entry in fs::read_dir(self.folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, copy.folder().join(path.file_name().unwrap())).unwrap();
            }
        }
        copy
    }
}

pub fn event(kind: AuditKind) -> AuditEvent {
    AuditEvent::new(kind, "default", "human:ann", "run_test")
}

/// A refused call that fills every column, so that each can be tampered with.
pub fn call(number: u64) -> AuditEvent {
    AuditEvent {
        project_id: Some("books".to_owned()),
        session_id: Some("ses_1".to_owned()),
        pack_id: Some("ledger".to_owned()),
        pack_digest: Some("d1".to_owned()),
        verb_key: Some("transfer".to_owned()),
        step: Some(6),
        ok: Some(false),
        error: Some("confirm required".to_owned()),
        detail: Some(String::new()),
        capability: Some("ledger:write".to_owned()),
        args: Some(format!("{{\"amount\":{number}}}")),
        intent_seq: Some(1),
        metadata: Some("{}".to_owned()),
        ..event(AuditKind::Denied)
    }
}

pub fn pack(id: &str, capabilities: &[&str]) -> InstalledPack {
    InstalledPack {
        id: id.parse().unwrap(),
        digest: format!("digest of {id}"),
        version: "0.1.0".to_owned(),
        root: PackRoot::Pinned,
        identity: "inode 7".to_owned(),
        allow_bins: vec!["git".to_owned(), "/usr/bin/jq".to_owned()],
        capabilities: capabilities
            .iter()
            .map(|word| word.parse().unwrap())
            .collect(),
        added_at: 5,
    }
}

pub fn session(id: &str, principal: &str) -> Session {
    Session {
        id: id.to_owned(),
        principal: principal.parse().unwrap(),
        tenant_id: "default".parse().unwrap(),
        project_id: None,
        name: None,
        opened_at: 10,
        expires_at: None,
        closed: false,
        token_sha256: None,
        packs: Vec::new(),
    }
}
