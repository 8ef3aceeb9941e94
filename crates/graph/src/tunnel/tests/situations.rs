//! One situation per entry: a description, the modules, and the implicit edges of `main`. ECMAScript's own rules are here, the
//! rest in `beyond_ecmascript`.

use super::fixture::Fixture;
use crate::tunnel::stars::{Limits, StarTables};
use crate::tunnel::{FileKey, Tunneller};

fn check(situation: &str, text: &str, expected: &str) {
    let fixture = Fixture::parse(text);
    // Keys must not clash with those of unanalysed files, which come after all analysed ones.
    assert!(fixture.modules.len() <= fixture.names.len(), "{situation}");
    let plain = Tunneller::new(&fixture);
    assert_eq!(fixture.edges_of(&plain, "main"), expected, "{situation}:\n{text}");
    assert_eq!(fixture.edges_of(&plain, "main"), expected, "{situation}, asked again:\n{text}");

    // With a table for every module that has a star, and after all other files were asked.
    let mut tabled = Tunneller::new(&fixture);
    tabled.stars = StarTables::new(Limits { follow: 0, entries: usize::MAX });
    for file in (0..fixture.names.len() as u32).rev() {
        tabled.implicit_edges(FileKey(file));
    }
    assert_eq!(fixture.edges_of(&tabled, "main"), expected, "{situation}, with tables:\n{text}");
}

pub(super) fn check_all(situations: &[(&str, &str, &str)]) {
    for (situation, text, expected) in situations {
        check(situation, text, expected);
    }
}

#[test]
fn direct_imports_need_no_implicit_edge() {
    check_all(&[
        ("a name from its definer", "main: import {x} from a\na: export x", ""),
        ("default from its definer", "main: import d from a\na: export default", ""),
        ("a name that no module exports", "main: import {y} from a\na: export x", ""),
        ("default that no module exports", "main: import d from a\na: export x", ""),
        ("an import that cannot be resolved", "main: import {x} from !gone", ""),
        ("a file that cannot be analysed", "main: import d from style.css", ""),
        ("a namespace import", "main: import * as n from a\na: export {x} from b\nb: export x", ""),
        ("a side-effect import", "main: import a\na: export {x} from b\nb: export x", ""),
        ("import = require", "main: import n = require a\na: export {x} from b\nb: export x", ""),
        ("a star of one's own", "main: export * from a\na: export {x} from b\nb: export x", ""),
        ("an empty list of names", "main: import {} from a\na: export {x} from b\nb: export x", ""),
    ]);
}

#[test]
fn names_are_found_through_named_re_exports() {
    check_all(&[
        ("one hop", "main: import {x} from a\na: export {x} from b\nb: export x", "b"),
        ("one hop with an alias", "main: import {y} from a\na: export {x as y} from b\nb: export x", "b"),
        ("the alias is not the name", "main: import {x} from a\na: export {x as y} from b\nb: export x", ""),
        ("a local alias of the importer", "main: import {x as z} from a\na: export {x} from b\nb: export x", "b"),
        (
            "three hops with aliases",
            "main: import {w} from a\na: export {z as w} from b\nb: export {y as z} from c\nc: export {x as y} from d\nd: export x",
            "d",
        ),
        (
            "only the definer, not the ways to it",
            "main: import {x} from a\na: export {x} from b\nb: export {x} from c\nc: export x",
            "c",
        ),
        (
            "names swapped on the way",
            "main: import {x} from a\na: export {x as y, y as x} from b\nb: export {y} from c; export x\nc: export y",
            "c",
        ),
        ("default as a name", "main: import {x} from a\na: export {default as x} from b\nb: export default", "b"),
        ("a name as default", "main: import x from a\na: export {x as default} from b\nb: export x", "b"),
        ("default passed on", "main: import x from a\na: export {default} from b\nb: export default", "b"),
        (
            "x as default of the definer",
            "main: import x from a\na: export {default} from b\nb: export {y as default}",
            "b",
        ),
        (
            "two names, two definers",
            "main: import {x, y} from a\na: export {x} from b; export {y} from c\nb: export x\nc: export y",
            "b c",
        ),
        (
            "two names, one definer",
            "main: import {x, y} from a\na: export {x} from b; export {y} from b\nb: export x y",
            "b",
        ),
        (
            "default and a name at once",
            "main: import d, {x} from a\na: export {default} from b; export {x} from c\nb: export default\nc: export x",
            "b c",
        ),
        ("a re-export is an import too", "main: export {x} from a\na: export {x} from b\nb: export x", "b"),
        ("a re-export under another name", "main: export {x as y} from a\na: export {x} from b\nb: export x", "b"),
        ("the target does not exist", "main: import {x} from a\na: export {x} from !gone", ""),
        ("the target has exports, but not this one", "main: import {x} from a\na: export {x} from b\nb: export y", ""),
        (
            "one name from two sources resolves to both",
            "main: import {x} from a\na: export {x} from b; export {x} from c\nb: export x\nc: export x",
            "b c",
        ),
        (
            "a local and a re-exported one of a name",
            "main: import {x} from a\na: export x; export {x} from b\nb: export x",
            "b",
        ),
    ]);
}

