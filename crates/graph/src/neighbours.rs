//! The dependencies and dependents of a module by distance: the answers of `stan deps` and `stan dependents`. Each module occurs
//! once, at its minimum distance. The whole closure as a graph is `query::closure`.

use stan_model::{EdgeKind, Resolution};

use crate::graph::{Edge, Graph};
use crate::query::{Direction, Sources};

/// The bit of an edge kind in a set of kinds: runtime 1, type 2, dynamic 4, as in the map.
pub fn kind_bit(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::Runtime => 1,
        EdgeKind::Type => 2,
        EdgeKind::Dynamic => 4,
    }
}

/// A reached module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub node: u32,
    /// The distance in edges; 1 for a direct neighbour.
    pub distance: u32,
    /// The module one step nearer, from which it was reached first.
    pub by: u32,
    /// The kinds of the followed edges between `by` and `node`.
    pub kinds: u8,
    /// Whether all of these edges are implicit: found by following barrels.
    pub is_implicit: bool,
}

/// The modules within `depth` steps of a module over edges of the given kinds, by distance and then by id, without the module
/// itself.
pub fn neighbours(graph: &Graph, seed: u32, direction: Direction, depth: u32, kinds: u8) -> Vec<Neighbour> {
    let mut found: Vec<Neighbour> = Vec::new();
    if seed as usize >= graph.node_count() {
        return found;
    }
    let sources = (direction == Direction::Backward).then(|| Sources::of(graph));
    let mut place = vec![u32::MAX; graph.node_count()];
    let mut frontier = vec![seed];
    for distance in 1..=depth {
        let start = found.len();
        for &by in &frontier {
            let mut visit = |node: u32, edge: &Edge| {
                if node == seed || kind_bit(edge.kind) & kinds == 0 {
                    return;
                }
                let is_implicit = edge.resolution == Resolution::Implicit;
                match found.get_mut(place[node as usize] as usize) {
                    Some(known) if known.by == by && known.distance == distance => {
                        known.kinds |= kind_bit(edge.kind);
                        known.is_implicit &= is_implicit;
                    }
                    Some(_) => {}
                    None => {
                        place[node as usize] = u32::try_from(found.len()).unwrap_or(u32::MAX - 1);
                        found.push(Neighbour { node, distance, by, kinds: kind_bit(edge.kind), is_implicit });
                    }
                }
            };
            match &sources {
                None => graph.edges(by).iter().for_each(|edge| visit(edge.target, edge)),
                Some(sources) => {
                    // The edges from one source are adjacent.
                    for of_source in sources.of_target(by).chunk_by(|one, other| one == other) {
                        let Some(&node) = of_source.first() else { continue };
                        edges_between(graph, node, by).iter().for_each(|edge| visit(node, edge));
                    }
                }
            }
        }
        let level = found.get_mut(start..).unwrap_or_default();
        if level.is_empty() {
            break;
        }
        level.sort_unstable_by_key(|neighbour| neighbour.node);
        for (index, neighbour) in (start..).zip(level.iter()) {
            place[neighbour.node as usize] = u32::try_from(index).unwrap_or(u32::MAX - 1);
        }
        frontier = level.iter().map(|neighbour| neighbour.node).collect();
    }
    found
}

fn edges_between(graph: &Graph, from: u32, to: u32) -> &[Edge] {
    let edges = graph.edges(from);
    let start = edges.partition_point(|edge| edge.target < to);
    let length = edges.iter().skip(start).take_while(|edge| edge.target == to).count();
    edges.get(start..start + length).unwrap_or_default()
}

/// For each module, the number of the repository's own modules with an edge to it, except itself.
pub fn importer_counts(graph: &Graph) -> Vec<u32> {
    let mut counts = vec![0u32; graph.node_count()];
    for index in graph.indices() {
        let mut last = index;
        for edge in graph.edges(index) {
            if edge.target != last && edge.target != index {
                counts[edge.target as usize] += 1;
            }
            last = edge.target;
        }
    }
    counts
}

/// The graph with only the edges of the given kinds.
pub fn with_kinds(graph: &Graph, kinds: u8) -> Graph {
    let mut ends = Vec::with_capacity(graph.node_count());
    let mut edges = Vec::new();
    for index in graph.indices() {
        edges.extend(graph.edges(index).iter().filter(|edge| kind_bit(edge.kind) & kinds != 0));
        ends.push(edges.len());
    }
    Graph::from_sorted_parts(graph.nodes().to_vec(), ends, edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphBuilder, Node};
    use stan_model::NodeKind;

    fn graph(edges: &[(u32, u32, EdgeKind, Resolution)]) -> Graph {
        let mut builder = GraphBuilder::with_capacity(0, 0);
        let node = |index: u32| (index, Node::bare(format!("n{index}").into(), NodeKind::Source));
        builder.nodes((0..6).map(node).collect());
        edges.iter().for_each(|(from, to, kind, resolution)| builder.edge(*from, *to, *kind, *resolution));
        builder.finish().expect("the ids are unique").graph
    }

    #[test]
    fn each_module_occurs_once_at_its_least_distance() {
        use EdgeKind::{Dynamic, Runtime, Type};
        use Resolution::{Explicit, Implicit};
        let graph = graph(&[
            (0, 1, Runtime, Explicit),
            (0, 1, Type, Explicit),
            (0, 2, Type, Implicit),
            (1, 3, Runtime, Explicit),
            (2, 3, Dynamic, Explicit),
            (3, 0, Runtime, Explicit),
            (3, 3, Runtime, Explicit),
        ]);
        let ask = |seed, direction, depth, kinds| {
            let found = neighbours(&graph, seed, direction, depth, kinds);
            found.iter().map(|one| (one.node, one.distance, one.by, one.kinds)).collect::<Vec<_>>()
        };
        assert_eq!(ask(0, Direction::Forward, 1, 7), [(1, 1, 0, 3), (2, 1, 0, 2)]);
        assert_eq!(ask(0, Direction::Forward, 9, 7), [(1, 1, 0, 3), (2, 1, 0, 2), (3, 2, 1, 1)]);
        assert_eq!(ask(0, Direction::Forward, 9, 2), [(1, 1, 0, 2), (2, 1, 0, 2)]);
        assert_eq!(ask(3, Direction::Backward, 1, 7), [(1, 1, 3, 1), (2, 1, 3, 4)]);
        assert_eq!(ask(3, Direction::Backward, 2, 7), [(1, 1, 3, 1), (2, 1, 3, 4), (0, 2, 1, 3)]);
        assert_eq!(ask(9, Direction::Forward, 1, 7), []);
        let implicit = neighbours(&graph, 0, Direction::Forward, 1, 7);
        assert_eq!(implicit.iter().map(|one| one.is_implicit).collect::<Vec<_>>(), [false, true]);
        assert_eq!(importer_counts(&graph), [1, 1, 1, 2, 0, 0]);
        assert_eq!(with_kinds(&graph, 2).edge_count(), 2);
    }
}
