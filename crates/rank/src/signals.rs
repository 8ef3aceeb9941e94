//! Computes the signals: for each file a number from 0 to 1, before weights.

use rustc_hash::FxHashMap;

use crate::fixed::{Fixed, log_unit, unit};
use crate::flat::{ListBatch, numbers};
use crate::history::{History, Messages, like_messages, rarity, saturated};
use crate::index::{CountWeights, Postings, WordIndex, part_weight};
use crate::layout::Layout;
use crate::paths::FileClass;
use crate::query::{TextQuery, TextWord};
use crate::words::TermKey;

/// The inputs of a ranking. Files are numbered by their index in the layout.
#[derive(Clone, Copy, Debug)]
pub struct Corpus<'c> {
    pub layout: &'c Layout,
    /// For the same files.
    pub index: &'c WordIndex,
    /// For the same files.
    pub history: &'c History,
    /// For the commits of the history.
    pub messages: &'c Messages,
}

/// How many words of the focus to search for: rare words that it uses often.
const MAX_FOCUS_WORDS: usize = 60;
/// A word in a file's path counts as this many occurrences in the file.
const PATH_COUNT: u32 = 5;

/// Computes the signals of one query.
pub(crate) struct Signals<'c> {
    pub(crate) corpus: Corpus<'c>,
    /// The number of files that can be found by words.
    pub(crate) documents: usize,
    /// Their mean length.
    mean: Fixed,
}

/// A term to search for: its rank in the index, and its weight.
#[derive(Clone, Copy)]
struct WantedTerm {
    term: usize,
    weight: Fixed,
}

fn terms_of(query: &[WantedTerm]) -> Vec<usize> {
    query.iter().map(|wanted| wanted.term).collect()
}

impl<'c> Signals<'c> {
    pub(crate) fn new(corpus: Corpus<'c>) -> Self {
        let documents = corpus.layout.classes().iter().filter(|class| **class != FileClass::Other).count();
        let total: u64 = corpus.index.lengths.iter().map(u64::from).sum();
        let mean = Fixed::ratio(i64::try_from(total).unwrap_or(i64::MAX), documents.max(1) as i64).max(Fixed::ONE);
        Self { corpus, documents, mean }
    }

    /// BM25's length norm of a file.
    fn norm(&self, file: usize) -> Fixed {
        let length = Fixed::int(self.corpus.index.lengths.get(file).unwrap_or_default());
        Fixed::ratio(12, 10) * (Fixed::ratio(1, 4) + Fixed::ratio(3, 4) * (length / self.mean))
    }

    /// How well each file matches the query: BM25 with k1 = 1.2 and b = 0.75. The terms are sorted.
    fn search(&self, postings: &Postings, query: &[WantedTerm]) -> Vec<Fixed> {
        self.search_in(postings, query, &postings.files_of(&terms_of(query)))
    }

    /// As `search`, with the lists of the terms.
    fn search_in(&self, postings: &Postings, query: &[WantedTerm], lists: &ListBatch<'_>) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; self.corpus.layout.len()];
        for (&WantedTerm { term, weight }, list) in query.iter().zip(lists.iter()) {
            let weight = weight * rarity(self.documents as i64, postings.frequency(term) as i64);
            for (file, count) in list {
                values[file] += weight * saturated(Fixed::int(count), self.norm(file));
            }
        }
        values
    }

    /// As `search`, over the parts of a text's words; a word of the path counts as several in the file.
    fn search_text(&self, query: &[(TermKey, Fixed)]) -> (Vec<Fixed>, Vec<MentionedPart>) {
        let parts = &self.corpus.index.parts;
        let mut values = vec![Fixed::ZERO; self.corpus.layout.len()];
        let mut counts = vec![0u32; self.corpus.layout.len()];
        let mut having: Vec<usize> = Vec::new();
        // Keys are sorted, so their ranks are too.
        let known: Vec<Option<usize>> = query.iter().map(|(key, _)| parts.find(*key)).collect();
        let terms: Vec<usize> = known.iter().flatten().copied().collect();
        let lists = parts.files_of(&terms);
        let mut lists = lists.iter();
        let mut mentioned = Vec::new();
        for (&(key, weight), known) in query.iter().zip(&known) {
            if known.is_some() {
                for (file, count) in lists.next().into_iter().flatten() {
                    counts[file] = u32::from(count);
                    having.push(file);
                }
                mentioned.push(MentionedPart { key, files: having.clone() });
            }
            for file in numbers(self.corpus.layout.with_word(key)) {
                let file = file as usize;
                if counts[file] == 0 {
                    having.push(file);
                }
                counts[file] += PATH_COUNT;
            }
            let weight = weight * rarity(self.documents as i64, having.len() as i64);
            for file in having.drain(..) {
                values[file] += weight * saturated(Fixed::int(std::mem::take(&mut counts[file])), self.norm(file));
            }
        }
        (values, mentioned)
    }

