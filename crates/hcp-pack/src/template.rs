//! Argv templates (§6.4): tokens, read once into what they are made of.
//!
//! A token stays a token: whatever a value holds, it ends up inside one argv element or removes it.

use hcp_spec::manifest::{Command, Manifest};
use hcp_spec::name::{command_tail, is_printable};

use crate::finding::{Finding, Place};
use crate::wording::ticked;

/// One token of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// The text itself.
    Literal(String),
    /// `{{name}}` alone.
    Bare(String),
    /// `--flag={{name}}`, with any number of dashes but none.
    Flag {
        /// `--flag`, without the `=`.
        flag: String,
        /// The argument.
        name: String,
    },
    /// Everything else that holds a placeholder.
    Mixed(Vec<Segment>),
}

/// A part of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// The text itself.
    Text(String),
    /// The value of an argument.
    Slot(String),
}

impl Token {
    /// Names of the arguments in this token, from left to right.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let (one, many): (Option<&str>, &[Segment]) = match self {
            Self::Literal(_) => (None, &[]),
            Self::Bare(name) | Self::Flag { name, .. } => (Some(name), &[]),
            Self::Mixed(segments) => (None, segments),
        };
        one.into_iter()
            .chain(many.iter().filter_map(|segment| match segment {
                Segment::Slot(name) => Some(name.as_str()),
                Segment::Text(_) => None,
            }))
    }
}

/// The tokens of a command after the bin: its `cli` without the first token, or the pack's template
/// with `{{verb}}` put in. `None` where there is neither.
///
/// # Errors
/// A [`Finding`] for a token that is no template, with the place it stands at.
pub(crate) fn command_tokens(
    manifest: &Manifest,
    verb_key: &str,
    command: &Command,
) -> Result<Option<Vec<Token>>, Finding> {
    if let Some(cli) = &command.cli {
        let place = Place::keys(["commands", verb_key, "cli"]);
        // The first token is the name of the bin, which `wrap.bin` decides: dropped unread.
        return tokens(cli, &place, 1, None).map(Some);
    }
    let template = manifest
        .wrap
        .as_ref()
        .and_then(|wrap| wrap.argv_template.as_ref());
    let place = Place::keys(["wrap", "argv_template"]);
    template
        .map(|template| tokens(template, &place, 0, Some(verb_key)))
        .transpose()
}

/// Where the token at this position of [`command_tokens`] is written.
pub(crate) fn place_of_token(
    manifest: &Manifest,
    verb_key: &str,
    command: &Command,
    position: usize,
) -> Place {
    let template = manifest
        .wrap
        .as_ref()
        .and_then(|wrap| wrap.argv_template.as_deref())
        .unwrap_or_default();
    let (place, texts, skip) = match &command.cli {
        Some(cli) => {
            let place = Place::keys(["commands", verb_key, "cli"]);
            (place, cli.as_slice(), 1)
        }
        None => (Place::keys(["wrap", "argv_template"]), template, 0),
    };
    let mut left = position;
    for (index, text) in texts.iter().enumerate().skip(skip) {
        let count = match text.as_str() {
            "{{verb}}" => command_tail(verb_key).count(),
            "" => 0,
            _ => 1,
        };
        if left < count {
            return place.index(index);
        }
        left -= count;
    }
    place
}

fn tokens(
    texts: &[String],
    place: &Place,
    skip: usize,
    verb_key: Option<&str>,
) -> Result<Vec<Token>, Finding> {
    let mut tokens = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate().skip(skip) {
        let wrong = |(message, hint): (String, &str)| {
            Finding::new(place.clone().index(index), message).hint(hint)
        };
        match (text.as_str(), verb_key) {
            ("{{verb}}", Some(verb_key)) => {
                tokens.extend(command_tail(verb_key).map(|word| Token::Literal(word.to_owned())));
            }
            // A token that renders empty is removed, and this one always does (§6.4).
            ("", _) => {}
            _ => tokens.push(token(text).map_err(wrong)?),
        }
    }
    Ok(tokens)
}

fn token(text: &str) -> Result<Token, (String, &'static str)> {
    let segments = segments(text)?;
    Ok(match segments.as_slice() {
        [] => Token::Literal(String::new()),
        [Segment::Text(text)] => Token::Literal(text.clone()),
        [Segment::Slot(name)] => Token::Bare(name.clone()),
        [Segment::Text(prefix), Segment::Slot(name)] if is_flag_prefix(prefix) => Token::Flag {
            flag: prefix.trim_end_matches('=').to_owned(),
            name: name.clone(),
        },
        _ => Token::Mixed(segments),
    })
}

