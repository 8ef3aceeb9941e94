//! A selection that fits a budget: files ranked by their closeness to what somebody works on, taken while they fit,
//! and written as few entries. Pure: what a file weighs is asked of the caller, who also found the focus.

mod cover;
mod rank;

pub use cover::cover;
pub use rank::Ranking;

use crate::map::Map;

/// A file that somebody works on, and how many steps of its dependencies must come along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    pub node: u32,
    pub depth: u32,
}

/// What a file is to the focus: how the way to it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// The focus itself, or within the depth that was asked for.
    Focus,
    /// The focus imports it, or what leads to it.
    Dependency,
    /// It imports the focus, or what does so.
    Dependent,
}

/// A file that may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub node: u32,
    /// Lower is closer.
    pub score: i64,
    /// Edges on the way from the focus.
    pub steps: u32,
    pub relation: Relation,
    /// How many focus files are within three steps.
    pub reached_by: u32,
}

/// A candidate and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    pub candidate: Candidate,
    pub weight: u64,
}

/// What fits into a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// In the order of the ranking.
    pub taken: Vec<Weighed>,
    pub total: u64,
    /// Looked at and found too heavy for what was left, in the order of the ranking.
    pub too_heavy: Vec<Weighed>,
    /// How many candidates were not even looked at, because so many before them did not fit.
    pub not_weighed: usize,
}

/// The focus alone is heavier than the budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the focus alone weighs {needed}, and the budget is {budget}")]
pub struct FocusTooHeavy {
    pub needed: u64,
    pub budget: u64,
    /// The heaviest first.
    pub focus: Vec<Weighed>,
}

/// After so many files in a row that did not fit, the rest is left alone: what still fits is far away.
const PATIENCE: usize = 64;
/// Weights are asked for in groups, so that the caller can work on many at once.
const GROUP: usize = 64;

/// Ranks all files within reach of the focus.
pub fn rank(map: &Map, focus: &[Focus]) -> Ranking {
    rank::rank(map, focus)
}

/// Takes the focus, then whatever still fits, closest first. `weigh` tells the weight of each node it is given.
pub fn take(ranking: &Ranking, budget: u64, mut weigh: impl FnMut(&[u32]) -> Vec<u64>) -> Result<Taken, FocusTooHeavy> {
    let mut weighed = |candidates: &[Candidate]| -> Vec<Weighed> {
        let nodes: Vec<u32> = candidates.iter().map(|candidate| candidate.node).collect();
        let weights = weigh(&nodes);
        candidates.iter().zip(weights).map(|(&candidate, weight)| Weighed { candidate, weight }).collect()
    };
    let focus_count = ranking.candidates.partition_point(|candidate| candidate.relation == Relation::Focus);
    let (focus, others) = ranking.candidates.split_at(focus_count);
    let mut taken = Taken { taken: weighed(focus), ..Taken::default() };
    taken.total = taken.taken.iter().fold(0, |sum, one| sum.saturating_add(one.weight));
    if taken.total > budget {
        let mut focus = taken.taken;
        focus.sort_by_key(|one| (std::cmp::Reverse(one.weight), one.candidate.node));
        return Err(FocusTooHeavy { needed: taken.total, budget, focus });
    }
    let mut misses = 0;
    for (index, group) in others.chunks(GROUP).enumerate() {
        if misses >= PATIENCE {
            taken.not_weighed = others.len() - index * GROUP;
            break;
        }
        for one in weighed(group) {
            if one.weight <= budget - taken.total {
                taken.total += one.weight;
                taken.taken.push(one);
                misses = 0;
            } else {
                taken.too_heavy.push(one);
                misses += 1;
            }
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests;
