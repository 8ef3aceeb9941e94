//! Finds objects in a pack by its index (`.idx`, versions 1 and 2), reading only the parts that a lookup needs.
//!
//! The file is only trusted for an offset; the bytes found there are hashed and verified. So a damaged index can make objects
//! missing or damaged, but never wrong.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::error::GitError;
use super::id::{ObjectId, nibble};
use super::place::GitLayout;
use super::windows::Windows;
use crate::system_ext::SystemExt as _;

/// The length of git's longest hash.
const MAX_ID_BYTES: usize = 32;
/// The first step of the search from an id's expected position.
const FIRST_STEP: u64 = 4;
/// The maximum number of cached windows, 32 MiB. An index is accessed at random, so a cache smaller than the index would miss
/// again and again; the index of half a million objects has 480 windows.
const MAX_WINDOWS: usize = 1024;
/// The number of ids in a block. A binary search that is this close reads one block.
const BLOCK_IDS: u64 = 16;
/// The maximum number of objects listed for a prefix; the search stops there.
const MAX_MATCHES: usize = 64;

/// A prefix of an object id, as typed.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    nibbles: Vec<u8>,
}

pub(super) struct PackIndex {
    path: String,
    /// The number of objects whose first byte is at most the index.
    fanout: Vec<u32>,
    is_version_1: bool,
    /// The number of 8-byte offsets.
    large_offsets: u64,
    hash_length: u64,
    windows: RefCell<Windows>,
}

impl Prefix {
    /// `None` unless there are at least four digits, and at most as many as in a whole id.
    pub(super) fn parse(text: &str, max_digits: usize) -> Option<Self> {
        let nibbles: Vec<u8> = text.bytes().map(nibble).collect::<Option<_>>()?;
        (4..=max_digits).contains(&nibbles.len()).then_some(Self { nibbles })
    }

    /// Its first byte; there are always enough digits.
    pub(super) fn first_byte(&self) -> u8 {
        self.nibbles.iter().take(2).fold(0, |byte, half| byte << 4 | half)
    }

    pub(super) fn matches(&self, id: &[u8]) -> bool {
        let digits = id.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.take(self.nibbles.len()).eq(self.nibbles.iter().copied())
    }

    /// Compares as the smallest id with this prefix would.
    fn is_behind(&self, id: &[u8]) -> bool {
        let digits = id.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.take(self.nibbles.len()).lt(self.nibbles.iter().copied())
    }
}

/// The position of a wanted id, as far as one window of ids determines it.
enum WindowAnswer {
    /// The number of the object with this id.
    Found(u64),
    /// Its number is smaller than this one, if it is there.
    Before(u64),
    /// Its number is at least this one, if it is there.
    Behind(u64),
    Absent,
}

/// Compares two ids. The first bytes, compared as an integer, nearly always decide.
fn order(left: &[u8], right: &[u8]) -> Ordering {
    let beginning = |id: &[u8]| id.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    beginning(left).cmp(&beginning(right)).then_with(|| left.cmp(right))
}

impl PackIndex {
    pub(super) fn open(place: &GitLayout<'_>, path: &str) -> Result<Self, GitError> {
        let shown = place.shown(path);
        let damaged = |reason: &str| GitError::damaged(&shown, reason);
        let file = place.system.open(Path::new(path)).map_err(|error| place.unreadable(path, &error))?;
        let size = file.stat.size;
        drop(file);
        let hash_length = place.format.hash.length() as u64;
        let mut index = Self {
            path: path.to_owned(),
            fanout: Vec::new(),
            is_version_1: false,
            large_offsets: 0,
            hash_length,
            windows: RefCell::new(Windows::new(size, MAX_WINDOWS)),
        };
        let head = index.read(place, 0, 8)?;
        index.is_version_1 = !head.starts_with(b"\xfftOc");
        if !index.is_version_1 && !head.ends_with(&[0, 0, 0, 2]) {
            return Err(GitError::Unsupported { feature: format!("a pack index of an unknown version (`{shown}`)") });
        }
        let table = index.read(place, index.table() - 1024, 1024)?;
        index.fanout = table.chunks_exact(4).filter_map(|four| four.try_into().ok().map(u32::from_be_bytes)).collect();
        if !index.fanout.is_sorted() {
            return Err(damaged("its first table is not sorted"));
        }
        let small = index.table() + u64::from(index.count()) * index.entry_length() + 2 * hash_length;
        let rest = size.checked_sub(small).ok_or_else(|| damaged("it is too short for its objects"))?;
        if rest % 8 != 0 || (index.is_version_1 && rest != 0) {
            return Err(damaged("it is longer than its objects"));
        }
        index.large_offsets = rest / 8;
        Ok(index)
    }

