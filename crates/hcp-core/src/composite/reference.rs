//! References of a composite: `args.to`, `steps.quote.result.legs[0].price`, and where they lead.
//!
//! A result is never turned into values on the way. A reference is followed in the text that the
//! tool wrote, so what it finds has the digits and the escapes that the tool gave it.

use std::fmt;

use hcp_spec::ResultValue;
use hcp_spec::envelope::Arguments;
use hcp_spec::json::{Event, JsonError, Scanner, unescape};
use serde_json::Value;

/// A place in the arguments of the composite or in the result of one of its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) root: Root,
    pub(super) path: Vec<Segment>,
    /// As the manifest writes it, for messages.
    text: String,
}

/// What a reference begins at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The argument with this name.
    Argument(String),
    /// The result of the step at this place of the plan.
    Result(usize),
}

/// One step further in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
}

/// How far a composite came: what its references can lead to.
pub(super) struct Known<'a> {
    pub(super) args: &'a Arguments,
    /// By the place of the step in the plan; `None` for one that has not ended well.
    pub(super) results: Vec<Option<Taken<'a>>>,
}

/// What a step left behind.
#[derive(Clone, Copy)]
pub(super) enum Taken<'a> {
    Result(&'a ResultValue),
    /// Its condition was false.
    Skipped,
}

/// What a reference leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found<'a> {
    /// A value of the arguments.
    Value(&'a Value),
    /// A JSON text of a result, as the tool wrote it.
    Json(&'a str),
    /// An argument that was not given, or anything of a step that was skipped.
    Nothing,
}

/// Why a reference or template has no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem(pub(super) String);

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Reference {
    /// Reads what stands between `{{` and `}}`; `steps` are the names of the plan, in its order.
    ///
    /// # Errors
    /// What is wrong with it, to be read behind its text.
    pub(super) fn parse(text: &str, steps: &[&str]) -> Result<Self, String> {
        let mut rest = text;
        let mut segments = Vec::new();
        while !rest.is_empty() {
            let (segment, after) = next_segment(rest, segments.is_empty())
                .ok_or("is no path: write names with dots between, and `[0]` or `[\"key\"]`")?;
            segments.push(segment);
            rest = after;
        }
        Self::of_segments(text.to_owned(), segments, steps)
    }

    /// The same from segments that are taken apart already.
    ///
    /// # Errors
    /// As [`Reference::parse`].
    pub(super) fn of_segments(
        text: String,
        segments: Vec<Segment>,
        steps: &[&str],
    ) -> Result<Self, String> {
        let mut segments = segments.into_iter();
        let mut key = || match segments.next() {
            Some(Segment::Key(key)) => Some(key),
            _ => None,
        };
        let (root, name) = (key(), key());
        let root = match (root.as_deref(), name) {
            (Some("args"), Some(name)) => Root::Argument(name),
            (Some("steps"), Some(name)) => {
                let place = steps.iter().position(|step| *step == name);
                if key().as_deref() != Some("result") {
                    return Err("takes something else than the `result` of a step".to_owned());
                }
                Root::Result(place.ok_or("names no step of this command")?)
            }
            _ => {
                return Err("must begin with `args.<name>` or `steps.<name>.result`".to_owned());
            }
        };
        Ok(Self {
            root,
            path: segments.collect(),
            text,
        })
    }

    /// The step that must have ended before this can be followed.
    pub(super) const fn step(&self) -> Option<usize> {
        match &self.root {
            Root::Result(step) => Some(*step),
            Root::Argument(_) => None,
        }
    }

    /// Follows the reference.
    ///
    /// # Errors
    /// When it leads nowhere in a value that is there.
    pub(super) fn find<'a>(&self, known: &Known<'a>) -> Result<Found<'a>, Problem> {
        match &self.root {
            Root::Argument(name) => {
                let Some(mut value) = known.args.get(name) else {
                    return Ok(Found::Nothing);
                };
                for segment in &self.path {
                    value = inner(value, segment).ok_or_else(|| self.leads_nowhere())?;
                }
                Ok(Found::Value(value))
            }
            Root::Result(step) => match known.results.get(*step) {
                Some(Some(Taken::Skipped)) => Ok(Found::Nothing),
                Some(Some(Taken::Result(result))) => {
                    let mut json = result.as_json();
                    for segment in &self.path {
                        json = inner_text(json, segment)
                            .map_err(|error| Problem(format!("`{self}`: {error}")))?
                            .ok_or_else(|| self.leads_nowhere())?;
                    }
                    Ok(Found::Json(json))
                }
                _ => Err(Problem(format!("`{self}` is not known yet"))),
            },
        }
    }

    fn leads_nowhere(&self) -> Problem {
        Problem(format!("`{self}` leads nowhere"))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The first segment of a path and the rest. `.key` and `[…]` follow anything, a bare key only
/// begins a path.
fn next_segment(text: &str, first: bool) -> Option<(Segment, &str)> {
    if let Some(inside) = text.strip_prefix('[') {
        if first {
            return None;
        }
        if inside.starts_with('"') {
            let end = closing_quote(inside)?;
            let key = unescape(inside.get(..end)?)?;
            let rest = inside.get(end..)?.strip_prefix(']')?;
            return Some((Segment::Key(key), rest));
        }
        let (digits, rest) = inside.split_once(']')?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        return Some((Segment::Index(digits.parse().ok()?), rest));
    }
    let text = if first { text } else { text.strip_prefix('.')? };
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (key, rest) = text.split_at_checked(end)?;
    let plain = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c == ']');
    plain.then(|| (Segment::Key(key.to_owned()), rest))
}

/// The offset behind the quote that closes the string which `text` begins with.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn inner<'a>(value: &'a Value, segment: &Segment) -> Option<&'a Value> {
    match segment {
        Segment::Key(key) => value.as_object()?.get(key),
        Segment::Index(index) => value.as_array()?.get(*index),
    }
}

