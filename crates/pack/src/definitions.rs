//! From a name to the declarations behind it: through imports, exports, barrels and namespaces, across files.

use rustc_hash::FxHashSet;
use stan_model::facts::{DEFAULT_EXPORT, EXPORT_EQUALS};
use stan_model::names::{DeclarationId, Import, Imported, Meaning, SymbolId};

use crate::follow::Follower;
use crate::modules::{FileId, ImportTarget};

/// What a name resolves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Definition {
    Declaration(FileId, DeclarationId),
    /// A whole module, through a namespace import.
    Module(FileId),
}

/// Why an import does not resolve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotFound {
    Builtin,
    Module,
    Export,
}

/// The maximum number of files that a name is followed through. Real barrels have fewer than ten levels.
const MAX_HOPS: u32 = 40;

/// The state of one search. Visited exports are remembered, so that cycles of barrels terminate.
#[derive(Default)]
pub(crate) struct Search {
    pub(crate) found: Vec<Definition>,
    pub(crate) failed: Option<NotFound>,
    asked: FxHashSet<(FileId, Box<str>)>,
    symbols: FxHashSet<(FileId, SymbolId)>,
}

impl Search {
    fn add(&mut self, definition: Definition) {
        if !self.found.contains(&definition) {
            self.found.push(definition);
        }
    }
}

impl Follower<'_> {
    /// The declarations that a symbol of a file resolves to.
    pub fn definitions(&self, file: FileId, symbol: SymbolId) -> Result<Vec<Definition>, NotFound> {
        let mut search = Search::default();
        self.of_symbol(file, symbol, &mut search, 0);
        match search.failed {
            Some(failed) if search.found.is_empty() => Err(failed),
            _ => Ok(search.found),
        }
    }

    /// The declarations that a module exports under a name.
    pub fn exported(&self, file: FileId, name: &str) -> Vec<Definition> {
        let mut search = Search::default();
        self.of_export(file, name, &mut search, 0);
        search.found
    }

    /// The declarations that an import resolves to.
    pub fn imported(&self, file: FileId, import: &Import) -> Result<Vec<Definition>, NotFound> {
        let mut search = Search::default();
        self.of_import(file, import, &mut search, 0);
        match search.failed {
            Some(failed) if search.found.is_empty() => Err(failed),
            _ => Ok(search.found),
        }
    }

    fn of_symbol(&self, file: FileId, symbol: SymbolId, search: &mut Search, hops: u32) {
        if hops > MAX_HOPS || !search.symbols.insert((file, symbol)) {
            return;
        }
        let Some(units) = self.modules.units(file) else { return };
        let Some(known) = units.names.symbol(symbol) else { return };
        for id in &known.declarations {
            let Some(declaration) = units.names.declaration(*id) else { continue };
            match declaration.meaning {
                Meaning::Import(import) => {
                    if let Some(import) = units.names.import(import) {
                        self.of_import(file, import, search, hops + 1);
                    }
                }
                Meaning::Same(other) => self.of_symbol(file, other, search, hops + 1),
                _ => search.add(Definition::Declaration(file, *id)),
            }
        }
    }

    fn of_import(&self, file: FileId, import: &Import, search: &mut Search, hops: u32) {
        let targets = match self.modules.resolve(file, &import.specifier) {
            ImportTarget::Files(targets) => targets,
            ImportTarget::Builtin => {
                search.failed.get_or_insert(NotFound::Builtin);
                return;
            }
            ImportTarget::Missing => {
                search.failed.get_or_insert(NotFound::Module);
                return;
            }
        };
        let before = search.found.len();
        for target in targets {
            match &import.name {
                Imported::Name(_) if self.modules.is_module_named(target, &import.specifier) => {
                    search.add(Definition::Module(target));
                }
                Imported::Name(name) => self.of_export(target, name, search, hops + 1),
                Imported::Namespace => search.add(Definition::Module(target)),
                Imported::Whole => {
                    self.of_export(target, EXPORT_EQUALS, search, hops + 1);
                    if search.found.len() == before {
                        search.add(Definition::Module(target));
                    }
                }
            }
        }
        if search.found.len() == before {
            search.failed.get_or_insert(NotFound::Export);
        }
    }

    fn of_export(&self, file: FileId, name: &str, search: &mut Search, hops: u32) {
        if hops > MAX_HOPS || !search.asked.insert((file, name.into())) {
            return;
        }
        let Some(units) = self.modules.units(file) else { return };
        let names = &units.names;
        if let Some(symbol) = names.export(name) {
            return self.of_symbol(file, symbol, search, hops + 1);
        }
        if name == EXPORT_EQUALS {
            return;
        }
        // A name that is not exported itself is a member of the value behind `export =`.
        if let Some(whole) = names.export(EXPORT_EQUALS) {
            if name == DEFAULT_EXPORT {
                return self.of_symbol(file, whole, search, hops + 1);
            }
            for (file, declaration) in self.members_of_symbol(file, whole, name) {
                search.add(Definition::Declaration(file, declaration));
            }
        }
        // Stars do not forward `default`.
        if name == DEFAULT_EXPORT {
            return;
        }
        for star in &names.stars {
            if let ImportTarget::Files(targets) = self.modules.resolve(file, star) {
                targets.into_iter().for_each(|target| self.of_export(target, name, search, hops + 1));
            }
        }
    }
}
