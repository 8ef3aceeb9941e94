//! The graph as callers of stan-context 0.6 know it: a missing module goes by the specifier that was written, and languages
//! that it does not have are `other`. Everything else is the graph of the command line.

use std::collections::BTreeMap;

use stan_graph::{Graph, GraphBuilder, Node};
use stan_model::{Language, NodeKind};

use super::HostError;
use crate::graph::detail::DetailedGraph;
use crate::graph::missing::is_relative;

/// `describe`: keep descriptions; `by_specifier`: name what is missing as it was written.
pub(super) fn rewritten(detailed: &DetailedGraph, describe: bool, by_specifier: bool) -> Result<Graph, HostError> {
    let graph = &detailed.graph;
    let mut builder = GraphBuilder::with_capacity(graph.node_count(), graph.edge_count());
    let mut spelled: BTreeMap<&str, u32> = BTreeMap::new();
    // A missing node stays where something still leads to it.
    let mut is_used: Vec<bool> = graph.nodes().iter().map(|node| node.kind != NodeKind::Missing).collect();
    for file in graph.indices() {
        let missing = if by_specifier { detailed.missing_requests(file) } else { Vec::new() };
        for edge in graph.edges(file) {
            let mut replaced = false;
            let requests = missing.iter().filter(|it| it.node == edge.target && it.kind == edge.kind);
            for request in requests.filter(|it| is_relative(it.specifier)) {
                let next = u32::try_from(graph.node_count() + spelled.len()).unwrap_or(u32::MAX);
                let key = *spelled.entry(request.specifier).or_insert(next);
                builder.edge(file, key, edge.kind, edge.resolution);
                replaced = true;
            }
            if !replaced {
                builder.edge(file, edge.target, edge.kind, edge.resolution);
                if let Some(used) = is_used.get_mut(edge.target as usize) {
                    *used = true;
                }
            }
        }
    }
    for (index, node) in graph.indices().zip(graph.nodes()) {
        if is_used.get(index as usize) == Some(&true) {
            builder.node(index, for_callers(node, describe));
        }
    }
    for (specifier, key) in spelled {
        builder.node(key, Node::bare(specifier.into(), NodeKind::Missing));
    }
    builder.finish().map(|built| built.graph).map_err(|error| HostError::internal(error.to_string()))
}

fn for_callers(node: &Node, describe: bool) -> Node {
    let is_known = matches!(node.language.as_str(), "ts" | "js" | "json" | "md");
    Node {
        language: if is_known { node.language } else { Language::Other },
        description: node.description.clone().filter(|_| describe),
        ..node.clone()
    }
}
