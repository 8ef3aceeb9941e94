//! The signals between what is asked and every file: each a number from 0 to 1 for each file, before weights.

use rustc_hash::FxHashMap;

use crate::fixed::{Fixed, log_unit, unit};
use crate::history::{Change, CommonChanges, changed_with, churn, like_messages, rarity, saturated};
use crate::index::{CountWeights, Postings, WordIndex, part_weight};
use crate::paths::{FileClass, path_keys};
use crate::query::TextQuery;
use crate::walk::{Edge, ImportGraph};
use crate::words::TermKey;

/// What a ranking knows of the repository. Files are numbered by their place in `files`.
#[derive(Clone, Copy, Debug)]
pub struct Corpus<'c> {
    pub files: &'c [RankedFile],
    /// Of the same files.
    pub index: &'c WordIndex,
    pub edges: &'c [Edge],
    /// The newest first.
    pub history: &'c [Change],
}

/// A file that is ranked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedFile {
    /// From the root.
    pub path: Box<str>,
    pub class: FileClass,
}

/// How many words of the focus are searched for: the rarest that it uses most.
const FOCUS_WORDS: usize = 60;
/// How many occurrences in a file a word of its path is worth.
const PATH_COUNT: u32 = 5;

/// What is the same for every query.
pub(crate) struct Signals<'c> {
    pub(crate) corpus: Corpus<'c>,
    pub(crate) graph: ImportGraph,
    pub(crate) common: CommonChanges<'c>,
    /// Files that are found by their words.
    pub(crate) documents: usize,
    /// BM25's norm of each file's length.
    norms: Vec<Fixed>,
    /// The different words of each path, and for each word how rare it is among paths and which files have it.
    pub(crate) path_words: Vec<Vec<TermKey>>,
    path_index: FxHashMap<TermKey, (Fixed, Vec<u32>)>,
    pub(crate) churn: Vec<Fixed>,
}

/// A term to search for, by its rank in the index.
pub(crate) type Wanted = (usize, Fixed);

impl<'c> Signals<'c> {
    pub(crate) fn new(corpus: Corpus<'c>) -> Self {
        let count = corpus.files.len();
        let is_document = |file: &&RankedFile| file.class != FileClass::Other;
        let documents = corpus.files.iter().filter(is_document).count();
        let words_of = |file: &RankedFile| {
            let mut words = path_keys(&file.path);
            words.sort_unstable();
            words.dedup();
            words
        };
        let path_words: Vec<Vec<TermKey>> = corpus.files.iter().map(words_of).collect();
        let mut path_index: FxHashMap<TermKey, (Fixed, Vec<u32>)> = FxHashMap::default();
        for (file, words) in (0u32..).zip(&path_words) {
            words.iter().for_each(|word| path_index.entry(*word).or_default().1.push(file));
        }
        path_index
            .values_mut()
            .for_each(|(rare, files)| *rare = Fixed::ratio(count as i64, files.len() as i64).ln_1p());
        let mut churn = churn(corpus.history, count);
        log_unit(&mut churn, 20);
        Self {
            graph: ImportGraph::new(corpus.edges, count),
            common: CommonChanges::new(corpus.history, count),
            documents,
            norms: length_norms(&corpus.index.lengths, documents),
            path_words,
            path_index,
            churn,
            corpus,
        }
    }

    /// How well each file answers the query: BM25 with k1 = 1.2 and b = 0.75.
    fn search(&self, postings: &Postings, query: &[Wanted]) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; self.corpus.files.len()];
        for &(term, weight) in query {
            let weight = weight * rarity(self.documents as i64, postings.frequency(term) as i64);
            for (file, count) in postings.of(term) {
                values[file] += weight * saturated(Fixed::int(count), self.norms[file]);
            }
        }
        values
    }

    /// The same for a text, over the parts of words; a word of the path counts as several in the file.
    fn search_text(&self, query: &[(TermKey, Fixed)]) -> Vec<Fixed> {
        let parts = &self.corpus.index.parts;
        let mut values = vec![Fixed::ZERO; self.corpus.files.len()];
        let mut counts = vec![0u32; self.corpus.files.len()];
        let mut having: Vec<usize> = Vec::new();
        for &(key, weight) in query {
            for (file, count) in parts.find(key).into_iter().flat_map(|term| parts.of(term)) {
                counts[file] = u32::from(count);
                having.push(file);
            }
            for &file in self.path_index.get(&key).into_iter().flat_map(|(_, files)| files) {
                let file = file as usize;
                if counts[file] == 0 {
                    having.push(file);
                }
                counts[file] += PATH_COUNT;
            }
            let weight = weight * rarity(self.documents as i64, having.len() as i64);
            for file in having.drain(..) {
                values[file] += weight * saturated(Fixed::int(std::mem::take(&mut counts[file])), self.norms[file]);
            }
        }
        values
    }

    /// Shared path words, by rarity: the share of what the wanted words, sorted and unique, are worth.
    fn path_like(&self, wanted: &[(TermKey, Fixed)]) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; self.corpus.files.len()];
        let mut total = Fixed::ZERO;
        for (word, weight) in wanted {
            let Some((rare, files)) = self.path_index.get(word) else { continue };
            let worth = *weight * *rare;
            total += worth;
            files.iter().for_each(|&file| values[file as usize] += worth);
        }
        values.iter_mut().filter(|value| value.is_positive()).for_each(|value| *value = *value / total);
        values
    }
}

