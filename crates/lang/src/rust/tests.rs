//! Facts and outlines of small Rust files.

use expect_test::{Expect, expect};
use stan_model::facts::Bound;
use stan_model::outline::elided;

use super::declare::{declare, outline};
use super::extract;
use super::form::Form;
use crate::language::{ExtractOptions, Extraction};

fn extract(bytes: &[u8]) -> Extraction {
    extract::extract(bytes, &ExtractOptions::default())
}

fn check(text: &str, expected: Expect) {
    let extraction = extract(text.as_bytes());
    let facts = &extraction.facts;
    let mut out = String::new();
    for request in &facts.requests {
        let (form, depth) = Form::of(request.form);
        let depth = if depth == 0 { String::new() } else { format!(" {depth}") };
        out += &format!("{}: {form:?}{depth} {}\n", request.line, request.specifier);
    }
    for (index, scope) in facts.scopes.iter().enumerate() {
        let bindings = scope.bindings.iter().map(|binding| {
            let public = if binding.public { "pub " } else { "" };
            let bound = match binding.bound {
                Bound::Scope(inner) => format!("module {inner}"),
                Bound::Request(request) => format!("request {request}"),
                Bound::Item => "item".to_owned(),
                Bound::Macro => "macro".to_owned(),
                Bound::Expansion(inner) => format!("expansion {inner}"),
            };
            format!("{public}{}: {bound}", binding.name)
        });
        let globs =
            scope.globs.iter().map(|(request, public)| format!("{}*: {request}", if *public { "pub " } else { "" }));
        out += &format!("module {index}: {}\n", bindings.chain(globs).collect::<Vec<_>>().join(", "));
    }
    if !facts.uses.is_empty() {
        out += &format!("uses {}\n", facts.uses.join(" "));
    }
    for problem in &extraction.problems {
        out += &format!("problem: {}\n", problem.clone().in_file("m.rs"));
    }
    expected.assert_eq(&out);
}

