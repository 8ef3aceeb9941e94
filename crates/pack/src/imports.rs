//! Handles unresolved imports, and an import statement as the focus. For a name that a module does not export, shows its hidden
//! unit with that name, and lists exports with similar names.

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

/// The maximum number of re-exporting modules that are searched for a name.
const MAX_MODULES: usize = 50;

/// The maximum number of similar names that are suggested.
const MAX_NEAR: usize = 3;

/// The maximum number of names for which similar exports are searched: each is compared with every export of its module.
const MAX_SUGGESTIONS: usize = 50;

/// The top-level units of some modules and of the modules that these re-export, by name.
pub(crate) type TopUnits = FxHashMap<Box<str>, Vec<(FileId, UnitId)>>;

/// The searches done so far. Without it, a hostile file that imports one name many thousand times would take quadratic time.
#[derive(Default)]
pub(crate) struct Searched {
    /// Symbols that were not found, why, and whether exports were suggested for them.
    symbols: FxHashSet<(SymbolId, NotFound, bool)>,
    top_units: FxHashMap<Vec<FileId>, Rc<TopUnits>>,
    suggestions: usize,
}

/// A use of a name in the focus.
#[derive(Clone, Copy)]
pub(crate) struct UseSite {
    pub(crate) line: u32,
    /// The rank that the declaration of the name would have.
    pub(crate) rank: u8,
}

/// Suggestions are worth their tokens only if the failing line itself needs the import.
fn is_suggested(rank: u8) -> bool {
    rank <= 2
}

impl Collector<'_> {
    /// Records a name whose import does not resolve, and adds hidden units with that name.
    pub(crate) fn add_not_found(&mut self, units: &FileUnits, symbol: SymbolId, used: UseSite, reason: NotFound) {
        let UseSite { line, rank } = used;
        // Searching for the same symbol again would find the same units.
        if !self.searched.symbols.insert((symbol, reason, is_suggested(rank))) {
            return;
        }
        let name = units.names.symbol(symbol).map_or("", |symbol| &symbol.name);
        let imports: Vec<&Import> = imports_of(&units.names, symbol).map(|(_, import)| import).collect();
        match reason {
            NotFound::Builtin => {}
            NotFound::Module => {
                self.add_missing(name, line, MissingReason::UnresolvedModule);
                self.record_specifier(name, &imports);
            }
            NotFound::Export => {
                self.add_missing(name, line, MissingReason::NoSuchExport);
                self.record_specifier(name, &imports);
                imports.into_iter().for_each(|import| self.add_hidden_export(name, import, used));
            }
        }
    }

    /// Adds the specifier to the first entry of the missing name that has none.
    fn record_specifier(&mut self, name: &str, imports: &[&Import]) {
        let known =
            self.missing_named(name).find(|at| self.found.missing.get(*at).is_some_and(|one| one.specifier.is_none()));
        let missing = known.and_then(|at| self.found.missing.get_mut(at));
        if let (Some(missing), Some(import)) = (missing, imports.first()) {
            missing.specifier = Some(import.specifier.clone());
        }
    }

    fn add_hidden_export(&mut self, local: &str, import: &Import, used: UseSite) {
        let UseSite { line, rank } = used;
        let (ImportTarget::Files(targets), Imported::Name(name)) =
            (self.follower.modules.resolve(self.question.file, &import.specifier), &import.name)
        else {
            return;
        };
        let via = self.via(line, name, "not-exported");
        let units = self.top_units(&targets);
        for (target, id) in units.get(&**name).map(Vec::as_slice).unwrap_or_default() {
            self.add_unit(*target, *id, None, 1, vec![via.clone()]);
        }
        if is_suggested(rank) && self.searched.suggestions < MAX_SUGGESTIONS {
            self.searched.suggestions += 1;
            self.suggest_exports(local, name, &targets, line);
        }
    }

    /// Lists the exports of the modules, and adds the units with similar names.
    fn suggest_exports(&mut self, local: &str, wanted: &str, targets: &[FileId], line: u32) {
        for target in targets {
            let names: Vec<Box<str>> = self.exports_of(*target).into_iter().collect();
            let near: Vec<Box<str>> = nearest(wanted, names.iter().map(|name| &**name), MAX_NEAR);
            for name in &near {
                let via = self.via(line, name, "near-name");
                for definition in self.follower.exported(*target, name) {
                    if let Definition::Declaration(file, id) = definition {
                        self.add_declaration(file, id, 1, vec![via.clone()]);
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

    /// All names that a module exports, including those from stars.
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

    /// These modules and those that they re-export: a name that one of them no longer exports may be declared in any of them.
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

    /// For an import statement as the focus: adds the declarations of the imported names, and the units that use them.
    pub(crate) fn add_import_focus(&mut self, units: &FileUnits) {
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
        // A failure at the module specifier affects all names of the import.
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
                            self.add_declaration(file, id, rank, vec![via.clone()]);
                        }
                    }
                }
                Err(reason) => self.add_not_found(units, symbol_id, UseSite { line, rank }, reason),
            }
            for unit in users.get(&symbol_id).into_iter().flatten().filter(|_| rank == 1) {
                let via = self.via(self.question.failing.from, "", "used-by");
                let outer = container(&units.outline, *unit);
                self.add_unit(file, outer, (*unit != outer).then_some(*unit), 2, vec![via]);
            }
        }
    }
}

/// For each of these symbols, the units of the file that use it.
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
