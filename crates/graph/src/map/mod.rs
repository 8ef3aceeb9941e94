//! The map that an assistant reads (spec 20 §1), in memory: ids in byte order in one text, edges in one array.
//!
//! Built from a [`Graph`](crate::Graph), from `dependency.meta.json` or from a long-form graph, always with the same result.
//! Selections on it are resolved in `select`.

mod binary;
mod decode;
mod from_graph;
mod hash;
mod id_index;
mod long;
mod texts;
mod write;

use stan_model::document::DocumentError;
pub use stan_model::document::config::MetaHashes;
use stan_model::{EdgeKind, NodeKind, Resolution};
use std::io::{self, Write};

use crate::Graph;
use crate::canonical::Canonical;
pub(crate) use texts::Texts;

/// The first half of a SHA-256, as in the map document.
pub type HashPrefix = [u8; 16];

/// All edges between one pair of nodes, merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapEdge {
    /// The index of the dependency.
    pub target: u32,
    /// runtime 1, type 2, dynamic 4; never 0.
    pub kinds: u8,
    /// explicit 1, implicit 2; never 0. Selections ignore it.
    pub resolutions: u8,
}

/// A node of a map that a caller builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapNode {
    pub id: String,
    pub kind: NodeKind,
    pub size: Option<u64>,
    /// In any order; edges to the same target are merged.
    pub edges: Vec<MapEdge>,
}

/// The white space of a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStyle {
    /// None.
    Minified,
    /// Two spaces for each level.
    Indented,
}

/// A map. The index of a node is its rank among the ids by UTF-8 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    ids: Texts,
    /// Empty for nodes without one.
    descriptions: Texts,
    records: Vec<Record>,
    /// The end of each node's edges; they start at the previous node's end.
    ends: Vec<usize>,
    /// Sorted by target, at most one per target.
    edges: Vec<MapEdge>,
}

/// A node without its texts and edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) kind: NodeKind,
    pub(crate) size: Option<u64>,
    pub(crate) hash: Option<HashPrefix>,
}

impl Map {
    /// The map of a graph, with externals under their canonical ids.
    pub fn from_graph(graph: &Graph, canonical: &Canonical, hashes: MetaHashes) -> Self {
        from_graph::from_graph(graph, canonical, hashes)
    }

    /// Builds a map from nodes with unique ids, sorted by id, and edges by index. `None` if they are not a valid map.
    pub fn from_nodes(nodes: Vec<MapNode>) -> Option<Self> {
        let is_sorted = nodes.is_sorted_by(|left, right| left.id < right.id);
        let is_inside = |edge: &MapEdge| (edge.target as usize) < nodes.len();
        if !is_sorted || !nodes.iter().all(|node| node.edges.iter().all(is_inside)) {
            return None;
        }
        let (mut ids, mut builder) = (Texts::default(), MapBuilder::default());
        for node in nodes {
            ids.push(&node.id);
            builder.node(Record { kind: node.kind, size: node.size, hash: None }, "");
            node.edges.into_iter().for_each(|edge| builder.edge(edge));
            builder.end_node();
        }
        Some(builder.finish(ids))
    }

    /// Parses `dependency.meta.json` strictly; returns all findings, up to a limit. `file` is only the name for them.
    pub fn decode(bytes: &[u8], file: &str) -> Result<Self, Vec<DocumentError>> {
        decode::decode(bytes, file)
    }

    /// Parses a long-form graph: `{nodes, edges}`, or the result of `stan graph` that contains it.
    pub fn decode_long(bytes: &[u8], file: &str) -> Result<Self, Vec<DocumentError>> {
        long::decode(bytes, file)
    }

    /// Writes `dependency.meta.json` with a final newline.
    pub fn write(&self, out: &mut dyn Write, style: JsonStyle) -> io::Result<()> {
        write::write(self, out, style)
    }

    /// Encodes the map for a cache; `None` if it is too large.
    pub fn to_cache(&self) -> Option<Vec<u8>> {
        binary::encode(self)
    }

    /// Decodes the output of [`Map::to_cache`]; `None` if it is damaged.
    pub fn from_cache(bytes: &[u8]) -> Option<Self> {
        binary::decode(bytes)
    }

    pub fn node_count(&self) -> usize {
        self.records.len()
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// All indices, in order.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + use<> {
        // Cannot overflow: builders refuse more nodes.
        0..u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }

    /// The node's id. This and the other lookups panic if the index is not one of this map.
    pub fn id(&self, index: u32) -> &str {
        self.ids.get(index as usize)
    }

    pub fn kind(&self, index: u32) -> NodeKind {
        self.records[index as usize].kind
    }

    /// The size in bytes, if known.
    pub fn size(&self, index: u32) -> Option<u64> {
        self.records[index as usize].size
    }

    pub fn hash(&self, index: u32) -> Option<&HashPrefix> {
        self.records[index as usize].hash.as_ref()
    }

    pub fn description(&self, index: u32) -> Option<&str> {
        Some(self.descriptions.get(index as usize)).filter(|text| !text.is_empty())
    }

    /// The edges that leave a node, sorted by target.
    pub fn edges(&self, index: u32) -> &[MapEdge] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.edges[start..self.ends[index]]
    }

    /// The index of the node with this id.
    pub fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(id).and_then(|index| u32::try_from(index).ok())
    }
}

/// The hash as in the document: base64url without padding.
pub fn hash_text(hash: &HashPrefix) -> String {
    hash::encode(hash).iter().copied().map(char::from).collect()
}

pub(crate) fn kind_bit(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::Runtime => 1,
        EdgeKind::Type => 2,
        EdgeKind::Dynamic => 4,
    }
}

pub(crate) fn resolution_bit(resolution: Resolution) -> u8 {
    match resolution {
        Resolution::Explicit => 1,
        Resolution::Implicit => 2,
    }
}

/// Builds a map from nodes in the order of their ids, each followed by its edges in any order.
#[derive(Default)]
struct MapBuilder {
    map: Map,
}

impl MapBuilder {
    fn node(&mut self, record: Record, description: &str) {
        self.map.descriptions.push(description);
        self.map.records.push(record);
    }

    fn edge(&mut self, edge: MapEdge) {
        self.map.edges.push(edge);
    }

    /// Ends a node: merges its edges by target. Returns a target that had more than one edge, if any.
    fn end_node(&mut self) -> Option<u32> {
        let edges = &mut self.map.edges;
        let start = self.map.ends.last().copied().unwrap_or(0);
        let mut repeated = None;
        if !edges[start..].is_sorted_by(|left, right| left.target < right.target) {
            edges[start..].sort_unstable();
            let mut kept = start;
            for place in start + 1..edges.len() {
                let edge = edges[place];
                if edges[kept].target == edge.target {
                    repeated = repeated.or(Some(edge.target));
                    edges[kept].kinds |= edge.kinds;
                    edges[kept].resolutions |= edge.resolutions;
                } else {
                    kept += 1;
                    edges[kept] = edge;
                }
            }
            edges.truncate(kept + 1);
        }
        self.map.ends.push(edges.len());
        repeated
    }

    /// `ids` are those of all nodes, in the order in which the nodes were added.
    fn finish(mut self, ids: Texts) -> Map {
        self.map.ids = ids;
        debug_assert!(self.map.ids.is_sorted_and_unique(), "nodes come in the order of their ids");
        debug_assert_eq!(
            [self.map.ids.len(), self.map.ends.len()],
            [self.map.records.len(); 2],
            "the edges of every node were ended"
        );
        self.map.edges.shrink_to_fit();
        self.map
    }
}

#[cfg(test)]
pub(crate) mod tests;
