//! Common changes: commits as sets of files, and what they imply for the files that are being changed now.
//!
//! Recent and small commits count more. Ages are relative to the newest commit, so the clock has no influence.

use rustc_hash::FxHashMap;

use crate::fixed::{Fixed, log_unit};
use crate::flat::{Flat, numbers, part};
use crate::walk::Files;
use crate::words::TermKey;

/// One commit, restricted to files that still exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Seconds before the newest commit; never negative.
    pub age: u64,
    /// Sorted, without duplicates.
    pub files: Vec<u32>,
    /// The number of source files it changed, including deleted ones.
    pub size: u32,
    /// Parts of the words of its message with their counts, sorted by key; those of the subject count twice.
    pub message: Vec<(TermKey, u16)>,
    /// The number of words in the message; those of the subject count twice.
    pub message_length: u32,
}

/// A commit of more files is a sweeping change and does not relate them.
pub(crate) const MAX_RELATED_FILES: u32 = 40;
const MAX_WALKED_FILES: u32 = 30;
const DAY: i64 = 86_400;

/// The weight of a commit by age: halves every `half_life` days.
fn decay(age: u64, half_life: i64) -> Fixed {
    Fixed::ratio(i64::try_from(age).unwrap_or(i64::MAX), half_life * DAY).halved()
}

/// log2(1 + size), at least 1.
fn spread(size: u32) -> Fixed {
    Fixed::int(i64::from(size) + 1).ln() / Fixed::int(2).ln()
}

fn add(values: &mut [Fixed], file: u32, value: Fixed) {
    if let Some(place) = values.get_mut(file as usize) {
        *place += value;
    }
}

fn at(values: &[Fixed], file: u32) -> Fixed {
    values.get(file as usize).copied().unwrap_or_default()
}

/// The commits of some files, newest first, with precomputed values that do not depend on the query, so that a cache can store
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub ages: Flat<8>,
    pub sizes: Flat<4>,
    /// The end of each commit's files; they start at the end of the previous commit's.
    pub ends: Flat<4>,
    /// Sorted within each commit.
    pub files: Flat<4>,
    /// How often each file changed recently, from 0 to 1.
    pub churn: Vec<Fixed>,
    /// The weight of each commit in a walk over common changes; 0 for a sweeping change.
    pub weights: Flat<8>,
    /// For each file, the sum of its common changes, plus a constant, so that rare files do not get the full share.
    pub totals: Flat<8>,
}

/// The words of the commits' messages, separately, because only queries with a text need them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// The number of words in each message.
    pub lengths: Flat<4>,
    /// The end of each message's words.
    pub ends: Flat<4>,
    /// Sorted within each message.
    pub keys: Flat<8>,
    pub counts: Flat<2>,
}

impl Messages {
    pub fn new(changes: &[Change]) -> Self {
        let words = || changes.iter().flat_map(|change| &change.message);
        let mut end = 0;
        let end_of = |change: &Change| {
            end += change.message.len();
            u32::try_from(end).unwrap_or(u32::MAX)
        };
        Self {
            lengths: changes.iter().map(|change| change.message_length).collect(),
            ends: changes.iter().map(end_of).collect(),
            keys: words().map(|(key, _)| *key).collect(),
            counts: words().map(|(_, count)| *count).collect(),
        }
    }

    /// Whether the arrays are consistent and describe `commits` commits. For arrays from a cache.
    pub fn is_of(&self, commits: usize) -> bool {
        let Self { lengths, ends, keys, counts } = self;
        [lengths.len(), ends.len()] == [commits; 2] && ends.ends_of(keys.len()) && keys.len() == counts.len()
    }

    fn of(&self, commit: usize) -> impl Iterator<Item = (TermKey, u16)> + '_ {
        let range = self.ends.part(commit);
        let keys = self.keys.chunks().get(range.clone()).unwrap_or_default();
        let counts = self.counts.chunks().get(range).unwrap_or_default();
        keys.iter().zip(counts).map(|(key, count)| (TermKey::from_le_bytes(*key), u16::from_le_bytes(*count)))
    }
}

impl History {
    /// `files` is the number of files.
    pub fn new(changes: &[Change], files: usize) -> Self {
        let mut end = 0;
        let end_of = |change: &Change| {
            end += change.files.len();
            u32::try_from(end).unwrap_or(u32::MAX)
        };
        let counts = |change: &Change| match change.size {
            0..=MAX_WALKED_FILES => decay(change.age, 365) / Fixed::int(change.size.max(1)),
            _ => Fixed::ZERO,
        };
        let mut history = Self {
            ages: changes.iter().map(|change| change.age).collect(),
            sizes: changes.iter().map(|change| change.size).collect(),
            ends: changes.iter().map(end_of).collect(),
            files: changes.iter().flat_map(|change| change.files.iter().copied()).collect(),
            weights: changes.iter().map(counts).collect(),
            ..Self::default()
        };
        history.churn = history.churn(files);
        log_unit(&mut history.churn, 20);
        let mut totals = vec![Fixed::ratio(3, 10); files];
        for (files, weight) in history.walked() {
            let others = weight * Fixed::count(files.len().saturating_sub(1));
            numbers(files).for_each(|file| add(&mut totals, file, others));
        }
        history.totals = totals.into_iter().collect();
        history
    }

