//! A small cache of token counts. Most pieces of a text occur repeatedly, and a lookup in a vocabulary of megabytes takes several
//! CPU cache misses.

/// A power of two, small enough that the keys fit into the L1 and L2 caches.
const PLACES: usize = 2048;
/// Longer pieces are rare and not cached.
const MAX_PIECE_BYTES: usize = 15;

/// A direct-mapped cache: each hash has one slot.
pub(super) struct KnownPieces {
    /// The bytes of a piece, with its length in the highest byte; 0 for an empty slot.
    keys: Vec<u128>,
    counts: Vec<u8>,
}

impl KnownPieces {
    pub(super) fn new() -> Self {
        Self { keys: vec![0; PLACES], counts: vec![0; PLACES] }
    }

    /// The cached count of the piece, otherwise that of `count`.
    pub(super) fn count(&mut self, piece: &[u8], count: impl FnOnce(&[u8]) -> usize) -> usize {
        if piece.is_empty() || piece.len() > MAX_PIECE_BYTES {
            return count(piece);
        }
        let key = key(piece);
        let place = place(key);
        let (Some(known), Some(tokens)) = (self.keys.get_mut(place), self.counts.get_mut(place)) else {
            return count(piece);
        };
        if *known != key {
            // A token has at least one byte, so the count of such a short piece fits.
            *tokens = u8::try_from(count(piece)).unwrap_or(u8::MAX);
            *known = key;
        }
        usize::from(*tokens)
    }
}

/// Packs a short piece into an integer, without loss.
fn key(piece: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(piece).for_each(|(to, from)| *to = *from);
    bytes[MAX_PIECE_BYTES] = piece.len() as u8;
    u128::from_le_bytes(bytes)
}

fn place(key: u128) -> usize {
    let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - PLACES.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_counted_once_and_never_confused() {
        let mut known = KnownPieces::new();
        // More pieces than slots, so that they evict each other. A zero byte is a valid part of a piece.
        let pieces: Vec<Vec<u8>> = (0..6000u32)
            .map(|number| number.to_le_bytes().repeat(4).into_iter().take(number as usize % 18).collect())
            .collect();
        let tokens = |piece: &[u8]| piece.iter().map(|byte| usize::from(byte & 1)).sum::<usize>();
        for piece in pieces.iter().chain(pieces.iter().rev()) {
            assert_eq!(known.count(piece, tokens), tokens(piece), "{piece:?}");
        }
        assert_eq!(known.count(b"let", |_| 7), 7);
        assert_eq!(known.count(b"let", |_| 8), 7, "it is not counted again");
        assert_eq!(known.count(b"let\0", |_| 9), 9, "another piece");
    }
}
