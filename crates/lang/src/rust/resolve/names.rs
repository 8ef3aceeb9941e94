//! Paths to what they name, by the rules of the language: the module tree, imports, globs and crates. Visibility counts as far as
//! private names are not seen from outside.
//!
//! All configurations count: a name that is bound twice resolves to both. Work for one path is bounded, whatever the
//! files say.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use stan_model::FileFacts;
use stan_model::facts::{Binding, Bound, Request, Scope};

use super::Resolver;
use super::forest::{Forest, ModuleId, is_module};
use super::packages::Library;
use super::standard::{home, standard_crate};
use crate::language::FactsOf;
use crate::rust::form::Form;
use crate::typescript::resolve::path::contains;

/// Imports that name other imports, for one path.
const MOST_HOPS: usize = 48;

/// Modules that are searched for one path.
const MOST_STEPS: u32 = 256;

/// Meanings of one name that are followed.
const MOST_MEANINGS: usize = 4;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Module(ModuleId),
    /// Something that a module declares.
    Item(ModuleId),
    /// A crate that is not part of the forest, by the root file of its library.
    Library(Arc<str>),
    Builtin(&'static str),
    /// A crate that the package depends on, and which is not here.
    Missing(Box<str>),
}

/// Nearly all names mean one thing.
pub(super) type Meanings = SmallVec<[Meaning; 2]>;

/// What an import means, and the steps that finding it took.
#[derive(Clone)]
pub(super) struct KnownImport {
    means: Meanings,
    steps: u32,
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
}

/// What is being looked up, to end circles.
#[derive(Default)]
pub(super) struct Trail<'n> {
    requests: Vec<(ModuleId, &'n str)>,
    globs: Vec<(ModuleId, &'n str)>,
    steps: u32,
}

/// The names of a path, one after the other.
#[derive(Clone, Copy)]
struct Segments<'n>(Option<&'n str>);

impl<'n> Iterator for Segments<'n> {
    type Item = &'n str;

    fn next(&mut self) -> Option<&'n str> {
        let rest = self.0?;
        // Paths are short: setting up a search for `::` would cost more than the search.
        let end = rest.as_bytes().windows(2).position(|pair| pair == b"::");
        self.0 = end.and_then(|end| rest.get(end + 2..));
        end.map_or(Some(rest), |end| rest.get(..end))
    }
}

impl Segments<'_> {
    fn is_at_end(self) -> bool {
        self.0.is_none()
    }
}

impl<'n> PathResolver<'n> {
    pub(super) fn new(resolver: &'n Resolver<'n>, forest: &'n Forest, facts: &'n dyn FactsOf) -> Self {
        Self { resolver, forest, facts, crates: RefCell::default() }
    }

