//! State and audit on SQLite.
