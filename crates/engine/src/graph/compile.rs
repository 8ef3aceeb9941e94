//! The whole pipeline: scan → analyse → resolve → tunnel → graph. What a warm run may skip is decided elsewhere;
//! here everything is computed, except that facts of files known to be unchanged may be handed in.

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use stan_graph::{Built, FileKey, Graph, GraphBuilder, Indices, Module, Modules, Node, Tunneller};
use stan_lang::typescript::globs;
use stan_lang::typescript::resolve::{Importer, LazyWorkspaces, Resolver, Target};
use stan_lang::typescript::tsconfig::Configs;
use stan_lang::typescript::workspaces::Workspaces;
use stan_model::facts::Request;
use stan_model::{EdgeKind, Language, Problem, Resolution};
use stan_repo::{Observations, System, Universe, World};

use super::analyse::{Analysed, Analyst, analyse};
use super::names::{Name, Names};
use super::recent::{Answer, Recent};
use super::record::Record;
use super::refused::Refused;
use super::{GraphError, GraphOptions, leave};
use crate::cache::data::{NONE, UNKNOWN};

/// How many files a thread takes at once: few enough that no thread waits long for the last one, and enough to make use of
/// what neighbours have in common.
const PORTION: usize = 128;

/// From a file to a definer that it does not name.
type ImplicitEdge = (u32, FileKey, EdgeKind);

/// Hands in what an earlier run knows of a file of the universe, if the file is unchanged since.
pub(crate) trait Known: Sync {
    /// `with_facts`: what is known must include the facts, if the file is one that has any.
    fn analysed(&self, system: &dyn System, path: &str, with_facts: bool) -> Option<Analysed>;
}

/// Everything that a run computed: the graph, and what the next run needs to know.
pub(crate) struct Compiled {
    pub(crate) graph: Graph,
    /// All problems, of single files and general ones.
    pub(crate) problems: Vec<Problem>,
    /// Files of the repository that could not be read or parsed cleanly.
    pub(crate) dirty: usize,
    /// Files whose contents were read and analysed in this run.
    pub(crate) analysed: usize,
    /// For the cache, if there is to be one.
    pub(crate) kept: Option<Kept>,
}

/// What the cache keeps beside the graph.
pub(crate) struct Kept {
    pub(crate) records: Vec<Record>,
    /// Problems that belong to no file whose contents are part of the answer.
    pub(crate) general_problems: Vec<Problem>,
    pub(crate) observations: Observations,
}

/// Computes everything. `keep`: also gather what the cache wants. `leaves_memory`: see [`super::GraphRequest`].
pub(crate) fn compile(
    system: &dyn System,
    options: &GraphOptions,
    known: Option<&dyn Known>,
    keep: bool,
    leaves_memory: bool,
) -> Result<Compiled, GraphError> {
    let root = &*options.root;
    let universe = ManuallyDrop::new(stan_repo::scan(system, Path::new(root), &options.scan));
    let world = ManuallyDrop::new(World::new(system, root, Some(&universe)).within(options.reach(system)));
    let configs = Configs::new(&*world, root);
    let mut general_problems = universe.problems.clone();
    let ((workspaces, workspace_problems), names) = rayon::join(
        || Workspaces::find(&*world, root, universe.files.iter().map(|file| &**file)),
        || ManuallyDrop::new(Names::new(root, &universe.files)),
    );
    general_problems.extend(workspace_problems);
    let workspaces = LazyWorkspaces::ready(workspaces);
    let resolver = Resolver::new(&*world, root, &configs, &workspaces, options.resolve).hiding(&options.stan_folder());
    let run = Run { system, options, universe: &universe, resolver: &resolver, names: &names, known };

    let (files, analysed) = run.analyse_universe(keep);
    run.load_own_files();
    let (implicit, crowds) = run.tunnel(&files);
    // What is left out depends on all files together, which no later run could mend.
    let keep = keep && crowds.is_empty();
    general_problems.extend(crowds);
    let hops = run.external_edges(&files, &implicit);
    let builder = run.gather(&files, &implicit, &hops);
    let (built, (dirty, mut problems)) = rayon::join(|| builder.finish(), || run.findings(&files));
    let Built { graph, indices, .. } = built?;
    resolver.look_at_packages();
    general_problems.extend(configs.problems());
    problems.extend(general_problems.iter().cloned());
    let kept = if keep {
        let (records, observations) = rayon::join(
            || run.records(files, &indices),
            || {
                let mut observations = universe.observations(root);
                observations.merge(world.observations());
                observations
            },
        );
        Some(Kept { records, general_problems, observations })
    } else {
        leave(files, leaves_memory);
        None
    };
    drop(resolver);
    drop(configs);
    leave(ManuallyDrop::into_inner(names), leaves_memory);
    leave(ManuallyDrop::into_inner(world), leaves_memory);
    leave(ManuallyDrop::into_inner(universe), leaves_memory);
    Ok(Compiled { graph, problems, dirty, analysed, kept })
}

