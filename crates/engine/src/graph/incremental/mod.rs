//! The warm run: returns the earlier answer if nothing changed, and updates it if only a few files were edited.
//!
//! An update handles the common case only: the contents of some of the repository's own files changed, and nothing else did: no
//! listing, no manifest, no configuration. Everything else needs a full run. An update does not rewrite the cache; it stores the
//! difference beside it (`cache/edits.rs`), so that the next run compares with the current files.
//!
//! Every step returns `None` if the change is more than it can handle; then the caller does a full run. Files are analysed and
//! resolved by the functions of the full run (`analyse.rs`, `stages/resolve.rs`). The only difference is where targets are looked
//! up: in the stored graph instead of a new table.

mod affected;
mod edit;
mod modules;
mod patch;

use rustc_hash::FxHashMap;
use stan_graph::Graph;
use stan_lang::ProjectResolvers;
use stan_lang::project::FileList;
use stan_model::{FileFacts, NodeKind};
use stan_repo::{Observations, System};

use self::edit::Edit;
use super::analyse::analyse;
use super::excluded::ExcludedFiles;
use super::found_targets::FoundTargets;
use super::stages::resolve::ThreadResolver;
use super::{CacheUse, CachedRun, GraphOptions, GraphOutcome, GraphRequest, IsEnough};
use crate::cache::data::{Contents, Data, DataPart};
use crate::cache::encode::facts_fingerprint;
use crate::cache::{
    Answer, ContentsOnDisk, Identity, Index, NewEdits, RecordId, StoredEdits, UNPROVED, proved_fingerprint,
};

/// More changed files than this need a full run.
const MAX_EDITS: usize = 64;

pub(crate) enum WarmResult {
    Answer(Box<WarmAnswer>),
    /// The earlier answer is outdated. Facts of unchanged files can still be reused.
    Stale,
}

pub(crate) struct WarmAnswer {
    pub(crate) outcome: GraphOutcome,
    /// Identity of the cache with its edits, if it describes exactly this graph once `edits` are stored.
    pub(crate) kept_as: Option<Identity>,
    /// To be stored for the next run.
    pub(crate) edits: Option<StoredEdits>,
}

/// The earlier answer, if it still holds or can be updated; `None` when the cache cannot be used at all. `system` is the one that
/// `run` reads through.
pub(super) fn answer(
    system: &dyn System,
    run: &CachedRun<'_>,
    index: &Index,
    is_enough: &IsEnough<'_>,
) -> Option<WarmResult> {
    let CachedRun { engine, options, request, cache, observed_at: now } = *run;
    let Comparison { is_same_world, edits_hold, changed } = compare_with_disk(system, index);
    let is_unchanged = is_same_world && edits_hold && changed.is_empty();
    let answer = |outcome, kept_as| Some(WarmResult::Answer(Box::new(WarmAnswer { outcome, kept_as, edits: None })));
    if is_unchanged && (request.stats_only || is_enough(cache, index.identity())) {
        return answer(unchanged(index, None), Some(index.identity()));
    }
    let differing = with_edited(changed, index);
    if is_unchanged && differing.is_empty() {
        return answer(unchanged(index, Some(cache.load_graph(index)?)), Some(index.identity()));
    }
    if !is_same_world || differing.len() > MAX_EDITS || index.has_too_many_edits() {
        return Some(WarmResult::Stale);
    }
    if request.stats_only && keeps_figures(system, options, index, &differing) {
        return answer(
            GraphOutcome { work: CacheUse::Edited(differing.len()), ..outcome_of(&index.answer, None) },
            None,
        );
    }
    // Without the graph no digests are needed, and an update reads the contents of few files: load as little as possible.
    let first = if request.stats_only { DataPart::Shape } else { DataPart::Metas };
    let loaded = cache.load(index, first..=DataPart::Records)?;
    let contents = ContentsOnDisk::new(cache, index);
    let data = loaded.data_with(Contents::OnDemand(&contents))?;
    if data.len() != index.files.len() {
        return None;
    }
    // If nothing changed, `is_enough` was already asked above.
    let is_enough = |identity| !is_unchanged && (request.stats_only || is_enough(cache, identity));
    let update = IncrementalUpdate { system, options, index, data: &data };
    let answer = update.apply_edits(&differing, request, edits_hold, &is_enough, now);
    engine.memory().release((loaded, contents));
    Some(answer.map_or(WarmResult::Stale, |(answer, _)| WarmResult::Answer(Box::new(answer))))
}

/// A file whose contents differ from those of the data.
pub(super) struct EditedFile {
    pub(super) file: RecordId,
    pub(super) facts: Option<Box<FileFacts>>,
    /// For each request the record that it resolves to.
    pub(super) targets: Vec<RecordId>,
}

/// The whole updated graph and the edited files, if only a few were edited. `now`: when the run began.
pub(super) fn edited_graph(
    system: &dyn System,
    options: &GraphOptions,
    index: &Index,
    data: &Data<'_>,
    now: i64,
) -> Option<(WarmAnswer, Vec<EditedFile>)> {
    let Comparison { is_same_world, edits_hold, changed } = compare_with_disk(system, index);
    let differing = with_edited(changed, index);
    if !is_same_world || differing.len() > MAX_EDITS || index.has_too_many_edits() {
        return None;
    }
    let update = IncrementalUpdate { system, options, index, data };
    let request = GraphRequest::default();
    let (answer, edits) = update.apply_edits(&differing, &request, edits_hold, &|_| false, now)?;
    let edited = |Edit { file, analysed, targets, .. }: Edit| EditedFile { file, facts: analysed.facts, targets };
    Some((answer, edits.into_iter().map(edited).collect()))
}

