//! Names that the contract gives a form to: pack ids, verb keys, capabilities, Principals, tenants.
//!
//! Each has one parser, and what was parsed is a type of its own. Names are compared byte for byte:
//! nothing is folded or normalised, so a look-alike letter is simply another, refused, name.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// A name that does not have the form its kind asks for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{text}` is not a {kind}: {form}")]
pub struct NameError {
    /// The text as it was given.
    pub text: String,
    /// What it was meant to be.
    pub kind: &'static str,
    /// The form that this kind of name has.
    pub form: &'static str,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $kind:literal, $form:literal, $pattern:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// Reads the name.
            ///
            /// # Errors
            /// [`NameError`] when the text does not have the form of this kind of name.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(NameError { text: text.to_owned(), kind: $kind, form: $form })
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $type {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

name!(
    /// The id of a pack, unique in an installation.
    PackId,
    "pack id",
    "a lowercase letter, then up to 63 lowercase letters, digits or `-`",
    "^[a-z][a-z0-9-]{0,63}$",
    |text| text.len() <= 64 && is_lowercase_word(text)
);
name!(
    /// The key of a command inside its pack; spaces and dots are allowed.
    VerbKey,
    "verb key",
    "1 to 128 printable characters",
    "^[^\\p{C}]{1,128}$",
    |text| {
        let length = text.chars().count();
        (1..=128).contains(&length)
            && !text.starts_with(char::is_whitespace)
            && !text.ends_with(char::is_whitespace)
            && text.chars().all(is_printable)
    }
);
name!(
    /// What a Policy entry asks a Principal to hold.
    Capability,
    "capability",
    "words of letters, digits, `.`, `_` and `-`, joined by `:`, like `ledger:write`",
    "^[A-Za-z0-9._-]+(:[A-Za-z0-9._-]+)*$",
    |text| text.len() <= 256 && text.split(':').all(is_word)
);
name!(
    /// What a grant names: a capability, one that ends in `:*`, or `*` alone.
    CapabilityPattern,
    "capability",
    "words joined by `:`, whole, or ending in `:*`, or `*` alone",
    "^(\\*|[A-Za-z0-9._-]+(:[A-Za-z0-9._-]+)*(:\\*)?)$",
    |text| {
        let words = text.strip_suffix(":*").unwrap_or(text);
        text == "*" || (text.len() <= 256 && words.split(':').all(is_word))
    }
);
name!(
    /// Who acts: `local:root`, `human:ann`, `agent:builder`, `service:ci`.
    PrincipalName,
    "Principal",
    "`local:`, `human:`, `agent:` or `service:` and a name, like `agent:builder`",
    "^(local|human|agent|service):[A-Za-z0-9._@-]{1,64}$",
    |text| text.split_once(':').is_some_and(|(kind, name)| {
        matches!(kind, "local" | "human" | "agent" | "service")
            && (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte))
    })
);
name!(
    /// A tenant of the installation.
    TenantId,
    "tenant",
    "a lowercase letter, then up to 63 lowercase letters, digits or `-`",
    "^[a-z][a-z0-9-]{0,63}$",
    |text| text.len() <= 64 && is_lowercase_word(text)
);
name!(
    /// A project inside a tenant.
    ProjectId,
    "project",
    "a lowercase letter, then up to 63 lowercase letters, digits or `-`",
    "^[a-z][a-z0-9-]{0,63}$",
    |text| text.len() <= 64 && is_lowercase_word(text)
);

impl PrincipalName {
    /// Whether a person stands behind it; only a person may answer for another's call.
    pub fn is_human(&self) -> bool {
        self.0.starts_with("human:") || self.0.starts_with("local:")
    }
}

impl CapabilityPattern {
    /// Whether a grant of this pattern covers `capability`: the same words, or a leading run of
    /// whole words before the final `:*`. The bare `*` never covers a destructive verb.
    pub fn covers(&self, capability: &Capability, destructive: bool) -> bool {
        if self.0 == "*" {
            return !destructive;
        }
        match self.0.strip_suffix(":*") {
            Some(words) => capability
                .0
                .strip_prefix(words)
                .is_some_and(|rest| rest.starts_with(':') && rest.len() > 1),
            None => self.0 == capability.0,
        }
    }
}

/// `<pack>.<verb>` as refusals, policies and Bindings write it: the pack id stands once, also where
/// the verb key begins with it.
pub fn target(pack_id: &str, verb_key: &str) -> String {
    let qualified = verb_key
        .strip_prefix(pack_id)
        .is_some_and(|rest| rest.starts_with('.') && rest.len() > 1);
    if qualified {
        verb_key.to_owned()
    } else {
        format!("{pack_id}.{verb_key}")
    }
}

/// The verb key without what stands before its first dot (§6.4), split into its words.
pub fn command_tail(verb_key: &str) -> impl Iterator<Item = &str> {
    verb_key
        .split_once('.')
        .map_or(verb_key, |(_, tail)| tail)
        .split_whitespace()
}

fn is_lowercase_word(text: &str) -> bool {
    text.starts_with(|character: char| character.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Neither a control character nor one that changes the direction or place of the text around it.
pub fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pack_ids_are_plain_lowercase_words() {
        for text in ["a", "ledger", "a-1", &"a".repeat(64)] {
            assert!(PackId::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "1a",
            "-a",
            "A",
            "a_b",
            "lеdger",
            "ｌedger",
            "a ",
            &"a".repeat(65),
        ] {
            assert!(PackId::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_cover_whole_words_only() {
        let cases = [
            ("ledger:write", "ledger:write", true),
            ("ledger:*", "ledger:write", true),
            ("ledger:*", "ledger:write:big", true),
            ("ledger:*", "ledger", false),
            ("ledger:*", "ledgers:write", false),
            ("ledger:w:*", "ledger:write", false),
            ("ledger", "ledger:write", false),
            ("*", "ledger:write", true),
        ];
        for (pattern, capability, covers) in cases {
            let pattern = CapabilityPattern::parse(pattern).unwrap();
            let capability = Capability::parse(capability).unwrap();
            assert_eq!(
                pattern.covers(&capability, false),
                covers,
                "{pattern} {capability}"
            );
        }
        let star = CapabilityPattern::parse("*").unwrap();
        assert!(!star.covers(&Capability::parse("ledger:close").unwrap(), true));
        for text in ["", ":", "a:", "a:*:b", "**", "a*", "a b", ":*"] {
            assert!(CapabilityPattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn targets_name_the_pack_once() {
        assert_eq!(target("ledger", "transfer"), "ledger.transfer");
        assert_eq!(target("ledger", "ledger.transfer"), "ledger.transfer");
        assert_eq!(target("ledger", "ledgers.x"), "ledger.ledgers.x");
        assert_eq!(target("ledger", "ledger"), "ledger.ledger");
    }

    #[test]
    fn tails_start_after_the_first_dot() {
        let tail = |key| command_tail(key).collect::<Vec<_>>();
        assert_eq!(tail("ledger.account  list"), ["account", "list"]);
        assert_eq!(tail("account list"), ["account", "list"]);
        assert_eq!(tail("a.b.c"), ["b.c"]);
    }

    #[test]
    fn verb_keys_hold_nothing_that_hides() {
        assert!(VerbKey::parse("account list").is_ok());
        for text in [
            "",
            " a",
            "a\n",
            "a\u{202e}b",
            "a\u{200b}b",
            &"a".repeat(129),
        ] {
            assert!(VerbKey::parse(text).is_err(), "{text:?}");
        }
    }
}
