//! Messages of the Model Context Protocol: JSON-RPC 2.0, one message per line. Pure. Two generations of the protocol are
//! supported: `initialize` (2024-11-05 to 2025-11-25), and the stateless revision 2026-07-28, in which every request names its
//! version in `_meta`.

use serde_json::{Map, Value, json};

/// The revision without a handshake.
const STATELESS: &str = "2026-07-28";

/// The supported versions, newest first.
pub(crate) const VERSIONS: [&str; 5] = [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

pub(crate) const PARSE_ERROR: i64 = -32_700;
pub(crate) const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
pub(crate) const INVALID_PARAMS: i64 = -32_602;
pub(crate) const INTERNAL_ERROR: i64 = -32_603;
const UNSUPPORTED_VERSION: i64 = -32_022;

/// Shown to the model by clients, together with the tools.
const INSTRUCTIONS: &str = "Read-only answers about this repository, fresh on every call. Start with `overview`; `context` \
gathers what a task or an error needs; `related`, `find` and `read` answer single questions. Paths are relative to the \
repository's root. Every answer has a token budget and says what it cut; `--name` in an answer is the argument `name`. Pass the \
`digest` of an answer as `since` to get only what changed.";

/// A parsed message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// An answer that needs no tool.
    Answer(Value),
    /// A call of a tool.
    Call(Call),
    /// The client no longer wants the answer to this request.
    Cancelled(Value),
    /// Nothing to do.
    Nothing,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: Value,
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) progress_token: Option<Value>,
    stateless: bool,
}

impl Call {
    /// The response with this result, with the fields that the request's protocol version requires.
    pub(crate) fn answer(&self, result: Value) -> Value {
        answer(&self.id, result, self.stateless, false)
    }
}

/// Parses one message. `tools` is the answer to `tools/list`.
pub(crate) fn read(message: &Value, tools: &Value) -> Message {
    let Some(object) = message.as_object() else {
        return Message::Answer(error(&Value::Null, INVALID_REQUEST, "a message is a JSON object"));
    };
    let Some(method) = object.get("method").and_then(Value::as_str) else {
        // A response. We send no requests, so ignore it.
        let is_response = object.contains_key("result") || object.contains_key("error");
        let id = object.get("id").unwrap_or(&Value::Null);
        return if is_response { Message::Nothing } else { Message::Answer(error(id, INVALID_REQUEST, "no `method`")) };
    };
    let empty = Map::new();
    let params = object.get("params").and_then(Value::as_object).unwrap_or(&empty);
    // Some clients send notifications with `"id": null`. Anything else with that id gets an answer: silence would be hard to
    // debug.
    let Some(id) = object.get("id").filter(|id| !id.is_null() || !method.starts_with("notifications/")) else {
        return match (method, params.get("requestId")) {
            ("notifications/cancelled", Some(request)) => Message::Cancelled(request.clone()),
            _ => Message::Nothing,
        };
    };
    if !is_id(id) {
        return Message::Answer(error(
            &Value::Null,
            INVALID_REQUEST,
            "`id` is a string or a number of at most 64 bits",
        ));
    }
    if object.get("jsonrpc").is_some_and(|version| version != "2.0") {
        return Message::Answer(error(id, INVALID_REQUEST, "`jsonrpc` is \"2.0\""));
    }
    let stateless = match stateless(id, params) {
        Ok(stateless) => stateless,
        Err(refusal) => return Message::Answer(refusal),
    };
    request(id, method, params, stateless, tools)
}

/// Whether the response can carry the same id: a longer number would be rounded.
fn is_id(id: &Value) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    id.is_string() || id.is_i64() || id.is_u64() || id.as_f64().is_some_and(|number| number.abs() < EXACT)
}

/// Whether a request uses the stateless revision; an error if it names an unsupported version.
fn stateless(id: &Value, params: &Map<String, Value>) -> Result<bool, Value> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let Some(version) = meta.and_then(|meta| meta.get(VERSION_KEY)) else { return Ok(false) };
    let Some(version) = version.as_str() else {
        return Err(error(id, INVALID_PARAMS, &format!("`_meta` has a `{VERSION_KEY}` that is not a string")));
    };
    if !VERSIONS.contains(&version) {
        let mut refusal = error(id, UNSUPPORTED_VERSION, "this version of the protocol is not supported");
        refusal["error"]["data"] = json!({ "supported": VERSIONS, "requested": version });
        return Err(refusal);
    }
    if version == STATELESS && !meta.is_some_and(|meta| meta.get(CAPABILITIES_KEY).is_some_and(Value::is_object)) {
        return Err(error(id, INVALID_PARAMS, &format!("`_meta` has no `{CAPABILITIES_KEY}`")));
    }
    Ok(version == STATELESS)
}

