//! Recipes for expressions: how to find the type of an expression's value.

use oxc_ast::ast::*;
use oxc_span::GetSpan;
use stan_model::names::{
    Imported, Meaning, Member, Recipe, RecipeId, Shape, ShapeId, ShapeKind, Signature, SignatureId,
};

use super::walk::{DeclarationWalk, key};

/// How many elements of an array literal are inspected: they are usually alike.
const MAX_ELEMENTS: usize = 8;

impl DeclarationWalk<'_> {
    pub(super) fn value(&mut self, value: &Expression<'_>) -> RecipeId {
        let at = key(value.span());
        if let Some(known) = self.values.get(&at) {
            return *known;
        }
        let recipe = self.new_value(value);
        self.values.insert(at, recipe);
        recipe
    }

    fn new_value(&mut self, value: &Expression<'_>) -> RecipeId {
        match value {
            Expression::Identifier(it) => self.name_value(it),
            Expression::ThisExpression(_) => self.this.last().copied().unwrap_or(RecipeId::UNKNOWN),
            Expression::Super(_) => match self.classes.last() {
                Some(shape) => self.recipe(Recipe::Base(*shape)),
                None => RecipeId::UNKNOWN,
            },
            Expression::StaticMemberExpression(it) => self.member_value(&it.object, it.property.name.as_str()),
            Expression::PrivateFieldExpression(it) => self.member_value(&it.object, &format!("#{}", it.field.name)),
            Expression::ComputedMemberExpression(it) => self.computed_value(it),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(it) => self.call_value(it),
                ChainElement::TSNonNullExpression(it) => self.value(&it.expression),
                ChainElement::StaticMemberExpression(it) => self.member_value(&it.object, it.property.name.as_str()),
                ChainElement::PrivateFieldExpression(it) => {
                    self.member_value(&it.object, &format!("#{}", it.field.name))
                }
                ChainElement::ComputedMemberExpression(it) => self.computed_value(it),
            },
            Expression::CallExpression(it) => self.call_value(it),
            Expression::NewExpression(it) => {
                let callee = self.value(&it.callee);
                self.step(callee, Recipe::New)
            }
            Expression::AwaitExpression(it) => {
                let awaited = self.value(&it.argument);
                self.step(awaited, Recipe::Await)
            }
            Expression::ImportExpression(it) => match &it.source {
                Expression::StringLiteral(name) => self.module(name.value.as_str(), Imported::Namespace, it.span),
                _ => RecipeId::UNKNOWN,
            },
            other => self.composed_value(other),
        }
    }

    /// The value of an expression that consists of others: what it wraps, chooses or contains.
    fn composed_value(&mut self, value: &Expression<'_>) -> RecipeId {
        match value {
            Expression::ParenthesizedExpression(it) => self.value(&it.expression),
            Expression::TSNonNullExpression(it) => self.value(&it.expression),
            Expression::TSInstantiationExpression(it) => self.value(&it.expression),
            Expression::TSSatisfiesExpression(it) => self.value(&it.expression),
            Expression::TSAsExpression(it) => self.asserted(&it.expression, &it.type_annotation),
            Expression::TSTypeAssertion(it) => self.asserted(&it.expression, &it.type_annotation),
            Expression::ObjectExpression(it) => {
                let shape = self.object_shape(it);
                self.recipe(Recipe::Instance(shape))
            }
            Expression::ArrayExpression(it) => {
                let parts = it.elements.iter().filter_map(|part| part.as_expression()).take(MAX_ELEMENTS);
                let parts = parts.map(|part| self.value(part)).collect();
                let part = self.any(parts);
                self.step(part, Recipe::List)
            }
            Expression::ConditionalExpression(it) => {
                let parts = vec![self.value(&it.consequent), self.value(&it.alternate)];
                self.any(parts)
            }
            Expression::LogicalExpression(it) => {
                let parts = vec![self.value(&it.left), self.value(&it.right)];
                self.any(parts)
            }
            Expression::AssignmentExpression(it) => self.value(&it.right),
            Expression::SequenceExpression(it) => {
                it.expressions.last().map_or(RecipeId::UNKNOWN, |last| self.value(last))
            }
            Expression::ClassExpression(it) => {
                let shape = self.class_shape(it);
                self.recipe(Recipe::Static(shape))
            }
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                match self.function_signature(value) {
                    Some(signature) => self.recipe(Recipe::Function(signature)),
                    None => RecipeId::UNKNOWN,
                }
            }
            _ => RecipeId::UNKNOWN,
        }
    }

    pub(super) fn name_value(&mut self, it: &IdentifierReference<'_>) -> RecipeId {
        match self.symbol_at(it) {
            Some(symbol) => self.recipe(Recipe::Value(symbol)),
            None => RecipeId::UNKNOWN,
        }
    }

    fn member_value(&mut self, object: &Expression<'_>, name: &str) -> RecipeId {
        let base = self.value(object);
        self.step(base, |base| Recipe::Member(base, name.into()))
    }

    fn computed_value(&mut self, it: &ComputedMemberExpression<'_>) -> RecipeId {
        match &it.expression {
            Expression::StringLiteral(name) => self.member_value(&it.object, name.value.as_str()),
            _ => {
                let base = self.value(&it.object);
                self.step(base, Recipe::Element)
            }
        }
    }

    fn call_value(&mut self, it: &CallExpression<'_>) -> RecipeId {
        if let Some(specifier) = self.required_module(it) {
            return self.module(specifier, Imported::Whole, it.span);
        }
        let callee = self.value(&it.callee);
        let called = self.step(callee, Recipe::Call);
        let Expression::StaticMemberExpression(member) = &it.callee else { return called };
        // The results of methods of the library's lists, maps and promises. Calling them on anything else finds nothing.
        let object = || it.arguments.first().and_then(|argument| argument.as_expression());
        let base = match (&member.object, member.property.name.as_str()) {
            (Expression::Identifier(global), "freeze" | "seal" | "assign")
                if global.name == "Object" && self.symbol_at(global).is_none() =>
            {
                return object().map_or(RecipeId::UNKNOWN, |object| self.value(object));
            }
            (list, _) => self.value(list),
        };
        let given = match member.property.name.as_str() {
            "find" | "findLast" | "at" | "pop" | "shift" | "get" => self.step(base, Recipe::Element),
            "filter" | "slice" | "splice" | "concat" | "reverse" | "sort" | "toSorted" | "values" => {
                let element = self.step(base, Recipe::Element);
                self.step(element, Recipe::List)
            }
            _ => return called,
        };
        self.any(vec![called, given])
    }

    /// The type that a method of the library's lists and promises passes to its callback, or takes as its argument.
    pub(super) fn library_argument(&mut self, callee: &Expression<'_>, span: oxc_span::Span) -> Option<RecipeId> {
        let Expression::StaticMemberExpression(member) = callee else { return None };
        let base = self.value(&member.object);
        let part = match member.property.name.as_str() {
            "push" | "unshift" | "add" | "fill" => return Some(self.step(base, Recipe::Element)),
            "map" | "flatMap" | "forEach" | "filter" | "find" | "findIndex" | "findLast" | "some" | "every"
            | "sort" => self.step(base, Recipe::Element),
            "then" => self.step(base, Recipe::Await),
            _ => return None,
        };
        if part == RecipeId::UNKNOWN {
            return None;
        }
        // Both parameters: `sort` compares two elements.
        let signature = self.add_signature(oxc_span::Span::new(span.start, span.start), vec![part, part], None);
        Some(self.recipe(Recipe::Function(signature)))
    }

    /// `as const` does not change the members.
    fn asserted(&mut self, value: &Expression<'_>, ty: &TSType<'_>) -> RecipeId {
        match ty {
            TSType::TSTypeReference(it) if matches!(&it.type_name, TSTypeName::IdentifierReference(name) if name.name == "const") => {
                self.value(value)
            }
            ty => self.ty(ty),
        }
    }

    pub(super) fn target_value(&mut self, target: &AssignmentTarget<'_>) -> RecipeId {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(it) => self.name_value(it),
            AssignmentTarget::StaticMemberExpression(it) => self.member_value(&it.object, it.property.name.as_str()),
            AssignmentTarget::PrivateFieldExpression(it) => {
                self.member_value(&it.object, &format!("#{}", it.field.name))
            }
            AssignmentTarget::ComputedMemberExpression(it) => self.computed_value(it),
            _ => RecipeId::UNKNOWN,
        }
    }

    pub(super) fn tag_value(&mut self, tag: &JSXElementName<'_>) -> RecipeId {
        match tag {
            JSXElementName::IdentifierReference(it) => self.name_value(it),
            JSXElementName::MemberExpression(it) => {
                let base = self.tag_object(&it.object);
                self.step(base, |base| Recipe::Member(base, it.property.name.as_str().into()))
            }
            _ => RecipeId::UNKNOWN,
        }
    }

    pub(super) fn tag_object(&mut self, object: &JSXMemberExpressionObject<'_>) -> RecipeId {
        match object {
            JSXMemberExpressionObject::IdentifierReference(it) => self.name_value(it),
            JSXMemberExpressionObject::MemberExpression(it) => {
                let base = self.tag_object(&it.object);
                self.step(base, |base| Recipe::Member(base, it.property.name.as_str().into()))
            }
            JSXMemberExpressionObject::ThisExpression(_) => self.this.last().copied().unwrap_or(RecipeId::UNKNOWN),
        }
    }

    /// The signature of a function or arrow function expression.
    pub(super) fn function_signature(&mut self, value: &Expression<'_>) -> Option<SignatureId> {
        match value {
            Expression::ParenthesizedExpression(it) => self.function_signature(&it.expression),
            Expression::FunctionExpression(it) => Some(self.signature_of_function(it)),
            Expression::ArrowFunctionExpression(it) => {
                if let Some(known) = self.signatures.get(&key(it.span)) {
                    return Some(*known);
                }
                let parameters = self.parameter_types(&it.params);
                let result = match (&it.return_type, &it.body) {
                    (Some(ty), _) => Some(self.ty(&ty.type_annotation)),
                    (None, ArrowFunctionBody::FunctionBody(body)) => self.returned(body),
                    (None, body) => body.as_expression().map(|body| self.value(body)),
                };
                Some(self.add_signature(it.span, parameters, result))
            }
            _ => None,
        }
    }

    pub(super) fn signature_of_function(&mut self, it: &Function<'_>) -> SignatureId {
        if let Some(known) = self.signatures.get(&key(it.span)) {
            return *known;
        }
        let parameters = self.parameter_types(&it.params);
        let result = match (&it.return_type, &it.body) {
            (Some(ty), _) => Some(self.ty(&ty.type_annotation)),
            (None, Some(body)) if !it.generator => self.returned(body),
            _ => None,
        };
        self.add_signature(it.span, parameters, result)
    }

    /// The result of a function without a result type: the value of the `return` that ends its body, if that is the only one.
    fn returned(&mut self, body: &FunctionBody<'_>) -> Option<RecipeId> {
        match body.statements.last() {
            Some(Statement::ReturnStatement(it)) => it.argument.as_ref().map(|value| self.value(value)),
            _ => None,
        }
    }

    pub(super) fn parameter_types(&mut self, parameters: &FormalParameters<'_>) -> Vec<RecipeId> {
        let mut types = Vec::with_capacity(parameters.items.len());
        for parameter in &parameters.items {
            types.push(match &parameter.type_annotation {
                Some(annotation) => self.ty(&annotation.type_annotation),
                None => RecipeId::UNKNOWN,
            });
        }
        types
    }

    pub(super) fn add_signature(
        &mut self,
        span: oxc_span::Span,
        parameters: Vec<RecipeId>,
        result: Option<RecipeId>,
    ) -> SignatureId {
        let id = SignatureId(self.names.signatures.len() as u32);
        let result = result.filter(|result| *result != RecipeId::UNKNOWN);
        self.names.signatures.push(Signature { parameters, result });
        self.signatures.insert(key(span), id);
        id
    }

    pub(super) fn add_shape(&mut self, span: oxc_span::Span, shape: Shape) -> ShapeId {
        let id = ShapeId(self.names.shapes.len() as u32);
        self.names.shapes.push(shape);
        self.shapes.insert(key(span), id);
        id
    }

    /// Sets the members of a shape.
    pub(super) fn set_members(&mut self, shape: ShapeId, mut members: Vec<Member>) {
        members.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(shape) = self.names.shapes.get_mut(shape.0 as usize) {
            shape.members = members;
        }
    }

    fn object_shape(&mut self, it: &ObjectExpression<'_>) -> ShapeId {
        if let Some(known) = self.shapes.get(&key(it.span)) {
            return *known;
        }
        let shape = self.add_shape(it.span, empty(ShapeKind::ObjectLiteral));
        let mut members = Vec::new();
        for property in &it.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let value = self.value(&spread.argument);
                    self.names.shapes[shape.0 as usize].extends.push(value);
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let Some(name) = property.key.static_name().filter(|_| !property.computed) else { continue };
                    let signature = self.function_signature(&property.value);
                    let ty = match signature {
                        Some(_) if property.kind != PropertyKind::Init => self.getter_result(signature),
                        Some(_) => RecipeId::UNKNOWN,
                        None => self.value(&property.value),
                    };
                    let meaning = Meaning::Value { ty, signature };
                    let declaration = self.declare(&name, property.key.span(), meaning);
                    members.push(Member { name: name.as_ref().into(), declaration, is_static: false });
                }
            }
        }
        self.set_members(shape, members);
        shape
    }

    pub(super) fn getter_result(&self, signature: Option<SignatureId>) -> RecipeId {
        let signature = signature.and_then(|id| self.names.signature(id));
        signature.and_then(|signature| signature.result).unwrap_or(RecipeId::UNKNOWN)
    }
}

pub(super) fn empty(kind: ShapeKind) -> Shape {
    Shape {
        kind,
        unit: None,
        symbol: None,
        members: Vec::new(),
        calls: Vec::new(),
        constructs: Vec::new(),
        extends: Vec::new(),
        bases: Vec::new(),
    }
}