    pub(super) fn count(&self) -> u32 {
        self.fanout.last().copied().unwrap_or(0)
    }

    /// The offset of the object in the pack, if the pack has it.
    pub(super) fn find(&self, place: &GitLayout<'_>, id: &ObjectId) -> Result<Option<u64>, GitError> {
        let wanted = id.as_bytes();
        let (mut low, mut high) = self.bucket(wanted.first().copied().unwrap_or(0));
        // Interpolation: ids are hashes and therefore uniform, so the next bytes tell the expected position.
        let share = wanted.get(1..).and_then(<[u8]>::first_chunk::<4>).map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let mut probe = low + ((high.saturating_sub(low) * u64::from(share)) >> 32);
        while low < high {
            match self.search_window(place, probe, low..high, wanted)? {
                WindowAnswer::Found(number) => return self.offset(place, number).map(Some),
                WindowAnswer::Before(number) => high = number,
                WindowAnswer::Behind(number) => low = number,
                WindowAnswer::Absent => break,
            }
            probe = low + high.saturating_sub(low) / 2;
        }
        Ok(None)
    }

    /// Searches the ids of `range` that lie in one window with the `probe`-th. A window has more than a thousand ids, so this
    /// nearly always decides, and looks for a window once instead of once for each id.
    fn search_window(
        &self,
        place: &GitLayout<'_>,
        mut probe: u64,
        range: Range<u64>,
        wanted: &[u8],
    ) -> Result<WindowAnswer, GitError> {
        let (first_id, stride) = (self.position(0), self.stride() as u64);
        let mut windows = self.windows.borrow_mut();
        let (start, bytes) = windows.around(place, &self.path, self.position(probe))?;
        // The ids that lie in the window with all their bytes.
        let first = start.saturating_sub(first_id).div_ceil(stride).max(range.start);
        let room = (start + bytes.len() as u64).checked_sub(first_id + self.hash_length);
        let end = room.map_or(0, |room| room / stride + 1).min(range.end);
        if !(first..end).contains(&probe) {
            drop(windows);
            let order = self.compare(place, probe, wanted)?;
            return Ok(match order {
                Ordering::Less => WindowAnswer::Behind(probe + 1),
                Ordering::Greater => WindowAnswer::Before(probe),
                Ordering::Equal => WindowAnswer::Found(probe),
            });
        }
        let id = |number: u64| {
            let at = usize::try_from(first_id + number * stride - start).unwrap_or(usize::MAX);
            bytes.get(at..).and_then(|rest| rest.get(..wanted.len())).unwrap_or_default()
        };
        let (mut low, mut high, mut step) = (first, end, FIRST_STEP);
        while low < high {
            match order(id(probe), wanted) {
                Ordering::Less => low = probe + 1,
                Ordering::Greater => high = probe,
                Ordering::Equal => return Ok(WindowAnswer::Found(probe)),
            }
            // The steps double until the id is between two others.
            let middle = low + high.saturating_sub(low) / 2;
            probe = if low == probe + 1 { middle.min(low + step) } else { middle.max(high.saturating_sub(step)) };
            step = step.saturating_mul(4);
        }
        Ok(if low == first && first > range.start {
            WindowAnswer::Before(first)
        } else if low == end && end < range.end {
            WindowAnswer::Behind(end)
        } else {
            WindowAnswer::Absent
        })
    }

    /// Adds the objects with this prefix.
    pub(super) fn collect(
        &self,
        place: &GitLayout<'_>,
        prefix: &Prefix,
        into: &mut BTreeSet<ObjectId>,
    ) -> Result<(), GitError> {
        let (mut start, mut ids) = self.block(place, prefix.first_byte(), |candidate| prefix.is_behind(candidate))?;
        let (_, end) = self.bucket(prefix.first_byte());
        loop {
            for entry in ids.chunks_exact(self.stride()) {
                let id = self.id_in(entry);
                if prefix.matches(id) {
                    into.extend(ObjectId::from_bytes(id));
                } else if !prefix.is_behind(id) {
                    return Ok(());
                }
            }
            start += (ids.len() / self.stride()) as u64;
            if start >= end || into.len() > MAX_MATCHES {
                return Ok(());
            }
            ids = self.ids(place, start, (end - start).min(BLOCK_IDS))?;
        }
    }

