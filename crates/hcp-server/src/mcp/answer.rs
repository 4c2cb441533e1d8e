//! An answer of the runtime as a result of the protocol.
//!
//! The text of the result is the exact envelope. A refusal is a result like any other (§6.2), marked
//! as an error for the model. What stands beside the envelope goes into `_meta`.

use std::sync::Arc;

use hcp_core::{Answer, mend};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Resource};
use serde_json::{Value, json};

use super::results::KeptResults;

/// The longest text that is given whole, in bytes.
pub(super) const LONGEST_TEXT: usize = 64 << 10;

/// The result of a call, and its envelope verbatim.
pub(super) fn result(answer: &Answer, kept: &KeptResults) -> (CallToolResult, Arc<str>) {
    let text: Arc<str> = answer.envelope.to_json().into();
    let mut result = CallToolResult::success(content(&text, kept));
    result.is_error = Some(!answer.envelope.ok);
    result.meta = Some(MetaObject(meta(answer)));
    (result, text)
}

/// The text, or its beginning with a notice and where the whole is to be had.
fn content(text: &Arc<str>, kept: &KeptResults) -> Vec<ContentBlock> {
    if text.len() <= LONGEST_TEXT {
        return vec![ContentBlock::text(&**text)];
    }
    let head = text.get(..cut(text, LONGEST_TEXT)).unwrap_or_default();
    let uri = kept.keep(text.clone());
    let notice = format!(
        "The text above ends after {} of {} bytes. The whole is the resource {uri}; \
         {uri}?offset=N&length=M reads a part of it.",
        head.len(),
        text.len()
    );
    let link = Resource::new(uri, "whole result")
        .with_mime_type("application/json")
        .with_size(text.len() as u64);
    vec![
        ContentBlock::text(head),
        ContentBlock::text(notice),
        ContentBlock::resource_link(link),
    ]
}

/// The last place at or before `most` where a character begins.
pub(super) fn cut(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

fn meta(answer: &Answer) -> JsonObject {
    let metadata = &answer.metadata;
    let mut meta = JsonObject::new();
    let mut tell = |name: &str, value: Value| {
        if !value.is_null() {
            meta.insert(format!("hcp/{name}"), value);
        }
    };
    tell("audit_seq", json!(metadata.audit_seq));
    let micros = u64::try_from(metadata.duration.as_micros()).unwrap_or(u64::MAX);
    tell("duration_us", json!(micros));
    if let Some(run) = &metadata.run {
        tell("isolation", json!(run.isolation));
        tell("binding", json!(run.binding));
        tell("exit_code", json!(run.exit_code));
        tell("stdout_bytes", json!(run.stdout_bytes));
        tell("stderr_bytes", json!(run.stderr_bytes));
        if run.replaced {
            tell("replaced", json!(true));
        }
        if !run.unenforced.is_empty() {
            tell("unenforced", json!(run.unenforced));
        }
    }
    if let Some(refused) = answer.refused() {
        let (pack, verb) = (&answer.envelope.pack_id, &answer.envelope.verb_key);
        tell("next", json!(mend(&refused, pack, verb)));
    }
    meta
}
