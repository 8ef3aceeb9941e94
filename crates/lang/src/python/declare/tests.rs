//! Outlines and names of small modules.

use expect_test::{Expect, expect};
use stan_model::names::{FileNames, Meaning, Recipe, RecipeId, Used};
use stan_model::outline::elided;

use super::{declare, outline};

fn check_outline(text: &str, expected: Expect) {
    let outline = outline("m.py", text);
    let mut out = String::new();
    for unit in &outline.units {
        let mut depth = 0;
        let mut parent = unit.parent;
        while let Some(id) = parent {
            depth += 1;
            parent = outline.get(id).unwrap().parent;
        }
        let signature = elided(text, unit.span, &unit.bodies).split_whitespace().collect::<Vec<_>>().join(" ");
        let mark = if unit.exported { "" } else { "-" };
        let doc = unit.doc.map_or(String::new(), |doc| format!(" doc {}", doc.of(text)));
        let is_static = if unit.is_static { " static" } else { "" };
        out += &format!(
            "{}{mark}{} {}..{}{is_static}: {signature}{doc} {:?}\n",
            "  ".repeat(depth),
            unit.kind.as_str(),
            unit.lines.from,
            unit.lines.to,
            unit.heritage
        );
    }
    expected.assert_eq(&out);
}

#[test]
fn declarations_are_units_with_lines_and_documentation() {
    check_outline(
        r#"
LIMIT = 3
_private: int = 1
table = {
    1: 2,
}
a, (b, *c) = f()
type Pair[T] = tuple[T, T]

@decorate(x)
async def run(a: int, *, b=1) -> str:
    """Runs it."""
    def inner(): pass
    return a

class Base(Generic[T], other.Thing, metaclass=M):
    """Doc."""
    x: int = 1
    def __init__(self): self.y = 1
    @property
    def p(self) -> int: return 1
    @p.setter
    def p(self, value): pass
    @staticmethod
    def s(): pass
    def _hidden(self): ...
    class Meta:
        z = 1

class Color(enum.Enum):
    RED = 1

if x:
    def late(): pass
else:
    late = None
try:
    import fast
except ImportError:
    class Fallback: pass
"#,
        expect![[r#"
            constant 2..2: LIMIT = 3 []
            -variable 3..3: _private: int = 1 []
            variable 4..6: table = { … } []
            variable 7..7: a, (b, *c) = f() []
            type 8..8: type Pair[T] = tuple[T, T] []
            function 10..14: @decorate(x) async def run(a: int, *, b=1) -> str: … doc """Runs it.""" []
            class 16..28: class Base(Generic[T], other.Thing, metaclass=M): … doc """Doc.""" ["Generic", "other.Thing"]
              property 18..18: x: int = 1 []
              constructor 19..19: def __init__(self): … []
              getter 20..21: @property def p(self) -> int: … []
              setter 22..23: @p.setter def p(self, value): … []
              method 24..25 static: @staticmethod def s(): … []
              -method 26..26: def _hidden(self): … []
              class 27..28: class Meta: … []
                property 28..28: z = 1 []
            class 30..31: class Color(enum.Enum): … ["enum.Enum"]
              enum-member 31..31: RED = 1 []
            function 34..34: def late(): … []
            variable 36..36: late = None []
            class 40..40: class Fallback: … []
        "#]],
    );
    check_outline(
        "__all__ = ['b']\ndef a(): pass\ndef b(): pass\n",
        expect![[r#"
        -variable 1..1: __all__ = ['b'] []
        -function 2..2: def a(): … []
        function 3..3: def b(): … []
    "#]],
    );
    check_outline(
        "def broken(:\n    pass\ndef fine(): pass\n",
        expect![[r#"
        function 1..2: def broken(: … []
        function 3..3: def fine(): … []
    "#]],
    );
}

/// A recipe as an expression.
fn shown(names: &FileNames, id: RecipeId) -> String {
    let symbol = |id: &stan_model::names::SymbolId| names.symbol(*id).map_or("?", |symbol| &symbol.name).to_owned();
    let list = |ids: &[RecipeId]| ids.iter().map(|id| shown(names, *id)).collect::<Vec<_>>().join(", ");
    match names.recipe(id) {
        Recipe::Unknown => "?".to_owned(),
        Recipe::Value(id) => symbol(id),
        Recipe::Type { symbol: id, arguments } => format!("type {}<{}>", symbol(id), list(arguments)),
        Recipe::Global { name, .. } => format!("global {name}"),
        Recipe::TypeMember { base, name, .. } => format!("type {}.{name}", shown(names, *base)),
        Recipe::Instance(shape) => format!("instance {}", shape.0),
        Recipe::Static(shape) => format!("class {}", shape.0),
        Recipe::Base(shape) => format!("base of {}", shape.0),
        Recipe::Member(base, name) => format!("{}.{name}", shown(names, *base)),
        Recipe::Element(base) => format!("{}[]", shown(names, *base)),
        Recipe::List(base) => format!("list {}", shown(names, *base)),
        Recipe::Call(base) => format!("{}()", shown(names, *base)),
        Recipe::New(base) => format!("new {}", shown(names, *base)),
        Recipe::Await(base) => format!("await {}", shown(names, *base)),
        Recipe::Any(parts) => format!("any({})", list(parts)),
        other => format!("{other:?}"),
    }
}

fn check_names(text: &str, expected: Expect) {
    let names = declare("m.py", text).names;
    let mut out = String::new();
    for declaration in &names.declarations {
        let meaning = match declaration.meaning {
            Meaning::Value { ty, signature } => {
                let signature = signature.and_then(|id| names.signature(id)).map_or(String::new(), |signature| {
                    let parameters: Vec<String> = signature.parameters.iter().map(|id| shown(&names, *id)).collect();
                    let result = signature.result.map_or("-".to_owned(), |id| shown(&names, id));
                    format!(" ({}) -> {result}", parameters.join(", "))
                });
                format!("{}{signature}", shown(&names, ty))
            }
            Meaning::Alias(ty) => format!("alias {}", shown(&names, ty)),
            Meaning::Import(id) => {
                let import = names.import(id).unwrap();
                format!("import {} {:?}", import.specifier, import.name)
            }
            Meaning::Shape(id) => {
                let shape = names.shape(id).unwrap();
                let mut members: Vec<&str> = shape.members.iter().map(|member| &*member.name).collect();
                members.dedup();
                let extends: Vec<String> = shape.extends.iter().map(|id| shown(&names, *id)).collect();
                format!("shape {} [{}] extends {extends:?}", id.0, members.join(" "))
            }
            other => format!("{other:?}"),
        };
        out += &format!("{}: {} = {meaning}\n", declaration.line, declaration.name);
    }
    let uses: Vec<String> = names
        .uses
        .iter()
        .map(|one| match &one.what {
            Used::Name(id) => names.symbol(*id).map_or("?", |symbol| &symbol.name).to_owned(),
            Used::Global(name) => format!("global {name}"),
            Used::Member(base, name) => format!("{}.{name}", shown(&names, *base)),
        })
        .collect();
    out += &format!("uses: {}\n", uses.join(", "));
    let exports: Vec<&str> = names.exports.iter().map(|(name, _)| &**name).collect();
    out += &format!("exports: {}\n", exports.join(" "));
    expected.assert_eq(&out);
}

#[test]
fn names_are_bound_to_imports_classes_and_members() {
    check_names(
        r#"
import os, a.b as c
from .m import f as g, H
from n import *
class K(H, c.Base[int]):
    limit = 3
    def __init__(self, x: "H | None", *args) -> None:
        self.x = x
        self.items: list[K] = []
    @property
    def first(self) -> "K": return self.items[0]
    @classmethod
    def make(cls, n=limit): return cls().first
    def up(self): return super().up()
def run(k: K, m: dict[str, "c.T"], o: Optional[H]) -> K:
    for item in k.items:
        item.up()
    local = K(1)
    return [g(y) for y in local.items if y.x]
x = run(None).first
"#,
        expect![[r#"
            2: os = import os Namespace
            2: c = import a.b Namespace
            3: g = import .m.f Name("f")
            3: H = import .m.H Name("H")
            5: K = shape 0 [__init__ first items limit make up x] extends ["H", "c.Base"]
            6: limit = ?
            7: __init__ = ? (any(type H<>, ?), ?) -> ?
            7: self = instance 0
            7: x = any(type H<>, ?)
            7: args = ?
            8: x = x
            9: items = list any(type K<>)
            11: first = type K<>
            11: self = instance 0
            13: make = ? (?) -> -
            13: cls = class 0
            13: n = ?
            14: up = ? () -> -
            14: self = instance 0
            15: run = ? (type K<>, list type c.T, any(type H<>)) -> type K<>
            15: k = type K<>
            15: m = list type c.T
            15: o = any(type H<>)
            16: item = k.items[]
            18: local = any(K(), new K)
            19: y = local.items[]
            20: x = any(run(), new run).first
            uses: H, c, c.Base, global int, H, self, x, self, global list, K, global property, K, self, self.items, global classmethod, limit, cls, any(cls(), new cls).first, global super, base of 0.up, K, global dict, global str, c, c.T, global Optional, H, K, k, k.items, item, item.up, K, g, y, local, local.items, y, y.x, run, any(run(), new run).first
            exports: H K c g os run x
        "#]],
    );
}

#[test]
fn global_and_nonlocal_bind_in_their_scopes() {
    check_names(
        r#"
count = 0
def outer(a):
    b = a
    def inner():
        global count
        nonlocal b
        count = b = 1
        return (lambda q: q + b)(count)
    return inner
class C:
    name = 1
    copy = name
    def m(self): return name
try:
    pass
except ValueError as error:
    print(error.args)
with open(x) as (f, g):
    f.read()
"#,
        expect![[r#"
            2: count = ?
            3: outer = ? (?) -> -
            3: a = ?
            4: b = a
            5: inner = ? () -> -
            8: count = ?
            8: b = ?
            9: q = ?
            11: C = shape 0 [copy m name] extends []
            12: name = ?
            13: copy = name
            14: m = ? () -> -
            14: self = instance 0
            17: error = new ?
            19: f = ?[]
            19: g = ?[]
            uses: a, q, b, count, inner, name, global name, global ValueError, global print, error, error.args, global open, global x, f, f.read
            exports: C count error f g outer
        "#]],
    );
}
