//! Follows recipes: from an expression or written type to what has its members. Nothing is inferred; a recipe without a
//! result is a valid answer. The steps of every query are bounded, so that recursive types terminate.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;
use stan_model::names::{
    DeclarationId, FileUnits, Meaning, Recipe, RecipeId, ShapeId, ShapeKind, SignatureId, SymbolId,
};

use crate::definitions::Definition;
use crate::modules::{FileId, Modules};

/// How deep a recipe is followed.
const MOST_DEPTH: u32 = 24;

/// How many steps one query may take.
const MOST_STEPS: u32 = 3_000;

/// How many ancestors (classes and interfaces) of one are searched.
const MOST_LINEAGE: usize = 12;

/// The type arguments of a generic type here; 0 has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bindings(u32);

impl Bindings {
    pub(crate) const NONE: Self = Self(0);
}

/// A type with the bindings under which it was written.
type BoundType = (FileId, RecipeId, Bindings);

/// A type parameter and its argument.
type Binding = ((FileId, SymbolId), BoundType);

/// What has members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Carrier {
    Instance(FileId, ShapeId, Bindings),
    Static(FileId, ShapeId),
    Module(FileId),
    List(FileId, RecipeId, Bindings),
    Promise(FileId, RecipeId, Bindings),
    Function(FileId, SignatureId, Bindings),
}

/// A member with the bindings under which its type is to be read.
type FoundMember = (FileId, DeclarationId, Bindings);

/// Follows names and recipes across the files of `modules`.
pub struct Follower<'m> {
    pub(crate) modules: &'m dyn Modules,
    steps: Cell<u32>,
    /// Type parameter → argument, for each [`Bindings`].
    bindings: RefCell<Vec<Vec<Binding>>>,
}

impl<'m> Follower<'m> {
    pub fn new(modules: &'m dyn Modules) -> Self {
        Self { modules, steps: Cell::new(0), bindings: RefCell::new(vec![Vec::new()]) }
    }

    /// The declarations of a member of what a recipe finds.
    pub fn members(&self, file: FileId, base: RecipeId, name: &str) -> Vec<(FileId, DeclarationId)> {
        self.restart();
        let carriers = self.eval((file, base, Bindings::NONE), 0);
        self.named(&carriers, name)
    }

    /// Whether a member of what a recipe finds is a module.
    pub(crate) fn is_module(&self, file: FileId, base: RecipeId, name: &str) -> bool {
        self.restart();
        let carriers = self.eval((file, base, Bindings::NONE), 0);
        !self.inner_modules(&carriers, name).is_empty()
    }

    /// The classes, interfaces and literals that a recipe finds.
    pub(crate) fn owners(&self, file: FileId, base: RecipeId) -> Vec<(FileId, ShapeId)> {
        self.restart();
        shapes_of(&self.eval((file, base, Bindings::NONE), 0))
    }

    /// The same for the value of a symbol; of a list or promise what is in it.
    pub(crate) fn owners_of_symbol(&self, file: FileId, symbol: SymbolId) -> Vec<(FileId, ShapeId)> {
        self.restart();
        let carriers = self.value_of_symbol(file, symbol, Bindings::NONE, 0);
        let mut inner = self.unwrapped(&carriers, false, 1);
        inner.extend(self.unwrapped(&carriers, true, 1));
        shapes_of(&inner)
    }

    /// A shape and all that it extends, nearest first.
    pub(crate) fn lineage(&self, file: FileId, shape: ShapeId) -> Vec<(FileId, ShapeId)> {
        self.restart();
        let mut all = vec![(file, shape)];
        let mut next = 0;
        while let Some((file, shape)) = all.get(next).copied().filter(|_| next < MOST_LINEAGE) {
            next += 1;
            let Some(units) = self.modules.units(file) else { continue };
            for part in merged(&units, shape) {
                for one in shapes_of(&self.bases(&units, file, part, Bindings::NONE, 1)) {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
            }
        }
        all
    }

    /// The same for the value of a symbol.
    pub(crate) fn members_of_symbol(&self, file: FileId, symbol: SymbolId, name: &str) -> Vec<(FileId, DeclarationId)> {
        let carriers = self.value_of_symbol(file, symbol, Bindings::NONE, 1);
        self.named(&carriers, name)
    }

    /// To be called before each query.
    pub(crate) fn restart(&self) {
        self.steps.set(MOST_STEPS);
        self.bindings.borrow_mut().truncate(1);
    }

    fn named(&self, carriers: &[Carrier], name: &str) -> Vec<(FileId, DeclarationId)> {
        let mut found: Vec<(FileId, DeclarationId)> = Vec::new();
        for (file, declaration, _) in self.members_named(carriers, name, 0) {
            if !found.contains(&(file, declaration)) {
                found.push((file, declaration));
            }
        }
        found
    }

    /// Counts a step; whether it may be made.
    fn step(&self, depth: u32) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0 && depth <= MOST_DEPTH
    }

