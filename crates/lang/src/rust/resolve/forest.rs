//! The module trees of all crates: `mod` declarations are followed from the root files of packages.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::{Binding, Bound, Scope};
use stan_model::{FileFacts, FileKey};

use super::Resolver;
use super::manifest::Manifest;
use super::names::{KnownImport, Meaning};
use crate::language::{FactsOf, Target};
use crate::memo::Memo;
use crate::name_order::beginnings;
use crate::paths::{base_name, contains, join_plain, parent};
use crate::rust::form::Form;

/// The maximum number of definitions of a macro that one call may refer to.
const MAX_DEFINITIONS_PER_CALL: usize = 4;

/// The maximum number of levels of files declared by macro calls.
const MAX_EXPANSION_LEVELS: usize = 32;

/// Index of a module.
pub(super) type ModuleId = u32;

#[derive(Default)]
pub(super) struct Forest {
    pub(super) modules: Vec<Module>,
    pub(super) crates: Vec<Crate>,
    /// The module of a file; if several crates contain the file, that of the first crate.
    pub(super) by_file: FxHashMap<Arc<str>, ModuleId>,
    /// Crates by root file.
    pub(super) by_root: FxHashMap<Arc<str>, u32>,
    /// Resolved imports, by module and request, of modules that share a file with another module.
    pub(super) imports: Memo<(ModuleId, u32), KnownImport>,
    outside: Mutex<OutsideCrates>,
}

/// A crate outside the forest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outside {
    /// A library, by its root file.
    Library(Arc<str>),
    /// A dependency of the package that is not available.
    Missing(Box<str>),
}

impl Outside {
    pub(super) fn target(self) -> Target {
        match self {
            Self::Library(file) => Target::File(file),
            Self::Missing(id) => Target::Missing { id, problem: None },
        }
    }
}

/// The interned number of an [`Outside`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutsideId(u32);

#[derive(Default)]
struct OutsideCrates {
    all: Vec<Outside>,
    numbers: FxHashMap<Outside, OutsideId>,
}

pub(super) struct Module {
    pub(super) krate: u32,
    pub(super) file: Arc<str>,
    /// The key of the file in the run that built the forest.
    pub(super) key: FileKey,
    /// The index among the modules of the file.
    pub(super) scope: u32,
    pub(super) parent: Option<ModuleId>,
    /// The depth of the module in its tree.
    depth: u32,
    /// By the index of the declaring binding, ascending.
    pub(super) children: Vec<(u32, ModuleId)>,
    /// The definitions of macros that the module calls, if they declare modules.
    pub(super) calls: Vec<ModuleId>,
    /// Files that macro calls of the module declare: the definition and the index of its binding, ascending, and the module of
    /// the file.
    pub(super) expanded: Vec<((ModuleId, u32), ModuleId)>,
    is_expansion: bool,
    pub(super) index: NameIndex,
    /// For a file: its resolved imports, by request. Many other files resolve through the same imports.
    pub(super) imports: OnceLock<Box<[OnceLock<KnownImport>]>>,
}

/// The first bytes of the names in a module, in binding order. Searching these touches no text, which for a large module is
/// scattered in memory. Built on the first lookup in the module.
#[derive(Default)]
pub(super) struct NameIndex(OnceLock<Box<[(u64, u64)]>>);

/// Names up to this length are equal if their first bytes and their lengths are equal.
pub(super) const MAX_INDEXED_NAME_BYTES: usize = 16;

impl NameIndex {
    /// The range of bindings whose names have the same first bytes as `name`; `bindings` must be those of the module.
    pub(super) fn range(&self, bindings: &[Binding], name: &str) -> Range<usize> {
        let index = self.0.get_or_init(|| bindings.iter().map(|binding| beginnings(&binding.name)).collect());
        let wanted = beginnings(name);
        let from = index.partition_point(|known| *known < wanted);
        let rest = index.get(from..).unwrap_or_default();
        // Usually zero or one.
        let few = rest.iter().take(4).take_while(|known| **known == wanted).count();
        from..from + if few < 4 { few } else { rest.partition_point(|known| *known == wanted) }
    }
}

