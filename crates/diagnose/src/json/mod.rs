//! Machine-readable reports: one document, or a stream of records, distinguished by their members.

mod linters;
mod sarif;
mod toolchains;

use serde_json::{Deserializer, Value};

use crate::{Diagnostic, LogPosition, Severity, place, text};

/// The supported tools.
pub(crate) const TOOLS: &[&str] = &[
    "sarif",
    "lsp",
    "eslint",
    "oxlint",
    "cargo",
    "gcc",
    "ruff",
    "pyright",
    "mypy",
    "pylint",
    "golangci-lint",
    "go",
    "biome",
    "jest",
    "stylelint",
    "codequality",
];

/// Parses a log that is entirely JSON.
pub(crate) fn parse(text: &str, from: Option<&str>) -> Option<Vec<Diagnostic>> {
    let body = after_header(text);
    if !body.starts_with(['{', '[']) {
        return None;
    }
    let mut found = Vec::new();
    let mut output = String::new();
    for value in Deserializer::from_str(body).into_iter::<Value>() {
        // Text between records: such logs are parsed record by record by the line grammars.
        let value = value.ok()?;
        match value.get("Output").and_then(Value::as_str).filter(|_| value.get("Action").is_some()) {
            // `go test -json` wraps the lines of the text format.
            Some(line) => output.push_str(line),
            None => document(&value, &mut found),
        }
    }
    found.extend(text::parse(&output, None));
    if let Some(tool) = from {
        found.retain(|diagnostic| diagnostic.tool == tool);
    }
    Some(found)
}

/// Parses one record; adds nothing if its kind is unknown.
pub(crate) fn record(line: &str, found: &mut Vec<Diagnostic>) {
    if let Ok(value) = serde_json::from_str::<Value>(line) {
        document(&value, found);
    }
}

/// An LSP stream starts with a header.
fn after_header(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix("Content-Length:") {
        Some(_) => text.split_once("\n\n").map_or(text, |(_, body)| body),
        None => text,
    }
}

fn document(value: &Value, found: &mut Vec<Diagnostic>) {
    match value {
        Value::Array(items) => {
            for item in items {
                item_of_list(item, found);
            }
        }
        Value::Object(_) => object(value, found),
        _ => {}
    }
}

/// An element of a top-level list: one file (ESLint, stylelint) or one finding.
fn item_of_list(item: &Value, found: &mut Vec<Diagnostic>) {
    if item.get("filePath").is_some() {
        linters::eslint(item, found);
    } else if item.get("kind").is_some() && item.get("locations").is_some() {
        toolchains::gcc(item, found);
    } else if item.get("uri").is_some() && item.get("diagnostics").is_some() {
        sarif::lsp(item, found);
    } else if item.get("filename").is_some() && item.get("location").is_some() {
        linters::ruff(item, found);
    } else if item.get("message-id").is_some() || item.get("messageId").is_some() {
        linters::pylint(item, found);
    } else if item.get("warnings").is_some() && item.get("source").is_some() {
        linters::stylelint(item, found);
    } else if item.get("check_name").is_some() {
        linters::codequality(item, found);
    }
}

fn object(value: &Value, found: &mut Vec<Diagnostic>) {
    if value.get("runs").is_some() {
        sarif::sarif(value, found);
    } else if let Some(params) = value.get("params").filter(|params| params.get("diagnostics").is_some()) {
        sarif::lsp(params, found);
    } else if value.get("uri").is_some() && value.get("diagnostics").is_some() {
        sarif::lsp(value, found);
    } else if value.get("reason").is_some() {
        if let Some(message) = value.get("message") {
            toolchains::rustc(message, found);
        }
    } else if value.get("$message_type").is_some() || (value.get("spans").is_some() && value.get("level").is_some()) {
        toolchains::rustc(value, found);
    } else if value.get("generalDiagnostics").is_some() {
        linters::pyright(value, found);
    } else if value.get("testResults").is_some() {
        linters::jest(value, found);
    } else if let Some(messages) =
        value.get("messages").and_then(Value::as_array).filter(|_| value.get("statistics").is_some())
    {
        for message in messages {
            linters::pylint(message, found);
        }
    } else if value.get("Issues").is_some() {
        toolchains::golangci(value, found);
    } else if let Some(list) = value.get("diagnostics").and_then(Value::as_array) {
        for item in list {
            linters::oxlint_or_biome(item, found);
        }
    } else if value.get("file").is_some() && value.get("severity").is_some() && value.get("message").is_some() {
        linters::mypy(value, found);
    } else {
        item_of_list(value, found);
    }
}

fn string<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A number that fits into `u32`, 1-based as given.
fn count(value: &Value, key: &str) -> Option<u32> {
    value.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}

/// A position from a path and 1-based numbers; line 0 means the whole file.
fn place(path: &str, line: Option<u32>, col: Option<u32>) -> Option<LogPosition> {
    let file = place::clean_path(path)?;
    Some(LogPosition { file, line: line.unwrap_or(1).max(1), col: col.filter(|&col| col > 0) })
}

/// A rule or code, which may be a string or a number.
fn code(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn severity(word: Option<&str>) -> Severity {
    match word.unwrap_or("error") {
        "warning" | "Warning" | "warn" | "minor" | "major" => Severity::Warning,
        "info" | "note" | "information" | "hint" | "help" | "advice" | "none" => Severity::Info,
        _ => Severity::Error,
    }
}
