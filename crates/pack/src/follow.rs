//! Evaluates recipes: from an expression or a written type to the values whose members it has. No types are inferred; a recipe
//! without a result is a valid answer. The steps of each query are limited, so that recursive types terminate.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;
use stan_model::names::{
    DeclarationId, FileUnits, Meaning, Recipe, RecipeId, ShapeId, ShapeKind, SignatureId, SymbolId,
};

use crate::definitions::Definition;
use crate::modules::{FileId, Modules};

/// The maximum depth of a recipe's evaluation.
const MAX_DEPTH: u32 = 24;

/// The maximum number of steps of one query.
const MAX_STEPS: u32 = 3_000;

/// The maximum number of ancestors (classes and interfaces) that are searched.
const MAX_LINEAGE: usize = 12;

/// The type arguments in scope, as an index into `Follower::bindings`; 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bindings(u32);

impl Bindings {
    pub(crate) const NONE: Self = Self(0);
}

/// A node of a file, with the bindings of the type parameters in its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BoundNode<Id> {
    file: FileId,
    id: Id,
    bindings: Bindings,
}

impl<Id> BoundNode<Id> {
    fn new(file: FileId, id: Id, bindings: Bindings) -> Self {
        Self { file, id, bindings }
    }

    /// A node outside of any generic type.
    fn free(file: FileId, id: Id) -> Self {
        Self::new(file, id, Bindings::NONE)
    }
}

/// A type parameter and the argument bound to it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Binding {
    file: FileId,
    parameter: SymbolId,
    argument: BoundNode<RecipeId>,
}

/// The written arguments of a generic type, and the scope that they are written in.
#[derive(Clone, Copy)]
struct TypeArguments<'a> {
    file: FileId,
    recipes: &'a [RecipeId],
    bindings: Bindings,
}

/// A value or module that has members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Carrier {
    Instance(BoundNode<ShapeId>),
    Static(FileId, ShapeId),
    Module(FileId),
    List(BoundNode<RecipeId>),
    Promise(BoundNode<RecipeId>),
    Function(BoundNode<SignatureId>),
}

/// A search for members with one name. Each carrier is visited once, because several paths may reach it.
struct MemberSearch<'n> {
    name: &'n str,
    seen: FxHashSet<Carrier>,
    found: Vec<BoundNode<DeclarationId>>,
}

/// Follows names and evaluates recipes across the files of `modules`.
pub struct Follower<'m> {
    pub(crate) modules: &'m dyn Modules,
    steps: Cell<u32>,
    /// The bindings that each [`Bindings`] is an index of.
    bindings: RefCell<Vec<Vec<Binding>>>,
}

impl<'m> Follower<'m> {
    pub fn new(modules: &'m dyn Modules) -> Self {
        Self { modules, steps: Cell::new(0), bindings: RefCell::new(vec![Vec::new()]) }
    }

    /// The declarations of `base.name`.
    pub fn members(&self, file: FileId, base: RecipeId, name: &str) -> Vec<(FileId, DeclarationId)> {
        self.restart();
        let carriers = self.eval(BoundNode::free(file, base), 0);
        self.named(&carriers, name)
    }

    /// Whether `base.name` is a module.
    pub(crate) fn is_module(&self, file: FileId, base: RecipeId, name: &str) -> bool {
        self.restart();
        let carriers = self.eval(BoundNode::free(file, base), 0);
        !self.inner_modules(&carriers, name).is_empty()
    }

    /// The classes, interfaces and literals that a recipe evaluates to.
    pub(crate) fn owners(&self, file: FileId, base: RecipeId) -> Vec<(FileId, ShapeId)> {
        self.restart();
        shapes_of(&self.eval(BoundNode::free(file, base), 0))
    }