#[test]
fn names_are_found_through_an_import_and_an_export() {
    check_all(&[
        ("named", "main: import {x} from a\na: import {x} from b; export {x}\nb: export x", "b"),
        (
            "named with both aliases",
            "main: import {z} from a\na: import {x as y} from b; export {y as z}\nb: export x",
            "b",
        ),
        ("the export comes first", "main: import {x} from a\na: export {x}; import {x} from b\nb: export x", "b"),
        (
            "a default import under a name",
            "main: import {x} from a\na: import x from b; export {x}\nb: export default",
            "b",
        ),
        (
            "a default import as default",
            "main: import x from a\na: import y from b; export {y as default}\nb: export default",
            "b",
        ),
        (
            "a named import as default",
            "main: import x from a\na: import {y} from b; export {y as default}\nb: export y",
            "b",
        ),
        (
            "a namespace import",
            "main: import {n} from a\na: import * as n from b; export {n}\nb: export {x} from c\nc: export x",
            "b",
        ),
        (
            "a namespace import as default",
            "main: import n from a\na: import * as n from b; export {n as default}\nb: export x",
            "b",
        ),
        ("import = require", "main: import {n} from a\na: import n = require b; export {n}\nb: export = v", "b"),
        (
            "an import that is not exported is private",
            "main: import {x} from a\na: import {x} from b; export y\nb: export x",
            "",
        ),
        (
            "through two such modules",
            "main: import {x} from a\na: import {x} from b; export {x}\nb: import {x} from c; export {x}\nc: export x",
            "c",
        ),
        (
            "a local of the same name wins over none",
            "main: import {x} from a\na: import {y} from b; export {x}\nb: export y",
            "",
        ),
    ]);
}

#[test]
fn names_are_found_through_star_exports() {
    check_all(&[
        ("one star", "main: import {x} from a\na: export * from b\nb: export x", "b"),
        (
            "two stars, one has it",
            "main: import {x} from a\na: export * from b; export * from c\nb: export y\nc: export x",
            "c",
        ),
        ("stars behind stars", "main: import {x} from a\na: export * from b\nb: export * from c\nc: export x", "c"),
        (
            "a star and then a name",
            "main: import {x} from a\na: export * from b\nb: export {y as x} from c\nc: export y",
            "c",
        ),
        (
            "a name and then a star",
            "main: import {x} from a\na: export {x} from b\nb: export * from c\nc: export x",
            "c",
        ),
        (
            "ambiguous: all definers",
            "main: import {x} from a\na: export * from b; export * from c\nb: export x\nc: export x",
            "b c",
        ),
        (
            "two ways to one definer",
            "main: import {x} from a\na: export * from b; export * from c\nb: export * from d\nc: export * from d\nd: export x",
            "d",
        ),
        ("a local wins over a star", "main: import {x} from a\na: export x; export * from b\nb: export x", ""),
        (
            "an explicit re-export wins over a star",
            "main: import {x} from a\na: export {x} from c; export * from b\nb: export x\nc: export x",
            "c",
        ),
        (
            "an import-then-export wins over a star",
            "main: import {x} from a\na: import {x} from c; export {x}; export * from b\nb: export x\nc: export x",
            "c",
        ),
        (
            "a namespace wins over a star",
            "main: import {x} from a\na: export * as x from c; export * from b\nb: export x\nc: export y",
            "c",
        ),
        (
            "an explicit one that cannot be resolved still wins",
            "main: import {x} from a\na: export {x} from !gone; export * from b\nb: export x",
            "",
        ),
        (
            "hidden further down",
            "main: import {x} from a\na: export * from b\nb: export x; export * from c\nc: export x",
            "b",
        ),
        (
            "hidden on one way, open on another",
            "main: import {x} from a\na: export * from b; export * from c\nb: export x; export * from c\nc: export x",
            "b c",
        ),
        (
            "hidden on all ways",
            "main: import {x} from a\na: export * from b; export * from c\nb: export x; export * from d\nc: export x; export * from d\nd: export x",
            "b c",
        ),
        ("default does not pass a star", "main: import d from a\na: export * from b\nb: export default", ""),
        (
            "nor does `default` by name",
            "main: import {default as d} from a\na: export * from b\nb: export default x",
            "",
        ),
        (
            "nor further down",
            "main: import d from a\na: export {default} from b\nb: export * from c\nc: export default",
            "",
        ),
        (
            "beside a default of its own",
            "main: import d from a\na: export {default} from c; export * from b\nb: export default\nc: export default",
            "c",
        ),
        ("a star to nowhere", "main: import {x} from a\na: export * from !gone; export * from b\nb: export x", "b"),
        (
            "no module has it",
            "main: import {x} from a\na: export * from b; export * from c\nb: export y\nc: export z",
            "",
        ),
        ("a star does not define a name locally", "main: import {b} from a\na: export * from b\nb: export x", ""),
    ]);
}

