//! The graph with details: the facts of each file, and the names that each edge carries. Used for answers that people and models
//! read. Most verbs need only the graph, which is cheaper.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stan_graph::{Graph, Module, Modules, Tunneller};
use stan_model::{FileFacts, FileKey};
use stan_repo::WritableSystem;

use super::compile::{self, Compiled, Keep, PreviousRun};
use super::incremental::{self, EditedFile, WarmAnswer};
use super::record::{Record, Records};
use super::{AsSystem, CachedRun, GraphOptions, GraphOutcome, GraphRequest, open_cache};
use crate::cache::data::Data;
use crate::cache::{self, Cache, Identity, Index, LoadedParts, NodeIndex, RecordId};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::lenient_system::LenientSystem;

/// A graph, and the facts of its files.
pub(crate) struct DetailedGraph {
    pub(crate) graph: Graph,
    /// Problems of reading and resolving; sorted and truncated.
    pub(crate) errors: Vec<String>,
    /// Files of the repository that could not be read or parsed cleanly.
    pub(crate) dirty: usize,
    /// Which cache holds exactly this graph, if one does.
    pub(crate) kept_as: Option<Identity>,
    /// The graph was updated with edits that the data of the cache does not have.
    has_edits: bool,
    files: FileDetails,
}

/// Facts and targets by record.
#[derive(Default)]
struct FileDetails {
    records: Vec<FileDetail>,
    /// For each node its record, or `NO_RECORD`.
    by_node: Vec<u32>,
}

#[derive(Default)]
struct FileDetail {
    /// `NO_RECORD` for a file that is not a node.
    node: u32,
    facts: Option<Box<FileFacts>>,
    /// For each request the record that it resolves to.
    targets: Vec<Option<FileKey>>,
}

const NO_RECORD: u32 = u32::MAX;

/// The graph that a long-lived process keeps between queries. Every query stats the files again and uses the kept graph only if
/// none has changed. Clones share it.
#[derive(Clone, Default)]
pub struct KeptGraph(Option<Arc<Kept>>);

#[derive(Default)]
struct Kept {
    graph: Mutex<Option<(Identity, Arc<DetailedGraph>)>>,
    /// Held while a thread computes the graph, so that other threads wait for it instead of computing it too.
    maker: Mutex<()>,
}

impl std::fmt::Debug for KeptGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("KeptGraph").field(&self.0.is_some()).finish()
    }
}

impl KeptGraph {
    /// Keeps a graph; the default keeps none.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    fn find(&self, identity: Identity) -> Option<Arc<DetailedGraph>> {
        let kept = lock(&self.0.as_ref()?.graph);
        kept.as_ref().filter(|(known, _)| *known == identity).map(|(_, graph)| Arc::clone(graph))
    }

    fn keep(&self, identity: Identity, graph: &Arc<DetailedGraph>) {
        if let Some(kept) = &self.0 {
            *lock(&kept.graph) = Some((identity, Arc::clone(graph)));
        }
    }
}

/// Ignores poisoning: values are replaced by one assignment, so a panicking thread leaves a consistent one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Computes the graph with its details. The graph is the same as [`super::graph`] gives.
pub(crate) fn detailed_graph(
    engine: &Engine<'_>,
    options: &GraphOptions,
    request: &GraphRequest,
) -> Result<Arc<DetailedGraph>, EngineError> {
    let request = GraphRequest { stats_only: false, ..request.clone() };
    // Most answers come from the cache and need no parsing threads. Where address space is limited, do not spend it on their
    // large stacks.
    if let Some(found) = from_cache(engine.system(), options, &request) {
        return Ok(found);
    }
    let _maker = request.kept.0.as_ref().map(|kept| lock(&kept.maker));
    // Another thread may have computed it in the meantime.
    if request.kept.0.is_some()
        && let Some(found) = from_cache(engine.system(), options, &request)
    {
        return Ok(found);
    }
    let found = engine.parse(|| find(engine, options, &request)).map(Arc::new)?;
    // A graph with edits is not in the data of the cache. Without keeping it here, every query would update it again.
    if let Some(identity) = found.kept_as.filter(|_| found.has_edits) {
        request.kept.keep(identity, &found);
    }
    Ok(found)
}

