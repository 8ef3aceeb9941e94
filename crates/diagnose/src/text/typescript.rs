//! TypeScript's compiler in its plain and pretty formats, ts-loader, Next.js, svelte-check, Deno. MSBuild uses the plain format,
//! too.

use super::lines::{Lines, MESSAGE_LINES, code, excerpt, is_code_frame, is_marker, severity};
use crate::place::LineColumn;
use crate::{Diagnostic, LogPosition, Related, Severity, place};

/// `src/a.ts(2,25): error TS2307: message`, and the indented lines that explain it.
pub(super) fn plain(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let line = line.trim_start();
    if let Some(consumed) = placeless(lines, at, found) {
        return consumed;
    }
    let Some((place, rest)) = place::paren(line) else { return 0 };
    let Some(rest) = rest.trim_start().strip_prefix(':') else { return 0 };
    let Some((severity, rest)) = severity(rest.trim_start()) else { return 0 };
    let (code, rest) = optional_code(rest.trim_start());
    let Some(message) = rest.trim_start().strip_prefix(':') else { return 0 };
    let tool = match code {
        Some(code) if !code.starts_with("TS") => "msbuild",
        _ => "tsc",
    };
    let (message, consumed) = continued(lines, at, without_project(message.trim()));
    found.push(Diagnostic::new(tool, place, severity, message).with_code(code));
    consumed
}

/// `error TS18003: No inputs were found in config file …`: about the project, without a position.
fn placeless(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> Option<usize> {
    let rest = lines.get(at).strip_prefix("error ")?;
    let (code, rest) = code(rest)?;
    let message = rest.strip_prefix(": ")?;
    code.starts_with("TS").then_some(())?;
    let (message, consumed) = continued(lines, at, message.trim());
    let nowhere = LogPosition { file: String::new(), line: 1, col: None };
    let mut diagnostic = Diagnostic::new("tsc", nowhere, Severity::Error, message).with_code(Some(code));
    diagnostic.place = None;
    found.push(diagnostic);
    Some(consumed)
}

fn optional_code(text: &str) -> (Option<&str>, &str) {
    code(text).map_or((None, text), |(code, rest)| (Some(code), rest))
}

/// MSBuild appends ` [/path/project.csproj]` to messages.
fn without_project(message: &str) -> &str {
    match message.rsplit_once(" [") {
        Some((before, project)) if project.ends_with("proj]") => before,
        _ => message,
    }
}

/// The message with its continuation lines: indented, and neither a code frame nor a position.
fn continued(lines: &Lines<'_>, at: usize, first: &str) -> (String, usize) {
    let mut message = first.to_owned();
    let mut consumed = 1;
    for (_, line) in lines.after(at).take(MESSAGE_LINES) {
        let is_continuation = line.starts_with("  ")
            && !line.trim().is_empty()
            && place::paren(line.trim_start()).is_none_or(|(_, rest)| !rest.starts_with(':'))
            && place::colon(line.trim_start()).is_none_or(|(_, rest)| !rest.starts_with(" - "))
            && !is_code_frame(line);
        if !is_continuation {
            break;
        }
        message.push('\n');
        message.push_str(line.trim_end());
        consumed += 1;
    }
    (message, consumed)
}

/// `src/a.ts:2:25 - error TS2307: message`, the code frame, and related positions below it.
pub(super) fn pretty(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let line = line.strip_prefix("Error: ").unwrap_or(line);
    let Some((place, rest)) = place::colon(line.trim_start()) else { return 0 };
    let Some(rest) = rest.strip_prefix(" - ") else { return 0 };
    let Some((severity, rest)) = severity(rest) else { return 0 };
    let rest = rest.trim_start();
    // `astro check` writes `ts(2322)`, pyright just a colon.
    let (code, rest) = match rest.split_once("): ") {
        Some((tag, message)) if tag.starts_with("ts(") => (tag.strip_prefix("ts("), message),
        _ => {
            let (code, rest) = optional_code(rest);
            let Some(message) = rest.trim_start().strip_prefix(':') else { return 0 };
            (code, message.trim_start())
        }
    };
    if code.is_none() {
        // pyright: `a.py:3:5 - error: message (reportX)`
        let (text, consumed) = continued(lines, at, rest.trim());
        let (message, rule) = super::columns::trailing_rule(&text, '(', ')');
        found.push(Diagnostic::new("pyright", place, severity, message).with_code(rule));
        return consumed;
    }
    let excerpt_line = place.line;
    let (message, consumed) = message_before_frame(lines, at, rest.trim());
    let mut diagnostic = Diagnostic::new("tsc", place, severity, message).with_code(code);
    let consumed = frame_and_related(lines, at, consumed, excerpt_line, &mut diagnostic);
    found.push(diagnostic);
    consumed
}

/// The message with the indented lines directly below the headline.
fn message_before_frame(lines: &Lines<'_>, at: usize, first: &str) -> (String, usize) {
    let mut message = first.to_owned();
    let mut consumed = 1;
    for (_, line) in lines.after(at).take(MESSAGE_LINES) {
        if !line.starts_with("  ")
            || line.trim().is_empty()
            || place::colon(line.trim()).is_some_and(|(_, rest)| rest.is_empty())
        {
            break;
        }
        message.push('\n');
        message.push_str(line.trim_end());
        consumed += 1;
    }
    (message, consumed)
}

/// Parses the code frame (`2 import …`, `  ~~~~`) and the indented related positions.
fn frame_and_related(lines: &Lines<'_>, at: usize, consumed: usize, line: u32, diagnostic: &mut Diagnostic) -> usize {
    let mut consumed = consumed;
    for (index, text) in lines.after(at + consumed - 1) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            // A blank line ends the finding unless a code frame or a related position follows.
            let (next, after) = (lines.get(index + 1), lines.get(index + 2));
            let goes_on = starts_with_number(next.trim_start()) && (next.starts_with("  ") || is_marker(after))
                || next.starts_with("  ") && place::colon(next.trim()).is_some();
            if !goes_on {
                break;
            }
        } else if let Some((related, rest)) = place::colon(trimmed)
            && rest.is_empty()
            && text.starts_with("  ")
        {
            diagnostic.related.push(Related { place: related, message: String::new() });
        } else if let Some((number, code)) = place::number(text)
            && diagnostic.related.is_empty()
            && (code.is_empty() || code.starts_with(' '))
        {
            if number == line {
                diagnostic.excerpt = Some(code.strip_prefix(' ').unwrap_or(code).to_owned());
            }
        } else if is_marker(text) || starts_with_number(trimmed) {
            // Part of a code frame.
        } else if let Some(related) = diagnostic.related.last_mut().filter(|_| text.starts_with("  ")) {
            related.message =
                if related.message.is_empty() { trimmed.to_owned() } else { format!("{}\n{trimmed}", related.message) };
        } else {
            break;
        }
        consumed = index - at + 1;
    }
    consumed
}

