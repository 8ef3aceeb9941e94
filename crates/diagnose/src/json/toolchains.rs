//! rustc's messages (also inside cargo's), gcc's format, golangci-lint.

use serde_json::Value;

use super::{code, count, list, place, severity, string};
use crate::{ColumnUnit, Diagnostic, LogPosition, Related, Severity};

pub(super) fn rustc(message: &Value, found: &mut Vec<Diagnostic>) {
    let spans = list(message, "spans");
    let Some(primary) = spans.iter().find(|span| is_primary(span)) else { return };
    let Some(at) = span_place(primary) else { return };
    let text = string(message, "message").unwrap_or("");
    let mut diagnostic =
        Diagnostic::new("cargo", at, severity(string(message, "level")), text).in_unit(ColumnUnit::Char);
    diagnostic.code = message.get("code").and_then(|value| code(value.get("code")));
    diagnostic.end = count(primary, "line_end").map(|line| (line, count(primary, "column_end")));
    diagnostic.excerpt = list(primary, "text").first().and_then(|text| string(text, "text")).map(str::to_owned);
    for span in spans.iter().filter(|span| !is_primary(span)) {
        // Labels on the same lines are part of the frame; other files and lines are hints.
        if let Some(place) =
            span_place(span).filter(|place| diagnostic.place.as_ref().is_none_or(|at| at.file != place.file))
        {
            diagnostic.related.push(Related { place, message: string(span, "label").unwrap_or("").to_owned() });
        }
    }
    for child in list(message, "children").iter().filter(|child| string(child, "level") == Some("note")) {
        for span in list(child, "spans").iter().filter(|span| is_primary(span)) {
            if let Some(place) = span_place(span) {
                diagnostic.related.push(Related { place, message: string(child, "message").unwrap_or("").to_owned() });
            }
        }
    }
    found.push(diagnostic);
}

fn is_primary(span: &Value) -> bool {
    span.get("is_primary").and_then(Value::as_bool).unwrap_or(false)
}

fn span_place(span: &Value) -> Option<LogPosition> {
    place(string(span, "file_name")?, count(span, "line_start"), count(span, "column_start"))
}

/// `-fdiagnostics-format=json`: children are notes.
pub(super) fn gcc(item: &Value, found: &mut Vec<Diagnostic>) {
    let Some(at) = caret(item) else { return };
    let kind = string(item, "kind");
    if kind == Some("note") {
        // Some versions list notes next to the finding that they explain.
        if let Some(last) = found.last_mut().filter(|last| last.tool == "gcc") {
            last.related.push(Related { place: at, message: string(item, "message").unwrap_or("").to_owned() });
        }
        return;
    }
    let mut diagnostic =
        Diagnostic::new("gcc", at, severity(kind), string(item, "message").unwrap_or("")).in_unit(ColumnUnit::Byte);
    diagnostic.code = code(item.get("option"));
    diagnostic.related = list(item, "children")
        .iter()
        .filter_map(|child| {
            Some(Related { place: caret(child)?, message: string(child, "message").unwrap_or("").to_owned() })
        })
        .collect();
    found.push(diagnostic);
}

fn caret(item: &Value) -> Option<LogPosition> {
    let caret = list(item, "locations").first()?.get("caret")?;
    let column = count(caret, "byte-column").or_else(|| count(caret, "column"));
    place(string(caret, "file")?, count(caret, "line"), column)
}

pub(super) fn golangci(value: &Value, found: &mut Vec<Diagnostic>) {
    for issue in list(value, "Issues") {
        let Some(position) = issue.get("Pos") else { continue };
        let Some(at) = string(position, "Filename")
            .and_then(|file| place(file, count(position, "Line"), count(position, "Column")))
        else {
            continue;
        };
        let level = match string(issue, "Severity") {
            Some(word) if !word.is_empty() => severity(Some(word)),
            _ => Severity::Error,
        };
        let mut diagnostic =
            Diagnostic::new("golangci-lint", at, level, string(issue, "Text").unwrap_or("")).in_unit(ColumnUnit::Byte);
        diagnostic.code = code(issue.get("FromLinter"));
        found.push(diagnostic);
    }
}