/// The text of a member or element. A key that stands twice could mean either, so it is refused.
fn inner_text<'a>(json: &'a str, segment: &Segment) -> Result<Option<&'a str>, JsonError> {
    let mut scanner = Scanner::new(json, usize::MAX);
    match (scanner.next()?, segment) {
        (Some(Event::ObjectStart), Segment::Key(wanted)) => {
            let mut found = None;
            while let Some(Event::Key(raw)) = scanner.next()? {
                let value = value_text(json, &mut scanner)?;
                if unescape(raw).is_some_and(|key| key == *wanted) && found.replace(value).is_some()
                {
                    let key = wanted.clone();
                    return Err(JsonError::DuplicateKey { key });
                }
            }
            Ok(found)
        }
        (Some(Event::ArrayStart), Segment::Index(wanted)) => {
            for _ in 0..*wanted {
                if value_text(json, &mut scanner)?.is_empty() {
                    return Ok(None);
                }
            }
            let text = value_text(json, &mut scanner)?;
            Ok((!text.is_empty()).then_some(text))
        }
        _ => Ok(None),
    }
}

/// The text of the value that comes next; empty at the end of an array.
fn value_text<'a>(json: &'a str, scanner: &mut Scanner<'a>) -> Result<&'a str, JsonError> {
    let depth = scanner.depth();
    let length = match scanner.next()? {
        Some(Event::ObjectStart | Event::ArrayStart) => 1,
        Some(Event::String(raw) | Event::Number(raw)) => raw.len(),
        Some(Event::Bool(true) | Event::Null) => 4,
        Some(Event::Bool(false)) => 5,
        Some(Event::ObjectEnd | Event::ArrayEnd | Event::Key(_)) | None => return Ok(""),
    };
    let start = scanner.offset().saturating_sub(length);
    while scanner.depth() > depth {
        scanner.next()?;
    }
    Ok(json.get(start..scanner.offset()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(json: &str, reference: &str) -> Result<String, String> {
        let result = ResultValue::from_compact_json(json.to_owned());
        let args = Arguments::new();
        let known = Known {
            args: &args,
            results: vec![Some(Taken::Result(&result))],
        };
        let reference = Reference::parse(reference, &["s"])?;
        match reference.find(&known) {
            Ok(Found::Json(text)) => Ok(text.to_owned()),
            Ok(other) => Err(format!("{other:?}")),
            Err(problem) => Err(problem.to_string()),
        }
    }

    #[test]
    fn what_is_found_is_the_text_that_the_tool_wrote() {
        let json = r#"{"n":1.10,"big":9007199254740993,"e":1e400,"l":[[],{"x":"\ud800"},-0,null,true,false],"":{"a.b":3},"\u0061":4}"#;
        for (path, expected) in [
            ("", json),
            (".n", "1.10"),
            (".big", "9007199254740993"),
            (".e", "1e400"),
            (".l[0]", "[]"),
            (".l[1].x", "\"\\ud800\""),
            (".l[2]", "-0"),
            (".l[3]", "null"),
            (".l[5]", "false"),
            ("[\"\"][\"a.b\"]", "3"),
            (".a", "4"),
        ] {
            let found = follow(json, &format!("steps.s.result{path}"));
            assert_eq!(found.as_deref(), Ok(expected), "{path}");
        }
        for path in [
            ".x",
            ".n.x",
            ".l[6]",
            ".l[0][0]",
            ".l.0",
            "[0]",
            ".l[1].x[0]",
        ] {
            let reference = format!("steps.s.result{path}");
            let expected = format!("`{reference}` leads nowhere");
            assert_eq!(follow(json, &reference), Err(expected));
        }
    }

    #[test]
    fn a_key_that_could_mean_either_is_refused() {
        let found = follow(r#"{"a":1,"\u0061":2,"b":3}"#, "steps.s.result.a");
        assert!(found.unwrap_err().contains("given twice"));
        assert!(follow(r#"{"a":1,"a":2,"b":3}"#, "steps.s.result.b").is_ok());
    }

    #[test]
    fn only_paths_are_read() {
        for text in [
            "",
            "args",
            "args.",
            "args..x",
            ".args.x",
            "args[0]",
            "args.x[",
            "args.x[a]",
            "args.x[-1]",
            "args.x y",
            "steps.s",
            "steps.s.stdout",
            "steps.s.result.",
            "steps.t.result",
            "env.HOME",
            "args.x[\"a]",
            "args.x]",
            "[\"args\"].x",
        ] {
            assert!(Reference::parse(text, &["s"]).is_err(), "{text}");
        }
    }

    #[test]
    fn any_path_into_any_value_finds_what_serde_finds() {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\\u{e9}\n]{0,3}".prop_map(Value::from),
        ];
        let tree = leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c.\"]{0,2}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        });
        let segment = prop_oneof![
            "[a-c.\"]{0,2}".prop_map(Segment::Key),
            (0_usize..4).prop_map(Segment::Index),
        ];
        let path = prop::collection::vec(segment, 0..4);
        proptest!(ProptestConfig::with_cases(512), |(tree in tree, path in path)| {
            let mut expected = Some(&tree);
            for segment in &path {
                expected = expected.and_then(|value| inner(value, segment));
            }
            let text = path.iter().fold("steps.s.result".to_owned(), |text, segment| match segment {
                Segment::Key(key) => format!("{text}[{}]", Value::from(key.as_str())),
                Segment::Index(index) => format!("{text}[{index}]"),
            });
            let found = follow(&tree.to_string(), &text).ok();
            prop_assert_eq!(found, expected.map(Value::to_string));
        });
    }
}
