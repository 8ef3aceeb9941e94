//! Ranks the names of each file by how informative they are. First is the export with the most uses in other folders: readers
//! know the file by it (`Config` in `config.rs`). Any other name is worth its words that occur neither in the path nor in an
//! earlier name of the file: rare words distinguish the file from others, and a name without a new word is not shown. Names used
//! in other folders count more, private names less. Names of large files count more, but each further name of a file counts less,
//! so that no file takes the whole budget.
//!
//! Integers only: the order is the same on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::{DEFAULT_EXPORT, EXPORT_EQUALS};

use super::OverviewFile;
use super::names::words;

/// Further names of a file are never shown.
const MAX_NAMES: usize = 500;

/// Scale of fixed-point square roots: they keep four binary digits after the point.
const FIXED: u64 = 256;

/// A name that may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RankedName<'f> {
    pub(super) text: &'f str,
    pub(super) is_exported: bool,
    /// How informative it is. At most the value of the previous name of the same file.
    pub(super) value: u64,
}

/// For each file the names worth showing, best first.
pub(super) fn ranked(files: &[OverviewFile]) -> Vec<Vec<RankedName<'_>>> {
    let (words, rarity) = words_by_file(files);
    let ranked = |(file, words): (_, FileWords)| ranked_names(file, words, &rarity);
    files.iter().zip(words).map(ranked).collect()
}

/// A word of the repository.
type WordId = u32;

/// The words of a code file.
#[derive(Default)]
struct FileWords {
    path: Vec<WordId>,
    /// The words of its exported names, then of the others.
    names: Vec<Vec<WordId>>,
}

/// The words of each file, and the rarity of each word.
fn words_by_file(files: &[OverviewFile]) -> (Vec<FileWords>, Vec<u64>) {
    let mut ids: FxHashMap<String, WordId> = FxHashMap::default();
    let mut ids_of = |text: &str| -> Vec<WordId> {
        let mut found: Vec<WordId> = Vec::new();
        for word in words(text) {
            let next = ids.len() as WordId;
            found.push(*ids.entry(word).or_insert(next));
        }
        found.sort_unstable();
        found.dedup();
        found
    };
    let words: Vec<FileWords> = files
        .iter()
        .map(|file| match file.is_code {
            true => FileWords { path: ids_of(&file.path), names: names(file).map(|(name, _)| ids_of(name)).collect() },
            false => FileWords::default(),
        })
        .collect();
    let mut frequency = vec![0u64; ids.len()];
    let mut seen_in = vec![usize::MAX; ids.len()];
    for (file, words) in words.iter().enumerate() {
        for word in words.path.iter().chain(words.names.iter().flatten()) {
            let word = *word as usize;
            if seen_in[word] != file {
                seen_in[word] = file;
                frequency[word] += 1;
            }
        }
    }
    let count = files.iter().filter(|file| file.is_code).count() as u64;
    (words, frequency.into_iter().map(|frequency| rarity(count, frequency)).collect())
}

/// The exported names with their number of uses, then the others.
fn names(file: &OverviewFile) -> impl Iterator<Item = (&str, Option<u32>)> {
    let exports = file.exports.iter().map(|(name, uses)| (&**name, Some(*uses)));
    exports.chain(file.declared.iter().map(|name| (&**name, None)))
}

/// The inverse document frequency, `log2(count / frequency)`, in thirds of a bit; at least 1.
fn rarity(count: u64, frequency: u64) -> u64 {
    const SHIFT: u32 = 8;
    let ratio = (u128::from(count) << SHIFT) / u128::from(frequency.max(1));
    let cubed = ratio.min(1 << 40).pow(3);
    u64::from(cubed.max(1).ilog2().saturating_sub(3 * SHIFT)).max(1)
}

/// A name of a file that may be ranked.
struct Candidate<'f> {
    text: &'f str,
    /// `None` for a name that is not exported.
    uses: Option<u32>,
    /// By the use of the name and the size of the file.
    weight: u64,
}

fn ranked_names<'f>(file: &'f OverviewFile, words: FileWords, rarity: &[u64]) -> Vec<RankedName<'f>> {
    let mut seen: FxHashSet<WordId> = words.path.into_iter().collect();
    let size = (file.size.saturating_add(1).isqrt() * FIXED).isqrt();
    let candidate = |(text, uses)| Candidate { text, uses, weight: size * weight(text, uses) };
    let candidates: Vec<Candidate<'_>> = names(file).take(words.names.len()).map(candidate).collect();
    let value = |at: usize, seen: &FxHashSet<WordId>| {
        let new = words.names[at].iter().filter(|word| !seen.contains(word));
        new.map(|word| rarity[*word as usize]).sum::<u64>().saturating_mul(candidates[at].weight)
    };
    let mut heap: BinaryHeap<(u64, Reverse<usize>)> =
        (0..candidates.len()).map(|at| (value(at, &seen), Reverse(at))).collect();
    let mut ranked = Vec::new();
    if let (Some(lead), Some((best, _))) = (most_used(&candidates), heap.peek()) {
        seen.extend(&words.names[lead]);
        // The first name gets the value of the best one. Otherwise the file would be ranked lower for it.
        ranked.push(RankedName { text: candidates[lead].text, is_exported: true, value: *best });
    }
    while let Some((before, Reverse(at))) = heap.pop().filter(|_| ranked.len() < MAX_NAMES) {
        // A value only falls after a word of the name was shown, so each name is put back at most once per word: this terminates.
        let now = value(at, &seen);
        if now == 0 {
            continue;
        }
        if now < before {
            heap.push((now, Reverse(at)));
            continue;
        }
        seen.extend(&words.names[at]);
        let Candidate { text, uses, .. } = candidates[at];
        let value = now.saturating_mul(FIXED) / (FIXED * FIXED * (ranked.len() as u64 + 1)).isqrt();
        ranked.push(RankedName { text, is_exported: uses.is_some(), value });
    }
    ranked
}

