//! The family `path:line[:col]: …`: gcc, clang, go, mypy, ruff, flake8, pylint, javac, swiftc, golangci-lint, ESLint's `unix`.

use super::lines::{Lines, code, excerpt, severity};
use crate::{ColumnUnit, Diagnostic, LogPosition, Related, Severity, is_foreign, place};

/// The tools that this grammar and that of TypeScript distinguish.
pub(super) const TOOLS: &[&str] = &["mypy", "ruff", "pylint", "go", "pyright", "javac", "msbuild"];

pub(super) fn columns(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let text = line.strip_prefix("vet: ").unwrap_or(line);
    let Some((place, rest)) = place::colon(text.trim_start()) else { return 0 };
    // mypy may add the end: `a.py:12:12:12:44: error`
    let end = rest.strip_prefix(':').and_then(place::line_column).filter(|(_, rest)| rest.starts_with(':'));
    let (end, rest) = end.map_or((None, rest), |(end, rest)| (Some((end.line, Some(end.col))), rest));
    let Some(rest) = rest.strip_prefix(':') else { return 0 };
    let rest = rest.trim_start();
    if rest.is_empty() || (line.starts_with(' ') && place.col.is_none()) {
        return 0;
    }
    if let Some(note) = rest.strip_prefix("note:").or_else(|| rest.strip_prefix("remark:")) {
        // A note belongs to the preceding finding.
        if let Some(last) = found.last_mut().filter(|last| matches!(last.tool, "gcc" | "mypy")) {
            last.related.push(Related { place, message: note.trim().to_owned() });
        }
        return 1;
    }
    if line.starts_with('\t')
        && let Some(last) = found.last_mut().filter(|last| last.tool == "go" && place.file.ends_with(".go"))
    {
        // go: `\t./b.go:5:6: other declaration of F` belongs to the preceding finding.
        last.related.push(Related { place, message: rest.trim().to_owned() });
        return 1;
    }
    let diagnostic = match severity(rest) {
        Some((severity, message)) if message.starts_with(':') || message.starts_with('[') => {
            with_severity(place, severity, message)
        }
        _ => match without_severity(place, rest) {
            Some(diagnostic) => diagnostic,
            None => return 0,
        },
    };
    let mut diagnostic = diagnostic;
    diagnostic.end = end;
    diagnostic.excerpt = diagnostic.place.as_ref().and_then(|place| excerpt(lines, at, place.line));
    let consumed = match diagnostic.tool {
        "mypy" => wrapped(lines, at, &mut diagnostic),
        "go" => continued(lines, at, &mut diagnostic),
        _ => 1,
    };
    found.push(diagnostic);
    consumed
}

/// The Go compiler continues with the actual and the expected types, on lines that start with a tab.
fn continued(lines: &Lines<'_>, at: usize, diagnostic: &mut Diagnostic) -> usize {
    let mut consumed = 1;
    for (index, next) in lines.after(at).take(6) {
        if !next.starts_with('\t') || next.trim().is_empty() || place::colon(next.trim()).is_some() {
            break;
        }
        diagnostic.message.push('\n');
        diagnostic.message.push_str(next.trim());
        consumed = index - at + 1;
    }
    consumed
}

/// `mypy --pretty` wraps messages at the terminal's width and puts the rule last; an indented excerpt ends the message.
fn wrapped(lines: &Lines<'_>, at: usize, diagnostic: &mut Diagnostic) -> usize {
    if diagnostic.code.is_some() {
        return 1;
    }
    let mut text = diagnostic.message.clone();
    for (index, next) in lines.after(at).take(6) {
        if next.starts_with(' ') || next.trim().is_empty() || place::colon(next).is_some() {
            break;
        }
        text.push(' ');
        text.push_str(next.trim());
        if let (message, Some(rule)) = trailing_rule(&text, '[', ']') {
            diagnostic.code = Some(rule.to_owned());
            diagnostic.message = message.to_owned();
            return index - at + 1;
        }
    }
    1
}

/// gcc, clang, swiftc, mypy, javac: the severity is a word.
fn with_severity(place: LogPosition, severity: Severity, rest: &str) -> Diagnostic {
    // rustc's short form: `error[E0609]: message`
    let (inner, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((code, rest)) => (Some(code), rest),
        None => (None, rest),
    };
    let message = rest.trim_start_matches(':').trim();
    let (text, rule) = trailing_rule(message, '[', ']');
    if inner.is_some() {
        return Diagnostic::new("rustc", place, severity, message).with_code(inner).in_unit(ColumnUnit::Char);
    }
    let is_python = place.file.ends_with(".py") || place.file.ends_with(".pyi");
    let (tool, unit) = match () {
        () if is_python => ("mypy", ColumnUnit::Utf16),
        () if place.file.ends_with(".java") => ("javac", ColumnUnit::Utf16),
        () => ("gcc", ColumnUnit::Byte),
    };
    Diagnostic::new(tool, place, severity, text.trim_end()).with_code(rule).in_unit(unit)
}

