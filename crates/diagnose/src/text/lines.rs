//! The lines of a cleaned log, and patterns that several grammars share.

use crate::{LogPosition, Severity, place};

/// How far any grammar looks ahead. Bounds the work per line, so that parsing stays linear.
pub(crate) const LOOK_AHEAD: usize = 400;
/// A message keeps at most this many lines.
pub(crate) const MESSAGE_LINES: usize = 20;

/// The lines of a log. Lines after the end are empty.
pub(crate) struct Lines<'t> {
    lines: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { lines: text.lines().collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn get(&self, at: usize) -> &'t str {
        self.lines.get(at).copied().unwrap_or("")
    }

    /// The lines after `at`, up to the look-ahead limit.
    pub(crate) fn after(&self, at: usize) -> impl Iterator<Item = (usize, &'t str)> + '_ {
        let end = self.len().min(at.saturating_add(1 + LOOK_AHEAD));
        (at + 1..end).map(|index| (index, self.get(index)))
    }

    /// The first non-blank line after `at`.
    pub(crate) fn next_text(&self, at: usize) -> Option<(usize, &'t str)> {
        self.after(at).find(|(_, line)| !line.trim().is_empty())
    }
}

/// Parses `error`, `Error`, `fatal error`, `warning`, … at the start of `text`; returns also the rest.
pub(crate) fn severity(text: &str) -> Option<(Severity, &str)> {
    const WORDS: [(&str, Severity); 14] = [
        ("fatal error", Severity::Error),
        ("error", Severity::Error),
        ("Error", Severity::Error),
        ("ERROR", Severity::Error),
        ("fatal", Severity::Error),
        ("warning", Severity::Warning),
        ("Warning", Severity::Warning),
        ("WARNING", Severity::Warning),
        ("warn", Severity::Warning),
        ("information", Severity::Info),
        ("info", Severity::Info),
        ("Info", Severity::Info),
        ("message", Severity::Info),
        ("hint", Severity::Info),
    ];
    WORDS.iter().find_map(|(word, severity)| {
        let rest = text.strip_prefix(word)?;
        (!rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')).then_some((*severity, rest))
    })
}

/// A code such as `TS2307`, `E0609`, `CS0103`, `F401`: letters, then digits.
pub(crate) fn code(text: &str) -> Option<(&str, &str)> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = text.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    let followed = text.as_bytes().get(letters + digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (letters > 0 && letters <= 12 && digits > 0 && digits <= 8 && followed).then(|| text.split_at(letters + digits))
}

/// Whether the line is part of a code frame: `12 | code`, `> 12 | code`, `   | ^^^`, `   |`, `12│ code`.
pub(crate) fn is_code_frame(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(['>', '❯', '→']).trim_start();
    let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
    rest.starts_with(['|', '│', '╵', '┆'])
}

/// Whether the line only marks columns of the line above it.
pub(crate) fn is_marker(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty()
        && text.chars().all(|letter| matches!(letter, '^' | '~' | '-' | ' ' | '|' | '│' | '+'))
        && text.contains(['^', '~'])
}

/// The source text of the marked line of a code frame at or after `at`, if it shows line `line`.
pub(crate) fn excerpt(lines: &Lines<'_>, at: usize, line: u32) -> Option<String> {
    for (_, text) in lines.after(at).take(10) {
        let rest = text.trim_start().trim_start_matches('>').trim_start();
        if let Some((number, rest)) = place::number(rest)
            && number == line
            && let Some(code) = rest.trim_start().strip_prefix(['|', '│'])
        {
            return Some(code.strip_prefix(' ').unwrap_or(code).to_owned());
        }
    }
    None
}

/// A JavaScript stack frame: `at f (path:1:2)`, `at path:1:2`, `❯ f path:1:2`, `f@path:1:2`.
pub(crate) fn script_frame(line: &str) -> Option<(Option<&str>, LogPosition)> {
    let text = line.trim_start();
    let text = text.strip_prefix("at ").or_else(|| text.strip_prefix("❯ "))?;
    let text = text.strip_prefix("async ").unwrap_or(text);
    frame_body(text)
}

/// The part of a frame after `at`.
pub(crate) fn frame_body(text: &str) -> Option<(Option<&str>, LogPosition)> {
    let text = text.trim_end().trim_end_matches(" {");
    if let Some(inner) = text.strip_suffix(')')
        && let Some(open) = inner.rfind(" (")
    {
        let name = inner.get(..open)?;
        let (found, rest) = place::colon(inner.get(open + 2..)?)?;
        return (rest.is_empty() && found.col.is_some()).then_some((Some(name), found));
    }
    if let Some((found, rest)) = place::colon(text)
        && rest.is_empty()
        && found.col.is_some()
        && !found.file.contains(' ')
    {
        return Some((None, found));
    }
    // vitest: `explode test/sum.js:6:22`
    let (name, path) = text.rsplit_once(' ')?;
    let (found, rest) = place::colon(path)?;
    (rest.is_empty() && found.col.is_some()).then_some((Some(name), found))
}

/// Whether the line is a stack frame of a runtime, without a position in a user's file.
pub(crate) fn is_runtime_frame(line: &str) -> bool {
    let text = line.trim_start();
    (text.starts_with("at ") || text.starts_with("❯ "))
        && (text.contains("node:")
            || text.contains("<anonymous>")
            || text.contains("(native")
            || text.contains("(internal/"))
}
