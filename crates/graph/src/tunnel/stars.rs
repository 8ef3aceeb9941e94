//! Tables for modules whose stars are searched often: name → the modules behind the stars that export it.
//!
//! Without them, each name imported from a barrel of thousands of stars would visit thousands of modules. They are only an
//! optimisation: every answer is the same without them. Nothing here finds definers; a provider may re-export the name itself.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::{DEFAULT_EXPORT, EXPORT_EQUALS, ExportSource};

use super::{FileKey, Tunneller, exports_named};

/// The limits that decide when tables are built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many stars of one module are followed before it gets a table.
    pub(super) follow: u32,
    /// The maximum number of entries of all tables together, which bounds memory for any repository.
    pub(super) entries: usize,
}

pub(super) const DEFAULT_LIMITS: Limits = Limits { follow: 512, entries: 2 << 20 };

const SHARDS: usize = 16;

pub(super) struct StarTables<'m> {
    limits: Limits,
    entries: AtomicUsize,
    shards: [Mutex<FxHashMap<FileKey, Arc<StarSlot<'m>>>>; SHARDS],
}

/// A module's table, or the work done so far without one.
#[derive(Default)]
struct StarSlot<'m> {
    followed: AtomicU32,
    /// `Some(None)` if the table would have been too large.
    table: OnceLock<Option<Arc<StarTable<'m>>>>,
}

