//! What every request must keep, whatever the test is about.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::http::Request;
use super::phone::{Phone, additional};
use super::{Endpoint, State};
use crate::sandbox::text;

/// The bound of a body.
const BODY_MAX: usize = 64 << 10;

static ENVELOPE: LazyLock<Validator> = LazyLock::new(|| {
    compiled(&json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["envelope_version", "client_event_id", "expires_at", "recipients", "sender_id"],
        "properties": {
            "envelope_version": { "const": "1" },
            "client_event_id": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
            "expires_at": { "type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" },
            "sender_id": { "type": "string", "minLength": 1, "maxLength": 128 },
            "sender_name": { "type": "string", "minLength": 1, "maxLength": 100 },
            "recipients": {
                "type": "array", "minItems": 1, "maxItems": 10,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["device_id", "ciphertext"],
                    "properties": {
                        "device_id": { "type": "string", "minLength": 1, "maxLength": 128 },
                        "key_id": { "type": "string", "minLength": 1, "maxLength": 128 },
                        "ciphertext": { "type": "string", "pattern": "^[A-Za-z0-9_-]{96,}$" },
                    },
                },
            },
        },
    }))
});

/// A sealed payload: a question or a notice.
static PAYLOAD: LazyLock<Validator> = LazyLock::new(|| {
    let optional = json!({ "type": ["string", "null"], "minLength": 1 });
    let time = json!({ "type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" });
    let members = json!({
        "id": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
        "key": optional, "agent": { "type": "string", "minLength": 1 }, "agent_instance": optional,
        "project": optional, "session_id": optional,
        "kind": { "enum": ["permission", "single_choice", "text"] },
        "prompt": { "type": "string", "minLength": 1, "maxLength": 2000 },
        "choices": {
            "type": "array", "maxItems": 12,
            "items": {
                "type": "object", "additionalProperties": false, "required": ["id", "label", "detail"],
                "properties": {
                    "id": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" },
                    "label": { "type": "string", "minLength": 1 },
                    "detail": optional,
                },
            },
        },
        "text_max_length": { "type": "integer", "minimum": 1, "maximum": 2000 },
        "status": { "const": "pending" },
        "request_digest": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
        "nonce": { "type": "string", "pattern": "^[A-Za-z0-9_-]{32}$" },
        "created_at": time, "expires_at": time,
    });
    let names: Vec<&String> = members.as_object().unwrap().keys().collect();
    compiled(&json!({ "oneOf": [
        {
            "type": "object",
            "additionalProperties": false,
            "required": ["payload_kind", "contract_version", "interaction"],
            "properties": {
                "payload_kind": { "const": "interaction-request" },
                "contract_version": { "const": "1" },
                "interaction": {
                    "type": "object", "additionalProperties": false,
                    "required": names, "properties": members,
                    "if": { "properties": { "kind": { "const": "text" } } },
                    "then": { "properties": { "choices": { "maxItems": 0 } } },
                    "else": { "properties": { "choices": { "minItems": 2 } } },
                },
            },
        },
        {
            "type": "object",
            "additionalProperties": false,
            "required": ["title", "body", "level"],
            "properties": {
                "title": { "type": "string", "minLength": 1, "maxLength": 200 },
                "body": { "const": "answer at the terminal" },
                "level": { "const": "info" },
            },
        },
    ] }))
});

static SENDER: LazyLock<Validator> = LazyLock::new(|| {
    compiled(&json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["platform", "client_version"],
        "properties": {
            "sender_name": { "type": "string", "minLength": 1, "maxLength": 100 },
            "platform": { "enum": ["linux", "macos", "windows"] },
            "client_version": { "type": "string", "minLength": 1, "maxLength": 32 },
        },
    }))
});

fn compiled(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).unwrap()
}

/// Whatever is wrong with a request.
pub fn violations(state: &State, request: &Request) -> Vec<String> {
    let mut wrong = Wrong {
        about: format!("{} {}", request.method, request.path),
        found: Vec::new(),
    };
    head(state, request, &mut wrong);
    match request.endpoint {
        Endpoint::Envelopes => envelope(state, request, &mut wrong),
        Endpoint::PairSender => body(&SENDER, request, &mut wrong),
        Endpoint::Responses => query(state, request, &mut wrong),
        _ => {}
    }
    wrong.found
}

struct Wrong {
    about: String,
    found: Vec<String>,
}

impl Wrong {
    fn unless(&mut self, right: bool, what: impl std::fmt::Display) {
        if !right {
            self.found.push(format!("{}: {what}", self.about));
        }
    }
}

