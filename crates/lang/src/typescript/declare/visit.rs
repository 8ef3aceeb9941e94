//! The order of the walk over a block: each node declares its symbols, records its uses and sets the expected types of its parts,
//! before these are walked.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;
use stan_model::facts::DEFAULT_EXPORT;
use stan_model::names::{Imported, Meaning, Recipe, RecipeId, Space, Used};

use super::walk::{DeclarationWalk, key, takes_context};

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
        // A binding that no rule above declares: the variable of a `catch`, parameters in types. It is a name without members.
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
            // A written type takes precedence: the assigned function may have fewer parameters.
            self.pattern(&it.id, ty, signature.filter(|_| written.is_none()));
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if let ForStatementLeft::VariableDeclaration(_) = &it.left {
            let list = self.value(&it.right);
            // Passed to the declarator, which is visited next and has no initializer.
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
        // The `this` of a method is that of its class, pushed by the enclosing element.
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
        // If the method's function was not visited, the flag must not apply to the next function.
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
        // Not earlier: the members are the declarations that the walk has just added.
        self.namespace_members(it, shape);
        self.ambient = before;
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        // `declare module` exports its declarations, with or without `export`.
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
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Imported::Name(DEFAULT_EXPORT.into()),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => Imported::Namespace,
            };
            let import = self.import(it.source.value.as_str(), name, it.span);
            self.bind(specifier.local(), Meaning::Import(import));
        }
        // Not walked further: an import uses no names.
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
                // A key is a use of the member in the expected type: that member explains an error at the key.
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
