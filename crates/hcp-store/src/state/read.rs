//! Reading state. Each function is a prepared statement that an index answers, on a bare connection,
//! so that a change can ask the same questions inside its transaction.

use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use hcp_spec::name::{Capability, PackId};
use rusqlite::{Connection, OptionalExtension as _, Params, Result, Row, params};

use super::column::{list, parsed, parsed_or_null};
use super::{
    ActivatedPack, CapabilityUsers, Grant, InstalledPack, PackRoot, Principal, Project, Session,
    Tenant,
};

const PACK: &str =
    "SELECT id, digest, version, linked_from, identity, allow_bins, added_at FROM pack";
const PRINCIPAL: &str = "SELECT name, uid, added_at FROM principal";
const TENANT: &str = "SELECT id, added_at FROM tenant";
const PROJECT: &str = "SELECT tenant_id, id, added_at FROM project";
const SESSION: &str = "SELECT id, principal, tenant_id, project_id, name, opened_at, expires_at, \
                       closed, token_sha256 FROM session";
const GRANT: &str =
    "SELECT id, principal, capability, tenant_id, project_id, added_at FROM principal_grant";

pub(crate) fn pack(connection: &Connection, id: &str) -> Result<Option<InstalledPack>> {
    let found = one(connection, PACK, "WHERE id = ?1", [id], pack_row)?;
    found
        .map(|pack| with_capabilities(connection, pack))
        .transpose()
}

pub(crate) fn packs(connection: &Connection) -> Result<Vec<InstalledPack>> {
    many(connection, PACK, "ORDER BY id", [], pack_row)?
        .into_iter()
        .map(|pack| with_capabilities(connection, pack))
        .collect()
}

pub(crate) fn principal(connection: &Connection, name: &str) -> Result<Option<Principal>> {
    one(
        connection,
        PRINCIPAL,
        "WHERE name = ?1",
        [name],
        principal_row,
    )
}

pub(crate) fn principal_of_uid(connection: &Connection, uid: u32) -> Result<Option<Principal>> {
    one(
        connection,
        PRINCIPAL,
        "WHERE uid = ?1",
        [uid],
        principal_row,
    )
}

pub(crate) fn principals(connection: &Connection) -> Result<Vec<Principal>> {
    many(connection, PRINCIPAL, "ORDER BY name", [], principal_row)
}

pub(crate) fn tenant(connection: &Connection, id: &str) -> Result<Option<Tenant>> {
    one(connection, TENANT, "WHERE id = ?1", [id], tenant_row)
}

pub(crate) fn tenants(connection: &Connection) -> Result<Vec<Tenant>> {
    many(connection, TENANT, "ORDER BY id", [], tenant_row)
}

