//! Builds a [`Graph`] from nodes and edges pushed in any order. The result does not depend on the order; conflicts are reported,
//! never dropped silently.

use std::cmp::Ordering;

use stan_model::{EdgeKind, NodeKind, Resolution};

use crate::graph::{Edge, Graph, Node};

/// Collects the parts of a graph. Nodes are identified by keys of the caller's choice until `finish` sorts them.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    nodes: Vec<(u32, Node)>,
    edges: Vec<RawEdge>,
}

/// A finished graph, and the conflicts that were resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub graph: Graph,
    /// Nodes with the same id but different contents, sorted by id. All their edges were kept.
    pub merged: Vec<Merged>,
    /// The node index of each of the caller's keys.
    pub indices: Indices,
}

/// The node index of each key. Keys are dense numbers in practice, so this is an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices {
    by_key: Vec<u32>,
}

const UNUSED: u32 = u32::MAX;

impl Indices {
    /// The index of the node that was pushed with this key.
    pub fn get(&self, key: u32) -> Option<u32> {
        self.by_key.get(key as usize).copied().filter(|index| *index != UNUSED)
    }

    fn for_keys(keyed: &[(u32, Node)]) -> Self {
        let largest = keyed.iter().map(|(key, _)| *key).max();
        Self { by_key: vec![UNUSED; largest.map_or(0, |key| key as usize + 1)] }
    }

    fn insert(&mut self, key: u32, index: u32) -> Option<u32> {
        let place = self.by_key.get_mut(key as usize)?;
        let before = std::mem::replace(place, index);
        (before != UNUSED).then_some(before)
    }
}

/// Two different nodes with one id: for example the file `src/a.ts` and an unresolved bare specifier `src/a.ts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub id: Box<str>,
    pub kept: NodeKind,
    pub lost: NodeKind,
}

/// The pushed parts are not a graph: a fault of the caller, not of the repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// An edge refers to a key without a node.
    #[error("an edge names the key {key}, but no node has it")]
    UnknownKey { key: u32 },
    /// One key was used for two ids.
    #[error("the key {key} names two nodes, `{first}` and `{second}`")]
    KeyReused { key: u32, first: Box<str>, second: Box<str> },
    /// Indices are 32 bits wide.
    #[error("the graph has more than {} nodes", u32::MAX)]
    TooManyNodes,
}

/// An edge between keys; after `rename`, between indices.
#[derive(Clone, Copy, Debug)]
struct RawEdge {
    source: u32,
    edge: Edge,
}

impl GraphBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(nodes: usize, edges: usize) -> Self {
        Self { nodes: Vec::with_capacity(nodes), edges: Vec::with_capacity(edges) }
    }

    /// Adds a node. The same node may be added again, with the same key or another.
    pub fn node(&mut self, key: u32, node: Node) {
        self.nodes.push((key, node));
    }

    /// Adds many nodes, each with its key.
    pub fn nodes(&mut self, mut nodes: Vec<(u32, Node)>) {
        if self.nodes.is_empty() { self.nodes = nodes } else { self.nodes.append(&mut nodes) }
    }

    /// Adds an edge between two keys, whose nodes may be added later. The same edge may be added again.
    pub fn edge(&mut self, source: u32, target: u32, kind: EdgeKind, resolution: Resolution) {
        self.edges.push(RawEdge { source, edge: Edge { target, kind, resolution } });
    }

    pub fn finish(self) -> Result<Built, BuildError> {
        let Self { nodes, mut edges } = self;
        let (nodes, indices, merged) = merge_nodes(nodes)?;
        rename(&mut edges, &indices)?;
        let (ends, edges) = group(nodes.len(), edges);
        Ok(Built { graph: Graph::from_sorted_parts(nodes, ends, edges), merged, indices })
    }
}

type MergedNodes = (Vec<Node>, Indices, Vec<Merged>);

