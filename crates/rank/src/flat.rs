//! Numbers and lists of entries as flat bytes. The bytes of a cache are used without decoding, and of long lists only those are
//! read that a query needs.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fixed::Fixed;

/// A range of shared bytes, so that several values can use one buffer of a cache without copying.
#[derive(Clone, Debug, Default)]
pub struct SharedBytes {
    all: Arc<Vec<u8>>,
    place: Range<usize>,
}

impl SharedBytes {
    pub fn new(bytes: Vec<u8>) -> Self {
        let place = 0..bytes.len();
        Self { all: Arc::new(bytes), place }
    }

    /// `None` if the range is out of bounds.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        self.bytes().get(range.clone())?;
        let place = self.place.start + range.start..self.place.start + range.end;
        Some(Self { all: Arc::clone(&self.all), place })
    }

    pub fn bytes(&self) -> &[u8] {
        self.all.get(self.place.clone()).unwrap_or_default()
    }
}

/// Numbers of `N` bytes each, little-endian.
#[derive(Clone, Debug, Default)]
pub struct Flat<const N: usize> {
    bytes: SharedBytes,
}

impl<const N: usize> PartialEq for Flat<N> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl<const N: usize> Eq for Flat<N> {}

impl<const N: usize> Flat<N> {
    /// `None` if the length is not a multiple of `N`.
    pub fn from_bytes(bytes: SharedBytes) -> Option<Self> {
        bytes.bytes().len().is_multiple_of(N).then_some(Self { bytes })
    }

    pub fn of_chunks(chunks: impl Iterator<Item = [u8; N]>) -> Self {
        let mut bytes = Vec::with_capacity(chunks.size_hint().0 * N);
        chunks.for_each(|chunk| bytes.extend_from_slice(&chunk));
        Self { bytes: SharedBytes::new(bytes) }
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }

    pub fn len(&self) -> usize {
        self.bytes().len() / N
    }

    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// The numbers as stored.
    pub fn chunks(&self) -> &[[u8; N]] {
        self.bytes().as_chunks::<N>().0
    }

    fn chunk(&self, at: usize) -> Option<[u8; N]> {
        self.chunks().get(at).copied()
    }
}

impl FromIterator<u8> for Flat<1> {
    fn from_iter<I: IntoIterator<Item = u8>>(numbers: I) -> Self {
        Self::of_chunks(numbers.into_iter().map(|number| [number]))
    }
}

impl FromIterator<u16> for Flat<2> {
    fn from_iter<I: IntoIterator<Item = u16>>(numbers: I) -> Self {
        Self::of_chunks(numbers.into_iter().map(u16::to_le_bytes))
    }
}

impl FromIterator<u32> for Flat<4> {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self::of_chunks(numbers.into_iter().map(u32::to_le_bytes))
    }
}

impl FromIterator<u64> for Flat<8> {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        Self::of_chunks(numbers.into_iter().map(u64::to_le_bytes))
    }
}

impl FromIterator<Fixed> for Flat<8> {
    fn from_iter<I: IntoIterator<Item = Fixed>>(numbers: I) -> Self {
        Self::of_chunks(numbers.into_iter().map(|number| number.bits().to_le_bytes()))
    }
}

impl Flat<4> {
    pub fn get(&self, at: usize) -> Option<u32> {
        self.chunk(at).map(u32::from_le_bytes)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + '_ {
        numbers(self.chunks())
    }

    /// The range of a part, if these numbers are the ends of parts.
    pub(crate) fn part(&self, at: usize) -> Range<usize> {
        part(self.chunks(), at)
    }

    /// Whether these numbers are valid ends of `count` parts.
    pub(crate) fn ends_of(&self, count: usize) -> bool {
        self.iter().is_sorted() && self.iter().next_back().map_or(0, |end| end as usize) == count
    }

