//! An excerpt of a file whose declarations are unknown: a test file without functions of its own, or a language without an
//! extractor. Lines that open a block at the outer levels are usually the titles of tests, or the heads of classes and methods.

use std::collections::BTreeSet;

/// The number of outer levels of indentation whose blocks are shown.
const MAX_LEVELS: usize = 2;
/// The maximum number of lines in an excerpt.
const MAX_LINES: usize = 24;
/// If no line opens a block, this many lines from the top are shown.
const MAX_FIRST_LINES: u32 = 20;

/// The numbers (from 1) of the lines that summarise a text in an unknown format.
pub(crate) fn opening_lines(text: &str) -> BTreeSet<u32> {
    let lines: Vec<(u32, &str)> = (1_u32..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
    let openings: Vec<(u32, usize)> = lines
        .windows(2)
        .enumerate()
        .filter_map(|(at, pair)| {
            let [(number, line), (_, next)] = pair else { return None };
            let opens = indentation(next) > indentation(line) && !is_comment(line);
            let before = at.checked_sub(1).and_then(|at| lines.get(at));
            // If the brace has a line of its own, the head is the line before it.
            match before {
                Some((head, text)) if opens && !has_word(line) => {
                    (has_word(text) && !is_comment(text)).then(|| (*head, indentation(text)))
                }
                _ => (opens && has_word(line)).then(|| (*number, indentation(line))),
            }
        })
        .collect();
    let mut levels: Vec<usize> = openings.iter().map(|(_, level)| *level).collect();
    levels.sort_unstable();
    levels.dedup();
    let deepest = levels.get(MAX_LEVELS - 1).or(levels.last());
    let shown: BTreeSet<u32> =
        openings.iter().filter(|(_, level)| Some(level) <= deepest).map(|(line, _)| *line).take(MAX_LINES).collect();
    if shown.is_empty() {
        lines.iter().map(|(line, _)| *line).take_while(|line| *line <= MAX_FIRST_LINES).collect()
    } else {
        shown
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn has_word(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

fn is_comment(line: &str) -> bool {
    ["//", "/*", "*", "<!--", "--"].iter().any(|mark| line.trim_start().starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::opening_lines;

    fn shown(text: &str) -> Vec<&str> {
        let lines = opening_lines(text);
        (1_u32..).zip(text.lines()).filter(|(number, _)| lines.contains(number)).map(|(_, line)| line.trim()).collect()
    }

    #[test]
    fn a_test_file_shows_the_titles_of_its_tests() {
        let text = "import x from 'y'\n\ndescribe('queue', () => {\n  it('is empty', () => {\n    if (x) {\n      go()\n    }\n  })\n\n  it('grows', () => {\n    go()\n  })\n})\n";
        assert_eq!(shown(text), ["describe('queue', () => {", "it('is empty', () => {", "it('grows', () => {"]);
    }

    #[test]
    fn a_brace_on_its_own_line_belongs_to_the_line_before() {
        let text = "/*\n * Header.\n */\nclass Queue\n{\n    int size()\n    {\n        return 0;\n    }\n}\n";
        assert_eq!(shown(text), ["class Queue", "int size()"]);
    }

    #[test]
    fn a_text_without_blocks_shows_its_first_lines() {
        let text = (1..=30).map(|line| format!("line {line}\n")).collect::<String>();
        assert_eq!(opening_lines(&text).len(), 20);
        assert!(opening_lines("").is_empty());
    }

    #[test]
    fn a_long_file_shows_at_most_24_lines() {
        let text = "test('x', () => {\n  go()\n})\n".repeat(500);
        assert_eq!(opening_lines(&text).len(), 24);
    }
}