    /// A few ids with this first byte that include the first one that is not `before`, and the number of the first id of the
    /// block.
    fn block(
        &self,
        place: &GitLayout<'_>,
        first_byte: u8,
        before: impl Fn(&[u8]) -> bool,
    ) -> Result<(u64, Vec<u8>), GitError> {
        let (mut low, mut high) = self.bucket(first_byte);
        while high.saturating_sub(low) > BLOCK_IDS {
            let middle = low + (high - low) / 2;
            let entry = self.ids(place, middle, 1)?;
            if before(self.id_in(&entry)) { low = middle + 1 } else { high = middle + 1 }
        }
        Ok((low, self.ids(place, low, high.saturating_sub(low))?))
    }

    /// The range of objects whose ids start with the byte.
    fn bucket(&self, first_byte: u8) -> (u64, u64) {
        let upto = |byte: usize| u64::from(self.fanout.get(byte).copied().unwrap_or(0));
        let byte = usize::from(first_byte);
        (byte.checked_sub(1).map_or(0, upto), upto(byte))
    }

    /// Compares the `number`-th id with `wanted`.
    fn compare(&self, place: &GitLayout<'_>, number: u64, wanted: &[u8]) -> Result<Ordering, GitError> {
        let position = self.position(number);
        if let Some(id) = self.windows.borrow_mut().at(place, &self.path, position)?.get(..wanted.len()) {
            return Ok(id.cmp(wanted));
        }
        let mut buffer = [0; MAX_ID_BYTES];
        let id = buffer.get_mut(..wanted.len()).unwrap_or_default();
        self.fill(place, position, id)?;
        Ok((*id).cmp(wanted))
    }

    /// The position of the `number`-th id.
    fn position(&self, number: u64) -> u64 {
        let inside = if self.is_version_1 { 4 } else { 0 };
        self.table() + number * self.stride() as u64 + inside
    }

    fn ids(&self, place: &GitLayout<'_>, from: u64, count: u64) -> Result<Vec<u8>, GitError> {
        let stride = self.stride() as u64;
        self.read(place, self.table() + from * stride, count * stride)
    }

    fn offset(&self, place: &GitLayout<'_>, number: u64) -> Result<u64, GitError> {
        if self.is_version_1 {
            return self.number(place, self.table() + number * self.stride() as u64);
        }
        let count = u64::from(self.count());
        let offsets = self.table() + count * (self.hash_length + 4);
        let small = self.number(place, offsets + number * 4)?;
        let Some(large) = small.checked_sub(1 << 31) else { return Ok(small) };
        if large >= self.large_offsets {
            return Err(GitError::damaged(&place.shown(&self.path), "it has no offset of that number"));
        }
        let mut bytes = [0; 8];
        self.fill(place, offsets + count * 4 + large * 8, &mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    /// The big-endian number of four bytes at a position.
    fn number(&self, place: &GitLayout<'_>, position: u64) -> Result<u64, GitError> {
        let mut four = [0; 4];
        self.fill(place, position, &mut four)?;
        Ok(u32::from_be_bytes(four).into())
    }

    /// Fills all of `into` from a position.
    fn fill(&self, place: &GitLayout<'_>, position: u64, into: &mut [u8]) -> Result<(), GitError> {
        let filled = self.windows.borrow_mut().fill(place, &self.path, position, into)?;
        if filled < into.len() {
            return Err(GitError::damaged(&place.shown(&self.path), "it ends too early"));
        }
        Ok(())
    }

    /// The offset of the table of ids.
    fn table(&self) -> u64 {
        if self.is_version_1 { 1024 } else { 1032 }
    }

    /// The bytes per object: id and offset, and in version 2 a checksum.
    fn entry_length(&self) -> u64 {
        self.hash_length + if self.is_version_1 { 4 } else { 8 }
    }

    /// The distance between ids; in version 1 the offset precedes each id.
    fn stride(&self) -> usize {
        self.hash_length as usize + if self.is_version_1 { 4 } else { 0 }
    }

    fn id_in<'e>(&self, entry: &'e [u8]) -> &'e [u8] {
        entry.get(if self.is_version_1 { 4 } else { 0 }..).unwrap_or_default()
    }

