//! Imports: unresolved ones, and an import statement as the focus. Candidates are searched in the module that the
//! import names: a unit that it does not export, and exports with a similar name.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::EXPORT_EQUALS;
use stan_model::names::{FileUnits, Import, Imported, SymbolId, Used};
use stan_model::outline::UnitId;

use crate::closure::{Collector, MissingReason, container, imports_of};
use crate::definitions::{Definition, NotFound};
use crate::modules::{FileId, ImportTarget};
use crate::near::nearest;

/// How many modules are searched for a name that one of them may no longer export.
const MAX_MODULES: usize = 50;

/// Names that may have been meant.
const MAX_NEAR: usize = 3;

/// For how many names the nearest exports are searched: each is compared with every export of its module.
const MAX_OFFERED: usize = 50;

/// The units at the top of some modules and of those that they export again, by name.
pub(crate) type TopUnits = FxHashMap<Box<str>, Vec<(FileId, UnitId)>>;

/// What was looked for already. A hostile file imports one name, or takes names from one module, many thousand times.
#[derive(Default)]
pub(crate) struct Searched {
    /// Symbols that were not found, why, and whether exports were offered for them.
    symbols: FxHashSet<(SymbolId, NotFound, bool)>,
    top_units: FxHashMap<Vec<FileId>, Rc<TopUnits>>,
    offered: usize,
}

/// Where the focus uses a name.
#[derive(Clone, Copy)]
pub(crate) struct UseSite {
    pub(crate) line: u32,
    /// The rank that the declaration of the name would have.
    pub(crate) rank: u8,
}

/// The list of what there is, and the nearest of it, are worth their room where the import itself fails.
fn is_offered(rank: u8) -> bool {
    rank <= 2
}

