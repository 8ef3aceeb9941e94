//! Finds runs of token characters (letters, digits, `_`, `-`, `+`) of at least [`MIN_RUN`] bytes.
//!
//! The only part that visits every byte, so it turns 64 bytes at a time into a bit mask, without branches, which the compiler
//! vectorises, and finds runs in the mask.

use std::ops::Range;

/// Shorter runs are skipped. The shortest token that a rule matches, an AWS access key id, has 20 bytes; base64 secret keys are
/// split by `/`.
pub(crate) const MIN_RUN: usize = 16;

const BLOCK: usize = 64;

const WORD: usize = 8;

pub(crate) fn is_token_byte(byte: u8) -> bool {
    // Bitwise operators, because short-circuiting ones would prevent vectorisation.
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'_')
        | (byte == b'-')
        | (byte == b'+')
}

/// Calls `found` with every run that starts in `range`. A run that starts before it is skipped; one that extends beyond it is
/// reported in full.
pub(crate) fn runs(text: &[u8], range: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = range.start.min(text.len());
    let starts_inside = start > 0 && text.get(start - 1).copied().is_some_and(is_token_byte);
    if starts_inside {
        start += text.get(start..).unwrap_or_default().iter().take_while(|byte| is_token_byte(**byte)).count();
    }
    // The length of the run that reaches the end of the previous block.
    let mut open = 0;
    let mut base = start;
    let blocks = text.get(start..).unwrap_or_default();
    let mut emit = |run: Range<usize>| {
        if run.start < range.end {
            found(run);
        }
    };
    let (whole, rest) = blocks.as_chunks::<BLOCK>();
    for block in whole {
        if base >= range.end && open == 0 {
            return;
        }
        open = in_block(mask(block), base, open, &mut emit);
        base += BLOCK;
    }
    let mut last = [0; BLOCK];
    if let Some(room) = last.get_mut(..rest.len()) {
        room.copy_from_slice(rest);
    }
    // The zero padding ends every run, because the remainder is shorter than a block.
    in_block(mask(&last), base, open, &mut emit);
}

/// Reports the runs that end in a block, and returns the length of the run that reaches its end.
#[inline]
fn in_block(mask: u64, base: usize, open: usize, emit: &mut dyn FnMut(Range<usize>)) -> usize {
    if mask == u64::MAX {
        return open + BLOCK;
    }
    let leading = mask.trailing_ones() as usize;
    if open + leading >= MIN_RUN {
        emit(base - open..base + leading);
    }
    let trailing = mask.leading_ones();
    // Runs that touch neither end of the block.
    let inner = mask & (mask.wrapping_add(1)) & (u64::MAX >> trailing);
    let mut starts = inner & (inner >> 1);
    starts &= starts >> 2;
    starts &= starts >> 4;
    starts &= starts >> 8;
    while starts != 0 {
        let first = starts.trailing_zeros();
        let length = (inner >> first).trailing_ones();
        emit(base + first as usize..base + (first + length) as usize);
        starts &= u64::MAX.checked_shl(first + length).unwrap_or(0);
    }
    trailing as usize
}

/// Bit `i` is set if byte `i` is a token character.
#[inline]
fn mask(block: &[u8; BLOCK]) -> u64 {
    let mut flags = [0u8; BLOCK];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = if is_token_byte(*byte) { u8::MAX } else { 0 };
    }
    // Bit `k` of byte `j` is for byte `j` of word `k`: the mask with rows and columns exchanged.
    let mut bits = 0;
    for (index, bytes) in flags.as_chunks::<WORD>().0.iter().enumerate() {
        bits |= u64::from_le_bytes(*bytes) & (0x0101_0101_0101_0101 << index);
    }
    transposed(bits)
}

/// Exchanges rows and columns of eight rows of eight bits, by exchanging the halves of blocks of 2, 4 and 8 rows.
#[inline]
fn transposed(bits: u64) -> u64 {
    let exchange = |bits: u64, distance: u32, upper: u64| {
        let differences = (bits ^ (bits >> distance)) & upper;
        bits ^ differences ^ (differences << distance)
    };
    let bits = exchange(bits, 7, 0x00aa_00aa_00aa_00aa);
    let bits = exchange(bits, 14, 0x0000_cccc_0000_cccc);
    exchange(bits, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        runs(text, range, &mut |run| all.push(run));
        all
    }

    /// A byte-by-byte reference implementation.
    fn expected(text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        let mut start = 0;
        for at in 0..=text.len() {
            if text.get(at).copied().is_some_and(is_token_byte) {
                continue;
            }
            if at - start >= MIN_RUN && range.contains(&start) {
                all.push(start..at);
            }
            start = at + 1;
        }
        all
    }

    #[test]
    fn runs_are_found_across_blocks() {
        for length in [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 200] {
            for before in [0, 1, 47, 48, 49, 63, 64, 100] {
                let text = [" ".repeat(before), "a".repeat(length), " b".to_owned()].concat();
                assert_eq!(found(text.as_bytes(), 0..text.len()), expected(text.as_bytes(), 0..text.len()));
            }
        }
    }

    proptest! {
        #[test]
        fn the_same_as_byte_by_byte(text in "[aZ09_+ .\u{e4}-]{0,20}([a-f0-9]{10,70}[ /]){0,6}", cut in 0usize..80) {
            let text = text.as_bytes();
            prop_assert_eq!(found(text, 0..text.len()), expected(text, 0..text.len()));
            let cut = cut.min(text.len());
            let both = [found(text, 0..cut), found(text, cut..text.len())].concat();
            prop_assert_eq!(both, expected(text, 0..text.len()));
        }
    }
}
