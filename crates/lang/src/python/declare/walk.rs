//! The walk over the statements of a module: symbols, declarations, shapes of classes and signatures of functions.

use ruff_python_ast::{
    ExceptHandler, Expr, Identifier, ModModule, Parameters, Stmt, StmtClassDef, StmtFunctionDef, StmtImportFrom,
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;
use stan_model::names::{
    Declaration, DeclarationId, FileNames, Import, ImportId, Imported, Meaning, Member, Recipe, RecipeId, Shape,
    ShapeId, ShapeKind, Signature, SignatureId, Space, Symbol, SymbolId, Use, Used,
};
use stan_model::outline::{LineStarts, Outline, Span, UnitKind};

use super::scopes::{BoundNames, Scope, ScopeKind};
use super::units::method_kind;
use crate::python::parse::span as ends;

/// How many parent packages of one imported module are recorded.
const MAX_PACKAGES: usize = 8;

/// Collects the symbols of a module in `names`.
pub(super) fn names(module: &ModModule, text: &str, outline: &Outline, lines: &LineStarts, names: &mut FileNames) {
    let mut walk = DeclarationWalk {
        text,
        outline,
        lines,
        names,
        scopes: Vec::new(),
        own: None,
        in_type: false,
        dotted: FxHashMap::default(),
    };
    walk.scope(ScopeKind::Module, BoundNames::of(&module.body), |walk| {
        walk.suite(&module.body);
        walk.exports();
    });
    walk.names.uses.sort_by_key(|one| one.at);
    for shape in &mut walk.names.shapes {
        shape.members.sort_by(|one, other| one.name.cmp(&other.name));
    }
}

pub(super) struct DeclarationWalk<'w> {
    pub(super) text: &'w str,
    outline: &'w Outline,
    lines: &'w LineStarts,
    pub(super) names: &'w mut FileNames,
    scopes: Vec<Scope>,
    /// The class of the current method, and the name of the method's first parameter.
    pub(super) own: Option<(ShapeId, Box<str>)>,
    /// Whether the walk is inside an annotation.
    pub(super) in_type: bool,
    /// Modules that `import a.b` makes available under their dotted names.
    pub(super) dotted: FxHashMap<Box<str>, SymbolId>,
}

/// The meaning of a function's first parameter.
#[derive(Clone, Copy)]
pub(super) enum Receiver {
    /// An ordinary parameter.
    None,
    /// An instance of the class, in a method.
    Instance(ShapeId),
    /// The class itself, in a class method.
    Class(ShapeId),
}

/// A parameter with the recipe for its type.
pub(super) struct Parameter {
    pub(super) name: Box<str>,
    pub(super) range: TextRange,
    pub(super) ty: RecipeId,
}

