//! Small texts with their requests and names, as tables.

use expect_test::{Expect, expect};
use stan_model::facts::ExportSource;

use super::extract;
use crate::language::ExtractOptions;
use crate::python::form::Form;

fn check(path: &str, text: &str, expected: Expect) {
    let extraction = extract(path, text.as_bytes(), &ExtractOptions::default());
    let mut out = String::new();
    for request in &extraction.facts.requests {
        let form = Form::decode(request.form);
        out += &format!("{}: {} {} {form:?}\n", request.line, request.specifier, request.kind.as_str());
    }
    for problem in &extraction.problems {
        out += &format!("problem: {}\n", problem.clone().in_file("m.py"));
    }
    expected.assert_eq(&out);
}

#[test]
fn import_statements_become_requests() {
    check(
        "m.py",
        "import os, a.b as c\nfrom x import y, z as w\nfrom .. import p\nfrom .q.r import *\nfrom . import (\n  s,\n  s,\n)\n",
        expect![[r#"
            1: os runtime Module
            1: a.b runtime Module
            2: x.y runtime Name
            2: x.z runtime Name
            3: ..p runtime Name
            4: .q.r runtime Module
            6: .s runtime Name
        "#]],
    );
}

#[test]
fn the_position_of_an_import_decides_its_kind() {
    check(
        "m.py",
        r#"
from typing import TYPE_CHECKING
import typing as t
if TYPE_CHECKING and True:
    import a
elif t.TYPE_CHECKING:
    import b
else:
    import c
if not TYPE_CHECKING:
    import d
else:
    import e
try:
    import f
except ImportError:
    f = None
finally:
    import f2
class C:
    import g
    def m(self):
        import h
        if TYPE_CHECKING:
            import i
async def run(x=1):
    with x:
        from . import j
for k in x:
    import k
else:
    import l
match x:
    case 1:
        import n
while x:
    import o
"#,
        expect![[r#"
            2: typing.TYPE_CHECKING runtime Name
            3: typing runtime Module
            5: a type Module
            7: b type Module
            9: c runtime Module
            11: d runtime Module
            13: e type Module
            15: f runtime Module
            19: f2 runtime Module
            21: g runtime Module
            23: h dynamic Module
            25: i type Module
            28: .j dynamic Name
            30: k runtime Module
            32: l runtime Module
            35: n runtime Module
            37: o runtime Module
        "#]],
    );
    check(
        "m.pyi",
        "import a\ndef f():\n    import b\n",
        expect![[r#"
        1: a type Module
        3: b type Module
    "#]],
    );
}

#[test]
fn imports_by_call_with_a_literal_are_requests() {
    check(
        "m.py",
        r#"
import importlib, importlib.resources as resources
importlib.import_module("a.b")
import_module('.c', package=__package__)
import_module('..d', __name__)
import_module('.e', 'other')
import_module('.f')
import_module(name)
import_module("not a name")
import_module("x" "y")
__import__("g")
obj.__import__("h")
pytest.importorskip("i")
lazy = lambda: import_module("j")
if TYPE_CHECKING:
    import_module("k")
@decorate(import_module("l"))
def f(x=import_module("m"), y: import_module("n") = 1): pass
resources.files("p.q").joinpath("data", "x.txt")
resources.files(__package__) / "a" / "b.json"
resources.files("p")
resources.read_text("p", "t.txt")
pkgutil.get_data("p", "d/e.bin")
resources.files("p") / ".." / "x"
self.files("p")
"#,
        expect![[r#"
            2: importlib runtime Module
            2: importlib.resources runtime Module
            3: a.b dynamic Module
            4: .c dynamic Module
            5: ..d dynamic Module
            10: xy dynamic Module
            11: g dynamic Module
            13: i dynamic Module
            14: j dynamic Module
            16: k type Module
            17: l dynamic Module
            18: m dynamic Module
            19: p.q:data/x.txt dynamic Resource
            20: .:a/b.json dynamic Resource
            21: p: dynamic Resource
            22: p:t.txt dynamic Resource
            23: p:d/e.bin dynamic Resource
        "#]],
    );
}

#[test]
fn broken_and_unusual_files_are_read() {
    check(
        "m.py",
        "import a\ndef f(:\n    import b\nimport c\n",
        expect![[r#"
        1: a runtime Module
        3: b dynamic Module
        4: c runtime Module
        problem: m.py:2: does not parse: Expected a parameter or the end of the parameter list (and 1 more); what could be read of the file counts
    "#]],
    );
    check(
        "m.py",
        "print 'two'\nimport a\n",
        expect![[r#"
        2: a runtime Module
        problem: m.py:1: does not parse: Simple statements must be separated by newlines or semicolons; what could be read of the file counts
    "#]],
    );
    check(
        "m.py",
        "\u{feff}import a\r\nimport b\r\n",
        expect![[r#"
        1: a runtime Module
        2: b runtime Module
    "#]],
    );
    check("m.py", "", expect![[""]]);
    let latin = b"# -*- coding: latin-1 -*-\nimport caf\xe9\n";
    let extraction = extract("m.py", latin, &ExtractOptions::default());
    assert_eq!(&*extraction.facts.requests[0].specifier, "café");
    assert!(extraction.problems.is_empty());
    assert!(extract("m.py", b"\0\0\0\0", &ExtractOptions::default()).incomplete);
}

#[test]
fn exported_names_are_collected() {
    let text = "import a, b.c, d as e\nfrom .m import f, g as h\nfrom n import *\nx: int = 1\ny, (z, *w) = 1, 2\n\
                def fn(): inner = 1\nclass K:\n    attr = 1\nif x:\n    u = 1\ntype T = int\n";
    let facts = extract("m.py", text.as_bytes(), &ExtractOptions::default()).facts;
    let offered = facts.exports.iter().map(|export| {
        let source = match &export.source {
            ExportSource::Local => String::new(),
            ExportSource::Name { request, name } => format!(" = {name} of {request}"),
            ExportSource::Namespace { request } => format!(" = {request}"),
        };
        format!("{}{source}", export.name)
    });
    expect![[r#"
        K
        T
        a = 0
        b
        e = 2
        f = f of 3
        fn
        h = g of 4
        u
        w
        x
        y
        z"#]]
    .assert_eq(&offered.collect::<Vec<_>>().join("\n"));
    assert_eq!(facts.stars.len(), 1);
    assert!(!facts.is_linked_by_name());
}

#[test]
fn the_doc_string_describes_the_module() {
    let describe = |text: &str| extract("m.py", text.as_bytes(), &ExtractOptions::default()).facts.description;
    assert_eq!(describe("'''Does ``this``\nand that.\n\nMore.'''\n").as_deref(), Some("Does this and that."));
    assert_eq!(describe("x = 1\n'''no'''\n"), None);
    assert_eq!(describe("''''''"), None);
    assert!(describe(&format!("\"{}\"", "word ".repeat(100))).is_some_and(|text| text.ends_with("...")));
}

#[test]
fn deep_and_long_texts_do_not_overflow_the_stack() {
    let deep = |open: &str, close: &str, count: usize| {
        format!("import a\nx = {}1{}\nimport b\n", open.repeat(count), close.repeat(count))
    };
    for text in [
        deep("[", "]", 3_000),
        deep("(", ")", 3_000),
        deep("not ", "", 20_000),
        deep("lambda: ", "", 3_000),
        deep("a if b else ", "", 3_000),
        deep("", ".a", 60_000),
        deep("", "+1", 60_000),
        deep("f'{", "}'", 20),
        (0..400).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<String>()
            + &" ".repeat(400)
            + "import b\n",
        "[".repeat(400_000),
    ] {
        let _ = std::thread::Builder::new()
            .stack_size(crate::WORKER_STACK)
            .spawn(move || extract("m.py", text.as_bytes(), &ExtractOptions::default()))
            .unwrap()
            .join()
            .unwrap();
    }
}

#[test]
fn a_text_that_is_too_deep_is_scanned_without_a_parser() {
    let text = format!("import a, b.c as d\nfrom .e import f, g\nfrom h import *\nx = {}", "[ ".repeat(1 << 20));
    check(
        "m.py",
        &text,
        expect![[r#"
        1: a runtime Module
        1: b.c runtime Module
        2: .e.f runtime Name
        2: .e.g runtime Name
        3: h runtime Module
        problem: m.py: is too large to parse; it was searched for import forms instead
    "#]],
    );
}
