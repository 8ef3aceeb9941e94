//! Line numbers of byte offsets, for extractors that visit offsets in ascending order.

/// Line numbers of ascending offsets; each byte is read once. A line ends with LF, CR LF or CR, as in ECMAScript (without U+2028
/// and U+2029).
pub(crate) struct LineCounter<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), counted: 0, line: 1 }
    }

    /// The 1-based line of an offset. Offsets must not decrease between calls.
    pub(crate) fn line_at(&mut self, position: u32) -> u32 {
        let end = (position as usize).min(self.bytes.len());
        if let Some(part) = self.bytes.get(self.counted..end) {
            for found in memchr::memchr2_iter(b'\n', b'\r', part) {
                let at = self.counted + found;
                if self.bytes[at] == b'\n' || self.bytes.get(at + 1) != Some(&b'\n') {
                    self.line += 1;
                }
            }
            self.counted = end;
        }
        self.line
    }
}
