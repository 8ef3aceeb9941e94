//! Finds the index of an id, for a million lookups: a hash table of numbers that fits the CPU cache, over contiguous ids. A
//! standard map would have a cache miss per lookup, to fetch the key from somewhere in the document.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use super::Texts;

/// An index over sorted ids. It cannot be iterated over, so the random hash order never reaches an output.
pub(super) struct IdIndex {
    pub(super) ids: Texts,
    /// The upper half is half of a hash, the lower half the index plus one; 0 is a free slot. The length is a power of two; at
    /// most half the slots are used.
    table: Vec<u64>,
    /// The standard hasher with a random seed, because a hostile document could otherwise cause collisions.
    hasher: RandomState,
}

const LOW: u64 = 0xffff_ffff;

impl IdIndex {
    /// At most `u32::MAX - 1` ids.
    pub(super) fn of(ids: Texts) -> Self {
        let places = (ids.len() * 2).next_power_of_two();
        let mut index = Self { ids, table: vec![0; places], hasher: RandomState::new() };
        for place in 0..index.ids.len() {
            let hash = index.hasher.hash_one(index.ids.get(place));
            let mut slot = index.first_slot(hash);
            while index.table[slot] != 0 {
                slot = index.next_slot(slot);
            }
            index.table[slot] = hash & !LOW | (place as u64 + 1);
        }
        index
    }

    pub(super) fn find(&self, id: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(id);
        let mut slot = self.first_slot(hash);
        loop {
            let entry = self.table[slot];
            let place = (entry & LOW).checked_sub(1)?;
            if entry & !LOW == hash & !LOW && self.ids.get(place as usize) == id {
                return u32::try_from(place).ok();
            }
            slot = self.next_slot(slot);
        }
    }

    /// Looks up many ids at once. The lookups are interleaved, so that their cache misses overlap instead of adding up: they are
    /// most of the time of reading a large map.
    pub(super) fn find_all(&self, ids: &[Cow<'_, str>], scratch: &mut Vec<(u64, u64)>, found: &mut Vec<Option<u32>>) {
        scratch.clear();
        scratch.extend(ids.iter().map(|id| (self.hasher.hash_one(id.as_ref()), 0)));
        // These loads do not depend on each other, so the CPU overlaps their cache misses.
        for (hash, entry) in scratch.iter_mut() {
            *entry = self.table[self.first_slot(*hash)];
        }
        found.clear();
        found.extend(ids.iter().zip(scratch.iter()).map(|(id, (hash, entry))| {
            let place = (entry & LOW).checked_sub(1)?;
            let is_first = entry & !LOW == hash & !LOW && self.ids.get(place as usize) == id;
            if is_first { u32::try_from(place).ok() } else { self.find(id) }
        }));
    }

    fn first_slot(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.table.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_existing_ids_are_found() {
        for count in [0, 1, 2, 3, 1000] {
            let mut ids = Texts::default();
            (0..count).for_each(|number| ids.push(&format!("id-{number:04}")));
            let index = IdIndex::of(ids);
            for number in 0..count {
                assert_eq!(index.find(&format!("id-{number:04}")), Some(number));
            }
            for other in ["", "id", "id-00001", "x"] {
                assert_eq!(index.find(other), None, "{other}");
            }
        }
    }
}
