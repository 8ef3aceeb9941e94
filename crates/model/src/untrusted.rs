//! Untrusted text: names, specifiers, descriptions, keys, and messages built from them. It can contain terminal escapes, line
//! breaks that forge a line of a report, and invisible characters or ones that reorder a line. [`Untrusted`] prints it with such
//! characters escaped. [`visible_json`] and [`write_json_string`] do the same for JSON, where the value stays the same.

use std::borrow::Cow;
use std::fmt::{self, Write};

use crate::jcs;

/// Untrusted text for people: on one line, with every hidden character escaped. Clean text is not copied.
///
/// A backslash is not escaped: messages are full of them, and an escape must be visible, not reversible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untrusted<'a>(&'a str);

impl<'a> Untrusted<'a> {
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// The text with each hidden character replaced by exactly one visible one, so that columns on the next line still match.
    pub fn in_columns(self) -> Cow<'a, str> {
        if !has_hidden(self.0) {
            return Cow::Borrowed(self.0);
        }
        let shown = |character: char| match character {
            '\t' => ' ',
            hidden if is_hidden(hidden) => char::REPLACEMENT_CHARACTER,
            other => other,
        };
        Cow::Owned(self.0.chars().map(shown).collect())
    }
}

impl fmt::Display for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = 0;
        let hidden = if has_hidden(self.0) { self.0 } else { "" };
        for (at, character) in hidden.char_indices().filter(|(_, character)| is_hidden(*character)) {
            f.write_str(self.0.get(written..at).unwrap_or_default())?;
            match character {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                other => write!(f, "{}", other.escape_unicode())?,
            }
            written = at + character.len_utf8();
        }
        f.write_str(self.0.get(written..).unwrap_or_default())
    }
}

/// Whether a character is invisible, moves the cursor or reorders a line: C0, DEL, C1, line separators, bidirectional controls,
/// and Unicode's default-ignorable characters (zero-width characters, fillers, variation selectors, tags).
pub fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Untrusted prose, such as a description, without hidden characters. Joiners and the two common variation selectors stay,
/// because scripts and emoji need them; printing and writing still escape them.
pub fn cleaned_prose(text: &str) -> Cow<'_, str> {
    let is_kept = |character: char| {
        !is_hidden(character) || matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
    };
    if !has_hidden(text) || text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|character| is_kept(*character)).collect())
}

/// JSON with the same value in which hidden characters of strings are written as `\uXXXX`. Line breaks and tabs stay: they are
/// formatting, and the source text of other documents may be indented with tabs.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| !matches!(character, '\n' | '\t') && is_hidden(character);
    let is_plain = json.bytes().fold(true, |plain, byte| plain & matches!(byte, 0x20..=0x7e | b'\n' | b'\t'));
    if is_plain || !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if !is_escaped(character) {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

/// Appends a JSON string as [`jcs::write_string`] does, with hidden characters as `\uXXXX`.
pub fn write_json_string(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    jcs::write_string(text, out);
    if has_hidden(text) {
        let quoted = String::from_utf8_lossy(out.get(start..).unwrap_or_default()).into_owned();
        out.truncate(start);
        out.extend_from_slice(visible_json(&quoted).as_bytes());
    }
}

fn has_hidden(text: &str) -> bool {
    !is_printable_ascii(text.as_bytes()) && text.chars().any(is_hidden)
}

/// True for nearly all text. There is no early exit, so that the compiler vectorises the loop.
fn is_printable_ascii(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |plain, byte| plain & matches!(byte, 0x20..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: &[(&str, &str)] = &[
        ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
        ("nul\0 bell\u{7} back\u{8}", "nul\\u{0} bell\\u{7} back\\u{8}"),
        ("one\ntwo\r\n\tthree", "one\\ntwo\\r\\n\\tthree"),
        ("del\u{7f} csi\u{9b}x nel\u{85}", "del\\u{7f} csi\\u{9b}x nel\\u{85}"),
        ("\u{202e}txt.exe\u{202c}", "\\u{202e}txt.exe\\u{202c}"),
        ("\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}", "\\u{2066}a\\u{2069}\\u{200e}\\u{200f}\\u{61c}"),
        ("a\u{200b}b\u{200d}c\u{feff}\u{ad}", "a\\u{200b}b\\u{200d}c\\u{feff}\\u{ad}"),
        ("\u{2028}\u{2029}\u{180e}\u{2060}\u{2064}", "\\u{2028}\\u{2029}\\u{180e}\\u{2060}\\u{2064}"),
        ("tag\u{e0041}\u{e007f} vs\u{e0100} \u{fe0f}", "tag\\u{e0041}\\u{e007f} vs\\u{e0100} \\u{fe0f}"),
    ];

    const CLEAN: &[&str] =
        &["", "src/a b.ts", "\u{e4}\u{df}\u{4f60}", "e\u{301}", "\u{1f600}", "\\n \\u{1b}", "\u{a0}"];

    #[test]
    fn hidden_characters_are_shown_by_their_escapes() {
        for (text, shown) in HIDDEN {
            assert_eq!(Untrusted::new(text).to_string(), *shown);
            let columns = Untrusted::new(text).in_columns();
            assert!(columns.chars().count() == text.chars().count() && !has_hidden(&columns), "{columns}");
        }
    }

    #[test]
    fn clean_text_stays_as_it_is() {
        for text in CLEAN {
            assert_eq!(Untrusted::new(text).to_string(), *text);
            for same in [Untrusted::new(text).in_columns(), cleaned_prose(text), visible_json(text)] {
                assert!(matches!(same, Cow::Borrowed(same) if same == *text));
            }
        }
    }

    #[test]
    fn json_shows_hidden_characters_and_keeps_its_value() {
        let string = |text: &str| {
            let mut out = b"before ".to_vec();
            write_json_string(text, &mut out);
            String::from_utf8(out).unwrap().split_off(7)
        };
        for text in HIDDEN.iter().map(|(text, _)| *text).chain(CLEAN.iter().copied()) {
            let json = string(text);
            assert!(!has_hidden(&json), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        assert_eq!(string("\u{202e}\u{9b}\u{e0041}\""), "\"\\u202e\\u009b\\udb40\\udc41\\\"\"");
        assert_eq!(visible_json("{\n\"a\u{7f}\":1}\n"), "{\n\"a\\u007f\":1}\n");
    }

    #[test]
    fn prose_loses_hidden_characters_and_keeps_joiners() {
        for (text, cleaned) in [
            ("a\u{202e}b\u{1b}[0m\u{e0041}c", "ab[0mc"),
            ("\u{26a0}\u{fe0f} \u{1f468}\u{200d}\u{1f4bb}", "\u{26a0}\u{fe0f} \u{1f468}\u{200d}\u{1f4bb}"),
        ] {
            assert_eq!(cleaned_prose(text), cleaned);
        }
    }
}
