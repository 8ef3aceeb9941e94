//! Outlines of small files, and robustness against any depth of nesting.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use stan_model::names::{FileNames, Meaning, Used};
use stan_model::outline::{Outline, Span, UnitId, elided};

use super::{declare, outline};

/// One line for each unit: lines, kind, path, flags, and the signature.
fn render(text: &str, outline: &Outline) -> String {
    let mut out = String::new();
    for (unit, id) in outline.units.iter().zip(0..) {
        let mut depth = 0;
        let mut at = unit.parent;
        while let Some(parent) = at.and_then(|id| outline.get(id)) {
            (depth, at) = (depth + 1, parent.parent);
        }
        let exported = if unit.exported { "+" } else { "-" };
        let doc = if unit.doc.is_some() { " doc" } else { "" };
        let names: Vec<&str> = unit.names.iter().map(|name| &*name.text).collect();
        let signature = elided(text, unit.span, &unit.bodies).split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            out,
            "{}{}-{} {exported}{}{doc} {} | {signature}",
            "  ".repeat(depth),
            unit.lines.from,
            unit.lines.to,
            unit.kind.as_str(),
            names.join(",")
        );
        assert!(outline.innermost(unit.span.start).is_some_and(|found| found >= UnitId(id)), "order");
    }
    out
}

fn check(path: &str, text: &str, expected: Expect) {
    expected.assert_eq(&render(text, &outline(path, text)));
}