/// What is known of the files of the universe, by key: in the portions in which they were analysed, so that nobody has to
/// lay them side by side.
struct Portions(Vec<Vec<Analysed>>);

impl Portions {
    fn get(&self, key: u32) -> Option<&Analysed> {
        self.0.get(key as usize / PORTION)?.get(key as usize % PORTION)
    }

    fn put(&mut self, index: usize, file: Analysed) {
        if let Some(place) = self.0.get_mut(index / PORTION).and_then(|portion| portion.get_mut(index % PORTION)) {
            *place = file;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Analysed> {
        self.0.iter().flatten()
    }

    /// Each file with its key.
    fn into_par_iter(self) -> impl ParallelIterator<Item = (u32, Analysed)> {
        let portions = self.0.into_par_iter().zip((0..u32::MAX).into_par_iter().step_by(PORTION));
        portions.flat_map_iter(|(portion, first)| (first..).zip(portion))
    }
}

/// What one thread has before it while it goes from file to file.
struct Desk<'p> {
    analyst: Analyst<'p>,
    recent: Recent,
}

/// The fixed surroundings of one run.
struct Run<'r> {
    system: &'r dyn System,
    options: &'r GraphOptions,
    universe: &'r Universe,
    resolver: &'r Resolver<'r>,
    names: &'r Names<'r>,
    known: Option<&'r dyn Known>,
}

