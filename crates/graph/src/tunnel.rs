//! Resolves names through barrels: from a name that a file imports from a module to the files that define it (spec 10 §5).
//!
//! The rules are ECMAScript's `ResolveExport`, with two exceptions because the answer is context, not a link error: an ambiguous
//! name resolves to all its definers, and a file with unknown exports counts as the definer of every name requested from it.
//! Nothing is resolved or loaded here; [`Modules`] does that.
//!
//! A search is plain reachability over states (module, name): the exports that a name of a module resolves to depend on that
//! module alone. So cycles are harmless, caching earlier answers only saves time, and the answer cannot depend on threads.
//!
//! A short search is a walk that remembers few states, so that threads do not wait for each other. A long one becomes a search
//! that remembers every state (`components.rs`): without that, a name that is exported twice at every level would be searched in
//! full again from each level.

mod components;
mod memo;
mod sets;
mod stars;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::{DEFAULT_EXPORT, EXPORT_EQUALS, Export, ExportSource};
use stan_model::{EdgeKind, FileFacts};

pub use stan_model::FileKey;

use components::Components;
use memo::Memo;
use stars::{StarTable, StarTables};

/// One analysed file: its facts and the targets of its requests.
#[derive(Clone, Copy, Debug)]
pub struct Module<'a> {
    /// `exports` must be sorted by name.
    pub facts: &'a FileFacts,
    /// For each request, the file that it resolves to; `None` for a builtin or an unresolved request.
    pub targets: &'a [Option<FileKey>],
}

/// Access to the modules of a repository and its packages.
///
/// Which modules are requested, how often and in which order may differ between runs, so an implementation that loads
/// modules on demand must give the same answers in any order and report nothing from here.
pub trait Modules: Sync {
    /// `None` when the file cannot be analysed: a style sheet, an image, code in another language.
    fn module(&self, file: FileKey) -> Option<Module<'_>>;

    /// Whether a re-export may be followed: not when `from` is external and `to` is in another package.
    fn may_enter(&self, from: FileKey, to: FileKey) -> bool;
}

/// Finds definers and memoises the answers. Can be shared by all threads.
pub struct Tunneller<'m> {
    modules: &'m dyn Modules,
    memo: Memo<'m>,
    stars: StarTables<'m>,
    long: Mutex<Components<'m>>,
    /// How many states a walk may visit before it is restarted as a search that remembers all of them.
    walk_limit: usize,
    /// How many states long searches remember.
    max_closed: usize,
    /// Names with more definers than this get no implicit edges.
    definer_limit: usize,
    /// Searches that found more definers than `definer_limit`, with their numbers of definers. Remembered because each
    /// importer asks again, and a walk lists all definers before it gives up.
    over_limit: Mutex<FxHashMap<RequestedName<'m>, usize>>,
    /// Edges beyond those that ordinary names have, in the whole repository.
    extra_edges: AtomicUsize,
}

/// The implicit edges of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implicit {
    /// Sorted and unique.
    pub edges: Vec<(FileKey, EdgeKind)>,
    /// The first name that was left out because very many files define it, and how many.
    pub left_out: Option<(Box<str>, usize)>,
}

/// The result of a search.
enum Definers {
    All(Arc<[FileKey]>),
    /// More than the limit.
    TooMany(usize),
}

/// Walking over this many states is cheaper than remembering them.
const WALK_LIMIT: usize = 64;
/// An ordinary name has fewer definers, also where it is ambiguous.
const ORDINARY_DEFINERS: usize = 8;
/// Far more than any real repository has. Ambiguous names make (importers × definers) edges: without a limit, a few megabytes of
/// hostile sources would result in billions of edges.
const MAX_EXTRA_EDGES: usize = 4_000_000;

impl<'m> Tunneller<'m> {
    pub fn new(modules: &'m dyn Modules) -> Self {
        Self {
            modules,
            memo: Memo::default(),
            stars: StarTables::new(stars::DEFAULT_LIMITS),
            long: Mutex::default(),
            walk_limit: WALK_LIMIT,
            max_closed: components::MAX_CLOSED,
            definer_limit: usize::MAX,
            over_limit: Mutex::default(),
            extra_edges: AtomicUsize::new(0),
        }
    }

    /// Leaves out names with more definers than ordinary ones have. For repositories where [`Self::exceeds_edge_limit`].
    pub fn with_definer_limit(mut self) -> Self {
        self.definer_limit = ORDINARY_DEFINERS;
        self
    }

    /// Whether ambiguous names resulted in too many edges. Then the answers so far are incomplete.
    pub fn exceeds_edge_limit(&self) -> bool {
        self.extra_edges.load(Ordering::Relaxed) > MAX_EXTRA_EDGES
    }

