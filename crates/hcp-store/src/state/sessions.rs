//! Changing sessions: opening, closing, and what is activated on them.

use rusqlite::params;

use super::changes::{already_there, found};
use super::{Changes, Session, read};
use crate::error::StoreError;

impl Changes<'_> {
    /// Opens a session with the packs that are activated on it.
    ///
    /// # Errors
    /// [`StoreError::NotThere`] for its Principal, tenant, project or a pack,
    /// [`StoreError::AlreadyThere`] for an id that was used, a name that another open session of the
    /// Principal has, or a token that another session has.
    pub fn open_session(&self, session: &Session) -> Result<(), StoreError> {
        self.require_principal(&session.principal)?;
        self.require_tenant(&session.tenant_id)?;
        self.require_project(&session.tenant_id, session.project_id.as_ref())?;
        let added = self.execute(
            "INSERT INTO session (id, principal, tenant_id, project_id, name, opened_at,
                                  expires_at, closed, token_sha256)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
            params![
                session.id,
                session.principal.as_str(),
                session.tenant_id.as_str(),
                session.project_id.as_ref().map(AsRef::<str>::as_ref),
                session.name,
                session.opened_at,
                session.expires_at,
                session.closed,
                session.token_sha256
            ],
        )?;
        if added == 0 {
            let name = session.name.as_deref().unwrap_or(&session.id);
            return Err(already_there("session", name));
        }
        for pack in &session.packs {
            self.put_activation(&session.id, pack.pack_id.as_str(), &pack.digest)?;
        }
        Ok(())
    }

    /// Closes a session for good. `false` when it was closed before.
    ///
    /// # Errors
    /// [`StoreError::NotThere`].
    pub fn close_session(&self, id: &str) -> Result<bool, StoreError> {
        self.require_session(id)?;
        let closed = self.execute(
            "UPDATE session SET closed = 1 WHERE id = ?1 AND closed = 0",
            [id],
        )?;
        Ok(closed > 0)
    }

    /// Activates a pack, with this digest, on a session. `false` when just that was so before.
    ///
    /// # Errors
    /// [`StoreError::NotThere`] for the session, also when it is closed, or the pack.
    pub fn activate(
        &self,
        session_id: &str,
        pack_id: &str,
        digest: &str,
    ) -> Result<bool, StoreError> {
        let session = self.read(|connection| read::session(connection, session_id))?;
        let open = session.is_some_and(|session| !session.closed);
        found(usize::from(open), "session", session_id)?;
        self.put_activation(session_id, pack_id, digest)
    }

    /// Takes a pack off a session. `false` when it was not activated.
    ///
    /// # Errors
    /// [`StoreError::NotThere`] for the session.
    pub fn deactivate(&self, session_id: &str, pack_id: &str) -> Result<bool, StoreError> {
        self.require_session(session_id)?;
        let removed = self.execute(
            "DELETE FROM session_pack WHERE session_id = ?1 AND pack_id = ?2",
            [session_id, pack_id],
        )?;
        Ok(removed > 0)
    }

    fn put_activation(
        &self,
        session_id: &str,
        pack_id: &str,
        digest: &str,
    ) -> Result<bool, StoreError> {
        let there = self.read(|connection| read::pack(connection, pack_id))?;
        found(usize::from(there.is_some()), "pack", pack_id)?;
        let changed = self.execute(
            "INSERT INTO session_pack (session_id, pack_id, digest) VALUES (?1, ?2, ?3)
             ON CONFLICT (session_id, pack_id) DO UPDATE SET digest = excluded.digest
             WHERE digest <> excluded.digest",
            [session_id, pack_id, digest],
        )?;
        Ok(changed > 0)
    }

    fn require_session(&self, id: &str) -> Result<(), StoreError> {
        let there = self.read(|connection| read::session(connection, id))?;
        found(usize::from(there.is_some()), "session", id)
    }
}
