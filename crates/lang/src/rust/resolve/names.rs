//! Paths to what they name, by the rules of the language: the module tree, imports, globs and crates. Visibility counts as far as
//! private names are not seen from outside.
//!
//! All configurations count: a name that is bound twice resolves to both. Work for one path is bounded, whatever the
//! files say.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::BuildHasher as _;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};
use stan_model::FileFacts;
use stan_model::facts::{Binding, Bound, Request, Scope};

use super::Resolver;
use super::forest::{Forest, INDEXED, ModuleId, Outside, OutsideId, is_module};
use super::packages::Library;
use super::segments::Segments;
use super::standard::{Standard, home, moved_module, standard_crate};
use crate::language::FactsOf;
use crate::paths::contains;
use crate::rust::form::Form;

/// Imports that name other imports, for one path.
const MOST_HOPS: usize = 48;

/// Modules that are searched for one path.
const MOST_STEPS: u32 = 256;

/// Meanings of one name that are followed.
const MOST_MEANINGS: usize = 4;

/// Lookups of one import that are kept with its meaning.
const MOST_VISITS: usize = 24;

/// Modules with fewer names are searched without an index.
const FEW_BINDINGS: usize = 8;

/// What a name means. Copied often, so that it owns nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Module(ModuleId),
    /// Something that a module declares.
    Item(ModuleId),
    /// A crate that is not part of the forest.
    Outside(OutsideId),
    Builtin(Standard),
}

/// Nearly all names mean one thing.
pub(super) type Meanings = SmallVec<[Meaning; 2]>;

/// What an import means, and the steps that finding it took.
#[derive(Clone)]
pub(super) struct KnownImport {
    /// Where it was looked up. In a file with modules of its own, several may have the same import.
    module: ModuleId,
    means: Meanings,
    steps: u32,
    /// What was looked up on the way; `None` where that is too much to be kept.
    visits: Option<Arc<[Visit]>>,
}

/// Something that was looked up: an import or a name that globs may bring, by its module and a hash of its text. Two that
/// differ may look the same, which makes an answer unusable and never wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit(ModuleId, u32);

impl Visit {
    fn new(module: ModuleId, text: &str) -> Self {
        Self(module, (FxBuildHasher.hash_one(text) >> 32) as u32)
    }
}

/// Where a path leads.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The last module that it names, in its own crate; the crate, if it resolves to another one.
    pub(super) named: Meanings,
    /// What the whole path means.
    pub(super) means: Meanings,
}

pub(super) struct PathResolver<'n> {
    resolver: &'n Resolver<'n>,
    forest: &'n Forest,
    facts: &'n dyn FactsOf,
    /// Crates by the number of the crate that names them: the paths of a file begin with few names.
    crates: RefCell<FxHashMap<(u32, &'n str), Option<Meaning>>>,
    /// What the first names of paths mean, for the same reason.
    first_names: RefCell<FxHashMap<FirstName<'n>, FirstMeaning>>,
    /// Its memory, from request to request.
    trail: RefCell<Trail<'n>>,
}

/// What the first name of a path means, and the steps that finding it took.
struct FirstMeaning {
    means: Meanings,
    steps: u32,
}

/// Everything that the meaning of a path's first name depends on: the module, the name, whether the path is an import, and whether
/// the name is the whole path.
type FirstName<'n> = (ModuleId, &'n str, bool, bool);

/// A module with the facts of its file and its names.
type InModule<'n> = (ModuleId, &'n FileFacts, &'n Scope);

