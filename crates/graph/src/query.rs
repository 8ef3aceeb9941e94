//! Queries that return a smaller graph or a few counts. Cycles are in `cycles.rs`.

use crate::graph::{Edge, Graph};

/// The direction in which [`closure`] follows edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a module to its dependencies.
    Forward,
    /// From a module to its dependents: `--dependents`.
    Backward,
}

/// The `stats` of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Nodes of every kind.
    pub modules: u64,
    pub edges: u64,
    /// The number of files of the repository that could not be read or parsed cleanly; known only to the caller.
    pub dirty: u64,
}

impl Stats {
    pub fn of(graph: &Graph, dirty: u64) -> Self {
        Self { modules: graph.node_count() as u64, edges: graph.edge_count() as u64, dirty }
    }
}

/// The subgraph that is reachable from `seeds`, including them: the reached nodes, and all edges between them. Seeds out of range
/// are ignored.
///
/// `Backward` reverses edges for the search only. The edges of the result still point from a module to its dependency, so that
/// every result is a subgraph of the given graph and an edge always means the same.
pub fn closure(graph: &Graph, seeds: &[u32], direction: Direction) -> Graph {
    closure_within(graph, seeds, direction, usize::MAX)
}

/// As [`closure`], over at most `depth` edges from a seed.
pub fn closure_within(graph: &Graph, seeds: &[u32], direction: Direction, depth: usize) -> Graph {
    let reached = match direction {
        Direction::Forward => {
            reach(graph.node_count(), seeds, depth, |index| graph.edges(index).iter().map(|edge| edge.target))
        }
        Direction::Backward => {
            let sources = Sources::of(graph);
            reach(graph.node_count(), seeds, depth, |index| sources.of_target(index).iter().copied())
        }
    };
    restrict(graph, &reached)
}

fn reach<Next: Iterator<Item = u32>>(
    node_count: usize,
    seeds: &[u32],
    depth: usize,
    next: impl Fn(u32) -> Next,
) -> Vec<bool> {
    let mut reached = vec![false; node_count];
    let mut pending: Vec<u32> = Vec::new();
    let mut visit = |index: u32, pending: &mut Vec<u32>| {
        if let Some(seen) = reached.get_mut(index as usize)
            && !std::mem::replace(seen, true)
        {
            pending.push(index);
        }
    };
    for &seed in seeds {
        visit(seed, &mut pending);
    }
    // Breadth-first: a node is first reached on a shortest path.
    for _ in 0..depth {
        let step = std::mem::take(&mut pending);
        if step.is_empty() {
            break;
        }
        for neighbour in step.into_iter().flat_map(&next) {
            visit(neighbour, &mut pending);
        }
    }
    reached
}

/// The graph without the nodes for which `keep` is false, and without their edges.
fn restrict(graph: &Graph, keep: &[bool]) -> Graph {
    let kept_count = keep.iter().filter(|kept| **kept).count();
    let mut renamed = vec![0u32; keep.len()];
    let mut nodes = Vec::with_capacity(kept_count);
    for (kept, index) in (0u32..).zip(graph.indices().filter(|index| keep[*index as usize])) {
        renamed[index as usize] = kept;
        nodes.push(graph.node(index).clone());
    }
    let mut ends = Vec::with_capacity(kept_count);
    let mut edges = Vec::new();
    for index in graph.indices().filter(|index| keep[*index as usize]) {
        let inside = graph.edges(index).iter().filter(|edge| keep[edge.target as usize]);
        // The new indices are in the same order, so sorted lists stay sorted.
        edges.extend(inside.map(|edge| Edge { target: renamed[edge.target as usize], ..*edge }));
        ends.push(edges.len());
    }
    Graph::from_sorted_parts(nodes, ends, edges)
}

/// For each node, the sources of its incoming edges: one entry per edge, ascending.
pub(crate) struct Sources {
    ends: Vec<usize>,
    sources: Vec<u32>,
}

impl Sources {
    pub(crate) fn of(graph: &Graph) -> Self {
        let mut ends = vec![0usize; graph.node_count()];
        for index in graph.indices() {
            for edge in graph.edges(index) {
                ends[edge.target as usize] += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut sources = vec![0u32; total];
        for index in graph.indices() {
            for edge in graph.edges(index) {
                let place = &mut ends[edge.target as usize];
                sources[*place] = index;
                *place += 1;
            }
        }
        Self { ends, sources }
    }

    pub(crate) fn of_target(&self, index: u32) -> &[u32] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.sources[start..self.ends[index]]
    }
}

#[cfg(test)]
pub(crate) mod tests;
