//! Formats a declaration on one line.

use stan_model::outline::{Unit, elided};

/// Longer lines are truncated: a type of a thousand characters does not help in a list.
const MAX_LINE_CHARS: usize = 160;

/// The text of a declaration without bodies and `//` comments, with white space collapsed.
pub(crate) fn one_line(text: &str, unit: &Unit) -> String {
    let signature = elided(text, unit.span, &unit.bodies);
    let mut line = String::with_capacity(signature.len().min(MAX_LINE_CHARS + 4));
    let mut count = 0;
    for word in signature.lines().map(without_comment).flat_map(str::split_whitespace) {
        if !line.is_empty() {
            line.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= MAX_LINE_CHARS {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}

/// A line without its `//` comment. If there is a quote before the `//`, it may be inside a string, so nothing is removed.
fn without_comment(line: &str) -> &str {
    let before = line.split_once("//").map_or(line, |(before, _)| before);
    let is_comment = before.is_empty() || before.ends_with(char::is_whitespace);
    if is_comment && !before.contains(['"', '\'', '`']) { before } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_part_of_a_signature() {
        for (line, expected) in [
            ("  // only the width is needed", "  "),
            ("  | { a: B } // a case", "  | { a: B } "),
            ("url = \"a // b\"", "url = \"a // b\""),
            ("const a = 7//2", "const a = 7//2"),
            ("fn f() -> u8", "fn f() -> u8"),
        ] {
            assert_eq!(without_comment(line), expected, "{line}");
        }
    }
}