    fn eval(&self, (file, recipe, bindings): BoundType, depth: u32) -> Vec<Carrier> {
        if recipe == RecipeId::UNKNOWN || !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let next = |recipe: RecipeId| self.eval((file, recipe, bindings), depth + 1);
        match units.names.recipe(recipe) {
            Recipe::Unknown | Recipe::Global { .. } => Vec::new(),
            Recipe::Value(symbol) => self.value_of_symbol(file, *symbol, bindings, depth + 1),
            Recipe::Type { symbol, arguments } => self.named_type(file, *symbol, arguments, bindings, depth + 1),
            Recipe::TypeMember { base, name, arguments } => {
                let members = self.members_named(&next(*base), name, depth + 1);
                let types = members.into_iter().flat_map(|(target, declaration, _)| {
                    self.declared_type(target, declaration, (file, arguments, bindings), depth + 1)
                });
                types.collect()
            }
            Recipe::Instance(shape) => vec![Carrier::Instance(file, *shape, bindings)],
            Recipe::Static(shape) => vec![Carrier::Static(file, *shape)],
            Recipe::Base(shape) => self.bases(&units, file, *shape, bindings, depth + 1),
            Recipe::Member(base, name) => {
                let base = next(*base);
                let members = self.members_named(&base, name, depth + 1);
                let values = members.into_iter().flat_map(|one| self.value_of(one, depth + 1));
                values.chain(self.inner_modules(&base, name)).collect()
            }
            Recipe::Element(base) => self.unwrapped(&next(*base), false, depth + 1),
            Recipe::Await(base) => self.unwrapped(&next(*base), true, depth + 1),
            Recipe::List(element) => vec![Carrier::List(file, *element, bindings)],
            Recipe::Promise(later) => vec![Carrier::Promise(file, *later, bindings)],
            Recipe::Call(callee) => self.results(&next(*callee), false, depth + 1),
            Recipe::New(callee) => self.results(&next(*callee), true, depth + 1),
            Recipe::Any(parts) => {
                let mut all: Vec<Carrier> = Vec::new();
                for carrier in parts.iter().flat_map(|part| next(*part)) {
                    if !all.contains(&carrier) {
                        all.push(carrier);
                    }
                }
                all
            }
            Recipe::Function(signature) => vec![Carrier::Function(file, *signature, bindings)],
            Recipe::Argument(callee, index) => {
                let callee = next(*callee);
                let mut callables = self.callables(&callee, false, depth + 1);
                callables.extend(self.callables(&callee, true, depth + 1));
                self.parameter(&callables, *index, depth + 1)
            }
            Recipe::Parameter(function, index) => {
                self.parameter(&self.callables(&next(*function), false, depth + 1), *index, depth + 1)
            }
            Recipe::Props(tag) => {
                let tag = next(*tag);
                let mut callables = self.callables(&tag, false, depth + 1);
                callables.extend(self.callables(&tag, true, depth + 1));
                self.parameter(&callables, 0, depth + 1)
            }
        }
    }

    /// The modules that modules offer under a name.
    fn inner_modules(&self, carriers: &[Carrier], name: &str) -> Vec<Carrier> {
        let modules = carriers.iter().filter_map(|carrier| match carrier {
            Carrier::Module(file) => Some(self.exported(*file, name)),
            _ => None,
        });
        let inner = modules.flatten().filter_map(|definition| match definition {
            Definition::Module(module) => Some(Carrier::Module(module)),
            Definition::Declaration(..) => None,
        });
        inner.collect()
    }

    fn value_of_symbol(&self, file: FileId, symbol: SymbolId, bindings: Bindings, depth: u32) -> Vec<Carrier> {
        let definitions = self.definitions(file, symbol).unwrap_or_default();
        let carriers = definitions.into_iter().flat_map(|definition| match definition {
            Definition::Module(module) => vec![Carrier::Module(module)],
            Definition::Declaration(target, declaration) => {
                let bindings = if target == file { bindings } else { Bindings::NONE };
                self.value_of((target, declaration, bindings), depth)
            }
        });
        carriers.collect()
    }

