//! SARIF 2.1 and LSP's `publishDiagnostics`.

use serde_json::Value;

use super::{code, count, list, place, severity, string};
use crate::{Diagnostic, LogPosition, Related, Severity};

pub(super) fn sarif(value: &Value, found: &mut Vec<Diagnostic>) {
    for run in list(value, "runs") {
        for result in list(run, "results") {
            // The project has accepted suppressed findings.
            if !list(result, "suppressions").is_empty() {
                continue;
            }
            let Some(place) = list(result, "locations").first().and_then(location) else { continue };
            let message = result
                .get("message")
                .and_then(|message| string(message, "text").or_else(|| string(message, "markdown")));
            let mut diagnostic = Diagnostic::new(
                "sarif",
                place,
                severity(string(result, "level").or(Some("warning"))),
                message.unwrap_or(""),
            );
            diagnostic.code = code(result.get("ruleId").or_else(|| result.get("rule").and_then(|rule| rule.get("id"))));
            diagnostic.related = list(result, "relatedLocations").iter().filter_map(related).collect();
            found.push(diagnostic);
        }
    }
}

fn location(value: &Value) -> Option<LogPosition> {
    let physical = value.get("physicalLocation")?;
    let path = string(physical.get("artifactLocation")?, "uri")?;
    let region = physical.get("region");
    let number = |key| region.and_then(|region| count(region, key));
    place(path, number("startLine"), number("startColumn"))
}

fn related(value: &Value) -> Option<Related> {
    let message = value.get("message").and_then(|message| string(message, "text")).unwrap_or("");
    Some(Related { place: location(value)?, message: message.to_owned() })
}

/// Lines and columns of LSP are 0-based.
pub(super) fn lsp(value: &Value, found: &mut Vec<Diagnostic>) {
    let Some(path) = string(value, "uri") else { return };
    for item in list(value, "diagnostics") {
        let Some(place) = start(path, item.get("range")) else { continue };
        let severity = match item.get("severity").and_then(Value::as_u64) {
            Some(2) => Severity::Warning,
            Some(3 | 4) => Severity::Info,
            _ => Severity::Error,
        };
        let mut diagnostic = Diagnostic::new("lsp", place, severity, string(item, "message").unwrap_or(""));
        diagnostic.code = code(item.get("code"));
        diagnostic.end = item.get("range").and_then(|range| range.get("end")).and_then(|end| {
            Some((count(end, "line")?.saturating_add(1), count(end, "character").map(|col| col.saturating_add(1))))
        });
        diagnostic.related = list(item, "relatedInformation")
            .iter()
            .filter_map(|info| {
                let location = info.get("location")?;
                let place = start(string(location, "uri")?, location.get("range"))?;
                Some(Related { place, message: string(info, "message").unwrap_or("").to_owned() })
            })
            .collect();
        found.push(diagnostic);
    }
}

fn start(path: &str, range: Option<&Value>) -> Option<LogPosition> {
    let start = range?.get("start")?;
    let line = count(start, "line")?.checked_add(1)?;
    place(path, Some(line), count(start, "character").and_then(|col| col.checked_add(1)))
}
