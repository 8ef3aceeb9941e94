//! The words of all files, by word: which files have it, and how often. Made from what was counted in each file, and
//! kept as flat arrays, so that a cache can store it as it is.

use std::borrow::Borrow;

use crate::fixed::Fixed;
use crate::words::{FileWords, TermKey};

/// For more files at once, all terms are gone through.
const FEW_FILES: usize = 8;

/// Terms and the files that have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Postings {
    /// Sorted and unique.
    pub keys: Vec<TermKey>,
    /// Where the files of each term end; they begin where those of the term before end.
    pub ends: Vec<u32>,
    /// Sorted for each term.
    pub files: Vec<u32>,
    /// How often the file has the term.
    pub counts: Vec<u16>,
}

impl Postings {
    fn build(all: Vec<(TermKey, u32, u16)>) -> Self {
        let all = sorted(all);
        let mut postings = Self::default();
        postings.files.reserve(all.len());
        postings.counts.reserve(all.len());
        for (key, file, count) in all {
            if postings.keys.last() != Some(&key) {
                postings.keys.push(key);
                postings.ends.push(0);
            }
            postings.files.push(file);
            postings.counts.push(count);
            if let Some(end) = postings.ends.last_mut() {
                *end = u32::try_from(postings.files.len()).unwrap_or(u32::MAX);
            }
        }
        postings
    }

    /// The rank of a term among all.
    pub fn find(&self, key: TermKey) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }

    fn range(&self, term: usize) -> std::ops::Range<usize> {
        let start = term.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        start..self.ends.get(term).map_or(start, |end| *end as usize)
    }

    /// The files of the term of that rank, each with its count.
    pub fn of(&self, term: usize) -> impl ExactSizeIterator<Item = (usize, u16)> + '_ {
        let counts = self.counts.get(self.range(term)).unwrap_or_default();
        self.files_of(term).iter().zip(counts).map(|(&file, &count)| (file as usize, count))
    }

    /// The files of the term of that rank, sorted.
    pub fn files_of(&self, term: usize) -> &[u32] {
        self.files.get(self.range(term)).unwrap_or_default()
    }

    /// How many files have the term of that rank.
    pub fn frequency(&self, term: usize) -> usize {
        self.range(term).len()
    }

    /// The terms of each of some files, by rank, with their counts.
    pub fn rows(&self, wanted: &[usize]) -> Vec<Vec<(usize, u16)>> {
        if wanted.len() <= FEW_FILES {
            return wanted.iter().map(|&file| self.row(file)).collect();
        }
        let mut rows = vec![Vec::new(); wanted.len()];
        let most = wanted.iter().copied().max().map_or(0, |most| most + 1);
        let mut row_of = vec![u32::MAX; most];
        for (row, &file) in wanted.iter().enumerate() {
            row_of[file] = u32::try_from(row).unwrap_or(u32::MAX);
        }
        for term in 0..self.keys.len() {
            for (file, count) in self.of(term) {
                if let Some(row) = row_of.get(file).and_then(|&row| rows.get_mut(row as usize)) {
                    row.push((term, count));
                }
            }
        }
        rows
    }

    /// The terms of one file. The numbers of all files are compared many at a time, which is faster than to go through the terms.
    fn row(&self, file: usize) -> Vec<(usize, u16)> {
        let mut row = Vec::new();
        let mut term = 0;
        for (part, files) in self.files.chunks(64).enumerate() {
            let is_here = files.iter().fold(false, |found, &other| found | (other as usize == file));
            if !is_here {
                continue;
            }
            for (at, _) in files.iter().enumerate().filter(|(_, other)| **other as usize == file) {
                let at = part * 64 + at;
                term += self.ends.get(term..).unwrap_or_default().partition_point(|end| *end as usize <= at);
                row.push((term, self.counts.get(at).copied().unwrap_or_default()));
            }
        }
        row
    }

    /// What the arrays must be for the questions above to make sense. For arrays that come from a cache.
    fn is_whole(&self, files: usize) -> bool {
        self.keys.is_sorted_by(|left, right| left < right)
            && self.keys.len() == self.ends.len()
            && self.ends.is_sorted_by(|left, right| left < right)
            && self.ends.first() != Some(&0)
            && self.ends.last().map_or(0, |end| *end as usize) == self.files.len()
            && self.files.len() == self.counts.len()
            && self.files.iter().all(|&file| (file as usize) < files)
    }
}

/// A few entries for each part of a sort.
const BUCKET: usize = 32;

/// Sorts entries. Keys are hashes, so that their first bits spread them evenly over parts, which are small and sorted one by
/// one; keys that do not spread only make a part larger.
fn sorted(all: Vec<(TermKey, u32, u16)>) -> Vec<(TermKey, u32, u16)> {
    let bits = (all.len() / BUCKET + 1).ilog2().min(20);
    let bucket = |key: TermKey| key.checked_shr(TermKey::BITS - bits).unwrap_or(0) as usize;
    let mut ends = vec![0usize; 1 << bits];
    all.iter().for_each(|&(key, ..)| ends[bucket(key)] += 1);
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let mut spread = vec![(0, 0, 0); all.len()];
    for entry in all {
        let place = &mut ends[bucket(entry.0)];
        spread[*place] = entry;
        *place += 1;
    }
    let mut start = 0;
    for end in ends {
        spread[start..end].sort_unstable();
        start = end;
    }
    spread
}

/// The words of a repository. Files are numbered as they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordIndex {
    pub words: Postings,
    pub parts: Postings,
    pub definitions: Postings,
    /// The number of parts in each file.
    pub lengths: Vec<u32>,
    /// The length of each file as a vector of weighted parts.
    pub norms: Vec<Fixed>,
}

