//! What an operator's act may do inside its transaction, packs first; people and sessions have files
//! of their own.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hcp_spec::name::Capability;
use rusqlite::{Connection, params};

use super::{CapabilityUsers, InstalledPack, PackRoot, read};
use crate::error::StoreError;
use crate::fault::Fault;

/// The open transaction of [`crate::Store::change`]. Everything done through it becomes visible and
/// durable together with the act's audit record, or not at all.
#[derive(Debug)]
pub struct Changes<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) path: &'a Path,
}

impl Changes<'_> {
    /// Adds a pack with its capability words.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`] when the id is taken; replacing a pack is removing and adding it.
    pub fn add_pack(&self, pack: &InstalledPack) -> Result<(), StoreError> {
        let linked_from = match &pack.root {
            PackRoot::Pinned => None,
            PackRoot::Linked(folder) => Some(folder.as_os_str().as_bytes()),
        };
        let allow_bins = serde_json::Value::from(pack.allow_bins.clone()).to_string();
        let added = self.execute(
            "INSERT INTO pack (id, digest, version, linked_from, identity, allow_bins, added_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            params![
                pack.id.as_str(),
                pack.digest,
                pack.version,
                linked_from,
                pack.identity,
                allow_bins,
                pack.added_at
            ],
        )?;
        if added == 0 {
            return Err(already_there("pack", pack.id.as_str()));
        }
        for capability in &pack.capabilities {
            self.execute(
                "INSERT INTO pack_capability (pack_id, capability) VALUES (?1, ?2)
                 ON CONFLICT DO NOTHING",
                params![pack.id.as_str(), capability.as_str()],
            )?;
        }
        Ok(())
    }

    /// Removes a pack, its capability words, and its activation on every session.
    ///
    /// # Errors
    /// [`StoreError::NotThere`].
    pub fn remove_pack(&self, id: &str) -> Result<(), StoreError> {
        let removed = self.execute("DELETE FROM pack WHERE id = ?1", [id])?;
        found(removed, "pack", id)?;
        self.execute("DELETE FROM session_pack WHERE pack_id = ?1", [id])?;
        Ok(())
    }

    /// Who already uses a capability word; what [`crate::Store::capability_users`] answers, inside
    /// the transaction, so that nobody can come in between.
    ///
    /// # Errors
    /// Those of the database.
    pub fn capability_users(&self, capability: &Capability) -> Result<CapabilityUsers, StoreError> {
        self.read(|connection| read::capability_users(connection, capability))
    }

    pub(super) fn read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        ask(self.connection).map_err(|error| Fault::from(error).at(self.path))
    }

    pub(super) fn execute(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<usize, StoreError> {
        self.read(|connection| connection.prepare_cached(sql)?.execute(params))
    }
}

/// Turns "no row was touched" into an error.
pub(super) fn found(rows: usize, kind: &'static str, name: &str) -> Result<(), StoreError> {
    if rows == 0 {
        return Err(StoreError::NotThere {
            kind,
            name: name.to_owned(),
        });
    }
    Ok(())
}

pub(super) fn already_there(kind: &'static str, name: &str) -> StoreError {
    StoreError::AlreadyThere {
        kind,
        name: name.to_owned(),
    }
}
