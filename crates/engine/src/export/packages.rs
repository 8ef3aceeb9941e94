//! The package of each node outside the repository.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use stan_model::{Ecosystem, Language, NodeKind};

use super::manifests::{OwnPackage, own_packages};
use crate::context::{Repository, locate_externals};
use crate::engine::Engine;
use crate::graph::detail::DetailedGraph;
use crate::overview::bare_package;

/// A package that files use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UsedPackage {
    pub(super) name: String,
    /// Unknown if it is not installed.
    pub(super) version: Option<String>,
    pub(super) ecosystem: &'static str,
}

/// The packages of nodes, and those of the repository itself.
pub(super) struct Packages {
    by_node: BTreeMap<u32, UsedPackage>,
    pub(super) own: Vec<OwnPackage>,
}

impl Packages {
    pub(super) fn find(engine: &Engine<'_>, repository: &Repository<'_>, detailed: &DetailedGraph) -> Self {
        let graph = &detailed.graph;
        let options = repository.config.graph_options(repository.root);
        let (externals, _) = locate_externals(engine.system(), &options, graph);
        let mut by_node = BTreeMap::new();
        for (node, file) in externals {
            if let Some(package) = file.package {
                let ecosystem = Ecosystem::folder(package.ecosystem);
                by_node.insert(node, UsedPackage { name: package.name, version: Some(package.version), ecosystem });
            }
        }
        let sources = || graph.indices().filter(|node| graph.node(*node).kind == NodeKind::Source);
        // The registry of a missing package is that of the language of the first file that imports it.
        for source in sources() {
            let language = graph.node(source).language;
            let missing = graph.edges(source).iter().filter(|edge| graph.node(edge.target).kind == NodeKind::Missing);
            let missing: Vec<u32> = missing.map(|edge| edge.target).collect();
            let Some(facts) = detailed.facts(source).filter(|_| !missing.is_empty()) else { continue };
            let written: FxHashSet<&str> = facts.requests.iter().map(|request| &*request.specifier).collect();
            for node in missing {
                let id = &*graph.node(node).id;
                // Other ids are paths: targets of relative imports that do not exist.
                let is_written =
                    written.contains(id) || id.match_indices('.').any(|(at, _)| written.contains(&id[..at]));
                if let Some((name, ecosystem)) = missing_package(id, language).filter(|_| is_written) {
                    let package = || UsedPackage { name: name.to_owned(), version: None, ecosystem };
                    by_node.entry(node).or_insert_with(package);
                }
            }
        }
        let files = sources().map(|node| &*graph.node(node).id);
        Self { by_node, own: own_packages(engine.system(), repository.root, files) }
    }

    pub(super) fn of(&self, node: u32) -> Option<&UsedPackage> {
        self.by_node.get(&node)
    }

    /// Every package that source files use, with the number of these files.
    pub(super) fn used(&self, detailed: &DetailedGraph) -> BTreeMap<&UsedPackage, u64> {
        let graph = &detailed.graph;
        let mut files = BTreeMap::new();
        for node in graph.indices().filter(|node| graph.node(*node).kind == NodeKind::Source) {
            let packages: BTreeSet<&UsedPackage> =
                graph.edges(node).iter().filter_map(|edge| self.of(edge.target)).collect();
            packages.into_iter().for_each(|package| *files.entry(package).or_default() += 1);
        }
        files
    }

    /// For each package of the repository, the number of source files whose nearest manifest is that package's.
    pub(super) fn own_files(&self, detailed: &DetailedGraph) -> Vec<u64> {
        let mut by_folder: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, package) in self.own.iter().enumerate() {
            by_folder.entry(&package.folder).or_default().push(index);
        }
        let mut counts = vec![0; self.own.len()];
        for node in detailed.graph.nodes().iter().filter(|node| node.kind == NodeKind::Source) {
            let mut folder = node.id.rsplit_once('/').map_or("", |(folder, _)| folder);
            let nearest = loop {
                match by_folder.get(folder) {
                    Some(found) => break Some(found),
                    None if folder.is_empty() => break None,
                    None => folder = folder.rsplit_once('/').map_or("", |(above, _)| above),
                }
            };
            for index in nearest.into_iter().flatten() {
                if let Some(count) = counts.get_mut(*index) {
                    *count += 1;
                }
            }
        }
        counts
    }
}

/// The package of a missing module, and its registry. For Go, the import path: which part of it is the module is known only if it
/// is installed.
fn missing_package(id: &str, importer: Language) -> Option<(&str, &'static str)> {
    match importer {
        Language::Py => {
            let is_dotted = !id.starts_with('.') && !id.contains('/');
            is_dotted.then(|| (id.split('.').next().unwrap_or(id), "pypi"))
        }
        Language::Go => {
            let is_module = id.split('/').next().is_some_and(|host| host.contains('.') && !host.starts_with('.'));
            is_module.then_some((id, "go"))
        }
        Language::Ts | Language::Js => bare_package(id).map(|name| (name, "npm")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_modules_name_their_package() {
        for (id, language, expected) in [
            ("react/jsx-runtime", Language::Ts, Some(("react", "npm"))),
            ("./a", Language::Js, None),
            ("yaml.nodes", Language::Py, Some(("yaml", "pypi"))),
            ("pkg/gone", Language::Py, None),
            ("..gone", Language::Py, None),
            ("github.com/a/b/c", Language::Go, Some(("github.com/a/b/c", "go"))),
            ("internal/x", Language::Go, None),
            ("react", Language::Md, None),
        ] {
            assert_eq!(missing_package(id, language), expected, "{id}");
        }
    }
}