fn head(state: &State, request: &Request, wrong: &mut Wrong) {
    let url = format!("{}?{}", request.path, request.query);
    let secret = ["inst_", &state.token, &state.poll_token];
    wrong.unless(
        secret.iter().all(|s| !url.contains(s)),
        "a token in the URL",
    );
    let mut names: Vec<&str> = request.headers.iter().map(|(n, _)| n.as_str()).collect();
    names.sort_unstable();
    wrong.unless(
        names.windows(2).all(|w| w[0] != w[1]),
        "a header occurs twice",
    );
    for never in ["cookie", "transfer-encoding", "proxy-authorization"] {
        wrong.unless(!names.contains(&never), never);
    }
    let host = request.header("host");
    wrong.unless(host == Some(&state.authority), format!("host {host:?}"));
    let bearer = match request.endpoint {
        Endpoint::WellKnown | Endpoint::PairSender | Endpoint::Unknown => None,
        Endpoint::PairPoll => Some(&state.poll_token),
        _ => Some(&state.token),
    };
    let bearer = bearer.map(|token| format!("Bearer {token}"));
    wrong.unless(
        request.header("authorization") == bearer.as_deref(),
        "another bearer",
    );
    let posts = matches!(request.endpoint, Endpoint::PairSender | Endpoint::Envelopes);
    wrong.unless(
        request.method == if posts { "POST" } else { "GET" },
        "the method",
    );
    let kind = request.header("content-type").unwrap_or_default();
    wrong.unless(
        (kind.split(';').next() == Some("application/json")) == posts,
        format!("content-type {kind:?}"),
    );
    wrong.unless(posts || request.body.is_empty(), "a GET with a body");
    wrong.unless(request.body.len() <= BODY_MAX, "more than 64 KiB");
    wrong.unless(
        request.endpoint != Endpoint::Unknown,
        "there is no such endpoint",
    );
    wrong.unless(
        request.endpoint == Endpoint::Responses || request.query.is_empty(),
        "a query",
    );
}

fn body(schema: &Validator, request: &Request, wrong: &mut Wrong) {
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        wrong.unless(false, "no JSON");
        return;
    };
    for error in schema.iter_errors(&body) {
        wrong.unless(false, error);
    }
    wrong.unless(!has_null(&body), "a null");
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

fn envelope(state: &State, request: &Request, wrong: &mut Wrong) {
    body(&ENVELOPE, request, wrong);
    if !wrong.found.is_empty() {
        return;
    }
    let envelope = request.json();
    let outbox = format!(
        "interaction:{}:{}",
        text(&envelope, "client_event_id"),
        state.provider
    );
    for name in ["idempotency-key", "x-correlation-id"] {
        wrong.unless(request.header(name) == Some(&outbox), name);
    }
    wrong.unless(
        envelope["sender_id"] == state.installation_id.as_str(),
        "sender_id",
    );
    expiry(text(&envelope, "expires_at"), wrong);
    let mut devices = Vec::new();
    for recipient in envelope["recipients"].as_array().unwrap() {
        let device = text(recipient, "device_id");
        wrong.unless(!devices.contains(&device), "a device occurs twice");
        devices.push(device);
        match state.phones.iter().find(|p| p.device_id == device) {
            None => wrong.unless(false, format!("no such device: {device}")),
            Some(phone) => payload(phone, &envelope, recipient, wrong),
        }
    }
}

/// In the future, at most a day and the time that the sending took ahead.
fn expiry(text: &str, wrong: &mut Wrong) {
    let at = sayso::time::Time::parse(text);
    let now = sayso::time::Time::now();
    let day = std::time::Duration::from_secs(24 * 3600);
    wrong.unless(
        at.is_some_and(|at| at > now && at.since(now) <= day),
        format!("expires_at {text}"),
    );
}

fn payload(phone: &Phone, envelope: &Value, recipient: &Value, wrong: &mut Wrong) {
    let sealed = text(recipient, "ciphertext");
    let opened = match phone.open(sealed, &additional(envelope, recipient)) {
        Ok(opened) => opened,
        Err(why) => {
            return wrong.unless(false, format!("{} cannot read it: {why}", phone.device_id));
        }
    };
    let Ok(payload) = serde_json::from_slice::<Value>(&opened) else {
        return wrong.unless(false, "the payload is no JSON");
    };
    wrong.unless(
        PAYLOAD.is_valid(&payload),
        format!("no such payload: {payload}"),
    );
    if let Some(question) = payload.get("interaction") {
        wrong.unless(question["id"] == envelope["client_event_id"], "another id");
    }
}

fn query(state: &State, request: &Request, wrong: &mut Wrong) {
    let names: Vec<&str> = request
        .query
        .split('&')
        .filter_map(|p| Some(p.split_once('=')?.0))
        .collect();
    wrong.unless(
        names == ["installation_id", "since"],
        format!("query {}", request.query),
    );
    let installation = request.query_value("installation_id");
    wrong.unless(
        installation.as_ref() == Some(&state.installation_id),
        "another installation_id",
    );
    let since = request.query_value("since");
    let known = |s: &String| s.is_empty() || state.cursors.contains(s);
    wrong.unless(
        since.as_ref().is_some_and(known),
        format!("a cursor that was never given: {since:?}"),
    );
}
