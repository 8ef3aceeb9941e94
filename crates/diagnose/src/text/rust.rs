//! rustc and clippy (`error[E0609]: message`, ` --> path:9:10`), tools that use the same format (ruff, Deno's linter), and
//! panics.

use super::lines::{LOOK_AHEAD, Lines, excerpt, severity};
use crate::{ColumnUnit, Diagnostic, Frame, LogPosition, Related, Severity, is_foreign, place};

pub(super) fn rustc(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some((severity, code, message)) = headline(line) else { return 0 };
    let tool = if line.starts_with("error") || line.starts_with("warning") { "rustc" } else { "ruff" };
    let mut diagnostic: Option<Diagnostic> = None;
    let mut text = message.to_owned();
    let mut note = String::new();
    let mut end = at;
    for (index, next) in lines.after(at) {
        let trimmed = next.trim_start();
        if let Some((place, is_primary)) = arrow(trimmed) {
            end = index;
            match &mut diagnostic {
                None if is_primary => {
                    let excerpt = excerpt(lines, index, place.line);
                    let unit = if tool == "rustc" { ColumnUnit::Char } else { ColumnUnit::Utf16 };
                    let mut first =
                        Diagnostic::new(tool, place, severity, text.trim_end()).with_code(code).in_unit(unit);
                    first.excerpt = excerpt;
                    diagnostic = Some(first);
                }
                None => return 0,
                Some(first) => first.related.push(Related { place, message: note.clone() }),
            }
        } else if diagnostic.is_none() {
            // The message may continue up to the arrow, but not past another headline or a blank line.
            if trimmed.is_empty() || headline(next).is_some() || index - at > 12 {
                return 0;
            }
            text.push('\n');
            text.push_str(next.trim_end());
        } else if trimmed.is_empty() || headline(next).is_some() {
            break;
        } else {
            if let Some(rest) = trimmed.strip_prefix("note: ").or_else(|| trimmed.strip_prefix("help: ")) {
                note = rest.to_owned();
            }
            end = index;
        }
    }
    let Some(diagnostic) = diagnostic else { return 0 };
    found.push(diagnostic);
    end - at + 1
}

/// `error[E0609]: message`, `warning: message`, or ruff's `F401 [*] message`.
fn headline(line: &str) -> Option<(Severity, Option<&str>, &str)> {
    if let Some((severity, rest)) = severity(line) {
        let (code, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((code, rest)) => (Some(code), rest),
            None => (None, rest),
        };
        let message = rest.strip_prefix(": ")?;
        return Some((severity, code, message.trim_end()));
    }
    if let Some(message) = line.strip_prefix("invalid-syntax: ") {
        return Some((Severity::Error, Some("invalid-syntax"), message.trim_end()));
    }
    let (code, rest) = super::lines::code(line)?;
    let rest = rest.strip_prefix(' ')?;
    let rest = rest.strip_prefix("[*] ").unwrap_or(rest);
    let is_rule = code.len() <= 8 && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (is_rule && !rest.is_empty()).then_some((Severity::Error, Some(code), rest.trim_end()))
}

/// `--> path:1:2` (primary) or `::: path:1:2` (related).
fn arrow(line: &str) -> Option<(LogPosition, bool)> {
    let (rest, is_primary) = match line.strip_prefix("--> ") {
        Some(rest) => (rest, true),
        None => (line.strip_prefix("::: ")?, false),
    };
    let (place, rest) = place::colon(rest.trim_end())?;
    rest.is_empty().then_some((place, is_primary))
}

/// `thread 'x' panicked at src/lib.rs:12:9:`, with the message on the next lines, or in older toolchains before it.
pub(super) fn panic(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some(position) = line.find(" panicked at ").filter(|_| line.trim_start().starts_with("thread ")) else {
        return 0;
    };
    let Some(rest) = line.get(position + " panicked at ".len()..) else { return 0 };
    let (place, mut message) = match rest.strip_prefix('\'').and_then(|text| text.rsplit_once("', ")) {
        Some((message, place)) => match place::colon(place.trim()) {
            Some((place, _)) => (place, message.to_owned()),
            None => return 0,
        },
        None => match place::colon(rest.trim_end()) {
            Some((place, ":" | "")) => (place, String::new()),
            _ => return 0,
        },
    };
    let (mut end, mut in_trace) = (at, false);
    let mut frames = Vec::new();
    for (index, next) in lines.after(at).take(LOOK_AHEAD) {
        let trimmed = next.trim();
        if trimmed == "stack backtrace:" {
            in_trace = true;
        } else if in_trace {
            if let Some((place, _)) = trimmed.strip_prefix("at ").and_then(place::colon) {
                frames.push(Frame { place, name: frame_name(lines.get(index - 1)) });
            } else if frame_name(next).is_none() {
                break;
            }
        } else if trimmed.is_empty() || trimmed.starts_with("note: ") || trimmed.starts_with("----") {
            break;
        } else {
            if !message.is_empty() {
                message.push('\n');
            }
            message.push_str(next.trim_end());
        }
        end = index;
    }
    frames.retain(|frame| !is_foreign(&frame.place.file));
    let first = Frame { place: place.clone(), name: None };
    if frames.first().is_none_or(|frame| frame.place != place) {
        frames.insert(0, first);
    }
    let place = if is_foreign(&place.file) {
        frames.iter().map(|frame| &frame.place).find(|place| !is_foreign(&place.file)).cloned().unwrap_or(place)
    } else {
        place
    };
    frames.retain(|frame| !is_foreign(&frame.place.file));
    let mut diagnostic = Diagnostic::new("cargo-test", place, Severity::Error, message).in_unit(ColumnUnit::Char);
    diagnostic.frames = frames;
    found.push(diagnostic);
    end - at + 1
}

/// The function in `   4: panics::tests::halves`.
fn frame_name(line: &str) -> Option<String> {
    let (_, rest) = place::number(line.trim_start())?;
    Some(rest.strip_prefix(": ")?.trim().to_owned())
}
