-- State of the installation. Times are milliseconds since the epoch.

CREATE TABLE installation (
    id         TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    -- Goes up with every change of anything but the audit trail.
    generation INTEGER NOT NULL
);

CREATE TABLE pack (
    id          TEXT    NOT NULL PRIMARY KEY,
    digest      TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    -- The author's folder, for a linked pack; a pinned one lies in the home under its digest.
    linked_from BLOB,
    identity    TEXT    NOT NULL,
    allow_bins  TEXT    NOT NULL,
    added_at    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE pack_capability (
    pack_id    TEXT NOT NULL REFERENCES pack (id) ON DELETE CASCADE,
    capability TEXT NOT NULL,
    PRIMARY KEY (pack_id, capability)
) WITHOUT ROWID;
CREATE INDEX pack_capability_word ON pack_capability (capability);

CREATE TABLE principal (
    name     TEXT    NOT NULL PRIMARY KEY,
    uid      INTEGER UNIQUE,
    added_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE tenant (
    id       TEXT    NOT NULL PRIMARY KEY,
    added_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE project (
    tenant_id TEXT    NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    id        TEXT    NOT NULL,
    added_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- A session outlives its Principal, tenant and project as a closed one, so that a call that names
-- it can be refused for the right reason; hence no foreign keys.
CREATE TABLE session (
    id           TEXT    NOT NULL PRIMARY KEY,
    principal    TEXT    NOT NULL,
    tenant_id    TEXT    NOT NULL,
    project_id   TEXT,
    name         TEXT,
    opened_at    INTEGER NOT NULL,
    expires_at   INTEGER,
    closed       INTEGER NOT NULL DEFAULT 0,
    token_sha256 TEXT
) WITHOUT ROWID;
CREATE UNIQUE INDEX session_name ON session (principal, name) WHERE closed = 0 AND name IS NOT NULL;
CREATE UNIQUE INDEX session_token ON session (token_sha256) WHERE token_sha256 IS NOT NULL;

CREATE TABLE session_pack (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    pack_id    TEXT NOT NULL,
    digest     TEXT NOT NULL,
    PRIMARY KEY (session_id, pack_id)
) WITHOUT ROWID;

CREATE TABLE principal_grant (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    principal  TEXT    NOT NULL REFERENCES principal (name) ON DELETE CASCADE,
    tenant_id  TEXT    NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    project_id TEXT,
    capability TEXT    NOT NULL,
    added_at   INTEGER NOT NULL,
    FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX principal_grant_once
    ON principal_grant (principal, tenant_id, capability, ifnull(project_id, ''));
CREATE INDEX principal_grant_word ON principal_grant (capability);

-- The audit trail. No constraint beyond the numbering, and no INTEGER PRIMARY KEY: whatever is done
-- to a row behind our back is for the chain to tell, and every column here is covered by it.
CREATE TABLE audit_record (
    tenant_id   TEXT,
    seq         INTEGER,
    recorded_at INTEGER,
    kind        TEXT,
    project_id  TEXT,
    principal   TEXT,
    session_id  TEXT,
    pack_id     TEXT,
    pack_digest TEXT,
    verb_key    TEXT,
    step        INTEGER,
    ok          INTEGER,
    error       TEXT,
    detail      TEXT,
    capability  TEXT,
    args        TEXT,
    intent_seq  INTEGER,
    runtime_id  TEXT,
    metadata    TEXT,
    previous    TEXT,
    hash        TEXT,
    UNIQUE (tenant_id, seq)
);

-- The newest record of every trail. A new tenant begins at 0 with its genesis value, so that a trail
-- that is gone altogether leaves a mark.
CREATE TABLE audit_head (
    tenant_id TEXT    NOT NULL PRIMARY KEY,
    seq       INTEGER NOT NULL,
    hash      TEXT    NOT NULL
) WITHOUT ROWID;

-- Intents without an outcome, by the runtime whose lock tells whether the call may still be running.
CREATE TABLE open_intent (
    runtime_id TEXT    NOT NULL,
    tenant_id  TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (runtime_id, tenant_id, seq)
) WITHOUT ROWID;
