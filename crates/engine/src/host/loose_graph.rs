//! A graph that a host passes in, parsed as leniently as stan-context does: hosts build graphs by hand, omit fields and keep
//! edges to nodes that do not exist. stan's own documents are parsed strictly, in `stan_graph`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use stan_graph::{Map, MapEdge, MapNode};
use stan_model::document::state::kind_bit;
use stan_model::{EdgeKind, NodeKind, Resolution};

use super::HostError;

/// Nodes and edges by id.
#[derive(Debug, Deserialize)]
pub(super) struct LooseGraph {
    pub(super) nodes: BTreeMap<String, LooseNode>,
    /// A node without an entry has no edges.
    #[serde(default)]
    pub(super) edges: BTreeMap<String, Vec<LooseEdge>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LooseNode {
    #[serde(with = "KindName")]
    pub(super) kind: NodeKind,
    description: Option<Value>,
    #[serde(default)]
    metadata: Option<LooseMetadata>,
}

#[derive(Debug, Default, Deserialize)]
struct LooseMetadata {
    size: Option<Value>,
    hash: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LooseEdge {
    pub(super) target: String,
    #[serde(with = "EdgeKindName")]
    pub(super) kind: EdgeKind,
    #[serde(with = "ResolutionName", default = "explicit")]
    pub(super) resolution: Resolution,
}

#[derive(Deserialize)]
#[serde(remote = "NodeKind", rename_all = "lowercase")]
enum KindName {
    Source,
    External,
    Builtin,
    Missing,
}

#[derive(Deserialize)]
#[serde(remote = "EdgeKind", rename_all = "lowercase")]
enum EdgeKindName {
    Dynamic,
    Runtime,
    Type,
}

#[derive(Deserialize)]
#[serde(remote = "Resolution", rename_all = "lowercase")]
enum ResolutionName {
    Explicit,
    Implicit,
}

fn explicit() -> Resolution {
    Resolution::Explicit
}

impl LooseNode {
    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, NodeKind::Source | NodeKind::External)
    }

    pub(super) fn size(&self) -> Option<u64> {
        let number = self.metadata.as_ref()?.size.as_ref()?;
        // JavaScript numbers are floats; a fraction is truncated.
        number.as_u64().or_else(|| number.as_f64().filter(|size| *size >= 0.0).map(|size| size as u64))
    }

    pub(super) fn hash(&self) -> Option<&str> {
        self.metadata.as_ref()?.hash.as_ref()?.as_str()
    }

    pub(super) fn description(&self) -> Option<&str> {
        self.description.as_ref()?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    /// Such a file can be compared, but its size is unknown.
    pub(super) fn has_hash_without_size(&self) -> bool {
        self.is_file() && self.hash().is_some() && self.size().is_none()
    }
}

impl LooseGraph {
    /// The edges from a node.
    pub(super) fn edges_of(&self, id: &str) -> &[LooseEdge] {
        self.edges.get(id).map_or(&[], Vec::as_slice)
    }

    /// Converts the graph for traversals. Ids that occur only in edges become missing nodes.
    pub(super) fn to_map(&self) -> Result<Map, HostError> {
        let named = self.edges.iter().flat_map(|(source, edges)| {
            edges.iter().map(|edge| edge.target.as_str()).chain(std::iter::once(source.as_str()))
        });
        let ids: BTreeSet<&str> = self.nodes.keys().map(String::as_str).chain(named).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let edge = |edge: &LooseEdge| {
            let target = ids.binary_search(&edge.target.as_str()).ok().and_then(|at| u32::try_from(at).ok())?;
            let resolutions = if edge.resolution == Resolution::Explicit { 1 } else { 2 };
            Some(MapEdge { target, kinds: kind_bit(edge.kind.as_str())?, resolutions })
        };
        let node = |id: &&str| {
            let known = self.nodes.get(*id);
            MapNode {
                id: (*id).to_owned(),
                kind: known.map_or(NodeKind::Missing, |node| node.kind),
                size: known.and_then(LooseNode::size),
                edges: self.edges_of(id).iter().filter_map(edge).collect(),
            }
        };
        Map::from_nodes(ids.iter().map(node).collect())
            .ok_or_else(|| HostError::internal("the nodes of the graph are out of order"))
    }
}

/// How to treat files that have a hash but no size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HashSizeEnforcement {
    #[default]
    Warn,
    Error,
    Ignore,
}

/// The error that lists these files, in the words of stan-context.
pub(super) fn size_missing(ids: &[&str]) -> HostError {
    const MAX_SHOWN: usize = 10;
    let shown = ids.iter().take(MAX_SHOWN).copied().collect::<Vec<_>>().join(", ");
    let more = if ids.len() > MAX_SHOWN { " ..." } else { "" };
    HostError::input(format!("metadata.size missing for hashed nodes ({}): {shown}{more}", ids.len()))
}
