//! ESLint's `stylish` format (copied by stylelint, Next.js and others) and its `compact` format.

use super::lines::{Lines, severity};
use crate::place::LineColumn;
use crate::{Diagnostic, LogPosition, Severity, place};

/// A path alone on a line, then `  2:10  error  message  rule` for each finding in that file.
pub(super) fn stylish(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some(file) = place::clean_path(line.trim_end()).filter(|_| !line.starts_with(' ')) else { return 0 };
    let before = found.len();
    let mut consumed = 1;
    let mut index = at + 1;
    // Needs no bound: each line read is consumed.
    while let Some(diagnostic) = row(&file, lines.get(index)) {
        found.push(diagnostic);
        index += 1;
        consumed += 1;
    }
    if found.len() > before { consumed } else { 0 }
}

fn row(file: &str, line: &str) -> Option<Diagnostic> {
    let (LineColumn { line, col }, rest) = place::line_column(line.trim_start())?;
    let rest = rest.trim_start();
    let (severity, rest) = severity(rest).or_else(|| {
        // stylelint marks the severity with a symbol.
        let (mark, rest) = rest.split_at_checked(rest.chars().next()?.len_utf8())?;
        match mark {
            "✖" | "×" => Some((Severity::Error, rest)),
            "⚠" | "‼" => Some((Severity::Warning, rest)),
            _ => None,
        }
    })?;
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim();
    // The rule follows two or more blanks; Next.js uses two as well.
    let (message, rule) = match rest.rsplit_once("  ") {
        Some((message, rule)) if !rule.contains(' ') && !rule.is_empty() => (message.trim_end(), Some(rule)),
        _ => (rest, None),
    };
    let place = LogPosition { file: file.to_owned(), line, col: Some(col) };
    Some(Diagnostic::new("eslint", place, severity, message).with_code(rule))
}

/// `/srv/app/a.ts: line 2, col 10, Error - message (rule)`.
pub(super) fn compact(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let Some((path, rest)) = lines.get(at).split_once(": line ") else { return 0 };
    let Some((line, rest)) = place::number(rest) else { return 0 };
    let Some((col, rest)) = rest.strip_prefix(", col ").and_then(place::number) else { return 0 };
    let Some((severity, rest)) = rest.strip_prefix(", ").and_then(severity) else { return 0 };
    let Some(message) = rest.strip_prefix(" - ") else { return 0 };
    let Some(file) = place::clean_path(path) else { return 0 };
    let (message, rule) = super::columns::trailing_rule(message.trim(), '(', ')');
    found
        .push(Diagnostic::new("eslint", LogPosition { file, line, col: Some(col) }, severity, message).with_code(rule));
    1
}
