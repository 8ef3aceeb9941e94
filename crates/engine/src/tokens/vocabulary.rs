//! A byte-pair encoding vocabulary: which byte sequences are tokens, and in which order pairs are merged. Counts the tokens of
//! one piece of text; `split.rs` splits texts into pieces.
//!
//! The program contains only the compressed tokens in rank order. The lookup table is one flat buffer, so that it can be stored
//! in a file (`tables.rs`) and used as read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use xxhash_rust::xxh3::xxh3_64;

/// Longer pieces are merged with a heap.
const SHORT: usize = 96;
/// An empty slot of the table.
const NONE: u32 = u32::MAX;

/// A vocabulary as embedded in the program.
#[derive(Clone, Copy)]
pub(super) struct Packed<'p> {
    count: usize,
    total: usize,
    lengths: &'p [u8],
    bytes: &'p [u8],
}

impl<'p> Packed<'p> {
    /// Parses a file of `assets`: the number of tokens, of their bytes, and of the packed lengths, then both packed parts. `None`
    /// if it is corrupt.
    pub(super) fn new(packed: &'p [u8]) -> Option<Self> {
        let (count, rest) = packed.split_first_chunk::<4>()?;
        let (total, rest) = rest.split_first_chunk::<4>()?;
        let (split, rest) = rest.split_first_chunk::<4>()?;
        let [count, total, split] = [count, total, split].map(|number| u32::from_le_bytes(*number) as usize);
        let (lengths, bytes) = rest.split_at_checked(split)?;
        Some(Self { count, total, lengths, bytes })
    }

    /// The number of slots: a power of two, of which at most half are used.
    fn places(&self) -> usize {
        (2 * self.count).next_power_of_two()
    }

    /// The size of the flat buffer.
    pub(super) fn flat_size(&self) -> usize {
        4 * (self.count + 1 + self.places()) + self.total
    }
}

/// A vocabulary in one buffer of little-endian integers: the start offset of each token and the end of the last one; ranks by
/// hash; then the bytes of all tokens by rank.
pub(super) struct Vocabulary {
    flat: Vec<u8>,
    count: usize,
    places: usize,
}

impl Vocabulary {
    /// Builds the table. `None` if the embedded data are corrupt.
    pub(super) fn unpack(packed: Packed<'_>) -> Option<Self> {
        let Packed { count, total, .. } = packed;
        let lengths = decompress_to_vec_with_limit(packed.lengths, count).ok()?;
        let bytes = decompress_to_vec_with_limit(packed.bytes, total).ok()?;
        let places = packed.places();
        let mut flat = Vec::with_capacity(packed.flat_size());
        let mut end = 0u32;
        flat.extend_from_slice(&end.to_le_bytes());
        for length in &lengths {
            end += u32::from(*length);
            flat.extend_from_slice(&end.to_le_bytes());
        }
        if lengths.len() != count || bytes.len() != end as usize {
            return None;
        }
        flat.resize(flat.len() + 4 * places, 0xff);
        flat.extend_from_slice(&bytes);
        let mut vocabulary = Self { flat, count, places };
        for rank in 0..u32::try_from(count).ok()? {
            let at = count + 1 + vocabulary.place(vocabulary.token(rank));
            *vocabulary.flat.as_chunks_mut::<4>().0.get_mut(at)? = rank.to_le_bytes();
        }
        Some(vocabulary)
    }

    /// Uses a stored buffer, which must be one that [`Vocabulary::unpack`] built from `packed`. Only its length is checked here:
    /// the caller has verified its hash.
    pub(super) fn from_flat(packed: Packed<'_>, flat: Vec<u8>) -> Option<Self> {
        let (count, places) = (packed.count, packed.places());
        (flat.len() == packed.flat_size()).then_some(Self { flat, count, places })
    }

    pub(super) fn flat(&self) -> &[u8] {
        &self.flat
    }

    fn number(&self, at: usize) -> Option<u32> {
        self.flat.as_chunks::<4>().0.get(at).map(|bytes| u32::from_le_bytes(*bytes))
    }

    pub(super) fn token(&self, rank: u32) -> &[u8] {
        let rank = rank as usize;
        let bytes = 4 * (self.count + 1 + self.places);
        let place = |at: usize| self.number(at).filter(|_| at <= self.count).map_or(0, |start| start as usize);
        self.flat.get(bytes + place(rank)..bytes + place(rank + 1)).unwrap_or_default()
    }

