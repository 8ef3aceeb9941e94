//! ESLint, oxlint, Biome, ruff, pyright, mypy, pylint, stylelint, GitLab's code quality report, Jest.

use serde_json::Value;

use super::{code, count, list, place, severity, string};
use crate::{Diagnostic, Related, Severity, text};

/// One file of ESLint's `json` format.
pub(super) fn eslint(file: &Value, found: &mut Vec<Diagnostic>) {
    let Some(path) = string(file, "filePath") else { return };
    let lines: Option<Vec<&str>> = string(file, "source").map(|source| source.split('\n').collect());
    for message in list(file, "messages") {
        let Some(at) = place(path, count(message, "line"), count(message, "column")) else { continue };
        let level = match message.get("severity") {
            Some(Value::String(word)) => severity(Some(word)),
            Some(number) if number.as_u64() == Some(1) => Severity::Warning,
            _ => Severity::Error,
        };
        let line = usize::try_from(at.line).unwrap_or(usize::MAX);
        let mut diagnostic = Diagnostic::new("eslint", at, level, string(message, "message").unwrap_or(""));
        diagnostic.code = code(message.get("ruleId"));
        diagnostic.end = count(message, "endLine").map(|line| (line, count(message, "endColumn")));
        diagnostic.excerpt = lines
            .as_ref()
            .and_then(|lines| lines.get(line.checked_sub(1)?))
            .map(|line| line.trim_end_matches('\r').to_owned());
        found.push(diagnostic);
    }
}

/// An element of `diagnostics`: oxlint has labels with spans, Biome a location with a path.
pub(super) fn oxlint_or_biome(item: &Value, found: &mut Vec<Diagnostic>) {
    if let Some(path) = string(item, "filename") {
        let span = list(item, "labels").first().and_then(|label| label.get("span"));
        let number = |key| span.and_then(|span| count(span, key));
        let Some(at) = place(path, number("line"), number("column")) else { return };
        let mut diagnostic =
            Diagnostic::new("oxlint", at, severity(string(item, "severity")), string(item, "message").unwrap_or(""));
        diagnostic.code = code(item.get("code"));
        diagnostic.related = list(item, "labels")
            .iter()
            .skip(1)
            .filter_map(|label| {
                let span = label.get("span")?;
                let place = place(path, count(span, "line"), count(span, "column"))?;
                Some(Related { place, message: string(label, "label").unwrap_or("").to_owned() })
            })
            .collect();
        found.push(diagnostic);
        return;
    }
    let Some(location) = item.get("location") else { return };
    let path = match location.get("path") {
        Some(Value::String(path)) => Some(path.as_str()),
        Some(path) => string(path, "file"),
        None => None,
    };
    let start = location.get("start");
    let number = |key| start.and_then(|start| count(start, key));
    let Some(at) = path.and_then(|path| place(path, number("line"), number("column"))) else { return };
    let message = string(item, "description").or_else(|| string(item, "message")).unwrap_or("");
    let mut diagnostic = Diagnostic::new("biome", at, severity(string(item, "severity")), message);
    diagnostic.code = code(item.get("category"));
    found.push(diagnostic);
}

pub(super) fn ruff(item: &Value, found: &mut Vec<Diagnostic>) {
    let location = item.get("location");
    let number = |key| location.and_then(|location| count(location, key));
    let Some(at) = string(item, "filename").and_then(|path| place(path, number("row"), number("column"))) else {
        return;
    };
    let level = string(item, "severity").map_or(Severity::Error, |word| severity(Some(word)));
    let mut diagnostic = Diagnostic::new("ruff", at, level, string(item, "message").unwrap_or(""));
    diagnostic.code = code(item.get("code"));
    diagnostic.end = item.get("end_location").and_then(|end| Some((count(end, "row")?, count(end, "column"))));
    found.push(diagnostic);
}