    /// What the value of a declaration has as members.
    fn value_of(&self, (file, declaration, bindings): FoundMember, depth: u32) -> Vec<Carrier> {
        if !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let Some(declared) = units.names.declaration(declaration) else { return Vec::new() };
        match declared.meaning {
            Meaning::Shape(shape) => match units.names.shape(shape).map(|shape| shape.kind) {
                Some(ShapeKind::Interface) | None => Vec::new(),
                Some(_) => vec![Carrier::Static(file, shape)],
            },
            Meaning::Alias(_) => Vec::new(),
            Meaning::TypeParameter(constraint) => self.eval((file, constraint, bindings), depth + 1),
            Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) } => {
                vec![Carrier::Function(file, signature, bindings)]
            }
            Meaning::Value { ty, .. } => self.eval((file, ty, bindings), depth + 1),
            Meaning::Import(import) => {
                let definitions = units.names.import(import).map(|import| self.imported(file, import));
                let definitions = definitions.and_then(Result::ok).unwrap_or_default();
                let carriers = definitions.into_iter().flat_map(|definition| match definition {
                    Definition::Module(module) => vec![Carrier::Module(module)],
                    Definition::Declaration(target, declaration) => {
                        self.value_of((target, declaration, Bindings::NONE), depth + 1)
                    }
                });
                carriers.collect()
            }
            Meaning::Same(symbol) => self.value_of_symbol(file, symbol, bindings, depth + 1),
        }
    }

    fn named_type(
        &self,
        file: FileId,
        symbol: SymbolId,
        arguments: &[RecipeId],
        bindings: Bindings,
        depth: u32,
    ) -> Vec<Carrier> {
        if let Some(bound) = self.bound(file, symbol, bindings) {
            return self.eval(bound, depth);
        }
        let definitions = self.definitions(file, symbol).unwrap_or_default();
        let carriers = definitions.into_iter().flat_map(|definition| match definition {
            Definition::Module(_) => Vec::new(),
            Definition::Declaration(target, declaration) => {
                self.declared_type(target, declaration, (file, arguments, bindings), depth)
            }
        });
        carriers.collect()
    }

    /// What a type of this declaration has as members.
    fn declared_type(
        &self,
        file: FileId,
        declaration: DeclarationId,
        (from, arguments, bindings): (FileId, &[RecipeId], Bindings),
        depth: u32,
    ) -> Vec<Carrier> {
        if !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let Some(declared) = units.names.declaration(declaration) else { return Vec::new() };
        let bind = || self.bind(file, units.names.parameters(declaration), (from, arguments, bindings));
        match declared.meaning {
            Meaning::Shape(shape) => match units.names.shape(shape).map(|shape| shape.kind) {
                Some(ShapeKind::Enum) => vec![Carrier::Static(file, shape)],
                Some(ShapeKind::Namespace) | None => Vec::new(),
                Some(_) => vec![Carrier::Instance(file, shape, bind())],
            },
            Meaning::Alias(ty) => self.eval((file, ty, bind()), depth + 1),
            Meaning::TypeParameter(constraint) => self.eval((file, constraint, bindings), depth + 1),
            Meaning::Value { .. } => Vec::new(),
            Meaning::Import(import) => {
                let definitions = units.names.import(import).map(|import| self.imported(file, import));
                let definitions = definitions.and_then(Result::ok).unwrap_or_default();
                let types = definitions.into_iter().flat_map(|definition| match definition {
                    Definition::Module(_) => Vec::new(),
                    Definition::Declaration(target, declaration) => {
                        self.declared_type(target, declaration, (from, arguments, bindings), depth + 1)
                    }
                });
                types.collect()
            }
            Meaning::Same(symbol) => self.named_type(file, symbol, &[], bindings, depth + 1),
        }
    }

    fn bind(
        &self,
        file: FileId,
        parameters: &[SymbolId],
        (from, arguments, bindings): (FileId, &[RecipeId], Bindings),
    ) -> Bindings {
        let bound: Vec<_> = parameters
            .iter()
            .zip(arguments)
            .map(|(parameter, argument)| ((file, *parameter), (from, *argument, bindings)))
            .collect();
        if bound.is_empty() {
            return Bindings::NONE;
        }
        let mut all = self.bindings.borrow_mut();
        // A recursive type requests the same bindings repeatedly.
        if let Some(known) = all.iter().position(|one| *one == bound) {
            return Bindings(known as u32);
        }
        all.push(bound);
        Bindings(all.len() as u32 - 1)
    }

    fn bound(&self, file: FileId, symbol: SymbolId, bindings: Bindings) -> Option<BoundType> {
        let all = self.bindings.borrow();
        let bound = all.get(bindings.0 as usize)?.iter().find(|(parameter, _)| *parameter == (file, symbol));
        bound.map(|(_, argument)| *argument)
    }

    /// Element types of lists, or the awaited types of promises. Awaiting a type that is not a promise gives the type
    /// itself.
    fn unwrapped(&self, carriers: &[Carrier], awaited: bool, depth: u32) -> Vec<Carrier> {
        let mut found = Vec::new();
        for carrier in carriers {
            match *carrier {
                Carrier::Promise(file, recipe, bindings) if awaited => {
                    found.extend(self.eval((file, recipe, bindings), depth));
                }
                Carrier::List(file, recipe, bindings) if !awaited => {
                    found.extend(self.eval((file, recipe, bindings), depth));
                }
                carrier if awaited => found.push(carrier),
                _ => {}
            }
        }
        found
    }

    /// The signatures by which carriers are called, or constructed.
    fn callables(&self, carriers: &[Carrier], constructed: bool, depth: u32) -> Vec<(FileId, SignatureId, Bindings)> {
        let mut found = Vec::new();
        for carrier in carriers {
            match *carrier {
                Carrier::Function(file, signature, bindings) => found.push((file, signature, bindings)),
                Carrier::Instance(file, shape, bindings) => {
                    let Some(units) = self.modules.units(file) else { continue };
                    for shape in merged(&units, shape) {
                        let Some(shape) = units.names.shape(shape) else { continue };
                        let signatures = if constructed { &shape.constructs } else { &shape.calls };
                        found.extend(signatures.iter().map(|signature| (file, *signature, bindings)));
                    }
                }
                Carrier::Static(file, shape) if constructed => {
                    found.extend(self.constructors(file, shape, depth));
                }
                _ => {}
            }
        }
        found
    }

    /// The constructors of a class, or of the class that it extends.
    fn constructors(&self, file: FileId, shape: ShapeId, depth: u32) -> Vec<(FileId, SignatureId, Bindings)> {
        if !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let Some(known) = units.names.shape(shape) else { return Vec::new() };
        if !known.constructs.is_empty() {
            return known.constructs.iter().map(|signature| (file, *signature, Bindings::NONE)).collect();
        }
        let above = known.extends.iter().flat_map(|base| self.eval((file, *base, Bindings::NONE), depth + 1));
        let above: Vec<Carrier> = above.collect();
        self.callables(&above, true, depth + 1)
    }

    fn results(&self, callees: &[Carrier], constructed: bool, depth: u32) -> Vec<Carrier> {
        let mut found = Vec::new();
        for callee in callees {
            match *callee {
                Carrier::Static(file, shape) if constructed => {
                    found.push(Carrier::Instance(file, shape, Bindings::NONE));
                }
                callee => {
                    for (file, signature, bindings) in self.callables(&[callee], constructed, depth) {
                        let Some(units) = self.modules.units(file) else { continue };
                        let result = units.names.signature(signature).and_then(|signature| signature.result);
                        found.extend(result.into_iter().flat_map(|ty| self.eval((file, ty, bindings), depth)));
                    }
                }
            }
        }
        found
    }

    fn parameter(&self, callables: &[(FileId, SignatureId, Bindings)], index: u32, depth: u32) -> Vec<Carrier> {
        let mut found = Vec::new();
        for (file, signature, bindings) in callables {
            let Some(units) = self.modules.units(*file) else { continue };
            let Some(signature) = units.names.signature(*signature) else { continue };
            if let Some(ty) = signature.parameters.get(index as usize) {
                found.extend(self.eval((*file, *ty, *bindings), depth));
            }
        }
        found
    }

    /// What a class or interface extends, and what a literal spreads.
    fn bases(&self, units: &FileUnits, file: FileId, shape: ShapeId, bindings: Bindings, depth: u32) -> Vec<Carrier> {
        let Some(shape) = units.names.shape(shape) else { return Vec::new() };
        let mut found: Vec<Carrier> = Vec::new();
        for base in &shape.bases {
            found.extend(self.eval((file, *base, bindings), depth));
        }
        for extended in &shape.extends {
            for carrier in self.eval((file, *extended, bindings), depth) {
                match carrier {
                    Carrier::Static(file, shape) => found.push(Carrier::Instance(file, shape, Bindings::NONE)),
                    carrier => found.push(carrier),
                }
            }
        }
        found
    }

    fn members_named(&self, carriers: &[Carrier], name: &str, depth: u32) -> Vec<FoundMember> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        self.members_into(carriers, name, depth, &mut seen, &mut found);
        found
    }

    fn members_into(
        &self,
        carriers: &[Carrier],
        name: &str,
        depth: u32,
        seen: &mut FxHashSet<Carrier>,
        found: &mut Vec<FoundMember>,
    ) {
        for carrier in carriers {
            if !self.step(depth) || !seen.insert(*carrier) {
                continue;
            }
            match *carrier {
                Carrier::Instance(file, shape, bindings) => {
                    self.instance_members((file, shape, bindings), name, depth, seen, found);
                }
                Carrier::Static(file, shape) => self.static_members((file, shape), name, depth, seen, found),
                Carrier::Module(file) => {
                    for definition in self.exported(file, name) {
                        if let Definition::Declaration(file, declaration) = definition {
                            found.push((file, declaration, Bindings::NONE));
                        }
                    }
                }
                Carrier::List(..) | Carrier::Promise(..) | Carrier::Function(..) => {}
            }
        }
    }

    fn instance_members(
        &self,
        (file, shape, bindings): (FileId, ShapeId, Bindings),
        name: &str,
        depth: u32,
        seen: &mut FxHashSet<Carrier>,
        found: &mut Vec<FoundMember>,
    ) {
        let Some(units) = self.modules.units(file) else { return };
        let parts = merged(&units, shape);
        let before = found.len();
        for part in &parts {
            let members = units.names.shape(*part).into_iter().flat_map(|shape| shape.named(name));
            let own = members.filter(|member| !member.is_static);
            found.extend(own.map(|member| (file, member.declaration, bindings)));
        }
        if found.len() > before {
            return;
        }
        for part in parts {
            let bases = self.bases(&units, file, part, bindings, depth + 1);
            self.members_into(&bases, name, depth + 1, seen, found);
        }
    }

    fn static_members(
        &self,
        (file, shape): (FileId, ShapeId),
        name: &str,
        depth: u32,
        seen: &mut FxHashSet<Carrier>,
        found: &mut Vec<FoundMember>,
    ) {
        let Some(units) = self.modules.units(file) else { return };
        let before = found.len();
        for part in merged(&units, shape) {
            let members = units.names.shape(part).into_iter().flat_map(|shape| shape.named(name));
            let own = members.filter(|member| member.is_static);
            found.extend(own.map(|member| (file, member.declaration, Bindings::NONE)));
        }
        if found.len() > before {
            return;
        }
        let Some(known) = units.names.shape(shape) else { return };
        let above = known.extends.iter().flat_map(|base| self.eval((file, *base, Bindings::NONE), depth + 1));
        let above: Vec<Carrier> = above.filter(|carrier| matches!(carrier, Carrier::Static(..))).collect();
        self.members_into(&above, name, depth + 1, seen, found);
    }
}

fn shapes_of(carriers: &[Carrier]) -> Vec<(FileId, ShapeId)> {
    let mut shapes = Vec::new();
    for carrier in carriers {
        if let Carrier::Instance(file, shape, _) | Carrier::Static(file, shape) = *carrier
            && !shapes.contains(&(file, shape))
        {
            shapes.push((file, shape));
        }
    }
    shapes
}

/// The shapes that are merged under the name of one: an interface in several parts, a class and a namespace.
pub(crate) fn merged(units: &FileUnits, shape: ShapeId) -> Vec<ShapeId> {
    let symbol = units.names.shape(shape).and_then(|known| units.names.symbol(known.symbol?));
    let declarations = symbol.map(|symbol| symbol.declarations.as_slice()).unwrap_or_default();
    let meanings = declarations.iter().filter_map(|id| units.names.declaration(*id));
    let mut shapes: Vec<ShapeId> = meanings
        .filter_map(|declaration| match declaration.meaning {
            Meaning::Shape(shape) => Some(shape),
            _ => None,
        })
        .collect();
    if !shapes.contains(&shape) {
        shapes.push(shape);
    }
    shapes
}