#[test]
fn declarations_at_module_level() {
    check(
        "a.ts",
        "import { x } from './x';\n/** Adds. */\nexport function add(a: number,\n  b = 1): number {\n  return a + b;\n}\n\
         const one = 1, two = {\n  a: 1,\n};\nexport const arrow = async (a: A): Promise<B> => {\n  return a;\n};\n\
         type T = string | number;\nexport { one as uno };\nlet { p, q: [r] } = x;\ndeclare const d: D;\n",
        expect![[r#"
            3-6 +function doc add | export function add(a: number, b = 1): number { … }
            7-9 +variable one,two | const one = 1, two = { … };
            10-12 +variable arrow | export const arrow = async (a: A): Promise<B> => { … };
            13-13 -type T | type T = string | number;
            15-15 -variable p,r | let { p, q: [r] } = x;
            16-16 -variable d | declare const d: D;
        "#]],
    );
}

#[test]
fn members_of_classes_interfaces_and_enums() {
    check(
        "a.ts",
        "@dec()\nexport default abstract class A<T> extends B.C<T> implements D {\n  /** The field. */\n  static x = 1;\n\
         \x20 private y?: string;\n  #z = () => {\n    return 1;\n  };\n  constructor(private a: A) { super(); }\n\
         \x20 get v(): number { return 1 }\n  set v(n) {}\n  over(a: string): void;\n  over(a: unknown) {\n  }\n\
         \x20 static { x(); }\n  [Symbol.iterator]() {}\n  abstract m(): void;\n}\n\
         interface I extends J, K.L { a: string; b(): void; (c: C): D; [k: string]: unknown; new (): I }\n\
         export const enum E { A, B = 'b', 'c-d' }\n",
        expect![[r#"
            1-18 +class A | @dec() export default abstract class A<T> extends B.C<T> implements D { … }
              4-4 +property doc x | static x = 1;
              5-5 -property y | private y?: string;
              6-8 -property #z | #z = () => { … };
              9-9 +constructor constructor | constructor(private a: A) { … }
              10-10 +getter v | get v(): number { … }
              11-11 +setter v | set v(n) { … }
              12-12 +method over | over(a: string): void;
              13-14 +method over | over(a: unknown) { … }
              15-15 +static-block  | …
              16-16 +method [Symbol.iterator] | [Symbol.iterator]() { … }
              17-17 +method m | abstract m(): void;
            19-19 -interface I | interface I extends J, K.L { … }
              19-19 +property a | a: string;
              19-19 +method b | b(): void;
              19-19 +signature  | (c: C): D;
              19-19 +signature  | [k: string]: unknown;
              19-19 +signature  | new (): I
            20-20 +enum E | export const enum E { … }
              20-20 +enum-member A | A
              20-20 +enum-member B | B = 'b'
              20-20 +enum-member c-d | 'c-d'
        "#]],
    );
}

#[test]
fn namespaces_and_declared_modules() {
    check(
        "a.ts",
        "namespace a.b {\n  export const x = 1;\n  const y = 2;\n}\ndeclare module 'm' {\n  function f(): void;\n}\n\
         declare global {\n  interface Window { a: 1 }\n}\n",
        expect![[r#"
            1-4 -namespace a | namespace a.b { export const x = 1; const y = 2; }
              1-4 +namespace b | b { … }
                2-2 +variable x | export const x = 1;
                3-3 -variable y | const y = 2;
            5-7 -module m | declare module 'm' { … }
              6-6 +function f | function f(): void;
            8-10 -module global | declare global { … }
              9-9 +interface Window | interface Window { … }
                9-9 +property a | a: 1
        "#]],
    );
    check(
        "a.d.ts",
        "declare function f(): void;\ndeclare function f(a: 1): void;\nimport x = require('x');\n",
        expect![[r#"
        1-1 +function f | declare function f(): void;
        2-2 +function f | declare function f(a: 1): void;
    "#]],
    );
    check(
        "a.d.ts",
        "declare class A {}\ninterface B {}\nexport = A;\n",
        expect![[r#"
        1-1 +class A | declare class A { … }
        2-2 -interface B | interface B { … }
    "#]],
    );
}

#[test]
fn default_exports_and_commonjs() {
    check(
        "a.js",
        "export default function () {}\n",
        expect![[r#"
        1-1 +function default | export default function () { … }
    "#]],
    );
    check(
        "a.jsx",
        "export default <a/>;\n",
        expect![[r#"
        1-1 +export default | export default <a/>;
    "#]],
    );
    check(
        "a.cjs",
        "exports.a = exports.b = void 0;\nfunction f() {}\nfunction g() {}\nexports.a = function () {};\n\
         module.exports.c = class {};\nmodule.exports = {\n  f,\n  h() {},\n};\n",
        expect![[r#"
            2-2 +function f | function f() { … }
            3-3 -function g | function g() { … }
            4-4 +function a | exports.a = function () { … };
            5-5 +class c | module.exports.c = class { … };
            6-9 +export export= | module.exports = { … };
        "#]],
    );
}

#[test]
fn components_and_broken_files() {
    check(
        "a.vue",
        "<template><p/></template>\n<script setup lang=\"ts\">\nconst a = 1;\n</script>\n",
        expect![[r#"
        3-3 -variable a | const a = 1;
    "#]],
    );
    let broken = outline("a.ts", "export const a = 1;\nexport const b = ;\n");
    assert!(broken.incomplete);
    assert!(outline("a.ts", "").units.is_empty());
}

fn uses(names: &FileNames) -> String {
    let mut out = String::new();
    for one in &names.uses {
        let text = match &one.what {
            Used::Name(symbol) => {
                let symbol = names.symbol(*symbol).unwrap();
                let meanings = symbol.declarations.iter().map(|id| match names.declaration(*id).unwrap().meaning {
                    Meaning::Shape(_) => "shape",
                    Meaning::Alias(_) => "alias",
                    Meaning::TypeParameter(_) => "parameter of a type",
                    Meaning::Value { .. } => "value",
                    Meaning::Import(_) => "import",
                    Meaning::Same(_) => "same",
                });
                format!("{} ({})", symbol.name, meanings.collect::<Vec<_>>().join(", "))
            }
            Used::Member(recipe, name) => format!("{:?}.{name}", names.recipe(*recipe)),
            Used::Global(name) => format!("global {name}"),
        };
        let _ = writeln!(out, "{} {:?} {text}", one.line, one.space);
    }
    out
}

#[test]
fn uses_in_both_spaces() {
    let text = "import { a, type T } from './a';\ninterface M {} const M = 1;\n\
                function f<P extends T>(x: P, y: M): T {\n  return a(x.b, M, { c: y }, console);\n}\n\
                class C { m() { return this.n } n = 1 }\nlet z: typeof f;\nconst o: C = { n: 1 };\n";
    let units = declare("a.ts", text);
    expect![[r#"
        3 Type T (import)
        3 Type P (parameter of a type)
        3 Type M (shape, value)
        3 Type T (import)
        4 Value a (import)
        4 Value x (value)
        4 Value Value(SymbolId(5)).b
        4 Value M (shape, value)
        4 Value Argument(RecipeId(6), 2).c
        4 Value y (value)
        4 Value global console
        6 Value Instance(ShapeId(1)).n
        7 Value f (value)
        8 Type C (shape)
        8 Value Type { symbol: SymbolId(7), arguments: [] }.n
    "#]]
    .assert_eq(&uses(&units.names));
    let exports = declare("a.ts", "export { b as c }; const b = 1; export default class {} export * from './d';").names;
    assert_eq!(exports.exports.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["c", "default"]);
    assert_eq!(exports.stars.len(), 1);
    let inside = Span::new(0, 10);
    assert!(exports.uses_in(inside).len() <= 1);
}

/// Constructs that nest: the walk must survive as many levels as the stack limit permits.
#[test]
fn deep_nesting_is_survived() {
    let levels = 900;
    for (open, middle, close) in [
        ("[", "1", "]"),
        ("(", "1", ")"),
        ("{a:", "1", "}"),
        ("()=>{return ", "1", "}"),
        ("a?.b(", "1", ")"),
        ("class{a=", "1", "}"),
        ("x?", "1", ":2"),
    ] {
        let text = format!("const x = {}{middle}{};\n", open.repeat(levels), close.repeat(levels));
        let units = stack_test(&text);
        assert_eq!(units, 1, "{open}");
    }
    let namespaces = format!("{}const x = 1;{}", "namespace a {".repeat(levels), "}".repeat(levels));
    assert_eq!(stack_test(&namespaces), levels + 1);
    let types = format!("type T = {}string{};", "{a:".repeat(levels), "}".repeat(levels));
    assert_eq!(stack_test(&types), 1);
    let chain = format!("const x = a{};", ".b()".repeat(20_000));
    assert_eq!(stack_test(&chain), 1);
}

fn stack_test(text: &str) -> usize {
    let size = crate::stack::WORKER_STACK;
    let thread = std::thread::Builder::new().stack_size(size);
    std::thread::scope(|scope| {
        let handle = thread.spawn_scoped(scope, || declare("a.ts", text).outline.units.len()).unwrap();
        handle.join().unwrap()
    })
}
