//! Messages as lines of standard input and output. A call's arguments are kept as they came, byte for
//! byte: what the protocol's own types make of them would lose how numbers were written and which
//! members were repeated.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::output::Output;
use crate::model::interaction::Interaction;

/// A call's arguments, verbatim.
#[derive(Clone)]
pub(super) struct Verbatim(pub(super) String);

/// Which answers go out with which results.
#[derive(Clone, Default)]
pub(super) struct Deliveries(Arc<Mutex<HashMap<RequestId, Interaction>>>);

impl Deliveries {
    /// Notes that the result of a call carries an answer.
    pub(super) fn note(&self, call: &RequestId, record: &Interaction) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert(call.clone(), record.clone());
    }

    fn take(&self, call: &RequestId) -> Option<Interaction> {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.remove(call)
    }
}

/// The transport.
pub(super) struct Lines {
    lines: UnboundedReceiver<Vec<u8>>,
    output: Output,
    deliveries: Deliveries,
    ready: VecDeque<ClientJsonRpcMessage>,
    /// Whether a request came that begins a session: before it, only requests mean anything.
    begun: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    jsonrpc: Value,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default)]
    name: Value,
    #[serde(default, rename = "_meta")]
    meta: Option<Value>,
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
}

impl Lines {
    /// From the lines of the input and the way to the output.
    pub(super) fn new(
        lines: UnboundedReceiver<Vec<u8>>,
        output: Output,
        deliveries: Deliveries,
    ) -> Self {
        Self {
            lines,
            output,
            deliveries,
            ready: VecDeque::new(),
            begun: false,
        }
    }

    fn take(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        // Before 2025-06-18 a line could hold several messages.
        let batch = match line.trim_ascii_start().first() {
            Some(b'[') => serde_json::from_slice::<Vec<&RawValue>>(line).unwrap_or_default(),
            _ => Vec::new(),
        };
        if batch.is_empty() {
            self.take_one(line);
        }
        for message in batch {
            self.take_one(message.get().as_bytes());
        }
    }

    fn take_one(&mut self, text: &[u8]) {
        let envelope = serde_json::from_slice::<Envelope<'_>>(text);
        match message(text, envelope.as_ref().ok()) {
            Ok(message) => {
                let request = matches!(&message, JsonRpcMessage::Request(_));
                if request || self.begun {
                    self.begun |= begins(&message);
                    self.ready.push_back(message);
                }
            }
            Err(error) => {
                let id = envelope.ok().and_then(|e| e.id);
                let id = id.and_then(|id| serde_json::from_value(id).ok());
                let refusal = ServerJsonRpcMessage::error(error, id);
                let _ = self.output.post(serde_json::to_vec(&refusal), None);
            }
        }
    }
}

fn message(
    text: &[u8],
    envelope: Option<&Envelope<'_>>,
) -> Result<ClientJsonRpcMessage, ErrorData> {
    if let Some(envelope) = envelope
        && envelope.method.as_deref() == Some("tools/call")
    {
        return call(envelope);
    }
    let value: Value = serde_json::from_slice(text)
        .map_err(|_| ErrorData::parse_error("the message is not JSON", None))?;
    typed(value)
}

fn typed(value: Value) -> Result<ClientJsonRpcMessage, ErrorData> {
    serde_json::from_value(value)
        .map_err(|_| ErrorData::invalid_request("the message is no JSON-RPC message", None))
}

/// A call, its arguments beside it.
fn call(envelope: &Envelope<'_>) -> Result<ClientJsonRpcMessage, ErrorData> {
    let params = envelope.params.map_or("{}", RawValue::get);
    let params: Params<'_> = serde_json::from_str(params)
        .map_err(|_| ErrorData::invalid_params("the call's params cannot be read", None))?;
    let mut given = json!({ "name": params.name });
    if let (Some(meta), Some(members)) = (params.meta, given.as_object_mut()) {
        members.insert("_meta".into(), meta);
    }
    let mut value = json!({
        "jsonrpc": envelope.jsonrpc, "method": envelope.method, "params": given,
    });
    if let (Some(id), Some(members)) = (&envelope.id, value.as_object_mut()) {
        members.insert("id".into(), id.clone());
    }
    let mut message = typed(value)?;
    if let (JsonRpcMessage::Request(request), Some(arguments)) = (&mut message, params.arguments) {
        let verbatim = Verbatim(arguments.get().to_owned());
        request.request.extensions_mut().insert(verbatim);
    }
    Ok(message)
}

fn begins(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    !matches!(
        request.request,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
    )
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let delivers = match &item {
            JsonRpcMessage::Response(response) => self.deliveries.take(&response.id),
            _ => None,
        };
        self.output
            .clone()
            .write(serde_json::to_vec(&item), delivers)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let line = self.lines.recv().await?;
            self.take(&line);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close();
        Ok(())
    }
}
