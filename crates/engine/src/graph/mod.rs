//! The verb `graph`: the dependency graph of a repository, warm or cold, always the same.

pub use stan_graph::{
    Cycle, Direction, GroupBy, Stats, closure_within, cycles, grouped, write_cycles_json, write_dot, write_json,
    write_mermaid, write_stats,
};
pub use stan_graph::{Graph, Summary};

pub use self::detail::KeptGraph;

pub(crate) mod analyse;
mod changed_names;
pub(crate) mod compile;
pub(crate) mod detail;
mod excluded;
mod found_targets;
mod incremental;
pub(crate) mod memory;
pub(crate) mod missing;
mod node_table;
pub(crate) mod record;
mod stages;

use std::borrow::Cow;

use serde::Serialize;
use stan_lang::project::FileList;
use stan_lang::{ExtractOptions, Languages, PackageStores, Project, ResolveOptions};
use stan_model::document::run_report::NotAnalysedFiles;
use stan_model::{NodeKind, error_lines};
use stan_repo::{
    AbsPath, AllowedFolder, Files, Reach, ScanOptions, System, Universe, World, WritableSystem, normal_path,
    relative_path,
};

use crate::cache::{self, Cache, CacheLocation, Identity};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::lenient_system::LenientSystem;
use crate::not_analysed::not_analysed;
use crate::outline::AskedFile;
use crate::shared::SharedCache;

use self::compile::{CacheInput, Compiled, ContentObserver, Keep, KnownFacts, PreviousRun};
pub(crate) use self::excluded::ExcludedFiles;
pub(crate) use self::found_targets::FoundTargets;
use self::incremental::{WarmAnswer, WarmResult};
use self::memory::Memory;
use self::record::Records;

/// The options that determine the graph.
#[derive(Clone, Debug)]
pub struct GraphOptions {
    /// Absolute real path of the repository, `/`-separated.
    pub root: String,
    pub scan: ScanOptions,
    pub extract: ExtractOptions,
    pub resolve: ResolveOptions,
    /// Folders outside the root that the command line allows.
    pub allowed_outside: Vec<AllowedFolder>,
    /// Folders of package managers, for packages that lock files of the repository name.
    pub stores: PackageStores,
    /// The languages that are analysed.
    pub languages: Languages,
    /// How many levels of imports are followed among externals.
    pub external_depth: u32,
    pub max_errors: usize,
}

impl GraphOptions {
    /// The defaults for a repository.
    pub fn new(root: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            scan: ScanOptions::default(),
            extract: ExtractOptions::default(),
            resolve: ResolveOptions::default(),
            allowed_outside: Vec::new(),
            stores: PackageStores::NONE,
            languages: Languages::all(),
            external_depth: 0,
            max_errors: 50,
        }
    }

    /// Which paths may be read.
    pub(crate) fn reach(&self, system: &dyn System) -> Reach {
        Reach::find(system, &self.root, self.resolve.outside_root, &self.allowed_outside)
    }

    /// The file system as resolution sees it. Listings are taken from `universe` where it has them.
    pub(crate) fn world<'s>(&self, system: &'s dyn System, universe: Option<&'s Universe>) -> World<'s> {
        self.with_stores(World::new(system, &self.root, universe)).within(self.reach(system))
    }

    /// The world for a few lookups, over the same disk.
    pub(crate) fn probing_world<'s>(&self, system: &'s dyn System, reach: Reach) -> World<'s> {
        self.with_stores(World::new(system, &self.root, None)).prefer_probe().within(reach)
    }

    fn with_stores<'s>(&self, world: World<'s>) -> World<'s> {
        world.with_stores(self.stores.iter().map(|store| store.folder.as_str()))
    }

    /// The project that languages resolve against.
    pub(crate) fn project<'p>(&'p self, files: &'p dyn Files, universe: &'p dyn FileList) -> Project<'p> {
        Project {
            root: &self.root,
            files,
            universe,
            options: self.resolve,
            stan_folder: self.stan_folder(),
            stores: &self.stores,
        }
    }

    /// The part of an absolute path below the root.
    fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        AbsPath::new(&self.root).below(path)
    }

    /// The name of a file in ids and messages: its path from the root (starting with `../` outside), or its package and path in a
    /// store, which is the same on every machine.
    pub(crate) fn display<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.inside(path) {
            Some(inside) => Cow::Borrowed(inside),
            None => Cow::Owned(self.stores.id_at(path).unwrap_or_else(|| relative_path(&self.root, path))),
        }
    }

    /// The absolute path of the file with a node id. `files` is a world of these options.
    pub(crate) fn locate(&self, files: &dyn Files, id: &str) -> String {
        self.stores.locate(files, id).unwrap_or_else(|| normal_path(&self.root, id))
    }

    /// Absolute path of stan's own folder.
    fn stan_folder(&self) -> String {
        let below = self.scan.stan_path.trim_start_matches("./").trim_matches('/');
        AbsPath::new(&self.root).join(below)
    }
}

