//! An inverted index of the words of all files, and the words of each file, with counts. Built from the counts of each file, and
//! stored as flat bytes, so that a cache can store it directly and a query reads only the lists of its words.

use std::borrow::Borrow;

use crate::fixed::Fixed;
use crate::flat::{ENTRY, Flat, ListBatch, Lists, entry};
use crate::words::{FileWords, TermKey};

/// The files of each term, and the terms of each file.
#[derive(Debug)]
pub struct Postings {
    /// Sorted, without duplicates. The rank of a term is its index here.
    pub keys: Flat<8>,
    /// For each term its files, sorted, with counts.
    pub by_term: Lists,
    /// For each file its terms by rank, sorted, with counts.
    pub by_file: Lists,
}

impl Postings {
    /// `entries` is called several times and must give the same entries: a copy of them would take more memory than everything
    /// else here.
    fn build<I: Iterator<Item = Entry>>(entries: impl Fn() -> I, files: usize) -> Self {
        let mut places = vec![0usize; files];
        entries().for_each(|entry| places[entry.file as usize] += 1);
        let all = sorted(entries, places.iter().sum());
        let (mut keys, mut ends) = (Vec::<TermKey>::new(), Vec::<u32>::new());
        let mut entries = Vec::with_capacity(all.len() * ENTRY);
        let mut row_ends = Vec::with_capacity(files);
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
            row_ends.push(small(start));
        }
        let mut rows = vec![0; all.len() * ENTRY];
        for (rank, same) in (0u32..).zip(all.chunk_by(|left, right| left.key == right.key)) {
            for &Entry { file, count, .. } in same {
                entries.extend_from_slice(&entry(file, count));
                let place = &mut places[file as usize];
                rows[*place * ENTRY..(*place + 1) * ENTRY].copy_from_slice(&entry(rank, count));
                *place += 1;
            }
            keys.push(same[0].key);
            ends.push(small(entries.len() / ENTRY));
        }
        let lists = |ends: Vec<u32>, entries: Vec<u8>| Lists::new(ends.into_iter().collect(), Box::new(entries));
        let (by_term, by_file) = (lists(ends, entries), lists(row_ends, rows));
        // Only `None` if there are more entries than 32-bit ends can count: then nothing is found by words.
        let keys = keys.into_iter().collect();
        Self { keys, by_term: by_term.unwrap_or_default(), by_file: by_file.unwrap_or_default() }
    }

    /// The rank of a term among the keys, which are sorted.
    pub(crate) fn find(&self, key: TermKey) -> Option<usize> {
        self.keys.find(key)
    }

    /// The files of each term with counts; `terms` are ranks in ascending order.
    pub(crate) fn files_of(&self, terms: &[usize]) -> ListBatch<'_> {
        self.by_term.read(terms, self.by_file.count())
    }

    /// The number of files with the term of this rank.
    pub(crate) fn frequency(&self, term: usize) -> usize {
        self.by_term.length(term)
    }

    /// The terms of each file with counts, by rank; `files` are in ascending order.
    pub(crate) fn rows(&self, files: &[usize]) -> Vec<Vec<(usize, u16)>> {
        self.by_file.read(files, self.keys.len()).iter().map(Iterator::collect).collect()
    }

    fn failed(&self) -> bool {
        self.by_term.failed() || self.by_file.failed()
    }

    fn is_of(&self, files: usize) -> bool {
        self.by_file.count() == files && self.by_term.count() == self.keys.len()
    }

    /// The terms of each file, by key.
    fn by_key(&self) -> impl Iterator<Item = Vec<(TermKey, u16)>> + '_ {
        let all: Vec<usize> = (0..self.by_file.count()).collect();
        let rows = self.rows(&all);
        rows.into_iter()
            .map(|row| row.into_iter().filter_map(|(term, count)| Some((self.keys.get(term)?, count))).collect())
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The average number of entries per bucket of a sort.
const BUCKET: usize = 32;

/// One term of one file. Sorted by term, then by file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: TermKey,
    file: u32,
    /// How often the file contains the term.
    count: u16,
}