    /// The numbers in a range; empty if it is out of bounds.
    pub(crate) fn slice(&self, range: Range<usize>) -> &[[u8; 4]] {
        self.chunks().get(range).unwrap_or_default()
    }
}

/// The range of a part, from the ends of all parts.
pub(crate) fn part(ends: &[[u8; 4]], at: usize) -> Range<usize> {
    let number = |at: usize| ends.get(at).map(|end| u32::from_le_bytes(*end) as usize);
    let start = at.checked_sub(1).and_then(number).unwrap_or(0);
    start..number(at).unwrap_or(start).max(start)
}

/// Decodes the numbers in these chunks.
pub(crate) fn numbers(chunks: &[[u8; 4]]) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + '_ {
    chunks.iter().map(|chunk| u32::from_le_bytes(*chunk))
}

/// Binary search for a number in sorted chunks.
pub(crate) fn contains(chunks: &[[u8; 4]], number: u32) -> bool {
    chunks.binary_search_by_key(&number, |chunk| u32::from_le_bytes(*chunk)).is_ok()
}

impl Flat<8> {
    pub fn get(&self, at: usize) -> Option<u64> {
        self.chunk(at).map(u64::from_le_bytes)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        self.chunks().iter().map(|chunk| u64::from_le_bytes(*chunk))
    }

    pub fn fixed(&self) -> impl ExactSizeIterator<Item = Fixed> + Clone + '_ {
        self.chunks().iter().map(|chunk| fixed(*chunk))
    }

    pub(crate) fn fixed_at(&self, at: usize) -> Option<Fixed> {
        self.chunk(at).map(fixed)
    }

    /// The index of a number; the numbers must be sorted.
    pub(crate) fn find(&self, number: u64) -> Option<usize> {
        self.chunks().binary_search_by_key(&number, |chunk| u64::from_le_bytes(*chunk)).ok()
    }
}

pub(crate) fn fixed(bytes: [u8; 8]) -> Fixed {
    Fixed::from_bits(i64::from_le_bytes(bytes))
}

/// Bytes that are read in ranges.
pub trait ReadRanges: Debug + Send + Sync {
    /// The number of bytes.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of these ranges, which must be sorted by start. `None` if they cannot be read or are damaged.
    fn read(&self, ranges: &[Range<usize>]) -> Option<Batch<'_>>;
}

/// The bytes of several ranges.
pub struct Batch<'b> {
    pub bytes: Cow<'b, [u8]>,
    /// The start of each range in `bytes`.
    pub starts: Vec<usize>,
}

impl ReadRanges for Vec<u8> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn read(&self, ranges: &[Range<usize>]) -> Option<Batch<'_>> {
        let is_inside = |range: &Range<usize>| range.start <= range.end && range.end <= Vec::len(self);
        let starts = ranges.iter().map(|range| range.start).collect();
        ranges.iter().all(is_inside).then_some(Batch { bytes: Cow::Borrowed(self), starts })
    }
}

/// The size of an entry: a number and a count.
pub(crate) const ENTRY: usize = 6;

pub(crate) fn entry(number: u32, count: u16) -> [u8; ENTRY] {
    let ([a, b, c, d], [e, f]) = (number.to_le_bytes(), count.to_le_bytes());
    [a, b, c, d, e, f]
}

fn parsed(&[a, b, c, d, e, f]: &[u8; ENTRY]) -> (u32, u16) {
    (u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]))
}

/// Many lists of entries.
#[derive(Debug)]
pub struct Lists {
    /// The end of each list, in entries; it starts at the end of the previous one.
    ends: Flat<4>,
    entries: Box<dyn ReadRanges>,
    /// Whether a read failed.
    failed: AtomicBool,
}

impl Default for Lists {
    fn default() -> Self {
        Self { ends: Flat::default(), entries: Box::new(Vec::new()), failed: AtomicBool::new(false) }
    }
}

