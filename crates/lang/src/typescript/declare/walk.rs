//! The state of the walk over a block, and how it declares symbols: bindings, patterns, imports, parameters. `visit.rs` defines
//! the order of the walk. The type of an expression is written as a recipe in `values.rs` and `types.rs`; recipes are not
//! evaluated here.

use oxc_ast::ast::*;
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span as OxcSpan};
use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::names::{
    Declaration as Declared, DeclarationId, FileNames, Import, ImportId, Imported, Meaning, Recipe, RecipeId, ShapeId,
    SignatureId, Space, Symbol, SymbolId, Use, Used,
};
use stan_model::outline::{LineStarts, Outline, Span};

/// Start and end of a node in its block.
pub(super) type Key = (u32, u32);

pub(super) fn key(span: OxcSpan) -> Key {
    (span.start, span.end)
}

/// The state of a walk.
pub(super) struct DeclarationWalk<'w> {
    pub(super) scoping: &'w Scoping,
    pub(super) outline: &'w Outline,
    pub(super) lines: &'w LineStarts,
    pub(super) names: &'w mut FileNames,
    /// The start of the block in the file.
    pub(super) base: u32,
    /// The index of the block's first symbol in `names`.
    pub(super) first_symbol: u32,
    /// The recipes for `this`, innermost last.
    pub(super) this: Vec<RecipeId>,
    /// The enclosing classes and interfaces, for `super` and the type `this`.
    pub(super) classes: Vec<ShapeId>,
    /// The written result types of the enclosing functions.
    pub(super) results: Vec<RecipeId>,
    /// The expected types of literals and function expressions.
    pub(super) contexts: FxHashMap<Key, RecipeId>,
    pub(super) values: FxHashMap<Key, RecipeId>,
    pub(super) types: FxHashMap<Key, RecipeId>,
    pub(super) shapes: FxHashMap<Key, ShapeId>,
    pub(super) signatures: FxHashMap<Key, SignatureId>,
    /// The positions of declared names.
    pub(super) declared: FxHashSet<u32>,
    /// In `declare` blocks and declaration files, everything is exported.
    pub(super) ambient: bool,
    /// The next function is a method, so its `this` is that of the class.
    pub(super) is_method: bool,
    /// The element type for the variable of a `for … of`.
    pub(super) loop_element: Option<RecipeId>,
    /// Inside `typeof x` in a type, where names are values.
    pub(super) in_type_query: bool,
}

impl<'w> DeclarationWalk<'w> {
    pub(super) fn new(
        scoping: &'w Scoping,
        outline: &'w Outline,
        lines: &'w LineStarts,
        names: &'w mut FileNames,
        base: u32,
    ) -> Self {
        let first_symbol = names.symbols.len() as u32;
        let symbols = scoping.symbol_ids().map(|id| scoping.symbol_name(id));
        names.symbols.extend(symbols.map(|name| Symbol { name: name.into(), declarations: Vec::new() }));
        Self {
            scoping,
            outline,
            lines,
            names,
            base,
            first_symbol,
            this: Vec::new(),
            classes: Vec::new(),
            results: Vec::new(),
            contexts: FxHashMap::default(),
            values: FxHashMap::default(),
            types: FxHashMap::default(),
            shapes: FxHashMap::default(),
            signatures: FxHashMap::default(),
            declared: FxHashSet::default(),
            ambient: false,
            is_method: false,
            loop_element: None,
            in_type_query: false,
        }
    }

    pub(super) fn span(&self, span: OxcSpan) -> Span {
        Span::new(self.base + span.start, self.base + span.end)
    }

    pub(super) fn recipe(&mut self, recipe: Recipe) -> RecipeId {
        let id = RecipeId(self.names.recipes.len() as u32);
        self.names.recipes.push(recipe);
        id
    }

    /// A recipe for a step from another recipe; unknown if that one is unknown.
    pub(super) fn step(&mut self, base: RecipeId, step: impl FnOnce(RecipeId) -> Recipe) -> RecipeId {
        if base == RecipeId::UNKNOWN { base } else { self.recipe(step(base)) }
    }

    pub(super) fn any(&mut self, mut parts: Vec<RecipeId>) -> RecipeId {
        parts.retain(|part| *part != RecipeId::UNKNOWN);
        match parts.as_slice() {
            [] => RecipeId::UNKNOWN,
            [one] => *one,
            _ => self.recipe(Recipe::Any(parts)),
        }
    }

    /// The symbol that a binding declares.
    pub(super) fn symbol_of(&self, id: &BindingIdentifier<'_>) -> Option<SymbolId> {
        let symbol = id.symbol_id.get()?;
        Some(SymbolId(self.first_symbol + symbol.index() as u32))
    }

    /// The symbol that a reference is bound to; `None` for a name that the block does not declare.
    pub(super) fn symbol_at(&self, reference: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = self.scoping.get_reference(reference.reference_id.get()?);
        Some(SymbolId(self.first_symbol + reference.symbol_id()?.index() as u32))
    }

