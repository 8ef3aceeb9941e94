//! Classifies files: binary, not UTF-8, large. Decided from bytes alone; names do not matter.

/// A file is binary if it has a NUL byte in this prefix.
pub const BINARY_PREFIX: usize = 8 << 10;

/// Larger texts are reported as large.
pub(crate) const LARGE_BYTES: u64 = 1 << 20;

/// Texts with more lines are reported as large.
pub(crate) const LARGE_LINES: u64 = 3_000;

/// Whether a file is binary, judged by its first bytes.
pub(crate) fn is_binary(start: &[u8]) -> bool {
    memchr::memchr(0, start.get(..BINARY_PREFIX).unwrap_or(start)).is_some()
}

/// The encoding and size of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextShape {
    pub(crate) lines: u64,
    pub(crate) is_utf8: bool,
}

impl TextShape {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut scan = TextScan::default();
        scan.update(bytes);
        scan.finish()
    }
}

/// Determines the shape of a text that is read in pieces.
#[derive(Default)]
pub(crate) struct TextScan {
    newlines: u64,
    last: Option<u8>,
    is_broken: bool,
    /// The first bytes of a character that continues in the next piece.
    carried: [u8; 4],
    carried_length: usize,
}

impl TextScan {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.last = bytes.last().copied().or(self.last);
        if !self.is_broken {
            self.is_broken = self.validate(bytes).is_none();
        }
    }

    pub(crate) fn finish(self) -> TextShape {
        let has_open_line = self.last.is_some_and(|last| last != b'\n');
        TextShape {
            lines: self.newlines + u64::from(has_open_line),
            is_utf8: !self.is_broken && self.carried_length == 0,
        }
    }

    /// `None` if the bytes are not a valid continuation of UTF-8 text.
    fn validate(&mut self, mut bytes: &[u8]) -> Option<()> {
        while self.carried_length > 0 {
            let Some((&first, rest)) = bytes.split_first() else { return Some(()) };
            *self.carried.get_mut(self.carried_length)? = first;
            self.carried_length += 1;
            bytes = rest;
            match std::str::from_utf8(self.carried.get(..self.carried_length)?) {
                Ok(_) => self.carried_length = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return None,
            }
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            let rest = bytes.get(error.valid_up_to()..)?;
            if error.error_len().is_some() {
                return None;
            }
            self.carried.get_mut(..rest.len())?.copy_from_slice(rest);
            self.carried_length = rest.len();
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_nul_in_the_first_bytes_makes_a_file_binary() {
        let mut late = vec![b'a'; BINARY_PREFIX];
        late.push(0);
        for (bytes, expected) in [
            (&b""[..], false),
            (b"a\n", false),
            (b"\xff\xfe", false),
            (b"a\0", true),
            (&late, false),
            (&late[1..], true),
        ] {
            assert_eq!(is_binary(bytes), expected);
        }
    }

    #[test]
    fn lines_are_counted_and_utf8_is_checked() {
        for (bytes, lines, is_utf8) in [
            (&b""[..], 0, true),
            (b"\n", 1, true),
            (b"a\nb", 2, true),
            (b"a\nb\n", 2, true),
            ("ä\u{1f600}".as_bytes(), 1, true),
            (b"\xc3", 1, false),
            (b"\xff\n", 1, false),
            (b"\xed\xa0\x80", 1, false),
        ] {
            assert_eq!(TextShape::of(bytes), TextShape { lines, is_utf8 }, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn text_shape_does_not_depend_on_how_bytes_are_split(text in "[aä€\u{1f600}\n]{0,40}", extra in proptest::collection::vec(any::<u8>(), 0..3), size in 1_usize..5) {
            let bytes = [text.as_bytes(), &extra].concat();
            let mut scan = TextScan::default();
            bytes.chunks(size).for_each(|piece| scan.update(piece));
            let shape = scan.finish();
            prop_assert_eq!(shape.is_utf8, std::str::from_utf8(&bytes).is_ok());
            prop_assert_eq!(shape, TextShape::of(&bytes));
        }
    }
}