    /// The implicit edges of one file: to the definers of each name that it takes from a module, apart from that module
    /// and the file itself.
    pub fn implicit_edges(&self, file: FileKey) -> Implicit {
        let mut implicit = Implicit::default();
        let Some(module) = self.modules.module(file) else { return implicit };
        let edges = &mut implicit.edges;
        // Duplicates are removed each time the list has doubled: thousands of imports may share the same definers.
        let mut sorted_at = 1 << 12;
        for import in &module.facts.imports {
            let Some(named) = target(&module, import.request) else { continue };
            if self.ends_at(named, &import.name) {
                continue;
            }
            let definers = match self.definers_up_to(named, &import.name, self.definer_limit) {
                Definers::All(definers) => definers,
                Definers::TooMany(count) => {
                    implicit.left_out.get_or_insert_with(|| (import.name.clone(), count));
                    continue;
                }
            };
            self.extra_edges.fetch_add(definers.len().saturating_sub(ORDINARY_DEFINERS), Ordering::Relaxed);
            if self.exceeds_edge_limit() {
                return Implicit::default();
            }
            let others = definers.iter().filter(|definer| **definer != named && **definer != file);
            edges.extend(others.map(|definer| (*definer, import.kind)));
            if edges.len() > sorted_at {
                edges.sort_unstable();
                edges.dedup();
                sorted_at = sorted_at.max(2 * edges.len());
            }
        }
        edges.sort_unstable();
        edges.dedup();
        implicit
    }

    /// The files that define what `module` exports as `name`, sorted and unique; empty when it exports no such thing.
    pub fn definers(&self, module: FileKey, name: &'m str) -> Arc<[FileKey]> {
        match self.definers_up_to(module, name, usize::MAX) {
            Definers::All(definers) => definers,
            Definers::TooMany(_) => Arc::from([]),
        }
    }

    fn definers_up_to(&self, module: FileKey, name: &'m str, limit: usize) -> Definers {
        let start = RequestedName { file: module, name, via_star: false };
        if limit < usize::MAX
            && let Some(count) = self.over_limit().get(&start).copied().filter(|count| *count > limit)
        {
            return Definers::TooMany(count);
        }
        let found = self.memo.get(start).or_else(|| self.walk(start));
        match found {
            Some(definers) if definers.len() > limit => Definers::TooMany(definers.len()),
            Some(definers) => Definers::All(definers),
            None => {
                let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
                let found = long.search(self, start, limit);
                drop(long);
                match &found {
                    Definers::All(definers) => self.memo.remember(vec![start], definers),
                    Definers::TooMany(count) => drop(self.over_limit().insert(start, *count)),
                }
                found
            }
        }
    }

    fn over_limit(&self) -> MutexGuard<'_, FxHashMap<RequestedName<'m>, usize>> {
        // Every entry is a finished answer, whether or not another thread panicked.
        self.over_limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the search would find exactly the module itself. True for most imports, which need no memo entry then.
    fn ends_at(&self, file: FileKey, name: &str) -> bool {
        let Some(module) = self.transparent(file) else { return true };
        let exports = exports_named(module.facts, name);
        !exports.is_empty() && exports.iter().all(|export| export.source == ExportSource::Local)
    }

    /// Visits states until none is left; `None` when there are too many for a walk.
    fn walk(&self, start: RequestedName<'m>) -> Option<Arc<[FileKey]>> {
        let mut walk = NameSearch::default();
        walk.visit(start);
        // States that every path to a definer passes through: they all have the answer of the first.
        let mut trunk = Vec::new();
        let answer = loop {
            let Some(state) = walk.pending.pop() else { break walk.answer() };
            let on_trunk = walk.pending.is_empty() && walk.found_nothing();
            if on_trunk && let Some(known) = self.memo.get(state) {
                break known;
            }
            if walk.seen.len() > self.walk_limit {
                return None;
            }
            self.expand(state, &mut walk);
            if on_trunk && !walk.pending.is_empty() {
                trunk.push(state);
            }
        };
        self.memo.remember(trunk, &answer);
        Some(answer)
    }

    /// Follows a name by one step.
    fn expand(&self, state: RequestedName<'m>, walk: &mut impl Sink<'m>) {
        let RequestedName { file, name, via_star } = state;
        let Some(module) = self.transparent(file) else { return walk.found(file, !via_star) };
        let exports = exports_named(module.facts, name);
        for export in exports {
            match &export.source {
                ExportSource::Local => walk.found(file, true),
                ExportSource::Name { request, name } => {
                    if let Some(next) = self.enter(file, &module, *request) {
                        walk.visit(RequestedName { file: next, name, via_star: false });
                    }
                }
                ExportSource::Namespace { request } => {
                    if let Some(next) = self.enter(file, &module, *request) {
                        walk.found(next, true);
                    }
                }
            }
        }
        // An explicit export hides the stars, even when it does not resolve.
        if !exports.is_empty() {
            return;
        }
        match name {
            // `export =` of a module without one is the module's namespace.
            EXPORT_EQUALS => walk.found(file, true),
            // Stars do not forward `default`.
            DEFAULT_EXPORT => self.expand_whole(state, &module, walk),
            _ => {
                self.expand_whole(state, &module, walk);
                self.expand_stars(state, &module, walk);
            }
        }
    }

    /// `export = value`: a name that is not exported is a member of the value.
    fn expand_whole(&self, state: RequestedName<'m>, module: &Module<'m>, walk: &mut impl Sink<'m>) {
        let RequestedName { file, name, via_star } = state;
        for export in exports_named(module.facts, EXPORT_EQUALS) {
            match &export.source {
                ExportSource::Local => {
                    walk.found(file, !via_star && (name == DEFAULT_EXPORT || module.facts.stars.is_empty()))
                }
                ExportSource::Name { .. } if via_star => walk.found(file, false),
                ExportSource::Name { request, name } => {
                    if let Some(next) = self.enter(file, module, *request) {
                        walk.visit(RequestedName { file: next, name, via_star: false });
                    }
                }
                ExportSource::Namespace { request } => {
                    let Some(next) = self.enter(file, module, *request) else { continue };
                    if name != DEFAULT_EXPORT || self.has_default(next) {
                        walk.visit(RequestedName { file: next, name, via_star });
                    } else {
                        walk.found(next, true);
                    }
                }
            }
        }
    }

    fn expand_stars(&self, state: RequestedName<'m>, module: &Module<'m>, walk: &mut impl Sink<'m>) {
        let RequestedName { file, name, .. } = state;
        let stars = &module.facts.stars;
        if let Some(table) = self.stars.table(self, file, stars.len()) {
            table
                .for_each_provider(name, |provider| walk.visit(RequestedName { file: provider, name, via_star: true }));
            if table.has_catch_alls() {
                walk.defer(table, name);
            }
            return;
        }
        for request in stars {
            if let Some(next) = self.enter(file, module, *request) {
                walk.visit(RequestedName { file: next, name, via_star: true });
            }
        }
    }

    /// The module, unless its exports are unknown: it cannot be analysed, or it has no ECMAScript exports and may be CommonJS.
    fn transparent(&self, file: FileKey) -> Option<Module<'m>> {
        let modules: &'m dyn Modules = self.modules;
        modules.module(file).filter(|module| !module.facts.exports.is_empty() || !module.facts.stars.is_empty())
    }