impl Lists {
    /// `None` if the ends do not match the entries.
    pub fn new(ends: Flat<4>, entries: Box<dyn ReadRanges>) -> Option<Self> {
        let last = ends.len().checked_sub(1).and_then(|last| ends.get(last)).unwrap_or(0);
        let is_whole = (last as usize).checked_mul(ENTRY) == Some(entries.len());
        is_whole.then_some(Self { ends, entries, failed: AtomicBool::new(false) })
    }

    pub fn ends(&self) -> &Flat<4> {
        &self.ends
    }

    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of all entries.
    pub fn entries(&self) -> Option<Cow<'_, [u8]>> {
        let whole = 0..self.entries.len();
        let Batch { bytes, starts } = self.entries.read(std::slice::from_ref(&whole))?;
        let place = *starts.first()?..starts.first()?.checked_add(whole.end)?;
        match bytes {
            Cow::Borrowed(bytes) => bytes.get(place).map(Cow::Borrowed),
            Cow::Owned(bytes) => bytes.get(place).map(|bytes| Cow::Owned(bytes.to_vec())),
        }
    }

    /// Whether a list could not be read. If so, no answer since may be used.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// The number of entries of a list.
    pub(crate) fn length(&self, list: usize) -> usize {
        self.ends.part(list).len()
    }

    /// Reads lists, given in ascending order. Entries with numbers of `below` or more are dropped.
    pub(crate) fn read(&self, lists: &[usize], below: usize) -> ListBatch<'_> {
        let ranges: Vec<Range<usize>> = lists
            .iter()
            .map(|&list| {
                let range = self.ends.part(list);
                range.start * ENTRY..range.end * ENTRY
            })
            .collect();
        let lengths = ranges.iter().map(Range::len).collect();
        let batch = self.entries.read(&ranges).unwrap_or_else(|| {
            self.failed.store(true, Ordering::Relaxed);
            Batch { bytes: Cow::Borrowed(&[]), starts: Vec::new() }
        });
        ListBatch { batch, lengths, below }
    }
}

/// Lists that were read together.
pub(crate) struct ListBatch<'b> {
    batch: Batch<'b>,
    lengths: Vec<usize>,
    below: usize,
}

impl ListBatch<'_> {
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The entries of the `at`-th requested list.
    pub(crate) fn get(&self, at: usize) -> impl Iterator<Item = (usize, u16)> + '_ {
        let bytes = || self.batch.bytes.get(*self.batch.starts.get(at)?..)?.get(..*self.lengths.get(at)?);
        let (entries, _) = bytes().unwrap_or_default().as_chunks::<ENTRY>();
        let below = self.below;
        entries
            .iter()
            .map(parsed)
            .map(|(number, count)| (number as usize, count))
            .filter(move |(number, _)| *number < below)
    }

    /// The entries of each requested list, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, u16)> + '_> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_part() {
        let entries: Vec<u8> =
            [(7, 1), (8, 2), (9, 3)].into_iter().flat_map(|(number, count)| entry(number, count)).collect();
        let ends = |numbers: &[u32]| numbers.iter().copied().collect::<Flat<4>>();
        let lists = Lists::new(ends(&[2, 2, 3]), Box::new(entries.clone())).unwrap();
        let read = lists.read(&[0, 2], 9);
        assert_eq!(read.iter().map(Iterator::collect).collect::<Vec<Vec<_>>>(), [vec![(7, 1), (8, 2)], vec![]]);
        assert_eq!((lists.length(0), lists.length(1), lists.length(2), lists.length(9)), (2, 0, 1, 0));
        assert!(Lists::new(ends(&[2, 4]), Box::new(entries.clone())).is_none());
        // Descending ends mean empty lists.
        let odd = Lists::new(ends(&[9, 1, 3]), Box::new(entries)).unwrap();
        assert_eq!(odd.read(&[1], 99).get(0).count(), 0);
        assert!(odd.failed());
    }
}
