//! Expressions: every use of a name or member, and the recipe for the type of each value.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, Expr, ExprAttribute, ExprCall, ExprLambda, Identifier, Pattern, Stmt};
use stan_model::names::{Meaning, Recipe, RecipeId, Used};

use super::scopes::{BoundNames, ScopeKind};
use super::walk::{DeclarationWalk, Parameter, Receiver};

impl DeclarationWalk<'_> {
    /// Records the uses in an expression, and returns the recipe for its type.
    pub(super) fn expression(&mut self, expression: &Expr) -> RecipeId {
        match expression {
            Expr::Name(name) => match self.find(&name.id) {
                Some(symbol) => {
                    self.use_at(name, Used::Name(symbol));
                    self.recipe(Recipe::Value(symbol))
                }
                None => {
                    self.use_at(name, Used::Global(name.id.as_str().into()));
                    RecipeId::UNKNOWN
                }
            },
            Expr::Attribute(attribute) => self.attribute(attribute),
            Expr::Call(call) => self.call(call),
            Expr::Await(awaited) => {
                let later = self.expression(&awaited.value);
                self.recipe(Recipe::Await(later))
            }
            Expr::Subscript(subscript) => {
                let list = self.expression(&subscript.value);
                self.expression(&subscript.slice);
                self.recipe(Recipe::Element(list))
            }
            Expr::If(condition) => {
                self.expression(&condition.test);
                let parts = vec![self.expression(&condition.body), self.expression(&condition.orelse)];
                self.recipe(Recipe::Any(parts))
            }
            Expr::BoolOp(operation) => {
                let parts = operation.values.iter().map(|value| self.expression(value)).collect();
                self.recipe(Recipe::Any(parts))
            }
            Expr::Named(named) => {
                let ty = self.expression(&named.value);
                self.assign(&named.target, ty);
                ty
            }
            Expr::List(list) => {
                let parts = list.elts.iter().map(|element| self.expression(element)).collect();
                let element = self.recipe(Recipe::Any(parts));
                self.recipe(Recipe::List(element))
            }
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::ListComp(list) => self.comprehension(&list.generators, &[&list.elt], true),
            Expr::SetComp(set) => self.comprehension(&set.generators, &[&set.elt], true),
            Expr::Generator(generator) => self.comprehension(&generator.generators, &[&generator.elt], true),
            Expr::DictComp(map) => {
                let parts: Vec<&Expr> = map.key.iter().map(|key| &**key).chain([&*map.value]).collect();
                self.comprehension(&map.generators, &parts, false)
            }
            other => {
                visitor::walk_expr(self, other);
                RecipeId::UNKNOWN
            }
        }
    }

    /// Records the uses in an expression whose type is irrelevant.
    pub(super) fn look_into(&mut self, expression: &Expr) {
        self.expression(expression);
    }

    fn attribute(&mut self, attribute: &ExprAttribute) -> RecipeId {
        let base = self.expression(&attribute.value);
        if !self.dotted.is_empty()
            && let Some(symbol) = dotted_name(attribute).and_then(|name| self.dotted.get(&*name).copied())
        {
            // A component of a dotted module name is not a member access.
            return self.recipe(Recipe::Value(symbol));
        }
        self.member_use(base, &attribute.attr);
        self.recipe(Recipe::Member(base, attribute.attr.as_str().into()))
    }

    pub(super) fn member_use(&mut self, base: RecipeId, name: &Identifier) {
        self.use_at(name, Used::Member(base, name.as_str().into()));
    }

    /// Calling a class gives an instance, calling a function its result; which one it is depends on the callee.
    fn call(&mut self, call: &ExprCall) -> RecipeId {
        let is_super = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "super");
        let callee = self.expression(&call.func);
        for argument in &call.arguments.args {
            self.expression(argument);
        }
        for keyword in &call.arguments.keywords {
            self.expression(&keyword.value);
        }
        if let Some((shape, _)) = self.own.as_ref().filter(|_| is_super) {
            let shape = *shape;
            return self.recipe(Recipe::Base(shape));
        }
        if callee == RecipeId::UNKNOWN {
            return callee;
        }
        let parts = vec![self.recipe(Recipe::Call(callee)), self.recipe(Recipe::New(callee))];
        self.recipe(Recipe::Any(parts))
    }

    fn lambda(&mut self, lambda: &ExprLambda) -> RecipeId {
        let parameters = lambda.parameters.as_ref().map(|parameters| self.parameters(parameters, Receiver::None));
        let parameters = parameters.unwrap_or_default();
        let mut bound = BoundNames::default();
        bound.names.extend(parameters.iter().map(|parameter| parameter.name.clone()));
        self.scope(ScopeKind::Function, bound, |walk| {
            for Parameter { name, range, ty } in parameters {
                walk.declare(&name, &range, Meaning::Value { ty, signature: None });
            }
            walk.expression(&lambda.body);
        });
        RecipeId::UNKNOWN
    }

    fn comprehension(&mut self, generators: &[Comprehension], elements: &[&Expr], is_list: bool) -> RecipeId {
        let mut bound = BoundNames::default();
        generators.iter().for_each(|generator| bound.target(&generator.target));
        let mut element = RecipeId::UNKNOWN;
        self.scope(ScopeKind::Function, bound, |walk| {
            for generator in generators {
                let list = walk.expression(&generator.iter);
                let ty = walk.recipe(Recipe::Element(list));
                walk.assign(&generator.target, ty);
                generator.ifs.iter().for_each(|condition| walk.look_into(condition));
            }
            for part in elements {
                element = walk.expression(part);
            }
        });
        if is_list { self.recipe(Recipe::List(element)) } else { RecipeId::UNKNOWN }
    }

    /// Patterns of `match` name classes and constants.
    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        visitor::walk_pattern(self, pattern);
    }

    /// A statement of which only the expressions matter.
    pub(super) fn other_statement(&mut self, statement: &Stmt) {
        visitor::walk_stmt(self, statement);
    }
}

impl<'a> Visitor<'a> for DeclarationWalk<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        self.expression(expression);
    }
}

/// Longer names are not modules. Without this bound, a long member chain would take quadratic time.
const MAX_PARTS: usize = 8;

/// The text of `a.b.c`.
fn dotted_name(attribute: &ExprAttribute) -> Option<String> {
    let mut parts = vec![attribute.attr.as_str()];
    let mut value = &*attribute.value;
    while parts.len() < MAX_PARTS {
        match value {
            Expr::Name(name) => {
                parts.push(name.id.as_str());
                parts.reverse();
                return Some(parts.join("."));
            }
            Expr::Attribute(attribute) => {
                parts.push(attribute.attr.as_str());
                value = &attribute.value;
            }
            _ => return None,
        }
    }
    None
}
