//! What a line opens or closes, decided from the line alone: headings, fences, list markers, thematic breaks, underlines.
//!
//! Every function takes the rest of a line without leading space.

use super::cursor::is_space;

/// The opening line of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FenceStart<'a> {
    pub(super) marker: u8,
    pub(super) length: usize,
    pub(super) info: &'a str,
}

/// `## words ##` → level and words.
pub(super) fn heading(line: &str) -> Option<(u8, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.bytes().next().is_some_and(is_space)) {
        return None;
    }
    let words = rest.trim_matches([' ', '\t', '\r']);
    let without_closing = words.trim_end_matches('#');
    // Number signs close a heading only after a space; otherwise they are part of the last word.
    let closes = without_closing.is_empty() || without_closing.ends_with([' ', '\t']);
    let text = if closes { without_closing.trim_end_matches([' ', '\t']) } else { words };
    Some((u8::try_from(level).unwrap_or(6), text))
}

/// Three or more backticks or tildes. Backticks in the info string make it a code span instead.
pub(super) fn fence(line: &str) -> Option<FenceStart<'_>> {
    let marker = *line.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let rest = line.trim_start_matches(char::from(marker));
    let length = line.len() - rest.len();
    let is_fence = length >= 3 && !(marker == b'`' && rest.contains('`'));
    is_fence.then(|| FenceStart { marker, length, info: rest.trim_matches([' ', '\t', '\r']) })
}

/// Whether a line closes a fence: the same character, at least as many, and nothing after them.
pub(super) fn closes_fence(line: &str, marker: u8, length: usize) -> bool {
    let rest = line.trim_start_matches(char::from(marker));
    line.len() - rest.len() >= length && rest.bytes().all(is_space)
}

/// `***`, `- - -`, `___`: three or more of one character, with any space in between.
pub(super) fn is_thematic_break(line: &str) -> bool {
    let Some(&marker) = line.as_bytes().first().filter(|byte| matches!(byte, b'*' | b'-' | b'_')) else { return false };
    let mut count = 0_usize;
    for byte in line.bytes() {
        if byte == marker {
            count += 1;
        } else if !is_space(byte) {
            return false;
        }
    }
    count >= 3
}

/// `===` or `---` below a paragraph.
pub(super) fn is_underline(line: &str) -> bool {
    let Some(&marker) = line.as_bytes().first().filter(|byte| matches!(byte, b'=' | b'-')) else { return false };
    line.trim_start_matches(char::from(marker)).bytes().all(is_space)
}

/// The length of the list marker at the start of a line. A list can interrupt a paragraph only if it starts with 1 and its first
/// item is not empty.
pub(super) fn list_marker(line: &str, after_paragraph: bool) -> Option<usize> {
    let bytes = line.as_bytes();
    let length = match bytes.first()? {
        b'*' | b'+' | b'-' => 1,
        byte if byte.is_ascii_digit() => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_marker = digits <= 9 && matches!(bytes.get(digits), Some(b'.' | b')'));
            // Leading zeros are allowed: `01` is 1.
            let is_one = line.get(..digits).and_then(|number| number.parse::<u32>().ok()) == Some(1);
            if !is_marker || (after_paragraph && !is_one) {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    let rest = bytes.get(length..)?;
    let ends_marker = rest.first().is_none_or(|&byte| is_space(byte));
    let is_empty = rest.iter().all(|&byte| is_space(byte));
    (ends_marker && !(after_paragraph && is_empty)).then_some(length)
}
