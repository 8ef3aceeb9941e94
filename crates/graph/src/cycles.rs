//! Import cycles: the strongly connected components of a graph, each with one short cycle as an example. Edges of all kinds
//! count; a caller that needs fewer restricts the graph first.

use crate::graph::Graph;

/// Modules that all depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Every module of the component, sorted. A single module is a cycle if it has an edge to itself.
    pub members: Vec<u32>,
    /// A ring: each module has an edge to the next, the last one to the first. It is a shortest one of the component or, if the
    /// component is so large that the search was cut off, the shortest one found.
    pub example: Vec<u32>,
}

/// How many edges may be traversed for one component's example, beyond the search from the first member, which is always
/// complete. A count, not a time limit: the same graph gives the same example everywhere.
const EXAMPLE_EDGE_BUDGET: usize = 1 << 20;

/// All cycles of a graph, in the order of their first members.
pub fn cycles(graph: &Graph) -> Vec<Cycle> {
    let mut components = strong_components(graph);
    components.retain(|members| match members.as_slice() {
        [single] => graph.edges(*single).iter().any(|edge| edge.target == *single),
        _ => true,
    });
    for members in &mut components {
        members.sort_unstable();
    }
    components.sort_unstable();
    let mut finder = ExampleFinder::new(graph, &components);
    components
        .into_iter()
        .map(|members| {
            let example = finder.shortest(&members);
            Cycle { members, example }
        })
        .collect()
}

const UNVISITED: u32 = u32::MAX;

/// Tarjan's algorithm with an explicit stack: a chain of imports may be longer than recursion permits.
struct Tarjan<'g> {
    graph: &'g Graph,
    /// The order of first visits.
    order: Vec<u32>,
    /// The lowest visit order known to be reachable; `UNVISITED` again once the component is complete.
    low: Vec<u32>,
    visits: u32,
    /// Visited nodes whose component is not complete.
    open: Vec<u32>,
    /// The current path: each node, with the number of its edges followed so far.
    path: Vec<(u32, usize)>,
    components: Vec<Vec<u32>>,
}

fn strong_components(graph: &Graph) -> Vec<Vec<u32>> {
    let count = graph.node_count();
    let mut tarjan = Tarjan {
        graph,
        order: vec![UNVISITED; count],
        low: vec![UNVISITED; count],
        visits: 0,
        open: Vec::new(),
        path: Vec::new(),
        components: Vec::new(),
    };
    for root in graph.indices() {
        if tarjan.order[root as usize] == UNVISITED {
            tarjan.enter(root);
            tarjan.walk();
        }
    }
    tarjan.components
}

impl Tarjan<'_> {
    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.visits;
        self.low[node as usize] = self.visits;
        self.visits += 1;
        self.open.push(node);
        self.path.push((node, 0));
    }

    fn walk(&mut self) {
        while let Some((node, followed)) = self.path.last_mut() {
            let node = *node;
            if let Some(edge) = self.graph.edges(node).get(*followed) {
                *followed += 1;
                if self.order[edge.target as usize] == UNVISITED {
                    self.enter(edge.target);
                } else {
                    // The `low` of a completed component is `UNVISITED`, the maximum, so it never lowers another.
                    self.lower(node, self.low[edge.target as usize]);
                }
            } else {
                self.path.pop();
                self.complete(node);
            }
        }
    }

    fn complete(&mut self, node: u32) {
        let low = self.low[node as usize];
        if low == self.order[node as usize] {
            let start = self.open.iter().rposition(|open| *open == node).unwrap_or(0);
            let members = self.open.split_off(start);
            for member in &members {
                self.low[*member as usize] = UNVISITED;
            }
            self.components.push(members);
        } else if let Some((parent, _)) = self.path.last() {
            self.lower(*parent, low);
        }
    }

    fn lower(&mut self, node: u32, low: u32) {
        let own = &mut self.low[node as usize];
        *own = (*own).min(low);
    }
}

/// Breadth-first search for a shortest ring in one component.
struct ExampleFinder<'g> {
    graph: &'g Graph,
    /// The component of each node, by number; `UNVISITED` for nodes in none.
    component: Vec<u32>,
    /// The last search that visited each node, and the node it came from.
    seen: Vec<u32>,
    came_from: Vec<u32>,
    searches: u32,
    queue: Vec<u32>,
}

impl<'g> ExampleFinder<'g> {
    fn new(graph: &'g Graph, components: &[Vec<u32>]) -> Self {
        let count = if components.is_empty() { 0 } else { graph.node_count() };
        let mut component = vec![UNVISITED; count];
        for (rank, members) in (0u32..).zip(components) {
            for member in members {
                component[*member as usize] = rank;
            }
        }
        let (seen, came_from) = (vec![0; count], vec![0; count]);
        Self { graph, component, seen, came_from, searches: 0, queue: Vec::new() }
    }

    fn shortest(&mut self, members: &[u32]) -> Vec<u32> {
        let mut best: Vec<u32> = Vec::new();
        let mut scanned = 0;
        for &start in members {
            if best.len() == 1 || (!best.is_empty() && scanned > EXAMPLE_EDGE_BUDGET) {
                break;
            }
            if let Some(found) = self.search(start, best.len(), &mut scanned) {
                best = found;
            }
        }
        best
    }

    /// The shortest cycle through `start`, if it is shorter than `limit` (0: no limit).
    fn search(&mut self, start: u32, limit: usize, scanned: &mut usize) -> Option<Vec<u32>> {
        self.searches += 1;
        self.queue.clear();
        self.queue.push(start);
        self.seen[start as usize] = self.searches;
        let (mut next, mut length, mut level_end) = (0, 1, 1);
        while let Some(&node) = self.queue.get(next) {
            if next == level_end {
                length += 1;
                level_end = self.queue.len();
            }
            if limit != 0 && length >= limit {
                return None;
            }
            next += 1;
            for edge in self.graph.edges(node) {
                *scanned += 1;
                let target = edge.target as usize;
                if edge.target == start {
                    return Some(self.way_to(node, start));
                }
                if self.component[target] == self.component[start as usize] && self.seen[target] != self.searches {
                    self.seen[target] = self.searches;
                    self.came_from[target] = node;
                    self.queue.push(edge.target);
                }
            }
        }
        None
    }

    fn way_to(&self, end: u32, start: u32) -> Vec<u32> {
        let mut way = vec![end];
        let mut node = end;
        while node != start {
            node = self.came_from[node as usize];
            way.push(node);
        }
        way.reverse();
        way
    }
}

#[cfg(test)]
mod tests;
