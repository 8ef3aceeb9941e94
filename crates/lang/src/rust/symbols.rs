//! The symbols of a Rust file: items with their fields, variants and methods, imports, explicit types, and uses of names. All
//! inline modules share one table of names; an `impl` adds its members to the type of that name.

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::names::{
    Declaration, DeclarationId, FileNames, Import, ImportId, Imported, Meaning, Member, Recipe, RecipeId, Shape,
    ShapeId, ShapeKind, Signature, SignatureId, Symbol, SymbolId,
};
use stan_model::outline::{LineStarts, Span, Unit, UnitId, UnitKind};

use super::extract::Specifiers;
use super::lexer::{Kind, Lexed};
use super::scan::Scan;
use super::units::UnitTokens;

/// The maximum nesting depth of types that are read.
const MAX_TYPE_DEPTH: usize = 16;

/// The symbols under construction.
pub(super) struct Scope<'s, 't> {
    pub(super) lexed: &'s Lexed<'t>,
    pub(super) lines: &'s LineStarts,
    pub(super) units: &'s [Unit],
    pub(super) parts: &'s [UnitTokens],
    pub(super) names: FileNames,
    pub(super) known: FxHashMap<&'t str, SymbolId>,
    /// The symbols of paths, by first token.
    pub(super) path_symbols: FxHashMap<u32, SymbolId>,
    by_specifier: FxHashMap<Box<str>, SymbolId>,
    shapes: FxHashMap<SymbolId, ShapeId>,
    /// For each unit, the shape that its members belong to.
    pub(super) shape_of_unit: Vec<Option<ShapeId>>,
}

impl<'s, 't> Scope<'s, 't> {
    pub(super) fn new(lexed: &'s Lexed<'t>, lines: &'s LineStarts, units: &'s [Unit], parts: &'s [UnitTokens]) -> Self {
        Self {
            lexed,
            lines,
            units,
            parts,
            names: FileNames::default(),
            known: FxHashMap::default(),
            path_symbols: FxHashMap::default(),
            by_specifier: FxHashMap::default(),
            shapes: FxHashMap::default(),
            shape_of_unit: vec![None; units.len()],
        }
    }

    pub(super) fn declare_all(&mut self, scan: &Scan<'t>, specifiers: &Specifiers, statements: &[Span]) {
        let items = self.units.iter().zip(self.parts).enumerate();
        let mut own: FxHashSet<&str> = FxHashSet::default();
        for (_, (unit, part)) in items.clone().filter(|(_, (unit, _))| is_item(unit.kind)) {
            let name = self.lexed.word(part.name);
            if unit.kind != UnitKind::Impl && !name.is_empty() {
                self.symbol(name);
                own.insert(name);
            }
        }
        self.imports(scan, specifiers, statements, &own);
        self.paths(scan, specifiers);
        for (index, _) in items.clone().filter(|(_, (unit, _))| unit.kind != UnitKind::Impl) {
            self.item(index);
        }
        for (index, _) in items.filter(|(_, (unit, _))| unit.kind == UnitKind::Impl) {
            self.implementation(index);
        }
        for index in 0..self.units.len() {
            self.member(index);
        }
        self.names.shapes.iter_mut().for_each(|shape| shape.members.sort_by(|one, other| one.name.cmp(&other.name)));
        self.names.statements = statements.to_vec();
        let mut exports: Vec<(Box<str>, SymbolId)> =
            self.known.iter().map(|(name, symbol)| ((*name).into(), *symbol)).collect();
        exports.sort_unstable();
        self.names.exports = exports;
    }

    pub(super) fn recipe(&mut self, recipe: Recipe) -> RecipeId {
        self.names.recipes.push(recipe);
        RecipeId(self.names.recipes.len() as u32 - 1)
    }

    fn symbol(&mut self, name: &'t str) -> SymbolId {
        let names = &mut self.names;
        *self.known.entry(name).or_insert_with(|| new_symbol(names, name))
    }

