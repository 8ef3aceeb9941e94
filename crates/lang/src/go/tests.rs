//! Facts and outlines of small Go files.

use expect_test::{Expect, expect};
use stan_model::outline::elided;

use super::declare::{declare, outline};
use super::extract::extract;

fn check(text: &str, expected: Expect) {
    let extraction = extract(text.as_bytes());
    let facts = &extraction.facts;
    let mut out = String::new();
    for (request, index) in facts.requests.iter().zip(0..) {
        let names = facts.imports.iter().filter(|import| import.request == index).map(|import| &*import.name);
        out += &format!("{}: {} [{}]\n", request.line, request.specifier, names.collect::<Vec<_>>().join(" "));
    }
    out += &format!("package {:?}\ndeclares {}\n", facts.package, facts.declares.join(" "));
    out += &format!("uses {}\n", facts.uses.join(" "));
    for problem in &extraction.problems {
        out += &format!("problem: {}\n", problem.clone().in_file("m.go"));
    }
    expected.assert_eq(&out);
}

#[test]
fn imports_declarations_and_uses_are_read() {
    check(
        r#"// Package p does things.
package p

import "fmt"
import (
	. "dot"
	_ "blank"
	alias "example.com/go-thing/v2"
	"gopkg.in/yaml.v3"
	"C"
)

const A, B = iota, other
var (
	x Type = make(map[Key]Value)
	y     = func(arg int) error { return arg + global }
)
type S struct {
	Name, Field string `tag`
	Embedded
	*Pointer
	pkg.Foreign
	List []Element
}
type I interface {
	Method(arg Arg) (result Result)
	Parent
}
type G[T Constraint] struct{ v T }
func (s *S) Do(a, b Param, c ...Rest) (n int, err error) {
	local := helper(a)
	for i, v := range local.items { fmt.Println(i, v, alias.Call(s.Name)) }
	var z Inner
	type own struct{}
	yaml.Marshal(S{Name: z, Field: constant})
	return
}
func F[T any, U Number](T, []U) *G[T] { return &G[T]{} }
func init() { start() }
"#,
        expect![[r#"
            4: fmt [Println]
            6: dot [Arg Constraint Element Embedded Inner Key Number Param Parent Pointer Rest Result Type Value]
            7: blank []
            8: example.com/go-thing/v2 [Call]
            9: gopkg.in/yaml.v3 [Marshal]
            package Some("p")
            declares A B F G I S x y
            uses Arg Constraint Element Embedded Inner Key Number Param Parent Pointer Rest Result Type Value any constant global helper other pkg start
        "#]],
    );
}

#[test]
fn the_valid_parts_of_a_broken_go_file_are_extracted() {
    check(
        "package p\nimport \"a\"\nfunc (\n)) } {{{ \nfunc ok() { used() }",
        expect![[r#"
        2: a []
        package Some("p")
        declares 
        uses 
        problem: m.go:3: does not parse: expected a declaration; what could be read of the file counts
    "#]],
    );
    check(
        "",
        expect![[r#"
        package None
        declares 
        uses 
    "#]],
    );
    check(
        "package",
        expect![[r#"
        package None
        declares 
        uses 
    "#]],
    );
    check(
        "import (",
        expect![[r#"
        package None
        declares 
        uses 
    "#]],
    );
}

#[test]
fn deep_texts_take_linear_time() {
    for text in ["func(".repeat(50_000), "struct{".repeat(50_000), "x[".repeat(50_000), "interface{A(".repeat(30_000)] {
        let text = format!("package p\ntype T {text}");
        assert!(extract(text.as_bytes()).facts.declares.len() <= 1);
        declare(&text);
    }
}

#[test]
fn outlines_list_declarations_with_their_documentation() {
    let text = r#"package p

// Doc of A.
// More.
const A = 1

/* Doc of S. */
type S struct {
	// Name it.
	Name string
	a, b int
}

type I interface {
	Do(x int) error
	Parent
}
type Alias = S

func (s *S) Do(x int) error {
	return nil
}

// not a doc

func free() {}

var v = map[string]int{
	"a": 1,
}
"#;
    let outline = outline(text);
    let mut out = String::new();
    for unit in &outline.units {
        let signature = elided(text, unit.span, &unit.bodies).split_whitespace().collect::<Vec<_>>().join(" ");
        let names: Vec<&str> = unit.names.iter().map(|name| &*name.text).collect();
        let doc = unit.doc.map_or("", |doc| doc.of(text));
        let (indent, mark) = (if unit.parent.is_some() { "  " } else { "" }, if unit.exported { "" } else { "-" });
        out += &format!("{indent}{mark}{} {names:?} {:?} {signature} | {doc}\n", unit.kind.as_str(), unit.lines);
    }
    expect![[r#"
        constant ["A"] Lines { from: 5, to: 5 } const A = 1 | // Doc of A.
        // More.
        struct ["S"] Lines { from: 8, to: 12 } type S struct { … } | /* Doc of S. */
          property ["Name"] Lines { from: 10, to: 10 } Name string | // Name it.
          -property ["a", "b"] Lines { from: 11, to: 11 } a, b int | 
        interface ["I"] Lines { from: 14, to: 17 } type I interface { … } | 
          method ["Do"] Lines { from: 15, to: 15 } Do(x int) error | 
          property ["Parent"] Lines { from: 16, to: 16 } Parent | 
        type ["Alias"] Lines { from: 18, to: 18 } type Alias = S | 
        method ["Do"] Lines { from: 20, to: 22 } func (s *S) Do(x int) error { … } | 
        -function ["free"] Lines { from: 26, to: 26 } func free() { … } | 
        -variable ["v"] Lines { from: 28, to: 30 } var v = map[string]int{ … } | 
    "#]]
    .assert_eq(&out);
    assert_eq!(declare(text).outline, outline);
}

#[test]
fn local_names_are_in_scope_until_the_end_of_their_block() {
    check(
        r#"package p
func f(p P) {
	if x := a(); x { x() } else if y := x; y { x(y) }
	x()
	y := y
	y()
	for i, e := range list { i(e) }
	i()
	func(url url.URL) { url(); inner := 1; inner() }(nil)
	url()
	switch v := thing.(type) { case T, U: v(p) }
	v()
	var c = c
	c()
L:
	for { break L }
	select { case m := <-ch: m() }
}
"#,
        expect![[r#"
            package Some("p")
            declares f
            uses L P T U a c ch i list thing url v x y
        "#]],
    );
}

#[test]
fn keys_of_literals_are_fields_or_names() {
    check(
        r#"package p
var a = T{Key: value, Other: []int{Index: 1}}
var b = map[string]int{Name: 1, Second: 2}
var c = []S{{Field: d}, {Field: e}}
var d = pkg.T{Foreign: 1}
var e = [...]string{First: "a"}
func f() { switch x { case One, Two: g(); default: h() } }
"#,
        expect![[r#"
            package Some("p")
            declares a b c d e f
            uses First Index Name One S Second T Two g h pkg value x
        "#]],
    );
}

#[test]
fn packages_can_redeclare_predeclared_names() {
    check(
        "package p\nfunc f() int { return max(1, len(min)) }\n",
        expect![[r#"
        package Some("p")
        declares f
        uses max min
    "#]],
    );
}
