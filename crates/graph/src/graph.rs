//! The finished graph: nodes in the byte order of their ids, edges in one flat array. Read-only; `builder` builds it.

use stan_model::{Digest, EdgeKind, Language, NodeKind, Resolution};

/// A file, a builtin, or an unresolved specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique in a graph: the path of a file, the name of a builtin, or the specifier of a missing module.
    pub id: Box<str>,
    pub kind: NodeKind,
    /// `Other` for nodes that are not files.
    pub language: Language,
    /// One line about the module (spec 10 §6).
    pub description: Option<Box<str>>,
    /// `None` for nodes that are not files, and for unreadable files.
    pub file: Option<FileMeta>,
    /// Whether the file is outside the repository's root.
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

/// An edge without its source. The derived order is the order of output: nodes are sorted by id, and the kinds are declared in
/// the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The index of the dependency.
    pub target: u32,
    pub kind: EdgeKind,
    pub resolution: Resolution,
}

/// A dependency graph. Nodes are identified by their index in the byte order of ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<Node>,
    /// The end of each node's edges; they start at the end of the previous node's.
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

    /// The node with this index. Panics if the index is out of range.
    pub fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// All nodes, in index order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All indices, in order.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + use<> {
        // The builder rejects more nodes than an index can count.
        0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// The edges from a node, sorted, without duplicates. Panics if the index is out of range.
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

    /// A graph from stored parts; `None` if they are inconsistent: ids out of order, edges out of range or unsorted.
    pub fn from_parts(nodes: Vec<Node>, ends: Vec<usize>, edges: Vec<Edge>) -> Option<Self> {
        let fits = nodes.is_sorted_by(|a, b| a.id < b.id)
            && nodes.len() == ends.len()
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == edges.len()
            && edges.iter().all(|edge| (edge.target as usize) < nodes.len());
        let graph = Self { nodes, ends, edges };
        (fits && graph.indices().all(|index| graph.edges(index).is_sorted_by(|a, b| a < b))).then_some(graph)
    }

    /// A graph from parts that are already sorted and unique.
    pub(crate) fn from_sorted_parts(nodes: Vec<Node>, ends: Vec<usize>, edges: Vec<Edge>) -> Self {
        debug_assert!(nodes.is_sorted_by(|a, b| a.id < b.id), "node ids are sorted and unique");
        debug_assert_eq!(nodes.len(), ends.len(), "every node has an edge list");
        debug_assert_eq!(ends.last().copied().unwrap_or(0), edges.len(), "every edge belongs to a node");
        Self { nodes, ends, edges }
    }
}