    fn declare(&mut self, symbol: Option<SymbolId>, declared: Declaration) -> DeclarationId {
        self.names.declarations.push(declared);
        let id = DeclarationId(self.names.declarations.len() as u32 - 1);
        if let Some(symbol) = symbol.and_then(|symbol| self.names.symbols.get_mut(symbol.0 as usize)) {
            symbol.declarations.push(id);
        }
        id
    }

    fn import(&mut self, symbol: SymbolId, specifier: &str, name: &str, token: usize, statement: Span) {
        let import = Import { specifier: specifier.into(), name: Imported::Name(name.into()), statement };
        self.names.imports.push(import);
        let meaning = Meaning::Import(ImportId(self.names.imports.len() as u32 - 1));
        let span = self.span(token);
        let line = self.lines.line(span.start);
        self.declare(Some(symbol), Declaration { name: name.into(), span, line, unit: None, meaning });
    }

    fn span(&self, token: usize) -> Span {
        self.lexed.tokens.get(token).map_or(Span::default(), |token| Span::new(token.start, token.end))
    }

    fn imports(&mut self, scan: &Scan<'t>, specifiers: &Specifiers, statements: &[Span], own: &FxHashSet<&str>) {
        let mut stars: Vec<Box<str>> = Vec::new();
        for (one, specifier) in scan.uses.iter().zip(&specifiers.uses) {
            let Some(specifier) = specifier else { continue };
            if one.leaf.is_glob {
                stars.push(specifier.clone());
                continue;
            }
            let Some(name) = one.leaf.name().filter(|name| !own.contains(name)) else { continue };
            let at = self.span(one.leaf.token).start;
            let behind = statements.partition_point(|span| span.start <= at);
            let around = behind.checked_sub(1).and_then(|index| statements.get(index)).copied();
            let statement = around.filter(|span| span.contains(at)).unwrap_or_default();
            let wanted = one.leaf.path.last().copied().unwrap_or(name);
            let symbol = self.symbol(name);
            self.import(symbol, specifier, wanted, one.leaf.name_token, statement);
        }
        stars.sort_unstable();
        stars.dedup();
        self.names.stars = stars;
    }

    /// Each path becomes an import without a statement.
    fn paths(&mut self, scan: &Scan<'t>, specifiers: &Specifiers) {
        for (path, specifier) in scan.paths.iter().zip(&specifiers.paths) {
            let Some(specifier) = specifier else { continue };
            let name = specifier.rsplit("::").next().unwrap_or(specifier);
            let symbol = match self.by_specifier.get(specifier) {
                Some(symbol) => *symbol,
                None => {
                    let symbol = new_symbol(&mut self.names, name);
                    self.by_specifier.insert(specifier.clone(), symbol);
                    self.import(symbol, specifier, name, path.from as usize, Span::default());
                    symbol
                }
            };
            self.path_symbols.insert(path.from, symbol);
        }
    }

    fn declaration(&self, index: usize, meaning: Meaning) -> Declaration {
        let token = self.parts[index].name;
        let span = self.span(token);
        let unit = Some(UnitId(index as u32));
        Declaration { name: self.lexed.word(token).into(), span, line: self.lines.line(span.start), unit, meaning }
    }

    fn item(&mut self, index: usize) {
        let (unit, part) = (&self.units[index], self.parts[index]);
        let name = self.lexed.word(part.name);
        if !is_item(unit.kind) || name.is_empty() || unit.parent.is_some_and(|parent| !self.is_module(parent)) {
            return;
        }
        let symbol = self.symbol(name);
        let meaning = match unit.kind {
            UnitKind::Struct | UnitKind::Union => Meaning::Shape(self.shape(symbol, ShapeKind::Class, Some(index))),
            UnitKind::Enum => Meaning::Shape(self.shape(symbol, ShapeKind::Enum, Some(index))),
            UnitKind::Trait => Meaning::Shape(self.shape(symbol, ShapeKind::Interface, Some(index))),
            UnitKind::Type => Meaning::Alias(self.written_after(index, b'=')),
            UnitKind::Function => self.function(index),
            UnitKind::Constant | UnitKind::Variable => {
                Meaning::Value { ty: self.written_after(index, b':'), signature: None }
            }
            _ => Meaning::Value { ty: RecipeId::UNKNOWN, signature: None },
        };
        let declared = self.declaration(index, meaning);
        self.declare(Some(symbol), declared);
    }