    /// Never larger than a block of ids or the fanout table.
    fn read(&self, place: &GitLayout<'_>, offset: u64, length: u64) -> Result<Vec<u8>, GitError> {
        let length = usize::try_from(length.min(1 << 16)).unwrap_or(0);
        self.windows.borrow_mut().copy(place, &self.path, offset, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemorySystem;

    #[test]
    fn a_prefix_of_an_id_matches_by_half_bytes() {
        let prefix = |text: &str| Prefix::parse(text, 40);
        assert!(prefix("abc").is_none() && prefix("abcg").is_none() && prefix(&"a".repeat(41)).is_none());
        let five = prefix("abCd1").unwrap();
        assert_eq!(five.first_byte(), 0xab);
        assert!(
            five.matches(&[0xab, 0xcd, 0x1f]) && !five.matches(&[0xab, 0xcd, 0x2f]) && !five.matches(&[0xab, 0xcd])
        );
        assert!(five.is_behind(&[0xab, 0xcd, 0x0f]) && !five.is_behind(&[0xab, 0xcd, 0x10]));
    }

    /// An index of these ids. Offsets are the object's number times 100; from `large` on they take eight bytes.
    fn index(ids: &[ObjectId], is_version_1: bool, large: usize) -> Vec<u8> {
        let mut bytes = if is_version_1 { Vec::new() } else { b"\xfftOc\0\0\0\x02".to_vec() };
        for byte in 0..=255u8 {
            let count = ids.iter().filter(|id| id.as_bytes()[0] <= byte).count() as u32;
            bytes.extend(count.to_be_bytes());
        }
        let offset = |number: usize| number as u32 * 100;
        if is_version_1 {
            for (number, id) in ids.iter().enumerate() {
                bytes.extend(offset(number).to_be_bytes());
                bytes.extend(id.as_bytes());
            }
        } else {
            ids.iter().for_each(|id| bytes.extend(id.as_bytes()));
            bytes.extend(vec![9; ids.len() * 4]);
            for number in 0..ids.len() {
                let small = if number < large { offset(number) } else { 1 << 31 | (number - large) as u32 };
                bytes.extend(small.to_be_bytes());
            }
            (large..ids.len()).for_each(|number| bytes.extend(u64::from(offset(number)).to_be_bytes()));
        }
        bytes.extend([7; 40]);
        bytes
    }

    /// Many ids with a common prefix, so that a search takes many steps and several windows.
    fn many_ids() -> Vec<ObjectId> {
        let mut ids: Vec<ObjectId> = (0..5000u32)
            .map(|number| {
                let mut id = [0; 20];
                id[0] = if number % 3 == 0 { 0 } else { 0xab };
                id[1..5].copy_from_slice(&number.wrapping_mul(2_654_435_761).to_be_bytes());
                ObjectId::from_bytes(&id).unwrap()
            })
            .collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn exactly_the_objects_of_the_index_are_found() {
        let ids = many_ids();
        let names: Vec<String> = ids.iter().map(ObjectId::to_string).collect();
        let system = MemorySystem::new();
        system.set_file("/r/.git/HEAD", "ref: refs/heads/main").set_dir("/r/.git/refs").set_dir("/r/.git/objects");
        let place = GitLayout::find(&system, "/r").unwrap();
        for (is_version_1, large) in [(false, 5000), (false, 700), (true, 5000)] {
            system.set_file("/r/x.idx", index(&ids, is_version_1, large));
            let index = PackIndex::open(&place, "/r/x.idx").unwrap();
            assert_eq!(index.count(), 5000);
            for (number, id) in ids.iter().enumerate() {
                assert_eq!(index.find(&place, id), Ok(Some(number as u64 * 100)), "{id}");
            }
            for name in names.iter().step_by(11) {
                let digits = &name[..5];
                let mut found = BTreeSet::new();
                index.collect(&place, &Prefix::parse(digits, 40).unwrap(), &mut found).unwrap();
                let found: Vec<String> = found.iter().map(ObjectId::to_string).collect();
                let alike: Vec<&String> = names.iter().filter(|other| other.starts_with(digits)).collect();
                assert_eq!(found.iter().collect::<Vec<_>>(), alike, "{digits}");
            }
            for byte in [1, 2, 0xab, 0xff] {
                let other = ObjectId::from_bytes(&[byte; 20]).unwrap();
                assert_eq!(index.find(&place, &other), Ok(None), "{other}");
            }
        }
    }
}
