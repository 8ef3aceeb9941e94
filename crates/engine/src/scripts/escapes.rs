//! Removes escape sequences from terminal output. Visible text stays, byte for byte.

/// Without escape sequences, and without control characters other than tab, newline and carriage return.
pub(super) fn without_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = match byte {
            0x1b => behind_escape(behind),
            // The same sequences start with one character of C1, here in UTF-8.
            0xc2 if behind.first() == Some(&0x9b) => behind_control_sequence(behind.get(1..).unwrap_or_default()),
            b'\t' | b'\n' | b'\r' | 0x20.. if byte != 0x7f => {
                kept.push(byte);
                behind
            }
            _ => behind,
        };
    }
    kept
}

fn behind_escape(rest: &[u8]) -> &[u8] {
    match rest.split_first() {
        None => rest,
        Some((b'[', rest)) => behind_control_sequence(rest),
        // Texts for the terminal itself: titles, links, images.
        Some((b']' | b'P' | b'X' | b'^' | b'_', rest)) => behind_string(rest),
        // Character set selection and similar: intermediate bytes, then a final byte.
        Some((0x20..=0x2f, _)) => {
            let count = rest.iter().take_while(|byte| (0x20..=0x2f).contains(*byte)).count();
            rest.get(count + 1..).unwrap_or_default()
        }
        Some((0x30..=0x7e, rest)) => rest,
        Some(_) => rest,
    }
}

/// Parameters and intermediate bytes up to the one that ends it. Anything else is not part of it.
fn behind_control_sequence(rest: &[u8]) -> &[u8] {
    let count = rest.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    let behind = rest.get(count..).unwrap_or_default();
    match behind.first() {
        Some(0x40..=0x7e) => behind.get(1..).unwrap_or_default(),
        _ => behind,
    }
}

/// Up to BEL or ESC \\. One that does not end within its line is not one.
fn behind_string(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b | b'\n')).unwrap_or(rest.len());
    match (rest.get(end), rest.get(end + 1)) {
        (Some(0x07), _) => rest.get(end + 1..).unwrap_or_default(),
        (Some(0x1b), Some(b'\\')) => rest.get(end + 2..).unwrap_or_default(),
        _ => rest.get(end..).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_escapes;

    #[test]
    fn escape_sequences_are_removed_and_text_stays() {
        let check = |given: &str, expected: &str| {
            assert_eq!(String::from_utf8(without_escapes(given.as_bytes())).unwrap(), expected, "{given:?}");
        };
        check("plain ä\t\r\n", "plain ä\t\r\n");
        check("\x1b[1;31mred\x1b[0m", "red");
        check("\x1b[38;2;1;2;3mx\x1b[K\x1b[2J", "x");
        check("\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "xlink");
        check("\x1b(Bx\x1bMy", "xy");
        check("\u{9b}31mx", "x");
        check("a\0b\x08c\x7f", "abc");
        check("\x1b]never ends\nnext", "\nnext");
        check("\x1b", "");
        check("\x1b[", "");
        check("\x1b[31", "");
        assert_eq!(without_escapes(b"\xff\xfe"), b"\xff\xfe", "what is not UTF-8 stays");
    }
}