pub(super) struct Crate {
    pub(super) root: ModuleId,
    pub(super) manifest: Option<Arc<Manifest>>,
    pub(super) is_library: bool,
    pub(super) is_2015: bool,
    /// Files that define a macro of this name, for calls without a path.
    pub(super) macros: FxHashMap<Box<str>, Vec<ModuleId>>,
    /// Definitions of macros that declare modules, by macro name.
    pub(super) expansions: FxHashMap<Box<str>, Vec<ModuleId>>,
    dependencies: Mutex<FxHashMap<Box<str>, Option<Meaning>>>,
}

impl Crate {
    /// A crate by its name in the package. `find` must be deterministic and is called without a lock.
    pub(super) fn dependency(&self, name: &str, find: impl FnOnce() -> Option<Meaning>) -> Option<Meaning> {
        if let Some(known) = lock(&self.dependencies).get(name) {
            return *known;
        }
        let found = find();
        lock(&self.dependencies).insert(name.into(), found);
        found
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Safe after a panic on another thread: an insert is never half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Forest {
    pub(super) fn module(&self, id: ModuleId) -> Option<&Module> {
        self.modules.get(id as usize)
    }

    /// Interns a crate outside the forest.
    pub(super) fn outside(&self, outside: Outside) -> OutsideId {
        let mut known = lock(&self.outside);
        if let Some(number) = known.numbers.get(&outside) {
            return *number;
        }
        let number = OutsideId(known.all.len() as u32);
        known.all.push(outside.clone());
        known.numbers.insert(outside, number);
        number
    }

    pub(super) fn outside_crate(&self, id: OutsideId) -> Option<Outside> {
        lock(&self.outside).all.get(id.0 as usize).cloned()
    }

    pub(super) fn crate_of(&self, id: ModuleId) -> Option<&Crate> {
        self.crates.get(self.module(id)?.krate as usize)
    }

    /// Whether a module is another one or is nested in it.
    pub(super) fn is_within(&self, inner: ModuleId, outer: ModuleId) -> bool {
        let Some(depth) = self.module(outer).map(|outer| outer.depth) else { return false };
        let mut at = Some(inner);
        while let Some(id) = at {
            if id == outer {
                return true;
            }
            at = self.module(id).filter(|module| module.depth > depth).and_then(|module| module.parent);
        }
        false
    }
}

/// Builds the forest from the facts of all files of the repository.
pub(super) fn build(resolver: &Resolver<'_>, facts: &dyn FactsOf) -> Forest {
    let mut builder = Builder { resolver, facts, forest: Forest::default(), here: FxHashMap::default() };
    for folder in resolver.packages.folders() {
        builder.add_package(&folder, |_| true);
    }
    builder.add_others();
    builder.forest
}

/// Builds only the trees that one file may belong to, from the facts of their files.
pub(super) fn build_around(resolver: &Resolver<'_>, facts: &dyn FactsOf, file: &str) -> Forest {
    let mut builder = Builder { resolver, facts, forest: Forest::default(), here: FxHashMap::default() };
    let manifest = resolver.packages.around(parent(file));
    if let Some(manifest) = &manifest {
        // Each test and example is a separate small crate: only take the one that may contain the file.
        let folder = parent(file);
        let library = manifest.package.as_ref().and_then(|package| package.library.as_ref());
        let top = library.map_or("", |(_, library)| parent(library));
        builder.add_package(&manifest.folder, |root| {
            library.is_some_and(|(_, library)| **library == *root)
                || contains(parent(root), folder) && parent(root) != top
                || contains(top, folder) && contains(top, root)
        });
    }
    if let Some(real) = resolver.real_file(file) {
        builder.add_other(&real);
    }
    builder.forest
}

struct Builder<'b, 'f> {
    resolver: &'b Resolver<'f>,
    facts: &'b dyn FactsOf,
    forest: Forest,
    /// The files of the crate under construction.
    here: FxHashMap<Arc<str>, ModuleId>,
}

impl Builder<'_, '_> {
    /// Adds the crates of a package whose root files are wanted.
    fn add_package(&mut self, folder: &str, wanted: impl Fn(&str) -> bool) {
        let Some(manifest) = self.resolver.packages.manifest(folder) else { return };
        let Some(package) = &manifest.package else { return };
        if let Some((_, file)) = package.library.as_ref().filter(|(_, file)| wanted(file)) {
            self.add_crate(file, Some(&manifest), true);
        }
        for file in package.programs.iter().filter(|file| wanted(file)) {
            self.add_crate(file, Some(&manifest), false);
        }
    }

    fn add_crate(&mut self, file: &str, manifest: Option<&Arc<Manifest>>, is_library: bool) {
        let Some(real) = self.resolver.real_file(file) else { return };
        if self.forest.by_root.contains_key(&*real) {
            return;
        }
        let krate = self.forest.crates.len() as u32;
        let is_2015 = manifest.is_some_and(|manifest| self.resolver.packages.is_2015(manifest));
        let root = self.forest.modules.len() as ModuleId;
        self.here.clear();
        let (macros, expansions) = (FxHashMap::default(), FxHashMap::default());
        let (manifest, dependencies) = (manifest.cloned(), Mutex::default());
        self.forest.crates.push(Crate { root, manifest, is_library, is_2015, macros, expansions, dependencies });
        if self.add_file(&real, krate, None).is_none() {
            self.forest.crates.pop();
            return;
        }
        self.forest.by_root.insert(real, krate);
        self.expand(root);
        self.expand_calls(krate, root);
    }

    /// Adds a file as a module; `None` if it has no facts.
    fn add_file(&mut self, file: &Arc<str>, krate: u32, parent: Option<ModuleId>) -> Option<ModuleId> {
        let key = self.facts.key_of(file)?;
        self.facts.facts(key)?;
        let id = self.add(file, key, krate, 0, parent);
        self.here.insert(file.clone(), id);
        self.forest.by_file.entry(file.clone()).or_insert(id);
        Some(id)
    }

    fn add(&mut self, file: &Arc<str>, key: FileKey, krate: u32, scope: u32, parent: Option<ModuleId>) -> ModuleId {
        let id = self.forest.modules.len() as ModuleId;
        let depth = parent.and_then(|parent| self.forest.module(parent)).map_or(0, |parent| parent.depth + 1);
        let (children, calls, expanded, index) = (Vec::new(), Vec::new(), Vec::new(), NameIndex::default());
        let (file, is_expansion, imports) = (file.clone(), false, OnceLock::new());
        let module =
            Module { krate, file, key, scope, parent, depth, children, calls, expanded, is_expansion, index, imports };
        self.forest.modules.push(module);
        id
    }

    /// Adds all modules below a module.
    fn expand(&mut self, start: ModuleId) {
        let facts = self.facts;
        let mut pending = vec![start];
        while let Some(id) = pending.pop() {
            let Some(module) = self.forest.module(id) else { continue };
            let (krate, file, key, scope) = (module.krate, module.file.clone(), module.key, module.scope);
            let is_expansion = module.is_expansion;
            let Some(known) = facts.facts(key) else { continue };
            if scope == 0 {
                self.add_macros(krate, id, known);
            }
            let Some(bindings) = known.scopes.get(scope as usize).map(|scope| &scope.bindings) else { continue };
            // `mod` declarations are the first requests of a file, so this skips nearly all others.
            let declaring = known.requests.partition_point(|request| is_module(Form::of(request.form).0)) as u32;
            let mut children = Vec::new();
            for (at, binding) in (0..).zip(bindings) {
                let child = match binding.bound {
                    Bound::Scope(inner) => Some(self.add(&file, key, krate, inner, Some(id))),
                    Bound::Expansion(inner) => {
                        let child = self.add(&file, key, krate, inner, Some(id));
                        self.add_expansion(krate, &binding.name, child);
                        Some(child)
                    }
                    // In a macro definition, the files are relative to the callers.
                    Bound::Request(_) if is_expansion => None,
                    Bound::Request(request) if request >= declaring => None,
                    Bound::Request(request) => {
                        let request = known.requests.get(request as usize);
                        let path = request.and_then(|request| self.resolver.module_file(&file, request).ok());
                        path.and_then(|path| match self.here.get(&path) {
                            // A file is expanded only once per crate, even if several modules declare it.
                            Some(known) => {
                                children.push((at, *known));
                                None
                            }
                            None => self.add_file(&path, krate, Some(id)),
                        })
                    }
                    Bound::Item | Bound::Macro => None,
                };
                if let Some(child) = child {
                    children.push((at, child));
                    pending.push(child);
                }
            }
            if let Some(module) = self.forest.modules.get_mut(id as usize) {
                module.children = children;
            }
        }
    }

    fn add_expansion(&mut self, krate: u32, name: &str, id: ModuleId) {
        if let Some(module) = self.forest.modules.get_mut(id as usize) {
            module.is_expansion = true;
        }
        if let Some(krate) = self.forest.crates.get_mut(krate as usize) {
            krate.expansions.entry(name.into()).or_default().push(id);
        }
    }

    /// Adds the modules that macro calls declare, in the modules of a crate from `from` on. The added files may contain further
    /// macro calls.
    fn expand_calls(&mut self, krate: u32, from: ModuleId) {
        let mut done = FxHashSet::default();
        for _ in 0..MAX_EXPANSION_LEVELS {
            let known = self.forest.modules.len();
            let Some(definitions) = self.forest.crates.get(krate as usize).map(|krate| &krate.expansions) else {
                return;
            };
            if definitions.is_empty() {
                return;
            }
            let mut calls = Vec::new();
            for id in from..known as ModuleId {
                let called = self.called(id).into_iter().filter_map(|name| definitions.get(name));
                calls.extend(
                    called.flat_map(|known| known.iter().take(MAX_DEFINITIONS_PER_CALL)).map(|known| (id, *known)),
                );
            }
            for (id, definition) in calls {
                if done.insert((id, definition)) {
                    self.expand_call(id, definition);
                }
            }
            if self.forest.modules.len() == known {
                break;
            }
        }
        for module in self.forest.modules.iter_mut().skip(from as usize) {
            module.expanded.sort_unstable();
        }
    }

    /// The item macros that a module calls.
    fn called(&self, id: ModuleId) -> Vec<&str> {
        let Some(module) = self.forest.module(id) else { return Vec::new() };
        let Some(facts) = self.facts.facts(module.key) else { return Vec::new() };
        let globs = facts.scopes.get(module.scope as usize).map(|scope| scope.globs.as_slice()).unwrap_or_default();
        let requests = globs.iter().filter_map(|(request, _)| facts.requests.get(*request as usize));
        requests.filter_map(Form::item_call).collect()
    }

    fn expand_call(&mut self, id: ModuleId, definition: ModuleId) {
        let facts = self.facts;
        let Some(module) = self.forest.modules.get_mut(id as usize) else { return };
        module.calls.push(definition);
        // The folder for files of inline modules is not known here.
        if module.scope != 0 {
            return;
        }
        let (krate, file) = (module.krate, module.file.clone());
        let Some(declared) = self.forest.module(definition) else { return };
        let Some(known) = facts.facts(declared.key) else { return };
        let Some(scope) = known.scopes.get(declared.scope as usize) else { return };
        for (at, binding) in (0..).zip(&scope.bindings) {
            let Bound::Request(request) = binding.bound else { continue };
            let request = known.requests.get(request as usize).filter(|request| is_module(Form::of(request.form).0));
            let Some(path) = request.and_then(|request| self.resolver.module_file(&file, request).ok()) else {
                continue;
            };
            let child = match self.here.get(&path) {
                Some(known) => Some(*known),
                None => self.add_file(&path, krate, Some(id)).inspect(|child| self.expand(*child)),
            };
            if let (Some(child), Some(module)) = (child, self.forest.modules.get_mut(id as usize)) {
                module.expanded.push(((definition, at), child));
            }
        }
    }

    fn add_macros(&mut self, krate: u32, file: ModuleId, facts: &FileFacts) {
        let Some(krate) = self.forest.crates.get_mut(krate as usize) else { return };
        let names = facts.scopes.iter().flat_map(|scope: &Scope| &scope.bindings);
        for binding in names.filter(|binding| binding.bound == Bound::Macro) {
            let files = krate.macros.entry(binding.name.clone()).or_default();
            if files.last() != Some(&file) {
                files.push(file);
            }
        }
    }

    /// Adds files that belong to no tree: below the sources of a package as if a module of that path were declared, elsewhere as
    /// separate crates.
    fn add_others(&mut self) {
        let root = self.resolver.packages.root.clone();
        let paths = self.resolver.project.universe.iter().filter(|path| path.ends_with(".rs"));
        let mut others: Vec<Arc<str>> = paths
            .map(|path| Arc::from(join_plain(&root, path)))
            .filter(|path| !self.forest.by_file.contains_key(path))
            .collect();
        // A folder's own module must be added before the files in the folder.
        others.sort_by_cached_key(|path| (module_folder_depth(path), path.clone()));
        for file in others {
            self.add_other(&file);
        }
    }

    fn add_other(&mut self, file: &Arc<str>) {
        if self.forest.by_file.contains_key(file) {
            return;
        }
        let manifest = self.resolver.packages.around(parent(file));
        match self.place_by_folder(file, manifest.as_deref()) {
            Some(around) => {
                let krate = self.forest.module(around).map_or(0, |module| module.krate);
                self.here.clear();
                if let Some(id) = self.add_file(file, krate, Some(around)) {
                    self.expand(id);
                    self.expand_calls(krate, id);
                }
            }
            None => self.add_crate(file, manifest.as_ref(), false),
        }
    }

    /// The module that a file belongs to by its folder.
    fn place_by_folder(&self, file: &str, manifest: Option<&Manifest>) -> Option<ModuleId> {
        let package = manifest?.package.as_ref()?;
        let library = package.library.as_ref().map(|(_, file)| file);
        let root = library.or_else(|| package.programs.iter().find(|file| file.ends_with("/src/main.rs")))?;
        let top = parent(root);
        let mut folder = parent(file);
        if base_name(file) == "mod.rs" {
            folder = parent(folder);
        }
        if !contains(top, folder) {
            return None;
        }
        while folder != top {
            let candidates = [[folder, "/mod.rs"].concat(), [folder, ".rs"].concat()];
            if let Some(id) = candidates.iter().find_map(|path| self.forest.by_file.get(path.as_str())) {
                return Some(*id);
            }
            folder = parent(folder);
        }
        self.forest.by_file.get(&**root).copied()
    }
}

pub(super) fn is_module(form: Form) -> bool {
    matches!(form, Form::Module | Form::OptionalModule | Form::ModulePath)
}

/// The depth that the module of a file would have, judged by its path.
fn module_folder_depth(path: &str) -> usize {
    let depth = path.matches('/').count();
    depth - usize::from(base_name(path) == "mod.rs" && depth > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_among_names_with_a_common_prefix() {
        let alike: Vec<String> = (0..9).map(|at| format!("{}{at}", "c".repeat(16))).collect();
        let mut names = vec!["a", "aaaaaaaa", "aaaaaaaab", "aaaaaaaac", "b", "bbbbbbbb"];
        names.extend(alike.iter().map(String::as_str));
        names.push("é");
        let bindings: Vec<Binding> =
            names.iter().map(|name| Binding { name: (*name).into(), bound: Bound::Item, public: true }).collect();
        let index = NameIndex::default();
        for (name, expected) in [
            ("a", 0..1),
            ("aaaaaaaa", 1..2),
            ("aaaaaaaac", 3..4),
            ("aa", 1..1),
            ("b", 4..5),
            ("é", 15..16),
            ("z", 15..15),
            (&alike[3], 6..15),
        ] {
            assert_eq!(index.range(&bindings, name), expected, "{name}");
        }
    }
}