fn from_cache(
    system: &dyn WritableSystem,
    options: &GraphOptions,
    request: &GraphRequest,
) -> Option<Arc<DetailedGraph>> {
    let cache = open_cache(system, options, request)?;
    let index = cache.load_index()?;
    if !is_unchanged(system, &index) {
        return None;
    }
    let identity = index.identity();
    if let Some(kept) = request.kept.find(identity) {
        return Some(kept);
    }
    // The data describes the files before the edits.
    if !index.edited().is_empty() {
        return None;
    }
    let loaded = Arc::new(load(&cache, &index)?);
    request.kept.keep(identity, &loaded);
    Some(loaded)
}

fn find(engine: &Engine<'_>, options: &GraphOptions, request: &GraphRequest) -> Result<DetailedGraph, EngineError> {
    let system = engine.system();
    let Some(cache) = open_cache(system, options, request) else {
        let lenient = LenientSystem::new(system.as_system());
        let Compiled { graph, problems, kept, dirty, .. } =
            compile::compile(&lenient, options, request.known(None, None), Keep::WithFacts, engine.memory())?;
        let records = kept.map(|kept| kept.records);
        let files = records.map(|records| FileDetails::of_records(&records, graph.node_count())).unwrap_or_default();
        return Ok(DetailedGraph {
            graph,
            errors: stan_model::error_lines(&problems, options.max_errors),
            dirty,
            kept_as: None,
            has_edits: false,
            files,
        });
    };
    let run = CachedRun { engine, options, request, cache: &cache, observed_at: system.now() };
    let index = cache.load_index();
    let loaded = index.as_ref().and_then(|index| Some((index, cache.load(index, cache::DataPart::ALL)?)));
    if let Some((index, loaded)) = &loaded
        && let Some(found) = with_edits(&run, index, loaded)
    {
        return Ok(found);
    }
    let facts = loaded.as_ref().map(|(index, loaded)| cache::CachedFacts::new(index, loaded, options.languages));
    let previous = facts.as_ref().map(|facts| facts as &dyn PreviousRun);
    let mut files = FileDetails::default();
    let details = |graph: &Graph, records: &Records| files = FileDetails::of_records(records, graph.node_count());
    let (outcome, kept_as) = run.compile_with(previous, None, Keep::WithFacts, details)?;
    let graph = outcome.graph.unwrap_or_default();
    Ok(DetailedGraph { graph, errors: outcome.errors, dirty: outcome.dirty, kept_as, has_edits: false, files })
}

/// The earlier answer, updated, if only a few files were edited.
fn with_edits(run: &CachedRun<'_>, index: &Index, loaded: &LoadedParts) -> Option<DetailedGraph> {
    let lenient = LenientSystem::new(run.engine.system().as_system());
    let data = loaded.data().filter(|data| data.len() == index.files.len())?;
    let (answer, edited) = incremental::edited_graph(&lenient, run.options, index, &data, run.observed_at)?;
    if lenient.first_transient_error().is_some() {
        return None;
    }
    let WarmAnswer { outcome: GraphOutcome { graph, errors, dirty, .. }, kept_as, edits } = answer;
    let graph = graph?;
    let mut records = details(&data)?;
    // The update added and removed nodes, which renumbered the others.
    records.par_iter_mut().for_each(|record| {
        let id = data.node_id(NodeIndex(record.node));
        record.node = id.and_then(|id| graph.find(id)).unwrap_or(NO_RECORD);
    });
    let has_edits = !edited.is_empty();
    for EditedFile { file, facts, targets } in edited {
        let record = records.get_mut(file.index())?;
        record.facts = facts;
        record.targets = targets.into_iter().map(|target| target.is_record().then_some(FileKey(target.0))).collect();
    }
    let is_kept = edits.is_none_or(|edits| run.cache.store_edits(&edits).is_some());
    let files = FileDetails::new(records, graph.node_count());
    Some(DetailedGraph { graph, errors, dirty, kept_as: kept_as.filter(|_| is_kept), has_edits, files })
}

/// Whether nothing changed since the earlier run.
fn is_unchanged(system: &dyn WritableSystem, index: &Index) -> bool {
    let lenient = LenientSystem::new(system.as_system());
    let (world_changed, changed) = rayon::join(
        || !(index.is_world_unchanged(&lenient) && index.edits_hold(&lenient)),
        || index.files.changed(&lenient),
    );
    !world_changed && changed.is_empty() && lenient.first_transient_error().is_none()
}