#[test]
fn modules_and_imports_are_read() {
    check(
        r#"
#![allow(dead_code)]
pub mod a;
#[path = "other.rs"]
mod b;
#[cfg_attr(unix, path = "unix.rs")]
mod c;
pub(crate) mod inline {
    mod file;
    #[path = "odd.rs"] mod odd;
    use super::a::X as Y;
    use self::file::Z;
    fn f() { local::g(); }
}
extern crate alloc;
extern crate serde as ser;
pub use self::a::{self as again, Item, deep::*};
use std::fmt;
struct S;
pub fn run() {}
macro_rules! m { () => { $crate::a::hidden() }; }
"#,
        expect![[r#"
            3: Module a
            5: ModulePath other.rs
            7: ModulePath unix.rs
            7: OptionalModule c
            9: Module inline/file
            10: ModulePath 1 inline/odd.rs
            11: Use self::a::X
            12: Use self::inline::file::Z
            15: Extern alloc
            16: Extern serde
            17: Use self::a
            17: Use self::a::Item
            17: Use self::a::deep
            18: Use std::fmt
            13: Path 1 self::inline::local::g
            21: Path crate::a::hidden
            module 0: pub Item: request 11, S: item, pub a: request 0, pub again: request 10, alloc: request 8, b: request 1, c: request 2, c: request 3, fmt: request 13, pub inline: module 1, m: macro, pub run: item, ser: request 9, pub *: 12
            module 1: Y: request 6, Z: request 7, f: item, file: request 4, odd: request 5
        "#]],
    );
}

#[test]
fn paths_in_code_are_read() {
    check(
        r#"
#[derive(serde::Serialize)]
#[allow(clippy::all)]
struct S { a: crate::a::T, b: Vec<super::U> }
impl<'a> fmt::Display for S {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::deep::inner;
        let x = inner::make::<i32>(<T as other::Trait>::NAME, ::global::f());
        write!(f, "{}", util::show(x, Self::y, i32::MAX, Vec::<u8>::new()))?;
        my_macro!(arg::path); log::info!("x"); quote! { not::this };
        self.x.y; 'a: loop { break 'a; }
        r#mod::r#fn();
        Ok(())
    }
}
const TEXT: &str = include_str!("text.txt");
const MORE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/x.bin"));
include!(concat!(env!("OUT_DIR"), "/gen.rs"));
"#,
        expect![[r#"
            7: Use crate::deep::inner
            16: Include text.txt
            17: Include 1 /data/x.bin
            2: Path serde::Serialize
            4: Path crate::a::T
            4: Path super::U
            5: Path fmt::Display
            6: Path fmt::Formatter
            6: Path fmt::Result
            8: Path crate::deep::inner::make
            8: Path other::Trait
            8: Path ::global::f
            9: Path util::show
            10: Path arg::path
            10: Macro log::info
            12: Path mod::fn
            module 0: MORE: item, S: item, TEXT: item
            uses my_macro
        "#]],
    );
}

#[test]
fn items_of_macros_are_items() {
    check(
        r#"
cfg_if::cfg_if! {
    if #[cfg(unix)] { mod unix; pub use unix::open; } else { mod other; }
}
bitflags! { pub struct Flags: u32 { const A = 1; } }
thread_local! { static LOCAL: Cell<u8> = { use std::cell::Cell; Cell::new(1) }; }
"#,
        expect![[r#"
            3: OptionalModule unix
            3: OptionalModule other
            3: Use unix::open
            6: Use std::cell::Cell
            5: Macro bitflags
            2: Macro cfg_if::cfg_if
            module 0: pub Flags: item, LOCAL: item, pub open: request 2, other: request 1, unix: request 0, pub *: 4
            uses bitflags
        "#]],
    );
}

#[test]
fn the_valid_parts_of_broken_rust_files_are_extracted() {
    check(
        "use a::b;\nfn f( { x::y()",
        expect![[r#"
        1: Use a::b
        2: Path x::y
        module 0: b: request 0, f: item
        problem: m.rs:2: does not parse: a bracket has no partner; what could be read of the file counts
    "#]],
    );
    check(
        "mod a { mod b;\nuse x::y",
        expect![[r#"
        1: Module a/b
        2: Use 1 self::a::x::y
        module 0: a: module 1
        module 1: b: request 0, y: request 1
        problem: m.rs:1: does not parse: a bracket has no partner; what could be read of the file counts
    "#]],
    );
    check(
        "use a::{b, c\nfn f() {}",
        expect![[r#"
        1: Use a::b
        module 0: b: request 0
        problem: m.rs:1: does not parse: a bracket has no partner; what could be read of the file counts
    "#]],
    );
    check(
        "\u{0}\u{0}",
        expect![[r#"
        problem: m.rs: is not text (it has a NUL byte); nothing was read from it
    "#]],
    );
}

#[test]
fn the_size_of_specifiers_is_linear_in_the_text() {
    let long = "a".repeat(1000);
    let text = format!("use {long}::{{{}}};", (0..5_000).map(|index| format!("b{index},")).collect::<String>());
    let extraction = extract(text.as_bytes());
    let bytes: usize = extraction.facts.requests.iter().map(|request| request.specifier.len()).sum();
    assert!(bytes < 5 * text.len() + (1 << 16), "{bytes}");
    assert!(!extraction.problems.is_empty());
    // Inline modules nested more deeply than in any real code are ignored.
    let deep = format!("{}use x::y;", "mod a {".repeat(100_000));
    assert!(extract(deep.as_bytes()).facts.requests.is_empty());
    let blocks = format!("fn f() {}", "{ use a::b; b::c();".repeat(50_000));
    assert!(extract(blocks.as_bytes()).facts.requests.len() < 10);
}

#[test]
fn the_first_paragraph_of_the_doc_comment_describes_the_module() {
    for (text, expected) in [
        ("//! Reads `x`\n//! and more.\n//!\n//! # Details\nmod a;", Some("Reads x and more.")),
        ("// Licence\n\n//! Words.\n", Some("Words.")),
        ("/*!\nBlock words.\n\nMore.\n*/\n", Some("Block words.")),
        ("mod a;\n//! Late.", None),
        ("/// Of the item.\nfn f() {}", None),
        ("", None),
    ] {
        assert_eq!(extract(text.as_bytes()).facts.description.as_deref(), expected, "{text}");
    }
}

fn check_outline(text: &str, expected: Expect) {
    let outline = outline(text);
    let mut out = String::new();
    for unit in &outline.units {
        let depth = std::iter::successors(unit.parent, |id| outline.get(*id)?.parent).count();
        let doc =
            unit.doc.map(|doc| format!(" // {}", doc.of(text).lines().next().unwrap_or_default())).unwrap_or_default();
        let exported = if unit.exported { "pub " } else { "" };
        let shown = elided(text, unit.span, &unit.bodies).replace('\n', " ");
        out += &format!("{}{exported}{} {}: {shown}{doc}\n", "  ".repeat(depth), unit.kind.as_str(), unit.name());
    }
    expected.assert_eq(&out);
}

#[test]
fn outlines_list_items_with_their_documentation() {
    check_outline(
        r#"//! About the file.
#![forbid(unsafe_code)]
use std::fmt;

/// A thing.
/// More.
#[derive(Debug)]
pub struct Thing<T, const N: usize> {
    /// The name.
    pub name: Map<K, V>,
    #[serde(skip)]
    count: fn(u8) -> u8,
}
struct Unit;
struct Tuple(u8, pub u16);
pub enum Kind { /// First.
    A, B { x: u8 }, C(u8) = 3 }
pub trait Act: Send { const N: usize; type Out; fn act(&self) -> Self::Out; fn twice(&self) { self.act(); } }
impl<T: Into<u8>> fmt::Display for Thing<T, 3> where T: Clone, {
    fn fmt(&self) -> Result<(), Error> { Ok(()) }
}
impl Thing<u8, { 1 + 2 }> { pub const fn new() -> Self { Self } }
pub const LIST: [u8; 2] = [
    1, 2,
];
static mut COUNT: u8 = 0;
type Alias = Vec<u8>;
pub async unsafe extern "C" fn run<const N: usize>(a: [u8; N]) -> Foo<{ N }> { body() }
extern "C" { fn foreign(x: u8); }
macro_rules! my { () => {}; }
mod inner { pub fn f() {} mod file; }
cfg_if! { if #[cfg(x)] { fn hidden() {} } }
bitflags! { pub struct Flags: u32 { const A = 1; } }
"#,
        expect![[r#"
            pub struct Thing: #[derive(Debug)] pub struct Thing<T, const N: usize> { … } // /// A thing.
              pub property name: pub name: Map<K, V> // /// The name.
              property count: #[serde(skip)]     count: fn(u8) -> u8
            struct Unit: struct Unit;
            struct Tuple: struct Tuple(u8, pub u16);
            pub enum Kind: pub enum Kind { … }
              pub enum-member A: A
              pub enum-member B: B { x: u8 }
              pub enum-member C: C(u8) = 3
            pub trait Act: pub trait Act: Send { … }
              constant N: const N: usize;
              type Out: type Out;
              method act: fn act(&self) -> Self::Out;
              method twice: fn twice(&self) { … }
            pub impl Thing: impl<T: Into<u8>> fmt::Display for Thing<T, 3> where T: Clone, { … }
              method fmt: fn fmt(&self) -> Result<(), Error> { … }
            pub impl Thing: impl Thing<u8, { 1 + 2 }> { … }
              pub method new: pub const fn new() -> Self { … }
            pub constant LIST: pub const LIST: [u8; 2] = [ … ];
            variable COUNT: static mut COUNT: u8 = 0;
            type Alias: type Alias = Vec<u8>;
            pub function run: pub async unsafe extern "C" fn run<const N: usize>(a: [u8; N]) -> Foo<{ N }> { … }
            function foreign: fn foreign(x: u8);
            macro my: macro_rules! my { … }
            namespace inner: mod inner { … }
              pub function f: pub fn f() { … }
              module file: mod file;
            function hidden: fn hidden() { … }
            pub struct Flags: pub struct Flags: u32 { … }
              property const: const A = 1;
        "#]],
    );
}

#[test]
fn names_resolve_to_declarations_imports_and_members() {
    let text = r#"
use crate::store::{Store, open as open_store};
pub struct App { store: Store, names: Vec<Name> }
impl App {
    pub fn new(path: &str) -> Self { let store = open_store(path); Self { store, names: Vec::new() } }
    fn run(&self, other: &App) { self.store.save(); other.helper().store; crate::util::log(LIMIT); Name::parse("x"); }
    fn helper(&self) -> App { App::new("x") }
}
pub struct Name;
impl Name { fn parse(text: &str) -> Option<Name> { None } }
const LIMIT: u32 = 3;
"#;
    let units = declare(text);
    let names = &units.names;
    let mut out = String::new();
    for import in &names.imports {
        out += &format!("import {} {:?}\n", import.specifier, import.name);
    }
    for one in names.uses.iter().filter(|one| (5..=7).contains(&one.line)) {
        let shown: String =
            text[one.at as usize..].chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
        let what = match &one.what {
            stan_model::names::Used::Name(_) => "name",
            stan_model::names::Used::Member(..) => "member",
            stan_model::names::Used::Global(_) => "global",
        };
        out += &format!("{}: {what} {shown}\n", one.line);
    }
    for shape in &names.shapes {
        let members: Vec<&str> = shape.members.iter().map(|member| &*member.name).collect();
        out += &format!("shape {}\n", members.join(" "));
    }
    expect![[r#"
        import crate::store::Store Name("Store")
        import crate::store::open Name("open")
        import crate::util::log Name("log")
        5: name open_store
        6: name App
        6: member store
        6: member save
        6: member helper
        6: member store
        6: name crate
        6: name LIMIT
        6: name Name
        6: member parse
        7: name App
        7: name App
        7: member new
        shape helper names new run store
        shape parse
    "#]]
    .assert_eq(&out);
}

/// For every truncation of a file, and for the file without each of its tokens, units are in order and members are inside their
/// parents.
#[test]
fn outlines_of_broken_files_are_sorted_and_nested() {
    let text = "#[a] pub struct S<T> { #[b] x: Vec<(u8, T)>, y: [u8; 2] }\nimpl<T> A for S<T> where T: B, { fn f(&self) { if x { y } } }\n\
        mod m { enum E { A(u8), B { x: u8 } } cfg_if! { if #[cfg(a)] { pub fn g() {} } } }\nconst C: u8 = {\n1 };\nmacro_rules! k { () => {} }\n\
        extern \"C\" { fn h(a: u8); }\n#![x] trait Q { type T; const N: u8; }";
    let positions = 0..=text.len();
    let cuts = positions.clone().map(|at| text[..at].to_owned());
    let holes = positions.clone().flat_map(|at| {
        [1, 2, 5]
            .into_iter()
            .filter(move |width| at + width <= text.len())
            .map(move |width| [&text[..at], &text[at + width..]].concat())
    });
    let additions = positions.flat_map(|at| {
        ["{", "}", "(", ")", "[", "]", "<", "\"", "'", "fn ", "mod a {", "#[", "pub "]
            .map(|word| [&text[..at], word, &text[at..]].concat())
    });
    for text in cuts.chain(holes).chain(additions) {
        let units = declare(&text);
        assert_eq!(units.outline, outline(&text));
        let mut last = 0;
        for (unit, index) in units.outline.units.iter().zip(0_u32..) {
            assert!(
                unit.span.start >= last && unit.span.end as usize <= text.len() && unit.span.encloses(unit.head),
                "{text}: {unit:?}"
            );
            last = unit.span.start;
            assert!(unit.until > index && unit.bodies.iter().all(|body| unit.span.encloses(*body)), "{text}: {unit:?}");
            if let Some(parent) = unit.parent.and_then(|parent| units.outline.get(parent)) {
                assert!(parent.span.encloses(unit.span) && unit.until <= parent.until, "{text}: {parent:?} {unit:?}");
            }
        }
        assert_eq!(extract(text.as_bytes()), extract(text.as_bytes()));
    }
}