/// Bucket sort of `count` entries. Keys are hashes, so their first bits spread them evenly over small buckets, which are sorted
/// one by one. Keys that do not spread only make a bucket larger.
fn sorted<I: Iterator<Item = Entry>>(entries: impl Fn() -> I, count: usize) -> Vec<Entry> {
    let bits = (count / BUCKET + 1).ilog2().min(20);
    // Few entries give `bits` = 0, and a shift by 64 would overflow.
    let bucket = |key: TermKey| key.checked_shr(TermKey::BITS - bits).unwrap_or(0) as usize;
    let mut ends = vec![0usize; 1 << bits];
    entries().for_each(|entry| ends[bucket(entry.key)] += 1);
    let mut start = 0;
    for end in &mut ends {
        // Turns the counts into the start of each bucket; placing the entries moves these to the ends.
        start += std::mem::replace(end, start);
    }
    let mut spread = vec![Entry::default(); count];
    entries().for_each(|entry| {
        let place = &mut ends[bucket(entry.key)];
        spread[*place] = entry;
        *place += 1;
    });
    let mut start = 0;
    for end in ends {
        spread[start..end].sort_unstable();
        start = end;
    }
    spread
}

/// The words of a repository. Files are numbered in the given order.
#[derive(Debug)]
pub struct WordIndex {
    pub words: Postings,
    pub parts: Postings,
    pub definitions: Postings,
    /// The number of word parts in each file.
    pub lengths: Flat<4>,
    /// The norm of each file as a vector of weighted parts.
    pub norms: Flat<8>,
}

impl WordIndex {
    pub fn build<W: Borrow<FileWords> + Sync>(files: &[W]) -> Self {
        let entries_of = |list: fn(&FileWords) -> &[(TermKey, u16)]| {
            let numbered = (0u32..).zip(files);
            numbered.flat_map(move |(file, words)| {
                list(words.borrow()).iter().map(move |&(key, count)| Entry { key, file, count })
            })
        };
        let defined = || {
            let numbered = (0u32..).zip(files);
            numbered.flat_map(|(file, words)| {
                words.borrow().definitions.iter().map(move |&key| Entry { key, file, count: 1 })
            })
        };
        let definitions = Postings::build(defined, files.len());
        let (words, (parts, norms)) = rayon::join(
            || Postings::build(|| entries_of(|words| &words.words), files.len()),
            || {
                let parts = Postings::build(|| entries_of(|words| &words.parts), files.len());
                let norms = norms(&parts, files.len());
                (parts, norms)
            },
        );
        let length = |words: &W| words.borrow().parts.iter().map(|(_, count)| u32::from(*count)).sum::<u32>();
        let lengths = files.iter().map(length).collect();
        Self { words, parts, definitions, lengths, norms }
    }

    /// An index from the arrays of a cache; `None` if they are inconsistent.
    pub fn from_parts([words, parts, definitions]: [Postings; 3], lengths: Flat<4>, norms: Flat<8>) -> Option<Self> {
        let files = lengths.len();
        let is_whole = [&words, &parts, &definitions].iter().all(|postings| postings.is_of(files));
        (is_whole && norms.len() == files).then_some(Self { words, parts, definitions, lengths, norms })
    }

    pub fn file_count(&self) -> usize {
        self.lengths.len()
    }

    /// Whether a part of the index could not be read. If so, no answer since may be used.
    pub fn failed(&self) -> bool {
        [&self.words, &self.parts, &self.definitions].iter().any(|postings| postings.failed())
    }

    /// The counts of each file, to rebuild an index after some files changed. `None` if they cannot be read.
    pub fn file_words(&self) -> Option<Vec<FileWords>> {
        let lists = self.words.by_key().zip(self.parts.by_key()).zip(self.definitions.by_key());
        let of_file = |((words, parts), definitions): ((_, _), Vec<(TermKey, u16)>)| FileWords {
            words,
            parts,
            definitions: definitions.into_iter().map(|(key, _)| key).collect(),
        };
        let files = lists.map(of_file).collect();
        (!self.failed()).then_some(files)
    }
}

/// The inverse document frequency of a part: ln((1 + n) / (1 + files that have it)).
pub(crate) fn part_weight(files: usize, frequency: usize) -> Fixed {
    Fixed::ratio(1 + files as i64, 1 + frequency as i64).ln()
}

