//! Resolves paths by the rules of the language: module tree, imports, globs and crates. Of visibility, only privacy is respected:
//! private names are not visible from outside.
//!
//! All configurations count: a name that is bound twice resolves to both. The work per path is bounded for any input.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::BuildHasher as _;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};
use stan_model::FileFacts;
use stan_model::facts::{Binding, Bound, Request, Scope};

use super::Resolver;
use super::forest::{Forest, MAX_INDEXED_NAME_BYTES, ModuleId, Outside, OutsideId, is_module};
use super::packages::Library;
use super::segments::Segments;
use super::standard::{Standard, home, moved_module, standard_crate};
use crate::language::FactsOf;
use crate::paths::contains;
use crate::rust::form::Form;

/// The maximum number of nested imports that are followed for one path.
const MAX_IMPORT_HOPS: usize = 48;

/// The maximum number of modules that are searched for one path.
const MAX_SEARCHED_MODULES: u32 = 256;

/// The maximum number of meanings of one name that are followed.
const MAX_MEANINGS: usize = 4;

/// The maximum number of lookups that are stored with the meaning of an import.
const MAX_STORED_VISITS: usize = 24;

/// Modules with fewer names are searched without an index.
const MIN_INDEXED_BINDINGS: usize = 8;

/// The meaning of a name. Copied often, so it owns no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Module(ModuleId),
    /// An item that a module declares.
    Item(ModuleId),
    /// A crate outside the forest.
    Outside(OutsideId),
    Builtin(Standard),
}

/// Nearly all names have one meaning.
pub(super) type Meanings = SmallVec<[Meaning; 2]>;

/// The meaning of an import, and the number of steps that were needed to find it.
#[derive(Clone)]
pub(super) struct KnownImport {
    /// The module where it was looked up. In a file with inline modules, several of them may contain the same import.
    module: ModuleId,
    means: Meanings,
    steps: u32,
    /// The lookups on the way; `None` if they are too many to be stored.
    visits: Option<Arc<[Visit]>>,
}

/// A lookup of an import, or of a name that globs may provide, as its module and a hash of the text. A collision only prevents
/// the reuse of a stored answer, it never makes one wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit(ModuleId, u32);

impl Visit {
    fn new(module: ModuleId, text: &str) -> Self {
        Self(module, (FxBuildHasher.hash_one(text) >> 32) as u32)
    }
}

/// The result of following a path.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The last module on the path in its own crate, or the crate itself if the path ends in another crate.
    pub(super) named: Meanings,
    /// The meaning of the whole path.
    pub(super) means: Meanings,
}

pub(super) struct PathResolver<'n> {
    resolver: &'n Resolver<'n>,
    forest: &'n Forest,
    facts: &'n dyn FactsOf,
    /// Crates by the number of the importing crate and their name. Memoised, because the paths of a file start with few names.
    crates: RefCell<FxHashMap<(u32, &'n str), Option<Meaning>>>,
    /// The meanings of first segments, memoised for the same reason.
    first_names: RefCell<FxHashMap<FirstName<'n>, FirstMeaning>>,
    /// Reused from request to request.
    trail: RefCell<Trail<'n>>,
}

/// The meaning of a path's first segment, and the number of steps that were needed to find it.
struct FirstMeaning {
    means: Meanings,
    steps: u32,
}

/// Everything that the meaning of a path's first segment depends on.
#[derive(PartialEq, Eq, Hash)]
struct FirstName<'n> {
    module: ModuleId,
    name: &'n str,
    is_import: bool,
    /// The name is the whole path.
    is_whole: bool,
}

/// A module with the facts of its file and its scope.
#[derive(Clone, Copy)]
struct ModuleScope<'n> {
    module: ModuleId,
    facts: &'n FileFacts,
    scope: &'n Scope,
}