impl WordIndex {
    pub fn build<W: Borrow<FileWords> + Sync>(files: &[W]) -> Self {
        let collect = |list: fn(&FileWords) -> &[(TermKey, u16)]| -> Vec<(TermKey, u32, u16)> {
            let mut all = Vec::with_capacity(files.iter().map(|words| list(words.borrow()).len()).sum());
            for (file, words) in (0u32..).zip(files) {
                all.extend(list(words.borrow()).iter().map(|&(key, count)| (key, file, count)));
            }
            all
        };
        let defined = (0u32..)
            .zip(files)
            .flat_map(|(file, words)| words.borrow().definitions.iter().map(move |&key| (key, file, 1)));
        let definitions = Postings::build(defined.collect());
        let (words, parts) = rayon::join(
            || Postings::build(collect(|words| &words.words)),
            || Postings::build(collect(|words| &words.parts)),
        );
        let length = |words: &W| words.borrow().parts.iter().map(|(_, count)| u32::from(*count)).sum();
        let lengths = files.iter().map(length).collect();
        let norms = norms(&parts, files.len());
        Self { words, parts, definitions, lengths, norms }
    }

    /// An index of arrays from a cache; `None` when they do not fit together.
    pub fn from_parts(
        [words, parts, definitions]: [Postings; 3],
        lengths: Vec<u32>,
        norms: Vec<Fixed>,
    ) -> Option<Self> {
        let files = lengths.len();
        let is_whole = [&words, &parts, &definitions].iter().all(|postings| postings.is_whole(files));
        (is_whole && norms.len() == files).then_some(Self { words, parts, definitions, lengths, norms })
    }

    pub fn file_count(&self) -> usize {
        self.lengths.len()
    }

    /// What was counted in each file: the way back, for an index of which some files changed.
    pub fn file_words(&self) -> Vec<FileWords> {
        let mut files = vec![FileWords::default(); self.file_count()];
        for (term, &key) in self.words.keys.iter().enumerate() {
            self.words.of(term).for_each(|(file, count)| files[file].words.push((key, count)));
        }
        for (term, &key) in self.parts.keys.iter().enumerate() {
            self.parts.of(term).for_each(|(file, count)| files[file].parts.push((key, count)));
        }
        for (term, &key) in self.definitions.keys.iter().enumerate() {
            self.definitions.of(term).for_each(|(file, _)| files[file].definitions.push(key));
        }
        files
    }
}

/// How much a part says: ln((1 + n) / (1 + files that have it)).
pub(crate) fn part_weight(files: usize, frequency: usize) -> Fixed {
    Fixed::ratio(1 + files as i64, 1 + frequency as i64).ln()
}

/// 1 + ln(count): the tenth occurrence says less than the first. Most counts are small, so that a table has them.
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

fn norms(parts: &Postings, files: usize) -> Vec<Fixed> {
    let mut squares = vec![Fixed::ZERO; files];
    let weights = CountWeights::new();
    for term in 0..parts.keys.len() {
        let rarity = part_weight(files, parts.frequency(term));
        for (file, count) in parts.of(term) {
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

    #[test]
    fn words_are_found_in_their_files() {
        let index = index(&["const one = two;", "two two", ""]);
        let term = index.words.find(key("two")).unwrap();
        assert_eq!(index.words.of(term).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(index.words.find(key("three")), None);
        assert_eq!(index.lengths, [3, 2, 0]);
        assert_eq!(index.words.rows(&[1, 2]), [vec![(term, 2)], vec![]]);
    }

    #[test]
    fn few_and_many_rows_are_the_same() {
        let texts: Vec<String> = (0..40).map(|file| format!("all w{} w{} last{file}", file % 7, file % 5)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let index = index(&texts);
        let all: Vec<usize> = (0..texts.len()).collect();
        let many = index.words.rows(&all);
        let few: Vec<_> = all.iter().flat_map(|&file| index.words.rows(&[file])).collect();
        assert_eq!(many, few);
        assert_eq!(many[8].len(), 4);
    }

    #[test]
    fn entries_are_sorted_however_their_keys_spread() {
        for step in [1u64, u64::MAX / 3000, 0] {
            let entry = |number: u64| (number.wrapping_mul(7919) % 3000 * step, (number % 11) as u32, 1);
            let all: Vec<(TermKey, u32, u16)> = (0..3000).map(entry).collect();
            let mut expected = all.clone();
            expected.sort_unstable();
            assert_eq!(sorted(all), expected, "{step}");
        }
        assert_eq!(sorted(Vec::new()), []);
    }

    #[test]
    fn an_index_is_what_it_was_made_of() {
        let index = index(&["const one = two;", "function three() { return one + one }", "x", "two"]);
        assert_eq!(WordIndex::build(&index.file_words()), index);
        let WordIndex { words, parts, definitions, lengths, norms } = index.clone();
        let from = |words: &Postings, norms: &[Fixed]| {
            let postings = [words.clone(), parts.clone(), definitions.clone()];
            WordIndex::from_parts(postings, lengths.clone(), norms.to_vec())
        };
        assert_eq!(from(&words, &norms), Some(index));
        assert_eq!(from(&words, &norms[1..]), None);
        let mut wrong = words.clone();
        wrong.files[0] = 9;
        assert_eq!(from(&wrong, &norms), None);
        let mut wrong = words;
        wrong.ends.pop();
        assert_eq!(from(&wrong, &norms), None);
    }
}