/// The answer of the earlier run.
fn load(cache: &Cache<'_>, index: &Index) -> Option<DetailedGraph> {
    let loaded = cache.load(index, cache::DataPart::ALL)?;
    let data = loaded.data()?;
    let graph = data.graph()?;
    let files = FileDetails::new(details(&data)?, graph.node_count());
    let cache::Answer { errors, dirty, .. } = index.current_answer();
    let kept_as = Some(index.identity());
    Some(DetailedGraph { graph, errors: errors.clone(), dirty: *dirty, kept_as, has_edits: false, files })
}

/// Facts and targets of every record in the data.
fn details(data: &Data<'_>) -> Option<Vec<FileDetail>> {
    let ids: Vec<_> = data.records().collect();
    let details = ids.into_par_iter().map(|file| {
        let targets = data.targets(file)?.into_iter().map(|target| target.is_record().then_some(FileKey(target.0)));
        let facts = if data.has_facts(file) { Some(Box::new(data.facts(file)?)) } else { None };
        let node = data.node_of(file).map_or(NO_RECORD, |node| node.0);
        Some(FileDetail { node, facts, targets: targets.collect() })
    });
    details.collect()
}

impl FileDetails {
    fn new(records: Vec<FileDetail>, node_count: usize) -> Self {
        let mut by_node = vec![NO_RECORD; node_count];
        for (record, detail) in (0u32..).zip(&records) {
            if let Some(place) = by_node.get_mut(detail.node as usize) {
                *place = record;
            }
        }
        Self { records, by_node }
    }

    fn of_records(records: &Records, node_count: usize) -> Self {
        let detail = |record: Record<'_>| FileDetail {
            node: record.node().map_or(NO_RECORD, |node| node.0),
            facts: record.file.facts.clone(),
            targets: record.targets().map(|target| target.is_record().then_some(FileKey(target.0))).collect(),
        };
        let details = (0..records.len()).into_par_iter();
        Self::new(details.map(|id| records.get(RecordId::at(id)).map(detail).unwrap_or_default()).collect(), node_count)
    }

    fn record(&self, node: u32) -> Option<&FileDetail> {
        self.records.get(*self.by_node.get(node as usize)? as usize)
    }
}

/// The modules that names are followed through. The walk may go further into packages than the graph does: names are kept only
/// for edges that the graph has.
impl Modules for FileDetails {
    fn module(&self, file: FileKey) -> Option<Module<'_>> {
        let detail = self.records.get(file.index())?;
        Some(Module { facts: detail.facts.as_deref()?, targets: &detail.targets })
    }

    fn may_enter(&self, _: FileKey, _: FileKey) -> bool {
        true
    }
}

/// The names that one file takes from each of its targets.
pub(crate) type TakenNames<'d> = FxHashMap<u32, Vec<&'d str>>;

impl DetailedGraph {
    pub(crate) fn facts(&self, node: u32) -> Option<&FileFacts> {
        self.files.record(node)?.facts.as_deref()
    }

    /// Finds the names on edges. Can be shared by all threads.
    pub(crate) fn names(&self) -> NameFinder<'_> {
        NameFinder { detailed: self, tunneller: Tunneller::new(&self.files) }
    }
}

/// Finds the names that the edges of a file carry.
pub(crate) struct NameFinder<'d> {
    detailed: &'d DetailedGraph,
    tunneller: Tunneller<'d>,
}