fn length_norms(lengths: &[u32], documents: usize) -> Vec<Fixed> {
    let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    let mean = Fixed::ratio(i64::try_from(total).unwrap_or(i64::MAX), documents.max(1) as i64).max(Fixed::ONE);
    let norm =
        |length: &u32| Fixed::ratio(12, 10) * (Fixed::ratio(1, 4) + Fixed::ratio(3, 4) * (Fixed::int(*length) / mean));
    lengths.iter().map(norm).collect()
}

/// Signals of closeness to the focus files.
pub(crate) struct FocusSignals {
    pub(crate) cosine: Vec<Fixed>,
    pub(crate) lexical: Vec<Fixed>,
    pub(crate) cochange: Vec<Fixed>,
    pub(crate) cowalk: Vec<Fixed>,
    pub(crate) define: Vec<Fixed>,
    pub(crate) uses: Vec<Fixed>,
    pub(crate) pathlike: Vec<Fixed>,
    pub(crate) walk: Vec<Fixed>,
    /// The words that were searched for, the best first.
    pub(crate) words: Vec<Wanted>,
    /// Words that the focus uses and some file defines, and the other way round, with what each is worth.
    pub(crate) used: Vec<(TermKey, Fixed)>,
    pub(crate) defined: Vec<(TermKey, Fixed)>,
}

/// The words of the focus files, each with the seed of its file.
struct Seeds {
    files: Vec<usize>,
    seeds: Vec<Fixed>,
    words: Vec<Vec<(usize, u16)>>,
}

