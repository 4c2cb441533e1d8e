//! The floor that the faces are measured against: a server of the protocol, written by hand with the
//! same library, that runs what it is told. It governs, confines and records nothing.

use std::process::ExitCode;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::json;

struct Floor;

impl ServerHandler for Floor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object", "properties": { "argv": { "type": "array" } } });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let tool = Tool::new("run", "Run a program", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let argv = arguments.get("argv").and_then(|argv| argv.as_array());
        let mut words = argv.into_iter().flatten().filter_map(|word| word.as_str());
        let program = words.next().unwrap_or_default();
        let mut command = tokio::process::Command::new(program);
        let running = command.args(words).kill_on_drop(true).output();
        let output = tokio::select! {
            output = running => output,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        let output = output.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let result = CallToolResult::success(vec![ContentBlock::text(text)]);
        Ok(CallToolResponse::Complete(result))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let Ok(service) = Floor.serve(rmcp::transport::stdio()).await else {
        return ExitCode::FAILURE;
    };
    if service.waiting().await.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
