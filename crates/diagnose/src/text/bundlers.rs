//! esbuild (with Angular and vite's esbuild plugin), webpack, rollup and Babel. Their columns are 0-based.

use super::lines::{Lines, code, excerpt, is_code_frame, severity};
use crate::place::LineColumn;
use crate::{Diagnostic, LogPosition, Related, Severity, place};

fn from_zero(mut place: LogPosition) -> LogPosition {
    place.col = place.col.map(|col| col.saturating_add(1));
    place
}

/// `✘ [ERROR] message`, a blank line, `    src/main.js:3:17:`, a frame; notes below name related places.
pub(super) fn esbuild(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start_matches(['✘', '▲', ' ', '>', 'X']);
    let Some(rest) = line.strip_prefix('[') else { return 0 };
    let Some((severity, rest)) = severity(rest) else { return 0 };
    let Some(message) = rest.strip_prefix("] ") else { return 0 };
    let (tag, text) = code(message)
        .filter(|(code, rest)| code.starts_with("TS") || rest.starts_with(": "))
        .map_or((None, message), |(code, rest)| (Some(code), rest.trim_start_matches([':', ' '])));
    let text = text.rsplit_once(" [plugin ").map_or(text, |(before, _)| before);
    let Some((index, next)) = lines.next_text(at) else { return 0 };
    let Some((place, after)) = place::colon(next.trim()) else { return 0 };
    if !next.starts_with("  ") || !matches!(after, ":" | "") {
        return 0;
    }
    let mut diagnostic = Diagnostic::new("esbuild", from_zero(place), severity, text.trim()).with_code(tag);
    diagnostic.excerpt = diagnostic.place.as_ref().and_then(|place| excerpt(lines, index, place.line));
    let mut end = index;
    for (index, next) in lines.after(index) {
        let trimmed = next.trim();
        if let Some((place, ":")) = place::colon(trimmed).filter(|_| next.starts_with("    ")) {
            diagnostic.related.push(Related { place: from_zero(place), message: String::new() });
        } else if !(trimmed.is_empty() || is_code_frame(next) || next.starts_with("  ")) {
            break;
        }
        if !trimmed.is_empty() {
            end = index;
        }
    }
    found.push(diagnostic);
    end - at + 1
}

/// `/srv/app/a.ts:3:10: ERROR: message`, as vite's plugin and esbuild's API print it.
pub(super) fn esbuild_line(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let Some((place, rest)) = place::colon(line) else { return 0 };
    let Some((word, message)) = rest.strip_prefix(": ").and_then(|rest| rest.split_once(": ")) else { return 0 };
    let severity = match word {
        "ERROR" => Severity::Error,
        "WARNING" => Severity::Warning,
        _ => return 0,
    };
    if place.col.is_none() {
        return 0;
    }
    found.push(Diagnostic::new("esbuild", from_zero(place), severity, message.trim()));
    1
}

/// `ERROR in ./src/a.ts 3:4-9` with the message below, or `ERROR in src/a.ts:3:5` of fork-ts-checker with `TS2322: …`.
pub(super) fn webpack(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some((severity, rest)) = severity(line) else { return 0 };
    let Some(rest) = rest.strip_prefix(" in ") else { return 0 };
    let next = lines.get(at + 1).trim();
    if let Some((place, rest)) = place::colon(rest.trim_end())
        && rest.is_empty()
    {
        let (tag, message) =
            code(next).map_or((None, next), |(code, rest)| (Some(code), rest.trim_start_matches(':').trim()));
        let mut diagnostic =
            Diagnostic::new(if tag.is_some() { "tsc" } else { "webpack" }, place, severity, message).with_code(tag);
        diagnostic.excerpt = diagnostic.place.as_ref().and_then(|place| excerpt(lines, at, place.line));
        found.push(diagnostic);
        return 2;
    }
    let Some((path, position)) = rest.trim_end().rsplit_once(' ') else { return 0 };
    let Some((LineColumn { line, col }, _)) = place::line_column(position) else { return 0 };
    let Some(file) = place::clean_path(path) else { return 0 };
    let mut message = String::new();
    let mut consumed = 1;
    for (_, text) in lines.after(at).take(12) {
        if text.trim().is_empty() || text.starts_with(" @ ") || is_code_frame(text) {
            break;
        }
        if !message.is_empty() {
            message.push('\n');
        }
        message.push_str(text.trim_end());
        consumed += 1;
    }
    found.push(Diagnostic::new("webpack", from_zero(LogPosition { file, line, col: Some(col) }), severity, message));
    consumed
}