/// How the graph is computed: nothing here changes it.
#[derive(Clone, Debug, Default)]
pub struct GraphRequest {
    /// Directory of the cache, absolute; `None` for no cache.
    pub cache_directory: Option<String>,
    /// The folder with this user's key, absolute. Without it, a cache inside the repository is neither read nor written,
    /// because another user may have written it.
    pub state_directory: Option<String>,
    /// Whether the graph is requested, or only its statistics.
    pub stats_only: bool,
    /// The graph that a long-lived process keeps between answers.
    pub kept: KeptGraph,
    /// Facts that other machines extracted.
    pub shared: SharedCache,
}

impl GraphRequest {
    fn known<'k>(
        &'k self,
        previous: Option<&'k dyn PreviousRun>,
        observer: Option<&'k ContentObserver<'k>>,
    ) -> KnownFacts<'k> {
        KnownFacts { previous, shared: &self.shared, observer }
    }
}

/// The dependency graph of a repository.
#[derive(Debug)]
pub struct GraphOutcome {
    /// `None` if only statistics were requested.
    pub graph: Option<Graph>,
    pub summary: Summary,
    /// Files of the repository that could not be read or parsed cleanly.
    pub dirty: usize,
    /// Sorted, truncated at `max_errors`.
    pub errors: Vec<String>,
    /// How the answer was found; not part of it.
    pub work: CacheUse,
}

impl GraphOutcome {
    /// Files of the repository in languages that are not analysed.
    pub fn not_analysed(&self) -> Vec<NotAnalysedFiles> {
        not_analysed(self.summary.programming())
    }
}

/// Returns true if the caller has something that was computed from exactly this graph, so that the graph is not needed.
pub(crate) type IsEnough<'f> = dyn Fn(&Cache<'_>, Identity) -> bool + Sync + 'f;

/// The use of an earlier run's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// Nothing had changed.
    Unchanged,
    /// This many files had changed; the rest of the answer was kept.
    Edited(usize),
    /// Everything was resolved again; this many files were read and analysed.
    Compiled(usize),
}

/// Computes the dependency graph. Warm or cold, on any number of threads, the answer is the same.
pub fn graph(engine: &Engine<'_>, options: &GraphOptions, request: &GraphRequest) -> Result<GraphOutcome, EngineError> {
    graph_or_cached_map(engine, options, request, &|_, _| false).map(|(outcome, _)| outcome)
}

/// As [`graph`], but without the graph itself if nothing changed and `is_enough` returns true. Also returns the identity of the
/// cache that contains exactly this graph, if one does.
pub(crate) fn graph_or_cached_map(
    engine: &Engine<'_>,
    options: &GraphOptions,
    request: &GraphRequest,
    is_enough: &IsEnough<'_>,
) -> Result<(GraphOutcome, Option<Identity>), EngineError> {
    engine.parse(|| run(engine, options, request, is_enough, None))
}

/// As [`graph_or_cached_map`]; `observer` gets the bytes of every file that is read.
pub(crate) fn graph_with_observer(
    engine: &Engine<'_>,
    options: &GraphOptions,
    request: &GraphRequest,
    observer: &ContentObserver<'_>,
    is_enough: &IsEnough<'_>,
) -> Result<(GraphOutcome, Option<Identity>), EngineError> {
    engine.parse(|| run(engine, options, request, is_enough, Some(observer)))
}

/// The cache that a request may use.
pub(crate) fn open_cache<'s>(
    system: &'s dyn WritableSystem,
    options: &GraphOptions,
    request: &GraphRequest,
) -> Option<Cache<'s>> {
    let location = CacheLocation {
        directory: request.cache_directory.as_ref()?,
        root: &options.root,
        stan_folder: &options.stan_folder(),
        state_directory: request.state_directory.as_deref(),
    };
    Cache::open(system, location, &key(system.as_system(), options))
}

