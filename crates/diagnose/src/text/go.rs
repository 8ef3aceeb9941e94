//! Go: panics with goroutine traces, and failures of `go test`. Compiler messages are parsed by `columns`.

use super::lines::{LOOK_AHEAD, Lines};
use crate::{ColumnUnit, Diagnostic, Frame, Severity, is_foreign, place};

/// `panic: message`, then `goroutine 1 [running]:` and pairs of function and `\t/srv/app/main.go:9 +0x1d`.
pub(super) fn panic(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let Some(message) = line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: ")) else { return 0 };
    let mut frames = Vec::new();
    let (mut end, mut in_trace, mut goroutines) = (at, false, 0);
    for (index, next) in lines.after(at) {
        let trimmed = next.trim();
        if trimmed.starts_with("goroutine ") && trimmed.ends_with("]:") {
            goroutines += 1;
            if goroutines > 1 {
                break;
            }
            in_trace = true;
        } else if in_trace && next.starts_with('\t') {
            if let Some((place, _)) = place::colon(trimmed) {
                let name = lines.get(index - 1).trim().rsplit_once('(').map(|(name, _)| name.to_owned());
                frames.push(Frame { place, name });
            }
        } else if in_trace && trimmed.is_empty() {
            break;
        }
        end = index;
    }
    if !in_trace {
        return 0;
    }
    frames.retain(|frame| !is_foreign(&frame.place.file));
    if let Some(place) = frames.first().map(|frame: &Frame| frame.place.clone()) {
        let message = message.split(" [recovered]").next().unwrap_or(message);
        let mut diagnostic =
            Diagnostic::new("go", place, Severity::Error, format!("panic: {message}")).in_unit(ColumnUnit::Byte);
        diagnostic.frames = frames;
        found.push(diagnostic);
    }
    end - at + 1
}

/// Below `--- FAIL: TestX (0.00s)`, each `    x_test.go:12: message` is a failure, whose message may continue on lines with
/// deeper indentation. With `-v`, failures precede that line, below `=== RUN   TestX`.
pub(super) fn test(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let is_run = ["=== RUN ", "=== CONT ", "=== NAME "].iter().any(|start| line.starts_with(start));
    if !is_run && !line.starts_with("--- FAIL: ") {
        return 0;
    }
    let before = found.len();
    let end = failures(lines, at, found);
    if is_run && !lines.get(end + 1).trim_start().starts_with("--- FAIL: ") {
        // Output of a passing test is not a failure.
        found.truncate(before);
    }
    end - at + 1
}

/// Parses failures on the indented lines after one; returns the last of these lines.
fn failures(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let mut end = at;
    let mut last_indent = 0;
    for (index, next) in lines.after(at).take(LOOK_AHEAD) {
        let trimmed = next.trim();
        let indent = next.len() - next.trim_start().len();
        if trimmed.starts_with("--- ") || indent == 0 || trimmed.is_empty() {
            break;
        }
        match place::colon(trimmed) {
            Some((place, rest)) if (rest == ":" || rest.starts_with(": ")) && place.col.is_none() => {
                last_indent = indent;
                let message = rest.trim_start_matches(':').trim();
                found.push(Diagnostic::new("go", place, Severity::Error, message).in_unit(ColumnUnit::Byte));
            }
            _ => {
                // testify repeats the position and the name of the test.
                let is_repeated = trimmed.starts_with("Error Trace:") || trimmed.starts_with("Test:");
                if last_indent > 0
                    && indent > last_indent
                    && !is_repeated
                    && let Some(last) = found.last_mut()
                {
                    let text = trimmed.strip_prefix("Error:").map_or(trimmed, str::trim_start);
                    if !last.message.is_empty() {
                        last.message.push('\n');
                    }
                    last.message.push_str(text);
                }
            }
        }
        end = index;
    }
    end
}