/// Detects the tool by the code, otherwise by the file's language.
fn without_severity(place: LogPosition, rest: &str) -> Option<Diagnostic> {
    let is_python = place.file.ends_with(".py") || place.file.ends_with(".pyi");
    if let Some((code, message)) = code(rest)
        && is_python
    {
        if let Some(message) = message.strip_prefix(": ") {
            return Some(pylint(place, code, message));
        }
        let message = message.trim_start();
        let message = message.strip_prefix("[*] ").unwrap_or(message);
        return Some(Diagnostic::new("ruff", place, Severity::Error, message.trim()).with_code(Some(code)));
    }
    if is_python {
        return python(place, rest);
    }
    if place.file.ends_with(".go") && !is_foreign(&place.file) {
        let (message, _) = trailing_rule(rest.trim(), '(', ')');
        let is_linter = message.len() < rest.trim().len() && !message.is_empty() && is_linter_name(rest.trim());
        let (message, code) = if is_linter { trailing_rule(rest.trim(), '(', ')') } else { (rest.trim(), None) };
        return Some(Diagnostic::new("go", place, Severity::Error, message).with_code(code).in_unit(ColumnUnit::Byte));
    }
    // ESLint's `unix` form: `a.ts:2:10: message [Error/rule]`; stylelint writes `message (rule) [error]`.
    let (message, tag) = trailing_rule(rest.trim(), '[', ']');
    let tag = tag?;
    let (word, rule) = tag.split_once('/').map_or((tag, None), |(word, rule)| (word, Some(rule)));
    let (severity, _) = severity(word).filter(|(_, after)| after.is_empty())?;
    let (message, inner) = if rule.is_none() { trailing_rule(message, '(', ')') } else { (message, None) };
    Some(Diagnostic::new("eslint", place, severity, message).with_code(rule.or(inner)))
}

/// ruff's syntax errors, and `a.py:12: ValueError: message` of `pytest --tb=line`.
fn python(place: LogPosition, rest: &str) -> Option<Diagnostic> {
    if let Some((name, message)) = ["invalid-syntax", "SyntaxError"]
        .iter()
        .find_map(|name| Some((*name, rest.strip_prefix(name)?.strip_prefix(": ")?)))
    {
        return Some(Diagnostic::new("ruff", place, Severity::Error, message.trim()).with_code(Some(name)));
    }
    let kind = rest.split(':').next().unwrap_or(rest);
    let is_exception = !kind.contains(' ') && (kind.ends_with("Error") || kind.ends_with("Exception"));
    let is_exception = is_exception || rest.trim_start().starts_with("assert ");
    (is_exception && place.col.is_none() && !is_foreign(&place.file)).then(|| {
        let frames = vec![crate::Frame { place: place.clone(), name: None }];
        let mut diagnostic = Diagnostic::new("pytest", place, Severity::Error, rest.trim());
        diagnostic.frames = frames;
        diagnostic
    })
}

/// golangci-lint ends with `(linter)`, but an ordinary message may end with a parenthesis, too.
fn is_linter_name(text: &str) -> bool {
    let (_, name) = trailing_rule(text, '(', ')');
    name.is_some_and(|name| {
        name.len() <= 20 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    })
}

/// pylint: columns are 0-based, and the first letter of the code is the severity.
fn pylint(mut place: LogPosition, code: &str, message: &str) -> Diagnostic {
    place.col = place.col.map(|col| col.saturating_add(1));
    let severity = match code.as_bytes().first() {
        Some(b'E' | b'F') => Severity::Error,
        Some(b'W') => Severity::Warning,
        _ => Severity::Info,
    };
    let (message, _) = trailing_rule(message.trim(), '(', ')');
    Diagnostic::new("pylint", place, severity, message).with_code(Some(code))
}

/// Splits `message  [rule]`; the rule is one word.
pub(super) fn trailing_rule(text: &str, open: char, close: char) -> (&str, Option<&str>) {
    let split = text.strip_suffix(close).and_then(|inner| inner.rsplit_once(open));
    match split {
        Some((message, rule)) if !rule.is_empty() && !rule.contains([' ', '[']) && message.ends_with(' ') => {
            (message.trim_end(), Some(rule))
        }
        _ => (text, None),
    }
}
