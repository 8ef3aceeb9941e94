//! The names that files declare, exported or not. An overview shows the most informative of them.

use std::path::Path;
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use stan_graph::overview::OverviewInput;
use stan_lang::Languages;
use stan_model::outline::{Outline, Unit, UnitKind};
use stan_repo::{SystemExt as _, sha256};

use super::Source;
use super::input::is_code;
use crate::cache::{KeptNames, names_key};
use crate::graph::open_cache;
use crate::outline::absolute;

/// A larger file is data or generated, and its names are not shown.
const MAX_FILE_BYTES: u64 = 2 << 20;

/// Further names of one file are ignored.
const MAX_NAMES: usize = 4_000;

impl Source<'_> {
    /// Adds the names that files declare and do not export.
    pub(super) fn add_declared(&self, input: &mut OverviewInput) {
        for (file, names) in input.files.iter_mut().zip(self.declared(&self.source_nodes())) {
            let exported: FxHashSet<&str> = file.exports.iter().map(|(name, _)| &**name).collect();
            file.declared = names.into_iter().filter(|name| !exported.contains(&**name)).collect();
        }
    }

    /// For each of these nodes, the names of its declarations in source order, without duplicates. Cached for unchanged files.
    fn declared(&self, nodes: &[u32]) -> Vec<Vec<Box<str>>> {
        let options = self.repository.config.graph_options(self.repository.root);
        let kept = KeptNames::load(open_cache(self.system, &options, self.work));
        let view = kept.view();
        let find = |node: &u32| {
            let node = self.detailed.graph.node(*node);
            let Some(file) = node.file.filter(|file| is_code(&node.id) && file.size <= MAX_FILE_BYTES) else {
                return (None, Vec::new());
            };
            let key = names_key(&node.id, &file.digest);
            if let Some(known) = view.find(key) {
                return (Some(key), known);
            }
            let mut bytes = Vec::new();
            let path = absolute(self.repository.root, &node.id);
            let is_read = self.system.read_real(Path::new(&path), MAX_FILE_BYTES, &mut bytes).is_ok();
            // The cache key is the digest in the graph, so names of other contents must not be stored under it.
            if !is_read || sha256(&bytes) != file.digest {
                self.read_other_bytes.store(true, Ordering::Relaxed);
                return (None, if is_read { declared_names(&node.id, &bytes) } else { Vec::new() });
            }
            let names = declared_names(&node.id, &bytes);
            view.add(key, &names);
            (Some(key), names)
        };
        let found: Vec<(Option<u128>, Vec<Box<str>>)> = self.engine.parse(|| nodes.par_iter().map(find).collect());
        let mut used: Vec<u128> = found.iter().filter_map(|(key, _)| *key).collect();
        used.sort_unstable();
        kept.save(&used);
        found.into_iter().map(|(_, names)| names).collect()
    }
}

/// The names of a file's declarations.
fn declared_names(path: &str, bytes: &[u8]) -> Vec<Box<str>> {
    let Some(language) = Languages::all().declarations(path) else { return Vec::new() };
    let Some(text) = language.text_of(bytes) else { return Vec::new() };
    names_of(&language.outline(path, &text))
}

/// Names of top-level declarations, and of functions and methods at any depth, except those of unit tests (`mod tests`): these
/// are long and many, and would displace names that tell what the file is for.
fn names_of(outline: &Outline) -> Vec<Box<str>> {
    let mut is_test = Vec::with_capacity(outline.units.len());
    for unit in &outline.units {
        let is_below = unit.parent.is_some_and(|parent| is_test.get(parent.0 as usize) == Some(&true));
        is_test.push(is_below || is_test_module(unit));
    }
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let shown = outline.units.iter().zip(is_test).filter(|(unit, is_test)| is_shown(unit) && !is_test);
    let names = shown.flat_map(|(unit, _)| &unit.names);
    let names = names.map(|name| &*name.text).filter(|name| seen.insert(name));
    names.take(MAX_NAMES).map(Into::into).collect()
}

fn is_test_module(unit: &Unit) -> bool {
    matches!(unit.kind, UnitKind::Namespace | UnitKind::Module)
        && unit.names.iter().any(|name| matches!(&*name.text, "test" | "tests"))
}

fn is_shown(unit: &Unit) -> bool {
    use UnitKind as Kind;
    match unit.kind {
        Kind::Impl | Kind::Export | Kind::Constructor | Kind::Signature | Kind::StaticBlock => false,
        Kind::Method | Kind::Function | Kind::Getter => true,
        _ => unit.parent.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_top_level_names_are_declared_once() {
        let text = b"const limit = 1;\nexport class Reader {\n constructor() {}\n size = 0;\n read() { const local = 1; }\n}\nfunction read() {}\n";
        let names = declared_names("a.ts", text);
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["limit", "Reader", "read"]);
        assert!(declared_names("a.png", b"\x89PNG").is_empty());
    }

    #[test]
    fn names_of_unit_tests_inside_a_file_are_not_shown() {
        let text = b"fn open() {}\n#[cfg(test)]\nmod tests {\n fn helper() {}\n #[test]\n fn opens_nothing_twice() {}\n}\nmod parts { fn close() {} }\n";
        let names = declared_names("a.rs", text);
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["open", "parts", "close"]);
    }
}