    /// A symbol for an export without a name in the file.
    pub(super) fn unnamed_symbol(&mut self, name: &str, declarations: Vec<DeclarationId>) -> SymbolId {
        let id = SymbolId(self.names.symbols.len() as u32);
        self.names.symbols.push(Symbol { name: name.into(), declarations });
        id
    }

    /// Adds a declaration without a symbol: a member, or an export without a name.
    pub(super) fn declare(&mut self, name: &str, span: OxcSpan, meaning: Meaning) -> DeclarationId {
        let span = self.span(span);
        let id = DeclarationId(self.names.declarations.len() as u32);
        self.names.declarations.push(Declared {
            name: name.into(),
            span,
            line: self.lines.line(span.start),
            unit: self.outline.innermost(span.start),
            meaning,
        });
        id
    }

    /// Declares the symbol of a binding that has type parameters.
    pub(super) fn bind_generic(
        &mut self,
        id: &BindingIdentifier<'_>,
        meaning: Meaning,
        parameters: Option<&TSTypeParameterDeclaration<'_>>,
    ) {
        let declaration = DeclarationId(self.names.declarations.len() as u32);
        self.bind(id, meaning);
        let symbols = parameters.map(|it| it.params.iter().filter_map(|one| self.symbol_of(&one.name)).collect());
        // If the block has no symbol for the binding, nothing was declared, and the id will belong to the next declaration.
        let is_bound = self.names.declarations.len() > declaration.0 as usize;
        if let Some(symbols) = symbols.filter(|_| is_bound) {
            self.names.parameters.push((declaration, symbols));
        }
    }

    /// Declares the symbol of a binding.
    pub(super) fn bind(&mut self, id: &BindingIdentifier<'_>, meaning: Meaning) {
        let Some(symbol) = self.symbol_of(id) else { return };
        self.declared.insert(id.span.start);
        let declaration = self.declare(id.name.as_str(), id.span, meaning);
        if let Some(symbol) = self.names.symbols.get_mut(symbol.0 as usize) {
            symbol.declarations.push(declaration);
        }
    }

    pub(super) fn import(&mut self, specifier: &str, name: Imported, statement: OxcSpan) -> ImportId {
        let id = ImportId(self.names.imports.len() as u32);
        let statement = self.span(statement);
        self.names.imports.push(Import { specifier: specifier.into(), name, statement });
        id
    }

    /// The namespace of a module that is named in an expression or type: `import('x')`, `require('x')`.
    pub(super) fn module(&mut self, specifier: &str, name: Imported, span: OxcSpan) -> RecipeId {
        let import = self.import(specifier, name, span);
        let declaration = self.declare(specifier, span, Meaning::Import(import));
        let symbol = self.unnamed_symbol(specifier, vec![declaration]);
        self.recipe(Recipe::Value(symbol))
    }

    pub(super) fn note(&mut self, at: u32, space: Space, what: Used) {
        let at = self.base + at;
        self.names.uses.push(Use { at, line: self.lines.line(at), space, what });
    }

    pub(super) fn note_member(&mut self, base: RecipeId, name: &str, at: OxcSpan, space: Space) {
        self.note(at.start, space, Used::Member(base, name.into()));
    }