impl Collector<'_> {
    /// A name whose import does not resolve: what the module has under that name, exported or not.
    pub(crate) fn not_found(&mut self, units: &FileUnits, symbol: SymbolId, used: UseSite, reason: NotFound) {
        let UseSite { line, rank } = used;
        // A unit that is found again changes nothing.
        if !self.searched.symbols.insert((symbol, reason, is_offered(rank))) {
            return;
        }
        let name = units.names.symbol(symbol).map_or("", |symbol| &symbol.name);
        let imports: Vec<&Import> = imports_of(&units.names, symbol).map(|(_, import)| import).collect();
        match reason {
            NotFound::Builtin => {}
            NotFound::Module => {
                self.missing(name, line, MissingReason::UnresolvedModule);
                self.note_specifier(name, &imports);
            }
            NotFound::Export => {
                self.missing(name, line, MissingReason::NoSuchExport);
                self.note_specifier(name, &imports);
                imports.into_iter().for_each(|import| self.hidden_export(name, import, used));
            }
        }
    }

    /// Says what the last name that is missing was wanted from.
    fn note_specifier(&mut self, name: &str, imports: &[&Import]) {
        let known =
            self.missing_named(name).find(|at| self.found.missing.get(*at).is_some_and(|one| one.specifier.is_none()));
        let missing = known.and_then(|at| self.found.missing.get_mut(at));
        if let (Some(missing), Some(import)) = (missing, imports.first()) {
            missing.specifier = Some(import.specifier.clone());
        }
    }

    fn hidden_export(&mut self, local: &str, import: &Import, used: UseSite) {
        let UseSite { line, rank } = used;
        let (ImportTarget::Files(targets), Imported::Name(name)) =
            (self.follower.modules.resolve(self.question.file, &import.specifier), &import.name)
        else {
            return;
        };
        let via = self.via(line, name, "not-exported");
        let units = self.top_units(&targets);
        for (target, id) in units.get(&**name).map(Vec::as_slice).unwrap_or_default() {
            self.unit(*target, *id, None, 1, vec![via.clone()]);
        }
        if is_offered(rank) && self.searched.offered < MAX_OFFERED {
            self.searched.offered += 1;
            self.offered(local, name, &targets, line);
        }
    }

    /// What modules export, and the units behind the nearest names.
    fn offered(&mut self, local: &str, wanted: &str, targets: &[FileId], line: u32) {
        for target in targets {
            let names: Vec<Box<str>> = self.exports_of(*target).into_iter().collect();
            let near: Vec<Box<str>> = nearest(wanted, names.iter().map(|name| &**name), MAX_NEAR);
            for name in &near {
                let via = self.via(line, name, "near-name");
                for definition in self.follower.exported(*target, name) {
                    if let Definition::Declaration(file, id) = definition {
                        self.declaration(file, id, 1, vec![via.clone()]);
                    }
                }
            }
            let first = self.missing_named(local).next();
            if let Some(missing) = first.and_then(|at| self.found.missing.get_mut(at)) {
                missing.near.extend(near);
                missing.near.truncate(MAX_NEAR);
            }
            self.found.exports.insert(*target, names);
        }
    }

    /// Every name that a module exports, also through stars.
    fn exports_of(&self, file: FileId) -> BTreeSet<Box<str>> {
        let mut names = BTreeSet::new();
        let mut all = vec![file];
        let mut next = 0;
        while let Some(file) = all.get(next).copied().filter(|_| next < MAX_MODULES) {
            next += 1;
            let Some(units) = self.follower.modules.units(file) else { continue };
            names.extend(
                units.names.exports.iter().map(|(name, _)| name.clone()).filter(|name| &**name != EXPORT_EQUALS),
            );
            for star in &units.names.stars {
                if let ImportTarget::Files(files) = self.follower.modules.resolve(file, star) {
                    all.extend(files.into_iter().filter(|file| !all.contains(file)).collect::<Vec<_>>());
                }
            }
        }
        names
    }

    fn top_units(&mut self, targets: &[FileId]) -> Rc<TopUnits> {
        if let Some(known) = self.searched.top_units.get(targets) {
            return Rc::clone(known);
        }
        let mut found = TopUnits::default();
        for target in self.reachable(targets) {
            let Some(units) = self.follower.modules.units(target) else { continue };
            for (id, unit) in units.outline.roots() {
                for name in &unit.names {
                    let named = found.entry(name.text.clone()).or_default();
                    if named.last() != Some(&(target, id)) {
                        named.push((target, id));
                    }
                }
            }
        }
        let found = Rc::new(found);
        self.searched.top_units.insert(targets.to_vec(), Rc::clone(&found));
        found
    }

    /// Modules and those that they export again: a name that one of them stopped to export may be in any.
    fn reachable(&self, targets: &[FileId]) -> Vec<FileId> {
        let mut all = targets.to_vec();
        let mut known: FxHashSet<FileId> = all.iter().copied().collect();
        let mut next = 0;
        while let Some(file) = all.get(next).copied().filter(|_| next < MAX_MODULES) {
            next += 1;
            let Some(units) = self.follower.modules.units(file) else { continue };
            let again = units.names.imports.iter().filter(|import| matches!(import.name, Imported::Name(_)));
            let specifiers: BTreeSet<&str> =
                units.names.stars.iter().map(|star| &**star).chain(again.map(|import| &*import.specifier)).collect();
            for specifier in specifiers {
                if let ImportTarget::Files(files) = self.follower.modules.resolve(file, specifier) {
                    all.extend(files.into_iter().filter(|file| known.insert(*file)));
                }
            }
        }
        all
    }

    /// The focus is an import statement: what it brings in, and who uses it.
    pub(crate) fn imported_here(&mut self, units: &FileUnits) {
        let (file, focus) = (self.question.file, self.question.focus);
        if focus.unit.is_some() {
            return;
        }
        let here = |symbol: SymbolId| {
            let found = imports_of(&units.names, symbol).find(|(_, import)| focus.span.encloses(import.statement));
            let line = |id| units.names.declaration(id).map_or(focus.lines.from, |declaration| declaration.line);
            found.map(|(declaration, import)| (line(declaration), import))
        };
        let symbols = || (0..units.names.symbols.len() as u32).map(SymbolId).filter_map(|id| Some((id, here(id)?)));
        // A failure at the module's name is one of all names that are taken from it.
        let is_named = symbols().any(|(_, (line, _))| self.question.failing.contains(line));
        let users = users(units, &symbols().map(|(id, _)| id).collect());
        for (symbol_id, (line, import)) in symbols() {
            let Some(symbol) = units.names.symbol(symbol_id) else { continue };
            let rank = if self.question.failing.contains(line) || !is_named { 1 } else { 3 };
            self.follower.restart();
            let via = self.via(line, &symbol.name, "import");
            match self.follower.imported(file, import) {
                Ok(found) => {
                    for definition in found {
                        if let Definition::Declaration(file, id) = definition {
                            self.declaration(file, id, rank, vec![via.clone()]);
                        }
                    }
                }
                Err(reason) => self.not_found(units, symbol_id, UseSite { line, rank }, reason),
            }
            for unit in users.get(&symbol_id).into_iter().flatten().filter(|_| rank == 1) {
                let via = self.via(self.question.failing.from, "", "used-by");
                let outer = container(&units.outline, *unit);
                self.unit(file, outer, (*unit != outer).then_some(*unit), 2, vec![via]);
            }
        }
    }
}

/// The units of a file that use each of these symbols.
fn users(units: &FileUnits, symbols: &FxHashSet<SymbolId>) -> FxHashMap<SymbolId, BTreeSet<UnitId>> {
    let mut users: FxHashMap<SymbolId, BTreeSet<UnitId>> = FxHashMap::default();
    for one in &units.names.uses {
        if let Used::Name(symbol) = one.what
            && symbols.contains(&symbol)
            && let Some(unit) = units.outline.innermost(one.at)
        {
            users.entry(symbol).or_default().insert(unit);
        }
    }
    users
}
