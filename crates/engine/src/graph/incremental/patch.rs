//! Applies edits to the graph: replaces edges, adds nodes, removes nodes that lost their last edge.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use stan_graph::{Edge, Graph, GraphBuilder, Node};
use stan_model::{EdgeKind, Language, NodeKind, Problem, Resolution, error_lines};

use super::edit::{CodeEdges, Edit, NodeRef};
use super::modules::ImplicitEdges;
use super::{IncrementalUpdate, by_file};
use crate::cache::{NodeIndex, RecordId};
use crate::graph::node_table::missing_id;
use crate::graph::{CacheUse, GraphOutcome, GraphRequest};

/// An edge of a patched node. The order of the fields is the sort order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NewEdge {
    to: NodeRef,
    kind: EdgeKind,
    resolution: Resolution,
}

/// Changes of the graph, by node of the earlier one.
#[derive(Default)]
pub(super) struct Patch {
    edges: BTreeMap<NodeIndex, Vec<NewEdge>>,
    removed: BTreeSet<NodeIndex>,
}

impl Patch {
    /// Nodes that the earlier graph does not have; one may occur more than once.
    fn added(&self) -> impl Iterator<Item = (&Box<str>, NodeKind)> {
        self.edges.values().flatten().filter_map(|edge| match &edge.to {
            NodeRef::New(id, kind) => Some((id, *kind)),
            NodeRef::Old(_) => None,
        })
    }
}

