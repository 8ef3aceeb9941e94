//! Patches in the envelope of GPT models' own patch tool: `*** Begin Patch`, then files.
//!
//! | line | read as |
//! |---|---|
//! | `*** Begin Patch`, `*** End Patch` | nothing; either may be missing, not both |
//! | `*** Add File: path` | a new file: every line below it starts with `+` |
//! | `*** Delete File: path` | the file is deleted; its contents are not compared |
//! | `*** Update File: path`, `*** Move to: path` | an edit, or a rename with an edit |
//! | `@@`, with or without words after it | a hunk begins; the words do not position it: its lines must be found exactly once |
//! | `*** End of File` | the hunk is over |
//!
//! One envelope holds many files, so several files in one fence are valid.

use super::{Body, Change, DiffError, FileDiff, Hunk, Lines, ParsedDiff, WrittenPath};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Whether a line opens an envelope.
pub(crate) fn opens(line: &str) -> bool {
    line.trim_end() == BEGIN || [ADD, DELETE, UPDATE].iter().any(|prefix| line.starts_with(prefix))
}

/// Parses a fence that contains an envelope.
pub(crate) fn parse(lines: &Lines<'_>) -> ParsedDiff {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let text = line.trim_end();
        if text.is_empty() || text == BEGIN || text == END {
            at += 1;
            continue;
        }
        let (file, next) = match header(text) {
            Some((change, path)) => read_file(lines, at, change, path),
            None => {
                let message = "a line of the envelope that belongs to no file";
                match files.last_mut() {
                    Some(last) => _ = last.malformed.get_or_insert_with(|| DiffError::new(at, message)),
                    None => {
                        files.push(FileDiff { malformed: Some(DiffError::new(at, message)), ..FileDiff::default() })
                    }
                }
                at += 1;
                continue;
            }
        };
        files.push(file);
        at = next.max(at + 1);
    }
    ParsedDiff { files, stray_hunk: None, is_envelope: true }
}

fn header(line: &str) -> Option<(Change, &str)> {
    let of = |prefix: &str, change| line.strip_prefix(prefix).map(|path| (change, path.trim()));
    of(ADD, Change::Create).or_else(|| of(DELETE, Change::Delete)).or_else(|| of(UPDATE, Change::Edit))
}

fn read_file(lines: &Lines<'_>, start: usize, change: Change, path: &str) -> (FileDiff, usize) {
    let named = |path: &str, index: usize| WrittenPath { path: path.to_owned(), taken_as: None, index };
    let old = named(path, start);
    let mut at = start + 1;
    let moved = lines.get(at).and_then(|line| line.trim_end().strip_prefix(MOVE)).filter(|_| change == Change::Edit);
    let new = match moved {
        Some(to) => named(to.trim(), at),
        None => old.clone(),
    };
    at += usize::from(moved.is_some());
    let mut file = FileDiff {
        index: start,
        has_git_header: true,
        change: if moved.is_some() { Change::Rename } else { change },
        old: Some(old.clone()).filter(|_| change != Change::Create),
        new: Some(new.clone()).filter(|_| change != Change::Delete),
        written: if moved.is_some() { vec![old, new] } else { vec![old] },
        strict_error: Some(DiffError::new(start, "`git apply` does not read patches of this form")),
        ..FileDiff::default()
    };
    let mut hunks = Vec::new();
    while let Some(line) = lines.get(at).filter(|line| !ends_file(line)) {
        let begins = line.starts_with("@@");
        let body_start = at + usize::from(begins);
        let mut end = body_start;
        while lines.get(end).is_some_and(|line| is_body(line)) {
            end += 1;
        }
        if end == body_start && !begins {
            let is_done = line.trim_end() == END_OF_FILE;
            if !is_done {
                let message = "a line of a hunk starts with a space, `+` or `-`";
                file.malformed.get_or_insert_with(|| DiffError::new(at, message));
            }
            at += 1;
            continue;
        }
        hunks.push(hunk(lines, at, body_start..end));
        at = end;
    }
    finish(&mut file, hunks, lines);
    (file, at)
}

