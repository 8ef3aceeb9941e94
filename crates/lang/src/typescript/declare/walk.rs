//! One walk over a block that declares every symbol and records every use. What an expression or type means is written
//! as a recipe in `values.rs` and `types.rs`; nothing is followed here.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span as OxcSpan};
use oxc_syntax::scope::ScopeFlags;
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
    /// Where the block starts in the file.
    pub(super) base: u32,
    /// Symbols of the block start here in `names`.
    pub(super) first_symbol: u32,
    /// What `this` is, innermost last.
    pub(super) this: Vec<RecipeId>,
    /// Classes and interfaces around, for `super` and the type `this`.
    pub(super) classes: Vec<ShapeId>,
    /// Written results of the functions around.
    pub(super) results: Vec<RecipeId>,
    /// What the place of a literal or function expression expects.
    pub(super) contexts: FxHashMap<Key, RecipeId>,
    pub(super) values: FxHashMap<Key, RecipeId>,
    pub(super) types: FxHashMap<Key, RecipeId>,
    pub(super) shapes: FxHashMap<Key, ShapeId>,
    pub(super) signatures: FxHashMap<Key, SignatureId>,
    /// Positions of names that are declared.
    pub(super) declared: FxHashSet<u32>,
    /// Inside `declare` blocks and declaration files everything is exported.
    pub(super) ambient: bool,
    /// The next function is a method: `this` is that of the class.
    is_method: bool,
    /// What a `for … of` gives its variable.
    loop_element: Option<RecipeId>,
    /// Inside `typeof x` in a type, where names are values.
    in_type_query: bool,
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

    /// A step from another recipe; a step from an unknown one is unknown.
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

    /// A symbol for an export that has no name in the file.
    pub(super) fn unnamed_symbol(&mut self, name: &str, declarations: Vec<DeclarationId>) -> SymbolId {
        let id = SymbolId(self.names.symbols.len() as u32);
        self.names.symbols.push(Symbol { name: name.into(), declarations });
        id
    }

    /// Adds a declaration that belongs to no symbol: a member, or an export without a name.
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
    fn bind_generic(
        &mut self,
        id: &BindingIdentifier<'_>,
        meaning: Meaning,
        parameters: Option<&TSTypeParameterDeclaration<'_>>,
    ) {
        let declaration = DeclarationId(self.names.declarations.len() as u32);
        self.bind(id, meaning);
        let symbols = parameters.map(|it| it.params.iter().filter_map(|one| self.symbol_of(&one.name)).collect());
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

    /// The namespace of a module that is named in place: `import('x')`, `require('x')`.
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

    /// Declares all names of a pattern, given what the whole pattern takes apart.
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

    /// Notes what a place expects, for the literals and functions that stand there.
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

    fn arguments(&mut self, callee: &Expression<'_>, arguments: &[Argument<'_>]) {
        for (argument, index) in arguments.iter().zip(0..) {
            if let Some(value) = argument.as_expression().filter(|value| takes_context(value)) {
                let library = self.library_argument(callee, value.span()).unwrap_or(RecipeId::UNKNOWN);
                let callee = self.value(callee);
                let expected = self.step(callee, |callee| Recipe::Argument(callee, index));
                let expected = self.any(vec![expected, library]);
                self.expect(value, expected);
            }
        }
    }

    /// Declares parameters; `context` is what the place of the function expects.
    fn parameters(&mut self, parameters: &FormalParameters<'_>, context: Option<RecipeId>) {
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

    fn result(&mut self, annotation: Option<&TSTypeAnnotation<'_>>) -> RecipeId {
        let ty = annotation.map_or(RecipeId::UNKNOWN, |it| self.ty(&it.type_annotation));
        self.step(ty, Recipe::Await)
    }

    /// `require('x')` as the value of a variable binds names as an import does.
    fn required(&mut self, it: &VariableDeclarator<'_>) -> bool {
        let Some(Expression::CallExpression(call)) = &it.init else { return false };
        let Some(specifier) = self.required_module(call) else { return false };
        match &it.id {
            BindingPattern::BindingIdentifier(id) => {
                let import = self.import(specifier, Imported::Whole, it.span);
                self.bind(id, Meaning::Import(import));
            }
            BindingPattern::ObjectPattern(pattern) if pattern.rest.is_none() => {
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

    /// The specifier of a call of the global `require`.
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

/// Whether what a place expects says something about an expression there.
fn takes_context(value: &Expression<'_>) -> bool {
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

impl<'a> Visit<'a> for DeclarationWalk<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let flags = it.reference_id.get().map(|id| self.scoping.get_reference(id));
        let is_type = flags.is_some_and(|reference| reference.is_type() && !reference.is_value());
        let space = if is_type && !self.in_type_query { Space::Type } else { Space::Value };
        let what = match self.symbol_at(it) {
            Some(symbol) => Used::Name(symbol),
            None => Used::Global(it.name.as_str().into()),
        };
        self.note(it.span.start, space, what);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if !self.declared.contains(&it.span.start) {
            self.bind(it, Meaning::Value { ty: RecipeId::UNKNOWN, signature: None });
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let element = self.loop_element.take();
        if !self.required(it) {
            let written = it.type_annotation.as_ref().map(|annotation| self.ty(&annotation.type_annotation));
            if let (Some(ty), Some(value)) = (written, &it.init) {
                self.expect(value, ty);
            }
            let signature = it.init.as_ref().and_then(|value| self.function_signature(value));
            let ty = match (written, &it.init, element) {
                (Some(ty), ..) => ty,
                (None, Some(value), _) => self.value(value),
                (None, None, element) => element.unwrap_or(RecipeId::UNKNOWN),
            };
            self.pattern(&it.id, ty, signature.filter(|_| written.is_none()));
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if let ForStatementLeft::VariableDeclaration(_) = &it.left {
            let list = self.value(&it.right);
            self.loop_element = Some(self.step(list, Recipe::Element));
        }
        walk::walk_for_of_statement(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let is_method = std::mem::take(&mut self.is_method);
        let signature = self.signature_of_function(it);
        if let Some(id) = &it.id {
            let ty = RecipeId::UNKNOWN;
            self.bind(id, Meaning::Value { ty, signature: Some(signature) });
        }
        let context = self.contexts.get(&key(it.span)).copied();
        if !is_method {
            let this = it.this_param.as_ref().and_then(|it| it.type_annotation.as_ref());
            let this = this.map_or(RecipeId::UNKNOWN, |it| self.ty(&it.type_annotation));
            self.this.push(this);
        }
        let result = self.result(it.return_type.as_deref());
        self.results.push(result);
        self.parameters(&it.params, context);
        walk::walk_function(self, it, flags);
        self.results.pop();
        if !is_method {
            self.this.pop();
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let context = self.contexts.get(&key(it.span)).copied();
        let result = self.result(it.return_type.as_deref());
        if let Some(body) = it.body.as_expression() {
            self.expect(body, result);
        }
        self.results.push(result);
        self.parameters(&it.params, context);
        walk::walk_arrow_function_expression(self, it);
        self.results.pop();
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if let (Some(value), Some(result)) = (&it.argument, self.results.last().copied()) {
            self.expect(value, result);
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let shape = self.class_shape(it);
        if let Some(id) = &it.id {
            self.bind_generic(id, Meaning::Shape(shape), it.type_parameters.as_deref());
        }
        self.classes.push(shape);
        walk::walk_class(self, it);
        self.classes.pop();
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        let this = self.this_of_element(it.r#static() || matches!(it, ClassElement::StaticBlock(_)));
        self.this.push(this);
        match it {
            ClassElement::MethodDefinition(_) => self.is_method = true,
            ClassElement::PropertyDefinition(it) => {
                if let (Some(annotation), Some(value)) = (&it.type_annotation, &it.value) {
                    let ty = self.ty(&annotation.type_annotation);
                    self.expect(value, ty);
                }
            }
            _ => {}
        }
        walk::walk_class_element(self, it);
        self.is_method = false;
        self.this.pop();
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        let shape = self.interface_shape(it);
        self.bind_generic(&it.id, Meaning::Shape(shape), it.type_parameters.as_deref());
        self.classes.push(shape);
        walk::walk_ts_interface_declaration(self, it);
        self.classes.pop();
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        let ty = self.ty(&it.type_annotation);
        self.bind_generic(&it.id, Meaning::Alias(ty), it.type_parameters.as_deref());
        walk::walk_ts_type_alias_declaration(self, it);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        let shape = self.enum_shape(it);
        self.bind(&it.id, Meaning::Shape(shape));
        walk::walk_ts_enum_declaration(self, it);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        let shape = self.namespace_shape(it);
        self.bind(&it.id, Meaning::Shape(shape));
        let before = self.ambient;
        self.ambient |= it.declare;
        walk::walk_ts_namespace_declaration(self, it);
        self.namespace_members(it, shape);
        self.ambient = before;
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        let before = std::mem::replace(&mut self.ambient, true);
        walk::walk_ts_external_module_declaration(self, it);
        self.ambient = before;
    }

    fn visit_ts_global_declaration(&mut self, it: &TSGlobalDeclaration<'a>) {
        let before = std::mem::replace(&mut self.ambient, true);
        walk::walk_ts_global_declaration(self, it);
        self.ambient = before;
    }

    fn visit_ts_type_parameter(&mut self, it: &TSTypeParameter<'a>) {
        let constraint = it.constraint.as_ref().map_or(RecipeId::UNKNOWN, |constraint| self.ty(constraint));
        self.bind(&it.name, Meaning::TypeParameter(constraint));
        walk::walk_ts_type_parameter(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        for specifier in it.specifiers.iter().flatten() {
            let name = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => Imported::Name(it.imported.name().as_str().into()),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Imported::Name("default".into()),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => Imported::Namespace,
            };
            let import = self.import(it.source.value.as_str(), name, it.span);
            self.bind(specifier.local(), Meaning::Import(import));
        }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        let meaning = match &it.module_reference {
            TSModuleReference::ExternalModuleReference(reference) => {
                Meaning::Import(self.import(reference.expression.value.as_str(), Imported::Whole, it.span))
            }
            TSModuleReference::IdentifierReference(name) => match self.symbol_at(name) {
                Some(symbol) => Meaning::Same(symbol),
                None => Meaning::Value { ty: RecipeId::UNKNOWN, signature: None },
            },
            TSModuleReference::QualifiedName(name) => {
                let base = self.type_name_value(&name.left);
                let ty = self.step(base, |base| Recipe::Member(base, name.right.name.as_str().into()));
                Meaning::Value { ty, signature: None }
            }
        };
        self.bind(&it.id, meaning);
        walk::walk_ts_import_equals_declaration(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        let base = self.value(&it.object);
        self.note_member(base, it.property.name.as_str(), it.property.span, Space::Value);
        walk::walk_static_member_expression(self, it);
    }

    fn visit_private_field_expression(&mut self, it: &PrivateFieldExpression<'a>) {
        let base = self.value(&it.object);
        self.note_member(base, &format!("#{}", it.field.name), it.field.span, Space::Value);
        walk::walk_private_field_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if let Expression::StringLiteral(name) = &it.expression {
            let base = self.value(&it.object);
            self.note_member(base, name.value.as_str(), name.span, Space::Value);
        }
        walk::walk_computed_member_expression(self, it);
    }

    fn visit_ts_qualified_name(&mut self, it: &TSQualifiedName<'a>) {
        let base = self.type_name_value(&it.left);
        self.note_member(base, it.right.name.as_str(), it.right.span, Space::Type);
        walk::walk_ts_qualified_name(self, it);
    }

    fn visit_ts_type_query(&mut self, it: &TSTypeQuery<'a>) {
        let before = std::mem::replace(&mut self.in_type_query, true);
        self.visit_ts_type_query_expr_name(&it.expr_name);
        self.in_type_query = before;
        if let Some(arguments) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(arguments);
        }
    }

    fn visit_ts_import_type(&mut self, it: &TSImportType<'a>) {
        self.import_type_uses(it);
        if let Some(arguments) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(arguments);
        }
    }

    fn visit_ts_indexed_access_type(&mut self, it: &TSIndexedAccessType<'a>) {
        if let TSType::TSLiteralType(literal) = &it.index_type
            && let TSLiteral::StringLiteral(name) = &literal.literal
        {
            let base = self.ty(&it.object_type);
            self.note_member(base, name.value.as_str(), name.span, Space::Type);
        }
        walk::walk_ts_indexed_access_type(self, it);
    }

    fn visit_object_expression(&mut self, it: &ObjectExpression<'a>) {
        if let Some(context) = self.contexts.get(&key(it.span)).copied() {
            for property in it.properties.iter().filter_map(ObjectPropertyKind::as_property) {
                let Some(name) = property.key.static_name().filter(|_| !property.computed) else { continue };
                self.note_member(context, &name, property.key.span(), Space::Value);
                if takes_context(&property.value) {
                    let expected = self.step(context, |context| Recipe::Member(context, name.as_ref().into()));
                    self.expect(&property.value, expected);
                }
            }
        }
        walk::walk_object_expression(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.is_method = it.method || it.kind != PropertyKind::Init;
        walk::walk_object_property(self, it);
        self.is_method = false;
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.arguments(&it.callee, &it.arguments);
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.arguments(&it.callee, &it.arguments);
        walk::walk_new_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if takes_context(&it.right) {
            let expected = self.target_value(&it.left);
            self.expect(&it.right, expected);
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        let ty = self.ty(&it.type_annotation);
        self.expect(&it.expression, ty);
        walk::walk_ts_as_expression(self, it);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        let ty = self.ty(&it.type_annotation);
        self.expect(&it.expression, ty);
        walk::walk_ts_satisfies_expression(self, it);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let ty = self.ty(&it.type_annotation);
        self.expect(&it.expression, ty);
        walk::walk_ts_type_assertion(self, it);
    }

    fn visit_jsx_opening_element(&mut self, it: &JSXOpeningElement<'a>) {
        let tag = self.tag_value(&it.name);
        let props = self.step(tag, Recipe::Props);
        for attribute in it.attributes.iter().filter_map(JSXAttributeItem::as_attribute) {
            let JSXAttributeName::Identifier(name) = &attribute.name else { continue };
            self.note_member(props, name.name.as_str(), name.span, Space::Value);
            if let Some(JSXAttributeValue::ExpressionContainer(container)) = &attribute.value
                && let Some(value) = container.expression.as_expression()
            {
                let expected = self.step(props, |props| Recipe::Member(props, name.name.as_str().into()));
                self.expect(value, expected);
            }
        }
        walk::walk_jsx_opening_element(self, it);
    }

    fn visit_jsx_member_expression(&mut self, it: &JSXMemberExpression<'a>) {
        let base = self.tag_object(&it.object);
        self.note_member(base, it.property.name.as_str(), it.property.span, Space::Value);
        walk::walk_jsx_member_expression(self, it);
    }
}
