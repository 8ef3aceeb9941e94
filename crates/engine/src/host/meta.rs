//! Writes a graph as the compact map of stan-context 0.6: version 2, edges inside their nodes, no hashes. stan's own map has
//! hashes and canonical ids (`stan_graph::Map`); a host that requests this form checks integrity elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stan_model::document::state::kind_bit;
use stan_model::{NodeKind, Resolution};

use super::loose_graph::{LooseGraph, LooseNode};
use super::{HostError, read, written};

#[derive(Deserialize)]
struct MetaOptions {
    graph: LooseGraph,
}

#[derive(Serialize)]
struct Meta<'g> {
    v: u8,
    n: BTreeMap<&'g str, MetaNode<'g>>,
}

#[derive(Serialize)]
struct MetaNode<'g> {
    k: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<&'g str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    e: Vec<Value>,
}

pub(super) fn run(options: &str) -> Result<String, HostError> {
    let MetaOptions { graph } = read(options)?;
    let n = graph.nodes.iter().map(|(id, record)| (id.as_str(), node(&graph, id, record))).collect();
    written(&Meta { v: 2, n })
}

fn node<'g>(graph: &LooseGraph, id: &str, node: &'g LooseNode) -> MetaNode<'g> {
    let k = match node.kind {
        NodeKind::Source => 0,
        NodeKind::External => 1,
        NodeKind::Builtin => 2,
        NodeKind::Missing => 3,
    };
    MetaNode { k, s: node.size(), d: node.description(), e: edges(graph, id) }
}

/// One edge per target, sorted: its kinds, and its resolutions unless they are only explicit.
fn edges(graph: &LooseGraph, id: &str) -> Vec<Value> {
    let mut masks: BTreeMap<&str, (u8, u8)> = BTreeMap::new();
    for edge in graph.edges_of(id) {
        let (kinds, resolutions) = masks.entry(&edge.target).or_default();
        *kinds |= kind_bit(edge.kind.as_str()).unwrap_or_default();
        *resolutions |= if edge.resolution == Resolution::Explicit { 1 } else { 2 };
    }
    let edge = |(target, (kinds, resolutions)): (&str, (u8, u8))| match resolutions {
        1 => json!([target, kinds]),
        _ => json!([target, kinds, resolutions]),
    };
    masks.into_iter().map(edge).collect()
}
