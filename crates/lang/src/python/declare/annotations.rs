//! Annotations as recipes: class names, unions, optionals and containers, also in string forward references. Other forms
//! (`Literal`, `Callable`) give no recipe, but the names in them count as used.

use ruff_python_ast::{Expr, ExprSubscript, Operator};
use ruff_python_parser::parse_string_annotation;
use stan_model::names::{Recipe, RecipeId, Used};

use super::walk::DeclarationWalk;

/// Generic names that stand for one of their arguments.
const TRANSPARENT: [&str; 9] =
    ["Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar"];

/// Generic names whose elements have the type of their arguments.
const CONTAINERS: [&str; 27] = [
    "list",
    "List",
    "set",
    "Set",
    "frozenset",
    "FrozenSet",
    "tuple",
    "Tuple",
    "Sequence",
    "MutableSequence",
    "Iterable",
    "Iterator",
    "Generator",
    "Collection",
    "Container",
    "AbstractSet",
    "MutableSet",
    "deque",
    "Deque",
    "AsyncIterable",
    "AsyncIterator",
    "AsyncGenerator",
    "KeysView",
    "ValuesView",
    "Reversible",
    "QuerySet",
    "Queue",
];

/// Generic names whose elements have the type of their last argument.
const MAPPINGS: [&str; 8] =
    ["dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", "ChainMap"];

impl DeclarationWalk<'_> {
    /// Records the uses in an annotation, and returns the recipe for its type.
    pub(super) fn annotation(&mut self, annotation: &Expr) -> RecipeId {
        let outer = std::mem::replace(&mut self.in_type, true);
        let ty = self.written_type(annotation);
        self.in_type = outer;
        ty
    }

    fn written_type(&mut self, written: &Expr) -> RecipeId {
        match written {
            Expr::Name(name) => match self.find(&name.id) {
                Some(symbol) => {
                    self.use_at(name, Used::Name(symbol));
                    self.recipe(Recipe::Type { symbol, arguments: Vec::new() })
                }
                None => {
                    self.use_at(name, Used::Global(name.id.as_str().into()));
                    self.recipe(Recipe::Global { name: name.id.as_str().into(), arguments: Vec::new() })
                }
            },
            Expr::Attribute(attribute) => {
                let base = self.expression(&attribute.value);
                self.member_use(base, &attribute.attr);
                self.recipe(Recipe::TypeMember { base, name: attribute.attr.as_str().into(), arguments: Vec::new() })
            }
            Expr::Subscript(subscript) => self.generic(subscript),
            Expr::BinOp(operation) if operation.op == Operator::BitOr => {
                let parts = vec![self.written_type(&operation.left), self.written_type(&operation.right)];
                self.recipe(Recipe::Any(parts))
            }
            Expr::StringLiteral(literal) => match literal.value.as_slice() {
                [one] => {
                    let parsed = parse_string_annotation(self.text, one);
                    parsed.map_or(RecipeId::UNKNOWN, |parsed| self.written_type(&parsed.syntax().body))
                }
                _ => RecipeId::UNKNOWN,
            },
            Expr::List(list) => {
                list.elts.iter().for_each(|element| self.look_into_type(element));
                RecipeId::UNKNOWN
            }
            Expr::Starred(starred) => self.written_type(&starred.value),
            other => {
                self.expression(other);
                RecipeId::UNKNOWN
            }
        }
    }

    fn look_into_type(&mut self, written: &Expr) {
        self.written_type(written);
    }

    fn generic(&mut self, subscript: &ExprSubscript) -> RecipeId {
        let name = match &*subscript.value {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let base = self.written_type(&subscript.value);
        if name == "Literal" {
            return RecipeId::UNKNOWN;
        }
        let arguments: Vec<RecipeId> = match &*subscript.slice {
            Expr::Tuple(tuple) => tuple.elts.iter().map(|argument| self.written_type(argument)).collect(),
            one => vec![self.written_type(one)],
        };
        if name == "Annotated" {
            return arguments.first().copied().unwrap_or(RecipeId::UNKNOWN);
        }
        if TRANSPARENT.contains(&name) {
            return self.recipe(Recipe::Any(arguments));
        }
        if CONTAINERS.contains(&name) {
            let element = self.recipe(Recipe::Any(arguments));
            return self.recipe(Recipe::List(element));
        }
        if MAPPINGS.contains(&name) {
            let element = arguments.last().copied().unwrap_or(RecipeId::UNKNOWN);
            return self.recipe(Recipe::List(element));
        }
        match self.names.recipe(base).clone() {
            Recipe::Type { symbol, .. } => self.recipe(Recipe::Type { symbol, arguments }),
            Recipe::TypeMember { base, name, .. } => self.recipe(Recipe::TypeMember { base, name, arguments }),
            _ => base,
        }
    }
}
