//! Tunnel: implicit edges to the files that define names imported through barrels, and the edges between externals that
//! `externalDepth` asks for.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use stan_graph::{Module, Modules, Tunneller};
use stan_model::{FileKey, Problem};

use super::resolve::ThreadResolver;
use super::{AnalysedChunks, CompileRun, KeyedEdge};

impl CompileRun<'_> {
    /// The implicit edges, and a problem for each file with edges that are omitted because an ambiguous name has too many
    /// definers.
    pub(in crate::graph) fn tunnel(&self, files: &AnalysedChunks) -> (Vec<KeyedEdge>, Vec<Problem>) {
        let modules = CompiledModules { run: self, files };
        let beyond = self.nodes.beyond().filter(|key| self.own_file_beyond(*key).is_some());
        let keys: Vec<FileKey> = (0..self.nodes.universe_len()).map(FileKey).chain(beyond).collect();
        let edges_by = |tunneller: &Tunneller<'_>| -> Vec<KeyedEdge> {
            let edges = keys.par_iter().flat_map_iter(|key| {
                let edges = tunneller.implicit_edges(*key).edges;
                edges.into_iter().map(move |(target, kind)| KeyedEdge { source: *key, target, kind })
            });
            edges.collect()
        };
        let tunneller = Tunneller::new(&modules);
        let edges = edges_by(&tunneller);
        if !tunneller.exceeds_edge_limit() {
            return (edges, Vec::new());
        }
        // Which file exceeded the limit depends on threads, so those edges cannot be part of the answer. Start again with a limit
        // for each name instead, which does not.
        drop(edges);
        let tunneller = Tunneller::new(&modules).with_definer_limit();
        let left_out = |key: &FileKey| {
            let (name, count) = tunneller.implicit_edges(*key).left_out?;
            let message = format!(
                "`{name}` is ambiguous and has {count} definers; the graph would have millions of edges to definers of \
                 such names, so they are left out"
            );
            Some(Problem::new(self.nodes.display(&self.nodes.absolute(*key)?), message))
        };
        (edges_by(&tunneller), keys.par_iter().filter_map(left_out).collect())
    }

    /// With `externalDepth`, the imports of externals inside `node_modules`, level by level.
    pub(in crate::graph) fn external_edges(&self, files: &AnalysedChunks, implicit: &[KeyedEdge]) -> Vec<KeyedEdge> {
        let mut found = Vec::new();
        if self.options.external_depth == 0 {
            return found;
        }
        let beyond = self.nodes.beyond().filter(|key| !self.is_external(*key));
        let beyond = beyond.filter_map(|key| self.nodes.slot(key)?.loaded.get());
        let explicit = files.iter().chain(beyond).flat_map(|file| file.resolved.edges.iter().map(|(key, _)| *key));
        let mut frontier: Vec<FileKey> = explicit.chain(implicit.iter().map(|edge| edge.target)).collect();
        let mut seen = FxHashSet::default();
        for _ in 0..self.options.external_depth {
            frontier.sort_unstable();
            frontier.dedup();
            frontier.retain(|key| self.is_external(*key) && seen.insert(*key));
            let edges: Vec<KeyedEdge> = frontier.par_iter().flat_map_iter(|key| self.edges_of_external(*key)).collect();
            frontier = edges.iter().map(|edge| edge.target).collect();
            found.extend(edges);
        }
        found
    }

    fn edges_of_external(&self, key: FileKey) -> Vec<KeyedEdge> {
        let (Some(file), Some(path)) = (self.load_external(key), self.nodes.absolute(key)) else { return Vec::new() };
        let Some(facts) = &file.facts else { return Vec::new() };
        let mut resolver = ThreadResolver::new(self.resolvers, self.nodes);
        let targets = resolver.files_of(&path, facts);
        let targets = targets.filter(|(target, _)| self.is_external(*target));
        targets.map(|(target, kind)| KeyedEdge { source: key, target, kind }).collect()
    }
}

/// The modules that tunnelling walks through. The repository's are loaded already, externals are loaded on demand.
struct CompiledModules<'r> {
    run: &'r CompileRun<'r>,
    files: &'r AnalysedChunks,
}

impl Modules for CompiledModules<'_> {
    fn module(&self, file: FileKey) -> Option<Module<'_>> {
        let analysed = match self.files.get(file) {
            Some(analysed) => analysed,
            None => self.run.load_external(file)?,
        };
        Some(Module { facts: analysed.facts.as_deref()?, targets: &analysed.resolved.targets })
    }

    fn may_enter(&self, from: FileKey, to: FileKey) -> bool {
        if !self.run.is_external(from) {
            return true;
        }
        let paths = self.run.nodes.absolute(from).zip(self.run.nodes.absolute(to));
        paths.is_some_and(|(from, to)| self.run.resolvers.share_package(&from, &to))
    }
}
