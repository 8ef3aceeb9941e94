//! The lines under `## Input Data Changes` with a fixed form: the statement and the checklist of targets.
//!
//! Decisions, line by line (list markers are already removed; fences, comments and quotes are skipped):
//!
//! | line | read as |
//! |---|---|
//! | `dependency.state.json: no change`, backticks anywhere | the statement |
//! | the same with another case, a full stop, a longer path, more words | prose |
//! | `path — present: yes`, `–`, `-`, `--`; backticks, quotes, bold and task boxes around the parts | a checklist line |
//! | the same with another word than `yes` and `no`, or with words after it | prose, and a hint in the finding |

use std::borrow::Cow;

use crate::markdown::{TextLine, unescape};
use crate::paths::normalise;
use crate::structure::{InputSection, Structure};

/// The line that says that the selection is unchanged.
pub(crate) const STATEMENT: &str = "dependency.state.json: no change";

/// `path — present: yes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Presence {
    pub(crate) line: u32,
    pub(crate) path: String,
    pub(crate) is_present: bool,
}

/// The contents of the fixed lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checklist {
    pub(crate) presences: Vec<Presence>,
    /// The line of the statement.
    pub(crate) statement: Option<u32>,
    /// Lines with `present:` in another form, in order.
    pub(crate) broken: Vec<u32>,
}

/// Parses the fixed lines of the section.
pub(crate) fn read(input: &InputSection<'_>) -> Checklist {
    let mut checklist = Checklist::default();
    for line in &input.prose {
        if is_statement(&line.text) {
            checklist.statement.get_or_insert(line.line);
        } else if let Some((path, is_present)) = presence(&line.text) {
            checklist.presences.push(Presence { line: line.line, path, is_present });
        } else if line.text.contains("present:") {
            checklist.broken.push(line.line);
        }
    }
    checklist
}

/// Whether a line is a fixed one, and so not an entry of a selection.
pub(crate) fn is_fixed(text: &str) -> bool {
    is_statement(text) || presence(text).is_some()
}

/// The line of a statement in a position where it does not count, and why it does not.
pub(crate) fn misplaced_statement(structure: &Structure<'_>) -> Option<(u32, &'static str)> {
    let in_section = |line: &TextLine<'_>| line.text.contains(STATEMENT).then_some(line.line);
    if let Some(line) = structure.input.prose.iter().find_map(in_section) {
        return Some((line, "has more in it than the exact words"));
    }
    for fence in &structure.input.fences {
        if let Some(index) = fence.lines.iter().position(|line| is_statement(line.trim())) {
            return Some((fence.line_of(index), "stands in a fence"));
        }
    }
    let outside = structure.other_prose.iter().find(|line| is_statement(&line.text));
    outside.map(|line| (line.line, "stands outside of `## Input Data Changes`"))
}

fn is_statement(text: &str) -> bool {
    without_backticks(text).trim() == STATEMENT
}

fn presence(text: &str) -> Option<(String, bool)> {
    if !text.contains("present:") {
        return None;
    }
    let text = if text.contains('`') { without_backticks(text) } else { unescape(text) };
    let (before, value) = text.rsplit_once("present:")?;
    let is_present = match value.trim().trim_matches('*') {
        "yes" => true,
        "no" => false,
        _ => return None,
    };
    let before = before.trim_end().trim_end_matches('*').trim_end();
    let path = match before.strip_suffix(['—', '–']) {
        Some(path) => path,
        // A hyphen may be part of a name, so it only separates after a space.
        None => before.strip_suffix('-')?.trim_end_matches('-').strip_suffix([' ', '\t'])?,
    };
    let path = without_task_box(path.trim()).trim_matches(['*', '"']).trim();
    (!path.is_empty()).then(|| (normalise(path), is_present))
}

pub(crate) fn without_task_box(text: &str) -> &str {
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|open| text.strip_prefix(open)).unwrap_or(text)
}

pub(crate) fn without_backticks(text: &str) -> Cow<'_, str> {
    if text.contains('`') { Cow::Owned(text.replace('`', "")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_statement_is_accepted() {
        for text in [STATEMENT, "`dependency.state.json: no change`", "`dependency.state.json`: no change"] {
            assert!(is_statement(text), "{text}");
        }
        for text in [
            "dependency.state.json: No change",
            "dependency.state.json: no change.",
            "dependency.state.json: no changes",
            "dependency.state.json:no change",
            ".stan/context/dependency.state.json: no change",
            "`.stan/context/dependency.state.json`: no change",
            "Selection: dependency.state.json: no change",
            "**dependency.state.json: no change**",
            "dependency.state.json — no change",
        ] {
            assert!(!is_statement(text), "{text}");
        }
    }

    #[test]
    fn checklist_lines_say_whether_a_path_is_present() {
        let check = |text: &str, expected: Option<(&str, bool)>| {
            assert_eq!(presence(text), expected.map(|(path, yes)| (path.to_owned(), yes)), "{text}");
        };
        check("src/a.ts — present: yes", Some(("src/a.ts", true)));
        check("`src/a.ts` — present: `no`", Some(("src/a.ts", false)));
        check("src/a.ts – present: no", Some(("src/a.ts", false)));
        check("src/my-file.ts - present: yes", Some(("src/my-file.ts", true)));
        check("src/a.ts -- present: yes", Some(("src/a.ts", true)));
        check("`src/a.ts — present: yes`", Some(("src/a.ts", true)));
        check("src/a.ts — present:yes", Some(("src/a.ts", true)));
        check("src/a.ts—present: yes", Some(("src/a.ts", true)));
        check("[x] ./src/a.ts — present: **yes**", Some(("src/a.ts", true)));
        check("my file.ts — present: yes", Some(("my file.ts", true)));
        check("src/my\\_file.ts — present: yes", Some(("src/my_file.ts", true)));
        check("src/a.ts — present: maybe", None);
        check("src/a.ts — present: Yes", None);
        check("src/a.ts — present: yes, I think", None);
        check("src/a.ts present: yes", None);
        check("src/a-present: yes", None);
        check("— present: yes", None);
        check("src/a.ts: yes", None);
    }
}
