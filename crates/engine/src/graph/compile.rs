//! The full run: scan → analyse → resolve → link → tunnel → assemble. Whether a run can be avoided is decided elsewhere; here
//! everything is computed, except that facts of files known to be unchanged may be reused.

use std::path::Path;

use stan_graph::{Built, FileMeta, Graph};
use stan_lang::ProjectResolvers;
use stan_model::Problem;
use stan_repo::{Observations, System};

use super::GraphOptions;
use super::analyse::Analysed;
use super::excluded::ExcludedFiles;
use super::memory::Memory;
use super::node_table::NodeTable;
use super::record::Records;
use super::stages::CompileRun;
use crate::error::EngineError;
use crate::shared::{Bundles, SharedCache};

/// The facts of an earlier run, for files that are unchanged since.
pub(crate) trait PreviousRun: Sync {
    /// `with_facts`: return `None` if the file should have facts and they are not known.
    fn analysed(&self, system: &dyn System, path: &str, with_facts: bool) -> Option<Analysed>;
}

/// The result of a run: the graph, and the input of the cache for the next run.
pub(crate) struct Compiled {
    pub(crate) graph: Graph,
    /// All problems, of single files and general ones.
    pub(crate) problems: Vec<Problem>,
    /// Files of the repository that could not be read or parsed cleanly.
    pub(crate) dirty: usize,
    /// Files whose contents were read and analysed in this run.
    pub(crate) analysed: usize,
    /// For the cache, if it is to be written.
    pub(crate) kept: Option<CacheInput>,
}

/// The results that a run collects besides the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// There is no cache.
    Nothing,
    /// The input of the cache: files are encoded as soon as they are resolved, and facts that no later stage needs are dropped.
    ForCache,
    /// The same, and all facts are kept.
    WithFacts,
}

/// The input of the cache besides the graph.
pub(crate) struct CacheInput {
    pub(crate) records: Records,
    /// Problems that do not belong to a record.
    pub(crate) general_problems: Vec<Problem>,
    pub(crate) observations: Observations,
}

/// Called with path, bytes and digest of files while they are in memory. Not for all files: large ones that are only hashed, and
/// those whose facts an earlier run knows, are not read as a whole.
pub(crate) type ContentObserver<'f> = dyn Fn(&str, &[u8], &FileMeta) + Sync + 'f;

/// Where facts may come from instead of from the files, and who else gets the bytes of files that are read.
#[derive(Clone, Copy)]
pub(crate) struct KnownFacts<'k> {
    pub(crate) previous: Option<&'k dyn PreviousRun>,
    pub(crate) shared: &'k SharedCache,
    pub(crate) observer: Option<&'k ContentObserver<'k>>,
}

/// Computes everything.
pub(crate) fn compile(
    system: &dyn System,
    options: &GraphOptions,
    known: KnownFacts<'_>,
    keep: Keep,
    memory: Memory,
) -> Result<Compiled, EngineError> {
    let KnownFacts { previous, shared, .. } = known;
    let bundles = if previous.is_none() { shared.bundles(options.languages, &options.extract) } else { None };
    let compiled = compile_once(system, options, known, bundles.as_ref(), keep, memory)?;
    if bundles.is_some() && shared.gave_wrong_facts() {
        memory.release(compiled);
        return compile_once(system, options, known, None, keep, memory);
    }
    Ok(compiled)
}

fn compile_once(
    system: &dyn System,
    options: &GraphOptions,
    known: KnownFacts<'_>,
    bundles: Option<&Bundles>,
    keep: Keep,
    memory: Memory,
) -> Result<Compiled, EngineError> {
    let KnownFacts { previous, observer, .. } = known;
    let root = &*options.root;
    let universe = memory.keep(stan_repo::scan(system, Path::new(root), &options.scan));
    let world = memory.keep(options.world(system, Some(&universe)));
    let project = options.project(&*world, &universe.files);
    let resolvers = ProjectResolvers::open(options.languages, &project);
    let excluded = ExcludedFiles::new(options);
    let table = || memory.keep(NodeTable::new(options, &*world, &universe.files, &excluded));
    let ((), nodes) = rayon::join(|| resolvers.prepare(), table);
    let resolvers = &resolvers;
    let run =
        CompileRun { system, options, universe: &universe, resolvers, nodes: &nodes, previous, observer, bundles };

    let (files, analysed) = run.analyse_universe(keep);
    run.load_own_files();
    let links = run.link_by_name(&files);
    let (implicit, left_out) = run.tunnel(&files);
    // Which edges are left out depends on all files together, so an incremental update could not tell what an edit changes.
    let is_kept = keep != Keep::Nothing && left_out.is_empty();
    let external_edges = run.external_edges(&files, &implicit);
    let builder = run.assemble(&files, &links, implicit, &external_edges);
    let (built, (dirty, mut problems)) = rayon::join(|| builder.finish(), || run.problems(&files));
    let Built { graph, indices, .. } = built?;

    let mut general_problems = universe.problems.clone();
    general_problems.extend(resolvers.finish());
    general_problems.extend(left_out);
    problems.extend(general_problems.iter().cloned());
    if !is_kept {
        memory.release(files);
        return Ok(Compiled { graph, problems, dirty, analysed, kept: None });
    }
    let observed = || {
        let mut observations = universe.observations(root);
        observations.merge(world.observations());
        observations
    };
    let (records, observations) = rayon::join(|| run.records(files, &indices), observed);
    let kept = Some(CacheInput { records, general_problems, observations });
    Ok(Compiled { graph, problems, dirty, analysed, kept })
}
