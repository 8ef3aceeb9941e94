//! Exported names and their sources.

use super::{extract, render};

#[track_caller]
fn check(source: &str, expected: &str) {
    check_in("a.ts", source, expected);
}

#[track_caller]
fn check_in(path: &str, source: &str, expected: &str) {
    let rendered = render(&extract(path, source).facts);
    let exports: Vec<&str> = rendered.lines().filter_map(|line| line.strip_prefix("export ")).collect();
    assert_eq!(exports.join("; "), expected, "{source}");
}

#[test]
fn exported_declarations_are_exports_by_name() {
    check("export const b = 1, a = 2; export let c", "a; b; c");
    check("export const {a, b: [c, ...d], e = 1, ...f} = g", "a; c; d; e; f");
    check("export function f(); export function f() {}", "f");
    check(
        "export class A {} export interface A {} export type B = 1; export enum C {} export namespace D.E {}",
        "A; B; C; D",
    );
    check("export declare const a; export abstract class B {}", "B; a");
    check(
        "const a = 1; export {a, a as b, a as default, a as 'odd name'}; export type {T}",
        "T; a; b; default; odd name",
    );
}

#[test]
fn default_exports_and_export_assignments_have_names_of_their_own() {
    check("export default 1", "default");
    check("export default function f() {}", "default");
    check("export default class {}", "default");
    check("export default interface A {}", "default");
    check("const a = 1; export default a", "default");
    check("export = a", "export=");
}

#[test]
fn re_exports_name_their_source() {
    check("export {a as b, default} from 'x'", "b = a of x; default = default of x");
    check("export * as n from 'x'; export * from 'y'", "n = all of x; * = y");
    check("import {a as b} from 'x'; export {b as c}", "c = a of x");
    check("export {b}; import b from 'x'", "b = default of x");
    check("import * as n from 'x'; export {n}; export default n", "default = all of x; n = all of x");
    check("import a from 'x'; export default a", "default = default of x");
    check("import a = require('x'); export = a", "export= = all of x");
    check("export import a = require('x')", "a = all of x");
    check("import * as n from 'x'; export import a = n.b; export import c = d.e", "a = b of x; c");
    check("import type {A} from 'x'; export type {A}", "A = A of x");
    check("export {a} from 'x'; export {a} from 'y'", "a = a of x; a = a of y");
}

#[test]
fn declarations_inside_module_blocks_are_not_exports_of_the_file() {
    check("declare module 'x' { export const a: 1; export {b} from 'y'; export * from 'z' }", "");
    check("namespace N { export const a = 1 }", "");
    check("export declare namespace N { const a: 1; export {a} }", "N");
}

#[test]
fn declaration_files_export_what_they_declare() {
    let check = |source: &str, expected: &str| check_in("a.d.ts", source, expected);
    check("export declare const a: 1; declare const b: 2; interface C {}", "C; a; b");
    check("import 'x'; declare function f(): void", "f");
    check("export {}; declare const b: 2", "");
    check("declare const b: 2; export default b", "default");
    check("declare const b: 2; export = b", "export=");
    check("declare const b: 2", "");
    check("import a from 'x'; declare const b: 2", "b");
    check_in("a.ts", "export declare const a: 1; declare const b: 2", "a");
    check_in("a.d.css.ts", "import 'x'; declare const b: 2", "b");
}

#[test]
fn exports_are_sorted_for_binary_search() {
    let facts = extract("a.ts", "export {b as a, c as a} from 'x'; export const z = 1, A = 2").facts;
    assert!(facts.exports.is_sorted());
    assert_eq!(facts.exports.partition_point(|export| &*export.name < "a"), 1);
}
