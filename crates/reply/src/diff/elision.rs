//! Lines that mark omitted code: `// ... rest of the code unchanged ...`. Models shorten files this way; applied literally, such
//! a reply would delete what it omits.
//!
//! | case | decision |
//! |---|---|
//! | a whole file, or the new side of a search/replace block, has such a line | refused |
//! | the old file has the same line, or there is no old file | fine: it is text like any other |
//! | a diff adds such a line | fine: a diff says itself what goes |

use super::{Body, DiffError, FileDiff, Lines};

/// Words for the omitted passage.
const WORDS: &[&str] =
    &["rest of", "existing code", "unchanged", "remaining", "omitted", "same as before", "previous code"];

/// Words for the omitted thing, in comments without an ellipsis.
const WHOLES: &[&str] = &[
    "file",
    "code",
    "class",
    "function",
    "component",
    "implementation",
    "method",
    "methods",
    "module",
    "script",
    "page",
    "document",
    "imports",
    "tests",
];

/// Prefixes and suffixes of comments without an ellipsis which say that something stays.
const STAYING: &[&str] = &["existing ", "other ", "all other ", "remaining ", "keep "];
const STAYS: &[&str] = &["unchanged", "the same", "as before", "as is", "as-is", "existing code"];

/// A comment with more words is prose.
const MAX_WORDS: usize = 8;

/// Only this many such lines are compared with the old file; no real file has more.
const MAX_COMPARED: usize = 20;

/// The first such line that the patch would add.
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
    let index = written.into_iter().filter(says_so).take(MAX_COMPARED).find(is_new)?;
    Some(DiffError::new(index, "this line says that lines were left out, and writing it would delete them"))
}

/// A comment that starts with an ellipsis and names what is omitted. Without comment markers, a space must follow the ellipsis,
/// because `...remaining` is code.
fn is_elision(line: &str) -> bool {
    let line = line.trim_start_matches(['{', '(', ' ', '\t']);
    let text = line.trim_start_matches(['/', '*', '#', '-', '<', '!', ';', '%', ' ', '\t']);
    let is_comment = text.len() < line.len();
    let Some(text) = text.strip_prefix("...").or_else(|| text.strip_prefix('…')) else {
        return is_comment && is_bare_elision(text);
    };
    let is_apart = text.trim_start_matches('.').starts_with(char::is_whitespace);
    let text: String = text.chars().take(200).collect::<String>().to_lowercase();
    (is_comment || is_apart) && WORDS.iter().any(|words| text.contains(words))
}

/// The text of a comment without an ellipsis: `(rest of the file unchanged)`, `existing code here`, `other methods stay as is`.
fn is_bare_elision(text: &str) -> bool {
    let text: String = text.chars().take(200).collect::<String>().to_lowercase();
    let text = text.trim_matches(|character: char| !character.is_alphanumeric());
    let words = text.split_whitespace().count();
    let rest = text.strip_prefix("the ").unwrap_or(text).strip_prefix("rest of ");
    let rest = rest.map(|rest| rest.strip_prefix("the ").or_else(|| rest.strip_prefix("this ")).unwrap_or(rest));
    let is_rest = rest.and_then(|rest| rest.split_whitespace().next()).is_some_and(|word| WHOLES.contains(&word));
    let stays = STAYING.iter().any(|start| text.starts_with(start)) && STAYS.iter().any(|end| text.ends_with(end));
    let is_code =
        matches!(text, "unchanged" | "existing code" | "existing code here" | "previous code" | "code unchanged");
    words <= MAX_WORDS && (is_rest || stays || is_code)
}

fn has_line(text: &[u8], line: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n').any(|found| found.trim_ascii() == line.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::is_elision;

    #[test]
    fn only_explicit_marks_are_elisions() {
        for line in [
            "// ... rest of the code unchanged ...",
            "    # ... existing code ...",
            "/* ... remaining methods ... */",
            "<!-- ... rest of the page ... -->",
            "… unchanged …",
            "{/* ... existing code ... */}",
            "// ...existing code...",
            "# (rest of the file remains unchanged)",
            "// rest of the code",
            "// [Rest of implementation stays the same]",
            "/* other methods unchanged */",
            "// existing code here",
            "<!-- unchanged -->",
            "// Keep existing code",
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
            "rest of the file unchanged",
            "// the rest of the bytes are zero",
            "// existing users are kept, and the code of all others that were seen before stays the same",
            "// unchanged files are not read again",
            "const unchanged = 1;",
        ] {
            assert!(!is_elision(line), "{line}");
        }
    }
}
