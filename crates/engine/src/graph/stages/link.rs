//! Link: edges that follow from names, in languages whose files see each other's names without importing files (Go). TypeScript
//! has none and pays one check per file.

use rayon::prelude::*;
use stan_lang::language::{FactsOf, NameEdge, NamedFile};
use stan_model::{FileFacts, FileKey};

use super::{AnalysedChunks, CompileRun, KeyedEdge};
use crate::graph::analyse::Analysed;

/// The edges by name of all files of the repository.
#[derive(Default)]
pub(in crate::graph) struct Links {
    pub(super) edges: Vec<(FileKey, NameEdge)>,
    /// Some request resolves to several files. All of them were loaded, but only those whose names are used are linked, so that
    /// some may not be part of the graph.
    pub(super) has_packages: bool,
}

impl CompileRun<'_> {
    pub(in crate::graph) fn link_by_name(&self, files: &AnalysedChunks) -> Links {
        let facts = OwnFacts { run: self, files };
        let has_names = |file: &Analysed| {
            file.facts.as_ref().is_some_and(|facts| !facts.uses.is_empty() || !facts.scopes.is_empty())
        };
        let named: Vec<(FileKey, &Analysed)> = (0..self.nodes.len())
            .map(FileKey)
            .filter_map(|key| Some((key, facts.analysed(key)?)))
            .filter(|(_, file)| has_names(file) || !file.resolved.packages.is_empty())
            .collect();
        let edges = named.par_iter().flat_map_iter(|(key, file)| {
            let edges = self.edges_by_name(*key, file, &facts);
            edges.into_iter().map(|edge| (*key, edge))
        });
        Links { edges: edges.collect(), has_packages: named.iter().any(|(_, file)| !file.resolved.packages.is_empty()) }
    }

    fn edges_by_name(&self, key: FileKey, file: &Analysed, all: &OwnFacts<'_>) -> Vec<NameEdge> {
        let (Some(path), Some(facts)) = (self.nodes.absolute(key), file.facts.as_deref()) else { return Vec::new() };
        let file = NamedFile { key, path: &path, facts, packages: &file.resolved.packages };
        self.resolvers.link_by_name(&file, all, self.nodes)
    }
}

/// Access to the facts of the repository's files, and of imported files of packages: these have no edges of their own, but the
/// names that they declare decide which of them are linked.
struct OwnFacts<'r> {
    run: &'r CompileRun<'r>,
    files: &'r AnalysedChunks,
}

impl OwnFacts<'_> {
    fn analysed(&self, key: FileKey) -> Option<&Analysed> {
        match self.files.get(key) {
            Some(file) => Some(file),
            None if self.run.is_external(key) => None,
            None => self.run.nodes.slot(key)?.loaded.get(),
        }
    }
}

impl FactsOf for OwnFacts<'_> {
    fn key_of(&self, path: &str) -> Option<FileKey> {
        self.run.nodes.find(path)
    }

    fn facts(&self, file: FileKey) -> Option<&FileFacts> {
        let external = || self.run.load_external(file);
        self.analysed(file).or_else(external)?.facts.as_deref()
    }
}

/// For each key whether it is a file of the universe or reachable from one over `edges`.
pub(super) fn reached(universe: u32, keys: u32, edges: &[(FileKey, FileKey)]) -> Vec<bool> {
    let mut is_reached = vec![false; keys as usize];
    is_reached[..universe as usize].fill(true);
    let (mut beyond, inside): (Vec<_>, Vec<_>) = edges.iter().copied().partition(|(source, _)| source.0 >= universe);
    beyond.sort_unstable();
    let mut pending: Vec<FileKey> = inside.into_iter().map(|(_, target)| target).collect();
    while let Some(key) = pending.pop() {
        let Some(flag) = is_reached.get_mut(key.index()).filter(|flag| !**flag) else { continue };
        *flag = true;
        let first = beyond.partition_point(|(source, _)| *source < key);
        let own = beyond.iter().skip(first).take_while(|(source, _)| *source == key);
        pending.extend(own.map(|(_, target)| *target));
    }
    is_reached
}

/// Source and target of edges.
pub(super) fn ends(edges: &[KeyedEdge]) -> impl Iterator<Item = (FileKey, FileKey)> {
    edges.iter().map(|edge| (edge.source, edge.target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_reachable_from_the_universe_are_reached() {
        let check = |edges: &[(u32, u32)], expected: &[u32]| {
            let edges: Vec<_> = edges.iter().map(|(from, to)| (FileKey(*from), FileKey(*to))).collect();
            let found: Vec<u32> = (0..).zip(reached(2, 6, &edges)).filter_map(|(key, is)| is.then_some(key)).collect();
            assert_eq!(found, expected, "{edges:?}");
        };
        check(&[], &[0, 1]);
        check(&[(0, 3), (3, 4), (4, 3)], &[0, 1, 3, 4]);
        check(&[(2, 3), (3, 2), (1, 5)], &[0, 1, 5]);
    }
}
