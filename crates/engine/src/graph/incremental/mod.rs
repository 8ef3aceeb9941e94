//! The warm run: the earlier answer, kept where nothing changed and updated where single files were edited.
//!
//! An update is for the common case only: contents of the repository's own files changed and nothing else did, no listing,
//! no manifest, no configuration. Anything more means that everything is resolved again. The cache is not rewritten after
//! an update, so the next run repeats it: a few files cost little, and many edits are not handled here at all.
//!
//! Every step returns `None` when the change is more than it can handle; then the caller does a full run. Files are analysed
//! and resolved by the functions of the full run (`analyse.rs`, `stages/resolve.rs`); what is different here is only where
//! the answers are looked up: in the stored graph instead of a new table.

mod affected;
mod edit;
mod modules;
mod patch;

use rustc_hash::FxHashMap;
use stan_graph::Graph;
use stan_lang::ProjectResolvers;
use stan_lang::project::FileList;
use stan_model::NodeKind;
use stan_repo::System;

use self::edit::{Edit, FoundTargets};
use super::analyse::analyse;
use super::excluded::ExcludedFiles;
use super::memory::Memory;
use super::stages::resolve::ThreadResolver;
use super::{CacheUse, GraphOptions, GraphOutcome, GraphRequest, IsEnough};
use crate::cache::data::{CONTENTS, Contents, Data, METAS, RECORDS, SHAPE};
use crate::cache::encode::facts_fingerprint;
use crate::cache::{Cache, ContentsOnDisk, Index, RecordId};

/// More changed files than this need a full run.
const MAX_EDITS: usize = 64;

pub(crate) enum WarmResult {
    Answer(Box<GraphOutcome>),
    /// The earlier answer does not hold; its facts may still help.
    Stale,
}

/// The earlier answer, if it still holds or can be updated; `None` when the cache is of no use at all.
pub(super) fn answer(
    system: &dyn System,
    options: &GraphOptions,
    (request, memory): (&GraphRequest, Memory),
    (cache, index): (&Cache<'_>, &Index),
    is_enough: &IsEnough<'_>,
) -> Option<WarmResult> {
    let (world_changed, changed) = rayon::join(
        || !index.observations.changes(system, index.observed_at).is_empty(),
        || index.files.changed(system),
    );
    let changed: Vec<RecordId> = changed.into_iter().map(RecordId).collect();
    let is_unchanged = !world_changed && changed.is_empty();
    if is_unchanged && (request.stats_only || is_enough(cache, index.identity())) {
        return Some(WarmResult::Answer(Box::new(unchanged(index, None))));
    }
    if !world_changed && request.stats_only && keeps_figures(system, options, index, &changed) {
        let outcome = GraphOutcome { work: CacheUse::Edited(changed.len()), ..unchanged(index, None) };
        return Some(WarmResult::Answer(Box::new(outcome)));
    }
    if is_unchanged {
        return Some(WarmResult::Answer(Box::new(unchanged(index, Some(cache.load_graph(index)?)))));
    }
    if world_changed || changed.len() > MAX_EDITS {
        return Some(WarmResult::Stale);
    }
    // Figures need no digests, and an update reads the contents of few files.
    let first = if request.stats_only { SHAPE } else { METAS };
    let loaded = cache.load(index, first..CONTENTS)?;
    let contents = ContentsOnDisk::new(cache, index);
    let [metas, shape, records] = [METAS, SHAPE, RECORDS].map(|part| loaded.part(part));
    let data = Data::decode(metas, shape, records, Contents::OnDemand(&contents))?;
    if data.len() != index.files.len() {
        return None;
    }
    let outcome = IncrementalUpdate { system, options, index, data: &data }.apply_edits(&changed, request);
    memory.release((loaded, contents));
    Some(outcome.map_or(WarmResult::Stale, |outcome| WarmResult::Answer(Box::new(outcome))))
}

fn unchanged(index: &Index, graph: Option<Graph>) -> GraphOutcome {
    GraphOutcome {
        graph,
        summary: index.answer.summary.clone(),
        dirty: index.answer.dirty,
        errors: index.answer.errors.clone(),
        work: CacheUse::Unchanged,
    }
}

/// Whether the changed files ask for, take and offer what they did, so that only texts differ.
fn keeps_figures(system: &dyn System, options: &GraphOptions, index: &Index, changed: &[RecordId]) -> bool {
    changed.len() <= MAX_EDITS
        && changed.iter().all(|file| {
            let Some(fingerprint) = index.facts.get(file.index()) else { return false };
            let path = index.files.path(file.index());
            let now = analyse(system, path, &options.display(path), true, options);
            now.meta.is_some()
                && now.problems.is_empty()
                && !now.incomplete
                && now.facts.as_deref().map_or(0, facts_fingerprint) == fingerprint
        })
}

/// One update of an earlier answer.
struct IncrementalUpdate<'m> {
    system: &'m dyn System,
    options: &'m GraphOptions,
    index: &'m Index,
    data: &'m Data<'m>,
}

impl IncrementalUpdate<'_> {
    /// `None` when the change is more than edits of known files.
    fn apply_edits(&self, changed: &[RecordId], request: &GraphRequest) -> Option<GraphOutcome> {
        let mut edits = Vec::new();
        for file in changed {
            edits.extend(self.read_edit(*file)?);
        }
        if edits.is_empty() {
            let graph = if request.stats_only { None } else { Some(self.data.graph()?) };
            return Some(unchanged(self.index, graph));
        }
        let reach = self.options.reach(self.system);
        let world = self.options.probing_world(self.system, reach.clone());
        let project = self.options.project(&world, self);
        let resolvers = ProjectResolvers::open(self.options.languages, &project);
        let records = self.data.records_by_node();
        let excluded = ExcludedFiles::new(self.options);
        let targets = FoundTargets::new(&excluded);
        let mut resolver = ThreadResolver::new(&resolvers, &targets);
        for edit in &mut edits {
            self.resolve_edit(edit, (&mut resolver, &targets), &records)?;
        }
        let affected = self.affected(&edits)?;
        let implicit = self.tunnel(&edits, &affected, (&resolvers, &reach))?;
        let code = self.code_behind_declarations(&edits, &affected, (&mut resolver, &targets))?;
        let patch = self.patch(&edits, &affected, (&implicit, &code))?;
        self.outcome(&edits, &patch, request)
    }

    fn path(&self, file: RecordId) -> &str {
        self.index.files.path(file.index())
    }

    fn is_own(&self, file: RecordId) -> bool {
        let kind = || self.data.node_kind(self.data.node_of(file)?);
        self.data.is_in_universe(file) || kind() == Some(NodeKind::Source)
    }
}

fn by_file(edits: &[Edit]) -> FxHashMap<RecordId, &Edit> {
    edits.iter().map(|edit| (edit.file, edit)).collect()
}

/// The files of the universe: the first records, in its order.
impl FileList for IncrementalUpdate<'_> {
    fn len(&self) -> usize {
        self.data.records().take_while(|file| self.data.is_in_universe(*file)).count()
    }

    fn path(&self, index: usize) -> &str {
        self.options.inside(self.index.files.path(index)).unwrap_or_default()
    }
}