pub(crate) fn tenant_count(connection: &Connection) -> Result<u64> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM tenant")?
        .query_row([], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

pub(crate) fn project(
    connection: &Connection,
    tenant_id: &str,
    id: &str,
) -> Result<Option<Project>> {
    one(
        connection,
        PROJECT,
        "WHERE tenant_id = ?1 AND id = ?2",
        [tenant_id, id],
        project_row,
    )
}

pub(crate) fn projects(connection: &Connection, tenant_id: Option<&str>) -> Result<Vec<Project>> {
    match tenant_id {
        Some(id) => many(
            connection,
            PROJECT,
            "WHERE tenant_id = ?1 ORDER BY id",
            [id],
            project_row,
        ),
        None => many(
            connection,
            PROJECT,
            "ORDER BY tenant_id, id",
            [],
            project_row,
        ),
    }
}

pub(crate) fn session(connection: &Connection, id: &str) -> Result<Option<Session>> {
    one_session(connection, "WHERE id = ?1", [id])
}

pub(crate) fn session_of_token(connection: &Connection, sha256: &str) -> Result<Option<Session>> {
    one_session(connection, "WHERE token_sha256 = ?1", [sha256])
}

pub(crate) fn named_session(
    connection: &Connection,
    principal: &str,
    name: &str,
) -> Result<Option<Session>> {
    one_session(
        connection,
        "WHERE principal = ?1 AND name = ?2 AND closed = 0",
        [principal, name],
    )
}

pub(crate) fn sessions(connection: &Connection) -> Result<Vec<Session>> {
    many(connection, SESSION, "ORDER BY id", [], session_row)?
        .into_iter()
        .map(|session| with_packs(connection, session))
        .collect()
}

pub(crate) fn grants_of(
    connection: &Connection,
    principal: &str,
    tenant_id: &str,
) -> Result<Vec<Grant>> {
    let filter = "WHERE principal = ?1 AND tenant_id = ?2 ORDER BY capability, id";
    many(connection, GRANT, filter, [principal, tenant_id], grant_row)
}

pub(crate) fn grants(connection: &Connection) -> Result<Vec<Grant>> {
    many(connection, GRANT, "ORDER BY id", [], grant_row)
}

pub(crate) fn capability_users(
    connection: &Connection,
    capability: &Capability,
) -> Result<CapabilityUsers> {
    let mut users = CapabilityUsers {
        packs: connection
            .prepare_cached(
                "SELECT pack_id FROM pack_capability WHERE capability = ?1 ORDER BY pack_id",
            )?
            .query_map([capability.as_str()], |row| parsed::<PackId>(row, 0))?
            .collect::<Result<_>>()?,
        grants: Vec::new(),
    };
    let word = capability.as_str();
    let patterns = word
        .match_indices(':')
        .filter_map(|(colon, _)| word.get(..colon))
        .map(|leading| format!("{leading}:*"))
        .chain([word.to_owned()]);
    for pattern in patterns {
        let filter = "WHERE capability = ?1 ORDER BY id";
        users
            .grants
            .extend(many(connection, GRANT, filter, [pattern], grant_row)?);
    }
    Ok(users)
}

fn one<T>(
    connection: &Connection,
    select: &str,
    filter: &str,
    params: impl Params,
    read: fn(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    connection
        .prepare_cached(&format!("{select} {filter}"))?
        .query_row(params, read)
        .optional()
}

fn many<T>(
    connection: &Connection,
    select: &str,
    filter: &str,
    params: impl Params,
    read: fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection
        .prepare_cached(&format!("{select} {filter}"))?
        .query_map(params, read)?
        .collect()
}

fn one_session(
    connection: &Connection,
    filter: &str,
    params: impl Params,
) -> Result<Option<Session>> {
    let found = one(connection, SESSION, filter, params, session_row)?;
    found
        .map(|session| with_packs(connection, session))
        .transpose()
}

fn with_capabilities(connection: &Connection, pack: InstalledPack) -> Result<InstalledPack> {
    let capabilities = connection
        .prepare_cached(
            "SELECT capability FROM pack_capability WHERE pack_id = ?1 ORDER BY capability",
        )?
        .query_map([pack.id.as_str()], |row| parsed(row, 0))?
        .collect::<Result<_>>()?;
    Ok(InstalledPack {
        capabilities,
        ..pack
    })
}

fn with_packs(connection: &Connection, session: Session) -> Result<Session> {
    let packs = connection
        .prepare_cached(
            "SELECT pack_id, digest FROM session_pack WHERE session_id = ?1 ORDER BY pack_id",
        )?
        .query_map(params![session.id], |row| {
            Ok(ActivatedPack {
                pack_id: parsed(row, 0)?,
                digest: row.get(1)?,
            })
        })?
        .collect::<Result<_>>()?;
    Ok(Session { packs, ..session })
}

fn pack_row(row: &Row<'_>) -> Result<InstalledPack> {
    let linked_from: Option<Vec<u8>> = row.get(3)?;
    Ok(InstalledPack {
        id: parsed(row, 0)?,
        digest: row.get(1)?,
        version: row.get(2)?,
        root: linked_from.map_or(PackRoot::Pinned, |path| {
            PackRoot::Linked(PathBuf::from(std::ffi::OsString::from_vec(path)))
        }),
        identity: row.get(4)?,
        allow_bins: list(row, 5)?,
        capabilities: Vec::new(),
        added_at: row.get(6)?,
    })
}

fn principal_row(row: &Row<'_>) -> Result<Principal> {
    Ok(Principal {
        name: parsed(row, 0)?,
        uid: row.get(1)?,
        added_at: row.get(2)?,
    })
}

fn tenant_row(row: &Row<'_>) -> Result<Tenant> {
    Ok(Tenant {
        id: parsed(row, 0)?,
        added_at: row.get(1)?,
    })
}

fn project_row(row: &Row<'_>) -> Result<Project> {
    Ok(Project {
        tenant_id: parsed(row, 0)?,
        id: parsed(row, 1)?,
        added_at: row.get(2)?,
    })
}

fn session_row(row: &Row<'_>) -> Result<Session> {
    Ok(Session {
        id: row.get(0)?,
        principal: parsed(row, 1)?,
        tenant_id: parsed(row, 2)?,
        project_id: parsed_or_null(row, 3)?,
        name: row.get(4)?,
        opened_at: row.get(5)?,
        expires_at: row.get(6)?,
        closed: row.get(7)?,
        token_sha256: row.get(8)?,
        packs: Vec::new(),
    })
}

fn grant_row(row: &Row<'_>) -> Result<Grant> {
    Ok(Grant {
        id: row.get(0)?,
        principal: parsed(row, 1)?,
        capability: parsed(row, 2)?,
        tenant_id: parsed(row, 3)?,
        project_id: parsed_or_null(row, 4)?,
        added_at: row.get(5)?,
    })
}