    /// Whether the arrays are consistent and all file numbers are below `files`. For arrays from a cache.
    pub fn is_of(&self, files: usize) -> bool {
        let count = self.ages.len();
        [self.sizes.len(), self.ends.len(), self.weights.len()] == [count; 3]
            && [self.churn.len(), self.totals.len()] == [files; 2]
            && self.ends.ends_of(self.files.len())
            && self.files.iter().all(|file| (file as usize) < files)
    }

    /// The number of commits.
    pub fn len(&self) -> usize {
        self.ages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ages.is_empty()
    }

    /// The files that a commit changed, sorted.
    pub(crate) fn files_of(&self, commit: usize) -> Files<'_> {
        self.files.slice(self.ends.part(commit))
    }

    /// Commits that relate their files, with these files.
    pub(crate) fn together(&self) -> impl Iterator<Item = (usize, Files<'_>)> {
        let (ends, files) = (self.ends.chunks(), self.files.chunks());
        let commits = self.sizes.iter().enumerate().filter(|(_, size)| *size <= MAX_RELATED_FILES);
        commits.map(move |(commit, _)| (commit, files.get(part(ends, commit)).unwrap_or_default()))
    }

    /// The files of each commit that a walk over common changes uses, with the commit's weight.
    fn walked(&self) -> impl Iterator<Item = (Files<'_>, Fixed)> {
        let (ends, files) = (self.ends.chunks(), self.files.chunks());
        let weights = self.weights.fixed().enumerate().filter(|(_, weight)| *weight != Fixed::ZERO);
        weights.map(move |(commit, weight)| (files.get(part(ends, commit)).unwrap_or_default(), weight))
    }

    fn age(&self, commit: usize) -> u64 {
        self.ages.get(commit).unwrap_or_default()
    }

    fn size(&self, commit: usize) -> u32 {
        self.sizes.get(commit).unwrap_or_default()
    }

    /// How often each file changed recently.
    fn churn(&self, files: usize) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; files];
        for (commit, files) in self.together() {
            let weight = decay(self.age(commit), 180) / Fixed::int(self.size(commit).max(1)).sqrt();
            numbers(files).for_each(|file| add(&mut values, file, weight));
        }
        values
    }

    /// For each file, the share of the seeds' changes that changed it too.
    pub(crate) fn changed_with(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; seeds.len()];
        let mut total = Fixed::ZERO;
        for (commit, files) in self.together() {
            let seeded: Fixed = numbers(files).map(|file| at(seeds, file)).sum();
            if !seeded.is_positive() {
                continue;
            }
            let weight = seeded * decay(self.age(commit), 365) / spread(self.size(commit));
            total += weight;
            numbers(files).for_each(|file| add(&mut values, file, weight));
        }
        let total = total + Fixed::HALF;
        values.iter_mut().filter(|value| **value != Fixed::ZERO).for_each(|value| *value = *value / total);
        values
    }

    /// Files that change with the seeds, and with half the weight files that change with those.
    pub(crate) fn walk(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let all: Fixed = seeds.iter().copied().sum();
        let mut values = vec![Fixed::ZERO; seeds.len()];
        if self.is_empty() {
            return values;
        }
        let mut given = vec![Fixed::ZERO; seeds.len()];
        for (place, seed) in given.iter_mut().zip(seeds).filter(|(_, seed)| **seed != Fixed::ZERO) {
            *place = *seed / all;
        }
        let mut gain = Fixed::ONE;
        for _ in 0..2 {
            let shares = given.iter_mut().zip(self.totals.fixed()).filter(|(value, _)| **value != Fixed::ZERO);
            shares.for_each(|(value, total)| *value = *value / total);
            let mut next = vec![Fixed::ZERO; seeds.len()];
            for (files, weight) in self.walked() {
                let sum: Fixed = numbers(files).map(|file| at(&given, file)).sum();
                if sum.is_positive() {
                    numbers(files).for_each(|file| add(&mut next, file, weight * (sum - at(&given, file))));
                }
            }
            values.iter_mut().zip(&next).for_each(|(value, step)| *value += gain * *step);
            given = next;
            gain = gain * Fixed::HALF;
        }
        values
    }
}