    fn is_module(&self, unit: UnitId) -> bool {
        self.units.get(unit.0 as usize).is_some_and(|unit| unit.kind == UnitKind::Namespace)
    }

    fn shape(&mut self, symbol: SymbolId, kind: ShapeKind, unit: Option<usize>) -> ShapeId {
        let id = ShapeId(self.names.shapes.len() as u32);
        self.names.shapes.push(Shape {
            kind,
            unit: unit.map(|unit| UnitId(unit as u32)),
            symbol: Some(symbol),
            members: Vec::new(),
            calls: Vec::new(),
            constructs: Vec::new(),
            extends: Vec::new(),
            bases: Vec::new(),
        });
        self.shapes.entry(symbol).or_insert(id);
        if let Some(place) = unit.and_then(|unit| self.shape_of_unit.get_mut(unit)) {
            *place = Some(id);
        }
        id
    }

    /// Adds the members of an `impl` to the shape of its type. A type of another file gets a shape in this file.
    fn implementation(&mut self, index: usize) {
        let part = self.parts[index];
        let name = self.lexed.word(part.name);
        if name.is_empty() {
            return;
        }
        let symbol = self.symbol(name);
        let shape = match self.shapes.get(&symbol) {
            Some(shape) => *shape,
            None => {
                let shape = self.shape(symbol, ShapeKind::Class, None);
                let declared = Declaration { unit: None, ..self.declaration(index, Meaning::Shape(shape)) };
                self.declare(Some(symbol), declared);
                shape
            }
        };
        self.shape_of_unit[index] = Some(shape);
        let of_trait = part.of_trait.map(|token| self.type_at(token, None));
        if let (Some(base), Some(shape)) = (of_trait, self.names.shapes.get_mut(shape.0 as usize))
            && base != RecipeId::UNKNOWN
            && shape.bases.len() < MAX_TYPE_DEPTH
        {
            shape.bases.push(base);
        }
    }

    fn member(&mut self, index: usize) {
        let unit = &self.units[index];
        let parent = unit.parent.map(|parent| parent.0 as usize);
        let Some(shape) = parent.and_then(|parent| *self.shape_of_unit.get(parent)?) else { return };
        let meaning = match unit.kind {
            UnitKind::Method => self.function(index),
            UnitKind::Property | UnitKind::Constant => {
                Meaning::Value { ty: self.written_after(index, b':'), signature: None }
            }
            UnitKind::EnumMember => Meaning::Value { ty: self.recipe(Recipe::Instance(shape)), signature: None },
            UnitKind::Type => Meaning::Alias(self.written_after(index, b'=')),
            _ => return,
        };
        let declared = self.declaration(index, meaning);
        let name = declared.name.clone();
        let declaration = self.declare(None, declared);
        if let Some(shape) = self.names.shapes.get_mut(shape.0 as usize) {
            shape.members.push(Member { name, declaration, is_static: false });
        }
    }

    /// The shape that `Self` means in a unit.
    pub(super) fn own_shape(&self, index: usize) -> Option<ShapeId> {
        let mut at = Some(index);
        for _ in 0..4 {
            let found = self.shape_of_unit.get(at?).copied().flatten();
            if found.is_some() {
                return found;
            }
            at = self.units.get(at?)?.parent.map(|parent| parent.0 as usize);
        }
        None
    }