/// Reports what cannot be applied to any file.
fn finish(file: &mut FileDiff, hunks: Vec<Hunk>, lines: &Lines<'_>) {
    let changes =
        |hunk: &Hunk| hunk.lines.clone().any(|at| lines.get(at).is_some_and(|line| line.starts_with(['+', '-'])));
    // An envelope may end with blank lines, which would parse as a hunk of context lines.
    let is_blank = |hunk: &Hunk| hunk.lines.clone().all(|at| lines.get(at).is_some_and(|line| line.trim().is_empty()));
    let hunks: Vec<Hunk> = hunks.into_iter().filter(|hunk| !is_blank(hunk)).collect();
    let fault = match file.change {
        Change::Delete if !hunks.is_empty() => Some("a deleted file cannot have lines left"),
        Change::Create if hunks.iter().any(|hunk| hunk.old_count > 0) => {
            Some("each line of a new file starts with `+`")
        }
        Change::Edit if hunks.is_empty() => Some("the patch has no hunks, so it changes nothing"),
        _ if hunks.iter().any(|hunk| !changes(hunk)) => Some("the hunk neither adds nor removes a line"),
        _ => None,
    };
    let index = hunks.first().map_or(file.index, |hunk| hunk.index);
    file.error = fault.map(|message| DiffError::new(index, message));
    file.body = if file.change == Change::Delete { Body::Gone } else { Body::Hunks(hunks) };
}

fn hunk(lines: &Lines<'_>, index: usize, body: std::ops::Range<usize>) -> Hunk {
    let filled = super::hunk::filled(lines, body.clone());
    let count = |side: char| {
        let of_side = |at: usize| lines.get(at).is_some_and(|line| line.is_empty() || line.starts_with([' ', side]));
        filled.clone().filter(|&at| of_side(at)).count() as u64
    };
    let (old_count, new_count) = (count('-'), count('+'));
    let counted = Err(DiffError::new(index, "a hunk of an envelope has no counts"));
    Hunk { index, old_start: None, lines: body, old_count, new_count, counted }
}

fn ends_file(line: &str) -> bool {
    let text = line.trim_end();
    text == BEGIN || text == END || header(text).is_some()
}

fn is_body(line: &str) -> bool {
    line.is_empty() || line.starts_with([' ', '+', '-'])
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn check(text: &str, expected: &str) {
        let lines: Vec<Cow<'_, str>> = text.lines().map(Cow::Borrowed).collect();
        let parsed: Vec<String> = parse(&lines)
            .files
            .iter()
            .map(|file| {
                let fault = file.malformed.as_ref().or(file.error.as_ref()).map_or("", |error| error.message.as_str());
                let path = |path: &Option<WrittenPath>| path.as_ref().map_or("-", |path| path.path.as_str()).to_owned();
                format!("{:?} {} {} {}{fault}", file.change, path(&file.old), path(&file.new), file.hunks().len())
            })
            .collect();
        assert_eq!(parsed.join("; "), expected, "{text}");
    }

    #[test]
    fn files_of_an_envelope() {
        check(
            "*** Begin Patch\n*** Update File: a.ts\n@@ class A\n x\n-y\n+z\n@@\n-b\n*** Add File: b.ts\n+1\n*** Delete File: c.ts\n*** End Patch\n\n",
            "Edit a.ts a.ts 2; Create - b.ts 1; Delete c.ts - 0",
        );
        check("*** Update File: a.ts\n*** Move to: b.ts\n x\n-y\n*** End of File\n", "Rename a.ts b.ts 1");
        check("*** Update File: a.ts\n*** Move to: b.ts\n*** End Patch", "Rename a.ts b.ts 0");
    }

    #[test]
    fn faults_of_an_envelope() {
        check(
            "*** Begin Patch\n*** Update File: a\n*** End Patch",
            "Edit a a 0the patch has no hunks, so it changes nothing",
        );
        check("*** Add File: a\n+x\ny\n", "Create - a 1a line of a hunk starts with a space, `+` or `-`");
        check("*** Add File: a\n x\n", "Create - a 1each line of a new file starts with `+`");
        check("*** Delete File: a\n-x\n", "Delete a - 0a deleted file cannot have lines left");
        check("*** Begin Patch\nwords\n", "Edit - - 0a line of the envelope that belongs to no file");
    }
}
