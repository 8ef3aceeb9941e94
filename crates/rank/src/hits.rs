//! Signals of closeness to the best answers: starting from the files that the direct signals rank first, imports, common changes
//! and names reach files that the query alone does not.

use crate::fixed::{Fixed, log_unit, unit};
use crate::paths::{folder, folder_distance, is_test};
use crate::rank::Signal;
use crate::signals::{Signals, mapped};

/// How many of the best answers to start from.
const MAX_HITS: usize = 5;

/// Signals of closeness to the best answers.
pub(crate) struct HitSignals {
    /// The best answers, best first, without the focus.
    pub(crate) files: Vec<usize>,
    pub(crate) walk: Vec<Fixed>,
    pub(crate) cowalk: Vec<Fixed>,
    pub(crate) pairs: Vec<Fixed>,
}

impl Signals<'_> {
    /// `direct` is each file's score by the direct signals; `focus` is sorted. Signals that do not count are left empty.
    pub(crate) fn hits(&self, direct: &[Fixed], focus: &[usize], counts: impl Fn(Signal) -> bool) -> HitSignals {
        let (files, seeds) = best_hits(direct, focus);
        let without_focus = |mut values: Vec<Fixed>| {
            focus.iter().for_each(|&file| values[file] = Fixed::ZERO);
            values
        };
        let mut walk = self.corpus.layout.graph.walk(&seeds);
        log_unit(&mut walk, 300);
        let (mut cowalk, mut pairs) = (Vec::new(), Vec::new());
        if counts(Signal::HitChanges) {
            cowalk = self.corpus.history.walk(&seeds);
            unit(&mut cowalk);
            cowalk = without_focus(mapped(cowalk, Fixed::sqrt));
        }
        if counts(Signal::HitPairs) {
            pairs = without_focus(self.pairs(&files, &seeds));
            unit(&mut pairs);
        }
        HitSignals { walk: without_focus(walk), cowalk, pairs, files }
    }

    /// Files with the same name key as one of `hits`: its test, its styles, the same part of another package. A name of many
    /// files counts less.
    pub(crate) fn pairs(&self, hits: &[usize], seeds: &[Fixed]) -> Vec<Fixed> {
        let mut values = vec![Fixed::ZERO; seeds.len()];
        if hits.is_empty() {
            return values;
        }
        let layout = self.corpus.layout;
        let mates = layout.mates(hits);
        let path = |file: usize| layout.path(file);
        for &hit in hits {
            let Some(mates) = mates.get(&layout.name(hit)) else { continue };
            let rare = Fixed::count(mates.len().saturating_sub(1).max(1)).sqrt();
            let (full, is_test_itself) = (seeds[hit] / rare, is_test(path(hit)));
            for &mate in mates.iter().filter(|mate| **mate != hit) {
                let mut value = full;
                if is_test_itself == is_test(path(mate)) {
                    value = value * LESS;
                }
                if folder_distance(folder(path(hit)), folder(path(mate))) > FAR {
                    value = value * LESS;
                }
                values[mate] = values[mate].max(value);
            }
        }
        values
    }
}

/// The weight of two files with one name if neither is the test of the other, or if they are far apart.
const LESS: Fixed = Fixed::per_mille(700);
/// Folders are far apart beyond this distance.
const FAR: usize = 4;

/// The best hits with a seed for each, larger for better hits.
fn best_hits(direct: &[Fixed], focus: &[usize]) -> (Vec<usize>, Vec<Fixed>) {
    let rank = |file: &usize| (std::cmp::Reverse(direct[*file]), *file);
    let mut order: Vec<usize> = Vec::with_capacity(MAX_HITS + 1);
    // The score that a file must exceed to be among the best so far.
    let mut bar = Fixed::ZERO;
    for (file, &value) in direct.iter().enumerate() {
        if value > bar && focus.binary_search(&file).is_err() {
            let place = order.partition_point(|other| rank(other) < rank(&file));
            order.insert(place, file);
            order.truncate(MAX_HITS);
            bar = order.get(MAX_HITS - 1).map_or(bar, |last| direct[*last]);
        }
    }
    let best = order.first().map_or(Fixed::ZERO, |&file| direct[file]);
    let mut seeds = vec![Fixed::ZERO; direct.len()];
    order.iter().for_each(|&file| seeds[file] = (best - direct[file]).exp_negative());
    (order, seeds)
}
