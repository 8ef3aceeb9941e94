//! What changed together: commits as sets of files, and what they say about files that are worked on now.
//!
//! Recent and small commits count more. Ages are measured from the newest commit, so that the clock decides nothing.

use rustc_hash::FxHashMap;

use crate::fixed::{Fixed, log_unit};
use crate::words::TermKey;

/// One commit, as far as its files are still there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Seconds before the newest commit; never negative.
    pub age: u64,
    /// Sorted and unique.
    pub files: Vec<u32>,
    /// How many source files it changed, those included that are gone.
    pub size: u32,
    /// Parts of the words of its message and how often, sorted by key; those of the subject count twice.
    pub message: Vec<(TermKey, u16)>,
    /// The number of words in the message, those of the subject counted twice.
    pub message_length: u32,
}

/// A commit of more files is a sweep, not a common change.
pub(crate) const MOST_TOGETHER: u32 = 40;
const MOST_WALKED: u32 = 30;
const DAY: i64 = 86_400;

/// How much a commit of that age still counts: a half after `half_life` days.
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

/// The commits of some files, the newest first, and figures of them that do not depend on the question, so that a cache can keep them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub ages: Vec<u64>,
    pub sizes: Vec<u32>,
    /// Where the files of each commit end; they begin where those of the commit before end.
    pub ends: Vec<u32>,
    /// Sorted for each commit.
    pub files: Vec<u32>,
    pub messages: Messages,
    /// How often each file changed lately, from 0 to 1.
    pub churn: Vec<Fixed>,
    /// What each commit counts in a walk over common changes; 0 for a sweep.
    pub weights: Vec<Fixed>,
    /// For each file the sum of its common changes, and a little more, so that rare files do not get all there is.
    pub totals: Vec<Fixed>,
}

/// The words of the messages of commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// The number of words in each message.
    pub lengths: Vec<u32>,
    /// Where the words of each message end.
    pub ends: Vec<u32>,
    /// Sorted for each message.
    pub keys: Vec<TermKey>,
    pub counts: Vec<u16>,
}

fn range_at(ends: &[u32], at: usize) -> std::ops::Range<usize> {
    let start = at.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
    start..ends.get(at).map_or(start, |end| *end as usize)
}

impl Messages {
    fn of(&self, commit: usize) -> impl Iterator<Item = (TermKey, u16)> + '_ {
        let range = range_at(&self.ends, commit);
        let keys = self.keys.get(range.clone()).unwrap_or_default();
        keys.iter().copied().zip(self.counts.get(range).unwrap_or_default().iter().copied())
    }
}

impl History {
    /// `files`: how many files there are.
    pub fn new(changes: &[Change], files: usize) -> Self {
        let mut history = Self::default();
        for change in changes {
            history.ages.push(change.age);
            history.sizes.push(change.size);
            history.files.extend_from_slice(&change.files);
            history.ends.push(u32::try_from(history.files.len()).unwrap_or(u32::MAX));
            let messages = &mut history.messages;
            messages.lengths.push(change.message_length);
            messages.keys.extend(change.message.iter().map(|(key, _)| *key));
            messages.counts.extend(change.message.iter().map(|(_, count)| *count));
            messages.ends.push(u32::try_from(messages.keys.len()).unwrap_or(u32::MAX));
        }
        history.churn = history.churn(files);
        log_unit(&mut history.churn, 20);
        let counts = |size: u32, age: u64| {
            if size <= MOST_WALKED { decay(age, 365) / Fixed::int(size.max(1)) } else { Fixed::ZERO }
        };
        history.weights = history.sizes.iter().zip(&history.ages).map(|(size, age)| counts(*size, *age)).collect();
        let mut totals = vec![Fixed::ratio(3, 10); files];
        for (commit, weight) in history.weights.iter().enumerate() {
            let files = history.files_of(commit);
            let others = *weight * Fixed::count(files.len().saturating_sub(1));
            files.iter().for_each(|&file| add(&mut totals, file, others));
        }
        history.totals = totals;
        history
    }

    /// Whether the arrays fit together and name only files below this number. For arrays that come from a cache.
    pub fn is_of(&self, files: usize) -> bool {
        let count = self.ages.len();
        let Messages { lengths, ends, keys, counts } = &self.messages;
        let is_whole =
            |ends: &[u32], length: usize| ends.is_sorted() && ends.last().map_or(0, |end| *end as usize) == length;
        [self.sizes.len(), self.ends.len(), lengths.len(), ends.len(), self.weights.len()] == [count; 5]
            && [self.churn.len(), self.totals.len()] == [files; 2]
            && is_whole(&self.ends, self.files.len())
            && is_whole(ends, keys.len())
            && keys.len() == counts.len()
            && self.files.iter().all(|file| (*file as usize) < files)
    }

    /// How many commits there are.
    pub fn len(&self) -> usize {
        self.ages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ages.is_empty()
    }

    /// The files that a commit changed, sorted.
    pub(crate) fn files_of(&self, commit: usize) -> &[u32] {
        self.files.get(range_at(&self.ends, commit)).unwrap_or_default()
    }

