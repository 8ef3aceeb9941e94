//! Applies git's deltas: copies from a base and insertions. Pure; every number in a delta is untrusted.

/// The maximum reservation for a result, because the size in a delta is untrusted.
const MAX_RESERVED_BYTES: usize = 1 << 20;

/// The result size according to the delta.
pub(crate) fn result_size(delta: &[u8]) -> Option<u64> {
    let mut reader = DeltaReader { bytes: delta };
    reader.size()?;
    reader.size()
}

/// Applies the delta to `base`; the result has at most `limit` bytes. The error says what is wrong with the delta.
pub(crate) fn apply(base: &[u8], delta: &[u8], limit: usize) -> Result<Vec<u8>, &'static str> {
    let mut reader = DeltaReader { bytes: delta };
    let (from, to) = reader.size().zip(reader.size()).ok_or("a delta has no sizes")?;
    if from != base.len() as u64 {
        return Err("a delta does not fit its base");
    }
    let size = usize::try_from(to).ok().filter(|&size| size <= limit).ok_or("the result of a delta is too large")?;
    let mut out = Vec::with_capacity(size.min(MAX_RESERVED_BYTES));
    while let Some(command) = reader.byte() {
        let piece = if command & 0x80 != 0 {
            let (offset, length) = reader.copy(command).ok_or("a delta ends in the middle")?;
            base.get(offset..).and_then(|rest| rest.get(..length)).ok_or("a delta copies from outside its base")?
        } else if command != 0 {
            reader.take(usize::from(command)).ok_or("a delta ends in the middle")?
        } else {
            return Err("a delta has a command that does not exist");
        };
        // Checked at every command: a small delta can copy its base very often.
        if piece.len() > size - out.len() {
            return Err("a delta makes more than it says");
        }
        out.extend_from_slice(piece);
    }
    if out.len() == size { Ok(out) } else { Err("a delta makes less than it says") }
}

struct DeltaReader<'a> {
    bytes: &'a [u8],
}

impl<'a> DeltaReader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Seven bits per byte, least significant first.
    fn size(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The bits of the command tell which bytes of the offset (four) and of the length (three) follow.
    fn copy(&mut self, command: u8) -> Option<(usize, usize)> {
        let mut number = |bits: std::ops::Range<u32>| {
            let start = bits.start;
            let mut value = 0usize;
            for bit in bits {
                if command >> bit & 1 != 0 {
                    value |= usize::from(self.byte()?) << (8 * (bit - start));
                }
            }
            Some(value)
        };
        let (offset, length) = (number(0..4)?, number(4..7)?);
        // The format cannot express a length of 0; it means 0x10000.
        Some((offset, if length == 0 { 0x10000 } else { length }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(delta: &[u8], expected: Result<&str, &'static str>) {
        let made = apply(b"hello world", delta, 100);
        assert_eq!(made, expected.map(|text| text.as_bytes().to_vec()));
    }

    #[test]
    fn copies_and_insertions_are_applied() {
        check(&[11, 5, 0x90, 5], Ok("hello"));
        check(&[11, 5, 0x91, 6, 5], Ok("world"));
        check(&[11, 7, 2, b'o', b'k', 0x91, 6, 5], Ok("okworld"));
        check(&[11, 0], Ok(""));
    }

    #[test]
    fn a_copy_without_a_length_copies_65536_bytes() {
        let base: Vec<u8> = (0..70_000u32).map(|number| number as u8).collect();
        // Sizes 70,000 and 65,537: a copy of the whole base, and one more byte.
        let delta = [0xf0, 0xa2, 0x04, 0x81, 0x80, 0x04, 0x82, 0x01, 1, b'x'];
        let made = apply(&base, &delta, 100_000).unwrap();
        assert_eq!((&made[..65_536], made[65_536]), (&base[256..65_792], b'x'));
    }

    #[test]
    fn a_delta_that_contradicts_its_sizes_is_refused() {
        check(&[], Err("a delta has no sizes"));
        check(&[11], Err("a delta has no sizes"));
        check(&[0xff; 20], Err("a delta has no sizes"));
        check(&[10, 0], Err("a delta does not fit its base"));
        check(&[11, 101], Err("the result of a delta is too large"));
        check(&[11, 5, 0x90], Err("a delta ends in the middle"));
        check(&[11, 5, 3, b'a'], Err("a delta ends in the middle"));
        check(&[11, 5, 0], Err("a delta has a command that does not exist"));
        check(&[11, 5, 0x91, 7, 5], Err("a delta copies from outside its base"));
        check(&[11, 5, 0x8f, 255, 255, 255, 255], Err("a delta copies from outside its base"));
        check(&[11, 4, 0x90, 5], Err("a delta makes more than it says"));
        check(&[11, 6, 0x90, 5], Err("a delta makes less than it says"));
    }

    proptest! {
        #[test]
        fn a_delta_whose_result_exceeds_the_limit_is_refused(base in prop::collection::vec(any::<u8>(), 0..50), delta in prop::collection::vec(any::<u8>(), 0..50)) {
            if let Ok(made) = apply(&base, &delta, 1000) {
                prop_assert!(made.len() <= 1000);
                prop_assert_eq!(Some(made.len() as u64), result_size(&delta));
            }
        }
    }
}
