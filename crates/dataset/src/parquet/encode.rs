//! The encodings of values: plain, and the run-length/bit-packing hybrid for small integers (levels and dictionary indices).

use rustc_hash::FxHashMap;

use super::thrift::varint;

/// A run of equal values must have this length to be worth its header.
const MIN_RUN: usize = 8;

/// Parquet's hybrid of runs and bit-packed groups for small integers. `width` is the number of bits per value, at most 32.
pub(super) fn hybrid(values: &[u32], width: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut packed = Packed { width, groups: 0, bytes: Vec::new() };
    let mut at = 0;
    while let Some(&first) = values.get(at) {
        let rest = values.get(at..).unwrap_or_default();
        let run = rest.iter().take_while(|value| **value == first).count();
        if run >= MIN_RUN {
            packed.flush(&mut out);
            varint(&mut out, (run as u64) << 1);
            let bytes = usize::try_from(width.div_ceil(8)).unwrap_or(4);
            out.extend_from_slice(first.to_le_bytes().get(..bytes).unwrap_or_default());
            at += run;
        } else {
            // A group must be complete, so it may take the first values of a later run.
            packed.push(rest.get(..8).unwrap_or(rest));
            at += 8;
        }
    }
    packed.flush(&mut out);
    out
}

/// Groups of eight values with a fixed number of bits each, lowest bits first.
struct Packed {
    width: u32,
    groups: u64,
    bytes: Vec<u8>,
}

impl Packed {
    /// At most eight values; fewer only at the end, where readers know the number.
    fn push(&mut self, values: &[u32]) {
        let mut pending = 0u64;
        let mut bits = 0;
        for index in 0..8 {
            pending |= u64::from(values.get(index).copied().unwrap_or(0)) << bits;
            bits += self.width;
            while bits >= 8 {
                self.bytes.push(pending as u8);
                pending >>= 8;
                bits -= 8;
            }
        }
        self.groups += 1;
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.groups > 0 {
            varint(out, (self.groups << 1) | 1);
            out.append(&mut self.bytes);
            self.groups = 0;
        }
    }
}

/// The levels of a version 1 page: their length in bytes, then the runs.
pub(super) fn levels(out: &mut Vec<u8>, values: &[u32]) {
    let runs = hybrid(values, 1);
    out.extend_from_slice(&u32::try_from(runs.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&runs);
}

/// A text, preceded by its length.
pub(super) fn plain_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn plain_flags(flags: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().rev().fold(0u8, |byte, bit| (byte << 1) | u8::from(*bit));
    flags.chunks(8).map(byte).collect()
}

/// The distinct texts in the order of first occurrence, and for each text its index in that list.
pub(super) struct Dictionary {
    pub(super) entries: usize,
    /// The distinct texts, in plain encoding.
    pub(super) page: Vec<u8>,
    /// The bit width of the indices, then the indices.
    pub(super) indices: Vec<u8>,
}

impl Dictionary {
    /// `None` if plain encoding is not larger.
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Option<Self> {
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let mut indices = Vec::new();
        let mut page = Vec::new();
        let mut plain = 0;
        for text in texts {
            plain += text.len() + 4;
            let next = u32::try_from(known.len()).ok()?;
            indices.push(*known.entry(text).or_insert_with(|| {
                plain_text(&mut page, text);
                next
            }));
        }
        let most = u32::try_from(known.len().checked_sub(1)?).ok()?;
        // Some readers cannot handle indices of zero bits.
        let width = (u32::BITS - most.leading_zeros()).max(1);
        let mut encoded = vec![width as u8];
        encoded.extend_from_slice(&hybrid(&indices, width));
        (page.len() + encoded.len() < plain).then_some(Self { entries: known.len(), page, indices: encoded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes the output of `hybrid`, written from the format's specification.
    fn read(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        let mut at = 0;
        while values.len() < count {
            let (mut header, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[at];
                at += 1;
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let size = width.div_ceil(8) as usize;
                let value = bytes[at..at + size].iter().rev().fold(0u32, |value, byte| (value << 8) | u32::from(*byte));
                at += size;
                values.extend(std::iter::repeat_n(value, (header >> 1) as usize));
            } else {
                let total = (header >> 1) as usize * 8;
                for index in 0..total {
                    let bit = |bit: usize| u32::from(bytes[at + bit / 8] >> (bit % 8) & 1);
                    let start = index * width as usize;
                    values.push((0..width as usize).fold(0, |value, at| value | (bit(start + at) << at)));
                }
                at += total * width as usize / 8;
            }
        }
        assert_eq!(at, bytes.len());
        values.truncate(count);
        values
    }

    #[test]
    fn small_integers_are_read_back() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for width in [1, 2, 3, 7, 8, 9, 13, 17, 20] {
            for length in [0usize, 1, 7, 8, 9, 63, 64, 65, 300] {
                let mut values = Vec::new();
                while values.len() < length {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let value = (random >> 33) as u32 & ((1 << width) - 1);
                    let repeats = if random.is_multiple_of(3) { (random >> 20) as usize % 30 } else { 1 };
                    values.extend(std::iter::repeat_n(value, repeats));
                }
                values.truncate(length);
                assert_eq!(read(&hybrid(&values, width), width, length), values, "width {width}");
            }
        }
    }

    #[test]
    fn a_dictionary_is_used_where_it_saves_room() {
        assert!(Dictionary::of(["a", "b"].into_iter()).is_none());
        let dictionary = Dictionary::of(["src/a.ts"; 9].into_iter().chain(["src/b.ts"])).unwrap();
        assert_eq!(dictionary.entries, 2);
        assert_eq!(dictionary.page, b"\x08\0\0\0src/a.ts\x08\0\0\0src/b.ts");
        assert_eq!(dictionary.indices, [1, 18, 0, 3, 1]);
        assert!(Dictionary::of(std::iter::empty()).is_none());
    }

    #[test]
    fn flags_are_written_as_bits() {
        assert_eq!(plain_flags(&[true, false, true, false, false, false, false, false, true]), [0b101, 1]);
    }
}