    /// The weight of shared path words, as a share of the weight of all `wanted` words, which are sorted, without duplicates.
    fn path_like(&self, wanted: &[(TermKey, Fixed)]) -> Vec<Fixed> {
        let layout = self.corpus.layout;
        let mut values = vec![Fixed::ZERO; layout.len()];
        let mut total = Fixed::ZERO;
        for (word, weight) in wanted {
            let files = layout.with_word(*word);
            if files.is_empty() {
                continue;
            }
            let worth = *weight * layout.rarity(files.len());
            total += worth;
            numbers(files).for_each(|file| values[file as usize] += worth);
        }
        values.iter_mut().filter(|value| value.is_positive()).for_each(|value| *value = *value / total);
        values
    }
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
    /// For files with the same name key as the focus; empty if there is a history.
    pub(crate) names: Vec<Fixed>,
    /// Whether there are such files.
    pub(crate) has_mates: bool,
    /// The best word that a file shares with the focus; that it defines; and that the focus defines.
    pub(crate) shared: BestWords,
    pub(crate) used: BestWords,
    pub(crate) defined: BestWords,
}

/// For each file the best of several words.
pub(crate) struct BestWords {
    /// Best last.
    words: Vec<TermKey>,
    /// For each file the 1-based index of its best word; 0 for none.
    places: Vec<u32>,
}

impl BestWords {
    /// Without a word for any file.
    fn new(words: Vec<TermKey>, files: usize) -> Self {
        Self { words, places: vec![0; files] }
    }

    /// Records that a file has the word at this 1-based index.
    fn add(&mut self, file: usize, place: u32) {
        self.places[file] = self.places[file].max(place);
    }

    pub(crate) fn of(&self, file: usize) -> Option<TermKey> {
        self.words.get((*self.places.get(file)? as usize).checked_sub(1)?).copied()
    }
}

/// Maps all values by a function with f(0) = 0. Skips zeros, which are most values, so that untouched zero pages are not written.
pub(crate) fn mapped(mut values: Vec<Fixed>, function: fn(Fixed) -> Fixed) -> Vec<Fixed> {
    values.iter_mut().filter(|value| **value != Fixed::ZERO).for_each(|value| *value = function(*value));
    values
}

/// The words of the focus files, with the weight of their file.
struct Seeds {
    files: Vec<usize>,
    seeds: Vec<Fixed>,
    words: Vec<Vec<(usize, u16)>>,
}

