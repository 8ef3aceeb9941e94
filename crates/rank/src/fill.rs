//! Fills a budget with files: the most valuable ones for their size, as long as any still fits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::fixed::Fixed;

/// Stop after this many consecutive files did not fit.
const MAX_MISSES: usize = 64;
/// Sizes are requested in groups, so that the caller can count several files at once.
const GROUP_SIZE: usize = 64;

/// A file that may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub file: u32,
    /// Files are taken in descending order of this.
    pub priority: Fixed,
}

/// The files that fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// The files with their sizes, in the order in which they were taken.
    pub taken: Vec<(u32, u64)>,
    /// Files that were counted, but larger than the rest of the budget.
    pub too_large: Vec<(u32, u64)>,
    /// The number of files that were not counted.
    pub not_weighed: usize,
    /// The unused part of the budget.
    pub left: u64,
}

/// Takes files until the budget is used up. `weigh` returns the sizes of files.
pub fn fill(candidates: Vec<Candidate>, budget: u64, mut weigh: impl FnMut(&[u32]) -> Vec<u64>) -> Filled {
    // A heap instead of a sort: usually only a few groups of thousands of files are needed.
    let ranked = candidates.into_iter().map(|candidate| (candidate.priority, Reverse(candidate.file)));
    let mut rest: BinaryHeap<(Fixed, Reverse<u32>)> = ranked.collect();
    let mut filled = Filled { left: budget, ..Filled::default() };
    let mut misses = 0;
    while !rest.is_empty() {
        if misses >= MAX_MISSES {
            filled.not_weighed = rest.len();
            break;
        }
        let files: Vec<u32> =
            std::iter::from_fn(|| rest.pop()).take(GROUP_SIZE).map(|(_, Reverse(file))| file).collect();
        for (&file, size) in files.iter().zip(weigh(&files)) {
            if size <= filled.left {
                filled.left -= size;
                filled.taken.push((file, size));
                misses = 0;
            } else {
                filled.too_large.push((file, size));
                misses += 1;
            }
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_files_that_still_fit_are_taken() {
        let candidate = |file: u32, priority: i64| Candidate { file, priority: Fixed::int(priority) };
        let sizes = [5, 100, 3, 2];
        let weigh = |files: &[u32]| files.iter().map(|&file| sizes[file as usize]).collect();
        let filled = fill(vec![candidate(3, 1), candidate(1, 8), candidate(0, 9), candidate(2, 1)], 9, weigh);
        assert_eq!(filled.taken, [(0, 5), (2, 3)]);
        assert_eq!(filled.too_large, [(1, 100), (3, 2)]);
        assert_eq!((filled.left, filled.not_weighed), (1, 0));
    }

    #[test]
    fn nothing_is_weighed_after_many_misses() {
        let candidates = (0..300).map(|file| Candidate { file, priority: Fixed::ZERO }).collect();
        let mut asked = 0;
        let filled = fill(candidates, 10, |files| {
            asked += files.len();
            vec![11; files.len()]
        });
        assert_eq!((asked, filled.not_weighed), (64, 236));
    }
}
