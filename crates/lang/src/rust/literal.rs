//! Decodes a string literal that contains a file name.

/// `None` if it is not a plain string.
pub(super) fn value(literal: &str) -> Option<String> {
    if let Some(rest) = literal.strip_prefix('r') {
        let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
        let inner = rest.get(hashes..)?.strip_prefix('"')?;
        return Some(inner.get(..inner.len().checked_sub(hashes + 1)?)?.to_owned());
    }
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            '0' => out.push('\0'),
            'r' => out.push('\r'),
            same @ ('\\' | '"' | '\'') => out.push(same),
            // Other escapes do not occur in file names.
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn the_value_of_a_string_literal_is_read_without_escapes() {
        for (literal, expected) in [
            ("\"a/b.rs\"", Some("a/b.rs")),
            ("r\"a\\b\"", Some("a\\b")),
            ("r#\"a\"b\"#", Some("a\"b")),
            ("\"a\\\\b\\\"\"", Some("a\\b\"")),
            ("\"\\x41\"", None),
            ("b\"a\"", None),
            ("\"open", None),
            ("r#\"", None),
            ("", None),
        ] {
            assert_eq!(value(literal).as_deref(), expected, "{literal}");
        }
    }
}