impl Signals<'_> {
    /// `seeds` has the weight of each focus file, and 0 for all others.
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
        let root = |values: Vec<Fixed>| mapped(without_focus(values), Fixed::sqrt);
        let log = |values: Vec<Fixed>| unit_of(mapped(values, Fixed::ln_1p));
        let Corpus { layout, index, history, .. } = self.corpus;
        let mut walk = without_focus(layout.graph.walk(seeds));
        log_unit(&mut walk, 1000);
        let words = index.words.rows(&files);
        let rows = Seeds { seeds: files.iter().map(|&file| seeds[file]).collect(), words, files: files.clone() };
        let wanted = self.focus_words(&rows);
        let mut query: Vec<WantedTerm> =
            wanted.iter().map(|term| WantedTerm { term: *term, weight: Fixed::ONE }).collect();
        query.sort_unstable_by_key(|wanted| wanted.term);
        let lists = index.words.files_of(&terms_of(&query));
        let (define, used) = self.definers(&rows);
        let (uses, defined) = self.users(&rows);
        let mut path_query: FxHashMap<TermKey, Fixed> = FxHashMap::default();
        for &file in &files {
            for word in layout.words_of_path(file) {
                *path_query.entry(word).or_default() += seeds[file];
            }
        }
        let mut path_query: Vec<(TermKey, Fixed)> = path_query.into_iter().collect();
        path_query.sort_unstable();
        // Names count without a history, common changes with one: see `Ranking::is_given`.
        let has_history = !history.is_empty();
        let names = if has_history { Vec::new() } else { unit_of(self.pairs(&files, seeds)) };
        let of_history = |values: &dyn Fn() -> Vec<Fixed>| if has_history { root(values()) } else { Vec::new() };
        FocusSignals {
            has_mates: names.iter().any(|value| value.is_positive()),
            names,
            cosine: without_focus(self.cosine(&rows)),
            lexical: unit_of(self.search_in(&index.words, &query, &lists)),
            cochange: of_history(&|| history.changed_with(seeds)),
            cowalk: of_history(&|| history.walk(seeds)),
            define: log(define),
            uses: log(uses),
            pathlike: without_focus(self.path_like(&path_query)),
            walk,
            shared: self.first_words(&wanted, &lists),
            used,
            defined,
        }
    }

    /// Rare words that the focus uses often. Words of a single file find no other file, and words of many files find too many.
    fn focus_words(&self, rows: &Seeds) -> Vec<usize> {
        let words = &self.corpus.index.words;
        let documents = self.documents as i64;
        let most = (documents / 5).max(3);
        let mut weights: FxHashMap<usize, Fixed> = FxHashMap::default();
        for (row, &seed) in rows.words.iter().zip(&rows.seeds) {
            for &(term, count) in row {
                let frequency = words.frequency(term) as i64;
                if (2..=most).contains(&frequency) {
                    let rare = Fixed::ratio(documents, frequency).ln_1p();
                    *weights.entry(term).or_default() += seed * Fixed::int(count).ln_1p() * rare;
                }
            }
        }
        let mut best: Vec<(usize, Fixed)> = weights.into_iter().collect();
        best.sort_unstable_by_key(|&(term, weight)| (std::cmp::Reverse(weight), term));
        best.truncate(MAX_FOCUS_WORDS);
        best.into_iter().map(|(term, _)| term).collect()
    }

    /// For each file the first of several words that it contains. The words are sorted by weight, the lists in the same order.
    fn first_words(&self, wanted: &[usize], lists: &ListBatch<'_>) -> BestWords {
        let words = &self.corpus.index.words;
        let mut terms: Vec<(usize, u32)> =
            wanted.iter().rev().zip(1u32..).map(|(term, place)| (*term, place)).collect();
        terms.sort_unstable();
        let keys = wanted.iter().rev().map(|term| words.keys.get(*term).unwrap_or_default()).collect();
        let mut best = BestWords::new(keys, self.corpus.layout.len());
        for ((_, place), list) in terms.iter().zip(lists.iter()) {
            list.for_each(|(file, _)| best.add(file, *place));
        }
        best
    }

    /// The weight of a name with few definitions: rare names weigh more. `None` if it has many.
    fn name_weight(&self, name: TermKey) -> Option<(usize, Fixed)> {
        let index = self.corpus.index;
        let definition = index.definitions.find(name)?;
        let definers = index.definitions.frequency(definition);
        if definers > 5 {
            return None;
        }
        let users = index.words.find(name).map_or(1, |term| index.words.frequency(term)).max(1);
        let rare = Fixed::ratio(self.documents as i64, users as i64).ln_1p();
        Some((definition, rare / Fixed::count(definers)))
    }

    /// Files that define names which the focus uses, and for each the name with the most weight.
    fn definers(&self, rows: &Seeds) -> (Vec<Fixed>, BestWords) {
        let index = self.corpus.index;
        let mut used: FxHashMap<usize, Fixed> = FxHashMap::default();
        for (row, &seed) in rows.words.iter().zip(&rows.seeds) {
            row.iter().for_each(|&(term, _)| *used.entry(term).or_default() += seed);
        }
        let named = used.into_iter().filter_map(|(term, seed)| {
            let name = index.words.keys.get(term)?;
            let (definition, weight) = self.name_weight(name)?;
            Some(Name { term: definition, name, seed, weight })
        });
        self.spread(&index.definitions, named.collect())
    }

    /// Files that use names which the focus defines, and for each the name with the most weight.
    fn users(&self, rows: &Seeds) -> (Vec<Fixed>, BestWords) {
        let index = self.corpus.index;
        let defined = index.definitions.rows(&rows.files);
        let named = defined.iter().zip(&rows.seeds).flat_map(|(row, &seed)| {
            row.iter().filter_map(move |&(definition, _)| {
                let name = index.definitions.keys.get(definition)?;
                let ((_, weight), term) = (self.name_weight(name)?, index.words.find(name)?);
                Some(Name { term, name, seed, weight })
            })
        });
        self.spread(&index.words, named.collect())
    }

    /// Adds the weight of names to the files that contain them, and finds the best name of each file.
    fn spread(&self, postings: &Postings, mut names: Vec<Name>) -> (Vec<Fixed>, BestWords) {
        // Heaviest last; on a tie, the first by key.
        names.sort_unstable_by_key(|name| (name.weight, std::cmp::Reverse(name.name)));
        let words = names.iter().map(|name| name.name).collect();
        let mut placed: Vec<(u32, Name)> = (1u32..).zip(names).collect();
        placed.sort_unstable_by_key(|(_, name)| name.term);
        let terms: Vec<usize> = placed.iter().map(|(_, name)| name.term).collect();
        let mut values = vec![Fixed::ZERO; self.corpus.layout.len()];
        let mut best = BestWords::new(words, values.len());
        for ((place, name), list) in placed.iter().zip(postings.files_of(&terms).iter()) {
            let value = name.seed * name.weight;
            for (file, _) in list {
                values[file] += value;
                best.add(file, *place);
            }
        }
        (values, best)
    }

    /// Similarity of vocabulary: the cosine over weighted parts.
    fn cosine(&self, rows: &Seeds) -> Vec<Fixed> {
        let WordIndex { parts, norms, .. } = self.corpus.index;
        let weights = CountWeights::new();
        let mut query: FxHashMap<usize, Fixed> = FxHashMap::default();
        for ((row, &seed), &file) in parts.rows(&rows.files).iter().zip(&rows.seeds).zip(&rows.files) {
            for &(term, count) in row {
                *query.entry(term).or_default() += seed * weights.of(count) / norms.fixed_at(file).unwrap_or_default();
            }
        }
        let mut query: Vec<(usize, Fixed)> = query.into_iter().collect();
        query.sort_unstable();
        let mut values = vec![Fixed::ZERO; self.corpus.layout.len()];
        let terms: Vec<usize> = query.iter().map(|(term, _)| *term).collect();
        for ((term, weight), list) in query.into_iter().zip(parts.files_of(&terms).iter()) {
            let rare = part_weight(norms.len(), parts.frequency(term));
            let weight = weight * rare * rare;
            // Most counts are small: compute their products once.
            let products: [Fixed; 16] = std::array::from_fn(|count| weight * weights.of(count as u16));
            for (file, count) in list {
                let product = products.get(usize::from(count)).copied();
                values[file] += product.unwrap_or_else(|| weight * weights.of(count));
            }
        }
        let having = values.iter_mut().zip(norms.fixed()).filter(|(value, _)| **value != Fixed::ZERO);
        having.for_each(|(value, norm)| *value = *value / norm);
        values
    }
}

