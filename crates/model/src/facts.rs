//! The dependencies of one module on others: its requests, the names it imports, the names it exports. Pure data, cached between
//! runs; nothing is resolved here.

use crate::EdgeKind;
use serde::{Deserialize, Serialize};

/// The facts of one source file. Lists are in source order (`exports` excepted), so equal text gives equal facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Every requested module. Requests with equal (specifier, kind, form) occur once, at their first line.
    pub requests: Vec<Request>,
    /// Pattern requests: `import.meta.glob` and template imports.
    pub globs: Vec<GlobRequest>,
    /// Imported names, for tunnelling: by `import {a}`, `import d` (as `default`), `export {a} from`, `import('x').A` in type
    /// position, and JSDoc `@import {A}`. Namespace, side-effect and dynamic forms import no names.
    pub imports: Vec<ImportedName>,
    /// Exported names, sorted by (name, source) without duplicates, for binary search. A name with two sources occurs twice;
    /// overloads and merged declarations occur once.
    pub exports: Vec<Export>,
    /// Requests of `export * from`, without a name; ascending, without duplicates.
    pub stars: Vec<u32>,
    /// One line about the module (spec 10 §6).
    pub description: Option<Box<str>>,
    /// The package or namespace that the file declares itself part of, in languages that have such a declaration.
    pub package: Option<Box<str>>,
    /// Names declared at top level (in Rust those that other modules can see), sorted, without duplicates. Empty in languages
    /// whose files are linked by requests alone.
    pub declares: Vec<Box<str>>,
    /// Names used but neither declared nor imported in this file, sorted, without duplicates: other files of the package may
    /// declare them. Empty where `declares` is.
    pub uses: Vec<Box<str>>,
    /// The modules written in this file, in languages whose paths go through modules; the first is the file itself. Empty
    /// elsewhere.
    pub scopes: Vec<Scope>,
}

/// A module and the names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Sorted by name. A name can occur more than once, for different configurations or namespaces.
    pub bindings: Vec<Binding>,
    /// Requests of glob imports (`use x::*`), and whether the names are re-exported.
    pub globs: Vec<(u32, bool)>,
}

/// A name in a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Binding {
    pub name: Box<str>,
    pub bound: Bound,
    /// Visible outside of the module and its submodules.
    pub public: bool,
}

/// The meaning of a name in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// A module of this file, by its index.
    Scope(u32),
    /// The target of a request: a module in its own file, or an import.
    Request(u32),
    /// A type, function or value.
    Item,
    Macro,
    /// The declarations that calls of a macro expand to, as a module of this file by its index.
    Expansion(u32),
}

/// One module specifier, and the syntax of the request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request {
    /// The specifier's value with escapes decoded, never empty.
    pub specifier: Box<str>,
    pub kind: EdgeKind,
    pub form: FormCode,
    /// 1-based line of the specifier.
    pub line: u32,
}

/// The syntax of a request, as a number that only the language of the file interprets: its resolver may resolve forms
/// differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FormCode(pub u8);

/// A set of files requested by pattern, relative to the importing file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GlobRequest {
    /// Globs; a leading `!` excludes matches. In templates, `${…}` becomes `*` and the literal text is escaped with `[…]`.
    pub patterns: Vec<Box<str>>,
    pub line: u32,
    /// Whether wildcards match names that start with a dot.
    pub with_hidden: bool,
}

/// A name that the file imports from a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImportedName {
    /// Index into `requests`.
    pub request: u32,
    /// The name in the target module, including `default`.
    pub name: Box<str>,
    /// `Type` if this specifier is type-only, else `Runtime`.
    pub kind: EdgeKind,
}

/// The name of the default export in [`Export::name`] and [`ImportedName::name`].
pub const DEFAULT_EXPORT: &str = "default";

/// The name of `export =` in [`Export::name`]: a name that is not exported may be a member of its value.
pub const EXPORT_EQUALS: &str = "export=";

/// An exported name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Export {
    /// [`DEFAULT_EXPORT`] and [`EXPORT_EQUALS`] for exports without a name.
    pub name: Box<str>,
    pub source: ExportSource,
}

/// Where an exported name comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ExportSource {
    /// Declared in this file.
    Local,
    /// `export {name as …} from`, or a re-exported import binding.
    Name { request: u32, name: Box<str> },
    /// `export * as … from`, or a re-exported namespace import (or `import x = require()`).
    Namespace { request: u32 },
}