fn starts_with_number(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// ts-loader in webpack prints three positions for one finding; the one in parentheses is TypeScript's own.
pub(super) fn tsl(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    if line.starts_with("ERROR in ") || line.starts_with("WARNING in ") {
        // The headline belongs to a `[tsl]` line at most two lines below.
        for (index, next) in lines.after(at).take(3) {
            if next.trim_start().starts_with("[tsl]") {
                let consumed = tsl(lines, index, found);
                return if consumed == 0 { 0 } else { index - at + consumed };
            }
        }
        return 0;
    }
    let Some(rest) = line.trim_start().strip_prefix("[tsl] ") else { return 0 };
    let Some((severity, rest)) = severity(rest) else { return 0 };
    let Some(rest) = rest.strip_prefix(" in ") else { return 0 };
    let Some((place, _)) = place::paren(rest) else { return 0 };
    let next = lines.get(at + 1).trim();
    let Some((code, message)) = code(next) else { return 0 };
    let (message, consumed) = continued(lines, at + 1, message.trim_start_matches(':').trim());
    found.push(Diagnostic::new("tsc", place, severity, message).with_code(Some(code)));
    consumed + 1
}

/// Next.js and svelte-check: the position on a line of its own, the message on the next one.
pub(super) fn next(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some((place, rest)) = place::colon(line.trim()) else { return 0 };
    if !rest.is_empty() || place.col.is_none() || line.starts_with("   ") {
        return 0;
    }
    let message = lines.get(at + 1).trim();
    const HEADS: [(&str, &str, Severity); 6] = [
        ("Type error: ", "next", Severity::Error),
        ("Error: ", "svelte-check", Severity::Error),
        ("Warn: ", "svelte-check", Severity::Warning),
        ("Warning: ", "svelte-check", Severity::Warning),
        ("Hint: ", "svelte-check", Severity::Info),
        ("Module not found: ", "next", Severity::Error),
    ];
    for (head, tool, severity) in HEADS {
        if let Some(text) = message.strip_prefix(head) {
            let (text, consumed) = continued(lines, at + 1, text);
            let (text, code) = if tool == "svelte-check" {
                super::columns::trailing_rule(&text, '(', ')')
            } else {
                (text.as_str(), None)
            };
            let shown = excerpt(lines, at, place.line);
            let mut diagnostic = Diagnostic::new(tool, place, severity, text).with_code(code);
            diagnostic.excerpt = shown;
            found.push(diagnostic);
            return 1 + consumed;
        }
    }
    0
}

/// svelte-check's machine format: `1590680326283 ERROR "src/App.svelte" 3:5 "message"`.
pub(super) fn svelte_machine(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let mut words = lines.get(at).splitn(3, ' ');
    let (Some(stamp), Some(word), Some(rest)) = (words.next(), words.next(), words.next()) else { return 0 };
    if stamp.len() < 12 || !stamp.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    let severity = match word {
        "ERROR" => Severity::Error,
        "WARNING" => Severity::Warning,
        _ => return 0,
    };
    let Some((path, rest)) = rest.strip_prefix('"').and_then(|rest| rest.split_once("\" ")) else { return 0 };
    let Some((LineColumn { line, col }, rest)) = place::line_column(rest) else { return 0 };
    let Some(file) = place::clean_path(path) else { return 0 };
    let message = rest.trim().trim_matches('"').replace("\\\"", "\"").replace("\\n", "\n");
    found.push(Diagnostic::new("svelte-check", LogPosition { file, line, col: Some(col) }, severity, message));
    1
}

/// `TS2322 [ERROR]: message`, the code, its marker, then `    at file:///srv/app/a.ts:3:5`.
pub(super) fn deno(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let Some((code, rest)) = code(line) else { return 0 };
    let Some(message) = rest.strip_prefix(" [ERROR]: ") else { return 0 };
    for (index, next) in lines.after(at).take(30) {
        if let Some((_, place)) = super::lines::script_frame(next) {
            found.push(Diagnostic::new("deno", place, Severity::Error, message.trim()).with_code(Some(code)));
            return index - at + 1;
        }
    }
    0
}
