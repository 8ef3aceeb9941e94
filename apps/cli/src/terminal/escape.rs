//! A writer that escapes hidden characters as `\uXXXX`. It does not parse JSON: outside of strings, JSON has no hidden characters
//! but line breaks, which are kept.

use std::io::{self, Write};

use stan_engine::visible_json;

pub(super) struct Escaping<'w> {
    inner: &'w mut dyn Write,
    /// The start of an incomplete UTF-8 character; at most three bytes between calls.
    pending: Vec<u8>,
}

impl<'w> Escaping<'w> {
    pub(super) fn new(inner: &'w mut dyn Write) -> Self {
        Self { inner, pending: Vec::new() }
    }

    /// Writes the rest. Replaces an incomplete character.
    pub(super) fn finish(self) -> io::Result<()> {
        self.inner.write_all(String::from_utf8_lossy(&self.pending).as_bytes())
    }
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.is_empty()
            && let Ok(text) = str::from_utf8(bytes)
        {
            self.inner.write_all(visible_json(text).as_bytes())?;
            return Ok(bytes.len());
        }
        self.pending.extend_from_slice(bytes);
        let complete = match str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Not UTF-8: replaced.
            Err(_) => self.pending.len(),
        };
        let rest = self.pending.split_off(complete);
        let whole = std::mem::replace(&mut self.pending, rest);
        self.inner.write_all(visible_json(&String::from_utf8_lossy(&whole)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_at_every_split_of_the_bytes() {
        let document = "{\"\u{202e}\u{e4}\":\"\u{9b}\u{e0041}\u{7f}x\u{1f600}\"}\n";
        let expected = "{\"\\u202e\u{e4}\":\"\\u009b\\udb40\\udc41\\u007fx\u{1f600}\"}\n";
        for size in 1..=document.len() {
            let mut out = Vec::new();
            let mut escaping = Escaping::new(&mut out);
            document.as_bytes().chunks(size).for_each(|chunk| escaping.write_all(chunk).unwrap());
            escaping.finish().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "by {size} bytes");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let mut out = Vec::new();
        let mut escaping = Escaping::new(&mut out);
        escaping.write_all(b"a\xff\x9bb").unwrap();
        escaping.write_all(b"\xe2\x80").unwrap();
        escaping.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\u{fffd}\u{fffd}b\u{fffd}");
    }
}
