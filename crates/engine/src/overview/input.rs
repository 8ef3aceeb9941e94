//! Collects what an overview shows of each file: tokens, exported names by number of uses, imports with the imported names,
//! tests.

use std::path::Path;
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stan_graph::overview::{OverviewFile, OverviewImport, OverviewInput, words};
use stan_lang::Languages;
use stan_model::facts::{Bound, ExportSource};
use stan_model::{FileFacts, NodeKind, Resolution, programming_extension};
use stan_repo::{SystemExt as _, sha256};

use super::Source;
use crate::cache::TokenTable;
use crate::graph::open_cache;
use crate::outline::absolute;
use crate::tokens::MAX_COUNTED_BYTES;

/// One dependency of a file, before names are weighted.
struct Taken<'d> {
    target: u32,
    names: Vec<&'d str>,
    /// Found only by tunnelling through barrels.
    is_implicit: bool,
}

impl Source<'_> {
    /// The files of the repository, in overview order.
    pub(super) fn source_nodes(&self) -> Vec<u32> {
        let graph = &self.detailed.graph;
        graph.indices().filter(|node| graph.node(*node).kind == NodeKind::Source).collect()
    }

    /// Everything but the header.
    pub(super) fn input(&self) -> OverviewInput {
        let graph = &self.detailed.graph;
        let nodes = self.source_nodes();
        let mut file_of = vec![u32::MAX; graph.node_count()];
        for (file, node) in (0u32..).zip(&nodes) {
            file_of[*node as usize] = file;
        }
        let finder = self.detailed.names();
        let taken: Vec<Vec<Taken<'_>>> = nodes.par_iter().map(|node| self.taken(&finder, *node, &file_of)).collect();
        let tokens = self.tokens(&nodes);
        let mut files: Vec<OverviewFile> = nodes
            .iter()
            .zip(tokens)
            .map(|(node, tokens)| {
                let node = graph.node(*node);
                OverviewFile {
                    path: node.id.to_string(),
                    is_code: is_code(&node.id),
                    size: node.file.map_or(0, |file| file.size),
                    tokens,
                    description: node.description.clone(),
                    ..OverviewFile::default()
                }
            })
            .collect();
        let uses = uses(&files, &taken);
        let offered: Vec<Vec<&str>> =
            nodes.iter().map(|node| self.detailed.facts(*node).map(offered).unwrap_or_default()).collect();
        let mut offers: FxHashMap<&str, u32> = FxHashMap::default();
        offered.iter().flatten().for_each(|name| *offers.entry(name).or_default() += 1);
        for ((file, names), uses) in files.iter_mut().zip(offered).zip(&uses) {
            file.exports = ordered(names, &file.path, uses, &offers);
        }
        add_imports(&mut files, taken);
        let folders = self.described_folders(&nodes);
        OverviewInput { packages: self.used_packages(), files, header: Vec::new(), folders }
    }

    fn taken<'d>(
        &'d self,
        finder: &crate::graph::detail::NameFinder<'d>,
        node: u32,
        file_of: &[u32],
    ) -> Vec<Taken<'d>> {
        let mut names = finder.taken(node);
        let mut found: Vec<Taken<'d>> = Vec::new();
        for edge in self.detailed.graph.edges(node) {
            let target = file_of.get(edge.target as usize).copied().unwrap_or(u32::MAX);
            if target == u32::MAX || edge.target == node {
                continue;
            }
            let is_implicit = edge.resolution == Resolution::Implicit;
            match found.last_mut() {
                Some(last) if last.target == target => last.is_implicit &= is_implicit,
                _ => {
                    let names = names.remove(&edge.target).unwrap_or_default();
                    found.push(Taken { target, names, is_implicit });
                }
            }
        }
        // Names that a barrel re-exports are listed in the files that define them.
        let mut defined: Vec<&str> =
            found.iter().filter(|one| one.is_implicit).flat_map(|one| one.names.iter().copied()).collect();
        defined.sort_unstable();
        for one in found.iter_mut().filter(|one| !one.is_implicit) {
            one.names.retain(|name| defined.binary_search(name).is_err());
        }
        found
    }

    /// Token counts of code files; 0 for others. Cached for unchanged files.
    pub(super) fn tokens(&self, nodes: &[u32]) -> Vec<u64> {
        let graph = &self.detailed.graph;
        let options = self.repository.config.graph_options(self.repository.root);
        let cache = open_cache(self.system, &options, self.work);
        let known = cache.as_ref().map(|cache| cache.load_tokens(self.tokenizer.name())).unwrap_or_default();
        let count = |node: &u32| {
            let node = graph.node(*node);
            if !is_code(&node.id) {
                return (None, 0);
            }
            let key = node.file.map(|file| TokenTable::key(&file.digest));
            if let Some(tokens) = key.and_then(|key| known.get(key)) {
                return (key, tokens);
            }
            let mut bytes = Vec::new();
            let path = absolute(self.repository.root, &node.id);
            let is_large = node.file.is_some_and(|file| file.size > MAX_COUNTED_BYTES);
            let note_other_bytes = || self.read_other_bytes.store(true, Ordering::Relaxed);
            match self.system.read_real(Path::new(&path), MAX_COUNTED_BYTES, &mut bytes) {
                // The cache key is the digest in the graph, so counts of other contents must not be stored under it.
                Ok(_) => {
                    let is_hashed = node.file.is_some_and(|file| sha256(&bytes) == file.digest);
                    if !is_hashed && !is_large {
                        note_other_bytes();
                    }
                    (key.filter(|_| is_hashed), self.tokenizer.count(&bytes))
                }
                Err(_) => {
                    if !is_large {
                        note_other_bytes();
                    }
                    (None, node.file.map_or(0, |file| file.size / 4))
                }
            }
        };
        let counts: Vec<(Option<u128>, u64)> = nodes.par_iter().map(count).collect();
        let table = known.with(counts.iter().filter_map(|(key, tokens)| Some(((*key)?, *tokens))));
        if table != known
            && let Some(cache) = &cache
        {
            cache.store_tokens(self.tokenizer.name(), &table);
        }
        counts.into_iter().map(|(_, tokens)| tokens).collect()
    }
}