/// The lookups in progress, to detect cycles.
#[derive(Default)]
pub(super) struct Trail<'n> {
    requests: Vec<(ModuleId, &'n str)>,
    globs: Vec<(ModuleId, &'n str)>,
    steps: u32,
    /// All lookups, including finished ones.
    visits: Vec<Visit>,
    /// The number of lookups that were cut short because of a cycle or the depth limit.
    cuts: u32,
}

impl Trail<'_> {
    fn clear(&mut self) {
        self.requests.clear();
        self.globs.clear();
        self.visits.clear();
        (self.steps, self.cuts) = (0, 0);
    }

    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.globs.is_empty()
    }

    /// Whether looking up an import again would give the stored answer: it stays within the bounds, and forms no cycle with the
    /// lookups in progress.
    fn allows(&self, known: &KnownImport) -> bool {
        if self.steps + known.steps > MAX_SEARCHED_MODULES {
            return false;
        }
        if self.is_empty() {
            return true;
        }
        let Some(visits) = &known.visits else { return false };
        // An upper bound: lookups in progress at any time are a subset of the visits.
        let is_shallow = self.requests.len().max(self.globs.len()) + visits.len() < MAX_IMPORT_HOPS;
        let mut around = self.requests.iter().chain(&self.globs).map(|(module, text)| Visit::new(*module, text));
        is_shallow && around.all(|one| !visits.contains(&one))
    }
}

impl<'n> PathResolver<'n> {
    pub(super) fn new(resolver: &'n Resolver<'n>, forest: &'n Forest, facts: &'n dyn FactsOf) -> Self {
        // Most files refer to a few crates.
        let first_names = RefCell::new(FxHashMap::with_capacity_and_hasher(14, FxBuildHasher));
        let (crates, trail) = (RefCell::default(), RefCell::default());
        Self { resolver, forest, facts, crates, first_names, trail }
    }