/// A name with its term in the searched index, the seed of its file, and its weight.
struct Name {
    term: usize,
    name: TermKey,
    seed: Fixed,
    weight: Fixed,
}

/// Signals of files that match a text.
pub(crate) struct TextSignals {
    pub(crate) content: Vec<Fixed>,
    pub(crate) path: Vec<Fixed>,
    pub(crate) message: Vec<Fixed>,
    pub(crate) identifier: Vec<Fixed>,
    /// Commits with messages similar to the text, most similar first.
    pub(crate) alike: Vec<(usize, Fixed)>,
    /// Parts of the text's words that occur in some file.
    pub(crate) parts: Vec<MentionedPart>,
    /// Identifiers of the text, each with the files that contain it as a whole, sorted.
    pub(crate) identifiers: Vec<(String, Vec<usize>)>,
}

/// A part of a word of the text, with the files that contain it, sorted.
pub(crate) struct MentionedPart {
    pub(crate) key: TermKey,
    pub(crate) files: Vec<usize>,
}

impl Signals<'_> {
    /// `named` are the files whose paths the text contains.
    pub(crate) fn text(&self, query: &TextQuery, named: &[u32]) -> TextSignals {
        let Corpus { index, history, messages, .. } = self.corpus;
        let words = &index.words;
        let (mut content, parts) = self.search_text(&query.parts);
        unit(&mut content);
        let known = query.words.iter().filter(|word| word.is_identifier);
        let mut known: Vec<(usize, &TextWord)> = known.filter_map(|word| Some((words.find(word.key)?, word))).collect();
        known.sort_unstable_by_key(|(term, _)| *term);
        let wanted: Vec<WantedTerm> =
            known.iter().map(|(term, word)| WantedTerm { term: *term, weight: word.weight }).collect();
        let mut identifier = self.search(words, &wanted);
        let lists = words.files_of(&terms_of(&wanted));
        let files = lists.iter().map(|list| list.map(|(file, _)| file).collect::<Vec<usize>>());
        let identifiers = known.iter().zip(files).map(|((_, word), files)| (word.text.clone(), files)).collect();
        unit(&mut identifier);
        let (mut message, mut alike) = like_messages(history, messages, &query.parts, self.corpus.layout.len());
        log_unit(&mut message, 30);
        alike.sort_by_key(|&(number, value)| (std::cmp::Reverse(value), number));
        let mut path = self.path_like(&query.parts);
        // A full path counts more than any word.
        for &file in named {
            for values in [&mut content, &mut path, &mut identifier] {
                if let Some(value) = values.get_mut(file as usize) {
                    *value = Fixed::ONE;
                }
            }
        }
        TextSignals { content, path, message, identifier, alike, parts, identifiers }
    }
}