    fn function(&mut self, index: usize) -> Meaning {
        let own = self.own_shape(index);
        let (open, close) = self.parameters(index);
        let types: Vec<usize> = self.entries(open, close).into_iter().filter_map(|(_, ty)| ty).collect();
        let parameters = types.into_iter().map(|ty| self.type_at(ty, own)).collect();
        let arrow = self.lexed.is_mark(close + 1, b'-') && self.lexed.is_mark(close + 2, b'>');
        let result = arrow.then(|| self.type_at(close + 3, own));
        self.names.signatures.push(Signature { parameters, result });
        let signature = SignatureId(self.names.signatures.len() as u32 - 1);
        Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) }
    }

    /// The brackets around a function's parameters.
    pub(super) fn parameters(&self, index: usize) -> (usize, usize) {
        let part = self.parts[index];
        let mut at = part.name + 1;
        while at < part.to && !self.lexed.is_mark(at, b'(') {
            at += 1;
        }
        (at, self.lexed.closing(at).min(part.to))
    }

    /// The parameter names, with the start of their types.
    pub(super) fn entries(&self, open: usize, close: usize) -> Vec<(usize, Option<usize>)> {
        let lexed = self.lexed;
        let mut found = Vec::new();
        let mut at = open + 1;
        while at < close {
            let (mut name, mut ty, mut angles) = (None, None, 0_u32);
            while at < close {
                match lexed.kind(at) {
                    Some(Kind::Mark(b',')) if angles == 0 => break,
                    Some(Kind::Mark(b':')) if ty.is_none() => ty = Some(at + 1),
                    Some(Kind::Mark(b'<')) => angles += 1,
                    Some(Kind::Mark(b'>')) if !lexed.is_mark(at.wrapping_sub(1), b'-') => {
                        angles = angles.saturating_sub(1)
                    }
                    Some(Kind::Word) if ty.is_none() => name = Some(at),
                    _ => {}
                }
                at = if lexed.is_open(at) { lexed.closing(at).max(at) + 1 } else { at + 1 };
            }
            found.extend(name.map(|name| (name, ty)));
            at += 1;
        }
        found
    }

    /// The type after the first such mark in a unit.
    fn written_after(&mut self, index: usize, mark: u8) -> RecipeId {
        let part = self.parts[index];
        let at = (part.name + 1..part.to.min(part.name + 64)).find(|at| self.lexed.is_mark(*at, mark));
        let own = self.own_shape(index);
        at.map_or(RecipeId::UNKNOWN, |at| self.type_at(at + 1, own))
    }

    /// Parses the type that starts at a token, for its members. Pointers and containers are replaced by the type they contain.
    pub(super) fn type_at(&mut self, start: usize, own: Option<ShapeId>) -> RecipeId {
        let lexed = self.lexed;
        let mut at = start;
        for _ in 0..MAX_TYPE_DEPTH {
            match lexed.kind(at) {
                Some(Kind::Mark(b'&' | b'*' | b'(' | b'[') | Kind::Lifetime) => at += 1,
                Some(Kind::Word) => match lexed.text_at(at) {
                    "mut" | "dyn" | "impl" | "const" => at += 1,
                    "Self" => return own.map_or(RecipeId::UNKNOWN, |own| self.recipe(Recipe::Instance(own))),
                    name if is_container(name) && lexed.is_mark(at + 1, b'<') => at += 2,
                    name => {
                        let symbol = self.path_symbols.get(&(at as u32)).or_else(|| self.known.get(name)).copied();
                        let ty = symbol.map(|symbol| Recipe::Type { symbol, arguments: Vec::new() });
                        return ty.map_or(RecipeId::UNKNOWN, |ty| self.recipe(ty));
                    }
                },
                _ => break,
            }
        }
        RecipeId::UNKNOWN
    }
}

fn new_symbol(names: &mut FileNames, name: &str) -> SymbolId {
    names.symbols.push(Symbol { name: name.into(), ..Symbol::default() });
    SymbolId(names.symbols.len() as u32 - 1)
}

fn is_item(kind: UnitKind) -> bool {
    !matches!(kind, UnitKind::Property | UnitKind::EnumMember | UnitKind::Method | UnitKind::Module)
}

/// Types whose members are mostly those of the type they contain.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "Arc"
            | "Box"
            | "Cell"
            | "Cow"
            | "Mutex"
            | "MutexGuard"
            | "OnceCell"
            | "OnceLock"
            | "Option"
            | "Pin"
            | "Rc"
            | "Ref"
            | "RefCell"
            | "RefMut"
            | "Result"
            | "RwLock"
            | "Vec"
    )
}
