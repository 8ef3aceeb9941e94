//! A short, readable diff of two texts, line by line. Not a patch: it is truncated, and line ends are ignored.

use serde::Serialize;

use crate::line_diff::{self, LineDiff};

/// The maximum number of lines in the diff.
const MAX_LINES: usize = 40;
/// The maximum length of a line, in characters.
const MAX_LINE_CHARS: usize = 160;
/// Lines of context around a change.
const CONTEXT: usize = 1;

/// The difference between two texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Lines that only the second text has.
    pub added: usize,
    /// Lines that only the first text has.
    pub removed: usize,
    /// Hunks of a unified diff, with control characters made visible.
    pub diff: Vec<String>,
    /// Whether the diff was truncated.
    pub truncated: bool,
}

pub(super) fn difference(from: &[u8], to: &[u8]) -> Difference {
    // A missing final newline is ignored.
    let plain =
        |text| line_diff::lines(text).into_iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
    let diff = LineDiff::new(plain(from), plain(to));
    let (shown, truncated) = shown(&diff);
    Difference { added: diff.added(), removed: diff.removed(), diff: shown, truncated }
}

/// The changes with a little context, and whether they were truncated.
fn shown(diff: &LineDiff<'_>) -> (Vec<String>, bool) {
    let mut shown = Vec::new();
    for hunk in diff.hunks(CONTEXT) {
        if shown.len() + hunk.lines.len() >= MAX_LINES && !shown.is_empty() {
            return (shown, true);
        }
        shown.push(hunk.header);
        shown.extend(hunk.lines.iter().map(|(sign, line)| visible(*sign, line)));
        if shown.len() > MAX_LINES {
            shown.truncate(MAX_LINES);
            return (shown, true);
        }
    }
    (shown, false)
}

/// A line that is safe to show on a terminal: its source is untrusted.
fn visible(sign: char, line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown = String::from(sign);
    for (index, c) in text.chars().enumerate() {
        if index == MAX_LINE_CHARS {
            shown.push('…');
            break;
        }
        if c.is_control() && c != '\t' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, to: &str, expected: &[&str]) {
        let from = from.replace(' ', "\n");
        let to = to.replace(' ', "\n");
        assert_eq!(difference(from.as_bytes(), to.as_bytes()).diff, expected, "{from:?} {to:?}");
    }

    #[test]
    fn a_difference_is_shown_as_unified_hunks() {
        check("a b c", "a b c", &[]);
        check("a b c", "a x c", &["@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"]);
        check("", "a", &["@@ -0,0 +1 @@", "+a"]);
        check("a", "", &["@@ -1 +0,0 @@", "-a"]);
        check("a b", "b a", &["@@ -1,2 +1,2 @@", "+b", " a", "-b"]);
        check(
            "1 2 3 4 5 6",
            "1 2 x 4 5 6 7",
            &["@@ -2,3 +2,3 @@", " 2", "-3", "+x", " 4", "@@ -6 +6,2 @@", " 6", "+7"],
        );
        check("a\u{1b}[31m b", "b", &["@@ -1,2 +1 @@", "-a\\u{1b}[31m", " b"]);
    }

    #[test]
    fn long_differences_are_truncated() {
        let (from, to) = ("a\n".repeat(5_000), "b\n".repeat(6_000));
        let found = difference(from.as_bytes(), to.as_bytes());
        assert_eq!((found.removed, found.added, found.diff.len(), found.truncated), (5_000, 6_000, MAX_LINES, true));
        let wide = difference("x".repeat(10_000).as_bytes(), b"");
        assert!(wide.diff.iter().all(|line| line.chars().count() < 200));
    }
}
