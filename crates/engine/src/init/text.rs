//! Small checks of the bytes of a text file that a user may have written on any system. No files are read here.

use std::borrow::Cow;

/// The mark that some editors put before UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The line end that the file uses first; a line feed when it has none.
pub(super) fn line_end(bytes: &[u8]) -> &'static str {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if at > 0 && bytes.get(at - 1) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether something must end the last line before another can begin.
pub(super) fn lacks_final_line_end(bytes: &[u8]) -> bool {
    !(bytes.is_empty() || bytes == BOM || bytes.ends_with(b"\n"))
}

/// UTF-16 and binary files, to which bytes of ours must not be added.
pub(super) fn is_no_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0)
}

/// The text without what a checkout on another system changes: the mark at the start, and carriage returns.
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
