//! The little Markdown that the checks need: prose lines without code blocks, code spans, link targets.
//!
//! Not a full parser: the cases where only that would be right are not worth a dependency.

/// The lines outside fenced code blocks, with their 1-based numbers.
pub(super) fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, None) => Some((index + 1, line)),
            (None, Some(mark)) => {
                fence = Some(mark);
                None
            }
            (Some(open), _) => {
                if mark == Some(open) {
                    fence = None;
                }
                None
            }
        }
    })
}

/// The contents of the code spans of one line.
pub(super) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    split_code(line).filter_map(|(is_code, text)| is_code.then_some(text))
}

/// The targets of the inline links, images and link definitions of one line.
pub(super) fn link_targets(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for (_, text) in split_code(line).filter(|(is_code, _)| !is_code) {
        let mut rest = text;
        // A code span inside the brackets splits a link, so search only for the end of the brackets.
        while let Some((_, after)) = rest.split_once("](") {
            targets.extend(first_word(after, ')'));
            rest = after;
        }
    }
    if let Some((label, after)) = line.trim_start().split_once("]:")
        && label.starts_with('[')
        && !label.starts_with("[^")
    {
        targets.extend(first_word(after.trim_start(), ' '));
    }
    targets
}

/// The target at the start of `text`: in angle brackets, or up to white space or `end`.
fn first_word(text: &str, end: char) -> Option<&str> {
    let target = match text.strip_prefix('<') {
        Some(bracketed) => bracketed.split_once('>')?.0,
        None => text.split(|c: char| c == end || c.is_whitespace()).next()?,
    };
    (!target.is_empty()).then_some(target)
}

/// The line split at its code spans, which are delimited by equally long runs of backticks.
fn split_code(line: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = line;
    let mut pending: Option<&str> = None;
    std::iter::from_fn(move || {
        if let Some(code) = pending.take() {
            return Some((true, code));
        }
        if rest.is_empty() {
            return None;
        }
        let Some(open) = rest.find('`') else {
            return Some((false, std::mem::take(&mut rest)));
        };
        let (before, from_ticks) = rest.split_at(open);
        let ticks = from_ticks.len() - from_ticks.trim_start_matches('`').len();
        let (fence, after) = from_ticks.split_at(ticks);
        match after.split_once(fence) {
            Some((code, after)) => {
                pending = Some(code);
                rest = after;
                Some((false, before))
            }
            // A run that is never closed is text.
            None => Some((false, std::mem::take(&mut rest))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{code_spans, link_targets, prose_lines};

    #[test]
    fn code_blocks_are_not_prose() {
        let text = "a\n```text\nb\n~~~\n```\nc\n  ~~~\n```\n  ~~~\nd\n";
        assert_eq!(prose_lines(text).collect::<Vec<_>>(), [(1, "a"), (6, "c"), (10, "d")]);
    }

    #[test]
    fn code_spans_are_found_in_a_line() {
        for (line, expected) in [
            ("no code", vec![]),
            ("`a` and `b/c`", vec!["a", "b/c"]),
            ("``a ` b`` `c`", vec!["a ` b", "c"]),
            ("an unclosed ` tick", vec![]),
        ] {
            assert_eq!(code_spans(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn link_targets_are_found_outside_of_code() {
        for (line, expected) in [
            ("[a](b.md) and ![c](d/e.png)", vec!["b.md", "d/e.png"]),
            ("[`code`](b.md#part)", vec!["b.md#part"]),
            ("[a](b.md \"title\")", vec!["b.md"]),
            ("[a](<b c.md>)", vec!["b c.md"]),
            ("`[a](b.md)`", vec![]),
            ("[a]: b.md", vec!["b.md"]),
            ("[^note]: words", vec![]),
            ("array[0](x)", vec!["x"]),
            ("(plain)", vec![]),
        ] {
            assert_eq!(link_targets(line), expected, "{line}");
        }
    }
}