impl IncrementalUpdate<'_> {
    pub(super) fn patch(
        &self,
        edits: &[Edit],
        affected: &[RecordId],
        implicit: &ImplicitEdges,
        code: &CodeEdges,
    ) -> Option<Patch> {
        // With `externalDepth`, externals have edges, and removing one may remove a chain of others.
        if self.options.external_depth > 0 && !edits.is_empty() {
            return None;
        }
        let mut patch = Patch::default();
        let edited = by_file(edits);
        // Lost minus gained edges of each node. Only a node that lost more than it gained can have lost its last one, so only
        // those need their in-degree, which takes a scan of all edges.
        let mut lost: FxHashMap<NodeIndex, i64> = FxHashMap::default();
        for file in affected {
            let node = self.data.node_of(*file)?;
            let old = self.data.edges(node)?;
            let edit = edited.get(file).copied();
            let code = edit.map(|edit| &edit.implementations).or_else(|| code.get(file));
            let new = self.new_edges(&old, edit, implicit.get(file)?, code.map_or(&[][..], |code| code))?;
            for edge in &old {
                *lost.entry(NodeIndex(edge.target)).or_default() += 1;
            }
            for edge in &new {
                if let NodeRef::Old(target) = &edge.to {
                    *lost.entry(*target).or_default() -= 1;
                }
            }
            patch.edges.insert(node, new);
        }
        for (node, lost) in lost.into_iter().filter(|(_, lost)| *lost > 0) {
            if self.is_removed(node, lost, &patch)? {
                patch.removed.insert(node);
            }
        }
        Some(patch)
    }

    /// The current edges of an affected file, sorted and unique.
    fn new_edges(
        &self,
        old: &[Edge],
        edit: Option<&Edit>,
        implicit: &[(RecordId, EdgeKind)],
        code: &[(NodeRef, EdgeKind)],
    ) -> Option<Vec<NewEdge>> {
        let edge_to =
            |resolution| move |(to, kind): &(NodeRef, EdgeKind)| NewEdge { to: to.clone(), kind: *kind, resolution };
        let mut new: Vec<NewEdge> = match edit {
            Some(edit) => edit.edges.iter().map(edge_to(Resolution::Explicit)).collect(),
            None => old
                .iter()
                .filter(|edge| edge.resolution == Resolution::Explicit)
                .map(|edge| NewEdge {
                    to: NodeRef::Old(NodeIndex(edge.target)),
                    kind: edge.kind,
                    resolution: edge.resolution,
                })
                .collect(),
        };
        new.extend(code.iter().map(edge_to(Resolution::Implicit)));
        for (definer, kind) in implicit {
            // A definer that is not a node yet would become one, which only a full run can add.
            let to = NodeRef::Old(self.data.node_of(*definer)?);
            new.push(NewEdge { to, kind: *kind, resolution: Resolution::Implicit });
        }
        new.sort_unstable();
        new.dedup();
        Some(new)
    }

    /// Whether a node that lost edges is removed with them; `None` when only a full run can decide.
    fn is_removed(&self, node: NodeIndex, lost: i64, patch: &Patch) -> Option<bool> {
        let kind = self.data.node_kind(node)?;
        match kind {
            // Files of the universe are always nodes. An ignored file is one only while it is reachable from the universe;
            // deciding that takes a walk, because ignored files may import each other.
            NodeKind::Source if self.is_universe_node(node) => return Some(false),
            NodeKind::Source => return None,
            NodeKind::External | NodeKind::Builtin | NodeKind::Missing => {}
        }
        if i64::try_from(self.data.edges_to(node)).ok()? > lost {
            return Some(false);
        }
        // Without this file, a missing module of the same spelling would lose its prefix (see `missing_id`).
        if kind == NodeKind::External {
            let namesake = missing_id(self.data.node_id(node)?, true);
            if self.data.find_node(&namesake).is_some() || patch.added().any(|(id, _)| **id == *namesake) {
                return None;
            }
        }
        Some(true)
    }

    fn is_universe_node(&self, node: NodeIndex) -> bool {
        let file = self.data.records().find(|file| self.data.node_of(*file) == Some(node));
        file.is_some_and(|file| self.data.is_in_universe(file))
    }

    pub(super) fn outcome(&self, edits: &[Edit], patch: &Patch, request: &GraphRequest) -> Option<GraphOutcome> {
        let mut summary = self.index.answer.summary.clone();
        for (node, new) in &patch.edges {
            for edge in self.data.edges(*node)? {
                summary.remove_edge(edge.kind, edge.resolution);
            }
            for edge in new {
                summary.add_edge(edge.kind, edge.resolution);
            }
        }
        for node in &patch.removed {
            summary.remove_node(self.data.node_kind(*node)?, self.data.node_id(*node)?);
        }
        let mut added: Vec<(&Box<str>, NodeKind)> = patch.added().collect();
        added.sort_unstable();
        added.dedup();
        added.iter().for_each(|(id, kind)| summary.add_node(*kind, id));
        let mut dirty = self.index.answer.dirty;
        for edit in edits {
            dirty = dirty.saturating_sub(usize::from(self.data.is_incomplete(edit.file)));
            dirty += usize::from(edit.analysed.incomplete);
        }
        let errors = error_lines(&self.problems(edits)?, self.options.max_errors);
        let graph = if request.stats_only { None } else { Some(self.patched(edits, patch)?) };
        Some(GraphOutcome { graph, summary, dirty, errors, work: CacheUse::Edited(edits.len()) })
    }

    fn problems(&self, edits: &[Edit]) -> Option<Vec<Problem>> {
        let edited: FxHashSet<RecordId> = edits.iter().map(|edit| edit.file).collect();
        let mut problems = self.data.general_problems()?;
        for file in self.data.records().filter(|file| !edited.contains(file)) {
            let (text, requests) = self.data.problems(file)?;
            problems.extend(text);
            problems.extend(requests);
        }
        for edit in edits {
            problems.extend(edit.analysed.problems.iter().cloned());
            problems.extend(edit.request_problems.iter().cloned());
        }
        Some(problems)
    }

    /// The whole graph. New nodes get keys after those of the earlier graph.
    fn patched(&self, edits: &[Edit], patch: &Patch) -> Option<Graph> {
        let old = self.data.graph()?;
        let by_node: FxHashMap<NodeIndex, &Edit> = edits.iter().map(|edit| (edit.node, edit)).collect();
        let mut builder = GraphBuilder::with_capacity(old.node_count(), old.edge_count());
        let mut added: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut next = u32::try_from(old.node_count()).ok()?;
        for (id, kind) in patch.added() {
            if !added.contains_key(id) {
                added.insert(id.clone(), next);
                builder.node(next, Node::bare(id.clone(), kind));
                next += 1;
            }
        }
        for index in old.indices().filter(|index| !patch.removed.contains(&NodeIndex(*index))) {
            let mut node = old.node(index).clone();
            if let Some(edit) = by_node.get(&NodeIndex(index)) {
                node.file = edit.analysed.meta;
                node.description = edit.analysed.description().map(Into::into);
                node.language = Language::of_path(&node.id);
            }
            builder.node(index, node);
            match patch.edges.get(&NodeIndex(index)) {
                Some(edges) => {
                    for NewEdge { to, kind, resolution } in edges {
                        let target = match to {
                            NodeRef::Old(target) => target.0,
                            NodeRef::New(id, _) => *added.get(id)?,
                        };
                        builder.edge(index, target, *kind, *resolution);
                    }
                }
                None => {
                    for Edge { target, kind, resolution } in old.edges(index) {
                        builder.edge(index, *target, *kind, *resolution);
                    }
                }
            }
        }
        Some(builder.finish().ok()?.graph)
    }
}
