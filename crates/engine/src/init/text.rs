//! Small checks of the bytes of a text file, which may have been written on any system. No file access.

use std::borrow::Cow;

/// The byte order mark that some editors write.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The first line end in the file; a line feed if there is none.
pub(super) fn line_end(bytes: &[u8]) -> &'static str {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if at > 0 && bytes.get(at - 1) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether the last line must be ended before another can be appended.
pub(super) fn lacks_final_line_end(bytes: &[u8]) -> bool {
    !(bytes.is_empty() || bytes == BOM || bytes.ends_with(b"\n"))
}

/// Whether the file is UTF-16 or binary, so that UTF-8 text must not be added.
pub(super) fn is_no_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0)
}

/// The text without the differences between checkouts on different systems: byte order mark and carriage returns.
pub(super) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    if !bytes.contains(&b'\r') {
        return Cow::Borrowed(bytes);
    }
    let mut plain = Vec::with_capacity(bytes.len());
    for (index, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(index + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    Cow::Owned(plain)
}
