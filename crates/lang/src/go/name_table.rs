//! The names of one Go file, each with a number and everything that is known of it, so that a use is looked up once.
//!
//! Nearly all names have at most 16 bytes. Two numbers hold these, so that a lookup compares no text.

/// A name of a [`NameTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NameId(pub(super) u32);

/// No local.
pub(super) const NONE: u32 = u32::MAX;

/// What is known of a name.
pub(super) struct NameEntry<'t> {
    pub(super) name: &'t str,
    ends: (u64, u64),
    hash: u32,
    pub(super) is_declared: bool,
    pub(super) is_import: bool,
    pub(super) is_used: bool,
    /// The import that it was last taken from.
    pub(super) taken_from: Option<NameId>,
    /// The declaration that `local` belongs to.
    pub(super) declaration: u32,
    /// The last local of this name that has begun, by its index among those of the declaration.
    pub(super) local: u32,
}

#[derive(Default)]
pub(super) struct NameTable<'t> {
    /// By hash, the number of an entry and 1; 0 for nothing. At most half of them are taken.
    slots: Vec<u32>,
    pub(super) entries: Vec<NameEntry<'t>>,
}

impl<'t> NameTable<'t> {
    /// With room for this many names.
    pub(super) fn with_room(names: usize) -> Self {
        Self { slots: vec![0; (names * 2).next_power_of_two().max(16)], entries: Vec::with_capacity(names) }
    }

    /// The number of a name, which is new if it was not asked for before.
    pub(super) fn id(&mut self, name: &'t str) -> NameId {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let ends = ends(name.as_bytes());
        let hash = hash(name.as_bytes(), ends);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(entry) = self.slots[at].checked_sub(1).and_then(|id| self.entries.get(id as usize)) {
            if entry.hash == hash
                && entry.ends == ends
                && entry.name.len() == name.len()
                && (name.len() <= 16 || entry.name == name)
            {
                return NameId(self.slots[at] - 1);
            }
            at = (at + 1) & mask;
        }
        let entry = NameEntry {
            name,
            ends,
            hash,
            is_declared: false,
            is_import: false,
            is_used: false,
            taken_from: None,
            declaration: 0,
            local: NONE,
        };
        self.entries.push(entry);
        self.slots[at] = self.entries.len() as u32;
        NameId(self.slots[at] - 1)
    }

    pub(super) fn get(&self, id: NameId) -> Option<&NameEntry<'t>> {
        self.entries.get(id.0 as usize)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots = vec![0; size];
        for (entry, number) in self.entries.iter().zip(1..) {
            let mut at = entry.hash as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = number;
        }
    }
}

/// The first and the last bytes. With the length they determine a name of at most 16 bytes.
fn ends(name: &[u8]) -> (u64, u64) {
    match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()),
            _ => (name.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)), 0),
        },
    }
}

fn hash(name: &[u8], (first, last): (u64, u64)) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (first ^ name.len() as u64).wrapping_mul(FACTOR) ^ last;
    if name.len() > 16 {
        for part in name[8..name.len() - 8].chunks(8) {
            let part = part.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
            hash = (hash.rotate_left(5) ^ part).wrapping_mul(FACTOR);
        }
    }
    (hash.wrapping_mul(FACTOR) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_one_number_and_others_their_own() {
        let alphabet = ["a", "b", "é"];
        let mut names: Vec<String> = vec![String::new()];
        for length in 1..=24 {
            for letter in alphabet {
                names.push(letter.repeat(length));
                // Names that differ in the middle, at the start and at the end alone.
                names.push(format!("{letter}{}", "x".repeat(length)));
                names.push(format!("{}{letter}", "x".repeat(length)));
                names.push(format!("{}{letter}{}", "x".repeat(length), "x".repeat(length)));
            }
        }
        names.sort();
        names.dedup();
        let mut table = NameTable::default();
        let ids: Vec<NameId> = names.iter().map(|name| table.id(name)).collect();
        assert_eq!(ids.iter().map(|id| id.0).collect::<Vec<_>>(), (0..names.len() as u32).collect::<Vec<_>>());
        for (name, id) in names.iter().zip(ids) {
            assert_eq!(table.id(name), id);
            assert_eq!(table.get(id).map(|entry| entry.name), Some(name.as_str()));
        }
    }
}