impl<'m> StarTables<'m> {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, entries: AtomicUsize::new(0), shards: std::array::from_fn(|_| Mutex::default()) }
    }

    /// The table for `file`, which has `stars` stars; `None` if they should be followed instead.
    pub(super) fn table(&self, tunneller: &Tunneller<'m>, file: FileKey, stars: usize) -> Option<Arc<StarTable<'m>>> {
        if stars == 0 {
            return None;
        }
        let shard = &self.shards[file.0 as usize % SHARDS];
        let slot = Arc::clone(shard.lock().unwrap_or_else(PoisonError::into_inner).entry(file).or_default());
        if let Some(table) = slot.table.get() {
            return table.clone();
        }
        let stars = u32::try_from(stars).unwrap_or(u32::MAX);
        let followed = slot.followed.fetch_add(stars, Ordering::Relaxed).saturating_add(stars);
        if followed < self.limits.follow {
            return None;
        }
        slot.table.get_or_init(|| self.build(tunneller, file)).clone()
    }

    fn build(&self, tunneller: &Tunneller<'m>, file: FileKey) -> Option<Arc<StarTable<'m>>> {
        let used = self.entries.load(Ordering::Relaxed);
        let table = TableBuilder::default().build(tunneller, file, self.limits.entries.saturating_sub(used))?;
        self.entries.fetch_add(table.entries(), Ordering::Relaxed);
        Some(Arc::new(table))
    }
}

/// The modules that are reached from one module through stars alone. The module itself is place 0 and has no names here: the
/// table is used only for names that the module does not export itself.
pub(super) struct StarTable<'m> {
    files: Vec<FileKey>,
    /// The end of each place's list in `parents`: the places with a star to it.
    parent_ends: Vec<u32>,
    parents: Vec<u32>,
    /// Names, each with a place that exports it, sorted.
    names: Vec<(&'m str, u32)>,
    /// Places that may define any name, sorted: they count only if no definer is found.
    catch_alls: Vec<u32>,
}

const ROOT: u32 = 0;

impl<'m> StarTable<'m> {
    pub(super) fn has_catch_alls(&self) -> bool {
        !self.catch_alls.is_empty()
    }

    /// Calls `act` for the modules at which a search for `name` through the stars stops.
    pub(super) fn for_each_provider(&self, name: &str, mut act: impl FnMut(FileKey)) {
        let providers = self.providers(name);
        // No other provider can hide the only one.
        if let [(_, place)] = providers {
            return act(self.files[*place as usize]);
        }
        let places: Vec<u32> = providers.iter().map(|(_, place)| *place).collect();
        self.open(&places, providers).for_each(|place| act(self.files[place as usize]));
    }

    /// Calls `act` for the modules that a search for `name` passes and that may define it.
    pub(super) fn for_each_catch_all(&self, name: &str, mut act: impl FnMut(FileKey)) {
        let providers = self.providers(name);
        if providers.is_empty() {
            return self.catch_alls.iter().for_each(|place| act(self.files[*place as usize]));
        }
        let places: Vec<u32> = self.catch_alls.iter().copied().filter(|place| !provides(providers, *place)).collect();
        self.open(&places, providers).for_each(|place| act(self.files[place as usize]));
    }

    fn entries(&self) -> usize {
        self.names.len() + self.files.len() + self.parents.len()
    }

    fn providers(&self, name: &str) -> &[(&'m str, u32)] {
        let start = self.names.partition_point(|(other, _)| *other < name);
        let length = self.names[start..].partition_point(|(other, _)| *other == name);
        &self.names[start..start + length]
    }

    /// The places that a path of stars reaches from the root without an earlier provider of the name. Paths are searched from
    /// their ends, because a module is usually behind very few barrels, and all at once, because many modules may be behind the
    /// same barrels.
    fn open<'p>(&self, places: &'p [u32], providers: &[(&'m str, u32)]) -> impl Iterator<Item = u32> + use<'p, 'm> {
        let mut pending = places.to_vec();
        let mut seen: FxHashSet<u32> = places.iter().copied().collect();
        let mut open: FxHashSet<u32> = FxHashSet::default();
        let mut reached = Vec::new();
        // Stars as (from, to), as far as the search from the ends needs them.
        let mut stars = Vec::new();
        while let Some(place) = pending.pop() {
            let parents = self.parents_of(place);
            if parents.first() == Some(&ROOT) {
                open.insert(place);
                reached.push(place);
                continue;
            }
            for parent in parents.iter().filter(|parent| !provides(providers, **parent)) {
                stars.push((*parent, place));
                if seen.insert(*parent) {
                    pending.push(*parent);
                }
            }
        }
        stars.sort_unstable();
        while let Some(place) = reached.pop() {
            let start = stars.partition_point(|(from, _)| *from < place);
            for (_, to) in stars[start..].iter().take_while(|(from, _)| *from == place) {
                if open.insert(*to) {
                    reached.push(*to);
                }
            }
        }
        places.iter().copied().filter(move |place| open.contains(place))
    }

    fn parents_of(&self, place: u32) -> &[u32] {
        let place = place as usize;
        let start = if place == 0 { 0 } else { self.parent_ends[place - 1] };
        &self.parents[start as usize..self.parent_ends[place] as usize]
    }
}

fn provides(providers: &[(&str, u32)], place: u32) -> bool {
    providers.binary_search_by_key(&place, |(_, provider)| *provider).is_ok()
}

#[derive(Default)]
struct TableBuilder<'m> {
    files: Vec<FileKey>,
    /// Does not contain the root: if a cycle of stars reaches it, it gets a second place like any other module.
    places: FxHashMap<FileKey, u32>,
    /// Stars as (to, from), so that sorting groups them by their end.
    stars: Vec<(u32, u32)>,
    names: Vec<(&'m str, u32)>,
    catch_alls: Vec<u32>,
}

impl<'m> TableBuilder<'m> {
    /// `None` if the table would have more than `limit` entries.
    fn build(mut self, tunneller: &Tunneller<'m>, root: FileKey, limit: usize) -> Option<StarTable<'m>> {
        self.files.push(root);
        let module = tunneller.transparent(root)?;
        for request in &module.facts.stars {
            self.star(ROOT, tunneller.enter(root, &module, *request))?;
        }
        let mut next = 1;
        while let Some(&file) = self.files.get(next) {
            self.add(tunneller, file, u32::try_from(next).ok()?)?;
            if self.names.len() + self.files.len() + self.stars.len() > limit {
                return None;
            }
            next += 1;
        }
        self.finish()
    }

    fn add(&mut self, tunneller: &Tunneller<'m>, file: FileKey, place: u32) -> Option<()> {
        let Some(module) = tunneller.transparent(file) else {
            self.catch_alls.push(place);
            return Some(());
        };
        let names = module.facts.exports.iter().map(|export| &*export.name);
        self.names
            .extend(names.filter(|name| *name != DEFAULT_EXPORT && *name != EXPORT_EQUALS).map(|name| (name, place)));
        for request in &module.facts.stars {
            self.star(place, tunneller.enter(file, &module, *request))?;
        }
        for export in exports_named(module.facts, EXPORT_EQUALS) {
            match export.source {
                ExportSource::Namespace { request } => self.star(place, tunneller.enter(file, &module, request))?,
                ExportSource::Local | ExportSource::Name { .. } => self.catch_alls.push(place),
            }
        }
        Some(())
    }

    fn star(&mut self, from: u32, to: Option<FileKey>) -> Option<()> {
        let Some(to) = to else { return Some(()) };
        let new_place = u32::try_from(self.files.len()).ok()?;
        let place = *self.places.entry(to).or_insert(new_place);
        if place == new_place {
            self.files.push(to);
        }
        self.stars.push((place, from));
        Some(())
    }

    fn finish(mut self) -> Option<StarTable<'m>> {
        self.names.sort_unstable();
        self.names.dedup();
        self.names.shrink_to_fit();
        self.catch_alls.dedup();
        self.stars.sort_unstable();
        self.stars.dedup();
        let mut parent_ends = vec![0u32; self.files.len()];
        for (to, _) in &self.stars {
            parent_ends[*to as usize] += 1;
        }
        let mut total = 0u32;
        for end in &mut parent_ends {
            total = total.checked_add(*end)?;
            *end = total;
        }
        let parents = self.stars.iter().map(|(_, from)| *from).collect();
        Some(StarTable { files: self.files, parent_ends, parents, names: self.names, catch_alls: self.catch_alls })
    }
}