/// rollup and vite: `src/a.js (3:9): message`, or the message and then `file: /srv/app/src/a.js:3:9`.
pub(super) fn rollup(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let line = line.strip_prefix("[!] ").unwrap_or(line);
    let bare = line.split_once("] ").filter(|(tag, _)| tag.starts_with('[')).map_or(line, |(_, rest)| rest);
    let bare = bare.strip_prefix("RollupError: ").unwrap_or(bare);
    if let Some((path, rest)) = bare.split_once(" (")
        && let Some((LineColumn { line, col }, rest)) = place::line_column(rest)
        && let Some(rest) = rest.strip_prefix(')')
        && let Some(file) = place::clean_path(path)
        && (rest.is_empty() || rest.starts_with(": "))
    {
        let place = from_zero(LogPosition { file, line, col: Some(col) });
        let after = rest.trim_start_matches(':').trim();
        // The position is repeated above the code.
        if after.is_empty()
            && found.last().is_some_and(|last| last.tool == "rollup" && last.place.as_ref() == Some(&place))
        {
            return 1;
        }
        let message = if after.is_empty() { previous_message(lines, at) } else { after.to_owned() };
        found.push(Diagnostic::new("rollup", place, Severity::Error, message));
        // The same position follows as `file: …`.
        let repeats = lines.get(at + 1).trim_start().starts_with("file: ");
        return 1 + usize::from(repeats);
    }
    let Some(rest) = line.strip_prefix("file: ").or_else(|| line.strip_prefix("File: ")) else { return 0 };
    let Some((place, after)) = place::colon(rest.trim()) else { return 0 };
    if place.col.is_none() || !after.is_empty() {
        return 0;
    }
    let message = previous_message(lines, at);
    if message.is_empty() {
        return 0;
    }
    found.push(Diagnostic::new("rollup", from_zero(place), Severity::Error, message));
    1
}

/// The nearest non-blank line above, without `[plugin]` tags.
fn previous_message(lines: &Lines<'_>, at: usize) -> String {
    let above = (at.saturating_sub(4)..at).rev().map(|index| lines.get(index).trim()).find(|line| !line.is_empty());
    let line = above.unwrap_or("");
    let line = line.strip_prefix("[!] ").unwrap_or(line);
    let line = line.split_once("] ").filter(|(tag, _)| tag.starts_with('[')).map_or(line, |(_, rest)| rest);
    line.strip_prefix("RollupError: ").unwrap_or(line).to_owned()
}

/// `SyntaxError: /srv/app/src/a.js: Unexpected token (3:10)`.
pub(super) fn babel(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let Some((kind, rest)) = line.split_once(": ") else { return 0 };
    if !kind.ends_with("Error") || kind.contains(' ') {
        return 0;
    }
    let Some((path, message)) = rest.split_once(": ") else { return 0 };
    let Some((text, position)) = message.trim_end().strip_suffix(')').and_then(|text| text.rsplit_once(" (")) else {
        return 0;
    };
    let Some((LineColumn { line, col }, "")) = place::line_column(position) else { return 0 };
    let Some(file) = place::clean_path(path) else { return 0 };
    let place = from_zero(LogPosition { file, line, col: Some(col) });
    found.push(Diagnostic::new("babel", place, Severity::Error, format!("{kind}: {text}")));
    1
}