    pub(super) fn facts_of(&self, module: ModuleId) -> Option<&'n FileFacts> {
        self.facts.facts(self.forest.module(module)?.key)
    }

    fn scope_of(&self, module: ModuleId) -> Option<&'n Scope> {
        self.facts_of(module)?.scopes.get(self.forest.module(module)?.scope as usize)
    }

    /// The bindings of a name in a module, and the index of the first one.
    fn named(&self, module: ModuleId, scope: &'n Scope, name: &str) -> (usize, &'n [Binding]) {
        let index = self.forest.module(module).filter(|_| scope.bindings.len() >= MIN_INDEXED_BINDINGS);
        let Some(index) = index.map(|module| &module.index) else { return named(&scope.bindings, name) };
        let range = index.range(&scope.bindings, name);
        let alike = scope.bindings.get(range.clone()).unwrap_or_default();
        if name.len() <= MAX_INDEXED_NAME_BYTES {
            let count = alike.iter().take_while(|binding| binding.name.len() == name.len()).count();
            return (range.start, alike.get(..count).unwrap_or_default());
        }
        let before =
            if alike.len() < MIN_INDEXED_BINDINGS { 0 } else { alike.partition_point(|one| *one.name < *name) };
        let (at, found) = named(alike.get(before..).unwrap_or_default(), name);
        (range.start + before + at, found)
    }

    /// Resolves a request of a file. `file` is the file's own module.
    pub(super) fn request(&self, file: ModuleId, request: &'n Request) -> Walked {
        let mut trail = self.trail.take();
        trail.clear();
        let walked = self.walk(file, request, &mut trail);
        self.trail.replace(trail);
        walked
    }

    fn walk(&self, file: ModuleId, request: &'n Request, trail: &mut Trail<'n>) -> Walked {
        let (form, depth) = Form::of(request.form);
        let Some(module) = self.forest.module(file) else { return Walked::default() };
        if form == Form::Extern {
            let found = self.dependency(module.krate, &request.specifier);
            return Walked { named: found.into_iter().collect(), means: found.into_iter().collect() };
        }
        let mut segments = Segments::of(&request.specifier);
        let Some((origin, first)) = self.first(file, form, depth, &mut segments, trail) else {
            return Walked::default();
        };
        let mut walked = Walked::default();
        for meaning in first.into_iter().take(MAX_MEANINGS) {
            self.follow(origin, meaning, segments, form, trail, &mut walked);
        }
        walked
    }

    /// The meanings of the first segments, and the module that the path occurs in.
    fn first(
        &self,
        file: ModuleId,
        form: Form,
        depth: usize,
        segments: &mut Segments<'n>,
        trail: &mut Trail<'n>,
    ) -> Option<(ModuleId, Meanings)> {
        let module = self.forest.module(file)?;
        let krate = self.forest.crate_of(file)?;
        let one = |id: ModuleId| Some((file, smallvec![Meaning::Module(id)]));
        match segments.next()? {
            "crate" => one(krate.root),
            "super" => {
                let mut at = module.parent?;
                while segments.peek() == Some("super") {
                    segments.next();
                    at = self.forest.module(at)?.parent?;
                }
                one(at)
            }
            "self" if depth == 0 => one(self.enter_expansion(file, segments)),
            "self" => {
                let mut at = file;
                for _ in 0..depth {
                    let name = segments.next()?;
                    at = self.inner(at, name)?;
                }
                let name = segments.next()?;
                let is_whole = segments.is_at_end();
                Some((at, self.plain(at, name, form, is_whole, trail)))
            }
            "" => {
                let name = segments.next()?;
                let found = if krate.is_2015 { self.lookup(krate.root, name, file, trail) } else { Meanings::new() };
                let found = if found.is_empty() { self.external(module.krate, name) } else { found };
                Some((file, found))
            }
            name => {
                let is_whole = segments.is_at_end();
                Some((file, self.plain(file, name, form, is_whole, trail)))
            }
        }
    }

    /// If a path starts with a macro definition, enters it: imports inside a definition are written that way.
    fn enter_expansion(&self, file: ModuleId, segments: &mut Segments<'n>) -> ModuleId {
        let mut rest = *segments;
        let definition = rest.next().filter(|_| !rest.is_at_end()).and_then(|name| {
            let (from, bindings) = self.named(file, self.scope_of(file)?, name);
            let at = bindings.iter().position(|binding| matches!(binding.bound, Bound::Expansion(_)))?;
            self.child(file, from + at)
        });
        if definition.is_some() {
            *segments = rest;
        }
        definition.unwrap_or(file)
    }

    /// An inline module, by name.
    fn inner(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        let scope = self.scope_of(module)?;
        let (from, bindings) = self.named(module, scope, name);
        let at = bindings.iter().position(|binding| matches!(binding.bound, Bound::Scope(_) | Bound::Expansion(_)))?;
        self.child(module, from + at)
    }

    fn child(&self, module: ModuleId, binding: usize) -> Option<ModuleId> {
        let children = &self.forest.module(module)?.children;
        let at = children.binary_search_by_key(&(binding as u32), |(at, _)| *at).ok()?;
        children.get(at).map(|(_, id)| *id)
    }

    /// The meaning of a first segment without prefix; `is_whole` if it is the only one.
    fn plain(&self, module: ModuleId, name: &'n str, form: Form, is_whole: bool, trail: &mut Trail<'n>) -> Meanings {
        // Memoise only outermost lookups: the result of an inner one may depend on the lookups in progress and on the
        // remaining steps.
        if trail.steps > 0 || !trail.requests.is_empty() || !trail.globs.is_empty() {
            return self.find_plain(module, name, form, is_whole, trail);
        }
        let key = FirstName { module, name, is_import: form == Form::Use, is_whole };
        if let Some(known) = self.first_names.borrow().get(&key) {
            trail.steps = known.steps;
            return known.means.clone();
        }
        let means = self.find_plain(module, name, form, is_whole, trail);
        self.first_names.borrow_mut().insert(key, FirstMeaning { means: means.clone(), steps: trail.steps });
        means
    }

    fn find_plain(
        &self,
        module: ModuleId,
        name: &'n str,
        form: Form,
        is_whole: bool,
        trail: &mut Trail<'n>,
    ) -> Meanings {
        let Some(krate) = self.forest.crate_of(module) else { return Meanings::new() };
        let from_root = krate.is_2015 && form == Form::Use;
        let start = if from_root { krate.root } else { module };
        let mut found = self.lookup(start, name, module, trail);
        // A function with the name of a crate does not hide the crate, because nothing can be inside a function.
        let is_lowercase = name.starts_with(|first: char| first.is_lowercase());
        let is_type = |one: &Meaning| is_whole || !is_lowercase || !matches!(one, Meaning::Item(_));
        if found.iter().any(is_type) {
            // `#[cfg(…)] extern crate core as std;` applies only to some configurations; in the others, the name means the
            // standard crate.
            let standard = standard_crate(name).filter(|_| found.iter().all(|one| matches!(one, Meaning::Builtin(_))));
            let standard = standard.map(Meaning::Builtin).filter(|standard| !found.contains(standard));
            found.extend(standard);
            return found;
        }
        let number = self.forest.module(module).map_or(0, |module| module.krate);
        let found = self.external(number, name);
        if !found.is_empty() {
            return found;
        }
        // A package without an edition may contain paths of newer editions, in tests and snippets.
        if from_root { self.lookup(module, name, module, trail) } else { Meanings::new() }
    }

    /// Crates by their name in paths: a dependency, and the crate of `extern crate x as name;` in the root, which is visible
    /// everywhere. Returns both if both exist: they may belong to different configurations.
    fn external(&self, krate: u32, name: &'n str) -> Meanings {
        let dependency = self.dependency(krate, name);
        let renamed = self.renamed(krate, name).filter(|renamed| dependency.as_ref() != Some(renamed));
        dependency.into_iter().chain(renamed).collect()
    }

    /// A crate by its name in the package.
    fn dependency(&self, krate: u32, name: &'n str) -> Option<Meaning> {
        if let Some(known) = self.crates.borrow().get(&(krate, name)) {
            return *known;
        }
        let found = self.forest.crates.get(krate as usize)?.dependency(name, || self.find_dependency(krate, name));
        self.crates.borrow_mut().insert((krate, name), found);
        found
    }

    fn find_dependency(&self, krate: u32, name: &str) -> Option<Meaning> {
        let krate = self.forest.crates.get(krate as usize)?;
        let manifest = krate.manifest.as_deref();
        // In the build of the standard library, these names are those of placeholder crates.
        if let Some(standard) = standard_crate(name).filter(|krate| *krate != Standard::Test) {
            return Some(Meaning::Builtin(standard));
        }
        if let Some(library) = manifest.and_then(|manifest| self.resolver.packages.library(manifest, name)) {
            return Some(match library {
                Library::File(file) => self.library(&file),
                Library::Missing(package) => Meaning::Outside(self.forest.outside(Outside::Missing(package))),
            });
        }
        let own = manifest.and_then(|manifest| manifest.package.as_ref()?.library.as_ref());
        if let Some((_, file)) = own.filter(|(own, _)| **own == *name && !krate.is_library) {
            return Some(self.library(file));
        }
        standard_crate(name).map(Meaning::Builtin)
    }

    /// The crate that `extern crate x as name;` in the root binds; `x` may be `self`.
    fn renamed(&self, krate: u32, name: &str) -> Option<Meaning> {
        // Skip standard names: they are looked up often, and all configurations but one give them the usual meaning.
        if standard_crate(name).is_some() {
            return None;
        }
        let root = self.forest.crates.get(krate as usize)?.root;
        let facts = self.facts_of(root)?;
        let (_, bindings) = self.named(root, self.scope_of(root)?, name);
        let requests = bindings.iter().filter_map(|binding| match binding.bound {
            Bound::Request(request) => facts.requests.get(request as usize),
            _ => None,
        });
        let mut renamed = requests.filter_map(|request| match Form::of(request.form).0 {
            Form::Extern if *request.specifier != *name => self.dependency(krate, &request.specifier),
            // `extern crate self as name;`
            Form::Use if &*request.specifier == "crate" => Some(Meaning::Module(root)),
            _ => None,
        });
        renamed.next()
    }

    fn library(&self, file: &str) -> Meaning {
        let outside = |file: Arc<str>| Meaning::Outside(self.forest.outside(Outside::Library(file)));
        if !contains(&self.resolver.packages.root, file) {
            return outside(file.into());
        }
        let real = self.resolver.real_file(file).unwrap_or_else(|| file.into());
        let root = self.forest.by_root.get(&real).and_then(|krate| self.forest.crates.get(*krate as usize));
        root.map_or_else(|| outside(real), |krate| Meaning::Module(krate.root))
    }

    /// Follows the remaining segments from one meaning of the first.
    fn follow(
        &self,
        origin: ModuleId,
        first: Meaning,
        rest: Segments<'n>,
        form: Form,
        trail: &mut Trail<'n>,
        walked: &mut Walked,
    ) {
        match first {
            Meaning::Module(id) => self.follow_modules(origin, id, rest, form, trail, walked),
            // The remaining segments name parts of the item (variants, associated items), and these are in the same file.
            Meaning::Item(_) => walked.means.push(first),
            // The modules of the crate are not known here.
            Meaning::Outside(_) => {
                walked.named.push(first);
                walked.means.push(first);
            }
            // `std` re-exports modules of `core` and `alloc`, so the crate may change with each segment.
            Meaning::Builtin(krate) => {
                walked.named.push(first);
                walked.means.push(Meaning::Builtin(rest.fold(krate, home)));
            }
        }
    }

    fn follow_modules(
        &self,
        origin: ModuleId,
        first: ModuleId,
        mut rest: Segments<'n>,
        form: Form,
        trail: &mut Trail<'n>,
        walked: &mut Walked,
    ) {
        let own = self.forest.module(origin).map(|module| module.krate);
        let is_own = |id: &ModuleId| self.forest.module(*id).map(|module| module.krate) == own;
        let is_own_module = |meaning: &Meaning| matches!(meaning, Meaning::Module(id) if is_own(id));
        let leaves_crate = |meaning: &Meaning| !is_own_module(meaning) && !matches!(meaning, Meaning::Item(_));
        // Whether all segments until now are modules of the path's own crate: `named` moves along with these only.
        let mut is_inside = is_own(&first);
        let start = if is_inside { Some(first) } else { self.forest.crate_of(first).map(|krate| krate.root) };
        let mut named: Meanings = start.map(Meaning::Module).into_iter().collect();
        let mut current: Meanings = smallvec![Meaning::Module(first)];
        while let Some(segment) = rest.next() {
            current = self.step(origin, &current, segment, trail);
            // In code, the last segment of a path is never a module.
            let is_item = form != Form::Use && rest.is_at_end();
            is_inside &= !is_item && current.iter().any(is_own_module);
            if is_inside {
                // If one configuration has its own module here and another one a crate's, the path also ends before this
                // segment, so the modules before it stay.
                if !current.iter().any(leaves_crate) {
                    named.clear();
                }
                named.extend(current.iter().copied().filter(is_own_module));
            }
        }
        walked.named.extend_from_slice(&named);
        walked.means.extend_from_slice(&current);
    }

    /// The meanings of a segment after a path with the meanings `before`.
    fn step(&self, origin: ModuleId, before: &Meanings, segment: &'n str, trail: &mut Trail<'n>) -> Meanings {
        let mut next = Meanings::new();
        for meaning in before.iter().take(MAX_MEANINGS) {
            match meaning {
                Meaning::Module(id) => next.extend(self.lookup(*id, segment, self.viewer(origin, *id), trail)),
                Meaning::Builtin(krate) => next.push(Meaning::Builtin(home(*krate, segment))),
                other => next.push(*other),
            }
        }
        next.dedup();
        next
    }

    /// The module whose privileges apply when a path looks into another one. Paths in inline modules are written as seen from the
    /// file's module (`self::inner::x`), but may name private items of the inline module.
    fn viewer(&self, origin: ModuleId, module: ModuleId) -> ModuleId {
        let (Some(from), Some(seen)) = (self.forest.module(origin), self.forest.module(module)) else { return origin };
        if from.scope == 0 && from.key == seen.key { module } else { origin }
    }

    /// The meanings of a name in a module, as seen from another module.
    fn lookup(&self, module: ModuleId, name: &'n str, from: ModuleId, trail: &mut Trail<'n>) -> Meanings {
        trail.steps += 1;
        if trail.steps > MAX_SEARCHED_MODULES {
            return Meanings::new();
        }
        let Some(facts) = self.facts_of(module) else { return Meanings::new() };
        let number = self.forest.module(module).map_or(0, |module| module.scope);
        let Some(scope) = facts.scopes.get(number as usize) else { return Meanings::new() };
        let sees_private = self.forest.is_within(from, module);
        let child = |at: usize| self.child(module, at);
        let inside = ModuleScope { module, facts, scope };
        let mut found = self.declared(inside, name, sees_private, child, trail);
        if found.is_empty() {
            found = self.through_calls(module, name, sees_private, trail);
        }
        if found.is_empty() {
            found = self.through_globs(inside, name, sees_private, trail);
        }
        if found.is_empty()
            && let Some(krate) = self.forest.crate_of(module).filter(|krate| krate.root == module)
        {
            // Exported macros are items of the crate root.
            let files = krate.macros.get(name).into_iter().flatten();
            found.extend(files.take(MAX_MEANINGS).map(|file| Meaning::Item(*file)));
        }
        if found.len() > 1 {
            found.sort_by_key(|meaning| !matches!(meaning, Meaning::Module(_)));
            found.dedup();
        }
        found
    }

    /// The meanings that a module itself declares for a name. `child` has the modules of its bindings.
    fn declared(
        &self,
        ModuleScope { module, facts, scope }: ModuleScope<'n>,
        name: &'n str,
        sees_private: bool,
        child: impl Fn(usize) -> Option<ModuleId>,
        trail: &mut Trail<'n>,
    ) -> Meanings {
        let mut found = Meanings::new();
        let (start, bindings) = self.named(module, scope, name);
        for (at, binding) in bindings.iter().enumerate().filter(|(_, binding)| binding.public || sees_private) {
            match binding.bound {
                Bound::Scope(_) => {
                    if let Some(child) = self.child(module, start + at) {
                        found.push(Meaning::Module(child));
                    }
                }
                Bound::Item | Bound::Macro => found.push(Meaning::Item(module)),
                Bound::Expansion(_) => {}
                Bound::Request(number) => {
                    let Some(request) = facts.requests.get(number as usize) else { continue };
                    if is_module(Form::of(request.form).0) {
                        found.extend(child(start + at).map(Meaning::Module));
                    } else {
                        found.extend_from_slice(&self.imported(module, number, request, trail));
                    }
                }
            }
            if found.len() > MAX_MEANINGS * 2 {
                break;
            }
        }
        found
    }

    /// The meanings of a name that the module's macro calls declare.
    fn through_calls(&self, module: ModuleId, name: &'n str, sees_private: bool, trail: &mut Trail<'n>) -> Meanings {
        let mut found = Meanings::new();
        let calls = self.forest.module(module).map(|module| module.calls.as_slice()).unwrap_or_default();
        for definition in calls.iter().copied() {
            let (Some(facts), Some(scope)) = (self.facts_of(definition), self.scope_of(definition)) else { continue };
            let inside = ModuleScope { module: definition, facts, scope };
            trail.steps += 1;
            let expanded = self.forest.module(module).map(|module| module.expanded.as_slice()).unwrap_or_default();
            let child = |at: usize| {
                let declared = expanded.binary_search_by_key(&(definition, at as u32), |known| known.0).ok()?;
                expanded.get(declared).map(|known| known.1)
            };
            found.extend(self.declared(inside, name, sees_private, child, trail));
            if found.is_empty() {
                found = self.through_globs(inside, name, sees_private, trail);
            }
            if found.len() > MAX_MEANINGS || trail.steps > MAX_SEARCHED_MODULES {
                break;
            }
        }
        found
    }

    /// The meanings of an import; `number` is that of the request.
    fn imported(&self, module: ModuleId, number: u32, request: &'n Request, trail: &mut Trail<'n>) -> Meanings {
        let is_first = trail.is_empty();
        if is_first {
            trail.visits.clear();
        }
        let Some(file) = self.file_module(module) else { return Meanings::new() };
        let slot = self.import_slot(file, number);
        let own = slot.and_then(OnceLock::get).filter(|known| known.module == module).map(Cow::Borrowed);
        let known = own.or_else(|| self.forest.imports.get(&(module, number)).map(Cow::Owned));
        if let Some(known) = known.filter(|known| trail.allows(known)) {
            trail.steps += known.steps;
            trail.visits.extend_from_slice(known.visits.as_deref().unwrap_or_default());
            return known.means.clone();
        }
        let key = (module, &*request.specifier);
        if trail.requests.len() >= MAX_IMPORT_HOPS || trail.requests.contains(&key) {
            trail.cuts += 1;
            return Meanings::new();
        }
        let (steps, visited, cuts) = (trail.steps, trail.visits.len(), trail.cuts);
        trail.visits.push(Visit::new(key.0, key.1));
        trail.requests.push(key);
        let means = self.walk(file, request, trail).means;
        trail.requests.pop();
        // An answer found within the bounds, and without a cycle through outer lookups, is independent of the path that led here.
        if trail.steps <= MAX_SEARCHED_MODULES && (is_first || trail.cuts == cuts) {
            let visits = trail.visits.get(visited..).filter(|visits| visits.len() <= MAX_STORED_VISITS).map(Arc::from);
            let known = KnownImport { module, means: means.clone(), steps: trail.steps - steps, visits };
            let left = match slot {
                Some(slot) => slot.set(known).err(),
                None => Some(known),
            };
            if let Some(known) = left.filter(|_| slot.and_then(OnceLock::get).is_none_or(|own| own.module != module)) {
                self.forest.imports.insert((module, number), known);
            }
        }
        means
    }

    /// The cache slot for the meaning of an import; `file` is the file's own module.
    fn import_slot(&self, file: ModuleId, number: u32) -> Option<&'n OnceLock<KnownImport>> {
        let slots = self.forest.module(file)?.imports.get_or_init(|| {
            let requests = self.facts_of(file).map(|facts| facts.requests.as_slice()).unwrap_or_default();
            // Only imports are bound to names, and they precede the paths of code.
            let imports = requests.iter().take_while(|request| Form::of(request.form).0 != Form::Path);
            imports.map(|_| OnceLock::new()).collect()
        });
        slots.get(number as usize)
    }

    /// The file's own module of a module.
    fn file_module(&self, module: ModuleId) -> Option<ModuleId> {
        let mut at = module;
        while self.forest.module(at)?.scope != 0 {
            at = self.forest.module(at)?.parent?;
        }
        Some(at)
    }

    fn through_globs(
        &self,
        ModuleScope { module, facts, scope }: ModuleScope<'n>,
        name: &'n str,
        sees_private: bool,
        trail: &mut Trail<'n>,
    ) -> Meanings {
        let mut found = Meanings::new();
        if scope.globs.is_empty() {
            return found;
        }
        if trail.globs.len() >= MAX_IMPORT_HOPS || trail.globs.contains(&(module, name)) {
            trail.cuts += 1;
            return found;
        }
        trail.visits.push(Visit::new(module, name));
        trail.globs.push((module, name));
        for (number, _) in scope.globs.iter().filter(|(_, public)| *public || sees_private) {
            let Some(request) = facts.requests.get(*number as usize) else { continue };
            if Form::item_call(request).is_some() {
                continue;
            }
            for meaning in self.imported(module, *number, request, trail) {
                match meaning {
                    Meaning::Module(id) => found.extend_from_slice(&self.lookup(id, name, module, trail)),
                    Meaning::Builtin(krate) if request.specifier.rsplit("::").next() == Some(krate.name()) => {
                        found.extend(moved_module(krate, name).map(Meaning::Builtin));
                    }
                    _ => {}
                }
            }
            if found.len() > MAX_MEANINGS || trail.steps > MAX_SEARCHED_MODULES {
                break;
            }
        }
        trail.globs.pop();
        found
    }
}

/// The bindings of a name in a short list, and the index of the first one.
fn named<'b>(bindings: &'b [Binding], name: &str) -> (usize, &'b [Binding]) {
    // The comparison checks lengths first. They are adjacent in memory, the texts are not.
    let is_named = |binding: &Binding| *binding.name == *name;
    let Some(from) = bindings.iter().position(is_named) else { return (0, &[]) };
    let same = bindings.get(from..).unwrap_or_default();
    let count = same.iter().take_while(|binding| is_named(binding)).count();
    (from, same.get(..count).unwrap_or_default())
}
