//! The pipe to the client: bounded lines in, whole messages out.
//!
//! Reading and writing block, each in a thread of its own, and meet the protocol in channels that
//! hold a few messages. A client that does not read its answers is not read from either.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc as blocking;

use hcp_sandbox::Cancel;
use hcp_spec::envelope::MAX_BYTES;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ClientJsonRpcMessage, ClientNotification, ContentBlock, JsonRpcMessage,
    MetaObject, RequestId, ResultType, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::exchange::{Closing, Exchange};
use super::incoming::{Incoming, read};
use crate::WRAPPER;
use crate::lines::{Line, LineReader, Next};
use crate::protocol_output::PatientWriter;

/// Lines that were read and not looked at yet.
const LINES_AHEAD: usize = 4;
/// Messages on their way to the client.
const MESSAGES_AHEAD: usize = 4;

/// The client's side of the protocol.
pub(super) struct Pipe {
    lines: mpsc::Receiver<Line>,
    output: mpsc::Sender<Message>,
    exchange: Arc<Exchange>,
    /// Answers to lines that were no messages.
    refused: VecDeque<Vec<u8>>,
    stop: Cancel,
    stopped: Arc<tokio::sync::Notify>,
}

/// A message to write, and whom to tell when it was.
struct Message {
    bytes: Vec<u8>,
    written: oneshot::Sender<()>,
}