fn run(
    engine: &Engine<'_>,
    options: &GraphOptions,
    request: &GraphRequest,
    is_enough: &IsEnough<'_>,
    observer: Option<&ContentObserver<'_>>,
) -> Result<(GraphOutcome, Option<Identity>), EngineError> {
    let system = engine.system();
    let Some(cache) = open_cache(system, options, request) else {
        let lenient = LenientSystem::new(system.as_system());
        let compiled =
            compile::compile(&lenient, options, request.known(None, observer), Keep::Nothing, engine.memory())?;
        let mut outcome = outcome(compiled, options, request, engine.memory());
        report_transient_errors(&mut outcome.errors, &lenient, options);
        return Ok((outcome, None));
    };
    // Taken before anything is read: later changes must look changed to the next run.
    let full_run = CachedRun { engine, options, request, cache: &cache, observed_at: system.now() };
    let lenient = LenientSystem::new(system.as_system());
    if let Some(index) = cache.load_index()
        && let Some(result) = incremental::answer(&lenient, &full_run, &index, is_enough)
    {
        return match result {
            // The update may lack what a transient error hid. The error may be gone by now, so do a full run.
            WarmResult::Answer(_) if lenient.first_transient_error().is_some() => full_run.compile(None, observer),
            WarmResult::Answer(answer) => {
                let WarmAnswer { outcome, kept_as, edits } = *answer;
                let is_kept = edits.is_none_or(|edits| cache.store_edits(&edits).is_some());
                Ok((outcome, kept_as.filter(|_| is_kept)))
            }
            WarmResult::Stale => {
                let loaded = cache.load(&index, cache::DataPart::ALL);
                let facts = loaded.as_ref().map(|loaded| cache::CachedFacts::new(&index, loaded, options.languages));
                let previous = facts.as_ref().map(|facts| facts as &dyn PreviousRun);
                full_run.compile(previous, observer)
            }
        };
    }
    full_run.compile(None, observer)
}

/// One run with a cache: its inputs, and where its result is stored.
struct CachedRun<'c> {
    engine: &'c Engine<'c>,
    options: &'c GraphOptions,
    request: &'c GraphRequest,
    cache: &'c Cache<'c>,
    /// `System::now` when the run began. The next run does not trust stats that are not clearly older.
    observed_at: i64,
}

impl CachedRun<'_> {
    /// Computes everything and stores it.
    fn compile(
        &self,
        previous: Option<&dyn PreviousRun>,
        observer: Option<&ContentObserver<'_>>,
    ) -> Result<(GraphOutcome, Option<Identity>), EngineError> {
        self.compile_with(previous, observer, Keep::ForCache, |_, _| ())
    }

    /// As [`Self::compile`]; `with_records` gets the records before they are stored, if there are any.
    fn compile_with(
        &self,
        previous: Option<&dyn PreviousRun>,
        observer: Option<&ContentObserver<'_>>,
        keep: Keep,
        with_records: impl FnOnce(&Graph, &Records),
    ) -> Result<(GraphOutcome, Option<Identity>), EngineError> {
        let Self { engine, options, request, cache, observed_at } = *self;
        let memory = engine.memory();
        let lenient = LenientSystem::new(engine.system().as_system());
        let mut compiled = compile::compile(&lenient, options, request.known(previous, observer), keep, memory)?;
        let mut errors = error_lines(&compiled.problems, options.max_errors);
        let summary = Summary::of(&compiled.graph);
        if let Some(kept) = &compiled.kept {
            with_records(&compiled.graph, &kept.records);
        }
        // A run that could not read everything, or not even the root, stores nothing for the next one.
        let is_whole = |kept: &CacheInput| !lenient.saw_unstable_error() && !kept.observations.directories.is_empty();
        let kept_as = compiled.kept.take().filter(is_whole).and_then(|kept| {
            let answer = cache::Answer { summary: summary.clone(), dirty: compiled.dirty, errors: errors.clone() };
            cache.store(&compiled.graph, kept, answer, observed_at, options.languages, memory)
        });
        let work = CacheUse::Compiled(compiled.analysed);
        let graph = wanted_graph(compiled.graph, request, memory);
        report_transient_errors(&mut errors, &lenient, options);
        Ok((GraphOutcome { graph, summary, dirty: compiled.dirty, errors, work }, kept_as))
    }
}