/// One node per id, sorted; the node index of each key; and the conflicts.
fn merge_nodes(mut keyed: Vec<(u32, Node)>) -> Result<MergedNodes, BuildError> {
    // A stable sort, because it exploits sorted runs, and most nodes arrive sorted.
    keyed.sort_by(|(left_key, left), (right_key, right)| {
        left.id.cmp(&right.id).then_with(|| by_preference(left, right)).then(left_key.cmp(right_key))
    });
    let mut indices = Indices::for_keys(&keyed);
    let mut merged = Vec::new();
    // The first of several nodes with one id is kept.
    let mut kept: Option<&Node> = None;
    let mut count = 0u32;
    for (key, node) in &keyed {
        match kept.filter(|kept| kept.id == node.id) {
            Some(kept) if kept == node => {}
            Some(kept) => merged.push(Merged { id: node.id.clone(), kept: kept.kind, lost: node.kind }),
            None => {
                kept = Some(node);
                count = count.checked_add(1).ok_or(BuildError::TooManyNodes)?;
            }
        }
        let index = count - 1;
        if indices.insert(*key, index).is_some_and(|other| other != index) {
            let first = keyed.iter().find(|(other, _)| other == key).map_or(&node.id, |(_, first)| &first.id);
            return Err(BuildError::KeyReused { key: *key, first: first.clone(), second: node.id.clone() });
        }
    }
    merged.dedup();
    if (count as usize) < keyed.len() {
        keyed.dedup_by(|later, kept| later.1.id == kept.1.id);
    }
    // Collects in place, in the allocation of the pairs.
    let mut nodes: Vec<Node> = keyed.into_iter().map(|(_, node)| node).collect();
    nodes.shrink_to_fit();
    Ok((nodes, indices, merged))
}

/// The order in which nodes with one id are preferred: files before other nodes, then nodes with more metadata.
fn by_preference(left: &Node, right: &Node) -> Ordering {
    let rank = |node: &Node| (node.kind, node.file.is_none(), node.description.is_none());
    rank(left)
        .cmp(&rank(right))
        .then_with(|| left.file.cmp(&right.file))
        .then_with(|| left.description.cmp(&right.description))
        .then_with(|| left.language.cmp(&right.language))
        .then_with(|| left.outside_root.cmp(&right.outside_root))
}

/// Replaces the keys of edges by indices, in place.
fn rename(edges: &mut [RawEdge], indices: &Indices) -> Result<(), BuildError> {
    let index = |key: u32| indices.get(key).ok_or(BuildError::UnknownKey { key });
    // The smallest unknown key is reported, so that the error does not depend on the order of pushes either.
    let mut unknown: Option<u32> = None;
    for raw in edges {
        match (index(raw.source), index(raw.edge.target)) {
            (Ok(source), Ok(target)) => (raw.source, raw.edge.target) = (source, target),
            (source, target) => {
                for result in [source, target] {
                    if let Err(BuildError::UnknownKey { key }) = result {
                        unknown = Some(unknown.map_or(key, |least| least.min(key)));
                    }
                }
            }
        }
    }
    unknown.map_or(Ok(()), |key| Err(BuildError::UnknownKey { key }))
}

/// Groups edges by source with a counting sort, then sorts each group and removes duplicates.
fn group(node_count: usize, raw: Vec<RawEdge>) -> (Vec<usize>, Vec<Edge>) {
    // After counting, `ends[i]` is the start of group `i`; placing the edges moves it to the end.
    let mut ends = vec![0usize; node_count];
    for edge in &raw {
        ends[edge.source as usize] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        total += std::mem::replace(end, total);
    }
    let blank = Edge { target: 0, kind: EdgeKind::Dynamic, resolution: Resolution::Explicit };
    let mut edges = vec![blank; total];
    for RawEdge { source, edge } in raw {
        let place = &mut ends[source as usize];
        edges[*place] = edge;
        *place += 1;
    }

    let (mut start, mut kept) = (0, 0);
    for end in &mut ends {
        edges[start..*end].sort_unstable();
        let first = kept;
        for place in start..*end {
            let edge = edges[place];
            if kept == first || edges[kept - 1] != edge {
                edges[kept] = edge;
                kept += 1;
            }
        }
        start = std::mem::replace(end, kept);
    }
    edges.truncate(kept);
    edges.shrink_to_fit();
    (ends, edges)
}

#[cfg(test)]
mod tests;
