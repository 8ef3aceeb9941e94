//! One edited file: read, extracted and resolved again, with its targets looked up in the stored graph.

use rustc_hash::FxHashMap;
use stan_graph::Edge;
use stan_lang::Target;
use stan_model::{EdgeKind, FileFacts, NodeKind, Problem, Resolution};
use stan_repo::Stat;

use super::{IncrementalUpdate, by_file};
use crate::cache::{NodeIndex, RecordId};
use crate::graph::analyse::{Analysed, analyse};
use crate::graph::found_targets::FoundTargets;
use crate::graph::node_table::missing_id;
use crate::graph::stages::resolve::ThreadResolver;

/// A file whose contents differ from the earlier run's.
pub(super) struct Edit {
    pub(super) file: RecordId,
    pub(super) node: NodeIndex,
    pub(super) analysed: Analysed,
    pub(super) request_problems: Vec<Problem>,
    /// Explicit edges, to nodes by id.
    pub(super) edges: Vec<(NodeRef, EdgeKind)>,
    /// Implicit edges to the code behind declarations.
    pub(super) implementations: Vec<(NodeRef, EdgeKind)>,
    /// For each request the record that it resolves to.
    pub(super) targets: Vec<RecordId>,
}

/// Edges to code behind declarations, by file.
pub(super) type CodeEdges = FxHashMap<RecordId, Vec<(NodeRef, EdgeKind)>>;

/// A node of the earlier graph, or one that it does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum NodeRef {
    Old(NodeIndex),
    New(Box<str>, NodeKind),
}

impl IncrementalUpdate<'_> {
    /// Reads a file whose stat changed. Returns its current stat, and the edit if its contents changed. `None` if a full run is
    /// needed.
    pub(super) fn read_edit(&self, file: RecordId) -> Option<(Option<Stat>, Option<Edit>)> {
        let path = self.path(file);
        let is_own = self.is_own(file);
        let analysed = analyse(self.system, path, &self.options.display(path), is_own, self.options);
        let old = self.data.meta(file);
        if analysed.meta.is_some() && analysed.meta == old {
            return Some((analysed.stat, None));
        }
        // Files that cannot be read now, or could not be read before, are rare: leave them to a full run.
        if !is_own || analysed.meta.is_none() || old.is_none() {
            return None;
        }
        let node = self.data.node_of(file)?;
        let edit = Edit {
            file,
            node,
            analysed,
            request_problems: Vec::new(),
            edges: Vec::new(),
            implementations: Vec::new(),
            targets: Vec::new(),
        };
        Some((edit.analysed.stat, Some(edit)))
    }

    /// Resolves the requests of an edited file. `resolver` must use `targets` as its table. `records`: for each node the record
    /// of its file.
    pub(super) fn resolve_edit(
        &self,
        edit: &mut Edit,
        resolver: &mut ThreadResolver<'_>,
        targets: &FoundTargets<'_>,
        records: &[RecordId],
    ) -> Option<()> {
        let old = self.data.facts(edit.file);
        // Globs and links by name depend on all files of the repository, which only a full run knows.
        let is_local = |facts: &FileFacts| facts.globs.is_empty() && !facts.is_linked_by_name();
        if !old.iter().chain(edit.analysed.facts.as_deref()).all(is_local) {
            return None;
        }
        let Some(facts) = edit.analysed.facts.as_deref() else { return Some(()) };
        let path = self.path(edit.file);
        let (resolved, problems) = resolver.resolve_file(path, &self.options.display(path), facts);
        if !resolved.packages.is_empty() {
            return None;
        }
        edit.request_problems = problems;
        for (key, kind) in resolved.edges {
            edit.edges.push((self.node_ref(&targets.get(key)?)?, kind));
        }
        for (key, kind) in resolved.implementations {
            edit.implementations.push((self.node_ref(&targets.get(key)?)?, kind));
        }
        for key in resolved.targets {
            let record = match key.and_then(|key| targets.get(key)) {
                // A file that the earlier graph does not have would have to be read and analysed first.
                Some(Target::File(path)) => {
                    let node = self.data.find_node(&self.options.display(&path))?;
                    records.get(node.index()).copied().filter(|record| record.is_record())?
                }
                _ => RecordId::NONE,
            };
            edit.targets.push(record);
        }
        Some(())
    }

    /// The implicit edges that follow from resolution alone (to the code behind declarations, to packages), for affected files
    /// that were not edited. The cache does not store which implicit edges are of this sort, so files that may have any are
    /// resolved again.
    pub(super) fn code_behind_declarations(
        &self,
        edits: &[Edit],
        affected: &[RecordId],
        resolver: &mut ThreadResolver<'_>,
        targets: &FoundTargets<'_>,
    ) -> Option<CodeEdges> {
        let edited = by_file(edits);
        let mut found = CodeEdges::default();
        for file in affected.iter().filter(|file| !edited.contains_key(file)) {
            let old = self.data.edges(self.data.node_of(*file)?)?;
            let path = self.path(*file);
            let has_some = self.options.languages.has_implicit_imports(path);
            if !has_some && !old.iter().any(|edge| self.is_own_declaration(edge)) {
                continue;
            }
            let Some(facts) = self.data.facts(*file) else { continue };
            let (resolved, _) = resolver.resolve_file(path, &self.options.display(path), &facts);
            let mut edges = Vec::with_capacity(resolved.implementations.len());
            for (key, kind) in resolved.implementations {
                edges.push((self.node_ref(&targets.get(key)?)?, kind));
            }
            found.insert(*file, edges);
        }
        Some(found)
    }

    fn is_own_declaration(&self, edge: &Edge) -> bool {
        let target = NodeIndex(edge.target);
        edge.resolution == Resolution::Explicit
            && self.data.node_kind(target) == Some(NodeKind::Source)
            && self.data.node_id(target).is_some_and(|id| id.contains(".d."))
    }

    /// The node that an edge to this target points to; `None` for a file that the earlier graph does not have.
    fn node_ref(&self, target: &Target) -> Option<NodeRef> {
        match target {
            Target::File(path) => self.data.find_node(&self.options.display(path)).map(NodeRef::Old),
            Target::Builtin(id) => Some(self.reference(id, NodeKind::Builtin)),
            Target::Missing { id, .. } => {
                let taken = self.data.find_node(id).and_then(|node| self.data.node_kind(node));
                let is_file = matches!(taken, Some(NodeKind::Source | NodeKind::External));
                Some(self.reference(&missing_id(id, is_file), NodeKind::Missing))
            }
            Target::Files(_) | Target::Nothing => None,
        }
    }

    fn reference(&self, id: &str, kind: NodeKind) -> NodeRef {
        match self.data.find_node(id) {
            Some(node) => NodeRef::Old(node),
            None => NodeRef::New(id.into(), kind),
        }
    }
}
