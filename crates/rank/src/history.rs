//! What changed together: commits as sets of files, and what they say about files that are worked on now.
//!
//! Recent and small commits count more. Ages are measured from the newest commit, so that the clock decides nothing.

use rustc_hash::FxHashMap;

use crate::fixed::Fixed;
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

/// How often each file changed lately.
pub(crate) fn churn(history: &[Change], files: usize) -> Vec<Fixed> {
    let mut values = vec![Fixed::ZERO; files];
    for change in history.iter().filter(|change| change.size <= MOST_TOGETHER) {
        let weight = decay(change.age, 180) / Fixed::int(change.size.max(1)).sqrt();
        change.files.iter().for_each(|&file| add(&mut values, file, weight));
    }
    values
}

/// The share of the seeds' changes that touched the file too.
pub(crate) fn changed_with(history: &[Change], seeds: &[Fixed]) -> Vec<Fixed> {
    let mut values = vec![Fixed::ZERO; seeds.len()];
    let mut total = Fixed::ZERO;
    for change in history.iter().filter(|change| change.size <= MOST_TOGETHER) {
        let seeded: Fixed = change.files.iter().map(|&file| at(seeds, file)).sum();
        if !seeded.is_positive() {
            continue;
        }
        let weight = seeded * decay(change.age, 365) / spread(change.size);
        total += weight;
        change.files.iter().for_each(|&file| add(&mut values, file, weight));
    }
    let total = total + Fixed::HALF;
    values.iter_mut().for_each(|value| *value = *value / total);
    values
}

/// Files by common changes, as a graph that can be walked.
pub(crate) struct CommonChanges<'h> {
    /// Each commit that counts, with its weight.
    commits: Vec<(&'h [u32], Fixed)>,
    /// For each file the sum of its common changes, and a little more, so that rare files do not get all there is.
    totals: Vec<Fixed>,
}

impl<'h> CommonChanges<'h> {
    pub(crate) fn new(history: &'h [Change], files: usize) -> Self {
        let counts = history.iter().filter(|change| change.size <= MOST_WALKED);
        let commits: Vec<(&[u32], Fixed)> = counts
            .map(|change| (change.files.as_slice(), decay(change.age, 365) / Fixed::int(change.size.max(1))))
            .collect();
        let mut totals = vec![Fixed::ratio(3, 10); files];
        for &(files, weight) in &commits {
            let others = weight * Fixed::count(files.len().saturating_sub(1));
            files.iter().for_each(|&file| add(&mut totals, file, others));
        }
        Self { commits, totals }
    }

    /// Files that change with the seeds, and half as much files that change with those.
    pub(crate) fn walk(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let all: Fixed = seeds.iter().copied().sum();
        let mut now: Vec<Fixed> = seeds.iter().map(|seed| *seed / all).collect();
        let mut values = vec![Fixed::ZERO; seeds.len()];
        let mut gain = Fixed::ONE;
        for _ in 0..2 {
            let given: Vec<Fixed> = now.iter().zip(&self.totals).map(|(value, total)| *value / *total).collect();
            let mut next = vec![Fixed::ZERO; seeds.len()];
            for &(files, weight) in &self.commits {
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
    history: &[Change],
    query: &[(TermKey, Fixed)],
    files: usize,
) -> (Vec<Fixed>, Vec<(usize, Fixed)>) {
    let mut values = vec![Fixed::ZERO; files];
    let mut alike = Vec::new();
    let wanted: FxHashMap<TermKey, usize> = query.iter().enumerate().map(|(index, (key, _))| (*key, index)).collect();
    let documents: Vec<(usize, &Change)> = history
        .iter()
        .enumerate()
        .filter(|(_, change)| change.size <= MOST_TOGETHER && !change.files.is_empty())
        .collect();
    let mut frequency = vec![0usize; query.len()];
    for (_, change) in &documents {
        for (key, _) in &change.message {
            if let Some(&index) = wanted.get(key) {
                frequency[index] += 1;
            }
        }
    }
    let count = documents.len() as i64;
    let weights: Vec<Fixed> = query
        .iter()
        .zip(&frequency)
        .map(|((_, weight), &frequency)| *weight * rarity(count, frequency as i64))
        .collect();
    let total: Fixed = weights.iter().copied().sum();
    if !total.is_positive() {
        return (values, alike);
    }
    for (number, change) in documents {
        let mut score = Fixed::ZERO;
        for (key, count) in &change.message {
            if let Some(&index) = wanted.get(key) {
                score += weights[index] * saturated(Fixed::int(*count), length_norm(change.message_length));
            }
        }
        if score.is_positive() {
            let share = score / total;
            let value = share * share * decay(change.age, 730) / Fixed::int(change.size.max(1)).sqrt();
            change.files.iter().for_each(|&file| add(&mut values, file, value));
            alike.push((number, value));
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
    fn common_changes() {
        let history = [change(0, &[0, 1]), change(365, &[0, 2]), change(0, &[3, 4])];
        let seeds = [Fixed::ONE, Fixed::ZERO, Fixed::ZERO, Fixed::ZERO, Fixed::ZERO];
        // Weights 1 / log2(3) and half of it; what is shared is divided by their sum and ½.
        assert_eq!(shown(&changed_with(&history, &seeds)), [654, 436, 218, 0, 0]);
        assert_eq!(shown(&churn(&history, 5)), [880, 707, 173, 707, 707]);
    }

    #[test]
    fn walking_over_common_changes() {
        let history = [change(0, &[0, 1]), change(0, &[1, 2])];
        let seeds = [Fixed::ONE, Fixed::ZERO, Fixed::ZERO];
        let walk = CommonChanges::new(&history, 3).walk(&seeds);
        // 0 → 1 with ½ / 0.8; then 1 gives back and on with ½ / 1.3 of that, counted half.
        assert_eq!(shown(&walk), [120, 625, 120]);
    }

    #[test]
    fn sweeps_say_nothing() {
        let all: Vec<u32> = (0..41).collect();
        let history = [change(0, &all)];
        let mut seeds = vec![Fixed::ZERO; 41];
        seeds[0] = Fixed::ONE;
        assert!(changed_with(&history, &seeds).iter().all(|value| *value == Fixed::ZERO));
        assert!(CommonChanges::new(&history, 41).walk(&seeds).iter().all(|value| *value == Fixed::ZERO));
    }

    #[test]
    fn messages_like_the_text() {
        let message = |change: Change, words: &[TermKey]| Change {
            message: words.iter().map(|&key| (key, 2)).collect(),
            message_length: 2 * words.len() as u32,
            ..change
        };
        let history = [message(change(0, &[0]), &[1, 2]), message(change(0, &[1]), &[2, 3]), change(0, &[2])];
        let (values, alike) = like_messages(&history, &[(1, Fixed::ONE)], 3);
        assert!(values[0].is_positive() && values[1] == Fixed::ZERO && values[2] == Fixed::ZERO);
        assert_eq!(alike.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0]);
        assert_eq!(like_messages(&history, &[], 3).1, []);
    }
}