impl FileFacts {
    /// The requests whose modules this file re-exports, in part or whole.
    pub fn reexported_requests(&self) -> impl Iterator<Item = u32> + '_ {
        let named = self.exports.iter().filter_map(|export| match &export.source {
            ExportSource::Local => None,
            ExportSource::Name { request, .. } | ExportSource::Namespace { request } => Some(*request),
        });
        named.chain(self.stars.iter().copied())
    }

    /// Whether these can be the facts of a file of `size` bytes: sorted lists are sorted, indices of requests are in range, and
    /// lists are no longer than the file allows. For facts that another machine extracted.
    pub fn is_consistent(&self, size: u64) -> bool {
        let count = self.requests.len() as u64;
        let is_there = |request: u32| u64::from(request) < count;
        let entries = [
            self.requests.len(),
            self.globs.iter().map(|glob| glob.patterns.len().saturating_add(1)).sum(),
            self.imports.len(),
            self.exports.len(),
            self.stars.len(),
            self.declares.len(),
            self.uses.len(),
            self.scopes.iter().map(|scope| scope.bindings.len() + scope.globs.len() + 1).sum(),
        ];
        // A byte of source produces at most a few entries.
        let most = size.saturating_mul(8).saturating_add(64);
        let is_ascending = |names: &[Box<str>]| names.is_sorted_by(|a, b| a < b);
        entries.iter().fold(0u64, |sum, entries| sum.saturating_add(*entries as u64)) <= most
            && self.requests.iter().all(|request| !request.specifier.is_empty())
            && self.imports.iter().all(|import| is_there(import.request))
            && self.exports.is_sorted_by(|a, b| a < b)
            && self.stars.is_sorted_by(|a, b| a < b)
            && self.reexported_requests().all(is_there)
            && is_ascending(&self.declares)
            && is_ascending(&self.uses)
            && self.has_consistent_scopes()
    }

    /// Whether the modules of this file form a tree, their names are sorted, and their requests exist. Each module but the first
    /// must be inside one with a smaller index: with a cycle, or a module with two parents, resolution might not terminate in
    /// time.
    fn has_consistent_scopes(&self) -> bool {
        let is_there = |request: u32| (request as usize) < self.requests.len();
        let mut is_bound = vec![false; self.scopes.len()];
        let mut is_first_place = |outer: usize, inner: usize| {
            inner > outer && is_bound.get_mut(inner).is_some_and(|is_bound| !std::mem::replace(is_bound, true))
        };
        self.scopes.iter().enumerate().all(|(outer, scope)| {
            scope.globs.iter().all(|(request, _)| is_there(*request))
                && scope.bindings.is_sorted_by(|a, b| a.name <= b.name)
                && scope.bindings.iter().all(|binding| match binding.bound {
                    Bound::Scope(inner) | Bound::Expansion(inner) => is_first_place(outer, inner as usize),
                    Bound::Request(request) => is_there(request),
                    Bound::Item | Bound::Macro => true,
                })
        })
    }

    /// Whether names, rather than requests, may create edges to or from the file.
    pub fn is_linked_by_name(&self) -> bool {
        !self.declares.is_empty() || !self.uses.is_empty() || !self.scopes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inconsistent_facts_are_detected() {
        let request = Request { specifier: "a".into(), kind: EdgeKind::Runtime, form: FormCode(0), line: 1 };
        let good = FileFacts { requests: vec![request.clone()], stars: vec![0], ..FileFacts::default() };
        assert!(good.is_consistent(10));
        let import = |request| ImportedName { request, name: "x".into(), kind: EdgeKind::Runtime };
        let local = |name: &str| Export { name: name.into(), source: ExportSource::Local };
        for bad in [
            FileFacts { stars: vec![1], ..good.clone() },
            FileFacts { stars: vec![0, 0], ..good.clone() },
            FileFacts { imports: vec![import(1)], ..good.clone() },
            FileFacts { exports: vec![local("b"), local("a")], ..good.clone() },
            FileFacts { declares: vec!["b".into(), "a".into()], ..good.clone() },
            FileFacts { requests: vec![Request { specifier: "".into(), ..request.clone() }], ..FileFacts::default() },
            FileFacts { requests: vec![request; 200], ..FileFacts::default() },
        ] {
            assert!(!bad.is_consistent(10), "{bad:?}");
        }
    }

    #[test]
    fn modules_of_a_file_must_form_a_tree_with_sorted_names() {
        let request = Request { specifier: "a".into(), kind: EdgeKind::Runtime, form: FormCode(0), line: 1 };
        let facts = |scopes: &[&[(&str, Bound)]], globs: &[(u32, bool)]| {
            let binding = |(name, bound): &(&str, Bound)| Binding { name: (*name).into(), bound: *bound, public: true };
            let scope = |bindings: &&[(&str, Bound)]| Scope {
                bindings: bindings.iter().map(binding).collect(),
                globs: globs.to_vec(),
            };
            let scopes = scopes.iter().map(scope).collect();
            FileFacts { requests: vec![request.clone()], scopes, ..FileFacts::default() }
        };
        use Bound::{Item, Scope as Inner};
        let tree: &[&[(&str, Bound)]] = &[&[("a", Inner(1)), ("a", Item), ("b", Inner(2))], &[], &[]];
        assert!(facts(tree, &[(0, true)]).is_consistent(10));
        assert!(!facts(tree, &[(1, true)]).is_consistent(10), "a glob of a request that is not there");
        for bad in [
            &[&[("b", Item), ("a", Item)][..]][..],
            &[&[("a", Bound::Request(1))]],
            &[&[("a", Inner(1))]],
            &[&[("a", Inner(0))]],
            &[&[("a", Inner(1))], &[("b", Inner(0))]],
            &[&[("a", Inner(1)), ("b", Inner(1))], &[]],
            &[&[("a", Item); 200]],
        ] {
            assert!(!facts(bad, &[]).is_consistent(10), "{bad:?}");
        }
    }
}