    fn enter(&self, from: FileKey, module: &Module<'m>, request: u32) -> Option<FileKey> {
        target(module, request).filter(|to| self.modules.may_enter(from, *to))
    }

    fn has_default(&self, file: FileKey) -> bool {
        self.transparent(file).is_some_and(|module| {
            [DEFAULT_EXPORT, EXPORT_EQUALS].iter().any(|name| !exports_named(module.facts, name).is_empty())
        })
    }
}

/// A name that is requested from a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct RequestedName<'m> {
    file: FileKey,
    name: &'m str,
    /// Requested through a star, so the module may not have the name at all: a module with unknown exports then counts only if no
    /// other module has the name.
    via_star: bool,
}

/// Receives the results of one step of a search.
trait Sink<'m> {
    /// A state that the search continues with.
    fn visit(&mut self, state: RequestedName<'m>);
    /// A definer, or a file that counts only when there is no definer.
    fn found(&mut self, file: FileKey, certain: bool);
    /// A table whose files count only when there is no definer.
    fn defer(&mut self, table: Arc<StarTable<'m>>, name: &'m str);
}

/// The state of a walk.
#[derive(Default)]
struct NameSearch<'m> {
    pending: Vec<RequestedName<'m>>,
    seen: FxHashSet<RequestedName<'m>>,
    /// Definers; `possible` ones count only if there is no certain one.
    certain: Vec<FileKey>,
    possible: Vec<FileKey>,
    /// Tables whose possible definers are listed only if there is no certain one, which is rare.
    deferred: Vec<(Arc<StarTable<'m>>, &'m str)>,
}

impl<'m> Sink<'m> for NameSearch<'m> {
    fn visit(&mut self, state: RequestedName<'m>) {
        if self.seen.insert(state) {
            self.pending.push(state);
        }
    }

    fn found(&mut self, file: FileKey, certain: bool) {
        if certain { &mut self.certain } else { &mut self.possible }.push(file);
    }

    fn defer(&mut self, table: Arc<StarTable<'m>>, name: &'m str) {
        self.deferred.push((table, name));
    }
}

impl NameSearch<'_> {
    fn found_nothing(&self) -> bool {
        self.certain.is_empty() && self.possible.is_empty() && self.deferred.is_empty()
    }

    fn answer(&mut self) -> Arc<[FileKey]> {
        if self.certain.is_empty() {
            for (table, name) in self.deferred.drain(..) {
                table.for_each_catch_all(name, |file| self.possible.push(file));
            }
            self.certain.append(&mut self.possible);
        }
        self.certain.sort_unstable();
        self.certain.dedup();
        Arc::from(self.certain.as_slice())
    }
}

fn target(module: &Module<'_>, request: u32) -> Option<FileKey> {
    module.targets.get(request as usize).copied().flatten()
}

/// All exports of one name: two sources of one name are two entries.
fn exports_named<'f>(facts: &'f FileFacts, name: &str) -> &'f [Export] {
    let exports = &facts.exports;
    let start = exports.partition_point(|export| *export.name < *name);
    let length = exports[start..].iter().take_while(|export| *export.name == *name).count();
    &exports[start..start + length]
}

#[cfg(test)]
mod tests;
