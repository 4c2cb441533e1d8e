//! What came out of one call, read once.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::corpus::FaceKind;
use crate::protocol::Reply;

/// What came out of one call.
#[derive(Clone, Debug)]
pub struct Seen {
    face: FaceKind,
    pub(crate) reply: Reply,
    /// The output as JSON, when it is.
    pub(crate) value: Option<Value>,
    /// The `result` of the envelope, as it was written.
    pub(crate) result_text: Option<String>,
}

impl Seen {
    /// Reads what a runtime answered on `face`.
    pub fn new(face: FaceKind, reply: Reply) -> Self {
        let text = reply.output.as_deref().unwrap_or_default();
        let result_text = serde_json::from_str::<indexmap::IndexMap<String, Box<RawValue>>>(text)
            .ok()
            .and_then(|fields| fields.get("result").map(|raw| raw.get().to_owned()));
        Self {
            face,
            value: serde_json::from_str(text).ok(),
            result_text,
            reply,
        }
    }

    /// The output as a result envelope. The CLI face may print a bare result instead.
    pub(crate) fn envelope(&self) -> Option<&Map<String, Value>> {
        let fields = self.value.as_ref()?.as_object()?;
        (self.face == FaceKind::Json || fields.contains_key("ok")).then_some(fields)
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.envelope()?.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    pub(crate) fn ok(&self) -> Option<bool> {
        match self.envelope() {
            Some(fields) => fields.get("ok")?.as_bool(),
            None if self.face == FaceKind::Cli => Some(self.reply.exit_status? == 0),
            None => None,
        }
    }

    pub(crate) fn result(&self) -> Option<&Value> {
        match self.envelope() {
            Some(fields) => fields.get("result"),
            None => self.value.as_ref(),
        }
    }

    pub(crate) fn shown(&self) -> String {
        let reply = &self.reply;
        match (&reply.output, &reply.transport_error) {
            (Some(output), _) => format!("`{}`", cut(output.trim_end())),
            (None, Some(error)) => format!("the transport error `{}`", cut(error)),
            (None, None) => "no output".to_owned(),
        }
    }
}

/// A text for one line of a report.
fn cut(text: &str) -> String {
    const MOST: usize = 300;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{start}…")
}
