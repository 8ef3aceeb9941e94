//! Personalised PageRank over imports in both directions: what is close to some files on the graph.
//!
//! An edge is divided by the square roots of the degrees of both its ends: a hub gives little and gets little.

use crate::fixed::Fixed;

/// An import between two files; the weight says how much it binds them.
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
    /// Where the neighbours of each file end; they begin where those of the file before end.
    pub ends: Vec<u32>,
    /// Neighbours by imports or importers, sorted for each file.
    pub others: Vec<u32>,
    /// The weight of the step to each neighbour.
    pub steps: Vec<Fixed>,
    /// Whether the file imports the neighbour (1), or is imported by it (0).
    pub is_import: Vec<u8>,
}

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
        for &(from, _, weight, _) in &both {
            degrees[from as usize] += weight;
        }
        let roots: Vec<Fixed> = degrees.iter().map(|degree| degree.sqrt()).collect();
        let mut graph = Self { ends: vec![0; files], ..Self::default() };
        for (from, to, weight, is_import) in both {
            graph.others.push(to);
            graph.steps.push(weight / roots[from as usize] / roots[to as usize]);
            graph.is_import.push(is_import);
            graph.ends[from as usize] = u32::try_from(graph.others.len()).unwrap_or(u32::MAX);
        }
        let mut last = 0;
        for end in &mut graph.ends {
            last = last.max(*end);
            *end = last;
        }
        graph
    }

    /// Whether the arrays fit together and name only files below this number. For arrays that come from a cache.
    pub(crate) fn is_of(&self, files: usize) -> bool {
        let count = self.others.len();
        self.ends.len() == files
            && self.ends.is_sorted()
            && self.ends.last().map_or(0, |end| *end as usize) == count
            && (self.steps.len(), self.is_import.len()) == (count, count)
            && self.others.iter().all(|other| (*other as usize) < files)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    fn range(&self, file: usize) -> std::ops::Range<usize> {
        let start = file.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        start..self.ends.get(file).map_or(start, |end| *end as usize)
    }

    /// Files that import the file or are imported by it, in the order of their numbers.
    pub(crate) fn neighbours(&self, file: usize) -> &[u32] {
        self.others.get(self.range(file)).unwrap_or_default()
    }

    /// Whether one file imports another.
    pub(crate) fn imports(&self, from: u32, to: u32) -> bool {
        let range = self.range(from as usize);
        let is_import = self.is_import.get(range).unwrap_or_default();
        self.neighbours(from as usize).iter().zip(is_import).any(|(other, is_import)| *other == to && *is_import == 1)
    }

    /// How close each file is to the seeds.
    pub(crate) fn walk(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let all: Fixed = seeds.iter().copied().sum();
        let start: Vec<Fixed> = seeds.iter().map(|seed| *seed / all).collect();
        let (back, on) = (Fixed::ratio(35, 100), Fixed::ratio(65, 100));
        let mut now = start.clone();
        // Only files that the walk has reached can get something, which in its first steps are few.
        let mut reached: Vec<bool> = start.iter().map(|value| *value != Fixed::ZERO).collect();
        let mut active: Vec<u32> =
            (0u32..).zip(&reached).filter(|(_, is_seed)| **is_seed).map(|(file, _)| file).collect();
        let mut grown = 0;
        for _ in 0..STEPS {
            let last = active.len();
            for at in grown..last {
                for &other in self.neighbours(active[at] as usize) {
                    if !std::mem::replace(&mut reached[other as usize], true) {
                        active.push(other);
                    }
                }
            }
            grown = last;
            let mut next = vec![Fixed::ZERO; start.len()];
            for &file in &active {
                let range = self.range(file as usize);
                let steps = self.steps.get(range.clone()).unwrap_or_default();
                let others = self.others.get(range).unwrap_or_default();
                let received: Fixed = steps.iter().zip(others).map(|(&step, &other)| step * now[other as usize]).sum();
                next[file as usize] = back * start[file as usize] + on * received;
            }
            now = next;
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
