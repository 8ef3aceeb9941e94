//! Decodes EWAH-compressed bitmaps, in which git's split index marks changed entries.
//!
//! Bitmaps stay compressed: in a hostile file, a run of a billion equal bits takes eight bytes, and must not take more here.

/// A bitmap as runs, each followed by literal words.
#[derive(Debug, Default)]
pub(crate) struct Bitmap {
    runs: Vec<WordRun>,
    words: Vec<u64>,
}

#[derive(Debug)]
struct WordRun {
    /// The index of the first word of the run.
    start: u64,
    /// The length of the run in words, which are all zeros or all ones.
    repetitions: u64,
    fill: bool,
    /// The index in `words` of the literals after the run.
    literals: usize,
}

impl Bitmap {
    pub(crate) fn bit(&self, position: usize) -> bool {
        let (word, shift) = ((position / 64) as u64, position % 64);
        let behind = self.runs.partition_point(|run| run.start <= word);
        let Some(run) = behind.checked_sub(1).and_then(|index| self.runs.get(index)) else { return false };
        match (word - run.start).checked_sub(run.repetitions) {
            None => run.fill,
            // Literal words before the next run belong to this one, so this one ends where the next starts.
            Some(offset) => {
                let literal = usize::try_from(offset).ok().and_then(|offset| run.literals.checked_add(offset));
                literal.and_then(|index| self.words.get(index)).is_some_and(|word| word >> shift & 1 == 1)
            }
        }
    }

    /// Writes everything that determines the bits, for a digest.
    pub(crate) fn meaning(&self, write: &mut dyn FnMut(&[u8])) {
        for run in &self.runs {
            write(&run.start.to_be_bytes());
            write(&run.repetitions.to_be_bytes());
            write(&[u8::from(run.fill)]);
        }
        self.words.iter().for_each(|word| write(&word.to_be_bytes()));
    }
}

/// Decodes a bitmap. Also returns the bytes after it.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Bitmap, &[u8])> {
    let (bits, bytes) = split_u32(bytes)?;
    let (count, bytes) = split_u32(bytes)?;
    let (compressed, bytes) = bytes.split_at_checked(usize::try_from(count).ok()?.checked_mul(8)?)?;
    let (_position_of_last_marker, bytes) = split_u32(bytes)?;
    let mut compressed = compressed.chunks_exact(8).filter_map(|chunk| chunk.try_into().ok().map(u64::from_be_bytes));
    let limit = u64::from(bits.div_ceil(64));
    let mut bitmap = Bitmap::default();
    let mut start = 0;
    // Each marker word has one bit to repeat, 32 bits with the number of repetitions, and 31 bits with the number of literal
    // words that follow.
    while let Some(marker) = compressed.next() {
        let (repetitions, literals) = ((marker >> 1) & 0xffff_ffff, marker >> 33);
        bitmap.runs.push(WordRun { start, repetitions, fill: marker & 1 == 1, literals: bitmap.words.len() });
        start += repetitions + literals;
        if start > limit {
            return None;
        }
        for _ in 0..literals {
            bitmap.words.push(compressed.next()?);
        }
    }
    Some((bitmap, bytes))
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
    fn runs_and_literals_of_a_bitmap_are_decoded() {
        let bytes = [encode(192, &[1 << 33 | 1 << 1 | 1, 0b101, 1 << 1]), b"rest".to_vec()].concat();
        let (bitmap, rest) = decode(&bytes).unwrap();
        assert_eq!(rest, b"rest");
        let set: Vec<usize> = (0..1000).filter(|position| bitmap.bit(*position)).collect();
        assert_eq!(set, (0..65).chain([66]).collect::<Vec<_>>());
    }

    #[test]
    fn a_run_longer_than_the_bitmap_is_refused() {
        assert!(decode(&encode(64, &[0xffff_ffff << 1])).is_none());
        assert!(decode(&encode(64, &[1 << 33])).is_none());
        assert!(decode(b"").is_none());
    }

    /// A run takes as little memory as it takes bytes in the file.
    #[test]
    fn long_runs_are_decoded_without_expanding_them() {
        let long = encode(u32::MAX, &[0x03ff_ffff << 1 | 1, 1 << 33, 1]);
        let (bitmap, _) = decode(&long).unwrap();
        let end = 0x03ff_ffff * 64;
        assert!(bitmap.bit(0) && bitmap.bit(end - 1) && bitmap.bit(end) && !bitmap.bit(end + 1));
        assert!(!bitmap.bit(usize::MAX));
        assert_eq!((bitmap.runs.capacity() <= 8, bitmap.words.len()), (true, 1));
    }
}
