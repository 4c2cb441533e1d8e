//! The `result` of a call (§6.2): stdout as the tool wrote it, without what was minted for it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hcp_spec::ResultValue;
use hcp_spec::manifest::OutputForm;

use crate::compact::compact;
use crate::redaction::Redactor;

/// What stdout was read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOutput {
    /// The `result` of the envelope.
    pub result: ResultValue,
    /// Whether bytes that were not UTF-8 became U+FFFD; the caller's metadata must say so.
    pub replaced: bool,
}

/// Reads the whole stdout of a child that succeeded (§6.2).
///
/// - `json`: one JSON text stays as it is but for the white space between its tokens (numbers, key
///   order, equal keys and escapes included); anything else is the raw string, untrimmed.
/// - `text`: always the raw string.
/// - `base64`: the bytes, secrets masked, then encoded; nothing is ever replaced.
///
/// Secrets are masked in each form, in JSON by whole token.
pub fn read_result(stdout: Vec<u8>, form: OutputForm, redactor: &Redactor) -> ReadOutput {
    match form {
        OutputForm::Json => {
            let (text, replaced) = decode(stdout, redactor);
            let result = match compact(text) {
                Ok(json) => ResultValue::from_compact_json(redactor.json(json)),
                Err(text) => ResultValue::from_text(&redactor.text(&text)),
            };
            ReadOutput { result, replaced }
        }
        OutputForm::Text => {
            let (text, replaced) = decode(stdout, redactor);
            let result = ResultValue::from_text(&redactor.text(&text));
            ReadOutput { result, replaced }
        }
        OutputForm::Base64 => ReadOutput {
            result: ResultValue::from_compact_json(encode(&redactor.bytes(&stdout))),
            replaced: false,
        },
    }
}

/// The text of some bytes, and whether any had to be replaced.
fn decode(bytes: Vec<u8>, redactor: &Redactor) -> (String, bool) {
    String::from_utf8(bytes).map_or_else(
        |error| {
            let bytes = error.as_bytes();
            // Replacing would tear a secret that is not UTF-8 itself, and then hide it from masking.
            let text = if redactor.has_binary() {
                String::from_utf8_lossy(&redactor.bytes(bytes)).into_owned()
            } else {
                String::from_utf8_lossy(bytes).into_owned()
            };
            (text, true)
        },
        |text| (text, false),
    )
}

fn encode(bytes: &[u8]) -> String {
    let mut json = String::with_capacity(bytes.len() / 3 * 4 + 6);
    json.push('"');
    STANDARD.encode_string(bytes, &mut json);
    json.push('"');
    json
}
