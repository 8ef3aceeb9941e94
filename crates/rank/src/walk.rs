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

pub(crate) struct ImportGraph {
    /// Where the neighbours of each file end.
    ends: Vec<usize>,
    /// Neighbours by imports or importers, with the weight of the step.
    neighbours: Vec<(u32, Fixed)>,
}

impl ImportGraph {
    pub(crate) fn new(edges: &[Edge], files: usize) -> Self {
        let inside = |edge: &&Edge| edge.from != edge.to && (edge.from.max(edge.to) as usize) < files;
        let mut both: Vec<(u32, u32, Fixed)> = edges
            .iter()
            .filter(inside)
            .flat_map(|edge| [(edge.from, edge.to, edge.weight), (edge.to, edge.from, edge.weight)])
            .collect();
        both.sort_unstable();
        let mut degrees = vec![Fixed::ZERO; files];
        for &(from, _, weight) in &both {
            degrees[from as usize] += weight;
        }
        let roots: Vec<Fixed> = degrees.iter().map(|degree| degree.sqrt()).collect();
        let mut graph = Self { ends: vec![0; files], neighbours: Vec::with_capacity(both.len()) };
        for (from, to, weight) in both {
            let step = weight / roots[from as usize] / roots[to as usize];
            graph.neighbours.push((to, step));
            graph.ends[from as usize] = graph.neighbours.len();
        }
        let mut last = 0;
        for end in &mut graph.ends {
            last = last.max(*end);
            *end = last;
        }
        graph
    }

    /// Files that import the file or are imported by it, in the order of their numbers.
    pub(crate) fn neighbours(&self, file: usize) -> &[(u32, Fixed)] {
        let start = file.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(file).copied().unwrap_or(start);
        self.neighbours.get(start..end).unwrap_or_default()
    }

    /// How close each file is to the seeds.
    pub(crate) fn walk(&self, seeds: &[Fixed]) -> Vec<Fixed> {
        let all: Fixed = seeds.iter().copied().sum();
        let start: Vec<Fixed> = seeds.iter().map(|seed| *seed / all).collect();
        let (back, on) = (Fixed::ratio(35, 100), Fixed::ratio(65, 100));
        let mut now = start.clone();
        for _ in 0..STEPS {
            now = (0..start.len())
                .map(|file| {
                    let received: Fixed =
                        self.neighbours(file).iter().map(|&(other, step)| step * now[other as usize]).sum();
                    back * start[file] + on * received
                })
                .collect();
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