impl Run<'_> {
    /// Analyses every file of the universe and resolves its requests; also says how many had to be read.
    fn analyse_universe(&self, keep: bool) -> (Portions, usize) {
        let read = AtomicUsize::new(0);
        let large = Mutex::new(Vec::new());
        let desk =
            || Desk { analyst: Analyst::new(self.system, &self.options.extract, keep), recent: Recent::default() };
        let paths = self.universe.files.par_chunks(PORTION).enumerate().with_max_len(1);
        let mut files = rayon::scope(|scope| {
            let portions = paths.map_init(desk, |desk, (portion, paths)| {
                self.analyse_portion(desk, paths, keep, &read, |at| {
                    // Its neighbours go on meanwhile, and so do other large ones: barrels often lie side by side.
                    let large = &large;
                    scope.spawn(move |_| {
                        let file = paths.get(at).map(|path| self.analyse_large(path, keep)).unwrap_or_default();
                        large.lock().unwrap_or_else(PoisonError::into_inner).push((portion * PORTION + at, file));
                    });
                })
            });
            Portions(portions.collect())
        });
        for (index, file) in large.into_inner().unwrap_or_else(PoisonError::into_inner) {
            files.put(index, file);
        }
        (files, read.into_inner())
    }

    /// The files of a portion, but for large ones, whose places are handed to `on_large`.
    fn analyse_portion<'p>(
        &self,
        desk: &mut Desk<'p>,
        paths: &'p [Box<str>],
        keep: bool,
        read: &AtomicUsize,
        on_large: impl Fn(usize),
    ) -> Vec<Analysed> {
        let mut files = Vec::with_capacity(paths.len());
        let root = self.absolute("");
        let mut absolute = root.clone();
        let known = |path: &str| {
            let known = self.known(path, true);
            read.fetch_add(usize::from(known.is_none()), Ordering::Relaxed);
            known
        };
        while files.len() < paths.len() {
            let start = files.len();
            desk.analyst.analyse(&root, &paths[start..], known, |file| {
                files.push(file.unwrap_or_else(|| {
                    on_large(files.len());
                    Analysed::default()
                }));
            });
            for (file, path) in files[start..].iter_mut().zip(&paths[start..]) {
                absolute.truncate(root.len());
                absolute.push_str(path);
                self.resolved(&absolute, file, &mut desk.recent, keep);
            }
        }
        files
    }

    fn analyse_large(&self, path: &str, keep: bool) -> Analysed {
        let absolute = self.absolute(path);
        let mut file = analyse(self.system, &absolute, path, true, &self.options.extract);
        self.resolved(&absolute, &mut file, &mut Recent::default(), keep);
        file
    }

    fn resolved(&self, absolute: &str, file: &mut Analysed, recent: &mut Recent, keep: bool) {
        self.resolve(absolute, file, recent);
        if !keep && let Some(facts) = &mut file.facts {
            // Specifiers were needed to get here; without a cache nobody asks for them again.
            facts.requests = Vec::new();
        }
    }

    fn known(&self, path: &str, with_facts: bool) -> Option<Analysed> {
        self.known?.analysed(self.system, path, with_facts)
    }

    fn absolute(&self, relative: &str) -> String {
        [self.options.root.trim_end_matches('/'), "/", relative].concat()
    }

    /// Resolves all requests of a file and fills its edges and targets.
    fn resolve(&self, path: &str, file: &mut Analysed, recent: &mut Recent) {
        let Some(facts) = file.facts.take() else { return };
        // Asked for every file, so that the problems of configurations depend on the files alone, not on imports.
        let (importer, answers) = recent.importer(self.resolver, path);
        if !facts.requests.is_empty() || !facts.globs.is_empty() {
            let display = &*self.names.display(path);
            let mut refused = Refused::default();
            file.edges.reserve_exact(facts.requests.len());
            file.targets.reserve_exact(facts.requests.len());
            let mut answers = answers.filter(|_| facts.requests.len() <= Recent::MOST_REQUESTS);
            for request in &facts.requests {
                let known = answers.as_ref().and_then(|answers| answers.get(request));
                let answer = known.unwrap_or_else(|| {
                    let (answer, problem) = self.answer(importer, request);
                    match problem {
                        Some(problem) => file.request_problems.extend(refused.take(request, problem, display)),
                        None => answers.iter_mut().for_each(|answers| answers.remember(request, answer)),
                    }
                    answer
                });
                file.targets.push(answer.key.filter(|_| answer.is_file).map(FileKey));
                file.edges.extend(answer.key.map(|key| (key, request.kind)));
            }
            file.request_problems.extend(refused.problem(display));
            for glob in &facts.globs {
                self.expand_glob(importer, display, glob, file);
            }
        }
        file.facts = Some(facts);
    }

    fn answer(&self, importer: &Importer, request: &Request) -> (Answer, Option<Box<str>>) {
        let target = self.resolver.resolve(importer, request);
        let answer = Answer { key: self.names.key_of(&target), is_file: matches!(target, Target::File(_)) };
        match target {
            Target::Missing { problem, .. } => (answer, problem),
            _ => (answer, None),
        }
    }

    fn expand_glob(
        &self,
        importer: &Importer,
        display: &str,
        glob: &stan_model::facts::GlobRequest,
        file: &mut Analysed,
    ) {
        let package = self.resolver.package_of(&self.absolute(display));
        let package = package.as_deref().and_then(|directory| self.names.relative(directory)).unwrap_or("");
        let patterns = self.resolver.glob_patterns(importer, &glob.patterns);
        let expansion = globs::expand(&self.universe.files, display, package, &patterns);
        file.edges.extend(expansion.matches.into_iter().map(|key| (key, EdgeKind::Dynamic)));
        if let Some(problem) = expansion.problem {
            file.request_problems.push(Problem::at(display, glob.line, problem));
        }
    }

    /// Files of the repository that are outside the universe but imported (generated, ignored) are analysed like
    /// the rest, and so are the ones that they import in turn.
    fn load_own_files(&self) {
        let mut next = self.names.universe_len();
        while next < self.names.len() {
            let end = self.names.len();
            (next..end).into_par_iter().for_each(|key| {
                if let Some(Name::File(path)) = self.names.slot(key).map(|slot| &slot.name)
                    && self.names.is_own(path)
                {
                    self.load(key, true);
                }
            });
            next = end;
        }
    }

    /// The contents of a file beyond the universe, read at most once.
    fn load(&self, key: u32, with_requests: bool) -> Option<&Analysed> {
        let slot = self.names.slot(key)?;
        let Name::File(path) = &slot.name else { return None };
        Some(slot.loaded.get_or_init(|| {
            let display = self.names.display(path);
            let mut file = self
                .known(path, true)
                .unwrap_or_else(|| analyse(self.system, path, &display, true, &self.options.extract));
            if with_requests {
                self.resolve(path, &mut file, &mut Recent::default());
            } else {
                self.resolve_reexports(path, &mut file);
                // What is wrong inside a package is not this repository's concern, unless it cannot be read.
                if file.meta.is_some() {
                    file.problems.clear();
                }
            }
            file
        }))
    }

    /// Of an external file only the requests behind its exports matter: they are what tunnelling follows.
    fn resolve_reexports(&self, path: &str, file: &mut Analysed) {
        let Some(facts) = &file.facts else { return };
        let mut wanted = vec![false; facts.requests.len()];
        for request in facts.reexported_requests() {
            if let Some(flag) = wanted.get_mut(request as usize) {
                *flag = true;
            }
        }
        let importer = self.resolver.importer(path);
        file.targets = facts
            .requests
            .iter()
            .zip(wanted)
            .map(|(request, wanted)| match wanted.then(|| self.resolver.resolve(&importer, request)) {
                Some(target @ Target::File(_)) => self.names.key_of(&target).map(FileKey),
                _ => None,
            })
            .collect();
    }

    /// The implicit edges, and what had to be left out of them because ambiguous names lead to too many definers.
    fn tunnel(&self, files: &Portions) -> (Vec<ImplicitEdge>, Vec<Problem>) {
        let modules = Loaded { run: self, files };
        let own_slots = (self.names.universe_len()..self.names.len())
            .filter(|key| matches!(self.names.slot(*key).map(|slot| &slot.name), Some(Name::File(path)) if self.names.is_own(path)));
        let keys: Vec<u32> = (0..self.names.universe_len()).chain(own_slots).collect();
        let edges_by = |tunneller: &Tunneller<'_>| -> Vec<ImplicitEdge> {
            let edges = keys.par_iter().flat_map_iter(|key| {
                let edges = tunneller.implicit_edges(FileKey(*key)).edges;
                edges.into_iter().map(move |(target, kind)| (*key, target, kind))
            });
            edges.collect()
        };
        let tunneller = Tunneller::new(&modules);
        let edges = edges_by(&tunneller);
        if !tunneller.is_crowded() {
            return (edges, Vec::new());
        }
        drop(edges);
        let tunneller = Tunneller::new(&modules).without_crowds();
        let left_out = |key: &u32| {
            let (name, count) = tunneller.implicit_edges(FileKey(*key)).left_out?;
            let message = format!(
                "`{name}` is ambiguous and has {count} definers; the graph would have millions of edges to definers of \
                 such names, so they are left out"
            );
            Some(Problem::new(self.names.display(&self.names.absolute(*key)?), message))
        };
        (edges_by(&tunneller), keys.par_iter().filter_map(left_out).collect())
    }

    /// With `externalDepth`, the imports of externals inside `node_modules`, hop by hop.
    fn external_edges(&self, files: &Portions, implicit: &[ImplicitEdge]) -> Vec<(u32, u32, EdgeKind)> {
        let mut found = Vec::new();
        if self.options.external_depth == 0 {
            return found;
        }
        let hidden = (self.names.universe_len()..self.names.len()).filter(|key| !self.is_external(*key));
        let hidden = hidden.filter_map(|key| self.names.slot(key)?.loaded.get());
        let explicit = files.iter().chain(hidden).flat_map(|file| file.edges.iter().map(|(key, _)| *key));
        let mut frontier: Vec<u32> = explicit.chain(implicit.iter().map(|(_, key, _)| key.0)).collect();
        let mut seen = rustc_hash::FxHashSet::default();
        for _ in 0..self.options.external_depth {
            frontier.sort_unstable();
            frontier.dedup();
            frontier.retain(|key| self.is_external(*key) && seen.insert(*key));
            let edges: Vec<(u32, u32, EdgeKind)> =
                frontier.par_iter().flat_map_iter(|key| self.edges_of_external(*key)).collect();
            frontier = edges.iter().map(|(_, target, _)| *target).collect();
            found.extend(edges);
        }
        found
    }

    fn edges_of_external(&self, key: u32) -> Vec<(u32, u32, EdgeKind)> {
        let (Some(file), Some(path)) = (self.load(key, false), self.names.absolute(key)) else { return Vec::new() };
        let Some(facts) = &file.facts else { return Vec::new() };
        let importer = self.resolver.importer(&path);
        facts
            .requests
            .iter()
            .filter_map(|request| match self.resolver.resolve(&importer, request) {
                target @ Target::File(_) => self.names.key_of(&target).map(|key| (key, request.kind)),
                _ => None,
            })
            .filter(|(target, _)| self.is_external(*target))
            .map(|(target, kind)| (key, target, kind))
            .collect()
    }

    fn is_external(&self, key: u32) -> bool {
        matches!(self.names.slot(key).map(|slot| &slot.name), Some(Name::File(path)) if !self.names.is_own(path))
    }

    /// All nodes and edges.
    fn gather(&self, files: &Portions, implicit: &[ImplicitEdge], hops: &[(u32, u32, EdgeKind)]) -> GraphBuilder {
        let edges_of = |key: u32| match files.get(key) {
            Some(file) => &*file.edges,
            None if self.is_external(key) => &[],
            None => self.names.slot(key).and_then(|slot| slot.loaded.get()).map_or(&[][..], |file| &file.edges),
        };
        let explicit: Vec<(u32, u32, EdgeKind)> = (0..self.names.len())
            .into_par_iter()
            .flat_map_iter(|key| edges_of(key).iter().map(move |(target, kind)| (key, *target, *kind)))
            .collect();
        let mut builder = GraphBuilder::with_capacity(0, explicit.len() + implicit.len() + hops.len());
        let mut is_node = vec![false; self.names.len() as usize];
        is_node[..self.names.universe_len() as usize].fill(true);
        for (source, target, kind) in explicit.iter().chain(hops) {
            is_node[*target as usize] = true;
            builder.edge(*source, *target, *kind, Resolution::Explicit);
        }
        for (source, target, kind) in implicit {
            is_node[target.0 as usize] = true;
            builder.edge(*source, target.0, *kind, Resolution::Implicit);
        }
        let keys: Vec<u32> = (0..self.names.len()).filter(|key| is_node[*key as usize]).collect();
        keys.iter().for_each(|key| self.names.mark_node(*key));
        // Externals that nobody looked into have not been read yet.
        keys.par_iter().filter(|key| self.is_external(**key)).for_each(|key| {
            if let Some(slot) = self.names.slot(*key)
                && let Name::File(path) = &slot.name
            {
                slot.loaded.get_or_init(|| {
                    let display = self.names.display(path);
                    // Facts without resolved requests would look like a module that leads nowhere to a later run.
                    let known = self.known(path, false).map(|file| Analysed { facts: None, ..file });
                    known.unwrap_or_else(|| analyse(self.system, path, &display, false, &self.options.extract))
                });
            }
        });
        builder.nodes(keys.par_iter().map(|key| (*key, self.node(*key, files))).collect());
        builder
    }

    /// How many files of the repository are incomplete, and the problems of all files that are nodes. Which files are
    /// looked through may depend on threads; which are nodes does not.
    fn findings(&self, files: &Portions) -> (usize, Vec<Problem>) {
        let slots = (self.names.universe_len()..self.names.len()).filter(|key| self.names.is_node(*key));
        let loaded = slots.filter_map(|key| Some((key, self.names.slot(key)?.loaded.get()?)));
        let mut dirty = 0;
        let mut problems = Vec::new();
        for (key, file) in (0..).zip(files.iter()).chain(loaded) {
            dirty += usize::from(file.incomplete && !self.is_external(key));
            problems.extend(file.problems.iter().chain(&file.request_problems).cloned());
        }
        (dirty, problems)
    }

    fn node(&self, key: u32, files: &Portions) -> Node {
        let (id, kind) = self.names.node(key);
        let slot = self.names.slot(key);
        let is_file = slot.is_none_or(|slot| matches!(slot.name, Name::File(_)));
        let analysed = files.get(key).or_else(|| slot?.loaded.get());
        let own = analysed.filter(|_| !self.is_external(key));
        Node {
            language: if is_file { Language::of_path(&id) } else { Language::Other },
            description: own.and_then(|file| file.facts.as_ref()?.description.clone()),
            file: analysed.and_then(|file| file.meta),
            outside_root: is_file && id.starts_with("../"),
            id,
            kind,
        }
    }

    /// Everything known of files, for the cache: the universe in its order, then whatever else was read.
    fn records(&self, files: Portions, indices: &Indices) -> Vec<Record> {
        let universe_len = self.names.universe_len();
        let loaded: Vec<u32> = (universe_len..self.names.len())
            .filter(|key| self.names.slot(*key).is_some_and(|slot| slot.loaded.get().is_some()))
            .collect();
        let record_of = |key: FileKey| {
            if key.0 < universe_len {
                return key.0;
            }
            match loaded.binary_search(&key.0) {
                Ok(at) => universe_len + u32::try_from(at).unwrap_or(u32::MAX),
                Err(_) => UNKNOWN,
            }
        };
        let record = |key: u32, file: Analysed| Record {
            node: indices.get(key),
            path: self.names.absolute(key).unwrap_or_default().into(),
            in_universe: key < universe_len,
            targets: file.targets.iter().map(|target| target.map_or(NONE, record_of)).collect(),
            stat: file.stat,
            meta: file.meta,
            facts: file.facts,
            // Which files are looked through may depend on threads; which are nodes does not.
            problems: if self.names.is_node(key) { file.problems } else { Vec::new() },
            request_problems: file.request_problems,
            incomplete: file.incomplete,
        };
        let mut records: Vec<Record> = files.into_par_iter().map(|(key, file)| record(key, file)).collect();
        for key in &loaded {
            if let Some(file) = self.names.slot(*key).and_then(|slot| slot.loaded.get()) {
                records.push(record(*key, file.clone()));
            }
        }
        records
    }
}

/// The modules that tunnelling walks through: the repository's are all there, externals are loaded on demand.
struct Loaded<'r> {
    run: &'r Run<'r>,
    files: &'r Portions,
}

impl Modules for Loaded<'_> {
    fn module(&self, file: FileKey) -> Option<Module<'_>> {
        let analysed = match self.files.get(file.0) {
            Some(analysed) => analysed,
            None => self.run.load(file.0, false)?,
        };
        Some(Module { facts: analysed.facts.as_deref()?, targets: &analysed.targets })
    }

    fn may_enter(&self, from: FileKey, to: FileKey) -> bool {
        if !self.run.is_external(from.0) {
            return true;
        }
        let package = |key: FileKey| self.run.resolver.package_of(&self.run.names.absolute(key.0)?);
        match (package(from), package(to)) {
            (Some(from), Some(to)) => from == to,
            _ => false,
        }
    }
}
