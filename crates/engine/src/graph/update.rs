//! The warm run: the earlier answer, kept where nothing changed and mended where single files were edited.
//!
//! Mending is for the common case only: contents of the repository's own files changed and nothing else did, no
//! listing, no manifest, no configuration. Anything more means that everything is resolved anew. The cache is not
//! rewritten after mending, so the next run mends again: a few files cost little, and many are not mended at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use stan_graph::{Edge, FileKey, Graph, GraphBuilder, Module, Modules, Node, Tunneller};
use stan_lang::typescript::resolve::{LazyWorkspaces, Resolver, Target};
use stan_lang::typescript::tsconfig::Configs;
use stan_lang::typescript::workspaces::Workspaces;
use stan_model::FileFacts;
use stan_model::{Language, NodeKind, Problem, Resolution, error_lines};
use stan_repo::{Reach, System, World, relative_path};

use super::analyse::{Analysed, analyse};
use super::changed_names::ChangedNames;
use super::record::facts_print;
use super::refused::Refused;
use super::{GraphOptions, GraphOutcome, GraphRequest, IsEnough, Work, leave};
use crate::cache::data::{CONTENTS, Contents, Data, METAS, NONE, RECORDS, SHAPE, UNKNOWN, u32_pairs};
use crate::cache::{Cache, ContentsOnDisk, Index};

/// More changed files than this are not mended.
const MAX_EDITS: usize = 64;
/// More files whose implicit edges may have changed than this are not mended.
const MAX_AFFECTED: usize = 50_000;

pub(crate) enum Verdict {
    Answer(Box<GraphOutcome>),
    /// The earlier answer does not hold; its facts may still help.
    Stale,
}

/// The earlier answer, if it still holds or can be mended; `None` when the cache is of no use at all.
pub(super) fn answer(
    system: &dyn System,
    options: &GraphOptions,
    request: &GraphRequest,
    (cache, index): (&Cache<'_>, &Index),
    is_enough: &IsEnough<'_>,
) -> Option<Verdict> {
    let (world_changed, changed) = rayon::join(
        || !index.observations.changes(system, index.observed_at).is_empty(),
        || index.files.changed(system),
    );
    let is_unchanged = !world_changed && changed.is_empty();
    if is_unchanged && (request.figures_only || is_enough(cache, index.identity())) {
        return Some(Verdict::Answer(Box::new(unchanged(index, None))));
    }
    if !world_changed && request.figures_only && keeps_figures(system, options, index, &changed) {
        let outcome = GraphOutcome { work: Work::Edited(changed.len()), ..unchanged(index, None) };
        return Some(Verdict::Answer(Box::new(outcome)));
    }
    if is_unchanged {
        return Some(Verdict::Answer(Box::new(unchanged(index, Some(cache.load_graph(index)?)))));
    }
    if world_changed || changed.len() > MAX_EDITS {
        return Some(Verdict::Stale);
    }
    // Figures need no digests, and mending looks at the contents of few files.
    let first = if request.figures_only { SHAPE } else { METAS };
    let loaded = cache.load(index, first..CONTENTS)?;
    let contents = ContentsOnDisk::new(cache, index);
    let [metas, shape, records] = [METAS, SHAPE, RECORDS].map(|part| loaded.part(part));
    let data = Data::decode(metas, shape, records, Contents::OnDemand(&contents))?;
    if data.len() != index.files.len() {
        return None;
    }
    let mending = Mending { system, options, index, data: &data };
    let outcome = mending.mend(&changed, request);
    leave((loaded, contents), request.leaves_memory);
    Some(outcome.map_or(Verdict::Stale, |outcome| Verdict::Answer(Box::new(outcome))))
}

fn unchanged(index: &Index, graph: Option<Graph>) -> GraphOutcome {
    GraphOutcome {
        graph,
        summary: index.answer.summary.clone(),
        dirty: index.answer.dirty,
        errors: index.answer.errors.clone(),
        work: Work::Unchanged,
    }
}

/// Whether the changed files ask for, take and offer what they did, so that only texts differ.
fn keeps_figures(system: &dyn System, options: &GraphOptions, index: &Index, changed: &[u32]) -> bool {
    changed.len() <= MAX_EDITS
        && changed.iter().all(|&file| {
            let Some(print) = index.facts.get(file as usize) else { return false };
            let path = index.files.path(file as usize);
            let display = relative_path(&options.root, path);
            let now = analyse(system, path, &display, true, &options.extract);
            now.meta.is_some()
                && now.problems.is_empty()
                && !now.incomplete
                && now.facts.as_deref().map_or(0, facts_print) == print
        })
}

/// A file whose contents differ from the earlier run's.
struct Edit {
    file: u32,
    node: u32,
    analysed: Analysed,
    request_problems: Vec<Problem>,
    /// Explicit edges, to nodes by id.
    edges: Vec<(NodeRef, stan_model::EdgeKind)>,
    /// For each request the record that it leads to.
    targets: Vec<u32>,
}

/// A node of the earlier graph, or one that it does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum NodeRef {
    Old(u32),
    New(Box<str>, NodeKind),
}

