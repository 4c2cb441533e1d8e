//! The form of the database and how it moves from one version to the next.
//!
//! A migration widens before it narrows: a version may add tables and columns that older programs
//! leave alone, and only a later one removes what those still read. `minimum_reader` says which
//! versions may go on using the file, so that one binary of a fleet can be renewed before another.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::error::StoreError;
use crate::fault::Fault;
use crate::identity::{now, random_id};

/// Marks the file as ours: `hcp1` in ASCII.
pub(crate) const APPLICATION_ID: i32 = 0x6863_7031;

/// One version of the schema.
pub(crate) struct Migration {
    /// The version that the database has afterwards.
    pub(crate) version: u32,
    /// The oldest version of this program that may use the database afterwards.
    pub(crate) minimum_reader: u32,
    /// What makes it so.
    pub(crate) sql: &'static str,
}

/// Every version, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    minimum_reader: 1,
    sql: include_str!("../migrations/0001_initial.sql"),
}];

/// What a file turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing was written into it yet.
    Empty,
    /// The database of another program.
    Foreign,
    /// Ours, at the newest version, or at a newer one that we may use.
    Current,
    /// Ours, at an older version.
    Older(u32),
    /// Ours, at a version that we would misread.
    Newer(u32),
}

/// Tells what the file is, without writing.
pub(crate) fn form(connection: &Connection, migrations: &[Migration]) -> Result<Form, Fault> {
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION_ID {
        let holds_something: bool =
            connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| {
                row.get(0)
            })?;
        return Ok(if application == 0 && !holds_something {
            Form::Empty
        } else {
            Form::Foreign
        });
    }
    let (version, minimum_reader): (u32, u32) =
        connection.query_row("SELECT version, minimum_reader FROM schema", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let known = newest(migrations);
    Ok(if version < known {
        Form::Older(version)
    } else if version == known || minimum_reader <= known {
        Form::Current
    } else {
        Form::Newer(version)
    })
}

/// Brings an empty or older database to the newest version, in one transaction. Another process may
/// have done it in the meantime, so the form is judged again inside.
pub(crate) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = match form(&transaction, migrations)? {
        Form::Empty => {
            transaction.execute_batch(
                "CREATE TABLE schema (version INTEGER NOT NULL, minimum_reader INTEGER NOT NULL);
                 INSERT INTO schema VALUES (0, 0);",
            )?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            0
        }
        Form::Older(version) => version,
        Form::Foreign | Form::Current | Form::Newer(_) => return Ok(()),
    };
    for migration in migrations.iter().filter(|next| next.version > from) {
        transaction.execute_batch(migration.sql)?;
        transaction.execute(
            "UPDATE schema SET version = ?1, minimum_reader = max(minimum_reader, ?2)",
            params![migration.version, migration.minimum_reader],
        )?;
    }
    if from == 0 {
        transaction.execute(
            "INSERT INTO installation (id, created_at, generation) VALUES (?1, ?2, 1)",
            params![random_id("ins_")?, now()],
        )?;
    } else {
        transaction.execute("UPDATE installation SET generation = generation + 1", [])?;
    }
    transaction.commit()?;
    Ok(())
}

/// The id that every trail of this installation begins with.
pub(crate) fn installation_id(connection: &Connection) -> Result<String, Fault> {
    connection
        .prepare_cached("SELECT id FROM installation")?
        .query_row([], |row| row.get(0))
        .optional()?
        .ok_or_else(|| Fault::Corrupt("the installation has lost its id".to_owned()))
}

/// The newest version there is a migration for.
pub(crate) fn newest(migrations: &[Migration]) -> u32 {
    migrations.last().map_or(0, |last| last.version)
}

/// The error for a form that cannot be used as it is; `None` when it can.
pub(crate) fn refuse(form: &Form, path: &std::path::Path) -> Option<StoreError> {
    let (path, known) = (path.to_owned(), newest(MIGRATIONS));
    match *form {
        Form::Current => None,
        Form::Empty => Some(StoreError::NotInitialised { path }),
        Form::Foreign => Some(StoreError::NotADatabase { path }),
        Form::Older(version) => Some(StoreError::OlderSchema {
            path,
            version,
            known,
        }),
        Form::Newer(version) => Some(StoreError::NewerSchema {
            path,
            version,
            known,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDER: Migration = Migration {
        version: 2,
        minimum_reader: 1,
        sql: "ALTER TABLE tenant ADD COLUMN title TEXT",
    };
    const NARROWER: Migration = Migration {
        version: 3,
        minimum_reader: 2,
        sql: "ALTER TABLE tenant DROP COLUMN added_at",
    };
    const FIRST: Migration = Migration {
        version: 1,
        minimum_reader: 1,
        sql: MIGRATIONS[0].sql,
    };

    #[test]
    fn versions_are_reached_from_every_older_one_and_kept_data() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[FIRST]).unwrap();
        let installation = installation_id(&connection).unwrap();
        connection
            .execute("INSERT INTO tenant VALUES ('default', 1)", [])
            .unwrap();
        let all = [FIRST, WIDER, NARROWER];
        assert_eq!(form(&connection, &all).unwrap(), Form::Older(1));
        migrate(&mut connection, &all).unwrap();
        assert_eq!(form(&connection, &all).unwrap(), Form::Current);
        assert_eq!(installation_id(&connection).unwrap(), installation);
        let (tenants, generation): (u32, u32) = connection
            .query_row(
                "SELECT (SELECT count(*) FROM tenant), generation FROM installation",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert_eq!((tenants, generation), (1, 2));
    }

    #[test]
    fn an_older_program_uses_a_wider_database_and_refuses_a_narrower_one() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[FIRST, WIDER]).unwrap();
        assert_eq!(form(&connection, &[FIRST]).unwrap(), Form::Current);
        migrate(&mut connection, &[FIRST, WIDER, NARROWER]).unwrap();
        assert_eq!(form(&connection, &[FIRST]).unwrap(), Form::Newer(3));
        assert_eq!(form(&connection, &[FIRST, WIDER]).unwrap(), Form::Current);
    }

    #[test]
    fn a_migration_that_fails_leaves_the_version_before() {
        let broken = Migration {
            version: 2,
            minimum_reader: 1,
            sql: "CREATE TABLE half (id); INSERT INTO nowhere VALUES (1)",
        };
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[FIRST]).unwrap();
        assert!(migrate(&mut connection, &[FIRST, broken]).is_err());
        assert_eq!(form(&connection, &[FIRST]).unwrap(), Form::Current);
        let half: bool = connection
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'half')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert!(!half);
    }
}
