//! The protocol's requests, answered from the host.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hcp_core::Answer;
use hcp_spec::envelope::{ExecEnvelope, InvalidEnvelope, MAX_DEPTH};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::answer::result;
use super::exchange::{Exchange, Prepared};
use super::incoming::{Malformed, too_deep};
use super::listing::{Finder, Listing, Stamp};
use super::names::target;
use super::results::KeptResults;
use crate::AT_ONCE;
use crate::host::Host;
use crate::running::Running;

/// How often a long call tells that it still runs.
const PROGRESS: Duration = Duration::from_secs(1);
/// How often it is looked whether the tools changed.
const LOOK: Duration = Duration::from_millis(500);

/// What one client is served with.
#[derive(Clone)]
pub(super) struct Face {
    pub(super) host: Arc<Host>,
    pub(super) listing: Arc<Listing>,
    pub(super) exchange: Arc<Exchange>,
    pub(super) running: Arc<Running>,
    pub(super) slots: Arc<Semaphore>,
    pub(super) kept: Arc<KeptResults>,
}

impl Face {
    pub(super) fn new(host: Arc<Host>, listing: Listing, exchange: Arc<Exchange>) -> Self {
        Self {
            host,
            listing: Arc::new(listing),
            exchange,
            running: Arc::default(),
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            kept: Arc::default(),
        }
    }

    /// Runs what was asked, in a thread of its own, and tells now and then that it still does.
    async fn call(
        &self,
        asked: Asked,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let taken_back = || ErrorData::internal_error("cancelled", None);
        let permit = tokio::select! {
            permit = self.slots.clone().acquire_owned() => permit.map_err(failed)?,
            () = context.ct.cancelled() => return Err(taken_back()),
        };
        let cancel = self.running.begin(None).map_err(failed)?;
        let mut work = {
            let (host, cancel) = (self.host.clone(), cancel.clone());
            tokio::task::spawn_blocking(move || asked.run(&host, cancel))
        };
        let began = Instant::now();
        let mut cancelled = false;
        let answer = loop {
            tokio::select! {
                answer = &mut work => break answer,
                () = context.ct.cancelled(), if !cancelled => {
                    cancel.cancel();
                    cancelled = true;
                }
                () = tokio::time::sleep(PROGRESS) => tell_progress(&context, began).await,
            }
        };
        self.running.end(None, &cancel);
        let (result, structured) = result(&answer.map_err(failed)?, &self.kept);
        let prepared = Prepared {
            structured,
            _permit: Some(permit),
        };
        self.exchange.prepare(&context.id, prepared);
        Ok(CallToolResponse::Complete(result))
    }

    /// Answers a tool that looks instead of calling.
    async fn look(
        &self,
        look: impl FnOnce(&Listing) -> Result<Value, String> + Send + 'static,
    ) -> Result<CallToolResponse, ErrorData> {
        let listing = self.listing.clone();
        let found = tokio::task::spawn_blocking(move || look(&listing));
        let result = match found.await.map_err(failed)? {
            Ok(value) => {
                let mut result =
                    CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
                result.structured_content = Some(value);
                result
            }
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error)]),
        };
        Ok(CallToolResponse::Complete(result))
    }

    /// Waits until the tools are others than when it was looked last.
    async fn changed(&self, last: &mut Option<Stamp>) {
        loop {
            tokio::time::sleep(LOOK).await;
            let listing = self.listing.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || listing.stamp().ok()).await else {
                continue;
            };
            if now != *last {
                *last = now;
                return;
            }
        }
    }
}

/// What a call asks for.
enum Asked {
    /// A tool by its name.
    Tool { name: String, args: JsonObject },
    /// A whole envelope.
    Envelope(JsonObject),
    /// Nothing that could be read.
    Malformed {
        name: String,
        invalid: InvalidEnvelope,
    },
}

impl Asked {
    fn run(self, host: &Host, cancel: hcp_sandbox::Cancel) -> Answer {
        match self.envelope(host) {
            Ok(envelope) if depth(&Value::Object(envelope.args.clone())) < MAX_DEPTH => {
                host.exec(envelope, cancel)
            }
            Ok(envelope) => host.refuse(&InvalidEnvelope {
                pack_id: envelope.pack_id,
                verb_key: envelope.verb_key,
                ..too_deep()
            }),
            Err(invalid) => host.refuse(&invalid),
        }
    }

    fn envelope(self, host: &Host) -> Result<ExecEnvelope, InvalidEnvelope> {
        let target = |name: &str| {
            let runtime = host.runtime().ok();
            runtime.and_then(|runtime| target(&runtime, name))
        };
        match self {
            Self::Tool { name, args } => match target(&name) {
                Some((pack_id, verb_key)) => Ok(ExecEnvelope {
                    pack_id,
                    verb_key,
                    args,
                }),
                None => Err(InvalidEnvelope::new(format!(
                    "`{name}` is not a tool: <pack>__<verb>"
                ))),
            },
            Self::Envelope(fields) => ExecEnvelope::from_value(Value::Object(fields)),
            Self::Malformed { name, invalid } => {
                let (pack_id, verb_key) = target(&name).unwrap_or_default();
                Err(InvalidEnvelope {
                    pack_id,
                    verb_key,
                    ..invalid
                })
            }
        }
    }
}

/// How deep a value is nested; a scalar is 0.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl ServerHandler for Face {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("hcp", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Every call answers {ok, pack_id, verb_key, result | error}. \
                 `confirm required` means: look at the call again, then repeat it with confirm=true.",
            )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listing = self.listing.clone();
        let listed = tokio::task::spawn_blocking(move || listing.list());
        let tools = listed.await.map_err(failed)?.map_err(failed)?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.into_owned();
        let args = request.arguments.unwrap_or_default();
        if let Some(Malformed(invalid)) = context.extensions.get::<Malformed>().cloned() {
            return self.call(Asked::Malformed { name, invalid }, context).await;
        }
        match Finder::named(&name) {
            Some(Finder::Search) => self.look(move |listing| listing.search(&args)).await,
            Some(Finder::Describe) => self.look(move |listing| listing.describe(&args)).await,
            Some(Finder::Exec) => self.call(Asked::Envelope(args), context).await,
            None => self.call(Asked::Tool { name, args }, context).await,
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.kept.list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("hcp://results/{number}{?offset,length}", "result")
            .with_description("A result that was too long for one text, whole or in part; in bytes")
            .with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(part) = self.kept.read(&request.uri) else {
            let message = format!("there is no resource `{}`, or not any more", request.uri);
            return Err(ErrorData::resource_not_found(message, None));
        };
        let place = json!({
            "hcp/offset": part.offset,
            "hcp/end": part.end,
            "hcp/total": part.total,
        });
        let mut contents =
            ResourceContents::text(part.text, request.uri).with_mime_type("application/json");
        if let Value::Object(place) = place {
            contents = contents.with_meta(MetaObject(place));
        }
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let face = self.clone();
        tokio::spawn(async move {
            let mut last = face.listing.stamp().ok();
            loop {
                face.changed(&mut last).await;
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut last = self.listing.stamp().ok();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.changed(&mut last) => {
                    if context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

async fn tell_progress(context: &RequestContext<RoleServer>, began: Instant) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let seconds = began.elapsed().as_secs();
    let mut progress = ProgressNotificationParam::new(
        token,
        f64::from(u32::try_from(seconds).unwrap_or(u32::MAX)),
    );
    progress.message = Some(format!("running for {seconds}s"));
    // A client that cannot be told does not end the call.
    let _ = context.peer.notify_progress(progress).await;
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
