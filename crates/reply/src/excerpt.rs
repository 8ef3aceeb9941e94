//! Truncates a line of the reply to the part that is shown, and locates what to underline.

use crate::Excerpt;

/// The maximum number of characters shown of a line.
const WIDTH: usize = 160;

/// How many bytes of a line are searched for the offending part: lines can be megabytes long, and findings many.
const SEARCHED: usize = 4096;

/// The 1-based column of `part` in `line`, and the excerpt. If `part` is not found, the whole line is underlined.
pub(crate) fn cut(line: &str, part: &str) -> (u32, Excerpt) {
    let near = prefix(line, SEARCHED);
    let (offset, length) = match near.find(part).filter(|_| !part.is_empty()) {
        Some(offset) => (offset, part.len()),
        None => {
            let offset = near.len() - near.trim_start().len();
            (offset, near.trim().len())
        }
    };
    let column = near.get(..offset).unwrap_or_default().chars().count();
    let first_shown = if column + 40 > WIDTH { column.saturating_sub(40) } else { 0 };
    let text: String = near.chars().skip(first_shown).take(WIDTH).map(visible).collect();
    let shown = text.chars().count();
    let start = (column - first_shown).min(shown);
    let marked = near.get(offset..offset + length).unwrap_or_default().chars().count();
    let end = (start + marked).min(shown);
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (number(column + 1), Excerpt { text, start: number(start), end: number(end) })
}

/// Replaces control characters, which would shift the underline or control the terminal.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        character if character.is_control() => char::REPLACEMENT_CHARACTER,
        character => character,
    }
}

/// Truncates a text to at most `most` bytes, between characters.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn the_excerpt_marks_the_quoted_part() {
        let check = |line: &str, part: &str, column: u32, shown: &str, marked: &str| {
            let (found, excerpt) = cut(line, part);
            let length = (excerpt.end - excerpt.start) as usize;
            let underlined: String = excerpt.text.chars().skip(excerpt.start as usize).take(length).collect();
            assert_eq!((found, excerpt.text.as_str(), underlined.as_str()), (column, shown, marked), "{line}");
        };
        check("a b c", "b", 3, "a b c", "b");
        check("ä — b", "b", 5, "ä — b", "b");
        check("  whole line ", "", 3, "  whole line ", "whole line");
        check("  whole line ", "absent", 3, "  whole line ", "whole line");
        check("", "x", 1, "", "");
        check("a\tb\u{0}", "b", 3, "a b\u{fffd}", "b");
        let long = format!("{}end", "x".repeat(300));
        check(&long, "end", 301, &format!("{}end", "x".repeat(40)), "end");
    }
}
