//! Interns the names of one Go file: each gets an id and an entry with all its data, so that each use needs one lookup.
//!
//! Nearly all names have at most 16 bytes. These are compared as two integers, loaded without a loop over bytes, so that a lookup
//! compares no text.

/// A name of a [`NameTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NameId(pub(super) u32);

/// Marks the absence of a local.
pub(super) const NONE: u32 = u32::MAX;

/// The data of a name.
pub(super) struct NameEntry<'t> {
    pub(super) name: &'t str,
    beginning: Beginning,
    hash: u32,
    pub(super) is_declared: bool,
    pub(super) is_import: bool,
    pub(super) is_used: bool,
    /// The import that the name was last taken from.
    pub(super) taken_from: Option<NameId>,
    /// The declaration that `local` refers to.
    pub(super) declaration: u32,
    /// The innermost local of this name in scope, by its index in the declaration.
    pub(super) local: u32,
}

/// The first 16 bytes, padded with zeros. Together with the length, this identifies a name of at most 16 bytes.
type Beginning = (u64, u64);

/// The names of one text.
#[derive(Default)]
pub(super) struct NameTable<'t> {
    text: &'t str,
    /// An open-addressing hash table: the id of an entry plus 1, or 0 for an empty slot. At most half full.
    slots: Vec<u32>,
    pub(super) entries: Vec<NameEntry<'t>>,
}

impl<'t> NameTable<'t> {
    /// Reserves space for this many names of a text.
    pub(super) fn with_room(text: &'t str, names: usize) -> Self {
        let slots = vec![0; (names * 2).next_power_of_two().max(16)];
        Self { text, slots, entries: Vec::with_capacity(names) }
    }

    /// The id of a name; adds it if it is new.
    pub(super) fn id(&mut self, name: &'t str) -> NameId {
        self.find(name, beginning(name.as_bytes()))
    }

    /// The id of the name at a position of the text.
    pub(super) fn id_at(&mut self, start: u32, end: u32) -> NameId {
        let (start, end) = (start as usize, end as usize);
        let name = self.text.get(start..end).unwrap_or_default();
        let window = self.text.as_bytes().get(start..).and_then(|rest| rest.first_chunk::<16>());
        let beginning = window.map_or_else(|| beginning(name.as_bytes()), |window| masked(window, name.len()));
        self.find(name, beginning)
    }

    fn find(&mut self, name: &'t str, beginning: Beginning) -> NameId {
        // At most half full, so that linear probing stays short and always meets an empty slot.
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(name.as_bytes(), beginning);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(entry) = self.slots[at].checked_sub(1).and_then(|id| self.entries.get(id as usize)) {
            if entry.beginning == beginning
                && entry.name.len() == name.len()
                && (name.len() <= 16 || entry.hash == hash && entry.name == name)
            {
                return NameId(self.slots[at] - 1);
            }
            at = (at + 1) & mask;
        }
        let entry = NameEntry {
            name,
            beginning,
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

fn beginning(name: &[u8]) -> Beginning {
    let mut window = [0; 16];
    let length = name.len().min(16);
    window[..length].copy_from_slice(&name[..length]);
    masked(&window, length)
}

/// Masks 16 bytes of text, which start with the name, to the name's length.
fn masked(window: &[u8; 16], length: usize) -> Beginning {
    let all = u128::from_le_bytes(*window);
    let (first, second) = MASKS[length.min(16)];
    (all as u64 & first, (all >> 64) as u64 & second)
}

/// The bytes that belong to a name, by its length.
const MASKS: [(u64, u64); 17] = {
    let mut masks = [(0, 0); 17];
    let mut length = 1;
    while length <= 16 {
        let mask = u128::MAX >> (128 - 8 * length);
        masks[length] = (mask as u64, (mask >> 64) as u64);
        length += 1;
    }
    masks
};

fn hash(name: &[u8], (first, second): Beginning) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = first.wrapping_mul(FACTOR) ^ second;
    if name.len() > 16 {
        for part in name[16..].chunks(8) {
            // With fewer than eight bytes left, load the last eight instead, which overlap the first ones.
            let part = part.first_chunk().or(name.last_chunk()).copied().unwrap_or_default();
            hash = (hash.rotate_left(5) ^ u64::from_le_bytes(part)).wrapping_mul(FACTOR);
        }
    }
    (hash.wrapping_mul(FACTOR) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_a_number_and_different_names_do_not() {
        let alphabet = ["a", "b", "é", "\0"];
        let mut names: Vec<String> = vec![String::new()];
        for length in 1..=24 {
            for letter in alphabet {
                names.push(letter.repeat(length));
                // Names that differ only in the middle, at the start or at the end.
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

    #[test]
    fn a_name_has_the_same_number_at_every_offset() {
        let text = "a, abcdefgh.abcdefghi abcdefghijklmnop abcdefghijklmnopq abcdefghijklmnopqrstuvwxyz é a abcdefghijklmnopq abcdefgh";
        let mut table = NameTable::with_room(text, 0);
        let mut start = 0;
        for word in text.split([',', '.', ' ']) {
            let end = start + word.len();
            let id = table.id_at(start as u32, end as u32);
            assert_eq!(table.get(id).map(|entry| entry.name), Some(word));
            assert_eq!(table.id(word), id, "{word}");
            start = end + 1;
        }
        // Includes the empty name between comma and space.
        assert_eq!(table.entries.len(), 8);
    }
}
