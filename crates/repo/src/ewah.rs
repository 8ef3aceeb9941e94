//! Decodes EWAH-compressed bitmaps, which git's split index uses to say which entries changed.

/// Larger bitmaps than this many words do not come from an index that fits into memory.
const MAX_WORDS: usize = 1 << 26;

/// The words of the bitmap, least significant bit first, and the bytes behind it.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Vec<u64>, &[u8])> {
    let (bits, bytes) = split_u32(bytes)?;
    let (count, bytes) = split_u32(bytes)?;
    let (compressed, bytes) = bytes.split_at_checked(usize::try_from(count).ok()?.checked_mul(8)?)?;
    let (_position_of_last_marker, bytes) = split_u32(bytes)?;
    let mut compressed = compressed.chunks_exact(8).filter_map(|chunk| chunk.try_into().ok().map(u64::from_be_bytes));
    let limit = usize::try_from(bits.div_ceil(64)).ok()?.min(MAX_WORDS);
    let mut words = Vec::new();
    // Each marker word: one bit to repeat, 32 bits of repetitions, 31 bits counting the literal words that follow.
    while let Some(marker) = compressed.next() {
        let fill = if marker & 1 == 1 { u64::MAX } else { 0 };
        let repetitions = usize::try_from((marker >> 1) & 0xffff_ffff).ok()?;
        let literals = usize::try_from(marker >> 33).ok()?;
        if words.len().checked_add(repetitions)?.checked_add(literals)? > limit {
            return None;
        }
        words.resize(words.len() + repetitions, fill);
        for _ in 0..literals {
            words.push(compressed.next()?);
        }
    }
    Some((words, bytes))
}

pub(crate) fn bit(words: &[u64], position: usize) -> bool {
    words.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*head), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(bits: u32, words: &[u64]) -> Vec<u8> {
        let mut bytes = bits.to_be_bytes().to_vec();
        bytes.extend((words.len() as u32).to_be_bytes());
        words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn runs_and_literals() {
        let bytes = [encode(192, &[1 << 33 | 1 << 1 | 1, 0b101, 1 << 1]), b"rest".to_vec()].concat();
        let (words, rest) = decode(&bytes).unwrap();
        assert_eq!((words.as_slice(), rest), ([u64::MAX, 0b101, 0].as_slice(), b"rest".as_slice()));
        assert!(bit(&words, 0) && bit(&words, 64) && !bit(&words, 65) && bit(&words, 66) && !bit(&words, 999));
    }

    #[test]
    fn a_run_longer_than_the_bitmap_is_refused() {
        assert!(decode(&encode(64, &[0xffff_ffff << 1])).is_none());
        assert!(decode(&encode(64, &[1 << 33])).is_none());
        assert!(decode(b"").is_none());
    }
}
