//! Columns as typed values. A text that no longer has its form is damage, never a value.

use std::str::FromStr;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Error, Result, Row};

/// A text column, parsed.
pub(crate) fn parsed<T>(row: &Row<'_>, index: usize) -> Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let text = row.get_ref(index)?.as_str().map_err(Error::from)?;
    text.parse().map_err(|error| conversion(index, error))
}

/// A text column that may be absent, parsed.
pub(crate) fn parsed_or_null<T>(row: &Row<'_>, index: usize) -> Result<Option<T>>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    match row.get_ref(index)? {
        ValueRef::Null => Ok(None),
        _ => parsed(row, index).map(Some),
    }
}

/// A text column that holds a JSON list of texts.
pub(crate) fn list(row: &Row<'_>, index: usize) -> Result<Vec<String>> {
    let text = row.get_ref(index)?.as_str().map_err(Error::from)?;
    serde_json::from_str(text).map_err(|error| conversion(index, error))
}

fn conversion(index: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
