//! The members of a JSON object as raw text, also of one that breaks off.
//!
//! A message that cannot be accepted is still answered under its id, so as much of it is read as can
//! be; and what is judged elsewhere, by one parser, is cut out as the very text that came in.

use hcp_spec::json::{Event, JsonError, Scanner, unescape};

/// The members of an object, as far as it can be read.
pub(crate) struct Members<'a> {
    /// The whole text.
    pub(crate) text: &'a str,
    /// Names and raw values, in the order they were written.
    pub(crate) found: Vec<(String, &'a str)>,
    /// Where the text stopped to be one object, if it did.
    pub(crate) error: Option<JsonError>,
}

impl<'a> Members<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let mut members = Self {
            text,
            found: Vec::new(),
            error: None,
        };
        members.error = members.scan().err();
        members
    }

    /// The member of this name, when it stands there once.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let mut all = self.found.iter().filter(|(key, _)| key == name);
        match (all.next(), all.next()) {
            (Some((_, raw)), None) => Some(raw),
            _ => None,
        }
    }

    fn scan(&mut self) -> Result<(), JsonError> {
        // How deep a value may be is judged where it is parsed.
        let mut scanner = Scanner::new(self.text, usize::MAX);
        if scanner.next()? != Some(Event::ObjectStart) {
            return Ok(());
        }
        while let Some(Event::Key(raw)) = scanner.next()? {
            let start = scanner.offset();
            scanner.next()?;
            while scanner.depth() > 1 {
                scanner.next()?;
            }
            let value = self.text.get(start..scanner.offset()).unwrap_or_default();
            self.found
                .push((unescape(raw).unwrap_or_default(), value.trim_ascii()));
        }
        scanner.next().map(drop)
    }
}