/// Files changed by earlier commits whose messages are similar to the text. Also returns how similar each commit is, for reasons.
pub(crate) fn like_messages(
    history: &History,
    messages: &Messages,
    query: &[(TermKey, Fixed)],
    files: usize,
) -> (Vec<Fixed>, Vec<(usize, Fixed)>) {
    let mut values = vec![Fixed::ZERO; files];
    let mut alike = Vec::new();
    let wanted: FxHashMap<TermKey, usize> = query.iter().enumerate().map(|(index, (key, _))| (*key, index)).collect();
    // For each commit, the words of the text in its message.
    let mut found: Vec<(usize, Vec<(usize, u16)>)> = Vec::new();
    let mut frequency = vec![0usize; query.len()];
    let mut count = 0;
    for (commit, _) in history.together().filter(|(_, files)| !files.is_empty()) {
        count += 1;
        let words = messages.of(commit).filter_map(|(key, count)| Some((*wanted.get(&key)?, count)));
        let words: Vec<(usize, u16)> = words.collect();
        words.iter().for_each(|(index, _)| frequency[*index] += 1);
        if !words.is_empty() {
            found.push((commit, words));
        }
    }
    let weights: Vec<Fixed> = query
        .iter()
        .zip(&frequency)
        .map(|((_, weight), &frequency)| *weight * rarity(count, frequency as i64))
        .collect();
    let total: Fixed = weights.iter().copied().sum();
    if !total.is_positive() {
        return (values, alike);
    }
    for (commit, words) in found {
        let norm = length_norm(messages.lengths.get(commit).unwrap_or_default());
        let score: Fixed =
            words.iter().map(|&(index, count)| weights[index] * saturated(Fixed::int(count), norm)).sum();
        if score.is_positive() {
            let share = score / total;
            let size = Fixed::int(history.size(commit).max(1));
            let value = share * share * decay(history.age(commit), 730) / size.sqrt();
            numbers(history.files_of(commit)).for_each(|file| add(&mut values, file, value));
            alike.push((commit, value));
        }
    }
    (values, alike)
}

/// ln(1 + (n - f + ½) / (f + ½)).
pub(crate) fn rarity(count: i64, frequency: i64) -> Fixed {
    Fixed::ratio(2 * (count - frequency) + 1, 2 * frequency + 1).ln_1p()
}

/// The saturation of term frequency in BM25: further occurrences count less and less.
pub(crate) fn saturated(count: Fixed, norm: Fixed) -> Fixed {
    count * Fixed::ratio(22, 10) / (count + norm)
}

/// BM25's length norm of a message; a usual one has twelve words.
fn length_norm(length: u32) -> Fixed {
    Fixed::ratio(12, 10) * (Fixed::ratio(1, 4) + Fixed::ratio(3 * i64::from(length), 48))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(days: u64, files: &[u32]) -> Change {
        Change { age: days * DAY as u64, files: files.to_vec(), size: files.len() as u32, ..Change::default() }
    }

    fn shown(values: &[Fixed]) -> Vec<i64> {
        values.iter().map(|value| value.thousandths()).collect()
    }

    #[test]
    fn files_that_changed_together_share_weight() {
        let history = [change(0, &[0, 1]), change(365, &[0, 2]), change(0, &[3, 4])];
        let seeds = [Fixed::ONE, Fixed::ZERO, Fixed::ZERO, Fixed::ZERO, Fixed::ZERO];
        // The weights are 1 / log2(3) and half of it; the shared part is divided by their sum plus ½.
        let history = History::new(&history, 5);
        assert!(history.is_of(5) && !history.is_of(4));
        assert_eq!(shown(&history.changed_with(&seeds)), [654, 436, 218, 0, 0]);
        assert_eq!(shown(&history.churn(5)), [880, 707, 173, 707, 707]);
    }

    #[test]
    fn walking_over_common_changes() {
        let history = [change(0, &[0, 1]), change(0, &[1, 2])];
        let seeds = [Fixed::ONE, Fixed::ZERO, Fixed::ZERO];
        let walk = History::new(&history, 3).walk(&seeds);
        // From 0 to 1 with ½ / 0.8; then 1 passes on ½ / 1.3 of that in both directions, at half weight.
        assert_eq!(shown(&walk), [120, 625, 120]);
    }

    #[test]
    fn commits_of_too_many_files_are_ignored() {
        let all: Vec<u32> = (0..41).collect();
        let history = [change(0, &all)];
        let mut seeds = vec![Fixed::ZERO; 41];
        seeds[0] = Fixed::ONE;
        let history = History::new(&history, 41);
        assert!(history.changed_with(&seeds).iter().all(|value| *value == Fixed::ZERO));
        assert!(history.walk(&seeds).iter().all(|value| *value == Fixed::ZERO));
    }

    #[test]
    fn messages_like_the_text() {
        let message = |change: Change, words: &[TermKey]| Change {
            message: words.iter().map(|&key| (key, 2)).collect(),
            message_length: 2 * words.len() as u32,
            ..change
        };
        let history = [message(change(0, &[0]), &[1, 2]), message(change(0, &[1]), &[2, 3]), change(0, &[2])];
        let messages = Messages::new(&history);
        let history = History::new(&history, 3);
        assert!(messages.is_of(3) && !messages.is_of(2));
        let (values, alike) = like_messages(&history, &messages, &[(1, Fixed::ONE)], 3);
        assert!(values[0].is_positive() && values[1] == Fixed::ZERO && values[2] == Fixed::ZERO);
        assert_eq!(alike.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0]);
        assert_eq!(like_messages(&history, &messages, &[], 3).1, []);
    }
}
