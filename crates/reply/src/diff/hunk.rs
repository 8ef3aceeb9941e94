//! One hunk: its range line and the lines it counts.

use std::ops::Range;

use super::{DiffError, Lines};

/// A hunk whose lines are as many as its range line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The range line in the fence.
    pub(crate) index: usize,
    pub(crate) old_start: u64,
    pub(crate) old_count: u64,
    pub(crate) new_start: u64,
    pub(crate) new_count: u64,
    /// The lines below it in the fence.
    pub(crate) lines: Range<usize>,
    /// Kept lines behind the last change.
    pub(crate) trailing: usize,
}

/// `@@ -1,2 +3,4 @@`: start and count of both sides.
pub(super) fn parse_range(line: &str) -> Option<[u64; 4]> {
    let (old_start, old_count, rest) = range(line.strip_prefix("@@ -")?)?;
    let (new_start, new_count, rest) = range(rest.strip_prefix(" +")?)?;
    rest.starts_with(" @@").then_some([old_start, old_count, new_start, new_count])
}

fn range(text: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(',') {
        None => Some((start, 1, rest)),
        Some(rest) => number(rest).map(|(count, rest)| (start, count, rest)),
    }
}

/// A number of any length; one too large is as large as can be.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    (!number.is_empty()).then(|| (number.parse().unwrap_or(u64::MAX), rest))
}

/// Reads the hunk at a range line, and tells where reading goes on.
pub(super) fn parse(lines: &Lines<'_>, index: usize) -> (Result<Hunk, DiffError>, usize) {
    let Some([old_start, old_count, new_start, new_count]) = lines.get(index).and_then(|line| parse_range(line)) else {
        let message = "a hunk starts with `@@ -line,count +line,count @@`";
        return (Err(DiffError::new(index, message)), index + 1);
    };
    let (mut old_left, mut new_left) = (old_count, new_count);
    let (mut at, mut trailing, mut changes) = (index + 1, 0, 0_u64);
    while old_left > 0 || new_left > 0 {
        let Some(line) = lines.get(at) else { break };
        match line.as_bytes().first() {
            None | Some(b' ') if old_left > 0 && new_left > 0 => {
                (old_left, new_left, trailing) = (old_left - 1, new_left - 1, trailing + 1);
            }
            Some(b'-') if old_left > 0 => (old_left, trailing, changes) = (old_left - 1, 0, changes + 1),
            Some(b'+') if new_left > 0 => (new_left, trailing, changes) = (new_left - 1, 0, changes + 1),
            Some(b'\\') if is_no_newline(line) => {}
            _ => break,
        }
        at += 1;
    }
    if old_left > 0 || new_left > 0 {
        let message = format!(
            "the hunk says {old_count} old and {new_count} new lines, but {} and {} were there when it ended",
            old_count - old_left,
            new_count - new_left
        );
        return (Err(DiffError::new(index, message)), at);
    }
    if lines.get(at).is_some_and(|line| is_no_newline(line)) {
        at += 1;
    }
    if changes == 0 {
        return (Err(DiffError::new(index, "the hunk neither adds nor removes a line")), at);
    }
    let hunk = Hunk { index, old_start, old_count, new_start, new_count, lines: index + 1..at, trailing };
    (Ok(hunk), at)
}

/// `\ No newline at end of file`, in any language.
pub(super) fn is_no_newline(line: &str) -> bool {
    line.starts_with("\\ ") && line.len() >= 11
}
