//! The finished graph: nodes in the byte order of their ids, edges in one flat array. Read-only; see `builder`
//! for how one is made.

use stan_model::{Digest, EdgeKind, Language, NodeKind, Resolution};

/// A file, a builtin, or an unresolved specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique in a graph: the path of a file, the name of a builtin, the spelling of something missing.
    pub id: Box<str>,
    pub kind: NodeKind,
    /// `Other` for what is not a file.
    pub language: Language,
    /// One line about the module (spec 10 §6).
    pub description: Option<Box<str>>,
    /// Only for files that could be read.
    pub file: Option<FileMeta>,
    /// The file lies outside the repository's root.
    pub outside_root: bool,
}

impl Node {
    /// A node that is not a file.
    pub fn bare(id: Box<str>, kind: NodeKind) -> Self {
        Self { id, kind, language: Language::Other, description: None, file: None, outside_root: false }
    }
}

/// Digest and size of a file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileMeta {
    pub digest: Digest,
    pub size: u64,
}

/// One edge, seen from its source. The derived order is the order of output: nodes are sorted by id, and the kinds
/// are declared in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Index of the node that is depended on.
    pub target: u32,
    pub kind: EdgeKind,
    pub resolution: Resolution,
}

/// A dependency graph. Nodes are named by their index, which is their rank among the ids by UTF-8 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Where each node's edges end; they begin where the previous node's end.
    ends: Vec<usize>,
    edges: Vec<Edge>,
}

impl Graph {
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The node with this index. Panics when the index is not one of this graph.
    pub fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// All nodes, in index order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All indices, in order.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + use<> {
        // The builder has refused more nodes than an index can name.
        0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// The edges that leave a node, sorted and unique. Panics when the index is not one of this graph.
    pub fn edges(&self, index: u32) -> &[Edge] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.edges[start..self.ends[index]]
    }

    /// The index of the node with this id.
    pub fn find(&self, id: &str) -> Option<u32> {
        let found = self.nodes.binary_search_by(|node| (*node.id).cmp(id)).ok()?;
        u32::try_from(found).ok()
    }

    /// A graph of stored parts; `None` when they do not describe one: ids out of order, edges to nowhere or unsorted.
    pub fn from_parts(nodes: Vec<Node>, ends: Vec<usize>, edges: Vec<Edge>) -> Option<Self> {
        let fits = nodes.is_sorted_by(|a, b| a.id < b.id)
            && nodes.len() == ends.len()
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == edges.len()
            && edges.iter().all(|edge| (edge.target as usize) < nodes.len());
        let graph = Self { nodes, ends, edges };
        (fits && graph.indices().all(|index| graph.edges(index).is_sorted_by(|a, b| a < b))).then_some(graph)
    }

    /// Takes over parts that already have the order and the uniqueness that the type promises.
    pub(crate) fn from_sorted_parts(nodes: Vec<Node>, ends: Vec<usize>, edges: Vec<Edge>) -> Self {
        debug_assert!(nodes.is_sorted_by(|a, b| a.id < b.id), "node ids are sorted and unique");
        debug_assert_eq!(nodes.len(), ends.len(), "every node has an edge list");
        debug_assert_eq!(ends.last().copied().unwrap_or(0), edges.len(), "every edge belongs to a node");
        Self { nodes, ends, edges }
    }
}
