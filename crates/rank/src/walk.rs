//! Personalised PageRank over imports in both directions: how close files are on the graph.
//!
//! Edges are normalised by the square roots of the degrees of both ends, so that a hub gives and receives little.

use crate::fixed::Fixed;
use crate::flat::{Flat, contains, fixed, numbers, part};

/// An import between two files, weighted by how strong the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub weight: Fixed,
}

const STEPS: usize = 6;

/// Files and their neighbours by imports, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportGraph {
    /// The end of each file's neighbours; they start at the end of the previous file's.
    pub ends: Flat<4>,
    /// Imports and importers, sorted within each file.
    pub others: Flat<4>,
    /// The weight of the edge to each neighbour.
    pub steps: Flat<8>,
    /// Whether the file imports the neighbour (1), or is imported by it (0).
    pub is_import: Flat<1>,
}

/// File numbers.
pub(crate) type Files<'g> = &'g [[u8; 4]];

impl ImportGraph {
    pub(crate) fn new(edges: &[Edge], files: usize) -> Self {
        let inside = |edge: &&Edge| edge.from != edge.to && (edge.from.max(edge.to) as usize) < files;
        let mut both: Vec<(u32, u32, Fixed, u8)> = edges
            .iter()
            .filter(inside)
            .flat_map(|edge| [(edge.from, edge.to, edge.weight, 1), (edge.to, edge.from, edge.weight, 0)])
            .collect();
        both.sort_unstable();
        let mut degrees = vec![Fixed::ZERO; files];
        let mut ends = vec![0u32; files];
        for (&(from, _, weight, _), place) in both.iter().zip(1u32..) {
            degrees[from as usize] += weight;
            ends[from as usize] = place;
        }
        let roots: Vec<Fixed> = degrees.iter().map(|degree| degree.sqrt()).collect();
        let mut last = 0;
        for end in &mut ends {
            last = last.max(*end);
            *end = last;
        }
        let step = |&(from, to, weight, _): &(u32, u32, Fixed, u8)| weight / roots[from as usize] / roots[to as usize];
        Self {
            ends: ends.into_iter().collect(),
            others: both.iter().map(|(_, to, ..)| *to).collect(),
            steps: both.iter().map(step).collect(),
            is_import: both.iter().map(|(.., is_import)| *is_import).collect(),
        }
    }

    /// Whether the arrays are consistent and all file numbers are below `files`. For arrays from a cache.
    pub(crate) fn is_of(&self, files: usize) -> bool {
        let count = self.others.len();
        self.ends.len() == files
            && self.ends.ends_of(count)
            && (self.steps.len(), self.is_import.len()) == (count, count)
            && self.others.iter().all(|other| (other as usize) < files)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// Files that import the file or are imported by it, sorted.
    pub(crate) fn neighbours(&self, file: usize) -> Files<'_> {
        self.others.slice(self.ends.part(file))
    }

    /// Whether one file imports another.
    pub(crate) fn imports(&self, from: u32, to: u32) -> bool {
        let range = self.ends.part(from as usize);
        let others = self.others.slice(range.clone());
        let is_import = self.is_import.chunks().get(range).unwrap_or_default();
        // Binary search: a hub has thousands of neighbours.
        let first = others.partition_point(|other| u32::from_le_bytes(*other) < to);
        let same = numbers(others).zip(is_import).skip(first).take_while(|(other, _)| *other == to);
        same.into_iter().any(|(_, is_import)| *is_import == [1])
    }

    /// The first of `wanted`, which is sorted, that is a neighbour of the file.
    pub(crate) fn first_neighbour(&self, file: usize, wanted: &[usize]) -> Option<u32> {
        /// One binary search among the neighbours costs about as much as this many comparisons.
        const LOOKUP: usize = 16;
        let neighbours = self.neighbours(file);
        if wanted.len().saturating_mul(LOOKUP) < neighbours.len() {
            let mut wanted = wanted.iter().filter_map(|&file| u32::try_from(file).ok());
            return wanted.find(|&file| contains(neighbours, file));
        }
        numbers(neighbours).find(|&other| wanted.binary_search(&(other as usize)).is_ok())
    }

    /// The closeness of each file to the seeds.
    pub(crate) fn walk(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let all: Fixed = seeds.iter().copied().sum();
        let start = |file: usize| seeds[file] / all;
        let (back, on) = (Fixed::ratio(35, 100), Fixed::ratio(65, 100));
        // Double buffering: entries that were never reached stay 0 in both.
        let mut now = vec![Fixed::ZERO; seeds.len()];
        let mut next = vec![Fixed::ZERO; seeds.len()];
        // Only files that the walk has reached can be non-zero; in the first steps these are few.
        let mut reached = vec![false; seeds.len()];
        let mut active: Vec<u32> = Vec::new();
        for (file, _) in (0u32..).zip(seeds).filter(|(_, seed)| **seed != Fixed::ZERO) {
            now[file as usize] = start(file as usize);
            reached[file as usize] = true;
            active.push(file);
        }
        let (ends, others, steps) = (self.ends.chunks(), self.others.chunks(), self.steps.chunks());
        let mut grown = 0;
        for _ in 0..STEPS {
            let last = active.len();
            for at in grown..last {
                let neighbours = others.get(part(ends, active[at] as usize)).unwrap_or_default();
                for other in numbers(neighbours) {
                    if !std::mem::replace(&mut reached[other as usize], true) {
                        active.push(other);
                    }
                }
            }
            grown = last;
            for &file in &active {
                let range = part(ends, file as usize);
                let (others, steps) = (others.get(range.clone()), steps.get(range));
                let both = numbers(others.unwrap_or_default()).zip(steps.unwrap_or_default());
                let received: Fixed = both.map(|(other, step)| fixed(*step) * now[other as usize]).sum();
                let kept = if seeds[file as usize] == Fixed::ZERO { Fixed::ZERO } else { back * start(file as usize) };
                next[file as usize] = kept + on * received;
            }
            std::mem::swap(&mut now, &mut next);
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u32, to: u32) -> Edge {
        Edge { from, to, weight: Fixed::ONE }
    }

    #[test]
    fn closer_files_get_more_and_hubs_give_less() {
        let mut edges = vec![edge(0, 1), edge(1, 2), edge(3, 0)];
        edges.extend((5..30).map(|file| edge(file, 4)));
        edges.push(edge(0, 4));
        let graph = ImportGraph::new(&edges, 30);
        let mut seeds = vec![Fixed::ZERO; 30];
        seeds[0] = Fixed::ONE;
        let walk = graph.walk(&seeds);
        assert!(walk[1] > walk[2] && walk[3] > walk[2] && walk[1] > walk[4] && walk[2] > walk[5]);
        assert_eq!(walk[5], walk[29]);
    }

    #[test]
    fn edges_out_of_range_and_to_oneself_are_left_out() {
        let graph = ImportGraph::new(&[edge(0, 0), edge(0, 9)], 2);
        assert!(graph.neighbours(0).is_empty() && graph.neighbours(9).is_empty());
        assert_eq!(graph.walk(&[Fixed::ZERO; 2]), [Fixed::ZERO; 2]);
    }
}
