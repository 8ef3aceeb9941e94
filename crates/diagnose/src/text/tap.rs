//! TAP with YAML blocks, the output of `node --test` if it is not a terminal.

use super::lines::{LOOK_AHEAD, Lines, MESSAGE_LINES, frame_body};
use crate::{Diagnostic, Frame, LogPosition, Severity, is_foreign, place};

pub(super) fn tap(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let Some(title) = line.strip_prefix("not ok ") else { return 0 };
    if lines.get(at + 1).trim() != "---" {
        return 0;
    }
    let title = title.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches([' ', '-']);
    let mut failure = Failure { message: title.to_owned(), ..Failure::default() };
    // The key whose value is the indented text below it, and the indentation of the key.
    let mut block = "";
    let mut block_indent = 0;
    let mut end = at + 1;
    for (index, next) in lines.after(at + 1).take(LOOK_AHEAD) {
        end = index;
        let trimmed = next.trim();
        let indent = next.len() - next.trim_start().len();
        if trimmed == "..." && (block.is_empty() || indent <= block_indent) {
            break;
        }
        if !block.is_empty() && (indent > block_indent || trimmed.is_empty()) {
            failure.read_block_line(block, trimmed);
            continue;
        }
        block = "";
        let Some((key, value)) = trimmed.split_once(':') else { continue };
        let value = value.trim();
        if matches!(value, "|-" | "|" | ">-" | ">") {
            (block, block_indent) = (key, indent);
        } else {
            failure.read_value(key, value);
        }
    }
    found.extend(failure.into_diagnostic());
    end - at + 1
}

/// What the YAML block of a failed test says.
#[derive(Default)]
struct Failure<'l> {
    message: String,
    /// How many lines of the block `error` are in the message. The first one replaces the title.
    message_lines: usize,
    name: &'l str,
    location: Option<LogPosition>,
    frames: Vec<Frame>,
    /// A suite that fails because of its tests.
    is_parent: bool,
}

impl<'l> Failure<'l> {
    fn read_block_line(&mut self, block: &str, line: &str) {
        if block == "error" && !line.is_empty() && self.message_lines < MESSAGE_LINES {
            self.message = if self.message_lines == 0 { line.to_owned() } else { format!("{}\n{line}", self.message) };
            self.message_lines += 1;
        } else if block == "stack"
            && let Some((name, place)) =
                frame_body(line.strip_prefix("async ").unwrap_or(line)).filter(|(_, place)| !is_foreign(&place.file))
        {
            self.frames.push(Frame { place, name: name.map(str::to_owned) });
        }
    }

    fn read_value(&mut self, key: &str, value: &'l str) {
        let text = unquoted(value);
        match key {
            "error" => self.message = text,
            "name" => self.name = value.trim_matches('\''),
            "location" => self.location = place::colon(&text).map(|(place, _)| place),
            "failureType" => self.is_parent = text == "subtestsFailed",
            _ => {}
        }
    }

    /// `None` for a suite, whose tests are reported separately, and for a failure without a place.
    fn into_diagnostic(self) -> Option<Diagnostic> {
        let place = self.frames.first().map(|frame| frame.place.clone()).or(self.location);
        let place = place.filter(|_| !self.is_parent)?;
        let message = if self.name.is_empty() { self.message } else { format!("{}: {}", self.name, self.message) };
        let mut diagnostic = Diagnostic::new("tap", place, Severity::Error, message);
        diagnostic.frames = self.frames;
        Some(diagnostic)
    }
}

/// An unquoted YAML scalar.
fn unquoted(value: &str) -> String {
    if let Some(text) = value.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return text.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    value
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
        .map_or_else(|| value.to_owned(), |text| text.replace("''", "'"))
}