#[test]
fn a_namespace_ends_at_its_module() {
    check_all(&[
        ("export * as", "main: import {n} from a\na: export * as n from b\nb: export x", "b"),
        (
            "it ends at the module, whatever that re-exports",
            "main: import {n} from a\na: export * as n from b\nb: export * from c\nc: export x",
            "b",
        ),
        (
            "through a name",
            "main: import {m} from a\na: export {n as m} from b\nb: export * as n from c\nc: export x",
            "c",
        ),
        ("through a star", "main: import {n} from a\na: export * from b\nb: export * as n from c\nc: export x", "c"),
        ("as default", "main: import n from a\na: export * as default from b\nb: export x", "b"),
        ("of a file that cannot be analysed", "main: import {n} from a\na: export * as n from data.json", "data.json"),
        ("of nothing", "main: import {n} from a\na: export * as n from !gone", ""),
        ("of the importer", "main: import {n} from a; export x\na: export * as n from main", ""),
        ("of the module itself", "main: import {n} from a\na: export * as n from a", ""),
    ]);
}

#[test]
fn cycles_of_re_exports_terminate() {
    check_all(&[
        ("a name round a cycle of two", "main: import {x} from a\na: export {x} from b\nb: export {x} from a", ""),
        ("a name to itself", "main: import {x} from a\na: export {x} from a", ""),
        ("a name round a cycle under other names", "main: import {x} from a\na: export {x as y, y as x} from a", ""),
        (
            "a name that leaves the cycle under another name",
            "main: import {x} from a\na: export {y as x} from b; export {z} from c\nb: export {z as y} from a\nc: export z",
            "c",
        ),
        ("stars in a cycle of two", "main: import {x} from a\na: export * from b\nb: export * from a; export x", "b"),
        (
            "stars in a cycle, found behind it",
            "main: import {x} from a\na: export * from b\nb: export * from a; export * from c\nc: export x",
            "c",
        ),
        (
            "stars in a cycle, entered in the middle",
            "main: import {x} from b\na: export * from b; export x\nb: export * from c\nc: export * from a",
            "a",
        ),
        ("a star to itself", "main: import {x} from a\na: export * from a; export * from b\nb: export x", "b"),
        (
            "stars in a cycle without the name",
            "main: import {x} from a\na: export * from b\nb: export * from a; export y",
            "",
        ),
        ("the importer is the definer", "main: import {x} from a; export x\na: export {x} from main", ""),
        (
            "the importer is one of two definers",
            "main: import {x} from a; export x\na: export * from main; export * from b\nb: export x",
            "b",
        ),
        (
            "the importer is on the way",
            "main: import {x} from a; export {x} from b\na: export {x} from main\nb: export x",
            "b",
        ),
        ("a file that imports itself", "main: import {x} from main; export {x} from b\nb: export x", "b"),
        (
            "the barrel is one of two definers",
            "main: import {x} from a\na: export {x} from b\nb: export * from a; export * from c; export {x} from c\nc: export x",
            "c",
        ),
        (
            "the way leads back to a definer in the barrel",
            "main: import {y} from a\na: export {y} from b; export x\nb: export {x as y} from a",
            "",
        ),
    ]);
}

#[test]
fn the_kind_of_an_import_reaches_the_definer() {
    check_all(&[
        ("import type", "main: import type {x} from a\na: export {x} from b\nb: export x", "type:b"),
        (
            "an inline type",
            "main: import {x, type T} from a\na: export {x} from b; export {T} from c\nb: export x\nc: export T",
            "b type:c",
        ),
        ("both kinds to one definer", "main: import {x, type T} from a\na: export * from b\nb: export x T", "b type:b"),
        (
            "the importer decides, not the barrel",
            "main: import {T} from a\na: export type {T} from b\nb: export T",
            "b",
        ),
        ("the same the other way", "main: import type {T} from a\na: export {T} from b\nb: export T", "type:b"),
        ("export type from", "main: export type {T} from a\na: export {T} from b\nb: export T", "type:b"),
        ("an inline type in a re-export", "main: export {type T} from a\na: export {T} from b\nb: export T", "type:b"),
        (
            "one name taken twice",
            "main: import {x} from a; import {x as y} from a\na: export {x} from b\nb: export x",
            "b",
        ),
    ]);
}
