//! Situations without an answer in ECMAScript: `export =`, files whose exports are unknown, package boundaries.

use super::situations::check_all;

#[test]
fn names_are_found_through_an_export_assignment() {
    check_all(&[
        ("default of a local value", "main: import d from a\na: export {default} from b\nb: export = v", "b"),
        ("a member of a local value", "main: import {x} from a\na: export {x} from b\nb: export = v", "b"),
        (
            "a named export wins",
            "main: import {x} from a\na: export {x} from b\nb: export = v; export {x} from c\nc: export x",
            "c",
        ),
        (
            "a required module, by name",
            "main: import {x} from a\na: import n = require b; export = n\nb: export x",
            "b",
        ),
        (
            "a required module, deeper",
            "main: import {x} from a\na: import n = require b; export = n\nb: export * from c\nc: export x",
            "c",
        ),
        (
            "a required module, its export =",
            "main: import d from a\na: import n = require b; export = n\nb: export = v",
            "b",
        ),
        (
            "a required module, its default",
            "main: import d from a\na: import n = require b; export = n\nb: export {default} from c\nc: export default",
            "c",
        ),
        (
            "a required module without default",
            "main: import d from a\na: import n = require b; export = n\nb: export x",
            "b",
        ),
        (
            "required over two modules",
            "main: import d from a\na: import n = require b; export = n\nb: import n = require c; export = n\nc: export = v",
            "c",
        ),
        (
            "a required module that is CommonJS",
            "main: import {x} from a\na: import n = require b; export = n\nb: import c",
            "b",
        ),
        (
            "a required module that does not exist",
            "main: import {x} from a\na: import n = require !gone; export = n",
            "",
        ),
        (
            "a namespace import assigned",
            "main: import {x} from a\na: import * as n from b; export = n\nb: export x",
            "b",
        ),
        ("a default import assigned", "main: import d from a\na: import v from b; export = v\nb: export default", "b"),
        (
            "a member of an imported value",
            "main: import {x} from a\na: import {v} from b; export = v\nb: export {v} from c\nc: export v",
            "c",
        ),
        (
            "behind a star it has any name that no module has",
            "main: import {x} from a\na: export * from b; export * from c\nb: export = v\nc: export y",
            "b",
        ),
        (
            "behind a star it yields to a definer",
            "main: import {x} from a\na: export * from b; export * from c\nb: export = v\nc: export x",
            "c",
        ),
        (
            "an assigned module behind a star",
            "main: import {x} from a\na: export * from b\nb: import n = require c; export = n\nc: export x",
            "c",
        ),
        ("default does not reach it through a star", "main: import d from a\na: export * from b\nb: export = v", ""),
        (
            "beside a star it yields to the star",
            "main: import {x} from a\na: export {x} from b\nb: export = v; export * from c\nc: export x",
            "c",
        ),
        (
            "modules assigned to each other",
            "main: import {x} from a\na: import n = require b; export = n\nb: import n = require a; export = n",
            "",
        ),
    ]);
}

#[test]
fn files_whose_exports_are_unknown() {
    check_all(&[
        ("default of JSON", "main: import {d} from a\na: export {default as d} from data.json", "data.json"),
        (
            "a name of a style sheet, imported and exported",
            "main: import {s} from a\na: import s from x.css; export {s}",
            "x.css",
        ),
        ("a name of CommonJS", "main: import {x} from a\na: export {x} from b\nb: import c", "b"),
        ("a name of an empty file", "main: import {x} from a\na: export {x} from b\nb:", "b"),
        (
            "any name through a star, when no module has it",
            "main: import {x} from a\na: export * from b; export * from c\nb: import fs\nc: export y",
            "b",
        ),
        (
            "a definer wins over a star to CommonJS",
            "main: import {x} from a\na: export * from b; export * from c\nb: import fs\nc: export x",
            "c",
        ),
        (
            "a named re-export of CommonJS beside a definer",
            "main: import {x} from a\na: export * from b; export * from c\nb: export {x} from d.json\nc: export x",
            "c d.json",
        ),
        (
            "hidden behind a definer",
            "main: import {x} from a\na: export * from b\nb: export {x} from !gone; export * from c.json",
            "",
        ),
        ("default does not reach it through a star", "main: import d from a\na: export * from c.json", ""),
    ]);
}

#[test]
fn tunnels_end_at_the_border_of_a_package() {
    check_all(&[
        ("a barrel of a package", "main: import {x} from p/index\np/index: export * from p/x\np/x: export x", "p/x"),
        (
            "not into another package by name",
            "main: import {x} from p/index\np/index: export {x} from q/x\nq/x: export x",
            "",
        ),
        (
            "not into another package by star",
            "main: import {x} from p/index\np/index: export * from q/x\nq/x: export x",
            "",
        ),
        (
            "not into another package by namespace",
            "main: import {n} from p/index\np/index: export * as n from q/x\nq/x: export x",
            "",
        ),
        (
            "not into another package by export =",
            "main: import {x} from p/index\np/index: import n = require q/x; export = n\nq/x: export x",
            "",
        ),
        (
            "not into an unanalysed file of another package",
            "main: import {x} from p/index\np/index: export {x} from q/x.json",
            "",
        ),
        (
            "the part in the same package is kept",
            "main: import {x} from p/index\np/index: export * from q/x; export * from p/x\nq/x: export x\np/x: export x",
            "p/x",
        ),
        (
            "from the repository into a package",
            "main: import {x} from a\na: export {x} from p/index\np/index: export {x} from p/x\np/x: export x",
            "p/x",
        ),
        (
            "from the repository into two packages",
            "main: import {x} from a\na: export * from p/x; export * from q/x\np/x: export x\nq/x: export x",
            "p/x q/x",
        ),
        (
            "into a package and not out of it",
            "main: import {x} from a\na: export * from p/x\np/x: export * from q/x; export y\nq/x: export x",
            "",
        ),
        ("not back into the repository", "main: import {x} from p/index\np/index: export {x} from a\na: export x", ""),
    ]);
}