/// The export with the most uses in other folders, if any is used.
fn most_used(candidates: &[Candidate<'_>]) -> Option<usize> {
    let used = candidates.iter().enumerate().filter(|(_, candidate)| candidate.weight > 0);
    let by_use = used.filter_map(|(at, candidate)| Some((candidate.uses.filter(|uses| *uses > 0)?, Reverse(at))));
    by_use.max().map(|(_, Reverse(at))| at)
}

/// The weight of a name by its use: the square root of the number of files in other folders that import it. Half of that if it is
/// not exported, and a quarter of that if its spelling marks it as private.
fn weight(name: &str, uses: Option<u32>) -> u64 {
    // Names without information.
    if matches!(name, DEFAULT_EXPORT | EXPORT_EQUALS) {
        return 0;
    }
    let full = uses.map_or(FIXED.isqrt() / 2, |uses| ((u64::from(uses) + 1) * FIXED).isqrt());
    if name.starts_with(['_', '#']) { full / 4 } else { full }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, exports: &[(&str, u32)], declared: &[&str]) -> OverviewFile {
        OverviewFile {
            path: path.to_owned(),
            is_code: true,
            size: 1_000,
            exports: exports.iter().map(|(name, uses)| ((*name).into(), *uses)).collect(),
            declared: declared.iter().map(|name| (*name).into()).collect(),
            ..OverviewFile::default()
        }
    }

    fn texts(ranked: &[RankedName<'_>]) -> Vec<String> {
        ranked.iter().map(|name| name.text.to_owned()).collect()
    }

    #[test]
    fn rare_words_come_first_and_names_without_a_new_word_are_dropped() {
        let files = [
            file(
                "src/reader.ts",
                &[("Reader", 0), ("openFile", 0), ("default", 9)],
                &["parseHeader", "open", "header"],
            ),
            file("src/writer.ts", &[("openFile", 0)], &["flush"]),
            file("src/other.ts", &[("openFile", 0)], &[]),
        ];
        let ranked = ranked(&files);
        assert_eq!(
            texts(&ranked[0]),
            ["parseHeader", "openFile"],
            "`Reader` repeats the path, `open` and `header` repeat names"
        );
        assert!(ranked[0].is_sorted_by(|one, other| one.value >= other.value));
        assert_eq!(texts(&ranked[1]), ["openFile", "flush"]);
    }

    #[test]
    fn the_most_used_export_comes_first_although_it_repeats_the_path() {
        let exports = [("prefetchRelatedObjects", 2), ("Query", 5), ("default", 9)];
        let files = [file("models/query.ts", &exports, &[]), file("b.ts", &[], &[])];
        let ranked = ranked(&files);
        assert_eq!(texts(&ranked[0]), ["Query", "prefetchRelatedObjects"]);
        assert!(ranked[0].is_sorted_by(|one, other| one.value >= other.value));
        assert_eq!(texts(&super::ranked(&[file("c.ts", &[("c", 0)], &[])])[0]), [""; 0], "nothing uses it");
    }

    #[test]
    fn used_names_come_before_own_ones_and_private_ones_last() {
        let exports = [("alpha", 8), ("_epsilon", 0), ("beta", 0)];
        let files = [file("a.py", &exports, &["gamma", "_delta"]), file("b.py", &[], &[])];
        assert_eq!(texts(&ranked(&files)[0]), ["alpha", "beta", "gamma", "_epsilon", "_delta"]);
    }

    #[test]
    fn names_of_large_files_are_worth_more() {
        let small = file("a.rs", &[("one", 0)], &[]);
        let large = OverviewFile { size: 100_000, ..file("b.rs", &[("two", 0)], &[]) };
        let files = [small, large];
        let ranked = ranked(&files);
        assert!(ranked[1][0].value > ranked[0][0].value);
    }

    #[test]
    fn rarity_grows_by_thirds_of_a_bit() {
        assert_eq!([rarity(8, 8), rarity(8, 4), rarity(8, 1), rarity(0, 0)], [1, 3, 9, 1]);
        assert!(rarity(1_000, 3) > rarity(1_000, 4));
    }
}
