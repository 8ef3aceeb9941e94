//! One hunk, parsed twice: by the counts of its range line, as `git apply` does, and by what its lines look like. Models count
//! badly, so the second result is applied unless git's strictness is requested.

use std::ops::Range;

use super::{DiffError, Lines, starts_file};

/// A hunk by its lines, and as git parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The index of its range line in the fence.
    pub(crate) index: usize,
    /// The stated position; `None` for a range line without numbers.
    pub(crate) old_start: Option<u64>,
    /// All following lines that can belong to it; trailing blank lines may not.
    pub(crate) lines: Range<usize>,
    /// Its old and new lines, without trailing blank ones.
    pub(crate) old_count: u64,
    pub(crate) new_count: u64,
    /// As git parses it.
    pub(crate) counted: Result<Counted, DiffError>,
}

/// A hunk with as many lines as its range line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) old_start: u64,
    pub(crate) new_start: u64,
    pub(crate) lines: Range<usize>,
    /// Context lines after the last change.
    pub(crate) trailing: usize,
}

/// `@@ -1,2 +3,4 @@`: start and count of both sides.
pub(super) fn parse_range(line: &str) -> Option<[u64; 4]> {
    let (old_start, old_count, rest) = range(line.strip_prefix("@@ -")?)?;
    let (new_start, new_count, rest) = range(rest.strip_prefix(" +")?)?;
    rest.starts_with(" @@").then_some([old_start, old_count, new_start, new_count])
}

/// Whether a hunk starts at a line, with numbers or without: `@@`, `@@ ... @@`.
pub(super) fn starts(line: &str) -> bool {
    line.trim_end() == "@@" || line.starts_with("@@ ")
}

fn range(text: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(',') {
        None => Some((start, 1, rest)),
        Some(rest) => number(rest).map(|(count, rest)| (start, count, rest)),
    }
}

/// Parses a number of any length; saturates.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    (!number.is_empty()).then(|| (number.parse().unwrap_or(u64::MAX), rest))
}

/// Parses the hunk at a range line. Returns the index of the next line to parse.
pub(super) fn parse(lines: &Lines<'_>, index: usize) -> (Result<Hunk, DiffError>, usize) {
    let (counted, counted_end) = parse_counted(lines, index);
    // Counted lines belong to the hunk even if they look like the start of the next file.
    let start = if counted.is_ok() { counted_end } else { index + 1 };
    let mut end = start;
    while lines.get(end).is_some_and(|line| is_body(line))
        && !starts_file(lines, end)
        && !is_signature(lines, end, counted.is_ok())
    {
        end += 1;
    }
    let body = index + 1..end;
    let filled = filled(lines, body.clone());
    let count = |kept: u8| {
        let of_side = filled.clone().filter(|&at| {
            let first = lines.get(at).and_then(|line| line.as_bytes().first().copied());
            // Models strip the leading space of an empty context line.
            matches!(first, None | Some(b' ')) || first == Some(kept)
        });
        of_side.count() as u64
    };
    let (old_count, new_count) = (count(b'-'), count(b'+'));
    let changes = |at: usize| lines.get(at).is_some_and(|line| line.starts_with(['+', '-']));
    if !filled.clone().any(changes) {
        let message = match &counted {
            Err(error) if filled.is_empty() => error.message.clone(),
            _ => "the hunk neither adds nor removes a line".to_owned(),
        };
        return (Err(DiffError::new(index, message)), end.max(counted_end));
    }
    let old_start = lines.get(index).and_then(|line| parse_range(line)).map(|[old_start, ..]| old_start);
    (Ok(Hunk { index, old_start, lines: body, old_count, new_count, counted }), end)
}

/// Without trailing blank lines, which belong to the fence as often as to the hunk.
pub(super) fn filled(lines: &Lines<'_>, range: Range<usize>) -> Range<usize> {
    let blank = range.clone().rev().take_while(|&at| lines.get(at).is_some_and(|line| line.trim().is_empty())).count();
    range.start..range.end - blank
}

fn is_body(line: &str) -> bool {
    match line.as_bytes().first() {
        None | Some(b' ' | b'+' | b'-') => true,
        Some(b'\\') => is_no_newline(line),
        Some(b'\r') => line.len() == 1,
        _ => false,
    }
}

/// `-- ` and a version end a mailed patch.
fn is_signature(lines: &Lines<'_>, at: usize, is_complete: bool) -> bool {
    is_complete && lines.get(at).is_some_and(|line| line == "-- ") && at + 3 >= lines.len()
}

fn parse_counted(lines: &Lines<'_>, index: usize) -> (Result<Counted, DiffError>, usize) {
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
    (Ok(Counted { old_start, new_start, lines: index + 1..at, trailing }), at)
}

/// `\ No newline at end of file`, in any language.
pub(super) fn is_no_newline(line: &str) -> bool {
    line.starts_with("\\ ") && line.len() >= 11
}