    /// Commits that say which files belong together, with their files.
    pub(crate) fn together(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let sizes = self.sizes.iter().enumerate();
        sizes.filter(|(_, size)| **size <= MOST_TOGETHER).map(|(commit, _)| (commit, self.files_of(commit)))
    }

    fn age(&self, commit: usize) -> u64 {
        self.ages.get(commit).copied().unwrap_or_default()
    }

    fn size(&self, commit: usize) -> u32 {
        self.sizes.get(commit).copied().unwrap_or_default()
    }

    /// How often each file changed lately.
    fn churn(&self, files: usize) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; files];
        for (commit, files) in self.together() {
            let weight = decay(self.age(commit), 180) / Fixed::int(self.size(commit).max(1)).sqrt();
            files.iter().for_each(|&file| add(&mut values, file, weight));
        }
        values
    }

    /// The share of the seeds' changes that touched the file too.
    pub(crate) fn changed_with(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; seeds.len()];
        let mut total = Fixed::ZERO;
        for (commit, files) in self.together() {
            let seeded: Fixed = files.iter().map(|&file| at(seeds, file)).sum();
            if !seeded.is_positive() {
                continue;
            }
            let weight = seeded * decay(self.age(commit), 365) / spread(self.size(commit));
            total += weight;
            files.iter().for_each(|&file| add(&mut values, file, weight));
        }
        let total = total + Fixed::HALF;
        values.iter_mut().filter(|value| **value != Fixed::ZERO).for_each(|value| *value = *value / total);
        values
    }

    /// Files that change with the seeds, and half as much files that change with those.
    pub(crate) fn walk(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; seeds.len()];
        if self.is_empty() {
            return values;
        }
        let all: Fixed = seeds.iter().copied().sum();
        let mut now: Vec<Fixed> = seeds.iter().map(|seed| *seed / all).collect();
        let mut gain = Fixed::ONE;
        for _ in 0..2 {
            let given: Vec<Fixed> = now.iter().zip(&self.totals).map(|(value, total)| *value / *total).collect();
            let mut next = vec![Fixed::ZERO; seeds.len()];
            for (commit, &weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight != Fixed::ZERO) {
                let files = self.files_of(commit);
                let sum: Fixed = files.iter().map(|&file| at(&given, file)).sum();
                if sum.is_positive() {
                    files.iter().for_each(|&file| add(&mut next, file, weight * (sum - at(&given, file))));
                }
            }
            values.iter_mut().zip(&next).for_each(|(value, step)| *value += gain * *step);
            now = next;
            gain = gain * Fixed::HALF;
        }
        values
    }
}

/// What earlier commits with a message like the text changed; and for each commit how alike it is, for reasons.
pub(crate) fn like_messages(
    history: &History,
    query: &[(TermKey, Fixed)],
    files: usize,
) -> (Vec<Fixed>, Vec<(usize, Fixed)>) {
    let mut values = vec![Fixed::ZERO; files];
    let mut alike = Vec::new();
    let wanted: FxHashMap<TermKey, usize> = query.iter().enumerate().map(|(index, (key, _))| (*key, index)).collect();
    // Of each commit the words of the text that its message has.
    let mut found: Vec<(usize, Vec<(usize, u16)>)> = Vec::new();
    let mut frequency = vec![0usize; query.len()];
    let mut count = 0;
    for (commit, _) in history.together().filter(|(_, files)| !files.is_empty()) {
        count += 1;
        let words = history.messages.of(commit).filter_map(|(key, count)| Some((*wanted.get(&key)?, count)));
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
        let norm = length_norm(history.messages.lengths.get(commit).copied().unwrap_or_default());
        let score: Fixed =
            words.iter().map(|&(index, count)| weights[index] * saturated(Fixed::int(count), norm)).sum();
        if score.is_positive() {
            let share = score / total;
            let size = Fixed::int(history.size(commit).max(1));
            let value = share * share * decay(history.age(commit), 730) / size.sqrt();
            history.files_of(commit).iter().for_each(|&file| add(&mut values, file, value));
            alike.push((commit, value));
        }
    }
    (values, alike)
}

/// ln(1 + (n - f + ½) / (f + ½)).
pub(crate) fn rarity(count: i64, frequency: i64) -> Fixed {
    Fixed::ratio(2 * (count - frequency) + 1, 2 * frequency + 1).ln_1p()
}

/// BM25's share of a term in a document: more occurrences count less and less.
pub(crate) fn saturated(count: Fixed, norm: Fixed) -> Fixed {
    count * Fixed::ratio(22, 10) / (count + norm)
}

/// BM25's norm of a message, by the length of a usual one: twelve words.
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
        // Weights 1 / log2(3) and half of it; what is shared is divided by their sum and ½.
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
        // 0 → 1 with ½ / 0.8; then 1 gives back and on with ½ / 1.3 of that, counted half.
        assert_eq!(shown(&walk), [120, 625, 120]);
    }

    #[test]
    fn sweeps_say_nothing() {
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
        let history = History::new(&history, 3);
        let (values, alike) = like_messages(&history, &[(1, Fixed::ONE)], 3);
        assert!(values[0].is_positive() && values[1] == Fixed::ZERO && values[2] == Fixed::ZERO);
        assert_eq!(alike.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0]);
        assert_eq!(like_messages(&history, &[], 3).1, []);
    }
}