/// Whether a file gets its own line.
pub(super) fn is_code(path: &str) -> bool {
    Languages::all().claim(path) || programming_extension(path).is_some()
}

/// The number of uses of each name of a file: by all files, and by files of other folders.
type Uses<'d> = FxHashMap<&'d str, (u32, u32)>;

fn uses<'d>(files: &[OverviewFile], taken: &[Vec<Taken<'d>>]) -> Vec<Uses<'d>> {
    let folder = |index: usize| {
        files.get(index).map_or("", |file: &OverviewFile| file.path.rsplit_once('/').map_or("", |(folder, _)| folder))
    };
    let mut uses: Vec<Uses<'d>> = files.iter().map(|_| Uses::default()).collect();
    for (file, taken) in taken.iter().enumerate() {
        for one in taken {
            let target = one.target as usize;
            let is_outside = u32::from(folder(file) != folder(target));
            let Some(uses) = uses.get_mut(target) else { continue };
            for name in &one.names {
                let (all, outside) = uses.entry(name).or_default();
                *all += 1;
                *outside += is_outside;
            }
        }
    }
    uses
}

/// The names that a file declares and exports, sorted.
fn offered(facts: &FileFacts) -> Vec<&str> {
    let local = facts.exports.iter().filter(|export| export.source == ExportSource::Local);
    let mut names: Vec<&str> = local.map(|export| &*export.name).collect();
    if facts.exports.is_empty() {
        names.extend(facts.declares.iter().map(|name| &**name));
    }
    // A file without exports is described by its other declarations: tests, binaries, private modules.
    if names.is_empty() {
        let items =
            facts.scopes.iter().flat_map(|scope| &scope.bindings).filter(|binding| binding.bound == Bound::Item);
        names.extend(items.map(|binding| &*binding.name));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Orders names by number of uses, and returns each with its uses in other folders. On a tie, names that do not repeat the path
/// come first, then names that fewer files have: `Props` and `default` distinguish files least.
fn ordered(mut names: Vec<&str>, path: &str, uses: &Uses<'_>, offers: &FxHashMap<&str, u32>) -> Vec<(Box<str>, u32)> {
    let weight = |name: &str| uses.get(name).copied().unwrap_or_default();
    let known = words(path);
    let rank = |name: &&str| {
        let says_nothing = words(name).iter().all(|word| known.contains(word));
        (std::cmp::Reverse(weight(name).0), says_nothing, offers.get(name).copied().unwrap_or_default())
    };
    names.sort_by_cached_key(rank);
    names.into_iter().map(|name| (name.into(), weight(name).1)).collect()
}

/// Adds imports, importers and tests.
fn add_imports(files: &mut [OverviewFile], taken: Vec<Vec<Taken<'_>>>) {
    let is_test: Vec<bool> = files.iter().map(|file| file.is_code && stan_rank::is_test(&file.path)).collect();
    let names: Vec<String> = files.iter().map(|file| stan_rank::name_key(&file.path)).collect();
    for (index, taken) in (0u32..).zip(taken) {
        let own_test = is_test.get(index as usize).copied().unwrap_or(false);
        for one in &taken {
            let Some(target) = files.get_mut(one.target as usize) else { continue };
            target.importers += 1;
            if own_test && !is_test.get(one.target as usize).copied().unwrap_or(false) {
                target.tests.push(index);
            }
        }
        if let Some(file) = files.get_mut(index as usize) {
            let import = |one: Taken<'_>| OverviewImport {
                target: one.target,
                names: one.names.into_iter().map(Into::into).collect(),
            };
            file.imports = taken.into_iter().map(import).collect();
        }
    }
    for (index, file) in files.iter_mut().enumerate() {
        file.tests.sort_by_key(|test| names.get(*test as usize) != names.get(index));
    }
}

#[cfg(test)]
mod tests {
    use stan_model::facts::{Binding, Scope};

    use super::*;

    #[test]
    fn a_file_without_public_names_shows_its_own() {
        let item = |name: &str| Binding { name: name.into(), bound: Bound::Item, public: false };
        let import = Binding { name: "io".into(), bound: Bound::Request(0), public: false };
        let scopes = vec![
            Scope { bindings: vec![item("run"), import, item("main")], ..Scope::default() },
            Scope { bindings: vec![item("reads_twice"), item("run")], ..Scope::default() },
        ];
        let private = FileFacts { scopes, ..FileFacts::default() };
        assert_eq!(offered(&private), ["main", "reads_twice", "run"]);
        let public = FileFacts { declares: vec!["Reader".into()], ..private };
        assert_eq!(offered(&public), ["Reader"]);
    }

    #[test]
    fn the_most_informative_names_come_first() {
        let offers = FxHashMap::from_iter([("Props", 9), ("openFile", 1), ("parse", 1), ("run", 2), ("used", 5)]);
        let uses = Uses::from_iter([("used", (3, 2))]);
        let names = ordered(vec!["Props", "openFile", "parse", "run", "used"], "src/openFile.ts", &uses, &offers);
        let names: Vec<&str> = names.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["used", "parse", "run", "Props", "openFile"]);
    }
}
