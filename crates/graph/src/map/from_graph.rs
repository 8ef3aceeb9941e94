//! Converts a [`Graph`] with canonical ids into a [`Map`]: raw nodes with one id are merged, and so are edges between one pair.

use stan_model::NodeKind;

use super::{Map, MapBuilder, MapEdge, MetaHashes, Record, kind_bit, resolution_bit};
use crate::Graph;
use crate::canonical::Canonical;

pub(super) fn from_graph(graph: &Graph, canonical: &Canonical, hashes: MetaHashes) -> Map {
    let mut builder = MapBuilder::default();
    builder.map.edges.reserve(graph.edge_count());
    for group in canonical.groups() {
        let node = graph.node(group.record);
        let is_file = matches!(node.kind, NodeKind::Source | NodeKind::External);
        let shows_hash = match hashes {
            MetaHashes::All => true,
            MetaHashes::External => node.kind == NodeKind::External,
            MetaHashes::None => false,
        };
        let file = node.file.filter(|_| is_file && group.is_proved);
        let record = Record {
            kind: node.kind,
            size: file.map(|file| file.size),
            hash: file.filter(|_| shows_hash).map(|file| file.digest.prefix()),
        };
        let description = canonical.description(graph, &group).filter(|_| is_file);
        builder.node(record, description.unwrap_or_default());
        for &raw in group.raws {
            for edge in graph.edges(raw) {
                let target = canonical.rank(edge.target);
                // Raw nodes of the same file do not depend on each other.
                if target == group.rank && edge.target != raw {
                    continue;
                }
                let (kinds, resolutions) = (kind_bit(edge.kind), resolution_bit(edge.resolution));
                builder.edge(MapEdge { target, kinds, resolutions });
            }
        }
        builder.end_node();
    }
    builder.finish(canonical.ids().clone())
}
