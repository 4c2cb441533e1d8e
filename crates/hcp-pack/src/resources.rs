//! The arguments of a call that name something outside the jail.

use hcp_spec::manifest::Access;
use serde_json::Value;

/// One path or `host:port` that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    /// The argument that names it.
    pub name: &'a str,
    /// What the call does with it.
    pub access: Access,
    /// The path or `host:port`, as given.
    pub value: &'a str,
}

/// The strings of a value that may be a resource: a string, or an array of strings. `None` for every
/// other value.
pub(crate) fn strings(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(elements) => elements.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