struct Mending<'m> {
    system: &'m dyn System,
    options: &'m GraphOptions,
    index: &'m Index,
    data: &'m Data<'m>,
}

impl Mending<'_> {
    /// `None` when the change is more than edits of known files.
    fn mend(&self, changed: &[u32], request: &GraphRequest) -> Option<GraphOutcome> {
        let mut edits = Vec::new();
        for &file in changed {
            edits.extend(self.edit(file)?);
        }
        if edits.is_empty() {
            let graph = if request.figures_only { None } else { Some(self.data.graph()?) };
            return Some(unchanged(self.index, graph));
        }
        let root = &*self.options.root;
        let reach = self.options.reach(self.system);
        let world = World::new(self.system, root, None).probing_first().within(reach.clone());
        let configs = Configs::new(&world, root);
        let read = || Workspaces::find(&world, root, self.universe()).0;
        let workspaces = LazyWorkspaces::on_demand(&read);
        let resolver = Resolver::new(&world, root, &configs, &workspaces, self.options.resolve)
            .hiding(&self.options.stan_folder());
        let records = self.records_by_node();
        for edit in &mut edits {
            self.resolve(edit, &resolver, &records)?;
        }
        let affected = self.affected(&edits)?;
        let implicit = self.tunnel(&edits, &affected, (&resolver, &reach))?;
        let patch = self.patch(&edits, &affected, &implicit)?;
        self.outcome(&edits, &patch, request)
    }

    fn display(&self, path: &str) -> String {
        relative_path(&self.options.root, path)
    }

    fn is_own(&self, file: usize) -> bool {
        let node = self.data.nodes.get(file).unwrap_or(NONE);
        self.data.is_in_universe(file) || self.data.node_kind(node) == Some(NodeKind::Source)
    }

    /// Reads a file whose stat changed. `Some(None)`: its contents are the same.
    #[expect(clippy::option_option, reason = "cannot mend, nothing to mend, mend this: three outcomes")]
    fn edit(&self, file: u32) -> Option<Option<Edit>> {
        let at = file as usize;
        let path = self.index.files.path(at);
        let is_own = self.is_own(at);
        let analysed = analyse(self.system, path, &self.display(path), is_own, &self.options.extract);
        if analysed.meta.is_some() && analysed.meta == self.data.meta(at) {
            return Some(None);
        }
        // Files that cannot be read any more, or could not be before, are rare enough for a whole run.
        if !is_own || analysed.meta.is_none() || self.data.meta(at).is_none() {
            return None;
        }
        let node = self.data.nodes.get(at).filter(|node| *node != NONE)?;
        Some(Some(Edit { file, node, analysed, request_problems: Vec::new(), edges: Vec::new(), targets: Vec::new() }))
    }

    fn universe(&self) -> impl Iterator<Item = &str> {
        let root = self.options.root.trim_end_matches('/');
        let files = (0..self.data.len()).take_while(|file| self.data.is_in_universe(*file));
        files.filter_map(move |file| self.index.files.path(file).strip_prefix(root)?.strip_prefix('/'))
    }

    /// For each node the record of its file, or `NONE`.
    fn records_by_node(&self) -> Vec<u32> {
        let mut records = vec![NONE; self.data.node_count()];
        for (node, record) in self.data.nodes.iter().zip(0..) {
            if let Some(place) = records.get_mut(node as usize) {
                *place = record;
            }
        }
        records
    }

    fn resolve(&self, edit: &mut Edit, resolver: &Resolver<'_>, records: &[u32]) -> Option<()> {
        let Some(facts) = edit.analysed.facts.as_deref() else { return Some(()) };
        let path = self.index.files.path(edit.file as usize);
        let display = self.display(path);
        let importer = resolver.importer(path);
        let mut refused = Refused::default();
        // Patterns are matched against the whole universe: leave that to a whole run.
        if !facts.globs.is_empty() || self.data.facts(edit.file as usize).is_some_and(|old| !old.globs.is_empty()) {
            return None;
        }
        for request in &facts.requests {
            let target = resolver.resolve(&importer, request);
            let mut record = NONE;
            let reference = match &target {
                Target::Nothing => None,
                Target::File(path) => {
                    // A file that the earlier graph does not have must be read and analysed first.
                    let node = self.data.find_node(&self.display(path))?;
                    record = records.get(node as usize).copied().filter(|record| *record != NONE)?;
                    Some(NodeRef::Old(node))
                }
                Target::Builtin(id) => Some(self.reference(id, NodeKind::Builtin)),
                Target::Missing { id, problem } => {
                    if let Some(problem) = problem {
                        edit.request_problems.extend(refused.take(request, problem.clone(), &display));
                    }
                    Some(self.missing_reference(id))
                }
            };
            edit.targets.push(record);
            edit.edges.extend(reference.map(|reference| (reference, request.kind)));
        }
        edit.request_problems.extend(refused.problem(&display));
        Some(())
    }

    fn reference(&self, id: &str, kind: NodeKind) -> NodeRef {
        match self.data.find_node(id) {
            Some(node) => NodeRef::Old(node),
            None => NodeRef::New(id.into(), kind),
        }
    }

    fn missing_reference(&self, id: &str) -> NodeRef {
        let taken = self.data.find_node(id).and_then(|node| self.data.node_kind(node));
        match taken {
            Some(NodeKind::Source | NodeKind::External) => self.reference(&format!("missing:{id}"), NodeKind::Missing),
            _ => self.reference(id, NodeKind::Missing),
        }
    }

    /// The files whose implicit edges may have changed: the edited ones, and those that take a name whose way to its
    /// definers leads through a change.
    fn affected(&self, edits: &[Edit]) -> Option<Vec<u32>> {
        let mut affected: BTreeSet<u32> = edits.iter().map(|edit| edit.file).collect();
        let changes = self.changed_names(edits)?;
        if !changes.is_empty() {
            for file in (0..self.data.len()).filter(|file| self.is_own(*file)) {
                let concerns = |(target, name): (u32, u32)| changes.get(&target).is_some_and(|names| names.has(name));
                if u32_pairs(self.data.takes.get(file)?).any(concerns) {
                    affected.insert(u32::try_from(file).ok()?);
                }
            }
        }
        (affected.len() <= MAX_AFFECTED).then(|| affected.into_iter().collect())
    }

    /// For each file the names that may lead elsewhere now, also through others that pass them on.
    fn changed_names(&self, edits: &[Edit]) -> Option<FxHashMap<u32, ChangedNames>> {
        let mut changes: FxHashMap<u32, ChangedNames> = FxHashMap::default();
        for edit in edits {
            let old = self.data.facts(edit.file as usize);
            let old_targets = self.data.targets(edit.file as usize)?;
            let old = old.as_ref().map(|facts| (facts, &*old_targets));
            let names = ChangedNames::between(old, edit.analysed.facts.as_deref().map(|facts| (facts, &*edit.targets)));
            if !names.is_empty() {
                changes.insert(edit.file, names);
            }
        }
        let by_file: FxHashMap<u32, &Edit> = edits.iter().map(|edit| (edit.file, edit)).collect();
        let mut grows = !changes.is_empty();
        while grows {
            grows = false;
            for file in 0..self.data.len() {
                let passes = self.data.passes.get(file)?;
                let concerns =
                    |(target, name): (u32, u32)| changes.get(&target).is_some_and(|names| names.concern(name));
                if !u32_pairs(passes).any(concerns) {
                    continue;
                }
                let key = u32::try_from(file).ok()?;
                let passed = match by_file.get(&key) {
                    Some(edit) => edit
                        .analysed
                        .facts
                        .as_deref()
                        .map(|facts| ChangedNames::passed_on(facts, &edit.targets, &changes)),
                    None => {
                        let facts = self.data.facts(file)?;
                        Some(ChangedNames::passed_on(&facts, &self.data.targets(file)?, &changes))
                    }
                };
                if let Some(passed) = passed.filter(|passed| !passed.is_empty()) {
                    grows |= changes.entry(key).or_default().add(passed);
                }
            }
        }
        Some(changes)
    }

    /// Implicit edges of the affected files, by record.
    fn tunnel(
        &self,
        edits: &[Edit],
        affected: &[u32],
        (resolver, reach): (&Resolver<'_>, &Reach),
    ) -> Option<FxHashMap<u32, Vec<(FileKey, stan_model::EdgeKind)>>> {
        let modules = Overlay {
            mending: self,
            edits: edits.iter().map(|edit| (edit.file, (edit, keys(&edit.targets)))).collect(),
            loaded: (0..self.data.len()).map(|_| OnceLock::new()).collect(),
            resolver,
            reach,
            left: AtomicBool::new(false),
        };
        let tunneller = Tunneller::new(&modules);
        let edges = affected.par_iter().map(|file| (*file, tunneller.implicit_edges(FileKey(*file)).edges)).collect();
        (!modules.left.load(Ordering::Relaxed) && !tunneller.is_crowded()).then_some(edges)
    }

    /// What becomes of the graph.
    fn patch(
        &self,
        edits: &[Edit],
        affected: &[u32],
        implicit: &FxHashMap<u32, Vec<(FileKey, stan_model::EdgeKind)>>,
    ) -> Option<Patch> {
        let mut patch = Patch::default();
        let by_file: FxHashMap<u32, &Edit> = edits.iter().map(|edit| (edit.file, edit)).collect();
        let mut lost: FxHashMap<u32, i64> = FxHashMap::default();
        for file in affected {
            let node = self.data.nodes.get(*file as usize).filter(|node| *node != NONE)?;
            let old = self.data.edges(node)?;
            let mut new: Vec<(NodeRef, stan_model::EdgeKind, Resolution)> = match by_file.get(file) {
                Some(edit) => edit.edges.iter().map(|(to, kind)| (to.clone(), *kind, Resolution::Explicit)).collect(),
                None => old
                    .iter()
                    .filter(|edge| edge.resolution == Resolution::Explicit)
                    .map(|edge| (NodeRef::Old(edge.target), edge.kind, edge.resolution))
                    .collect(),
            };
            for (definer, kind) in implicit.get(file)? {
                // A definer that is no node yet must be read first.
                let target = self.data.nodes.get(definer.0 as usize).filter(|node| *node != NONE)?;
                new.push((NodeRef::Old(target), *kind, Resolution::Implicit));
            }
            new.sort_unstable();
            new.dedup();
            for edge in &old {
                *lost.entry(edge.target).or_default() += 1;
            }
            for (to, ..) in &new {
                if let NodeRef::Old(target) = to {
                    *lost.entry(*target).or_default() -= 1;
                }
            }
            patch.edges.insert(node, new);
        }
        for (node, lost) in lost.into_iter().filter(|(_, lost)| *lost > 0) {
            let kind = self.data.node_kind(node)?;
            match kind {
                // Files of the universe stay. An ignored one goes with its last importer that stays, and who that is
                // takes a walk to tell: ignored files may import each other.
                NodeKind::Source if self.is_universe_node(node) => continue,
                NodeKind::Source => return None,
                NodeKind::External | NodeKind::Builtin | NodeKind::Missing => {}
            }
            if i64::try_from(self.data.edges_to(node)).ok()? > lost {
                continue;
            }
            // When a file goes, a missing module that is spelled like it gets its plain name back.
            if kind == NodeKind::External {
                let namesake = format!("missing:{}", self.data.node_id(node)?);
                if self.data.find_node(&namesake).is_some() || patch.added().any(|(id, _)| **id == *namesake) {
                    return None;
                }
            }
            patch.removed.insert(node);
        }
        // An external with edges of its own takes its neighbours along when it goes.
        if self.options.external_depth > 0 && (!patch.removed.is_empty() || !edits.is_empty()) {
            return None;
        }
        Some(patch)
    }

    fn is_universe_node(&self, node: u32) -> bool {
        let file = self.data.nodes.iter().position(|candidate| candidate == node);
        file.is_some_and(|file| self.data.is_in_universe(file))
    }

    fn outcome(&self, edits: &[Edit], patch: &Patch, request: &GraphRequest) -> Option<GraphOutcome> {
        let mut summary = self.index.answer.summary.clone();
        for (node, new) in &patch.edges {
            for edge in self.data.edges(*node)? {
                summary.remove_edge(edge.kind, edge.resolution);
            }
            for (_, kind, resolution) in new {
                summary.add_edge(*kind, *resolution);
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
            dirty = dirty.saturating_sub(usize::from(self.data.is_incomplete(edit.file as usize)));
            dirty += usize::from(edit.analysed.incomplete);
        }
        let errors = error_lines(&self.problems(edits)?, self.options.max_errors);
        let graph = if request.figures_only { None } else { Some(self.patched(edits, patch)?) };
        Some(GraphOutcome { graph, summary, dirty, errors, work: Work::Edited(edits.len()) })
    }

    fn problems(&self, edits: &[Edit]) -> Option<Vec<Problem>> {
        let edited: FxHashSet<usize> = edits.iter().map(|edit| edit.file as usize).collect();
        let mut problems = self.data.general_problems()?;
        for file in (0..self.data.len()).filter(|file| !edited.contains(file)) {
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

    fn patched(&self, edits: &[Edit], patch: &Patch) -> Option<Graph> {
        let old = self.data.graph()?;
        let by_node: FxHashMap<u32, &Edit> = edits.iter().map(|edit| (edit.node, edit)).collect();
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
        for index in old.indices().filter(|index| !patch.removed.contains(index)) {
            let mut node = old.node(index).clone();
            if let Some(edit) = by_node.get(&index) {
                node.file = edit.analysed.meta;
                node.description = edit.analysed.facts.as_ref().and_then(|facts| facts.description.clone());
                node.language = Language::of_path(&node.id);
            }
            builder.node(index, node);
            match patch.edges.get(&index) {
                Some(edges) => {
                    for (to, kind, resolution) in edges {
                        let target = match to {
                            NodeRef::Old(target) => *target,
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

/// Changes of the graph, by node of the earlier one.
#[derive(Default)]
struct Patch {
    edges: BTreeMap<u32, Vec<(NodeRef, stan_model::EdgeKind, Resolution)>>,
    removed: BTreeSet<u32>,
}

impl Patch {
    /// Nodes that the earlier graph does not have; one may occur more than once.
    fn added(&self) -> impl Iterator<Item = (&Box<str>, NodeKind)> {
        self.edges.values().flatten().filter_map(|(to, ..)| match to {
            NodeRef::New(id, kind) => Some((id, *kind)),
            NodeRef::Old(_) => None,
        })
    }
}

fn keys(targets: &[u32]) -> Vec<Option<FileKey>> {
    targets.iter().map(|target| (*target != NONE).then_some(FileKey(*target))).collect()
}

type Stored = Option<(FileFacts, Vec<Option<FileKey>>)>;

/// The modules of the earlier run with the edited ones in their new form.
struct Overlay<'m> {
    mending: &'m Mending<'m>,
    edits: FxHashMap<u32, (&'m Edit, Vec<Option<FileKey>>)>,
    loaded: Vec<OnceLock<Box<Stored>>>,
    resolver: &'m Resolver<'m>,
    reach: &'m Reach,
    /// Set when the walk left the files that the earlier run knew.
    left: AtomicBool,
}

impl Overlay<'_> {
    fn is_external(&self, file: FileKey) -> bool {
        !self.mending.is_own(file.0 as usize)
    }
}

impl Modules for Overlay<'_> {
    fn module(&self, file: FileKey) -> Option<Module<'_>> {
        if let Some((edit, targets)) = self.edits.get(&file.0) {
            return Some(Module { facts: edit.analysed.facts.as_deref()?, targets });
        }
        let at = file.0 as usize;
        let Some(slot) = self.loaded.get(at) else {
            self.left.store(true, Ordering::Relaxed);
            return None;
        };
        let data = self.mending.data;
        if !data.has_facts(at) {
            // An external that was only hashed may well have exports.
            let path = self.mending.index.files.path(at);
            if self.is_external(file) && stan_lang::typescript::extract::is_analysed(path) {
                self.left.store(true, Ordering::Relaxed);
            }
            return None;
        }
        let (facts, targets) = slot
            .get_or_init(|| Box::new(data.facts(at).zip(data.targets(at).map(|targets| keys(&targets)))))
            .as_ref()
            .as_ref()?;
        Some(Module { facts, targets })
    }

    fn may_enter(&self, from: FileKey, to: FileKey) -> bool {
        if !self.is_external(from) {
            return true;
        }
        let path = |file: FileKey| (file.0 != UNKNOWN).then(|| self.mending.index.files.path(file.0 as usize));
        let package = |file: FileKey| path(file).and_then(|path| self.resolver.package_of(path));
        // Of a linked package it is known only by which link it was found, and no link was followed here.
        let is_linked = |file: FileKey| path(file).is_some_and(|path| !self.reach.covers(path));
        if path(to).is_none() || is_linked(from) || is_linked(to) {
            self.left.store(true, Ordering::Relaxed);
        }
        match (package(from), package(to)) {
            (Some(from), Some(to)) => from == to,
            _ => false,
        }
    }
}