    pub(super) fn facts_of(&self, module: ModuleId) -> Option<&'n FileFacts> {
        self.facts.facts(self.forest.module(module)?.key)
    }

    fn scope_of(&self, module: ModuleId) -> Option<&'n Scope> {
        self.facts_of(module)?.scopes.get(self.forest.module(module)?.scope as usize)
    }

    /// What a request of a file resolves to. `file` is the module that the file is.
    pub(super) fn request(&self, file: ModuleId, request: &'n Request) -> Walked {
        self.walk(file, request, &mut Trail::default())
    }

    fn walk(&self, file: ModuleId, request: &'n Request, trail: &mut Trail<'n>) -> Walked {
        let (form, depth) = Form::of(request.form);
        let Some(module) = self.forest.module(file) else { return Walked::default() };
        if form == Form::Extern {
            let found = self.dependency(module.krate, &request.specifier);
            return Walked { named: found.clone().into_iter().collect(), means: found.into_iter().collect() };
        }
        let mut segments = Segments(Some(&request.specifier));
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
                while Segments(segments.0).next() == Some("super") {
                    segments.next();
                    at = self.forest.module(at)?.parent?;
                }
                one(at)
            }
            "self" if depth == 0 => one(file),
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

    /// A module inside the file, by name.
    fn inner(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        let scope = self.scope_of(module)?;
        let (from, bindings) = named(&scope.bindings, name);
        let at = bindings.iter().position(|binding| matches!(binding.bound, Bound::Scope(_)))?;
        self.child(module, from + at)
    }

    fn child(&self, module: ModuleId, binding: usize) -> Option<ModuleId> {
        let children = &self.forest.module(module)?.children;
        let at = children.binary_search_by_key(&(binding as u32), |(at, _)| *at).ok()?;
        children.get(at).map(|(_, id)| *id)
    }

    /// A name without anything before it; `is_whole` if nothing is behind it either.
    fn plain(&self, module: ModuleId, name: &'n str, form: Form, is_whole: bool, trail: &mut Trail<'n>) -> Meanings {
        let Some(krate) = self.forest.crate_of(module) else { return Meanings::new() };
        let from_root = krate.is_2015 && form == Form::Use;
        let start = if from_root { krate.root } else { module };
        let found = self.lookup(start, name, module, trail);
        // A function of the name of a crate does not hide it: nothing is in a function.
        let is_lowercase = name.starts_with(|first: char| first.is_lowercase());
        let is_type = |one: &Meaning| is_whole || !is_lowercase || !matches!(one, Meaning::Item(_));
        if found.iter().any(is_type) {
            // `#[cfg(…)] extern crate core as std;` leaves the crate of that name to other configurations.
            let standard = standard_crate(name).filter(|_| found.iter().all(|one| matches!(one, Meaning::Builtin(_))));
            let standard = standard.map(Meaning::Builtin).filter(|standard| !found.contains(standard));
            return found.into_iter().chain(standard).collect();
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
            return known.clone();
        }
        let found = self.find_dependency(krate, name);
        self.crates.borrow_mut().insert((krate, name), found.clone());
        found
    }

    fn find_dependency(&self, krate: u32, name: &str) -> Option<Meaning> {
        let krate = self.forest.crates.get(krate as usize)?;
        let manifest = krate.manifest.as_deref();
        // The standard library's own build gives these names to stand-ins.
        if let Some(standard) = standard_crate(name).filter(|name| *name != "test") {
            return Some(Meaning::Builtin(standard));
        }
        if let Some(library) = manifest.and_then(|manifest| self.resolver.packages.library(manifest, name)) {
            return Some(match library {
                Library::File(file) => self.library(&file),
                Library::Missing(package) => Meaning::Missing(package),
            });
        }
        let own = manifest.and_then(|manifest| manifest.package.as_ref()?.library.as_ref());
        if let Some((_, file)) = own.filter(|(own, _)| **own == *name && !krate.is_library) {
            return Some(self.library(file));
        }
        standard_crate(name).map(Meaning::Builtin)
    }

    /// The crate that `extern crate x as name;` in the root names.
    fn renamed(&self, krate: u32, name: &str) -> Option<Meaning> {
        // Standard names are asked for often, and the crates behind them are the same in all configurations but one.
        if standard_crate(name).is_some() {
            return None;
        }
        let root = self.forest.crates.get(krate as usize)?.root;
        let facts = self.facts_of(root)?;
        let (_, bindings) = named(&self.scope_of(root)?.bindings, name);
        let requests = bindings.iter().filter_map(|binding| match binding.bound {
            Bound::Request(request) => facts.requests.get(request as usize),
            _ => None,
        });
        let mut of_crates = requests.filter(|request| Form::of(request.form).0 == Form::Extern);
        let request = of_crates.find(|request| *request.specifier != *name)?;
        self.dependency(krate, &request.specifier)
    }

    fn library(&self, file: &str) -> Meaning {
        if !contains(&self.resolver.packages.root, file) {
            return Meaning::Library(file.into());
        }
        let real = self.resolver.real_file(file).unwrap_or_else(|| file.into());
        let root = self.forest.by_root.get(&real).and_then(|krate| self.forest.crates.get(*krate as usize));
        root.map_or(Meaning::Library(real), |krate| Meaning::Module(krate.root))
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
        let own = self.forest.module(origin).map(|module| module.krate);
        let is_own = |id: &ModuleId| self.forest.module(*id).map(|module| module.krate) == own;
        let mut tracking = false;
        let mut named: Meanings = match &first {
            Meaning::Module(id) if is_own(id) => {
                tracking = true;
                smallvec![first.clone()]
            }
            Meaning::Module(id) => {
                self.forest.crate_of(*id).map(|krate| Meaning::Module(krate.root)).into_iter().collect()
            }
            Meaning::Item(_) => Meanings::new(),
            outside => smallvec![outside.clone()],
        };
        let mut current: Meanings = smallvec![first];
        while let Some(segment) = rest.next() {
            let is_last = rest.is_at_end();
            let mut next = Meanings::new();
            for meaning in current.iter().take(MOST_MEANINGS) {
                match meaning {
                    Meaning::Module(id) => next.extend(self.lookup(*id, segment, origin, trail)),
                    Meaning::Builtin(krate) => next.push(Meaning::Builtin(home(krate, segment))),
                    Meaning::Item(_) if is_last => next.push(meaning.clone()),
                    other => next.push(other.clone()),
                }
            }
            next.dedup();
            // The last name of a path in code is never a module.
            let modules: Meanings = if is_last && form != Form::Use {
                Meanings::new()
            } else {
                next.iter().filter(|meaning| matches!(meaning, Meaning::Module(id) if is_own(id))).cloned().collect()
            };
            if modules.is_empty() {
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
                named.extend(modules);
            }
            current = next;
        }
        walked.named.append(&mut named);
        walked.means.append(&mut current);
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
        let mut found = Meanings::new();
        let (start, bindings) = named(&scope.bindings, name);
        for (at, binding) in bindings.iter().enumerate().filter(|(_, binding)| binding.public || sees_private) {
            match binding.bound {
                Bound::Scope(_) => found.extend(self.child(module, start + at).map(Meaning::Module)),
                Bound::Item | Bound::Macro => found.push(Meaning::Item(module)),
                Bound::Request(number) => {
                    let Some(request) = facts.requests.get(number as usize) else { continue };
                    if is_module(Form::of(request.form).0) {
                        found.extend(self.child(module, start + at).map(Meaning::Module));
                    } else {
                        found.extend(self.imported(module, number, request, trail));
                    }
                }
            }
            if found.len() > MOST_MEANINGS * 2 {
                break;
            }
        }
        if found.is_empty() {
            found = self.through_globs(module, scope, name, sees_private, trail);
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

    /// What an import of a module means; `number` is that of the request.
    fn imported(&self, module: ModuleId, number: u32, request: &'n Request, trail: &mut Trail<'n>) -> Meanings {
        // What is found without anything before it, and within the bound, is found so by every other path.
        let is_first = trail.requests.is_empty() && trail.globs.is_empty();
        let before = trail.steps;
        if is_first
            && let Some(known) = self.forest.imports.get(&(module, number))
            && before + known.steps <= MOST_STEPS
        {
            trail.steps += known.steps;
            return known.means;
        }
        let key = (module, &*request.specifier);
        if trail.requests.len() >= MOST_HOPS || trail.requests.contains(&key) {
            return Meanings::new();
        }
        let Some(file) = self.file_module(module) else { return Meanings::new() };
        trail.requests.push(key);
        let means = self.walk(file, request, trail).means;
        trail.requests.pop();
        if is_first && trail.steps <= MOST_STEPS {
            let known = KnownImport { means: means.clone(), steps: trail.steps - before };
            self.forest.imports.insert((module, number), known);
        }
        means
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
        module: ModuleId,
        scope: &'n Scope,
        name: &'n str,
        sees_private: bool,
        trail: &mut Trail<'n>,
    ) -> Meanings {
        let mut found = Meanings::new();
        if scope.globs.is_empty() || trail.globs.contains(&(module, name)) {
            return found;
        }
        if trail.globs.len() >= MOST_HOPS {
            return found;
        }
        let Some(facts) = self.facts_of(module) else { return found };
        trail.globs.push((module, name));
        for (number, _) in scope.globs.iter().filter(|(_, public)| *public || sees_private) {
            let Some(request) = facts.requests.get(*number as usize) else { continue };
            for meaning in self.imported(module, *number, request, trail) {
                if let Meaning::Module(id) = meaning {
                    found.extend(self.lookup(id, name, module, trail));
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

/// The bindings of a name, and the index of the first.
fn named<'b>(bindings: &'b [Binding], name: &str) -> (usize, &'b [Binding]) {
    let from = bindings.partition_point(|binding| *binding.name < *name);
    let count = bindings.get(from..).unwrap_or_default().iter().take_while(|binding| *binding.name == *name).count();
    (from, bindings.get(from..from + count).unwrap_or_default())
}