impl DeclarationWalk<'_> {
    /// Runs `work` in a new scope with these names.
    pub(super) fn scope(&mut self, kind: ScopeKind, bound: BoundNames, work: impl FnOnce(&mut Self)) {
        let mut names: FxHashMap<Box<str>, SymbolId> = FxHashMap::default();
        for name in bound.names {
            let all = &mut self.names.symbols;
            names.entry(name).or_insert_with_key(|name| {
                all.push(Symbol { name: name.clone(), ..Symbol::default() });
                SymbolId(all.len() as u32 - 1)
            });
        }
        self.scopes.push(Scope { kind, names, globals: bound.globals });
        work(self);
        self.scopes.pop();
    }

    /// The symbol that a name refers to here.
    pub(super) fn find(&self, name: &str) -> Option<SymbolId> {
        let innermost = self.scopes.len().checked_sub(1)?;
        for (index, scope) in self.scopes.iter().enumerate().rev() {
            if scope.globals.contains(name) {
                return self.scopes.first()?.names.get(name).copied();
            }
            let is_hidden = index != innermost && matches!(scope.kind, ScopeKind::Class(_));
            if let Some(symbol) = scope.names.get(name).filter(|_| !is_hidden) {
                return Some(*symbol);
            }
        }
        None
    }

    pub(super) fn recipe(&mut self, recipe: Recipe) -> RecipeId {
        self.names.recipes.push(recipe);
        RecipeId(self.names.recipes.len() as u32 - 1)
    }

    pub(super) fn use_at(&mut self, node: &impl Ranged, what: Used) {
        let (at, end) = ends(node);
        // Where a name is missing, the parser inserts an empty one.
        if at == end {
            return;
        }
        let space = if self.in_type { Space::Type } else { Space::Value };
        self.names.uses.push(Use { at, line: self.lines.line(at), space, what });
    }

    /// Declares a name in the innermost scope, and as a member if that is a class.
    pub(super) fn declare(&mut self, name: &str, node: &impl Ranged, meaning: Meaning) -> DeclarationId {
        let id = self.declaration(name, node, meaning);
        if let Some(symbol) = self.find(name)
            && let Some(symbol) = self.names.symbols.get_mut(symbol.0 as usize)
        {
            symbol.declarations.push(id);
        }
        if let Some(ScopeKind::Class(shape)) = self.scopes.last().map(|scope| scope.kind) {
            // Names bound in a class body are accessible through both the class and its instances.
            self.member(shape, name, id, true);
            self.member(shape, name, id, false);
        }
        id
    }

    fn declaration(&mut self, name: &str, node: &impl Ranged, meaning: Meaning) -> DeclarationId {
        let (start, end) = ends(node);
        let unit = self.outline.innermost(start);
        let line = self.lines.line(start);
        self.names.declarations.push(Declaration {
            name: name.into(),
            span: Span::new(start, end),
            line,
            unit,
            meaning,
        });
        DeclarationId(self.names.declarations.len() as u32 - 1)
    }

    fn member(&mut self, shape: ShapeId, name: &str, declaration: DeclarationId, is_static: bool) {
        if let Some(shape) = self.names.shapes.get_mut(shape.0 as usize) {
            shape.members.push(Member { name: name.into(), declaration, is_static });
        }
    }

    fn suite(&mut self, body: &[Stmt]) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Import(import) => {
                for alias in &import.names {
                    match (&alias.asname, alias.name.split_once('.')) {
                        (Some(bound), _) => self.import(&alias.name, statement, bound, bound),
                        (None, None) => self.import(&alias.name, statement, &alias.name, &alias.name),
                        (None, Some((first, _))) => self.import_dotted(&alias.name, statement, first),
                    }
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Assign(assign) => {
                let ty = self.expression(&assign.value);
                assign.targets.iter().for_each(|target| self.assign(target, ty));
            }
            Stmt::AnnAssign(assign) => {
                let ty = self.annotation(&assign.annotation);
                assign.value.iter().for_each(|value| self.look_into(value));
                self.assign(&assign.target, ty);
            }
            Stmt::AugAssign(assign) => {
                self.expression(&assign.value);
                self.expression(&assign.target);
            }
            Stmt::TypeAlias(alias) => {
                let ty = self.annotation(&alias.value);
                if let Expr::Name(name) = &*alias.name {
                    self.declare(&name.id, name, Meaning::Alias(ty));
                }
            }
            Stmt::For(each) => {
                let list = self.expression(&each.iter);
                let ty = self.recipe(Recipe::Element(list));
                self.assign(&each.target, ty);
                self.suite(&each.body);
                self.suite(&each.orelse);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    let ty = self.expression(&item.context_expr);
                    item.optional_vars.iter().for_each(|target| self.assign(target, ty));
                }
                self.suite(&with.body);
            }
            _ => self.block(statement),
        }
    }

    /// Compound statements and plain expressions.
    fn block(&mut self, statement: &Stmt) {
        match statement {
            Stmt::While(each) => {
                self.expression(&each.test);
                self.suite(&each.body);
                self.suite(&each.orelse);
            }
            Stmt::If(condition) => {
                self.expression(&condition.test);
                self.suite(&condition.body);
                for clause in &condition.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.look_into(test));
                    self.suite(&clause.body);
                }
            }
            Stmt::Try(attempt) => {
                self.suite(&attempt.body);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    let class = handler.type_.as_ref().map(|class| self.expression(class));
                    if let (Some(name), Some(class)) = (&handler.name, class) {
                        let ty = self.recipe(Recipe::New(class));
                        self.declare(name, name, Meaning::Value { ty, signature: None });
                    }
                    self.suite(&handler.body);
                }
                self.suite(&attempt.orelse);
                self.suite(&attempt.finalbody);
            }
            Stmt::Match(matched) => {
                self.expression(&matched.subject);
                for case in &matched.cases {
                    self.pattern(&case.pattern);
                    case.guard.iter().for_each(|guard| self.look_into(guard));
                    self.suite(&case.body);
                }
            }
            other => self.other_statement(other),
        }
    }

    fn import(&mut self, specifier: &str, statement: &Stmt, bound: &str, node: &impl Ranged) {
        let meaning = Meaning::Import(self.add_import(specifier, statement));
        self.declare(bound, node, meaning);
    }

    fn add_import(&mut self, specifier: &str, statement: &Stmt) -> ImportId {
        let (start, end) = ends(statement);
        let (specifier, statement) = (specifier.into(), Span::new(start, end));
        self.names.imports.push(Import { specifier, name: Imported::Namespace, statement });
        ImportId(self.names.imports.len() as u32 - 1)
    }

    /// `import a.b` binds `a`, and makes `a.b` available as a module: a symbol without a name of its own.
    fn import_dotted(&mut self, module: &Identifier, statement: &Stmt, first: &str) {
        self.import(first, statement, first, module);
        // The parent packages are modules, too. Longer names do not occur.
        let inner = module.match_indices('.').skip(1).take(MAX_PACKAGES).map(|(at, _)| &module[..at]);
        for name in inner.chain([module.as_str()]) {
            if self.dotted.contains_key(name) && name.len() < module.len() {
                continue;
            }
            let import = self.add_import(name, statement);
            let declaration = self.declaration(name, module, Meaning::Import(import));
            self.names.symbols.push(Symbol { name: name.into(), declarations: vec![declaration] });
            self.dotted.insert(name.into(), SymbolId(self.names.symbols.len() as u32 - 1));
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let mut module = ".".repeat((import.level as usize).min(64));
        module.push_str(import.module.as_deref().unwrap_or_default());
        let (start, end) = ends(import);
        // As in extraction: each name repeats the module, so a long module with many names would take quadratic time.
        let most = if module.len() < 256 { usize::MAX } else { 64 };
        for alias in import.names.iter().take(most) {
            if &*alias.name == "*" {
                self.names.stars.push(module.as_str().into());
                continue;
            }
            let separator = if import.module.is_some() { "." } else { "" };
            let specifier = [&module, separator, &alias.name].concat().into();
            let name = Imported::Name(alias.name.as_str().into());
            self.names.imports.push(Import { specifier, name, statement: Span::new(start, end) });
            let import = ImportId(self.names.imports.len() as u32 - 1);
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            self.declare(bound, bound, Meaning::Import(import));
        }
    }

    /// Declares the names that a target binds. Elements of a tuple target get elements of the value.
    pub(super) fn assign(&mut self, target: &Expr, ty: RecipeId) {
        match target {
            Expr::Name(name) => drop(self.declare(&name.id, name, Meaning::Value { ty, signature: None })),
            Expr::Tuple(tuple) => self.assign_all(&tuple.elts, ty),
            Expr::List(list) => self.assign_all(&list.elts, ty),
            Expr::Starred(starred) => self.assign(&starred.value, ty),
            Expr::Attribute(attribute) => {
                let on_self = matches!((&*attribute.value, &self.own), (Expr::Name(name), Some((_, own))) if *name.id.as_str() == **own);
                if on_self && let Some((shape, _)) = &self.own {
                    let shape = *shape;
                    self.expression(&attribute.value);
                    let id = self.declaration(&attribute.attr, &attribute.attr, Meaning::Value { ty, signature: None });
                    self.member(shape, &attribute.attr, id, false);
                } else {
                    self.expression(target);
                }
            }
            other => self.look_into(other),
        }
    }

    fn assign_all(&mut self, targets: &[Expr], ty: RecipeId) {
        let element = self.recipe(Recipe::Element(ty));
        targets.iter().for_each(|target| self.assign(target, element));
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        function.decorator_list.iter().for_each(|decorator| self.look_into(&decorator.expression));
        let class = match self.scopes.last().map(|scope| scope.kind) {
            Some(ScopeKind::Class(shape)) => Some(shape),
            _ => None,
        };
        let (kind, is_static) = if class.is_some() { method_kind(function) } else { (UnitKind::Function, false) };
        let has_self = class.is_some() && !(is_static && is_decorated(function, "staticmethod"));
        let receiver = match class.filter(|_| has_self) {
            None => Receiver::None,
            Some(shape) if is_static => Receiver::Class(shape),
            Some(shape) => Receiver::Instance(shape),
        };
        let parameters = self.parameters(&function.parameters, receiver);
        let result = function.returns.as_ref().map(|returns| self.annotation(returns));
        let passed = parameters.iter().skip(usize::from(has_self)).map(|parameter| parameter.ty).collect();
        let signature = self.signature(passed, result);
        let meaning = match kind {
            UnitKind::Getter => Meaning::Value { ty: result.unwrap_or(RecipeId::UNKNOWN), signature: None },
            _ => Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) },
        };
        self.declare(&function.name, &function.name, meaning);
        let mut bound = BoundNames::of(&function.body);
        bound.names.extend(parameters.iter().map(|parameter| parameter.name.clone()));
        let own = class.zip(parameters.first().filter(|_| has_self).map(|parameter| parameter.name.clone()));
        let outer = if class.is_some() { std::mem::replace(&mut self.own, own) } else { self.own.clone() };
        self.scope(ScopeKind::Function, bound, |walk| {
            for Parameter { name, range, ty } in parameters {
                walk.declare(&name, &range, Meaning::Value { ty, signature: None });
            }
            walk.suite(&function.body);
        });
        self.own = outer;
    }

    fn signature(&mut self, parameters: Vec<RecipeId>, result: Option<RecipeId>) -> SignatureId {
        self.names.signatures.push(Signature { parameters, result });
        SignatureId(self.names.signatures.len() as u32 - 1)
    }

    /// Declares the parameters of a function, whose first one is `receiver`.
    pub(super) fn parameters(&mut self, parameters: &Parameters, receiver: Receiver) -> Vec<Parameter> {
        let mut found = Vec::new();
        for parameter in parameters.iter_non_variadic_params() {
            parameter.default.iter().for_each(|default| self.look_into(default));
        }
        for parameter in parameters.iter() {
            let parameter = parameter.as_parameter();
            let written = parameter.annotation.as_ref().map(|annotation| self.annotation(annotation));
            let ty = match (written, receiver) {
                (Some(written), _) => written,
                (None, Receiver::Class(shape)) if found.is_empty() => self.recipe(Recipe::Static(shape)),
                (None, Receiver::Instance(shape)) if found.is_empty() => self.recipe(Recipe::Instance(shape)),
                _ => RecipeId::UNKNOWN,
            };
            found.push(Parameter { name: parameter.name.as_str().into(), range: parameter.name.range(), ty });
        }
        found
    }

    fn class(&mut self, class: &StmtClassDef) {
        class.decorator_list.iter().for_each(|decorator| self.look_into(&decorator.expression));
        let mut extends = Vec::new();
        if let Some(arguments) = &class.arguments {
            extends.extend(arguments.args.iter().map(|base| self.base(base)));
            arguments.keywords.iter().for_each(|keyword| self.look_into(&keyword.value));
        }
        let unit = self.outline.innermost(ends(&class.name).0);
        let symbol = self.find(&class.name);
        let shape = ShapeId(self.names.shapes.len() as u32);
        self.names.shapes.push(Shape {
            kind: ShapeKind::Class,
            unit,
            symbol,
            members: Vec::new(),
            calls: Vec::new(),
            constructs: Vec::new(),
            extends,
            bases: Vec::new(),
        });
        self.declare(&class.name, &class.name, Meaning::Shape(shape));
        self.scope(ScopeKind::Class(shape), BoundNames::of(&class.body), |walk| walk.suite(&class.body));
    }

    /// The recipe for a base class, without its type arguments.
    fn base(&mut self, base: &Expr) -> RecipeId {
        match base {
            Expr::Subscript(subscript) => {
                self.annotation(&subscript.slice);
                self.expression(&subscript.value)
            }
            base => self.expression(base),
        }
    }

    /// All names in module scope can be imported.
    fn exports(&mut self) {
        let Some(module) = self.scopes.first() else { return };
        let mut exports: Vec<(Box<str>, SymbolId)> = Vec::with_capacity(module.names.len());
        exports.extend(module.names.iter().map(|(name, symbol)| (name.clone(), *symbol)));
        exports.sort_unstable();
        self.names.exports = exports;
    }
}

fn is_decorated(function: &StmtFunctionDef, name: &str) -> bool {
    let is_name = |expression: &Expr| matches!(expression, Expr::Name(known) if known.id.as_str() == name);
    function.decorator_list.iter().any(|decorator| is_name(&decorator.expression))
}
