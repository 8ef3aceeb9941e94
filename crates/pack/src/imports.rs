//! Imports: unresolved ones, and an import statement as the focus. Candidates are searched in the module that the
//! import names: a unit that it does not export, and exports with a similar name.

use std::collections::BTreeSet;

use stan_model::names::{FileUnits, Import, Imported, SymbolId, Used};
use stan_model::outline::UnitId;

use crate::closure::{Collector, MissingReason, container, imports_of};
use crate::definitions::{Definition, NotFound};
use crate::modules::{FileId, Leads};
use crate::near::nearest;

/// How many modules are searched for a name that one of them may no longer export.
const MOST_MODULES: usize = 50;

/// Names that may have been meant.
const MOST_NEAR: usize = 3;

impl Collector<'_> {
    /// A name whose import does not resolve: what the module has under that name, exported or not.
    pub(crate) fn not_found(&mut self, units: &FileUnits, symbol: SymbolId, (line, rank): (u32, u8), reason: NotFound) {
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
                imports.into_iter().for_each(|import| self.hidden_export(name, import, (line, rank)));
            }
        }
    }

    /// Says what the last name that is missing was wanted from.
    fn note_specifier(&mut self, name: &str, imports: &[&Import]) {
        let known = self.found.missing.iter_mut().find(|one| *one.name == *name && one.specifier.is_none());
        if let (Some(missing), Some(import)) = (known, imports.first()) {
            missing.specifier = Some(import.specifier.clone());
        }
    }

    fn hidden_export(&mut self, local: &str, import: &Import, (line, rank): (u32, u8)) {
        let (Leads::Files(targets), Imported::Name(name)) =
            (self.follower.modules.leads(self.question.file, &import.specifier), &import.name)
        else {
            return;
        };
        let via = self.via(line, name, "not-exported");
        for target in self.reachable(&targets) {
            let Some(units) = self.follower.modules.units(target) else { continue };
            let named: Vec<UnitId> =
                units.outline.roots().filter(|(_, unit)| unit.is_named(name)).map(|(id, _)| id).collect();
            for id in named {
                self.unit(target, id, None, 1, vec![via.clone()]);
            }
        }
        // The list of what there is, and the nearest of it, are worth their room where the import itself fails.
        if rank <= 2 {
            self.offered(local, name, &targets, line);
        }
    }

    /// What modules export, and the units behind the nearest names.
    fn offered(&mut self, local: &str, wanted: &str, targets: &[FileId], line: u32) {
        for target in targets {
            let names: Vec<Box<str>> = self.exports_of(*target).into_iter().collect();
            let near: Vec<Box<str>> = nearest(wanted, names.iter().map(|name| &**name), MOST_NEAR);
            for name in &near {
                let via = self.via(line, name, "near-name");
                for definition in self.follower.exported(*target, name) {
                    if let Definition::Declaration(file, id) = definition {
                        self.declaration(file, id, 1, vec![via.clone()]);
                    }
                }
            }
            if let Some(missing) = self.found.missing.iter_mut().find(|one| *one.name == *local) {
                missing.near.extend(near);
                missing.near.truncate(MOST_NEAR);
            }
            self.found.exports.insert(*target, names);
        }
    }

    /// Every name that a module exports, also through stars.
    fn exports_of(&self, file: FileId) -> BTreeSet<Box<str>> {
        let mut names = BTreeSet::new();
        let mut all = vec![file];
        let mut next = 0;
        while let Some(file) = all.get(next).copied().filter(|_| next < MOST_MODULES) {
            next += 1;
            let Some(units) = self.follower.modules.units(file) else { continue };
            names.extend(units.names.exports.iter().map(|(name, _)| name.clone()).filter(|name| &**name != "export="));
            for star in &units.names.stars {
                if let Leads::Files(files) = self.follower.modules.leads(file, star) {
                    all.extend(files.into_iter().filter(|file| !all.contains(file)).collect::<Vec<_>>());
                }
            }
        }
        names
    }

    /// Modules and those that they export again: a name that one of them stopped to export may be in any.
    fn reachable(&self, targets: &[FileId]) -> Vec<FileId> {
        let mut all = targets.to_vec();
        let mut next = 0;
        while let Some(file) = all.get(next).copied().filter(|_| next < MOST_MODULES) {
            next += 1;
            let Some(units) = self.follower.modules.units(file) else { continue };
            let again = units.names.imports.iter().filter(|import| matches!(import.name, Imported::Name(_)));
            let specifiers: BTreeSet<&str> =
                units.names.stars.iter().map(|star| &**star).chain(again.map(|import| &*import.specifier)).collect();
            for specifier in specifiers {
                if let Leads::Files(files) = self.follower.modules.leads(file, specifier) {
                    all.extend(files.into_iter().filter(|file| !all.contains(file)).collect::<Vec<_>>());
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
                Err(reason) => self.not_found(units, symbol_id, (line, rank), reason),
            }
            if rank == 1 {
                self.users(units, symbol_id);
            }
        }
    }

    /// The units of the focus file that use a symbol.
    fn users(&mut self, units: &FileUnits, symbol: SymbolId) {
        let uses = units.names.uses.iter().filter(|one| one.what == Used::Name(symbol));
        let users: BTreeSet<UnitId> = uses.filter_map(|one| units.outline.innermost(one.at)).collect();
        for unit in users {
            let via = self.via(self.question.failing.from, "", "used-by");
            let outer = container(&units.outline, unit);
            self.unit(self.question.file, outer, (unit != outer).then_some(unit), 2, vec![via]);
        }
    }
}