/// What is being looked up, to end circles.
#[derive(Default)]
pub(super) struct Trail<'n> {
    requests: Vec<(ModuleId, &'n str)>,
    globs: Vec<(ModuleId, &'n str)>,
    steps: u32,
    /// Everything that was looked up, also what is done with.
    visits: Vec<Visit>,
    /// How often something was not looked up because it is being looked up already, or because it is too deep.
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

    /// Whether an import would be found as it was then: within the bounds, and without a circle that includes what is being
    /// looked up now.
    fn allows(&self, known: &KnownImport) -> bool {
        if self.steps + known.steps > MOST_STEPS {
            return false;
        }
        if self.is_empty() {
            return true;
        }
        let Some(visits) = &known.visits else { return false };
        // What is being looked up at one time is no more than what was looked up.
        let is_shallow = self.requests.len().max(self.globs.len()) + visits.len() < MOST_HOPS;
        let mut around = self.requests.iter().chain(&self.globs).map(|(module, text)| Visit::new(*module, text));
        is_shallow && around.all(|one| !visits.contains(&one))
    }
}

impl<'n> PathResolver<'n> {
    pub(super) fn new(resolver: &'n Resolver<'n>, forest: &'n Forest, facts: &'n dyn FactsOf) -> Self {
        // Most files name a few.
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

    /// The bindings of a name in a module, and the index of the first.
    fn named(&self, module: ModuleId, scope: &'n Scope, name: &str) -> (usize, &'n [Binding]) {
        let index = self.forest.module(module).filter(|_| scope.bindings.len() >= FEW_BINDINGS);
        let Some(index) = index.map(|module| &module.index) else { return named(&scope.bindings, name) };
        let range = index.range(&scope.bindings, name);
        let alike = scope.bindings.get(range.clone()).unwrap_or_default();
        if name.len() <= INDEXED {
            let count = alike.iter().take_while(|binding| binding.name.len() == name.len()).count();
            return (range.start, alike.get(..count).unwrap_or_default());
        }
        let before = if alike.len() < FEW_BINDINGS { 0 } else { alike.partition_point(|one| *one.name < *name) };
        let (at, found) = named(alike.get(before..).unwrap_or_default(), name);
        (range.start + before + at, found)
    }

    /// What a request of a file resolves to. `file` is the module that the file is.
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
        for meaning in first.into_iter().take(MOST_MEANINGS) {
            self.follow(origin, meaning, segments, form, trail, &mut walked);
        }
        walked
    }

    /// What the first segments mean, and the module that the path stands in.
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

    /// The macro definition that a path of a file names first: imports inside it are written so.
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

    /// A module inside the file, by name.
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

    /// A name without anything before it; `is_whole` if nothing is behind it either.
    fn plain(&self, module: ModuleId, name: &'n str, form: Form, is_whole: bool, trail: &mut Trail<'n>) -> Meanings {
        // Inside of another lookup the answer may depend on what is being looked up, and on the steps that are left.
        if trail.steps > 0 || !trail.requests.is_empty() || !trail.globs.is_empty() {
            return self.find_plain(module, name, form, is_whole, trail);
        }
        let key = (module, name, form == Form::Use, is_whole);
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
        // A function of the name of a crate does not hide it: nothing is in a function.
        let is_lowercase = name.starts_with(|first: char| first.is_lowercase());
        let is_type = |one: &Meaning| is_whole || !is_lowercase || !matches!(one, Meaning::Item(_));
        if found.iter().any(is_type) {
            // `#[cfg(…)] extern crate core as std;` leaves the crate of that name to other configurations.
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
        // Newer paths in a package without an edition: tests and snippets.
        if from_root { self.lookup(module, name, module, trail) } else { Meanings::new() }
    }

    /// Crates by the name that paths have for them: a dependency, and the crate of `extern crate x as name;` in the root, which
    /// is known everywhere. Both where both are there: either may belong to another configuration.
    fn external(&self, krate: u32, name: &'n str) -> Meanings {
        let dependency = self.dependency(krate, name);
        let renamed = self.renamed(krate, name).filter(|renamed| dependency.as_ref() != Some(renamed));
        dependency.into_iter().chain(renamed).collect()
    }

    /// A crate by the name that the package has for it.
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
        // The standard library's own build gives these names to stand-ins.
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

    /// The crate that `extern crate x as name;` in the root names; `x` may be `self`.
    fn renamed(&self, krate: u32, name: &str) -> Option<Meaning> {
        // Standard names are asked for often, and the crates behind them are the same in all configurations but one.
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

    /// Follows the rest of a path from what its beginning means.
    fn follow(
        &self,
        origin: ModuleId,
        first: Meaning,
        mut rest: Segments<'n>,
        form: Form,
        trail: &mut Trail<'n>,
        walked: &mut Walked,
    ) {
        match first {
            Meaning::Module(_) => {}
            Meaning::Item(_) => {
                walked.means.push(first);
                return;
            }
            Meaning::Outside(_) => {
                walked.named.push(first);
                walked.means.push(first);
                return;
            }
            Meaning::Builtin(krate) => {
                walked.named.push(first);
                walked.means.push(Meaning::Builtin(rest.fold(krate, home)));
                return;
            }
        }
        let own = self.forest.module(origin).map(|module| module.krate);
        let is_own = |id: &ModuleId| self.forest.module(*id).map(|module| module.krate) == own;
        let mut tracking = false;
        let mut named: Meanings = match &first {
            Meaning::Module(id) if is_own(id) => {
                tracking = true;
                smallvec![first]
            }
            Meaning::Module(id) => {
                self.forest.crate_of(*id).map(|krate| Meaning::Module(krate.root)).into_iter().collect()
            }
            _ => Meanings::new(),
        };
        let mut current: Meanings = smallvec![first];
        while let Some(segment) = rest.next() {
            let is_last = rest.is_at_end();
            let mut next = Meanings::new();
            for meaning in current.iter().take(MOST_MEANINGS) {
                match meaning {
                    Meaning::Module(id) => {
                        next.extend_from_slice(&self.lookup(*id, segment, self.viewer(origin, *id), trail));
                    }
                    Meaning::Builtin(krate) => next.push(Meaning::Builtin(home(*krate, segment))),
                    other => next.push(*other),
                }
            }
            next.dedup();
            // The last name of a path in code is never a module.
            let is_module = |meaning: &Meaning| matches!(meaning, Meaning::Module(id) if is_own(id));
            if is_last && form != Form::Use || !next.iter().any(is_module) {
                tracking = false;
            } else if tracking {
                // One configuration has a module of its own here and another one of a crate: that path ends before it.
                let ends = next.iter().any(|meaning| match meaning {
                    Meaning::Module(id) => !is_own(id),
                    Meaning::Item(_) => false,
                    _ => true,
                });
                if !ends {
                    named.clear();
                }
                named.extend(next.iter().copied().filter(is_module));
            }
            current = next;
        }
        walked.named.extend_from_slice(&named);
        walked.means.extend_from_slice(&current);
    }

    /// The module that a path sees another one from. Paths of modules inside a file are written as the file's module sees them
    /// (`self::inner::x`), and may name what is private there.
    fn viewer(&self, origin: ModuleId, module: ModuleId) -> ModuleId {
        let (Some(from), Some(seen)) = (self.forest.module(origin), self.forest.module(module)) else { return origin };
        if from.scope == 0 && from.key == seen.key { module } else { origin }
    }

    /// What a name means in a module, as another module sees it.
    fn lookup(&self, module: ModuleId, name: &'n str, from: ModuleId, trail: &mut Trail<'n>) -> Meanings {
        trail.steps += 1;
        if trail.steps > MOST_STEPS {
            return Meanings::new();
        }
        let Some(facts) = self.facts_of(module) else { return Meanings::new() };
        let number = self.forest.module(module).map_or(0, |module| module.scope);
        let Some(scope) = facts.scopes.get(number as usize) else { return Meanings::new() };
        let sees_private = self.forest.is_within(from, module);
        let child = |at: usize| self.child(module, at);
        let mut found = self.declared((module, facts, scope), name, sees_private, child, trail);
        if found.is_empty() {
            found = self.through_calls(module, name, sees_private, trail);
        }
        if found.is_empty() {
            found = self.through_globs((module, facts, scope), name, sees_private, trail);
        }
        if found.is_empty()
            && let Some(krate) = self.forest.crate_of(module).filter(|krate| krate.root == module)
        {
            // Exported macros are names of the crate's root.
            let files = krate.macros.get(name).into_iter().flatten();
            found.extend(files.take(MOST_MEANINGS).map(|file| Meaning::Item(*file)));
        }
        if found.len() > 1 {
            found.sort_by_key(|meaning| !matches!(meaning, Meaning::Module(_)));
            found.dedup();
        }
        found
    }

    /// What a module itself says about a name. `child` has the modules that its bindings declare.
    fn declared(
        &self,
        (module, facts, scope): InModule<'n>,
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
            if found.len() > MOST_MEANINGS * 2 {
                break;
            }
        }
        found
    }

    /// What the macro calls of a module declare by a name.
    fn through_calls(&self, module: ModuleId, name: &'n str, sees_private: bool, trail: &mut Trail<'n>) -> Meanings {
        let mut found = Meanings::new();
        let calls = self.forest.module(module).map(|module| module.calls.as_slice()).unwrap_or_default();
        for definition in calls.iter().copied() {
            let (Some(facts), Some(scope)) = (self.facts_of(definition), self.scope_of(definition)) else { continue };
            let inside = (definition, facts, scope);
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
            if found.len() > MOST_MEANINGS || trail.steps > MOST_STEPS {
                break;
            }
        }
        found
    }

    /// What an import of a module means; `number` is that of the request.
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
        if trail.requests.len() >= MOST_HOPS || trail.requests.contains(&key) {
            trail.cuts += 1;
            return Meanings::new();
        }
        let (steps, visited, cuts) = (trail.steps, trail.visits.len(), trail.cuts);
        trail.visits.push(Visit::new(key.0, key.1));
        trail.requests.push(key);
        let means = self.walk(file, request, trail).means;
        trail.requests.pop();
        // What is found within the bounds, and without a circle that includes what is around it, is found so by every other path.
        if trail.steps <= MOST_STEPS && (is_first || trail.cuts == cuts) {
            let visits = trail.visits.get(visited..).filter(|visits| visits.len() <= MOST_VISITS).map(Arc::from);
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

    /// Where the meaning of an import is remembered; `file` is the module that the file is.
    fn import_slot(&self, file: ModuleId, number: u32) -> Option<&'n OnceLock<KnownImport>> {
        let slots = self.forest.module(file)?.imports.get_or_init(|| {
            let requests = self.facts_of(file).map(|facts| facts.requests.as_slice()).unwrap_or_default();
            // Names are bound to imports, which come before the paths of code.
            let imports = requests.iter().take_while(|request| Form::of(request.form).0 != Form::Path);
            imports.map(|_| OnceLock::new()).collect()
        });
        slots.get(number as usize)
    }

    /// The module that the file of a module is.
    fn file_module(&self, module: ModuleId) -> Option<ModuleId> {
        let mut at = module;
        while self.forest.module(at)?.scope != 0 {
            at = self.forest.module(at)?.parent?;
        }
        Some(at)
    }

    fn through_globs(
        &self,
        (module, facts, scope): InModule<'n>,
        name: &'n str,
        sees_private: bool,
        trail: &mut Trail<'n>,
    ) -> Meanings {
        let mut found = Meanings::new();
        if scope.globs.is_empty() {
            return found;
        }
        if trail.globs.len() >= MOST_HOPS || trail.globs.contains(&(module, name)) {
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
            if found.len() > MOST_MEANINGS || trail.steps > MOST_STEPS {
                break;
            }
        }
        trail.globs.pop();
        found
    }
}

/// The bindings of a name among few, and the index of the first.
fn named<'b>(bindings: &'b [Binding], name: &str) -> (usize, &'b [Binding]) {
    // Lengths are beside each other, and texts are not.
    let is_named = |binding: &Binding| *binding.name == *name;
    let Some(from) = bindings.iter().position(is_named) else { return (0, &[]) };
    let same = bindings.get(from..).unwrap_or_default();
    let count = same.iter().take_while(|binding| is_named(binding)).count();
    (from, same.get(..count).unwrap_or_default())
}