impl Signals<'_> {
    /// `seeds` has a weight for each file of the focus and 0 for all others.
    pub(crate) fn focus(&self, seeds: &[Fixed]) -> FocusSignals {
        let files: Vec<usize> = (0..seeds.len()).filter(|&file| seeds[file].is_positive()).collect();
        let without_focus = |mut values: Vec<Fixed>| {
            files.iter().for_each(|&file| values[file] = Fixed::ZERO);
            values
        };
        let unit_of = |values: Vec<Fixed>| {
            let mut values = without_focus(values);
            unit(&mut values);
            values
        };
        let root = |values: Vec<Fixed>| without_focus(values).into_iter().map(Fixed::sqrt).collect();
        let mut walk = without_focus(self.graph.walk(seeds));
        log_unit(&mut walk, 1000);
        let words = self.corpus.index.words.rows(&files);
        let rows = Seeds { seeds: files.iter().map(|&file| seeds[file]).collect(), words, files: files.clone() };
        let wanted = self.focus_words(&rows);
        let (define, used) = self.definers(&rows);
        let (uses, defined) = self.users(&rows);
        let mut path_query: FxHashMap<TermKey, Fixed> = FxHashMap::default();
        for &file in &files {
            for word in &self.path_words[file] {
                *path_query.entry(*word).or_default() += seeds[file];
            }
        }
        let mut path_query: Vec<(TermKey, Fixed)> = path_query.into_iter().collect();
        path_query.sort_unstable();
        FocusSignals {
            cosine: without_focus(self.cosine(&rows)),
            lexical: unit_of(self.search(&self.corpus.index.words, &wanted)),
            cochange: root(changed_with(self.corpus.history, seeds)),
            cowalk: root(self.common.walk(seeds)),
            define: unit_of(define.into_iter().map(Fixed::ln_1p).collect()),
            uses: unit_of(uses.into_iter().map(Fixed::ln_1p).collect()),
            pathlike: without_focus(self.path_like(&path_query)),
            walk,
            words: wanted,
            used,
            defined,
        }
    }

    /// The rarest words that the focus uses most. Words of one file alone find no other file, and words of many files
    /// find too many.
    fn focus_words(&self, rows: &Seeds) -> Vec<Wanted> {
        let words = &self.corpus.index.words;
        let documents = self.documents as i64;
        let most = (documents / 5).max(3);
        let mut worth: FxHashMap<usize, Fixed> = FxHashMap::default();
        for (row, &seed) in rows.words.iter().zip(&rows.seeds) {
            for &(term, count) in row {
                let frequency = words.frequency(term) as i64;
                if (2..=most).contains(&frequency) {
                    let rare = Fixed::ratio(documents, frequency).ln_1p();
                    *worth.entry(term).or_default() += seed * Fixed::int(count).ln_1p() * rare;
                }
            }
        }
        let mut best: Vec<Wanted> = worth.into_iter().collect();
        best.sort_unstable_by_key(|&(term, worth)| (std::cmp::Reverse(worth), term));
        best.truncate(FOCUS_WORDS);
        best.into_iter().map(|(term, _)| (term, Fixed::ONE)).collect()
    }

    /// What a name is worth that few files define: rare names are worth more. `None` for names that many define.
    fn name_worth(&self, name: TermKey) -> Option<(usize, Fixed)> {
        let index = self.corpus.index;
        let definition = index.definitions.find(name)?;
        let definers = index.definitions.frequency(definition);
        let users = index.words.find(name).map_or(1, |term| index.words.frequency(term)).max(1);
        let rare = Fixed::ratio(self.documents as i64, users as i64).ln_1p();
        (definers <= 5).then(|| (definition, rare / Fixed::count(definers)))
    }

    /// Files that define what the focus uses.
    fn definers(&self, rows: &Seeds) -> (Vec<Fixed>, Vec<(TermKey, Fixed)>) {
        let index = self.corpus.index;
        let mut used: FxHashMap<usize, Fixed> = FxHashMap::default();
        for (row, &seed) in rows.words.iter().zip(&rows.seeds) {
            row.iter().for_each(|&(term, _)| *used.entry(term).or_default() += seed);
        }
        let mut used: Vec<(usize, Fixed)> = used.into_iter().collect();
        used.sort_unstable();
        let mut values = vec![Fixed::ZERO; self.corpus.files.len()];
        let mut names = Vec::new();
        for (term, seed) in used {
            let Some(&name) = index.words.keys.get(term) else { continue };
            let Some((definition, worth)) = self.name_worth(name) else { continue };
            index.definitions.of(definition).for_each(|(file, _)| values[file] += seed * worth);
            names.push((name, worth));
        }
        (values, names)
    }

    /// Files that use what the focus defines.
    fn users(&self, rows: &Seeds) -> (Vec<Fixed>, Vec<(TermKey, Fixed)>) {
        let index = self.corpus.index;
        let mut values = vec![Fixed::ZERO; self.corpus.files.len()];
        let mut names = Vec::new();
        for (row, &seed) in index.definitions.rows(&rows.files).iter().zip(&rows.seeds) {
            for &(definition, _) in row {
                let Some(&name) = index.definitions.keys.get(definition) else { continue };
                let (Some((_, worth)), Some(term)) = (self.name_worth(name), index.words.find(name)) else { continue };
                index.words.of(term).for_each(|(file, _)| values[file] += seed * worth);
                names.push((name, worth));
            }
        }
        (values, names)
    }

    /// Likeness of vocabulary: the cosine over weighted parts.
    fn cosine(&self, rows: &Seeds) -> Vec<Fixed> {
        let WordIndex { parts, norms, .. } = self.corpus.index;
        let weights = CountWeights::new();
        let mut query: FxHashMap<usize, Fixed> = FxHashMap::default();
        for ((row, &seed), &file) in parts.rows(&rows.files).iter().zip(&rows.seeds).zip(&rows.files) {
            for &(term, count) in row {
                *query.entry(term).or_default() += seed * weights.of(count) / norms[file];
            }
        }
        let mut query: Vec<(usize, Fixed)> = query.into_iter().collect();
        query.sort_unstable();
        let mut values = vec![Fixed::ZERO; self.corpus.files.len()];
        for (term, weight) in query {
            let rare = part_weight(norms.len(), parts.frequency(term));
            let weight = weight * rare * rare;
            parts.of(term).for_each(|(file, count)| values[file] += weight * weights.of(count));
        }
        values.iter().zip(norms).map(|(value, norm)| *value / *norm).collect()
    }
}

/// What answers a text.
pub(crate) struct TextSignals {
    pub(crate) content: Vec<Fixed>,
    pub(crate) path: Vec<Fixed>,
    pub(crate) message: Vec<Fixed>,
    pub(crate) identifier: Vec<Fixed>,
    /// Commits whose messages are like the text, the most alike first.
    pub(crate) alike: Vec<(usize, Fixed)>,
}

impl Signals<'_> {
    /// `named` are the files whose paths the text spells out.
    pub(crate) fn text(&self, query: &TextQuery, named: &[u32]) -> TextSignals {
        let words = &self.corpus.index.words;
        let mut content = self.search_text(&query.parts);
        unit(&mut content);
        let identifiers = query.words.iter().filter(|word| word.is_identifier);
        let mut identifiers: Vec<Wanted> =
            identifiers.filter_map(|word| Some((words.find(word.key)?, word.weight))).collect();
        identifiers.sort_unstable();
        let mut identifier = self.search(words, &identifiers);
        unit(&mut identifier);
        let (mut message, mut alike) = like_messages(self.corpus.history, &query.parts, self.corpus.files.len());
        log_unit(&mut message, 30);
        alike.sort_by_key(|&(number, value)| (std::cmp::Reverse(value), number));
        let mut path = self.path_like(&query.parts);
        // A path that is spelled out counts more than any word.
        for &file in named {
            for values in [&mut content, &mut path, &mut identifier] {
                if let Some(value) = values.get_mut(file as usize) {
                    *value = Fixed::ONE;
                }
            }
        }
        TextSignals { content, path, message, identifier, alike }
    }
}
