//! Assemble: nodes, edges and problems of all files → the graph, and the records for the cache.

use rayon::prelude::*;
use stan_graph::{GraphBuilder, Indices, Node};
use stan_model::{EdgeKind, FileKey, Language, Problem, Resolution};

use super::link::{Links, ends, reached};
use super::{AnalysedChunks, CompileRun, KeyedEdge};
use crate::cache::NodeIndex;
use crate::graph::analyse::Analysed;
use crate::graph::record::{PathList, Records};

impl CompileRun<'_> {
    /// All nodes and edges.
    pub(in crate::graph) fn assemble(
        &self,
        files: &AnalysedChunks,
        links: &Links,
        mut implicit: Vec<KeyedEdge>,
        external_edges: &[KeyedEdge],
    ) -> GraphBuilder {
        let mut explicit = self.explicit_edges(files);
        explicit.extend_from_slice(external_edges);
        implicit.extend(self.edges_by(files, |file| &file.resolved.implementations));
        if links.has_packages {
            self.drop_unlinked(&mut explicit, &mut implicit, links);
        }
        let mut builder = GraphBuilder::with_capacity(0, explicit.len() + implicit.len() + links.edges.len());
        let mut is_node = vec![false; self.nodes.len() as usize];
        is_node[..self.nodes.universe_len() as usize].fill(true);
        let mut edge = |source: FileKey, target: FileKey, kind, resolution| {
            is_node[target.index()] = true;
            builder.edge(source.0, target.0, kind, resolution);
        };
        for KeyedEdge { source, target, kind } in explicit {
            edge(source, target, kind, Resolution::Explicit);
        }
        for KeyedEdge { source, target, kind } in implicit {
            edge(source, target, kind, Resolution::Implicit);
        }
        for (source, link) in &links.edges {
            edge(*source, link.target, link.kind, link.resolution);
        }
        let keys: Vec<FileKey> = (0..self.nodes.len()).map(FileKey).filter(|key| is_node[key.index()]).collect();
        keys.iter().for_each(|key| self.nodes.mark_node(*key));
        // Only now is it known which externals are nodes. Those that were not analysed have no digest yet.
        keys.par_iter().filter(|key| self.is_external(**key)).for_each(|key| self.hash_external(*key));
        builder.nodes(keys.par_iter().map(|key| (key.0, self.node(*key, files))).collect());
        builder
    }

    fn explicit_edges(&self, files: &AnalysedChunks) -> Vec<KeyedEdge> {
        self.edges_by(files, |file| &file.resolved.edges)
    }

    /// The edges that `edges` selects, of every file of the repository.
    fn edges_by(
        &self,
        files: &AnalysedChunks,
        edges: impl Fn(&Analysed) -> &Vec<(FileKey, EdgeKind)> + Sync,
    ) -> Vec<KeyedEdge> {
        let edges_of = |key: FileKey| {
            let beyond = || self.nodes.slot(key).filter(|_| !self.is_external(key))?.loaded.get();
            files.get(key).or_else(beyond).map_or(&[][..], |file| edges(file))
        };
        (0..self.nodes.len())
            .into_par_iter()
            .map(FileKey)
            .flat_map_iter(|source| {
                edges_of(source).iter().map(move |(target, kind)| KeyedEdge { source, target: *target, kind: *kind })
            })
            .collect()
    }

    /// Removes the edges of files that were loaded as members of a package and that no edge from the repository
    /// reaches.
    fn drop_unlinked(&self, explicit: &mut Vec<KeyedEdge>, implicit: &mut Vec<KeyedEdge>, links: &Links) {
        let by_name = links.edges.iter().map(|(source, link)| (*source, link.target));
        let edges: Vec<(FileKey, FileKey)> = ends(explicit).chain(ends(implicit)).chain(by_name).collect();
        let is_reached = reached(self.nodes.universe_len(), self.nodes.len(), &edges);
        let is_linked = |edge: &KeyedEdge| is_reached.get(edge.source.index()).copied().unwrap_or(false);
        explicit.retain(is_linked);
        implicit.retain(is_linked);
    }

    /// The number of incomplete files of the repository, and the problems of all files that are nodes. Which files are
    /// tunnelled through may depend on threads; which are nodes does not.
    pub(in crate::graph) fn problems(&self, files: &AnalysedChunks) -> (usize, Vec<Problem>) {
        let beyond = self.nodes.beyond().filter(|key| self.nodes.is_node(*key));
        let loaded = beyond.filter_map(|key| Some((key, self.nodes.slot(key)?.loaded.get()?)));
        let mut dirty = 0;
        let mut problems = Vec::new();
        for (key, file) in (0..).map(FileKey).zip(files.iter()).chain(loaded) {
            dirty += usize::from(file.incomplete && !self.is_external(key));
            problems.extend(file.problems.iter().chain(&file.request_problems).cloned());
        }
        (dirty, problems)
    }

    fn node(&self, key: FileKey, files: &AnalysedChunks) -> Node {
        let (id, kind) = self.nodes.node(key);
        let slot = self.nodes.slot(key);
        let is_file = slot.is_none() || self.file_beyond(key).is_some();
        let analysed = files.get(key).or_else(|| slot?.loaded.get());
        let own = analysed.filter(|_| !self.is_external(key));
        Node {
            language: if is_file { Language::of_path(&id) } else { Language::Other },
            description: own.and_then(|file| file.description().map(Into::into)),
            file: analysed.and_then(|file| file.meta),
            outside_root: slot.is_some()
                && self.file_beyond(key).is_some_and(|path| self.nodes.relative(path).is_none()),
            id,
            kind,
        }
    }

    /// All analysed files for the cache: the universe in its order, then everything else that was read.
    pub(in crate::graph) fn records(&self, files: AnalysedChunks, indices: &Indices) -> Records {
        let universe = (0..self.nodes.universe_len()).map(FileKey);
        let mut beyond = Vec::new();
        for key in self.nodes.beyond() {
            let Some(file) = self.nodes.slot(key).and_then(|slot| slot.loaded.get()) else { continue };
            let mut file = file.clone();
            // Which files are tunnelled through may depend on threads; which are nodes does not.
            if !self.nodes.is_node(key) {
                file.problems.clear();
            }
            beyond.push((key, file));
        }
        let keys = universe.chain(beyond.iter().map(|(key, _)| *key));
        let nodes = keys.map(|key| indices.get(key.0).map_or(NodeIndex::NONE, NodeIndex)).collect();
        let root = self.nodes.root_prefix();
        let length: usize = self.universe.files.iter().map(|path| root.len() + path.len()).sum();
        let mut paths = PathList::with_capacity(length, self.universe.files.len() + beyond.len());
        self.universe.files.iter().for_each(|path| paths.push([&root, path]));
        for (key, _) in &beyond {
            paths.push(["", &self.nodes.absolute(*key).unwrap_or_default()]);
        }
        Records::new(files, beyond, nodes, paths)
    }
}
