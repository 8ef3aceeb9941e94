//! TAP with YAML blocks, the output of `node --test` if it is not a terminal.

use super::lines::{LOOK_AHEAD, Lines, MESSAGE_LINES, frame_body};
use crate::{Diagnostic, Frame, Severity, is_foreign, place};

pub(super) fn tap(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let Some(title) = line.strip_prefix("not ok ") else { return 0 };
    if lines.get(at + 1).trim() != "---" {
        return 0;
    }
    let title = title.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches([' ', '-']);
    let (mut message, mut name, mut location) = (title.to_owned(), "", None);
    let mut is_parent = false;
    let mut frames = Vec::new();
    let mut block = "";
    let mut block_indent = 0;
    let mut end = at + 1;
    let mut message_lines = 0;
    for (index, next) in lines.after(at + 1).take(LOOK_AHEAD) {
        end = index;
        let trimmed = next.trim();
        let indent = next.len() - next.trim_start().len();
        if trimmed == "..." && (block.is_empty() || indent <= block_indent) {
            break;
        }
        if !block.is_empty() && (indent > block_indent || trimmed.is_empty()) {
            if block == "error" && !trimmed.is_empty() && message_lines < MESSAGE_LINES {
                message = if message_lines == 0 { trimmed.to_owned() } else { format!("{message}\n{trimmed}") };
                message_lines += 1;
            } else if block == "stack"
                && let Some((name, place)) = frame_body(trimmed.strip_prefix("async ").unwrap_or(trimmed))
                    .filter(|(_, place)| !is_foreign(&place.file))
            {
                frames.push(Frame { place, name: name.map(str::to_owned) });
            }
            continue;
        }
        block = "";
        let Some((key, value)) = trimmed.split_once(':') else { continue };
        let value = value.trim();
        if matches!(value, "|-" | "|" | ">-" | ">") {
            (block, block_indent) = (key, indent);
            continue;
        }
        let text = unquoted(value);
        match key {
            "error" => message = text,
            "name" => name = value.trim_matches('\''),
            "location" => location = place::colon(&text).map(|(place, _)| place),
            "failureType" => is_parent = text == "subtestsFailed",
            _ => {}
        }
    }
    // A suite fails because of its tests, which are reported separately.
    if !is_parent {
        let place = frames.first().map(|frame: &Frame| frame.place.clone()).or(location);
        if let Some(place) = place {
            let message = if name.is_empty() { message } else { format!("{name}: {message}") };
            let mut diagnostic = Diagnostic::new("tap", place, Severity::Error, message);
            diagnostic.frames = frames;
            found.push(diagnostic);
        }
    }
    end - at + 1
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
