//! Decodes the bytes of a source file as TypeScript does: a byte order mark selects UTF-8 or UTF-16. Binary content (many NULs
//! near the start, or one NUL and invalid UTF-8) is not decoded.

use std::borrow::Cow;

/// NUL bytes are searched within this prefix, as git does to detect binary files.
const BINARY_WINDOW: usize = 8 * 1024;

/// At least one NUL per this many bytes means binary.
const MAX_NULS: usize = 64;

/// The text of a file, and its decoding problems.
pub(crate) struct Decoded<'a> {
    /// `None` for binary content.
    pub(crate) text: Option<Cow<'a, str>>,
    pub(crate) problem: Option<&'static str>,
}

pub(crate) fn decode(bytes: &[u8]) -> Decoded<'_> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => decode_utf8(rest),
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        bytes => decode_utf8(bytes),
    }
}

fn decode_utf8(bytes: &[u8]) -> Decoded<'_> {
    let window = bytes.get(..BINARY_WINDOW).unwrap_or(bytes);
    // Bundles may contain a few raw NULs in string literals.
    if memchr::memchr(0, window).is_some()
        && (memchr::memchr_iter(0, window).count() * MAX_NULS >= window.len() || std::str::from_utf8(bytes).is_err())
    {
        return Decoded { text: None, problem: Some("is not text (it has a NUL byte); nothing was read from it") };
    }
    let text = lossy(bytes);
    let is_valid = matches!(text, Cow::Borrowed(_));
    let problem = "is not valid UTF-8; the bytes in question were read as U+FFFD";
    Decoded { text: Some(text), problem: (!is_valid).then_some(problem) }
}

/// Like `String::from_utf8_lossy`, but much faster for valid UTF-8.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn decode_utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Decoded<'_> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut broken = !rest.is_empty();
    let text = char::decode_utf16(pairs.iter().map(|pair| read(*pair)))
        .map(|character| {
            broken |= character.is_err();
            character.unwrap_or(char::REPLACEMENT_CHARACTER)
        })
        .collect();
    let problem = "is not valid UTF-16; the code units in question were read as U+FFFD";
    Decoded { text: Some(Cow::Owned(text)), problem: broken.then_some(problem) }
}

#[cfg(test)]
mod tests {
    use super::decode;

    fn check(bytes: &[u8], text: Option<&str>, has_problem: bool) {
        let decoded = decode(bytes);
        assert_eq!((decoded.text.as_deref(), decoded.problem.is_some()), (text, has_problem), "{bytes:?}");
    }

    #[test]
    fn byte_order_marks_decide_the_encoding_and_nul_is_binary() {
        check(b"", Some(""), false);
        check(b"a", Some("a"), false);
        check(b"\xEF\xBB\xBFa", Some("a"), false);
        check(b"\xFF\xFEa\0\xE9\0", Some("aé"), false);
        check(b"\xFE\xFF\0a", Some("a"), false);
        check(b"\xFF\xFEa\0b", Some("a"), true);
        check(b"\xFF\xFE\0\xD8", Some("\u{FFFD}"), true);
        check(b"a\xFFb", Some("a\u{FFFD}b"), true);
        check(b"a\0b", None, true);
        let string = format!("'\0'{}", " ".repeat(64));
        check(string.as_bytes(), Some(&string), false);
        check(&[string.as_bytes(), b"\xFF"].concat(), None, true);
    }

    #[test]
    fn a_nul_after_the_first_bytes_does_not_make_a_file_binary() {
        let mut bytes = vec![b' '; super::BINARY_WINDOW];
        bytes.push(0);
        assert!(decode(&bytes).text.is_some());
    }
}
