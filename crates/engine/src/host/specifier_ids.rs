//! Rewrites the graph for callers of stan-context 0.6: the id of a missing module is the specifier as written, languages that it
//! does not know are `other`, and package files have descriptions too. Everything else is unchanged.

use std::collections::BTreeMap;
use std::path::Path;

use stan_graph::{Graph, GraphBuilder, Node};
use stan_lang::SourceFile;
use stan_model::{Language, NodeKind};
use stan_repo::{System, SystemExt as _};

use super::HostError;
use crate::graph::GraphOptions;
use crate::graph::detail::DetailedGraph;
use crate::graph::missing::is_relative;
use crate::outline::absolute;

/// Larger package files are not described.
const MAX_DESCRIBED_BYTES: u64 = 1 << 20;

/// `describe`: include descriptions.
pub(super) fn rewritten(
    system: &dyn System,
    detailed: &DetailedGraph,
    options: &GraphOptions,
    describe: bool,
) -> Result<Graph, HostError> {
    let graph = &detailed.graph;
    let mut builder = GraphBuilder::with_capacity(graph.node_count(), graph.edge_count());
    let mut spelled: BTreeMap<&str, u32> = BTreeMap::new();
    // A missing node is kept while an edge still points to it.
    let mut is_used: Vec<bool> = graph.nodes().iter().map(|node| node.kind != NodeKind::Missing).collect();
    for file in graph.indices() {
        let missing = detailed.missing_requests(file);
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
            let description = if describe { description(system, options, node) } else { None };
            builder.node(index, Node { language: known_language(node), description, ..node.clone() });
        }
    }
    for (specifier, key) in spelled {
        builder.node(key, Node::bare(specifier.into(), NodeKind::Missing));
    }
    finished(builder)
}

/// A copy of the graph without descriptions.
pub(super) fn without_descriptions(graph: &Graph) -> Result<Graph, HostError> {
    let mut builder = GraphBuilder::with_capacity(graph.node_count(), graph.edge_count());
    for index in graph.indices() {
        builder.node(index, Node { description: None, ..graph.node(index).clone() });
        graph.edges(index).iter().for_each(|edge| builder.edge(index, edge.target, edge.kind, edge.resolution));
    }
    finished(builder)
}

fn finished(builder: GraphBuilder) -> Result<Graph, HostError> {
    builder.finish().map(|built| built.graph).map_err(|error| HostError::internal(error.to_string()))
}

fn known_language(node: &Node) -> Language {
    let is_known = matches!(node.language.as_str(), "ts" | "js" | "json" | "md");
    if is_known { node.language } else { Language::Other }
}

/// The description in the graph, or the one at the start of a package file.
fn description(system: &dyn System, options: &GraphOptions, node: &Node) -> Option<Box<str>> {
    if node.description.is_some() || node.kind != NodeKind::External || !options.languages.claim(&node.id) {
        return node.description.clone();
    }
    let mut bytes = Vec::new();
    system.read_real(Path::new(&absolute(&options.root, &node.id)), MAX_DESCRIBED_BYTES, &mut bytes).ok()?;
    options.languages.describe(SourceFile { name: &node.id, bytes: &bytes }, &options.extract)
}
