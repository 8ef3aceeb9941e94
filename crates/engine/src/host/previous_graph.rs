//! Compares an earlier result of the host with the current one: how many files must be analysed again, and which nodes of the
//! earlier graph are incomplete. Never affects the graph, which is always computed from the current files.

use std::collections::{BTreeMap, BTreeSet};

use stan_graph::Graph;
use stan_lang::Languages;
use stan_model::NodeKind;

use super::loose_graph::{LooseGraph, LooseNode};

/// The earlier graph compared with the current one.
pub(super) struct Comparison<'p> {
    /// The number of source files that changed or depend on a change.
    pub(super) dirty: usize,
    /// Nodes with a hash but no size that unchanged files depend on; sorted.
    pub(super) without_size: Vec<&'p str>,
}

pub(super) fn compare<'p>(previous: &'p LooseGraph, graph: &Graph, languages: Languages) -> Comparison<'p> {
    let dirty = dependents(previous, changed(previous, graph));
    let sources = graph.nodes().iter().filter(|node| node.kind == NodeKind::Source && languages.claim(&node.id));
    let (mut count, mut without_size) = (0, BTreeSet::new());
    for node in sources {
        if dirty.contains(&*node.id) {
            count += 1;
            continue;
        }
        let targets = previous.edges_of(&node.id).iter().map(|edge| edge.target.as_str());
        without_size.extend(targets.filter(|id| {
            let is_source = graph.find(id).is_some_and(|index| graph.node(index).kind == NodeKind::Source);
            !is_source && previous.nodes.get(*id).is_some_and(LooseNode::has_hash_without_size)
        }));
    }
    Comparison { dirty: count, without_size: without_size.into_iter().collect() }
}

/// Files whose contents differ from the earlier graph: new, changed or deleted.
fn changed<'p>(previous: &'p LooseGraph, graph: &'p Graph) -> BTreeSet<&'p str> {
    let mut changed = BTreeSet::new();
    for node in graph.nodes() {
        let Some(file) = node.file else { continue };
        let hash = previous.nodes.get(&*node.id).and_then(LooseNode::hash);
        if hash != Some(file.digest.to_string().as_str()) {
            changed.insert(&*node.id);
        }
    }
    let was_source = |node: &LooseNode| node.kind == NodeKind::Source;
    let gone = previous.nodes.iter().filter(|(id, node)| was_source(node) && graph.find(id).is_none());
    changed.extend(gone.map(|(id, _)| id.as_str()));
    changed
}

/// These ids and their transitive dependents.
fn dependents<'p>(previous: &'p LooseGraph, start: BTreeSet<&'p str>) -> BTreeSet<&'p str> {
    let mut importers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (source, edges) in &previous.edges {
        edges.iter().for_each(|edge| importers.entry(&edge.target).or_default().push(source));
    }
    let mut pending: Vec<&str> = start.iter().copied().collect();
    let mut found = start;
    while let Some(id) = pending.pop() {
        for importer in importers.get(id).into_iter().flatten() {
            if found.insert(importer) {
                pending.push(importer);
            }
        }
    }
    found
}
