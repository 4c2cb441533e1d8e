//! The adapter's side of the protocol, for adapters written in Rust.

use std::io::{BufRead, Write};

use super::{Reply, Request};
use crate::error::KitError;

/// Answers the requests of `input` until it ends, one line each.
///
/// # Errors
/// [`KitError::Io`] when a line can be neither read nor written.
pub fn serve(
    input: impl BufRead,
    mut output: impl Write,
    mut answer: impl FnMut(Request) -> Reply,
) -> Result<(), KitError> {
    for line in input.lines() {
        let line = line.map_err(KitError::io("reading a request"))?;
        let reply = match Request::parse(&line) {
            Ok(request) => answer(request),
            Err(reason) => Reply::failed(reason),
        };
        let text = serde_json::to_string(&reply).unwrap_or_default();
        writeln!(output, "{text}").map_err(KitError::io("writing an answer"))?;
        output.flush().map_err(KitError::io("writing an answer"))?;
    }
    Ok(())
}