fn request(id: &Value, method: &str, params: &Map<String, Value>, stateless: bool, tools: &Value) -> Message {
    let done = |result, is_list| Message::Answer(answer(id, result, stateless, is_list));
    match method {
        "initialize" => done(initialize(params), false),
        "server/discover" => Message::Answer(answer(id, discover(), true, true)),
        "ping" => done(json!({}), false),
        "tools/list" => done(json!({ "tools": tools }), true),
        "tools/call" => {
            let Some(tool) = params.get("name").and_then(Value::as_str) else {
                return Message::Answer(error(id, INVALID_PARAMS, "`name` says which tool is called"));
            };
            let arguments = match params.get("arguments") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(arguments)) => arguments.clone(),
                Some(_) => return Message::Answer(error(id, INVALID_PARAMS, "`arguments` is an object")),
            };
            let progress_token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
            Message::Call(Call { id: id.clone(), tool: tool.to_owned(), arguments, progress_token, stateless })
        }
        _ => Message::Answer(error(id, METHOD_NOT_FOUND, &format!("there is no method `{method}`"))),
    }
}

fn server_info() -> Value {
    json!({ "name": "stan", "title": "stan", "version": env!("CARGO_PKG_VERSION") })
}

fn initialize(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    // The stateless revision has no handshake, so a client that starts one gets the newest version with a handshake.
    let version = VERSIONS[1..].iter().find(|version| **version == asked).unwrap_or(&VERSIONS[1]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discover() -> Value {
    json!({
        "supportedVersions": VERSIONS,
        "capabilities": { "tools": {} },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

/// A response. The stateless revision marks every result as complete, and says how long lists are valid.
fn answer(id: &Value, mut result: Value, stateless: bool, is_list: bool) -> Value {
    if stateless {
        result["resultType"] = json!("complete");
        if is_list {
            result["ttlMs"] = json!(3_600_000);
            result["cacheScope"] = json!("private");
        }
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

pub(crate) fn progress(token: &Value, progress: u32) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": { "progressToken": token, "progress": progress, "total": 1 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(message: &Value) -> Value {
        match read(message, &json!([{ "name": "find" }])) {
            Message::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_handshake_agrees_on_a_version_that_both_sides_speak() {
        for (asked, agreed) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("1999-01-01", "2025-11-25"),
        ] {
            let message =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": asked } });
            let answer = answered(&message);
            assert_eq!(answer["result"]["protocolVersion"], agreed);
            assert_eq!(answer["result"].get("resultType"), None, "handshake clients know no result types");
        }
    }

    #[test]
    fn a_stateless_request_gets_a_result_type_and_lists_say_how_long_they_hold() {
        let meta = json!({ VERSION_KEY: STATELESS, CAPABILITIES_KEY: {} });
        let list =
            answered(&json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": { "_meta": meta } }));
        assert_eq!((&list["id"], &list["result"]["resultType"]), (&json!("a"), &json!("complete")));
        assert_eq!(list["result"]["cacheScope"], "private");
        assert!(list["result"]["ttlMs"].is_u64());
        let discovered =
            answered(&json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } }));
        assert_eq!(discovered["result"]["supportedVersions"][0], STATELESS);
    }

    #[test]
    fn versions_that_are_not_spoken_are_refused_with_those_that_are() {
        let meta = json!({ VERSION_KEY: "2031-01-01", CAPABILITIES_KEY: {} });
        let refused =
            answered(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }));
        assert_eq!(refused["error"]["code"], UNSUPPORTED_VERSION);
        assert_eq!(refused["error"]["data"]["supported"], json!(VERSIONS));
        let meta = json!({ VERSION_KEY: STATELESS });
        let refused =
            answered(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }));
        assert_eq!(refused["error"]["code"], INVALID_PARAMS);
    }

    #[test]
    fn malformed_messages_get_the_error_that_names_the_fault() {
        for (message, code) in [
            (json!(1), INVALID_REQUEST),
            (json!({ "id": 1 }), INVALID_REQUEST),
            (json!({ "id": [], "method": "ping" }), INVALID_REQUEST),
            (json!({ "id": null, "method": "ping" }), INVALID_REQUEST),
            (json!({ "id": true, "method": "ping" }), INVALID_REQUEST),
            (json!({ "id": 1e30, "method": "ping" }), INVALID_REQUEST),
            (json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), INVALID_REQUEST),
            (json!({ "id": 1, "method": "tools/fly" }), METHOD_NOT_FOUND),
            (json!({ "id": 1, "method": "tools/call" }), INVALID_PARAMS),
            (json!({ "id": 1, "method": "tools/call", "params": { "name": "find", "arguments": 3 } }), INVALID_PARAMS),
        ] {
            assert_eq!(answered(&message)["error"]["code"], code, "{message}");
        }
    }

    #[test]
    fn notifications_and_responses_get_no_answer() {
        for message in [
            json!({ "method": "notifications/initialized" }),
            json!({ "id": null, "method": "notifications/initialized" }),
            json!({ "id": 1, "result": {} }),
            json!({ "method": "notifications/cancelled" }),
        ] {
            assert_eq!(read(&message, &json!([])), Message::Nothing, "{message}");
        }
        let cancelled = json!({ "method": "notifications/cancelled", "params": { "requestId": 7 } });
        assert_eq!(read(&cancelled, &json!([])), Message::Cancelled(json!(7)));
    }
}