    /// Declares all names of a pattern; `ty` is the type of the destructured value.
    pub(super) fn pattern(&mut self, pattern: &BindingPattern<'_>, ty: RecipeId, signature: Option<SignatureId>) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => self.bind(id, Meaning::Value { ty, signature }),
            BindingPattern::AssignmentPattern(it) => {
                let ty = if ty == RecipeId::UNKNOWN { self.value(&it.right) } else { ty };
                self.pattern(&it.left, ty, None);
            }
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    let part = match property.key.static_name() {
                        Some(name) if !property.computed => {
                            self.note_member(ty, &name, property.key.span(), Space::Value);
                            self.step(ty, |ty| Recipe::Member(ty, name.as_ref().into()))
                        }
                        _ => RecipeId::UNKNOWN,
                    };
                    self.pattern(&property.value, part, None);
                }
                if let Some(rest) = &it.rest {
                    // A rest has fewer members than the whole value. Code that compiles does not use the missing ones.
                    self.pattern(&rest.argument, ty, None);
                }
            }
            BindingPattern::ArrayPattern(it) => {
                let element = self.step(ty, Recipe::Element);
                it.elements.iter().flatten().for_each(|part| self.pattern(part, element, None));
                if let Some(rest) = &it.rest {
                    self.pattern(&rest.argument, ty, None);
                }
            }
        }
    }

    /// Sets the expected type of a literal or function.
    pub(super) fn expect(&mut self, value: &Expression<'_>, expected: RecipeId) {
        if expected == RecipeId::UNKNOWN {
            return;
        }
        match value {
            Expression::ObjectExpression(it) => drop(self.contexts.insert(key(it.span), expected)),
            Expression::ArrowFunctionExpression(it) => drop(self.contexts.insert(key(it.span), expected)),
            Expression::FunctionExpression(it) => drop(self.contexts.insert(key(it.span), expected)),
            Expression::ParenthesizedExpression(it) => self.expect(&it.expression, expected),
            Expression::ConditionalExpression(it) => {
                self.expect(&it.consequent, expected);
                self.expect(&it.alternate, expected);
            }
            Expression::LogicalExpression(it) => {
                self.expect(&it.left, expected);
                self.expect(&it.right, expected);
            }
            Expression::ArrayExpression(it)
                if it.elements.iter().any(|part| part.as_expression().is_some_and(takes_context)) =>
            {
                let element = self.step(expected, Recipe::Element);
                let parts = it.elements.iter().filter_map(|part| part.as_expression());
                parts.for_each(|part| self.expect(part, element));
            }
            _ => {}
        }
    }

    pub(super) fn arguments(&mut self, callee: &Expression<'_>, arguments: &[Argument<'_>]) {
        for (argument, index) in arguments.iter().zip(0..) {
            if let Some(value) = argument.as_expression().filter(|value| takes_context(value)) {
                // The library's declarations are not read, so its callbacks are recognised by method names.
                let library = self.library_argument(callee, value.span()).unwrap_or(RecipeId::UNKNOWN);
                let callee = self.value(callee);
                let expected = self.step(callee, |callee| Recipe::Argument(callee, index));
                let expected = self.any(vec![expected, library]);
                self.expect(value, expected);
            }
        }
    }

    /// Declares parameters; `context` is the expected type of the function.
    pub(super) fn parameters(&mut self, parameters: &FormalParameters<'_>, context: Option<RecipeId>) {
        for (parameter, index) in parameters.items.iter().zip(0..) {
            let written = parameter.type_annotation.as_ref().map(|it| self.ty(&it.type_annotation));
            if let (Some(ty), Some(value)) = (written, &parameter.initializer) {
                self.expect(value, ty);
            }
            let ty = match (written, &parameter.initializer, context) {
                (Some(ty), ..) => ty,
                (None, Some(value), _) => self.value(value),
                (None, None, Some(context)) => self.step(context, |context| Recipe::Parameter(context, index)),
                _ => RecipeId::UNKNOWN,
            };
            self.pattern(&parameter.pattern, ty, None);
        }
        if let Some(rest) = &parameters.rest {
            let ty = rest.type_annotation.as_ref().map_or(RecipeId::UNKNOWN, |it| self.ty(&it.type_annotation));
            self.pattern(&rest.rest.argument, ty, None);
        }
    }

    /// The expected type of `return` values. The written type of an async function is a promise of it; for other functions,
    /// `Await` changes nothing.
    pub(super) fn result(&mut self, annotation: Option<&TSTypeAnnotation<'_>>) -> RecipeId {
        let ty = annotation.map_or(RecipeId::UNKNOWN, |it| self.ty(&it.type_annotation));
        self.step(ty, Recipe::Await)
    }

    /// A variable with the value `require('x')` binds names as an import does.
    pub(super) fn required(&mut self, it: &VariableDeclarator<'_>) -> bool {
        let Some(Expression::CallExpression(call)) = &it.init else { return false };
        let Some(specifier) = self.required_module(call) else { return false };
        match &it.id {
            BindingPattern::BindingIdentifier(id) => {
                let import = self.import(specifier, Imported::Whole, it.span);
                self.bind(id, Meaning::Import(import));
            }
            BindingPattern::ObjectPattern(pattern) if pattern.rest.is_none() => {
                // With a rest, the remaining names cannot be listed, so the module is destructured as a value.
                for property in &pattern.properties {
                    let (Some(name), BindingPattern::BindingIdentifier(id)) =
                        (property.key.static_name(), &property.value)
                    else {
                        continue;
                    };
                    let import = self.import(specifier, Imported::Name(name.as_ref().into()), it.span);
                    self.bind(id, Meaning::Import(import));
                }
            }
            _ => return false,
        }
        true
    }

    /// The specifier of a call to the global `require`.
    pub(super) fn required_module<'e>(&self, call: &'e CallExpression<'_>) -> Option<&'e str> {
        let Expression::Identifier(callee) = &call.callee else { return None };
        match call.arguments.first() {
            Some(Argument::StringLiteral(it)) if callee.name == "require" && self.symbol_at(callee).is_none() => {
                Some(it.value.as_str())
            }
            _ => None,
        }
    }
}

/// Whether an expected type matters for this kind of expression.
pub(super) fn takes_context(value: &Expression<'_>) -> bool {
    matches!(
        value,
        Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::ParenthesizedExpression(_)
            | Expression::ConditionalExpression(_)
            | Expression::LogicalExpression(_)
    )
}