/// Lookups may miss. A transient I/O error can hide a file that exists, so it is reported: the graph may be incomplete.
fn report_transient_errors(errors: &mut Vec<String>, lenient: &LenientSystem<'_>, options: &GraphOptions) {
    let Some((path, advice)) = lenient.first_transient_error() else { return };
    let path = path.to_string_lossy();
    let shown = relative_path(&options.root, &path);
    // First, because it is the problem that may have cost the most.
    errors.insert(0, format!("{shown}: could not be read ({advice}); its imports may be missing from the graph"));
}

fn outcome(compiled: Compiled, options: &GraphOptions, request: &GraphRequest, memory: Memory) -> GraphOutcome {
    let errors = error_lines(&compiled.problems, options.max_errors);
    GraphOutcome {
        summary: Summary::of(&compiled.graph),
        dirty: compiled.dirty,
        errors,
        work: CacheUse::Compiled(compiled.analysed),
        graph: wanted_graph(compiled.graph, request, memory),
    }
}

/// The graph, unless only its statistics were requested.
fn wanted_graph(graph: Graph, request: &GraphRequest, memory: Memory) -> Option<Graph> {
    if request.stats_only {
        memory.release(graph);
        return None;
    }
    Some(graph)
}

/// Restricts the graph to the named files, or the files of the named folders, and their dependencies over at most `depth` edges.
pub fn restrict(
    outcome: GraphOutcome,
    files: &[AskedFile],
    direction: Direction,
    depth: usize,
) -> Result<GraphOutcome, EngineError> {
    let (Some(graph), false) = (&outcome.graph, files.is_empty()) else { return Ok(outcome) };
    let mut seeds = Vec::with_capacity(files.len());
    for file in files {
        match graph.find(&file.id).or_else(|| graph.find(&file.shown)) {
            Some(found) => seeds.push(found),
            None => {
                let inside = files_below(graph, &file.id);
                if inside.is_empty() {
                    return Err(unknown_file(&file.shown, graph));
                }
                seeds.extend(inside);
            }
        }
    }
    let part = closure_within(graph, &seeds, direction, depth);
    Ok(GraphOutcome { summary: Summary::of(&part), graph: Some(part), ..outcome })
}

fn files_below(graph: &Graph, folder: &str) -> Vec<u32> {
    let prefix = format!("{}/", folder.trim_end_matches('/'));
    let is_all = matches!(folder, "" | ".");
    let sources = graph.indices().filter(|index| graph.node(*index).kind == NodeKind::Source);
    sources.filter(|index| is_all || graph.node(*index).id.starts_with(&prefix)).collect()
}

fn unknown_file(typed: &str, graph: &Graph) -> EngineError {
    let name = typed.rsplit('/').next().unwrap_or(typed);
    let alike: Vec<&str> = graph
        .nodes()
        .iter()
        .map(|node| &*node.id)
        .filter(|id| id.rsplit('/').next().is_some_and(|candidate| candidate.contains(name)))
        .take(3)
        .collect();
    let error = EngineError::input(format!("`{typed}` is not in the graph"));
    if alike.is_empty() {
        error.hint("`stan graph --json` lists every file; ignored files are in it only when something imports them")
    } else {
        error.hint(format!("did you mean {}?", alike.join(", ")))
    }
}

/// All inputs of the answer besides the repository's contents.
fn key(system: &dyn System, options: &GraphOptions) -> Vec<u8> {
    #[derive(Serialize)]
    struct Key<'a>(
        &'a str,
        &'a [(&'a str, u32)],
        &'a str,
        &'a str,
        &'a [String],
        &'a [String],
        &'a [String],
        usize,
        (bool, Option<&'a str>, &'a [AllowedFolder], &'a PackageStores),
        u32,
        usize,
    );
    let reach = options.reach(system);
    let mut languages = options.languages.versions();
    languages.push(("documents", stan_lang::documents::VERSION));
    let key = Key(
        env!("CARGO_PKG_VERSION"),
        &languages,
        &options.root,
        &options.scan.stan_path,
        &options.scan.includes,
        &options.scan.excludes,
        &options.extract.description_tags,
        options.extract.description_limit,
        (options.resolve.outside_root, reach.work_tree(), &options.allowed_outside, &options.stores),
        options.external_depth,
        options.max_errors,
    );
    postcard::to_stdvec(&key).unwrap_or_default()
}

/// Upcasting in one place.
trait AsSystem {
    fn as_system(&self) -> &dyn System;
}

impl AsSystem for dyn WritableSystem + '_ {
    fn as_system(&self) -> &dyn System {
        self
    }
}
