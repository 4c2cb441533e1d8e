//! What `tools/list` shows: every command as a tool, or, where there are many, three tools that find,
//! describe and call them.

use std::sync::{Arc, Mutex, PoisonError};

use hcp_spec::envelope::describe;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::catalogue::{Callable, Catalogue};
use super::search::Index;
use super::tools::{Standing, summary, tool};
use crate::host::Host;

/// From so many commands on they are searched instead of listed.
const MANY: usize = 40;
/// Commands that a search tells of, unless asked for another number, and at most.
const FOUND: usize = 10;
const MOST_FOUND: usize = 50;

/// How commands are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tools {
    /// As tools, or by search where there are many.
    #[default]
    Auto,
    /// As tools, however many there are.
    Direct,
    /// By search.
    Search,
}

/// The tools that stand for all the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finder {
    Search,
    Describe,
    Exec,
}

impl Finder {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "hcp_search" => Self::Search,
            "hcp_describe" => Self::Describe,
            "hcp_exec" => Self::Exec,
            _ => return None,
        })
    }
}

/// The listing of one serving.
pub(super) struct Listing {
    host: Arc<Host>,
    tools: Tools,
    index: Mutex<Option<Arc<Indexed>>>,
}

struct Indexed {
    stamp: Stamp,
    catalogue: Catalogue,
    index: Index,
}

/// Changes with everything that a listing depends on.
pub(super) type Stamp = (u64, u64);

impl Listing {
    pub(super) fn new(host: Arc<Host>, tools: Tools) -> Self {
        Self {
            host,
            tools,
            index: Mutex::default(),
        }
    }

    /// What the listing depends on, as a number of the config and one of the store.
    ///
    /// # Errors
    /// One line, when the installation cannot be read.
    pub(super) fn stamp(&self) -> Result<Stamp, String> {
        let (edition, runtime) = self.host.current();
        let generation = runtime?.store().generation();
        Ok((edition, generation.map_err(|error| error.to_string())?))
    }

    /// The tools to show.
    ///
    /// # Errors
    /// One line, when the installation cannot be read.
    pub(super) fn list(&self) -> Result<Vec<Tool>, String> {
        if self.tools == Tools::Search {
            return Ok(finders());
        }
        let catalogue = Catalogue::of(&self.host)?;
        let most = match self.tools {
            Tools::Auto => MANY,
            _ => usize::MAX,
        };
        let found: Vec<Callable> = catalogue.callables().take(most).collect();
        if self.tools == Tools::Auto && found.len() >= MANY {
            return Ok(finders());
        }
        let standing = Standing::of(catalogue.runtime(), catalogue.session.as_ref());
        Ok(found
            .iter()
            .filter_map(|one| tool(one, &standing))
            .collect())
    }

    /// The commands that a query finds.
    ///
    /// # Errors
    /// One line, for wrong arguments or when the installation cannot be read.
    pub(super) fn search(&self, arguments: &JsonObject) -> Result<Value, String> {
        let query = text(arguments, "query")?;
        let most = match arguments.get("limit") {
            None | Some(Value::Null) => FOUND,
            Some(limit) => limit
                .as_u64()
                .and_then(|limit| usize::try_from(limit).ok())
                .ok_or_else(|| format!("limit must be a whole number, not {}", describe(limit)))?,
        };
        let indexed = self.indexed()?;
        let catalogue = &indexed.catalogue;
        let standing = Standing::of(catalogue.runtime(), catalogue.session.as_ref());
        let found = indexed.index.find(query, most.min(MOST_FOUND));
        let found: Vec<Value> = found
            .into_iter()
            .map(|one| summary(one, &standing))
            .collect();
        Ok(json!({ "commands": found }))
    }

    /// A command as its tool would be shown.
    ///
    /// # Errors
    /// One line, for wrong arguments, an unknown command, or when the installation cannot be read.
    pub(super) fn describe(&self, arguments: &JsonObject) -> Result<Value, String> {
        let (pack_id, verb_key) = (text(arguments, "pack_id")?, text(arguments, "verb_key")?);
        let catalogue = Catalogue::of(&self.host)?;
        let found = catalogue
            .callables()
            .find(|one| one.pack.id == pack_id && one.verb_key.as_str() == verb_key);
        let Some(callable) = found else {
            return Err(format!(
                "this session has no command `{verb_key}` of a pack `{pack_id}` that can be called"
            ));
        };
        let standing = Standing::of(catalogue.runtime(), catalogue.session.as_ref());
        let tool = tool(&callable, &standing);
        Ok(json!({
            "pack_id": pack_id,
            "verb_key": verb_key,
            "description": tool.as_ref().and_then(|tool| tool.description.clone()),
            "args_schema": tool.as_ref().map(|tool| tool.input_schema.clone()),
            "output_schema": tool.as_ref().and_then(|tool| tool.output_schema.clone()),
        }))
    }

    fn indexed(&self) -> Result<Arc<Indexed>, String> {
        let stamp = self.stamp()?;
        let mut slot = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(indexed) = slot.as_ref().filter(|indexed| indexed.stamp == stamp) {
            return Ok(indexed.clone());
        }
        let catalogue = Catalogue::of(&self.host)?;
        let index = Index::of(&catalogue);
        let indexed = Indexed {
            stamp,
            catalogue,
            index,
        };
        Ok(slot.insert(Arc::new(indexed)).clone())
    }
}

fn text<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, String> {
    match arguments.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("{name} must be a string, not {}", describe(other))),
        None => Err(format!("{name} is missing")),
    }
}

/// The three tools, short: they are what every client reads however many packs there are.
fn finders() -> Vec<Tool> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let (pack, verb) = (
        text("as hcp_search tells it"),
        text("as hcp_search tells it"),
    );
    vec![
        finder(
            "hcp_search",
            "Find commands by words; tells pack_id, verb_key, what each does and its gate.",
            json!({
                "query": text("words about what is to be done"),
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST_FOUND },
            }),
            &["query"],
            true,
        ),
        finder(
            "hcp_describe",
            "Show the arguments of one command as a JSON Schema.",
            json!({ "pack_id": pack, "verb_key": verb }),
            &["pack_id", "verb_key"],
            true,
        ),
        finder(
            "hcp_exec",
            "Call one command. A gated one needs \"confirm\": true in args. \
             Answers {ok, result} or {ok, error}.",
            json!({
                "pack_id": pack,
                "verb_key": verb,
                "args": { "type": "object", "description": "as hcp_describe shows them" },
            }),
            &["pack_id", "verb_key"],
            false,
        ),
    ]
}

fn finder(
    name: &'static str,
    about: &'static str,
    args: Value,
    required: &[&str],
    read: bool,
) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), args);
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    let mut tool = Tool::default();
    tool.name = name.into();
    tool.description = Some(about.into());
    tool.input_schema = Arc::new(schema);
    // What the called command does is not known here, so the worst is said.
    tool.annotations = Some(ToolAnnotations::from_raw(
        None,
        Some(read),
        Some(!read),
        Some(read),
        Some(!read),
    ));
    tool
}
