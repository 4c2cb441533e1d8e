//! What a helper answered, parsed strictly: one version, no unknown key, no key twice.

use hcp_spec::json::parse_value;
use jiff::Timestamp;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::error::BindingError;
use crate::secret::Secret;

/// The object, `env` in it, and the same again for whatever a helper makes up.
const DEPTH: usize = 4;

/// An answer of the agreed form.
pub(crate) struct Answer {
    environment: Vec<(String, Secret)>,
    pub(crate) expires_at: Timestamp,
    /// What the helper wants to be told when the credential is no longer needed.
    pub(crate) revoke: Option<Zeroizing<String>>,
}

impl Answer {
    /// Reads `{"version":1,"env":{…},"expires_at":"…","revoke":"…"}`, the last of which is optional.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, BindingError> {
        read(bytes).ok_or(BindingError::NotAnAnswer)
    }

    /// Takes out the value of a variable.
    pub(crate) fn take(&mut self, variable: &str) -> Option<Secret> {
        let index = self
            .environment
            .iter()
            .position(|(name, _)| name == variable)?;
        Some(self.environment.swap_remove(index).1)
    }

    /// Whether every variable was taken out.
    pub(crate) fn is_empty(&self) -> bool {
        self.environment.is_empty()
    }
}

fn read(bytes: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(bytes).ok()?;
    let Value::Object(mut fields) = parse_value(text, DEPTH).ok()? else {
        return None;
    };
    let version = fields.remove("version")?;
    let Value::Object(environment) = fields.remove("env")? else {
        return None;
    };
    let environment = secrets(environment)?;
    let expires_at = string(fields.remove("expires_at")?)?.parse().ok()?;
    let revoke = match fields.remove("revoke") {
        Some(value) => Some(Zeroizing::new(string(value)?)),
        None => None,
    };
    (version.as_u64() == Some(1) && fields.is_empty()).then_some(Answer {
        environment,
        expires_at,
        revoke,
    })
}

fn secrets(environment: Map<String, Value>) -> Option<Vec<(String, Secret)>> {
    let secret = |value| Some(Secret::new(Zeroizing::new(string(value)?.into_bytes())));
    let pairs = environment.into_iter();
    pairs
        .map(|(name, value)| Some((name, secret(value)?)))
        .collect()
}

fn string(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn an_answer_has_one_form() {
        let whole =
            r#"{"version":1,"env":{"A":"x"},"expires_at":"2030-01-02T03:04:05Z","revoke":"r"}"#;
        let mut answer = Answer::parse(whole.as_bytes()).ok().unwrap();
        assert_eq!(answer.take("A").unwrap().expose(), b"x");
        assert!(answer.is_empty());
        assert_eq!(answer.revoke.as_ref().unwrap().as_str(), "r");
        assert_eq!(answer.expires_at.to_string(), "2030-01-02T03:04:05Z");
        for (part, instead) in [
            ("", "x"),
            (r#""version":1,"#, ""),
            (r#""version":1"#, r#""version":2"#),
            (r#""version":1"#, r#""version":"1""#),
            (r#""version":1"#, r#""version":1.0"#),
            (r#""version":1"#, r#""version":1,"version":1"#),
            (r#"{"A":"x"}"#, r#"{"A":1}"#),
            (r#"{"A":"x"}"#, r#"{"A":null}"#),
            (r#"{"A":"x"}"#, r#"{"A":"x","A":"y"}"#),
            (r#"{"A":"x"}"#, "[]"),
            (r#""expires_at":"2030-01-02T03:04:05Z","#, ""),
            ("2030-01-02T03:04:05Z", "2030-01-02T03:04:05"),
            ("2030-01-02T03:04:05Z", "soon"),
            (r#""2030-01-02T03:04:05Z""#, "1893553445"),
            (r#""revoke":"r""#, r#""revoke":null"#),
            (r#""revoke":"r""#, r#""revoke":"r","more":1"#),
        ] {
            let text = whole.replacen(part, instead, 1);
            assert!(Answer::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Answer::parse(b"").is_err());
        assert!(Answer::parse(b"\xff").is_err());
    }
}