/// Whether this is `--flag=`: dashes, a name without `=`, and `=`.
fn is_flag_prefix(prefix: &str) -> bool {
    let name = prefix.trim_start_matches('-');
    prefix.starts_with('-')
        && name
            .strip_suffix('=')
            .is_some_and(|name| !name.is_empty() && !name.contains('='))
}

/// Splits a token at its placeholders.
pub(crate) fn segments(text: &str) -> Result<Vec<Segment>, (String, &'static str)> {
    if text.contains('\0') {
        return Err(("a token holds a NUL byte".to_owned(), "remove it"));
    }
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        literal(before, &mut segments)?;
        let (name, after) = after.split_once("}}").ok_or_else(|| {
            (
                format!("the placeholder in {} has no end", ticked(text)),
                "close it with `}}`",
            )
        })?;
        argument_name(name).map_err(|problem| {
            (
                format!(
                    "{} is no placeholder: {problem}",
                    ticked(&format!("{{{{{name}}}}}"))
                ),
                "write `{{name}}`, without spaces",
            )
        })?;
        if name == "verb" {
            return Err((
                "`{{verb}}` stands only alone in a token of `wrap.argv_template`".to_owned(),
                "write the words of the command itself",
            ));
        }
        segments.push(Segment::Slot(name.to_owned()));
        rest = after;
    }
    literal(rest, &mut segments)?;
    Ok(segments)
}

fn literal(text: &str, segments: &mut Vec<Segment>) -> Result<(), (String, &'static str)> {
    if text.contains("}}") {
        return Err((
            format!("`}}}}` in {} closes no placeholder", ticked(text)),
            "put a space between the braces where they are meant as text",
        ));
    }
    if !text.is_empty() {
        segments.push(Segment::Text(text.to_owned()));
    }
    Ok(())
}

/// Checks the name of an argument: what can be written as `{{name}}`, as `name=value` and as
/// `--name`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn argument_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("a name is missing");
    }
    if name.chars().count() > 128 {
        return Err("a name has at most 128 characters");
    }
    if !name.chars().all(is_printable) {
        return Err("a name holds printable characters only");
    }
    if name.contains(|c: char| c.is_whitespace() || matches!(c, '=' | '{' | '}')) {
        return Err("a name holds no spaces, `=` or braces");
    }
    if name.starts_with('-') || name.ends_with(':') {
        return Err("a name neither begins with `-` nor ends with `:`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Segment, Token, token};

    #[test]
    fn tokens_are_read_into_their_four_forms() {
        let text = |text: &str| Segment::Text(text.to_owned());
        let slot = |name: &str| Segment::Slot(name.to_owned());
        let flag = |flag: &str| Token::Flag {
            flag: flag.to_owned(),
            name: "a".to_owned(),
        };
        let cases = [
            ("list", Token::Literal("list".to_owned())),
            ("{a}", Token::Literal("{a}".to_owned())),
            ("{{a}}", Token::Bare("a".to_owned())),
            ("--x={{a}}", flag("--x")),
            ("-x={{a}}", flag("-x")),
            ("---x-y={{a}}", flag("---x-y")),
            ("x={{a}}", Token::Mixed(vec![text("x="), slot("a")])),
            ("--={{a}}", Token::Mixed(vec![text("--="), slot("a")])),
            (
                "--x={{a}},",
                Token::Mixed(vec![text("--x="), slot("a"), text(",")]),
            ),
            ("--x=y={{a}}", Token::Mixed(vec![text("--x=y="), slot("a")])),
            ("-x{{a}}", Token::Mixed(vec![text("-x"), slot("a")])),
            ("{{a}}{{b}}", Token::Mixed(vec![slot("a"), slot("b")])),
        ];
        for (written, expected) in cases {
            assert_eq!(token(written).unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn broken_placeholders_are_told_apart() {
        let cases = [
            ("{{a", "has no end"),
            ("x{{", "has no end"),
            ("{{}}", "a name is missing"),
            ("{{ a }}", "no spaces"),
            ("{{{a}}}", "braces"),
            ("a}}", "closes no placeholder"),
            ("{{a}}}}", "closes no placeholder"),
            ("{{a=b}}", "`=`"),
            ("{{-a}}", "begins with `-`"),
            ("{{a\u{202e}}}", "printable"),
            ("x{{verb}}", "only alone"),
            ("{{verb}}", "only alone"),
            ("a\0", "NUL"),
        ];
        for (written, expected) in cases {
            let (message, _) = token(written).unwrap_err();
            assert!(message.contains(expected), "{written:?}: {message}");
        }
    }
}
