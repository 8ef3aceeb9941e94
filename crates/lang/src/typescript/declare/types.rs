//! Recipes for written types, and the shapes of classes, interfaces, enums, namespaces and type literals.

use oxc_ast::ast::*;
use oxc_span::GetSpan;
use stan_model::names::{DeclarationId, Imported, Meaning, Member, Recipe, RecipeId, Shape, ShapeId, ShapeKind, Space};

use super::exports::exported_bindings;
use super::values::empty;
use super::walk::{DeclarationWalk, key};

impl DeclarationWalk<'_> {
    pub(super) fn ty(&mut self, ty: &TSType<'_>) -> RecipeId {
        let at = key(ty.span());
        if let Some(known) = self.types.get(&at) {
            return *known;
        }
        // The walk requests the recipe of the same type several times, so that recipes are cached.
        let recipe = self.new_type(ty);
        self.types.insert(at, recipe);
        recipe
    }

    fn new_type(&mut self, ty: &TSType<'_>) -> RecipeId {
        match ty {
            TSType::TSTypeReference(it) => self.named_type(&it.type_name, it.type_arguments.as_deref()),
            TSType::TSParenthesizedType(it) => self.ty(&it.type_annotation),
            TSType::TSTypeOperatorType(it) => self.ty(&it.type_annotation),
            TSType::JSDocNullableType(it) => self.ty(&it.type_annotation),
            TSType::JSDocNonNullableType(it) => self.ty(&it.type_annotation),
            TSType::TSUnionType(it) => self.all_of(&it.types),
            TSType::TSIntersectionType(it) => self.all_of(&it.types),
            TSType::TSConditionalType(it) => {
                let parts = vec![self.ty(&it.true_type), self.ty(&it.false_type)];
                self.any(parts)
            }
            TSType::TSArrayType(it) => {
                let element = self.ty(&it.element_type);
                self.step(element, Recipe::List)
            }
            TSType::TSTupleType(it) => {
                // Positions are ignored: a tuple is a list of any of its element types.
                let mut parts = Vec::new();
                for element in &it.element_types {
                    let element = self.tuple_element(element);
                    parts.push(self.step(element, Recipe::List));
                }
                self.any(parts)
            }
            TSType::TSTypeLiteral(it) => {
                let shape = self.literal_shape(it);
                self.recipe(Recipe::Instance(shape))
            }
            TSType::TSFunctionType(it) => {
                let parameters = self.parameter_types(&it.params);
                let result = Some(self.ty(&it.return_type.type_annotation));
                let signature = self.add_signature(it.span, parameters, result);
                self.recipe(Recipe::Function(signature))
            }
            TSType::TSConstructorType(it) => {
                let parameters = self.parameter_types(&it.params);
                let result = Some(self.ty(&it.return_type.type_annotation));
                let signature = self.add_signature(it.span, parameters, result);
                self.recipe(Recipe::Function(signature))
            }
            TSType::TSTypeQuery(it) => match &it.expr_name {
                TSTypeQueryExprName::TSImportType(it) => self.import_type(it, false),
                name => name.as_ts_type_name().map_or(RecipeId::UNKNOWN, |name| self.type_name_value(name)),
            },
            TSType::TSThisType(_) => match self.classes.last() {
                Some(shape) => self.recipe(Recipe::Instance(*shape)),
                None => RecipeId::UNKNOWN,
            },
            TSType::TSIndexedAccessType(it) => self.indexed_type(it),
            TSType::TSImportType(it) => self.import_type(it, true),
            _ => RecipeId::UNKNOWN,
        }
    }

    fn all_of(&mut self, types: &[TSType<'_>]) -> RecipeId {
        let parts = types.iter().map(|ty| self.ty(ty)).collect();
        self.any(parts)
    }

    fn tuple_element(&mut self, element: &TSTupleElement<'_>) -> RecipeId {
        match element {
            TSTupleElement::TSOptionalType(it) => self.ty(&it.type_annotation),
            TSTupleElement::TSRestType(it) => self.ty(&it.type_annotation),
            TSTupleElement::TSNamedTupleMember(it) => self.tuple_element(&it.element_type),
            element => element.as_ts_type().map_or(RecipeId::UNKNOWN, |ty| self.ty(ty)),
        }
    }

    fn indexed_type(&mut self, it: &TSIndexedAccessType<'_>) -> RecipeId {
        let base = self.ty(&it.object_type);
        match &it.index_type {
            TSType::TSLiteralType(literal) => match &literal.literal {
                TSLiteral::StringLiteral(name) => {
                    self.step(base, |base| Recipe::Member(base, name.value.as_str().into()))
                }
                _ => self.step(base, Recipe::Element),
            },
            TSType::TSNumberKeyword(_) => self.step(base, Recipe::Element),
            _ => RecipeId::UNKNOWN,
        }
    }

    pub(super) fn named_type(
        &mut self,
        name: &TSTypeName<'_>,
        arguments: Option<&TSTypeParameterInstantiation<'_>>,
    ) -> RecipeId {
        let arguments = arguments.map(|it| it.params.iter().map(|ty| self.ty(ty)).collect()).unwrap_or_default();
        match name {
            TSTypeName::IdentifierReference(it) => match self.symbol_at(it) {
                Some(symbol) => self.recipe(Recipe::Type { symbol, arguments }),
                None => self.library_type(it.name.as_str(), arguments),
            },
            TSTypeName::QualifiedName(it) => {
                let base = self.type_name_value(&it.left);
                let name = it.right.name.as_str().into();
                self.step(base, |base| Recipe::TypeMember { base, name, arguments })
            }
            TSTypeName::ThisExpression(_) => self.this.last().copied().unwrap_or(RecipeId::UNKNOWN),
        }
    }

    /// A type that the file does not declare. Of the language's library, only types that pass on their argument matter: members
    /// of library types are never shown.
    fn library_type(&mut self, name: &str, arguments: Vec<RecipeId>) -> RecipeId {
        let argument = |index: usize| arguments.get(index).copied().unwrap_or(RecipeId::UNKNOWN);
        match name {
            "Partial" | "Readonly" | "Required" | "NonNullable" | "Pick" | "Omit" | "Exclude" | "Extract"
            | "Awaited" | "NoInfer" | "ThisType" => argument(0),
            "Array"
            | "ReadonlyArray"
            | "Set"
            | "ReadonlySet"
            | "WeakSet"
            | "Iterable"
            | "Iterator"
            | "Generator"
            | "AsyncIterable"
            | "AsyncIterator"
            | "AsyncGenerator"
            | "IterableIterator"
            | "AsyncIterableIterator"
            | "ArrayLike" => {
                let element = argument(0);
                self.step(element, Recipe::List)
            }
            "Map" | "ReadonlyMap" | "WeakMap" | "Record" => {
                let element = argument(1);
                self.step(element, Recipe::List)
            }
            "Promise" | "PromiseLike" => {
                let later = argument(0);
                self.step(later, Recipe::Promise)
            }
            "ReturnType" => {
                let function = argument(0);
                self.step(function, Recipe::Call)
            }
            "InstanceType" => {
                let class = argument(0);
                self.step(class, Recipe::New)
            }
            _ => self.recipe(Recipe::Global { name: name.into(), arguments }),
        }
    }

    /// The value or namespace with the name of a type.
    pub(super) fn type_name_value(&mut self, name: &TSTypeName<'_>) -> RecipeId {
        match name {
            TSTypeName::IdentifierReference(it) => self.name_value(it),
            TSTypeName::QualifiedName(it) => {
                let base = self.type_name_value(&it.left);
                self.step(base, |base| Recipe::Member(base, it.right.name.as_str().into()))
            }
            TSTypeName::ThisExpression(_) => self.this.last().copied().unwrap_or(RecipeId::UNKNOWN),
        }
    }

    fn import_type(&mut self, it: &TSImportType<'_>, as_type: bool) -> RecipeId {
        let module = self.imported_module(it);
        let Some(qualifier) = &it.qualifier else { return module };
        let arguments = it.type_arguments.as_ref();
        let arguments = arguments.map(|it| it.params.iter().map(|ty| self.ty(ty)).collect()).unwrap_or_default();
        let (base, name) = match qualifier {
            TSImportTypeQualifier::Identifier(it) => (module, it.name),
            TSImportTypeQualifier::QualifiedName(it) => (self.qualifier_value(module, &it.left), it.right.name),
        };
        let name = name.as_str().into();
        self.step(
            base,
            |base| {
                if as_type { Recipe::TypeMember { base, name, arguments } } else { Recipe::Member(base, name) }
            },
        )
    }

    /// The module of an import type. Bound once per file, no matter how often it is used.
    fn imported_module(&mut self, it: &TSImportType<'_>) -> RecipeId {
        let at = key(it.source.span);
        if let Some(known) = self.values.get(&at) {
            return *known;
        }
        let module = self.module(it.source.value.as_str(), Imported::Namespace, it.source.span);
        self.values.insert(at, module);
        module
    }

    fn qualifier_value(&mut self, module: RecipeId, qualifier: &TSImportTypeQualifier<'_>) -> RecipeId {
        match qualifier {
            TSImportTypeQualifier::Identifier(it) => {
                self.step(module, |base| Recipe::Member(base, it.name.as_str().into()))
            }
            TSImportTypeQualifier::QualifiedName(it) => {
                let base = self.qualifier_value(module, &it.left);
                self.step(base, |base| Recipe::Member(base, it.right.name.as_str().into()))
            }
        }
    }

    pub(super) fn import_type_uses(&mut self, it: &TSImportType<'_>) {
        let module = self.imported_module(it);
        let mut qualifier = it.qualifier.as_ref();
        while let Some(part) = qualifier {
            let (base, name, rest) = match part {
                TSImportTypeQualifier::Identifier(it) => (module, it.as_ref(), None),
                TSImportTypeQualifier::QualifiedName(it) => {
                    (self.qualifier_value(module, &it.left), &it.right, Some(&it.left))
                }
            };
            self.note_member(base, name.name.as_str(), name.span, Space::Type);
            qualifier = rest;
        }
    }

    pub(super) fn this_of_element(&mut self, is_static: bool) -> RecipeId {
        match self.classes.last() {
            Some(shape) if is_static => self.recipe(Recipe::Static(*shape)),
            Some(shape) => self.recipe(Recipe::Instance(*shape)),
            None => RecipeId::UNKNOWN,
        }
    }

    pub(super) fn class_shape(&mut self, it: &Class<'_>) -> ShapeId {
        if let Some(known) = self.shapes.get(&key(it.span)) {
            return *known;
        }
        let position = it.id.as_ref().map_or(it.span.start, |id| id.span.start);
        let unit = self.outline.innermost(self.base + position);
        let symbol = it.id.as_ref().and_then(|id| self.symbol_of(id));
        let shape = self.add_shape(it.span, Shape { unit, symbol, ..empty(ShapeKind::Class) });
        let extends = it.heritage.as_ref().map(|heritage| self.value(&heritage.expression)).into_iter().collect();
        let mut bases: Vec<RecipeId> = self.extended_type(it).into_iter().collect();
        for it in &it.implements {
            bases.push(self.named_type(&it.expression, it.type_arguments.as_deref()));
        }
        // Set after the shape was added: an expression in the heritage clause may refer to this class.
        let known = &mut self.names.shapes[shape.0 as usize];
        (known.extends, known.bases) = (extends, bases);
        self.classes.push(shape);
        let mut members = Vec::new();
        for element in &it.body.body {
            let this = self.this_of_element(element.r#static());
            self.this.push(this);
            self.class_member(shape, element, &mut members);
            self.this.pop();
        }
        self.classes.pop();
        self.set_members(shape, members);
        shape
    }

    /// The superclass with its type arguments, as a type: its value has no type arguments.
    fn extended_type(&mut self, it: &Class<'_>) -> Option<RecipeId> {
        let heritage = it.heritage.as_ref()?;
        let Expression::Identifier(name) = &heritage.expression else { return None };
        let (arguments, symbol) = (heritage.type_arguments.as_ref()?, self.symbol_at(name)?);
        let arguments = arguments.params.iter().map(|ty| self.ty(ty)).collect();
        Some(self.recipe(Recipe::Type { symbol, arguments }))
    }

    fn class_member(&mut self, shape: ShapeId, element: &ClassElement<'_>, members: &mut Vec<Member>) {
        let (key, meaning) = match element {
            ClassElement::MethodDefinition(it) => {
                let signature = self.signature_of_function(&it.value);
                if it.kind == MethodDefinitionKind::Constructor {
                    self.names.shapes[shape.0 as usize].constructs.push(signature);
                    self.parameter_properties(&it.value.params, members);
                }
                let ty = match it.kind {
                    MethodDefinitionKind::Get => self.getter_result(Some(signature)),
                    _ => RecipeId::UNKNOWN,
                };
                (&it.key, Meaning::Value { ty, signature: Some(signature) })
            }
            ClassElement::PropertyDefinition(it) => {
                (&it.key, self.property(it.type_annotation.as_deref(), it.value.as_ref()))
            }
            ClassElement::AccessorProperty(it) => {
                (&it.key, self.property(it.type_annotation.as_deref(), it.value.as_ref()))
            }
            ClassElement::StaticBlock(_) | ClassElement::TSIndexSignature(_) => return,
        };
        let is_static = element.r#static();
        self.add_member(key, meaning, is_static, members);
    }

    fn property(&mut self, annotation: Option<&TSTypeAnnotation<'_>>, value: Option<&Expression<'_>>) -> Meaning {
        let signature = value.filter(|_| annotation.is_none()).and_then(|value| self.function_signature(value));
        let ty = match (annotation, value) {
            (Some(annotation), _) => self.ty(&annotation.type_annotation),
            (None, Some(value)) => self.value(value),
            (None, None) => RecipeId::UNKNOWN,
        };
        Meaning::Value { ty, signature }
    }

    /// `constructor(private a: A)` declares a member.
    fn parameter_properties(&mut self, parameters: &FormalParameters<'_>, members: &mut Vec<Member>) {
        for parameter in &parameters.items {
            let is_property = parameter.accessibility.is_some() || parameter.readonly || parameter.r#override;
            if let (true, BindingPattern::BindingIdentifier(id)) = (is_property, &parameter.pattern) {
                let meaning = self.property(parameter.type_annotation.as_deref(), parameter.initializer.as_deref());
                let declaration = self.declare(id.name.as_str(), id.span, meaning);
                members.push(Member { name: id.name.as_str().into(), declaration, is_static: false });
            }
        }
    }

    fn add_member(&mut self, key: &PropertyKey<'_>, meaning: Meaning, is_static: bool, members: &mut Vec<Member>) {
        let name = match key {
            PropertyKey::PrivateIdentifier(it) => format!("#{}", it.name),
            key => match key.static_name() {
                Some(name) => name.into_owned(),
                None => return,
            },
        };
        let declaration = self.declare(&name, key.span(), meaning);
        members.push(Member { name: name.into(), declaration, is_static });
    }

    pub(super) fn interface_shape(&mut self, it: &TSInterfaceDeclaration<'_>) -> ShapeId {
        let unit = self.outline.innermost(self.base + it.id.span.start);
        let symbol = self.symbol_of(&it.id);
        let bases = it.extends.iter();
        let bases = bases.map(|it| self.named_type(&it.type_name, it.type_arguments.as_deref())).collect();
        let shape = self.add_shape(it.span, Shape { unit, symbol, bases, ..empty(ShapeKind::Interface) });
        self.classes.push(shape);
        self.signature_members(shape, &it.body.body);
        self.classes.pop();
        shape
    }

    fn literal_shape(&mut self, it: &TSTypeLiteral<'_>) -> ShapeId {
        let shape = self.add_shape(it.span, empty(ShapeKind::TypeLiteral));
        self.signature_members(shape, &it.members);
        shape
    }

    fn signature_members(&mut self, shape: ShapeId, signatures: &[TSSignature<'_>]) {
        let mut members = Vec::new();
        for signature in signatures {
            match signature {
                TSSignature::TSPropertySignature(it) => {
                    let meaning = self.property(it.type_annotation.as_deref(), None);
                    self.add_member(&it.key, meaning, false, &mut members);
                }
                TSSignature::TSMethodSignature(it) => {
                    let parameters = self.parameter_types(&it.params);
                    let result = it.return_type.as_ref().map(|ty| self.ty(&ty.type_annotation));
                    let signature = self.add_signature(it.span, parameters, result);
                    let ty = match it.kind {
                        TSMethodSignatureKind::Get => self.getter_result(Some(signature)),
                        _ => RecipeId::UNKNOWN,
                    };
                    let meaning = Meaning::Value { ty, signature: Some(signature) };
                    self.add_member(&it.key, meaning, false, &mut members);
                }
                TSSignature::TSCallSignatureDeclaration(it) => {
                    let parameters = self.parameter_types(&it.params);
                    let result = it.return_type.as_ref().map(|ty| self.ty(&ty.type_annotation));
                    let signature = self.add_signature(it.span, parameters, result);
                    self.names.shapes[shape.0 as usize].calls.push(signature);
                }
                TSSignature::TSConstructSignatureDeclaration(it) => {
                    let parameters = self.parameter_types(&it.params);
                    let result = it.return_type.as_ref().map(|ty| self.ty(&ty.type_annotation));
                    let signature = self.add_signature(it.span, parameters, result);
                    self.names.shapes[shape.0 as usize].constructs.push(signature);
                }
                TSSignature::TSIndexSignature(_) => {}
            }
        }
        self.set_members(shape, members);
    }

    pub(super) fn enum_shape(&mut self, it: &TSEnumDeclaration<'_>) -> ShapeId {
        let unit = self.outline.innermost(self.base + it.id.span.start);
        let symbol = self.symbol_of(&it.id);
        let shape = self.add_shape(it.span, Shape { unit, symbol, ..empty(ShapeKind::Enum) });
        let mut members = Vec::new();
        for member in &it.body.members {
            let name = member.id.static_name();
            let meaning = Meaning::Value { ty: RecipeId::UNKNOWN, signature: None };
            let declaration = self.declare(name.as_str(), member.id.span(), meaning);
            members.push(Member { name: name.as_str().into(), declaration, is_static: true });
        }
        self.set_members(shape, members);
        shape
    }

    pub(super) fn namespace_shape(&mut self, it: &TSNamespaceDeclaration<'_>) -> ShapeId {
        let unit = self.outline.innermost(self.base + it.id.span.start);
        let symbol = self.symbol_of(&it.id);
        self.add_shape(it.span, Shape { unit, symbol, ..empty(ShapeKind::Namespace) })
    }

    /// Sets the members of a namespace to its exports, once its declarations are known.
    pub(super) fn namespace_members(&mut self, it: &TSNamespaceDeclaration<'_>, shape: ShapeId) {
        let mut members = Vec::new();
        match &it.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => self.export_member(&inner.id, &mut members),
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                let ambient = it.declare || self.ambient;
                for statement in &block.body {
                    exported_bindings(statement, ambient, &mut |id| self.export_member(id, &mut members));
                }
            }
        }
        // Merged declarations are exported by every statement that declares their name.
        members.sort_by(|one: &Member, other| (&one.name, one.declaration).cmp(&(&other.name, other.declaration)));
        members.dedup();
        self.set_members(shape, members);
    }

    fn export_member(&mut self, id: &BindingIdentifier<'_>, members: &mut Vec<Member>) {
        let symbol = self.symbol_of(id).and_then(|symbol| self.names.symbol(symbol));
        let declarations: Vec<DeclarationId> = symbol.map(|symbol| symbol.declarations.clone()).unwrap_or_default();
        let member = |declaration| Member { name: id.name.as_str().into(), declaration, is_static: true };
        members.extend(declarations.into_iter().map(member));
    }
}
