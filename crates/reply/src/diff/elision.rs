//! Lines that say that lines were left out: `// ... rest of the code unchanged ...`. Models shorten files so; written as it
//! stands, such a reply would delete what it leaves out.
//!
//! | case | decision |
//! |---|---|
//! | a whole file, or the new side of a search/replace block, has such a line | refused |
//! | the old file has the same line, or there is no old file | fine: it is text like any other |
//! | a diff adds such a line | fine: a diff says itself what goes |

use super::{Body, DiffError, FileDiff, Lines};

/// What a shortened passage is called.
const WORDS: &[&str] =
    &["rest of", "existing code", "unchanged", "remaining", "omitted", "same as before", "previous code"];

/// Such lines are compared with the old file until one is new; no real file has more of them.
const MOST_COMPARED: usize = 20;

/// The first such line that the patch would write.
pub(super) fn find(file: &FileDiff, lines: &Lines<'_>, old: &[u8]) -> Option<DiffError> {
    if old.is_empty() {
        return None;
    }
    let written: Vec<usize> = match &file.body {
        Body::Whole => (0..lines.len()).collect(),
        Body::Replacements(blocks) => blocks.iter().flat_map(|block| block.replace.clone()).collect(),
        Body::Hunks(_) | Body::Gone => return None,
    };
    let says_so = |at: &usize| lines.get(*at).is_some_and(|line| is_elision(line));
    let is_new = |at: &usize| lines.get(*at).is_some_and(|line| !has_line(old, line.as_bytes()));
    let index = written.into_iter().filter(says_so).take(MOST_COMPARED).find(is_new)?;
    Some(DiffError::new(index, "this line says that lines were left out, and writing it would delete them"))
}

/// A comment that begins with an ellipsis and says what is left out; without the signs of a comment a space follows the
/// ellipsis, because `...remaining` is code.
fn is_elision(line: &str) -> bool {
    let line = line.trim_start_matches(['{', '(', ' ', '\t']);
    let text = line.trim_start_matches(['/', '*', '#', '-', '<', '!', ';', '%', ' ', '\t']);
    let is_comment = text.len() < line.len();
    let Some(text) = text.strip_prefix("...").or_else(|| text.strip_prefix('…')) else { return false };
    let is_apart = text.trim_start_matches('.').starts_with(char::is_whitespace);
    let text: String = text.chars().take(200).collect::<String>().to_lowercase();
    (is_comment || is_apart) && WORDS.iter().any(|words| text.contains(words))
}

fn has_line(text: &[u8], line: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n').any(|found| found.trim_ascii() == line.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::is_elision;

    #[test]
    fn only_lines_that_say_so() {
        for line in [
            "// ... rest of the code unchanged ...",
            "    # ... existing code ...",
            "/* ... remaining methods ... */",
            "<!-- ... rest of the page ... -->",
            "… unchanged …",
            "{/* ... existing code ... */}",
            "// ...existing code...",
        ] {
            assert!(is_elision(line), "{line}");
        }
        for line in [
            "...args",
            "// ...",
            "call(...rest);",
            "the rest of the code",
            "const [first, ...rest] = all;",
            "  ...remaining,",
            "",
        ] {
            assert!(!is_elision(line), "{line}");
        }
    }
}
