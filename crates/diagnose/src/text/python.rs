//! pytest's failure sections, Python tracebacks and syntax errors.

use super::lines::Lines;
use crate::{Diagnostic, Frame, LogPosition, Severity, is_foreign, place};

/// A failure between `____ test_name ____` lines: frames as `path:line: in f`, the message after `E   `.
pub(super) fn pytest(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    if !(line.starts_with("____") && line.trim_end().ends_with("____")) {
        return 0;
    }
    let mut message: Option<String> = None;
    let mut frames: Vec<Frame> = Vec::new();
    let (mut end, mut in_syntax_error, mut native) = (at, false, false);
    for (index, next) in lines.after(at) {
        if next.starts_with("____")
            || next.starts_with("====")
            || next.starts_with("---- Captured")
            || next.starts_with("----- ")
        {
            break;
        }
        end = index;
        if let Some(text) = next.strip_prefix("E   ") {
            if let Some((place, name)) = traceback_frame(text) {
                // A syntax error during collection: the position is part of the message.
                frames.push(Frame { place, name });
                message = None;
                in_syntax_error = true;
            } else if message.is_none() && !text.trim().is_empty() && !(in_syntax_error && text.starts_with(' ')) {
                // The first such line is the exception; further ones are details.
                message = Some(text.trim().to_owned());
            }
        } else if let Some((place, rest)) = place::colon(next)
            && rest.starts_with(':')
            && !next.starts_with([' ', '>'])
        {
            let name = rest.trim_start_matches(':').trim().strip_prefix("in ").map(str::to_owned);
            if frames.last().is_none_or(|frame| frame.place != place) {
                frames.push(Frame { place, name });
            }
        } else if let Some((place, name)) = traceback_frame(next) {
            frames.push(Frame { place, name });
            native = true;
        } else if native && !next.starts_with(' ') && !next.trim().is_empty() {
            // `--tb=native`: the exception follows the frames.
            message = Some(next.trim().to_owned());
            native = false;
        }
    }
    own_frames(&mut frames);
    let Some(place) = frames.first().map(|frame| frame.place.clone()) else { return 0 };
    let message = message.unwrap_or_else(|| line.trim_matches(['_', ' ']).to_owned());
    let mut diagnostic = Diagnostic::new("pytest", place, Severity::Error, message);
    diagnostic.frames = frames;
    found.push(diagnostic);
    end - at + 1
}

/// Keeps frames of the project's own code, innermost first. A comprehension repeats the frame that contains it.
fn own_frames(frames: &mut Vec<Frame>) {
    frames.retain(|frame| !is_foreign(&frame.place.file));
    frames.dedup_by(|next, frame| next.place == frame.place);
    frames.reverse();
}

/// `  File "a.py", line 3, in f`.
fn traceback_frame(line: &str) -> Option<(LogPosition, Option<String>)> {
    let rest = line.trim_start().trim_start_matches(['|', '+', ' ']).strip_prefix("File \"")?;
    let (path, rest) = rest.split_once("\", line ")?;
    let (line, rest) = place::number(rest)?;
    let file = place::clean_path(path)?;
    let name = rest.strip_prefix(", in ").map(|name| name.trim().to_owned());
    Some((LogPosition { file, line, col: None }, name))
}

/// `Traceback (most recent call last):`, frames from the outermost inwards, then `ValueError: message`.
pub(super) fn traceback(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    if !line.contains("Traceback (most recent call last):") {
        return 0;
    }
    let gutter = gutter(line);
    let line = line.get(gutter..).unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    let mut frames: Vec<Frame> = Vec::new();
    let mut message = String::new();
    let mut end = at;
    for (index, next) in lines.after(at) {
        let next = if gutter == 0 { next } else { next.get(gutter..).unwrap_or_default() };
        end = index;
        if let Some((place, name)) = traceback_frame(next) {
            frames.push(Frame { place, name });
        } else if next.len() - next.trim_start().len() <= indent && !next.trim().is_empty() {
            message = next.trim().to_owned();
            break;
        } else if next.trim().is_empty() {
            break;
        }
    }
    own_frames(&mut frames);
    if let Some(place) = frames.first().map(|frame| frame.place.clone()) {
        let mut diagnostic = Diagnostic::new("python", place, Severity::Error, message);
        diagnostic.frames = frames;
        found.push(diagnostic);
    }
    end - at + 1
}

/// The width of `  | ` or `  + ` before the lines of an exception group; 0 for other lines.
fn gutter(line: &str) -> usize {
    let mark = line.trim_start();
    if mark.starts_with("| ") || mark.starts_with("+ ") { line.len() - mark.len() + 2 } else { 0 }
}

/// `  File "a.py", line 3`, the code, a marker, `SyntaxError: message`.
pub(super) fn syntax_error(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let Some((place, _)) = traceback_frame(lines.get(at)) else { return 0 };
    for (index, next) in lines.after(at).take(5) {
        let text = next.trim();
        if let Some((kind, _)) = text.split_once(": ")
            && kind.ends_with("Error")
            && !next.starts_with(' ')
        {
            found.push(Diagnostic::new("python", place, Severity::Error, text));
            return index - at + 1;
        }
    }
    0
}
