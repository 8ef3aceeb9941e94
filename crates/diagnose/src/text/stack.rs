//! Failures with JavaScript stack traces: Node, vitest, Jest, mocha, Bun, Playwright.

use super::lines::{Lines, MESSAGE_LINES, is_code_frame, is_marker, is_runtime_frame, script_frame};
use crate::{Diagnostic, Frame, LogPosition, Severity, is_foreign, place};

/// Node's report of an uncaught error: `/srv/app/a.js:6`, the code, a marker, a blank line, the error and its trace.
pub(super) fn node(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some((place, "")) = place::colon(line.trim_end()) else { return 0 };
    if place.col.is_some() || line.starts_with(' ') {
        return 0;
    }
    let Some(marker) = (1..4).find(|ahead| is_marker(lines.get(at + ahead))) else { return 0 };
    let Some((head, _)) = lines.next_text(at + marker).filter(|(_, text)| is_headline(text)) else { return 0 };
    let indent = lines.get(at + marker).bytes().take_while(|byte| *byte == b' ' || *byte == b'\t').count();
    let col = u32::try_from(indent + 1).ok();
    let shown = LogPosition { col, ..place };
    let excerpt = lines.get(at + 1).to_owned();
    let (mut diagnostic, end) = failure(lines, head, Some(shown.clone()));
    if diagnostic.place.as_ref().is_some_and(|place| place.line == shown.line && place.file == shown.file) {
        diagnostic.excerpt = Some(excerpt);
    }
    found.push(diagnostic);
    end - at + 1
}

/// `TypeError: message` and the trace below it.
pub(super) fn error(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    if !is_headline(lines.get(at)) {
        return 0;
    }
    let (diagnostic, end) = failure(lines, at, None);
    if diagnostic.place.is_none() {
        return 0;
    }
    found.push(diagnostic);
    end - at + 1
}

/// Whether the line is `SomeError: message`, `Error`, `Uncaught TypeError [CODE]: message`.
fn is_headline(line: &str) -> bool {
    let text = line.trim_start();
    let text = text.strip_prefix("Uncaught ").unwrap_or(text);
    let end = text
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '.')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let is_error = (name.ends_with("Error") || name.ends_with("Exception") || name == "error")
        && name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    is_error && (rest.is_empty() || rest.starts_with(':') || rest.starts_with(" ["))
}

/// Parses message and frames, starting at the headline. Returns the last line that was consumed.
fn failure(lines: &Lines<'_>, head: usize, shown: Option<LogPosition>) -> (Diagnostic, usize) {
    let mut message = lines.get(head).trim().to_owned();
    let (mut frames, mut end, mut message_is_open) = (Vec::new(), head, true);
    let mut gap = 0;
    for (index, line) in lines.after(head) {
        let trimmed = line.trim();
        if let Some((name, place)) = script_frame(line) {
            message_is_open = false;
            gap = 0;
            end = index;
            if !is_foreign(&place.file) {
                frames.push(Frame { place, name: name.map(str::to_owned) });
            }
        } else if is_runtime_frame(line) || (trimmed.starts_with("at ") && !message_is_open) {
            message_is_open = false;
            gap = 0;
            end = index;
        } else if is_headline(line) || ends_section(trimmed) {
            break;
        } else if trimmed.is_empty() || is_code_frame(line) || is_marker(line) {
            message_is_open &= !trimmed.is_empty();
        } else if message_is_open && index - head < MESSAGE_LINES {
            message.push('\n');
            message.push_str(line.trim_end());
        } else if !frames.is_empty() {
            // Code frames of some runners have no bars, so accept a few other lines between frames.
            gap += 1;
            if gap > 3 || !line.starts_with(' ') {
                break;
            }
        }
    }
    let place = frames.first().map(|frame: &Frame| frame.place.clone()).or(shown);
    let has_place = place.is_some();
    let nowhere = LogPosition { file: String::new(), line: 1, col: None };
    let mut diagnostic = Diagnostic::new("node", place.unwrap_or(nowhere), Severity::Error, message);
    if !has_place {
        diagnostic.place = None;
    }
    diagnostic.frames = frames;
    (diagnostic, end)
}

fn ends_section(line: &str) -> bool {
    line.starts_with("FAIL ")
        || line.starts_with("⎯⎯")
        || line.starts_with("● ")
        || line.starts_with("✖ ")
        || line.starts_with("not ok ")
        || line.starts_with("Caused by")
        || line.starts_with("Node.js v")
        || line.starts_with("Test Suites:")
}

/// Jest: `  ● suite › test`, then the message, a code frame and the trace, all indented.
pub(super) fn jest(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    if !line.trim_start().starts_with("● ") {
        return 0;
    }
    let Some((head, _)) = lines.next_text(at).filter(|(_, text)| !ends_section(text.trim())) else { return 0 };
    let (mut diagnostic, end) = failure(lines, head, None);
    if diagnostic.place.is_none() {
        return 0;
    }
    diagnostic.tool = "jest";
    found.push(diagnostic);
    end - at + 1
}

/// mocha and Playwright: `  1) suite`, title lines, then the error.
pub(super) fn mocha(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let Some((_, rest)) = place::number(lines.get(at).trim_start()) else { return 0 };
    if !rest.starts_with(") ") {
        return 0;
    }
    // Titles of nested suites and a blank line may precede it.
    let head = lines.after(at).take(8).find(|(_, text)| is_headline(text)).map(|(index, _)| index);
    let Some(head) = head else { return 0 };
    let (mut diagnostic, end) = failure(lines, head, None);
    if diagnostic.place.is_none() {
        return 0;
    }
    diagnostic.tool = "mocha";
    found.push(diagnostic);
    end - at + 1
}

/// A trace without a recognised headline: the nearest text above is the message.
pub(super) fn bare_frames(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let is_trace = |line: &str| script_frame(line).is_some() || is_runtime_frame(line);
    if !is_trace(lines.get(at)) || !lines.get(at).trim_start().starts_with("at ") {
        return 0;
    }
    let above = (at.saturating_sub(15)..at)
        .rev()
        .map(|index| lines.get(index))
        .find(|line| !line.trim().is_empty() && !is_code_frame(line) && !is_marker(line) && !is_trace(line));
    let mut frames = Vec::new();
    let mut index = at;
    // Needs no bound: each line read is consumed.
    while is_trace(lines.get(index)) {
        if let Some((name, place)) = script_frame(lines.get(index)).filter(|(_, place)| !is_foreign(&place.file)) {
            frames.push(Frame { place, name: name.map(str::to_owned) });
        }
        index += 1;
    }
    if let Some(place) = frames.first().map(|frame| frame.place.clone()) {
        let mut diagnostic = Diagnostic::new("node", place, Severity::Error, above.unwrap_or("").trim());
        diagnostic.frames = frames;
        found.push(diagnostic);
    }
    index - at
}