/// Ranges of pyright are 0-based.
pub(super) fn pyright(value: &Value, found: &mut Vec<Diagnostic>) {
    for item in list(value, "generalDiagnostics") {
        let start = item.get("range").and_then(|range| range.get("start"));
        let number = |key| start.and_then(|start| count(start, key)).and_then(|number| number.checked_add(1));
        let Some(at) = string(item, "file").and_then(|path| place(path, number("line"), number("character"))) else {
            continue;
        };
        let mut diagnostic =
            Diagnostic::new("pyright", at, severity(string(item, "severity")), string(item, "message").unwrap_or(""));
        diagnostic.code = code(item.get("rule"));
        found.push(diagnostic);
    }
}

/// A record of `mypy --output json`. Its columns are 0-based, and -1 means unknown.
pub(super) fn mypy(item: &Value, found: &mut Vec<Diagnostic>) {
    let column = count(item, "column").and_then(|col| col.checked_add(1));
    let Some(at) = string(item, "file").and_then(|path| place(path, count(item, "line"), column)) else { return };
    let mut diagnostic =
        Diagnostic::new("mypy", at, severity(string(item, "severity")), string(item, "message").unwrap_or(""));
    diagnostic.code = code(item.get("code"));
    found.push(diagnostic);
}

/// Columns of pylint are 0-based.
pub(super) fn pylint(item: &Value, found: &mut Vec<Diagnostic>) {
    let column = count(item, "column").and_then(|col| col.checked_add(1));
    let Some(at) = string(item, "path").and_then(|path| place(path, count(item, "line"), column)) else { return };
    let level = match string(item, "type") {
        Some("error" | "fatal") => Severity::Error,
        Some("warning") => Severity::Warning,
        _ => Severity::Info,
    };
    let mut diagnostic = Diagnostic::new("pylint", at, level, string(item, "message").unwrap_or(""));
    diagnostic.code = code(item.get("message-id").or_else(|| item.get("messageId")));
    found.push(diagnostic);
}

pub(super) fn stylelint(file: &Value, found: &mut Vec<Diagnostic>) {
    let Some(path) = string(file, "source") else { return };
    for warning in list(file, "warnings") {
        let Some(at) = place(path, count(warning, "line"), count(warning, "column")) else { continue };
        let mut diagnostic = Diagnostic::new(
            "stylelint",
            at,
            severity(string(warning, "severity")),
            string(warning, "text").unwrap_or(""),
        );
        diagnostic.code = code(warning.get("rule"));
        found.push(diagnostic);
    }
}

/// GitLab's report format, which many linters can write.
pub(super) fn codequality(item: &Value, found: &mut Vec<Diagnostic>) {
    let Some(location) = item.get("location") else { return };
    let start = location.get("positions").and_then(|positions| positions.get("begin"));
    let line = location
        .get("lines")
        .and_then(|lines| count(lines, "begin"))
        .or_else(|| start.and_then(|start| count(start, "line")));
    let column = start.and_then(|start| count(start, "column"));
    let Some(at) = string(location, "path").and_then(|path| place(path, line, column)) else { return };
    let mut diagnostic = Diagnostic::new(
        "codequality",
        at,
        severity(string(item, "severity")),
        string(item, "description").unwrap_or(""),
    );
    diagnostic.code = code(item.get("check_name"));
    found.push(diagnostic);
}

/// The `json` reporter of Jest and vitest: failure messages contain the trace as text.
pub(super) fn jest(value: &Value, found: &mut Vec<Diagnostic>) {
    for file in list(value, "testResults") {
        for assertion in list(file, "assertionResults").iter().filter(|test| string(test, "status") == Some("failed")) {
            for message in list(assertion, "failureMessages").iter().filter_map(Value::as_str) {
                let plain = crate::clean::clean(message.as_bytes());
                found.extend(text::parse(&plain, None).into_iter().take(1).map(|mut diagnostic| {
                    diagnostic.tool = "jest";
                    diagnostic
                }));
            }
        }
    }
}