    /// The slot of a token, or the empty slot where it would be inserted.
    fn place(&self, token: &[u8]) -> usize {
        let mask = self.places - 1;
        let mut at = xxh3_64(token) as usize & mask;
        while let Some(rank) = self.number(self.count + 1 + at).filter(|rank| *rank != NONE) {
            if self.token(rank) == token {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn rank(&self, token: &[u8]) -> u32 {
        self.number(self.count + 1 + self.place(token)).unwrap_or(NONE)
    }

    /// The number of tokens of a piece. Repeatedly merges the adjacent pair whose token has the lowest rank, leftmost first,
    /// until no pair forms a token.
    pub(super) fn count(&self, piece: &[u8]) -> usize {
        match piece.len() {
            0 => 0,
            1 => 1,
            _ if self.rank(piece) != NONE => 1,
            length if length <= SHORT => self.count_short(piece),
            _ => parts(piece).map(|part| self.count_long(part)).sum(),
        }
    }

    /// Scans all pairs for each merge, which is the fastest way for short pieces.
    fn count_short(&self, piece: &[u8]) -> usize {
        // The start of each part, and the rank of its merge with the next part.
        let mut parts: Vec<(usize, u32)> = (0..=piece.len()).map(|start| (start, NONE)).collect();
        let join = |parts: &[(usize, u32)], at: usize| match (parts.get(at), parts.get(at + 2)) {
            (Some((start, _)), Some((end, _))) => self.rank(piece.get(*start..*end).unwrap_or_default()),
            _ => NONE,
        };
        for at in 0..parts.len() {
            parts[at].1 = join(&parts, at);
        }
        loop {
            let (mut best, mut rank) = (0, NONE);
            for (at, (_, found)) in parts.iter().enumerate() {
                if *found < rank {
                    (best, rank) = (at, *found);
                }
            }
            if rank == NONE {
                return parts.len() - 1;
            }
            parts.remove(best + 1);
            parts[best].1 = join(&parts, best);
            if best > 0 {
                parts[best - 1].1 = join(&parts, best - 1);
            }
        }
    }

    /// Keeps possible merges in a heap, so that the time does not become quadratic for long pieces.
    fn count_long(&self, piece: &[u8]) -> usize {
        let length = piece.len() as u32;
        // The start of the part after each part; offsets inside a part have none.
        let mut next: Vec<u32> = (1..=length).collect();
        let mut previous: Vec<u32> = (0..length).map(|at| at.wrapping_sub(1)).collect();
        let mut heap = BinaryHeap::new();
        let mut count = piece.len();
        let push = |heap: &mut BinaryHeap<Reverse<(u32, u32, u32)>>, start: u32, end: u32| {
            let rank = self.rank(piece.get(start as usize..end as usize).unwrap_or_default());
            if rank != NONE {
                heap.push(Reverse((rank, start, end)));
            }
        };
        for start in 0..length - 1 {
            push(&mut heap, start, start + 2);
        }
        const INSIDE: u32 = u32::MAX;
        while let Some(Reverse((_, start, end))) = heap.pop() {
            // Skip stale heap entries: the parts may have been merged with others since.
            let Some(&middle) = next.get(start as usize).filter(|middle| **middle < length) else { continue };
            if next.get(middle as usize) != Some(&end) {
                continue;
            }
            next[start as usize] = end;
            next[middle as usize] = INSIDE;
            count -= 1;
            if end < length {
                previous[end as usize] = start;
                push(&mut heap, start, next[end as usize]);
            }
            let before = previous[start as usize];
            if before < length {
                push(&mut heap, before, end);
            }
        }
        count
    }
}

/// A longer word is counted in parts: merging needs 32 times its memory in each thread, and such words occur only in generated
/// files.
const MAX_WORD_BYTES: usize = 1 << 20;

/// Splits a word into parts of at most [`MAX_WORD_BYTES`] bytes, at character boundaries.
fn parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let is_start = |at: &usize| rest.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let cut = MAX_WORD_BYTES.min(rest.len());
        let end = (cut.saturating_sub(3)..=cut).rev().find(is_start).filter(|end| *end > 0).unwrap_or(cut);
        let (part, after) = rest.split_at_checked(end)?;
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}
