//! Hashes of contents and listings. What a hash covers is defined here and nowhere else.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use sha2::{Digest as _, Sha256};
use stan_model::Digest;

use crate::system::{DirEntry, EntryKind};

/// SHA-256 of the bytes.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// SHA-256 of the concatenated pieces.
pub(crate) fn sha256_of_pieces(pieces: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Digest {
    let mut hasher = Sha256::new();
    pieces(&mut |piece| hasher.update(piece));
    Digest(hasher.finalize().into())
}

/// A hash of a directory's entries, which are sorted by name. Includes names that are not UTF-8.
pub(crate) fn listing_hash(entries: &[DirEntry]) -> u64 {
    let mut hasher = FxHasher::default();
    for entry in entries {
        hasher.write(entry.name.as_encoded_bytes());
        // A separator that no name contains, so that different listings have different bytes.
        hasher.write_u8(0);
        hasher.write_u8(match entry.kind {
            EntryKind::File => 0,
            EntryKind::Dir => 1,
            EntryKind::Link => 2,
            EntryKind::Other => 3,
        });
    }
    hasher.write_usize(entries.len());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_sha256_of_the_whole() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b"").to_string(), empty);
        assert_eq!(sha256_of_pieces(|_| {}), sha256(b""));
        assert_eq!(sha256_of_pieces(|write| ["a", "bc"].iter().for_each(|p| write(p.as_bytes()))), sha256(b"abc"));
    }

    #[test]
    fn listings_differ_by_name_and_kind() {
        let entry = |name: &str, kind| DirEntry { name: name.into(), kind };
        let listings = [
            vec![],
            vec![entry("a", EntryKind::File)],
            vec![entry("a", EntryKind::Dir)],
            vec![entry("ab", EntryKind::File)],
            vec![entry("a", EntryKind::File), entry("b", EntryKind::File)],
        ];
        let mut hashes: Vec<u64> = listings.iter().map(|listing| listing_hash(listing)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), listings.len());
    }
}