impl<'d> NameFinder<'d> {
    /// The names that a file takes from each target, sorted and unique: from the file that a request names, and from the
    /// files that define what is taken. A target from which no name is taken is not in the answer.
    pub(crate) fn taken(&self, node: u32) -> TakenNames<'d> {
        let mut targets: Vec<u32> = self.detailed.graph.edges(node).iter().map(|edge| edge.target).collect();
        targets.sort_unstable();
        targets.dedup();
        self.taken_of(node, &targets)
    }

    /// The names that a file takes from one of its targets. Cheaper than [`Self::taken`] for one edge: a file may have edges to
    /// hundreds of others.
    pub(crate) fn taken_from(&self, node: u32, target: u32) -> Vec<&'d str> {
        self.taken_of(node, &[target]).remove(&target).unwrap_or_default()
    }

    /// `targets` is sorted.
    fn taken_of(&self, node: u32, targets: &[u32]) -> TakenNames<'d> {
        let mut taken = TakenNames::default();
        let Some(detail) = self.detailed.files.record(node) else { return taken };
        let Some(facts) = detail.facts.as_deref() else { return taken };
        let node_of = |file: FileKey| self.detailed.files.records.get(file.index()).map(|detail| detail.node);
        let reexported = facts.exports.iter().filter_map(|export| match &export.source {
            stan_model::facts::ExportSource::Name { request, name } => Some((*request, &**name)),
            _ => None,
        });
        let imported = facts.imports.iter().map(|import| (import.request, &*import.name));
        for (request, name) in imported.chain(reexported) {
            let Some(named) = detail.targets.get(request as usize).copied().flatten() else { continue };
            let definers = self.tunneller.definers(named, name);
            for file in definers.iter().copied().chain([named]) {
                if let Some(target) = node_of(file).filter(|target| targets.binary_search(target).is_ok()) {
                    taken.entry(target).or_default().push(name);
                }
            }
        }
        self.add_linked(facts, targets, &mut taken);
        taken.values_mut().for_each(|names| {
            names.sort_unstable();
            names.dedup();
        });
        taken
    }

    /// Names that resolve to another file of the same package without an import.
    fn add_linked(&self, facts: &'d FileFacts, targets: &[u32], taken: &mut TakenNames<'d>) {
        if facts.uses.is_empty() && facts.imports.is_empty() {
            return;
        }
        let mut wanted: Vec<&'d str> = facts.uses.iter().map(|name| &**name).collect();
        wanted.extend(facts.imports.iter().map(|import| &*import.name));
        wanted.sort_unstable();
        wanted.dedup();
        for target in targets {
            let Some(declares) = self.detailed.facts(*target).map(|facts| &facts.declares) else { continue };
            if declares.is_empty() || taken.contains_key(target) {
                continue;
            }
            let found = in_both(&wanted, declares);
            if !found.is_empty() {
                taken.insert(*target, found);
            }
        }
    }
}

/// The intersection of two ascending lists. Each step skips names by galloping search, so that the cost depends on the shorter
/// list.
fn in_both<'n>(wanted: &[&'n str], declared: &[Box<str>]) -> Vec<&'n str> {
    let mut found = Vec::new();
    let (mut wanted, mut declared) = (wanted, declared);
    while let (Some(name), Some(known)) = (wanted.first(), declared.first()) {
        match (**name).cmp(known) {
            Ordering::Equal => {
                found.push(*name);
                (wanted, declared) = (&wanted[1..], &declared[1..]);
            }
            Ordering::Less => wanted = &wanted[skipped(wanted, |name| **name < **known)..],
            Ordering::Greater => declared = &declared[skipped(declared, |known| **known < **name)..],
        }
    }
    found
}

/// The number of leading names for which `is_below` holds: doubling steps, then bisection.
fn skipped<T>(names: &[T], is_below: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while step < names.len() && is_below(&names[step]) {
        step *= 2;
    }
    let (from, to) = (step / 2, names.len().min(step + 1));
    from + names[from..to].partition_point(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intersection_of_lists_of_any_length_is_found() {
        let mut random = stan_testkit::Random::new(7);
        for _ in 0..2_000 {
            let mut some = |most: usize| -> Vec<String> {
                let count = random.below(most + 1);
                let mut names: Vec<String> = (0..count).map(|_| format!("n{}", random.below(40))).collect();
                names.sort_unstable();
                names.dedup();
                names
            };
            let (wanted, declared) = (some(12), some(60));
            for (one, other) in [(&wanted, &declared), (&declared, &wanted)] {
                let expected: Vec<&str> = one.iter().filter(|name| other.contains(name)).map(String::as_str).collect();
                let names: Vec<&str> = one.iter().map(String::as_str).collect();
                let boxed: Vec<Box<str>> = other.iter().map(|name| name.as_str().into()).collect();
                assert_eq!(in_both(&names, &boxed), expected, "{one:?} {other:?}");
            }
        }
    }
}
