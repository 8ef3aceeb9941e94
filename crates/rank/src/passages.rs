//! Finds the passages of a file that match a text, by the same words as in the ranking of files, weighted by rarity.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fixed::Fixed;
use crate::history::rarity;
use crate::rank::Ranking;
use crate::words::{TermKey, for_each_part, hash, key, ranges};

/// The weight of each word of a text.
#[derive(Clone, Debug, Default)]
pub struct TextWeights {
    /// By part of a word, and by whole quoted identifier.
    parts: FxHashMap<TermKey, Fixed>,
    identifiers: FxHashMap<TermKey, Fixed>,
}

impl Ranking<'_> {
    /// The weights of the query's text; `None` without one.
    pub fn text_weights(&self) -> Option<TextWeights> {
        let (query, _) = self.of_text.as_ref()?;
        let index = self.corpus().index;
        let count = i64::try_from(index.file_count()).unwrap_or(i64::MAX);
        let rare = |frequency: usize| rarity(count, i64::try_from(frequency).unwrap_or(i64::MAX));
        let parts = query.parts.iter().filter_map(|&(part, weight)| {
            let term = index.parts.find(part)?;
            Some((part, weight * rare(index.parts.frequency(term))))
        });
        let identifiers = query.words.iter().filter(|word| word.is_identifier).filter_map(|word| {
            let term = index.words.find(word.key)?;
            Some((word.key, word.weight * rare(index.words.frequency(term))))
        });
        Some(TextWeights { parts: parts.collect(), identifiers: identifiers.collect() })
    }
}

impl TextWeights {
    /// How well a passage matches the text: each distinct word counts once.
    pub fn score(&self, passage: &str) -> Fixed {
        let mut seen: FxHashSet<TermKey> = FxHashSet::default();
        let mut score = Fixed::ZERO;
        for (start, end) in ranges(passage.as_bytes()) {
            let word = passage.as_bytes().get(start..end).unwrap_or_default();
            let whole = hash(word);
            if !seen.insert(whole) {
                continue;
            }
            score += self.identifiers.get(&whole).copied().unwrap_or_default();
            for_each_part(word, &mut |part| {
                // A lower-case word is its own part, so `seen` has the complement of a part's key to tell them apart.
                let part = key(part);
                if let Some(weight) = self.parts.get(&part).filter(|_| seen.insert(!part)) {
                    score += *weight;
                }
            });
        }
        score
    }
}