    /// As `owners`, for the elements of a symbol's list or the result of its promise.
    pub(crate) fn owners_of_symbol(&self, file: FileId, symbol: SymbolId) -> Vec<(FileId, ShapeId)> {
        self.restart();
        let carriers = self.value_of_symbol(file, symbol, Bindings::NONE, 0);
        let mut inner = self.unwrapped(&carriers, false, 1);
        inner.extend(self.unwrapped(&carriers, true, 1));
        shapes_of(&inner)
    }

    /// A shape and its ancestors, nearest first.
    pub(crate) fn lineage(&self, file: FileId, shape: ShapeId) -> Vec<(FileId, ShapeId)> {
        self.restart();
        let mut all = vec![(file, shape)];
        let mut next = 0;
        while let Some((file, shape)) = all.get(next).copied().filter(|_| next < MAX_LINEAGE) {
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

    /// As `members`, for the value of a symbol.
    pub(crate) fn members_of_symbol(&self, file: FileId, symbol: SymbolId, name: &str) -> Vec<(FileId, DeclarationId)> {
        let carriers = self.value_of_symbol(file, symbol, Bindings::NONE, 1);
        self.named(&carriers, name)
    }

    /// Resets the step limit and the bindings. Call it before each query.
    pub(crate) fn restart(&self) {
        self.steps.set(MAX_STEPS);
        self.bindings.borrow_mut().truncate(1);
    }

    fn named(&self, carriers: &[Carrier], name: &str) -> Vec<(FileId, DeclarationId)> {
        let mut found: Vec<(FileId, DeclarationId)> = Vec::new();
        for member in self.members_named(carriers, name, 0) {
            if !found.contains(&(member.file, member.id)) {
                found.push((member.file, member.id));
            }
        }
        found
    }

    /// Counts a step. Returns false if the limits of steps or depth are exceeded.
    fn step(&self, depth: u32) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0 && depth <= MAX_DEPTH
    }

    fn eval(&self, ty: BoundNode<RecipeId>, depth: u32) -> Vec<Carrier> {
        let BoundNode { file, id: recipe, bindings } = ty;
        if recipe == RecipeId::UNKNOWN || !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let next = |recipe: RecipeId| self.eval(BoundNode::new(file, recipe, bindings), depth + 1);
        match units.names.recipe(recipe) {
            Recipe::Unknown | Recipe::Global { .. } => Vec::new(),
            Recipe::Value(symbol) => self.value_of_symbol(file, *symbol, bindings, depth + 1),
            Recipe::Type { symbol, arguments } => {
                self.named_type(file, *symbol, TypeArguments { file, recipes: arguments, bindings }, depth + 1)
            }
            Recipe::TypeMember { base, name, arguments } => {
                let arguments = TypeArguments { file, recipes: arguments, bindings };
                let members = self.members_named(&next(*base), name, depth + 1);
                let types = members
                    .into_iter()
                    .flat_map(|member| self.declared_type(member.file, member.id, arguments, depth + 1));
                types.collect()
            }
            Recipe::Instance(shape) => vec![Carrier::Instance(BoundNode::new(file, *shape, bindings))],
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
            Recipe::List(element) => vec![Carrier::List(BoundNode::new(file, *element, bindings))],
            Recipe::Promise(later) => vec![Carrier::Promise(BoundNode::new(file, *later, bindings))],
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
            Recipe::Function(signature) => vec![Carrier::Function(BoundNode::new(file, *signature, bindings))],
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

    /// The modules that these modules export under a name.
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
                self.value_of(BoundNode::new(target, declaration, bindings), depth)
            }
        });
        carriers.collect()
    }

    /// The carriers of a declaration used as a value.
    fn value_of(&self, member: BoundNode<DeclarationId>, depth: u32) -> Vec<Carrier> {
        let BoundNode { file, id: declaration, bindings } = member;
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
            Meaning::TypeParameter(constraint) => self.eval(BoundNode::new(file, constraint, bindings), depth + 1),
            Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) } => {
                vec![Carrier::Function(BoundNode::new(file, signature, bindings))]
            }
            Meaning::Value { ty, .. } => self.eval(BoundNode::new(file, ty, bindings), depth + 1),
            Meaning::Import(import) => {
                let definitions = units.names.import(import).map(|import| self.imported(file, import));
                let definitions = definitions.and_then(Result::ok).unwrap_or_default();
                let carriers = definitions.into_iter().flat_map(|definition| match definition {
                    Definition::Module(module) => vec![Carrier::Module(module)],
                    Definition::Declaration(target, declaration) => {
                        self.value_of(BoundNode::free(target, declaration), depth + 1)
                    }
                });
                carriers.collect()
            }
            Meaning::Same(symbol) => self.value_of_symbol(file, symbol, bindings, depth + 1),
        }
    }

    fn named_type(&self, file: FileId, symbol: SymbolId, arguments: TypeArguments<'_>, depth: u32) -> Vec<Carrier> {
        if let Some(bound) = self.bound(file, symbol, arguments.bindings) {
            return self.eval(bound, depth);
        }
        let definitions = self.definitions(file, symbol).unwrap_or_default();
        let carriers = definitions.into_iter().flat_map(|definition| match definition {
            Definition::Module(_) => Vec::new(),
            Definition::Declaration(target, declaration) => self.declared_type(target, declaration, arguments, depth),
        });
        carriers.collect()
    }

    /// The carriers of a declaration used as a type.
    fn declared_type(
        &self,
        file: FileId,
        declaration: DeclarationId,
        arguments: TypeArguments<'_>,
        depth: u32,
    ) -> Vec<Carrier> {
        if !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let Some(declared) = units.names.declaration(declaration) else { return Vec::new() };
        let bindings = arguments.bindings;
        let bind = || self.bind(file, units.names.parameters(declaration), arguments);
        match declared.meaning {
            Meaning::Shape(shape) => match units.names.shape(shape).map(|shape| shape.kind) {
                Some(ShapeKind::Enum) => vec![Carrier::Static(file, shape)],
                Some(ShapeKind::Namespace) | None => Vec::new(),
                Some(_) => vec![Carrier::Instance(BoundNode::new(file, shape, bind()))],
            },
            Meaning::Alias(ty) => self.eval(BoundNode::new(file, ty, bind()), depth + 1),
            Meaning::TypeParameter(constraint) => self.eval(BoundNode::new(file, constraint, bindings), depth + 1),
            Meaning::Value { .. } => Vec::new(),
            Meaning::Import(import) => {
                let definitions = units.names.import(import).map(|import| self.imported(file, import));
                let definitions = definitions.and_then(Result::ok).unwrap_or_default();
                let types = definitions.into_iter().flat_map(|definition| match definition {
                    Definition::Module(_) => Vec::new(),
                    Definition::Declaration(target, declaration) => {
                        self.declared_type(target, declaration, arguments, depth + 1)
                    }
                });
                types.collect()
            }
            Meaning::Same(symbol) => {
                let none = TypeArguments { file, recipes: &[], bindings };
                self.named_type(file, symbol, none, depth + 1)
            }
        }
    }

    fn bind(&self, file: FileId, parameters: &[SymbolId], arguments: TypeArguments<'_>) -> Bindings {
        let argument = |recipe: &RecipeId| BoundNode::new(arguments.file, *recipe, arguments.bindings);
        let bound: Vec<Binding> = parameters
            .iter()
            .zip(arguments.recipes)
            .map(|(parameter, recipe)| Binding { file, parameter: *parameter, argument: argument(recipe) })
            .collect();
        if bound.is_empty() {
            return Bindings::NONE;
        }
        let mut all = self.bindings.borrow_mut();
        // Recursive types bind the same arguments again and again.
        if let Some(known) = all.iter().position(|one| *one == bound) {
            return Bindings(known as u32);
        }
        all.push(bound);
        Bindings(all.len() as u32 - 1)
    }

    fn bound(&self, file: FileId, symbol: SymbolId, bindings: Bindings) -> Option<BoundNode<RecipeId>> {
        let all = self.bindings.borrow();
        let is_meant = |binding: &&Binding| binding.file == file && binding.parameter == symbol;
        all.get(bindings.0 as usize)?.iter().find(is_meant).map(|binding| binding.argument)
    }

    /// The elements of lists or, if `awaited`, the results of promises. Awaiting any other value gives the value itself.
    fn unwrapped(&self, carriers: &[Carrier], awaited: bool, depth: u32) -> Vec<Carrier> {
        let mut found = Vec::new();
        for carrier in carriers {
            match *carrier {
                Carrier::Promise(ty) if awaited => found.extend(self.eval(ty, depth)),
                Carrier::List(ty) if !awaited => found.extend(self.eval(ty, depth)),
                carrier if awaited => found.push(carrier),
                _ => {}
            }
        }
        found
    }

    /// The signatures that carriers can be called with, or constructed with.
    fn callables(&self, carriers: &[Carrier], constructed: bool, depth: u32) -> Vec<BoundNode<SignatureId>> {
        let mut found = Vec::new();
        for carrier in carriers {
            match *carrier {
                Carrier::Function(signature) => found.push(signature),
                Carrier::Instance(BoundNode { file, id: shape, bindings }) => {
                    let Some(units) = self.modules.units(file) else { continue };
                    for shape in merged(&units, shape) {
                        let Some(shape) = units.names.shape(shape) else { continue };
                        let signatures = if constructed { &shape.constructs } else { &shape.calls };
                        found.extend(signatures.iter().map(|signature| BoundNode::new(file, *signature, bindings)));
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

    /// The constructors of a class; inherited ones if it declares none.
    fn constructors(&self, file: FileId, shape: ShapeId, depth: u32) -> Vec<BoundNode<SignatureId>> {
        if !self.step(depth) {
            return Vec::new();
        }
        let Some(units) = self.modules.units(file) else { return Vec::new() };
        let Some(known) = units.names.shape(shape) else { return Vec::new() };
        if !known.constructs.is_empty() {
            return known.constructs.iter().map(|signature| BoundNode::free(file, *signature)).collect();
        }
        let above = known.extends.iter().flat_map(|base| self.eval(BoundNode::free(file, *base), depth + 1));
        let above: Vec<Carrier> = above.collect();
        self.callables(&above, true, depth + 1)
    }

    fn results(&self, callees: &[Carrier], constructed: bool, depth: u32) -> Vec<Carrier> {
        let mut found = Vec::new();
        for callee in callees {
            match *callee {
                Carrier::Static(file, shape) if constructed => {
                    found.push(Carrier::Instance(BoundNode::free(file, shape)));
                }
                callee => {
                    for BoundNode { file, id, bindings } in self.callables(&[callee], constructed, depth) {
                        let Some(units) = self.modules.units(file) else { continue };
                        let result = units.names.signature(id).and_then(|signature| signature.result);
                        let result = result.map(|ty| BoundNode::new(file, ty, bindings));
                        found.extend(result.into_iter().flat_map(|ty| self.eval(ty, depth)));
                    }
                }
            }
        }
        found
    }

    fn parameter(&self, callables: &[BoundNode<SignatureId>], index: u32, depth: u32) -> Vec<Carrier> {
        let mut found = Vec::new();
        for BoundNode { file, id, bindings } in callables {
            let Some(units) = self.modules.units(*file) else { continue };
            let Some(signature) = units.names.signature(*id) else { continue };
            if let Some(ty) = signature.parameters.get(index as usize) {
                found.extend(self.eval(BoundNode::new(*file, *ty, *bindings), depth));
            }
        }
        found
    }

    /// The carriers that a class or interface extends, or that a literal spreads.
    fn bases(&self, units: &FileUnits, file: FileId, shape: ShapeId, bindings: Bindings, depth: u32) -> Vec<Carrier> {
        let Some(shape) = units.names.shape(shape) else { return Vec::new() };
        let mut found: Vec<Carrier> = Vec::new();
        for base in &shape.bases {
            found.extend(self.eval(BoundNode::new(file, *base, bindings), depth));
        }
        for extended in &shape.extends {
            for carrier in self.eval(BoundNode::new(file, *extended, bindings), depth) {
                match carrier {
                    Carrier::Static(file, shape) => found.push(Carrier::Instance(BoundNode::free(file, shape))),
                    carrier => found.push(carrier),
                }
            }
        }
        found
    }

    fn members_named(&self, carriers: &[Carrier], name: &str, depth: u32) -> Vec<BoundNode<DeclarationId>> {
        let mut search = MemberSearch { name, seen: FxHashSet::default(), found: Vec::new() };
        self.members_into(&mut search, carriers, depth);
        search.found
    }

    fn members_into(&self, search: &mut MemberSearch<'_>, carriers: &[Carrier], depth: u32) {
        for carrier in carriers {
            if !self.step(depth) || !search.seen.insert(*carrier) {
                continue;
            }
            match *carrier {
                Carrier::Instance(shape) => self.instance_members(search, shape, depth),
                Carrier::Static(file, shape) => self.static_members(search, file, shape, depth),
                Carrier::Module(file) => {
                    for definition in self.exported(file, search.name) {
                        if let Definition::Declaration(file, declaration) = definition {
                            search.found.push(BoundNode::free(file, declaration));
                        }
                    }
                }
                Carrier::List(..) | Carrier::Promise(..) | Carrier::Function(..) => {}
            }
        }
    }

    /// Members of the shape itself hide those of its bases.
    fn instance_members(&self, search: &mut MemberSearch<'_>, shape: BoundNode<ShapeId>, depth: u32) {
        let BoundNode { file, id: shape, bindings } = shape;
        let Some(units) = self.modules.units(file) else { return };
        let parts = merged(&units, shape);
        let (name, before) = (search.name, search.found.len());
        for part in &parts {
            let members = units.names.shape(*part).into_iter().flat_map(|shape| shape.named(name));
            let own = members.filter(|member| !member.is_static);
            search.found.extend(own.map(|member| BoundNode::new(file, member.declaration, bindings)));
        }
        if search.found.len() > before {
            return;
        }
        for part in parts {
            let bases = self.bases(&units, file, part, bindings, depth + 1);
            self.members_into(search, &bases, depth + 1);
        }
    }

    fn static_members(&self, search: &mut MemberSearch<'_>, file: FileId, shape: ShapeId, depth: u32) {
        let Some(units) = self.modules.units(file) else { return };
        let (name, before) = (search.name, search.found.len());
        for part in merged(&units, shape) {
            let members = units.names.shape(part).into_iter().flat_map(|shape| shape.named(name));
            let own = members.filter(|member| member.is_static);
            search.found.extend(own.map(|member| BoundNode::free(file, member.declaration)));
        }
        if search.found.len() > before {
            return;
        }
        let Some(known) = units.names.shape(shape) else { return };
        let above = known.extends.iter().flat_map(|base| self.eval(BoundNode::free(file, *base), depth + 1));
        let above: Vec<Carrier> = above.filter(|carrier| matches!(carrier, Carrier::Static(..))).collect();
        self.members_into(search, &above, depth + 1);
    }
}

fn shapes_of(carriers: &[Carrier]) -> Vec<(FileId, ShapeId)> {
    let mut shapes = Vec::new();
    for carrier in carriers {
        let shape = match *carrier {
            Carrier::Instance(BoundNode { file, id, .. }) | Carrier::Static(file, id) => (file, id),
            _ => continue,
        };
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

/// The shapes that are merged with this one because they share its name: parts of an interface, a class and its namespace.
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