/// 1 + ln(count): the tenth occurrence counts less than the first. A table, because most counts are small.
pub(crate) struct CountWeights {
    small: Vec<Fixed>,
}

impl CountWeights {
    pub(crate) fn new() -> Self {
        Self { small: (0..256).map(Self::exact).collect() }
    }

    fn exact(count: u16) -> Fixed {
        Fixed::ONE + Fixed::int(count.max(1)).ln()
    }

    pub(crate) fn of(&self, count: u16) -> Fixed {
        self.small.get(usize::from(count)).copied().unwrap_or_else(|| Self::exact(count))
    }
}

fn norms(parts: &Postings, files: usize) -> Flat<8> {
    let mut squares = vec![Fixed::ZERO; files];
    let weights = CountWeights::new();
    let all: Vec<usize> = (0..parts.keys.len()).collect();
    for (term, list) in parts.files_of(&all).iter().enumerate() {
        let rarity = part_weight(files, parts.frequency(term));
        for (file, count) in list {
            let weight = weights.of(count) * rarity;
            squares[file] += weight * weight;
        }
    }
    squares.into_iter().map(Fixed::sqrt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{WordCounter, key};

    fn index(texts: &[&str]) -> WordIndex {
        let mut counter = WordCounter::default();
        WordIndex::build(&texts.iter().map(|text| counter.count("a.ts", text.as_bytes())).collect::<Vec<_>>())
    }

    fn files_of(postings: &Postings, term: usize) -> Vec<(usize, u16)> {
        postings.files_of(&[term]).get(0).collect()
    }

    #[test]
    fn words_are_found_in_their_files() {
        let index = index(&["const one = two;", "two two", ""]);
        let term = index.words.find(key("two")).unwrap();
        assert_eq!(files_of(&index.words, term), [(0, 1), (1, 2)]);
        assert_eq!(index.words.find(key("three")), None);
        assert_eq!(index.lengths.iter().collect::<Vec<_>>(), [3, 2, 0]);
        assert_eq!(index.words.rows(&[1, 2]), [vec![(term, 2)], vec![]]);
        assert!(!index.failed());
    }

    #[test]
    fn rows_contain_the_same_entries_as_the_lists() {
        let texts: Vec<String> = (0..40).map(|file| format!("all w{} w{} last{file}", file % 7, file % 5)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let index = index(&texts);
        let all: Vec<usize> = (0..texts.len()).collect();
        for (file, row) in index.words.rows(&all).iter().enumerate() {
            assert_eq!(row.len(), if file % 35 < 5 { 3 } else { 4 }, "{file}");
            for &(term, count) in row {
                assert!(files_of(&index.words, term).contains(&(file, count)));
            }
        }
    }

    #[test]
    fn entries_are_sorted_however_their_keys_spread() {
        for step in [1u64, u64::MAX / 3000, 0] {
            let entry = |number: u64| Entry {
                key: number.wrapping_mul(7919) % 3000 * step,
                file: (number % 11) as u32,
                count: 1,
            };
            let mut expected: Vec<Entry> = (0..3000).map(entry).collect();
            expected.sort_unstable();
            assert_eq!(sorted(|| (0..3000).map(entry), 3000), expected, "{step}");
        }
        assert_eq!(sorted(std::iter::empty, 0), []);
    }

    #[test]
    fn an_index_contains_exactly_its_inputs() {
        let texts = ["const one = two;", "function three() { return one + one }", "x", "two"];
        let mut counter = WordCounter::default();
        let counted: Vec<FileWords> = texts.iter().map(|text| counter.count("a.ts", text.as_bytes())).collect();
        let index = WordIndex::build(&counted);
        let sorted = |mut words: FileWords| {
            words.words.sort_unstable();
            words.parts.sort_unstable();
            words
        };
        assert_eq!(index.file_words(), Some(counted.into_iter().map(sorted).collect()));
        let WordIndex { words, parts, definitions, lengths, norms } = index;
        assert!(WordIndex::from_parts([words, parts, definitions], lengths, norms.fixed().skip(1).collect()).is_none());
    }
}