/// The differences between the disk and the cache's observations.
struct Comparison {
    /// Nothing but contents of known files changed: no listing, no manifest, no configuration.
    is_same_world: bool,
    /// The edits that the cache knows would be resolved again as they were.
    edits_hold: bool,
    /// The files with another stat than the recorded one.
    changed: Vec<RecordId>,
}

fn compare_with_disk(system: &dyn System, index: &Index) -> Comparison {
    let ((is_same_world, edits_hold), changed) = rayon::join(
        || (index.is_world_unchanged(system), index.edits_hold(system)),
        || index.files.changed(system).into_iter().map(RecordId).collect(),
    );
    Comparison { is_same_world, edits_hold, changed }
}

/// The files whose contents may differ from the data: those whose stat changed, and those that an earlier run found edited.
fn with_edited(mut changed: Vec<RecordId>, index: &Index) -> Vec<RecordId> {
    changed.extend(index.edited());
    changed.sort_unstable();
    changed.dedup();
    changed
}

/// The answer of the cache, edits included.
fn unchanged(index: &Index, graph: Option<Graph>) -> GraphOutcome {
    outcome_of(index.current_answer(), graph)
}

fn outcome_of(answer: &Answer, graph: Option<Graph>) -> GraphOutcome {
    let Answer { summary, dirty, errors } = answer.clone();
    GraphOutcome { graph, summary, dirty, errors, work: CacheUse::Unchanged }
}

/// Whether the facts of all changed files are the same except for descriptions, so that no figure changes. Does not need the data.
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
    /// `None` when the change is more than edits of known files. `edits_hold`: see [`Comparison`].
    ///
    /// There are three outcomes, the cheapest first. The contents are those of the data again (an edit was undone, or only the stat
    /// changed): the stored graph is the answer. The contents are those of the edits that the cache knows: the graph has to be
    /// patched again if it is wanted, but its identity is known. Otherwise the edits are resolved and get a new identity.
    fn apply_edits(
        &self,
        differing: &[RecordId],
        request: &GraphRequest,
        edits_hold: bool,
        is_enough: &dyn Fn(Identity) -> bool,
        now: i64,
    ) -> Option<(WarmAnswer, Vec<Edit>)> {
        let (mut edits, new) = self.read_edits(differing, now)?;
        let is_known = edits_hold && self.index.has_edits(&new);
        let mut kept = None;
        if is_known || edits.is_empty() {
            let stored = self.index.with_stats(self.system, &new, now);
            let identity = stored.as_ref().map_or(self.index.identity(), |stored| self.index.identity_with(stored));
            let answer = if edits.is_empty() { &self.index.answer } else { self.index.current_answer() };
            let is_enough = is_enough(identity);
            if is_enough || edits.is_empty() {
                let graph = if is_enough || request.stats_only { None } else { Some(self.data.graph()?) };
                let outcome = outcome_of(answer, graph);
                return Some((WarmAnswer { outcome, kept_as: Some(identity), edits: stored }, edits));
            }
            kept = Some((identity, stored));
        }
        let (outcome, observations) = self.update(&mut edits, request)?;
        let (kept_as, stored) = kept.map_or_else(
            || {
                let GraphOutcome { summary, dirty, errors, .. } = &outcome;
                let answer = Answer { summary: summary.clone(), dirty: *dirty, errors: errors.clone() };
                let stored = self.index.with_edits(self.system, &new, answer, observations, now);
                (stored.as_ref().map(|stored| self.index.identity_with(stored)), stored)
            },
            |(identity, stored)| (Some(identity), stored),
        );
        Some((WarmAnswer { outcome, kept_as, edits: stored }, edits))
    }

    /// Reads the files. Those whose contents differ from the data are edits.
    fn read_edits(&self, differing: &[RecordId], now: i64) -> Option<(Vec<Edit>, NewEdits)> {
        let mut edits = Vec::new();
        let mut fingerprints = Vec::new();
        for file in differing {
            let (stat, edit) = self.read_edit(*file)?;
            fingerprints.push((*file, stat.map_or(UNPROVED, |stat| proved_fingerprint(&stat, now))));
            edits.extend(edit);
        }
        let digest = |edit: &Edit| Some((edit.file, edit.analysed.meta?.digest));
        let files = edits.iter().filter_map(digest).collect();
        Some((edits, NewEdits { fingerprints, files }))
    }

    /// The updated graph, and everything that was stat'ed or read while the edits were resolved.
    fn update(&self, edits: &mut [Edit], request: &GraphRequest) -> Option<(GraphOutcome, Observations)> {
        let reach = self.options.reach(self.system);
        let world = self.options.probing_world(self.system, reach.clone());
        let project = self.options.project(&world, self);
        let resolvers = ProjectResolvers::open(self.options.languages, &project);
        let records = self.data.records_by_node();
        let excluded = ExcludedFiles::new(self.options);
        let targets = FoundTargets::new(&excluded);
        let mut resolver = ThreadResolver::new(&resolvers, &targets);
        for edit in &mut *edits {
            self.resolve_edit(edit, &mut resolver, &targets, &records)?;
        }
        let affected = self.affected(edits)?;
        let implicit = self.tunnel(edits, &affected, &resolvers, &reach)?;
        let code = self.code_behind_declarations(edits, &affected, &mut resolver, &targets)?;
        let patch = self.patch(edits, &affected, &implicit, &code)?;
        let outcome = self.outcome(edits, &patch, request)?;
        Some((outcome, world.observations()))
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
