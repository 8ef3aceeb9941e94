//! A hash table from keys of words to values, whose entries are a list in the order of insertion: the list is what its user wants in
//! the end, and a general map would have to be collected into one.

use crate::words::TermKey;

/// The initial number of slots.
const MIN_SLOTS: usize = 16;

#[derive(Debug)]
pub(crate) struct KeyTable<V> {
    /// Open addressing: the index of an entry plus 1, or 0 for an empty slot. A power of two, and at most half full, so that linear
    /// probing stays short and always meets an empty slot.
    slots: Vec<u32>,
    entries: Vec<(TermKey, V)>,
}

impl<V> Default for KeyTable<V> {
    fn default() -> Self {
        Self { slots: vec![0; MIN_SLOTS], entries: Vec::new() }
    }
}

impl<V> KeyTable<V> {
    pub(crate) fn clear(&mut self) {
        // Shrinks a table that was hardly used: after a single large file, clearing must not cost that much for all later ones.
        let used = (self.entries.len() * 4).next_power_of_two().max(MIN_SLOTS);
        self.slots.truncate(used);
        self.slots.fill(0);
        self.entries.clear();
    }

    pub(crate) fn entries(&self) -> &[(TermKey, V)] {
        &self.entries
    }

    /// The entries, to be reordered or removed before the table is cleared. Nothing is found in it until then.
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<(TermKey, V)> {
        &mut self.entries
    }

    /// The value of a key; inserts `new` if it has none.
    pub(crate) fn get_or_insert(&mut self, key: TermKey, new: V) -> &mut V {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mut at = self.first_slot(key);
        let found = loop {
            match self.slots[at].checked_sub(1) {
                None => {
                    self.entries.push((key, new));
                    self.slots[at] = self.entries.len() as u32;
                    break self.entries.len() - 1;
                }
                Some(index) if self.entries[index as usize].0 == key => break index as usize,
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
            }
        };
        &mut self.entries[found].1
    }

    fn first_slot(&self, key: TermKey) -> usize {
        let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for number in 0..self.entries.len() {
            let mut at = self.first_slot(self.entries[number].0);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn keys_are_counted_as_a_map_counts_them() {
        let mut table = KeyTable::default();
        // Many keys, few, and many again: the table grows, shrinks and grows.
        for count in [5_000u64, 3, 5_000] {
            table.clear();
            let mut expected: BTreeMap<TermKey, u32> = BTreeMap::new();
            for number in 0..3 * count {
                // Multiples of a power of two have equal low bits.
                let key = (number % count) << 20;
                *table.get_or_insert(key, 0) += 1;
                *expected.entry(key).or_default() += 1;
            }
            assert_eq!(table.entries().iter().copied().collect::<BTreeMap<_, _>>(), expected);
            assert!(table.entries().is_sorted(), "entries are in the order of insertion");
        }
    }
}
