//! Search/replace blocks: lines to find, and the lines that replace them.
//!
//! | line | read as |
//! |---|---|
//! | five to nine `<` (or `-`) and `SEARCH` or `ORIGINAL` | a block begins |
//! | five to nine `=` | what follows takes the place of what was above |
//! | five to nine `>` (or `+`) and `REPLACE` or `UPDATED` | the block ends |
//! | a line before the first block | the path, if the fence has one; any other line between blocks is an error |

use std::ops::Range;

use super::{Change, DiffError, FileDiff, Lines, WrittenPath};

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The line that opens it.
    pub(crate) index: usize,
    pub(crate) search: Range<usize>,
    pub(crate) replace: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Open,
    Divider,
    Close,
}

/// Whether a block begins at a line.
pub(crate) fn opens(line: &str) -> bool {
    marker(line) == Some(Marker::Open)
}

fn marker(line: &str) -> Option<Marker> {
    let line = line.trim_end();
    let first = *line.as_bytes().first()?;
    let run = line.bytes().take_while(|&byte| byte == first).count();
    if !(5..=9).contains(&run) {
        return None;
    }
    match (first, line.get(run..)?.trim_start()) {
        (b'<' | b'-', "SEARCH" | "ORIGINAL") => Some(Marker::Open),
        (b'=', "") => Some(Marker::Divider),
        (b'>' | b'+', "REPLACE" | "UPDATED") => Some(Marker::Close),
        _ => None,
    }
}

/// The line of a fence that names the file, if blocks follow it.
pub(crate) fn path_line(lines: &Lines<'_>) -> Option<usize> {
    let first = lines.iter().position(|line| !line.trim().is_empty())?;
    let names = !opens(lines.get(first)?) && lines.get(first + 1).is_some_and(|line| opens(line));
    names.then_some(first)
}

/// Parses a fence of blocks as a patch of `path`; `None` if the reply names no file.
pub(crate) fn parse(lines: &Lines<'_>, path: Option<String>) -> FileDiff {
    let mut replacements = Vec::new();
    let mut error = None;
    let mut at = path_line(lines).map_or(0, |named| named + 1);
    while let Some(line) = lines.get(at) {
        if line.trim().is_empty() {
            at += 1;
        } else if opens(line) {
            let (replacement, next) = read_block(lines, at);
            at = next;
            match replacement {
                Ok(replacement) => replacements.push(replacement),
                Err(found) => _ = error.get_or_insert(found),
            }
        } else {
            let message = "between search/replace blocks there is nothing but blank lines";
            error.get_or_insert(DiffError::new(at, message));
            at += 1;
        }
    }
    let is_new = replacements.iter().any(|one: &Replacement| one.search.is_empty());
    let named = path.map(|path| WrittenPath { path, taken_as: None, index: 0 });
    FileDiff {
        // An empty search in a file that does not exist creates it.
        change: if is_new { Change::Write } else { Change::Edit },
        old: named.clone(),
        new: named.clone(),
        written: named.into_iter().collect(),
        malformed: error,
        body: super::Body::Replacements(replacements),
        ..FileDiff::default()
    }
}

fn read_block(lines: &Lines<'_>, index: usize) -> (Result<Replacement, DiffError>, usize) {
    let find = |from: usize, wanted: Marker| {
        let marked =
            (from..lines.len()).find_map(|at| lines.get(at).and_then(|line| marker(line)).map(|one| (at, one)));
        marked.filter(|(_, one)| *one == wanted).map(|(at, _)| at)
    };
    let Some(divider) = find(index + 1, Marker::Divider) else {
        let message = "the search/replace block has no line of `=======`";
        return (Err(DiffError::new(index, message)), index + 1);
    };
    let Some(close) = find(divider + 1, Marker::Close) else {
        let message = "the search/replace block is not closed by one `>>>>>>> REPLACE` behind one `=======`";
        return (Err(DiffError::new(index, message)), divider + 1);
    };
    (Ok(Replacement { index, search: index + 1..divider, replace: divider + 1..close }), close + 1)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn check(text: &str, expected: &str) {
        let lines: Vec<Cow<'_, str>> = text.lines().map(Cow::Borrowed).collect();
        let file = parse(&lines, Some("a".to_owned()));
        let super::super::Body::Replacements(blocks) = &file.body else { panic!("{file:?}") };
        let join = |range: &Range<usize>| lines[range.clone()].join("|");
        let mut parsed: Vec<String> =
            blocks.iter().map(|block| format!("{}->{}", join(&block.search), join(&block.replace))).collect();
        parsed.extend(file.malformed.map(|error| format!("line {}", error.index)));
        assert_eq!(parsed.join(" "), expected, "{text}");
    }

    #[test]
    fn search_and_replace_blocks_are_split_at_their_markers() {
        check("<<<<<<< SEARCH\na\nb\n=======\nc\n>>>>>>> REPLACE", "a|b->c");
        check("src/a.ts\n<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n\n", "a->");
        check("------- SEARCH\na\n=======\nb\n+++++++ REPLACE", "a->b");
        check("<<<<< ORIGINAL\n=====\nb\n>>>>> UPDATED", "->b");
        check(
            "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE",
            "a->b c->d",
        );
        check("<<<<<<< SEARCH\na\n>>>>>>> REPLACE", "line 0");
        check("<<<<<<< SEARCH\na\n=======\nb", "line 0");
        check("<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE", "line 0");
        check("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nwords", "a->b line 5");
    }

    #[test]
    fn only_exact_markers_are_recognised() {
        for line in ["<<<<<<< SEARCH", "<<<<<SEARCH", "<<<<<<<<< ORIGINAL  "] {
            assert!(opens(line), "{line}");
        }
        for line in ["<<<<<<< HEAD", "<<<< SEARCH", " <<<<<<< SEARCH", "SEARCH", "", "======="] {
            assert!(!opens(line), "{line}");
        }
    }
}