impl Pipe {
    /// Reads `input` until it ends or `stop` is switched on, which `stopped` tells too. `lost` is
    /// called when nothing can be written any more. What is returned beside ends when the last
    /// message was written.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn open(
        input: OwnedFd,
        output: File,
        exchange: Arc<Exchange>,
        stop: Cancel,
        stopped: Arc<tokio::sync::Notify>,
        lost: impl FnOnce() + Send + 'static,
    ) -> io::Result<(Self, blocking::Receiver<Infallible>)> {
        let (line_found, lines) = mpsc::channel(LINES_AHEAD);
        let (message_made, messages) = mpsc::channel(MESSAGES_AHEAD);
        let (last_written, all_written) = blocking::channel();
        let reading_stop = stop.clone();
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        named("reader").spawn(move || read_lines(&input, &reading_stop, &line_found))?;
        named("writer").spawn(move || {
            write_messages(output, messages, lost);
            drop(last_written);
        })?;
        let pipe = Self {
            lines,
            output: message_made,
            exchange,
            refused: VecDeque::new(),
            stop,
            stopped,
        };
        Ok((pipe, all_written))
    }

    /// What the client sent, with ids of our own; `None` for what is not to be acted on.
    fn admit(&self, mut message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                request.id = self.exchange.open(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                {
                    let theirs = cancelled.params.request_id.as_ref()?;
                    cancelled.params.request_id = Some(self.exchange.take_back(theirs)?);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    /// Waits until everything that was asked is answered, or serving is to end.
    async fn finish(&self) {
        loop {
            let changed = self.exchange.changed();
            let stopped = self.stopped.notified();
            if self.exchange.is_idle() || self.stop.is_cancelled() {
                return;
            }
            tokio::select! { () = changed => {}, () = stopped => {} }
        }
    }

    async fn wait_for_room(&self) {
        loop {
            let changed = self.exchange.changed();
            let stopped = self.stopped.notified();
            if !self.exchange.is_full() || self.stop.is_cancelled() {
                return;
            }
            tokio::select! { () = changed => {}, () = stopped => {} }
        }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = Infallible;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (exchange, output) = (self.exchange.clone(), self.output.clone());
        async move {
            let Some((bytes, closing)) = wire(&exchange, item) else {
                return Ok(());
            };
            let (written, was_written) = oneshot::channel();
            // A client that is gone is noticed where it is watched; there is nobody to tell here.
            if output.send(Message { bytes, written }).await.is_ok() {
                let _ = was_written.await;
            }
            if let Some(closing) = closing {
                drop(closing);
                exchange.written();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // What is awaited here may be given up at any time and begun again: nothing is taken out
            // before there is a place for it.
            if let Some(bytes) = self.refused.front() {
                let place = self.output.reserve().await.ok()?;
                let (written, _) = oneshot::channel();
                place.send(Message {
                    bytes: bytes.clone(),
                    written,
                });
                self.refused.pop_front();
                continue;
            }
            self.wait_for_room().await;
            let Some(line) = self.lines.recv().await else {
                self.finish().await;
                return None;
            };
            match read(&line) {
                Some(Incoming::Message(message)) => {
                    if let Some(message) = self.admit(*message) {
                        return Some(message);
                    }
                }
                Some(Incoming::Refused(answer)) => {
                    self.refused.push_back(answer.to_string().into_bytes());
                }
                None => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn read_lines(input: &OwnedFd, stop: &Cancel, found: &mpsc::Sender<Line>) {
    let mut reader = LineReader::new(input.as_fd(), stop, MAX_BYTES + WRAPPER);
    while let Next::Line(line) = reader.next() {
        if found.blocking_send(line).is_err() {
            return;
        }
    }
}

fn write_messages(output: File, mut messages: mpsc::Receiver<Message>, lost: impl FnOnce()) {
    let mut output = PatientWriter(output);
    while let Some(Message { mut bytes, written }) = messages.blocking_recv() {
        bytes.push(b'\n');
        if let Err(error) = output.write_all(&bytes) {
            tracing::debug!("a message could not be written: {error}");
            lost();
            return;
        }
        let _ = written.send(());
    }
}

/// A message as it is written, under the id that the client knows; `None` for the answer to a request
/// that was taken back.
fn wire(exchange: &Exchange, item: ServerJsonRpcMessage) -> Option<(Vec<u8>, Option<Closing>)> {
    let (item, closing) = match item {
        JsonRpcMessage::Response(mut response) => {
            let closing = exchange.close(&response.id)?;
            response.id = closing.external.clone();
            (JsonRpcMessage::Response(response), Some(closing))
        }
        JsonRpcMessage::Error(mut error) => {
            let closing = match &error.id {
                Some(id) => Some(exchange.close(id)?),
                None => None,
            };
            error.id = closing.as_ref().map(|closing| closing.external.clone());
            (JsonRpcMessage::Error(error), closing)
        }
        other => (other, None),
    };
    let structured = closing
        .as_ref()
        .and_then(|closing| closing.answer.as_ref())
        .map(|answer| &*answer.structured);
    let bytes = match (&item, structured) {
        (JsonRpcMessage::Response(response), Some(structured)) => match &response.result {
            ServerResult::CallToolResult(result) => Response::of(&response.id, result, structured)
                .and_then(|response| serde_json::to_vec(&response)),
            _ => serde_json::to_vec(&item),
        },
        _ => serde_json::to_vec(&item),
    };
    match bytes {
        Ok(bytes) => Some((bytes, closing)),
        Err(error) => {
            tracing::error!("a message could not be written as JSON: {error}");
            if closing.is_some() {
                exchange.written();
            }
            None
        }
    }
}

/// The answer to a call, with the envelope verbatim.
#[derive(Serialize)]
struct Response<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: Called<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Called<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'a ResultType>,
    content: &'a [ContentBlock],
    structured_content: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a MetaObject>,
}

impl<'a> Response<'a> {
    fn of(
        id: &'a RequestId,
        result: &'a CallToolResult,
        structured: &'a str,
    ) -> serde_json::Result<Self> {
        Ok(Self {
            jsonrpc: "2.0",
            id,
            result: Called {
                result_type: result.result_type.as_ref(),
                content: &result.content,
                structured_content: serde_json::from_str(structured)?,
                is_error: result.is_error,
                meta: result.meta.as_ref(),
            },
        })
    }
}
