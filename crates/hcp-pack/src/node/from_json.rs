//! JSON into nodes: every token with its place, no key twice, numbers as written.

use std::collections::HashSet;

use hcp_spec::json::{Event, JsonError, Scanner, unescape};

use super::{Data, Entry, Fault, Node, is_magic};
use crate::source::Span;
use crate::wording::ticked;

/// How deep a manifest may nest.
const MAX_DEPTH: usize = 128;

/// Reads one JSON text.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader {
        text,
        scanner: Scanner::new(text, MAX_DEPTH),
    };
    let first = reader.event()?;
    let node = reader.node(first)?;
    reader.next()?;
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, event: Event<'a>) -> Result<Node, Fault> {
        let end = self.scanner.offset();
        let before = |length: usize| end.saturating_sub(length)..end;
        let (span, data) = match event {
            Event::ObjectStart => return self.object(end.saturating_sub(1)),
            Event::ArrayStart => return self.array(end.saturating_sub(1)),
            Event::String(raw) => (before(raw.len()), Data::String(self.unescape(raw)?)),
            Event::Number(raw) => (before(raw.len()), Data::Number(raw.to_owned())),
            Event::Bool(value) => (before(if value { 4 } else { 5 }), Data::Bool(value)),
            Event::Null => (before(4), Data::Null),
            Event::Key(_) | Event::ObjectEnd | Event::ArrayEnd => return Err(self.unfinished()),
        };
        Ok(Node { span, data })
    }

    fn object(&mut self, start: usize) -> Result<Node, Fault> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        loop {
            match self.event()? {
                Event::ObjectEnd => break,
                Event::Key(raw) => {
                    let key_span = self.span_of(raw);
                    let key = self.unescape(raw)?;
                    if is_magic(&key) {
                        return Err(fault(key_span, "this key is reserved".to_owned()));
                    }
                    if !seen.insert(key.clone()) {
                        return Err(fault(
                            key_span,
                            format!("key {} is given twice", ticked(&key)),
                        ));
                    }
                    let event = self.event()?;
                    let value = self.node(event)?;
                    entries.push(Entry {
                        key,
                        key_span,
                        value,
                    });
                }
                _ => return Err(self.unfinished()),
            }
        }
        Ok(Node {
            span: start..self.scanner.offset(),
            data: Data::Table(entries),
        })
    }

    fn array(&mut self, start: usize) -> Result<Node, Fault> {
        let mut elements = Vec::new();
        loop {
            match self.event()? {
                Event::ArrayEnd => break,
                event => elements.push(self.node(event)?),
            }
        }
        Ok(Node {
            span: start..self.scanner.offset(),
            data: Data::Array(elements),
        })
    }

    fn event(&mut self) -> Result<Event<'a>, Fault> {
        self.next()?.ok_or_else(|| self.unfinished())
    }

    fn next(&mut self) -> Result<Option<Event<'a>>, Fault> {
        self.scanner.next().map_err(|error| {
            let offset = match error {
                JsonError::Syntax { offset, .. } => offset,
                _ => self.scanner.offset(),
            };
            let message = match error {
                JsonError::Syntax { what, .. } => format!("not JSON: expected {what}"),
                other => other.to_string(),
            };
            fault(offset..offset, message)
        })
    }

    fn unescape(&self, raw: &str) -> Result<String, Fault> {
        unescape(raw).ok_or_else(|| {
            fault(
                self.span_of(raw),
                "an escape stands for half a character".to_owned(),
            )
        })
    }

    /// Where a slice of the text stands in it.
    fn span_of(&self, raw: &str) -> Span {
        let start = (raw.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        start..start + raw.len()
    }

    fn unfinished(&self) -> Fault {
        let offset = self.scanner.offset();
        fault(
            offset..offset,
            "not JSON: the text ends too early".to_owned(),
        )
    }
}

fn fault(span: Span, message: String) -> Fault {
    Fault {
        span,
        message,
        hint: None,
    }
}
