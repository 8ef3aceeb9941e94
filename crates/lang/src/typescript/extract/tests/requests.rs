//! Every form of request, with its kind.

use super::{extract, render};

/// Source → requests, separated by `; `, for a TypeScript file.
#[track_caller]
fn check(source: &str, expected: &str) {
    check_in("a.ts", source, expected);
}

#[track_caller]
fn check_in(path: &str, source: &str, expected: &str) {
    let extraction = extract(path, source);
    assert_eq!(extraction.problems, [], "{source}");
    let lines: Vec<String> = render(&extraction.facts)
        .lines()
        .filter(|line| !line.starts_with("export"))
        .map(|line| line.strip_prefix("1: ").unwrap_or(line).to_owned())
        .collect();
    assert_eq!(lines.join("; "), expected, "{source}");
}

#[test]
fn static_imports_take_names_by_kind() {
    check("import 'x'", "x runtime Static");
    check("import {} from 'x'", "x runtime Static");
    check("import d, {a as b} from 'x'", "x runtime Static {default runtime} {a runtime}");
    check("import * as n from 'x'", "x runtime Static");
    check("import {'odd name' as a} from 'x'", "x runtime Static {odd name runtime}");
    check("import type d from 'x'", "x type Static {default type}");
    check("import type {a} from 'x'", "x type Static {a type}");
    check("import type * as n from 'x'", "x type Static");
    check("import {type A} from 'x'", "x type Static {A type}");
    check("import {type A, type B} from 'x'", "x type Static {A type} {B type}");
    check("import {a, type B} from 'x'", "x runtime Static {a runtime} {B type}");
    check("import d, {type A} from 'x'", "x runtime Static {default runtime} {A type}");
    check("import type from 'x'", "x runtime Static {default runtime}");
    check("import {type} from 'x'", "x runtime Static {type runtime}");
    check("import {type as} from 'x'", "x type Static {as type}");
    check("import json from './a.json' with {type: 'json'}", "./a.json runtime Static {default runtime}");
    check("import defer * as n from 'x'", "x runtime Static");
    check("import '\\x78\\u{79}'", "xy runtime Static");
    check("import ''", "");
}

#[test]
fn imports_inside_other_statements() {
    let a = "x runtime Static {a runtime}";
    check_in("a.js", "function f() { import { a } from 'x'; return a; }", a);
    check_in("a.js", "if (b) import { a } from 'x';", a);
    check_in("a.js", "export const f = async () => {\nimport {a} from 'x'\n}", "2: x runtime Static {a runtime}");
    check("{ import type { T } from 'x' }", "x type Static {T type}");
    check("const s = `\nimport a from 'x'\n`", "");
    check("/*\nimport a from 'x'\n*/ f()", "");
}

#[test]
fn a_written_resolution_mode_is_kept() {
    check("import type {A} from 'x' with {'resolution-mode': 'import'}", "x type Static as Import {A type}");
    check("export type {A} from 'x' with {\"resolution-mode\": \"require\"}", "x type Static as Require {A type}");
    check("let a: import('x', {with: {'resolution-mode': 'require'}}).A", "x type ImportType as Require {A type}");
    check("/// <reference types='x' resolution-mode='import' />", "x type ReferenceTypes as Import");
}

#[test]
fn exports_from_are_requests_by_kind() {
    check("export {a as b} from 'x'", "x runtime Static {a runtime}");
    check("export {type A} from 'x'", "x type Static {A type}");
    check("export {type A, b} from 'x'", "x runtime Static {A type} {b runtime}");
    check("export type {A} from 'x'", "x type Static {A type}");
    check("export {} from 'x'", "x runtime Static");
    check("export {default} from 'x'", "x runtime Static {default runtime}");
    check("export * from 'x'", "x runtime Static");
    check("export * as n from 'x'", "x runtime Static");
    check("export type * from 'x'", "x type Static");
}

#[test]
fn import_equals_of_a_module_is_a_request() {
    check("import x = require('x')", "x runtime ImportEquals");
    check("import type x = require('x')", "x type ImportEquals");
    check("export import x = require('x')", "x runtime ImportEquals");
    check("import x = N.y", "");
}

#[test]
fn dynamic_imports_of_literals_are_requests() {
    check("import('x')", "x dynamic DynamicImport");
    check("import(`x`)", "x dynamic DynamicImport");
    check("import('x', {with: {type: 'json'}})", "x dynamic DynamicImport");
    check("import /* why */ ( /* not */ 'x' )", "x dynamic DynamicImport");
    check("() => { class A { a = [import('x')] } }", "x dynamic DynamicImport");
    check("import(x)", "");
    check("import.defer('x')", "x dynamic DynamicImport");
    check("import.source('x')", "x dynamic DynamicImport");
}

#[test]
fn templates_and_globs_are_patterns() {
    check("import(`./a/${b}.js`)", "glob ./a/*.js");
    check("import(`./a/${b}${c}/[${d}].js?raw`)", "glob ./a/*/[[]*[]].js");
    check("import(`${a}/b`)", "");
    check("import(`a/${b}`)", "");
    check("import.meta.glob('./a/*.ts')", "glob ./a/*.ts");
    check("import.meta.glob(['./a/*.ts', `!**/b.ts`], {eager: true})", "glob ./a/*.ts !**/b.ts");
    check("import.meta.globEager('./a')", "glob ./a");
    check("import.meta.glob(a)", "");
    check("x.glob('./a')", "");
}

#[test]
fn require_is_a_request_at_run_time_or_dynamic() {
    check_in("a.js", "require('x')", "x runtime Require");
    check_in("a.cjs", "require(`x`)", "x runtime Require");
    check_in("a.js", "require?.('x')", "x runtime Require");
    check_in("a.js", "if (a) { b = require('x').c() }", "x runtime Require");
    check_in("a.js", "\\u0072equire('x')", "x runtime Require");
    check_in("a.js", "class A { a = require('x'); static { require('y') } }", "x runtime Require; y runtime Require");
    check_in("a.js", "class A { [require('x')] = 1; [require('y')]() {} }", "x runtime Require; y dynamic Require");
    for function in [
        "function f() { require('x') }",
        "(function () { require('x') })()",
        "(() => require('x'))()",
        "(a = require('x')) => 1",
        "({ a() { require('x') } })",
        "({ get a() { return require('x') } })",
        "({ [require('x')]() {} })",
        "class A { constructor() { require('x') } }",
        "class A { static set a(b) { require('x') } }",
    ] {
        check_in("a.js", function, "x dynamic Require");
    }
    check_in("a.js", "require.resolve('x')", "x dynamic RequireResolve");
    check_in("a.js", "require(a); require(); require.cache['x']; a.require('x'); new require('x')", "");
    check_in("a.js", "(require)('x')", "");
    check_in("a.js", "return require('x')", "x runtime Require");
}

#[test]
fn require_as_a_parameter_is_a_dynamic_request() {
    check_in("a.js", "define(function (require) { require('x') })", "x dynamic RequireParam");
    check_in("a.js", "define((require, exports) => { () => require.resolve('x') })", "x dynamic RequireParam");
    check_in(
        "a.js",
        "function f(...require) { require('x') } require('y')",
        "x dynamic RequireParam; y runtime Require",
    );
    check_in("a.js", "function f({require}) { require('x') }", "x dynamic Require");
}

#[test]
fn functions_of_create_require_are_requires() {
    let module = "import {createRequire} from 'm'; ";
    check_in(
        "a.js",
        &format!("{module}const r = createRequire(u); r('x')"),
        "m runtime Static {createRequire runtime}; x runtime RequireElsewhere",
    );
    check_in(
        "a.mjs",
        "import {createRequire as c} from 'm'; function f() { r('x'); r.resolve('y') } const r = c(import.meta.url)",
        "m runtime Static {createRequire runtime}; x dynamic Require; y dynamic RequireResolve",
    );
    check_in(
        "a.js",
        "import m from 'm'; var r = m.createRequire(__filename); r('x')",
        "m runtime Static {default runtime}; x runtime Require",
    );
    check_in(
        "a.js",
        "const {createRequire: c} = require('m'), r = c(import.meta.url); r('x')",
        "m runtime Require; x runtime Require",
    );
    check_in(
        "a.js",
        "createRequire(__filename)('x'); createRequire(fileURLToPath(import.meta.url)).resolve('y')",
        "x runtime Require; y dynamic RequireResolve",
    );
    let beside = "const r = createRequire(new URL('../o/x.js', import.meta.url)); ";
    check_in(
        "a.js",
        &format!("{beside}r('./y'); r('z')"),
        "../o/x.js dynamic Url; ../o/y runtime Require; z runtime Require",
    );
    check_in(
        "a.js",
        "createRequire(new URL('o/x.js', import.meta.url).href)('./y')",
        "o/x.js dynamic Url; ./o/y runtime Require",
    );
    check_in("a.js", "createRequire('/o/x.js')('./y')", "./y runtime RequireElsewhere");
    check_in("a.js", "createRequire; const r = other(u); r('x')", "");
}

#[test]
fn resolved_metadata_and_urls_are_requests() {
    check("import.meta.resolve('x')", "x dynamic MetaResolve");
    check("new URL('./x.wasm', import.meta.url)", "./x.wasm dynamic Url");
    check("new URL('x', base); new URL('x'); URL('x', import.meta.url)", "");
}

#[test]
fn mocks_of_modules_are_requests() {
    check("vi.mock('x')", "x dynamic Mock");
    check("vi.mock(import('x'))", "x dynamic DynamicImport");
    check("await vi.importActual<typeof import('x')>('x')", "x type ImportType; x dynamic Mock");
    check("jest.mock('x').unmock('y')", "x dynamic Mock; y dynamic Mock");
    check("jest.requireActual('x'); jest.unstable_mockModule('y', f)", "x dynamic Mock; y dynamic Mock");
    check("mock.module('x', f)", "x dynamic Mock");
    check("vi.fn('x'); jest.spyOn('x'); other.mock('x')", "");
}

#[test]
fn import_types_are_requests_for_types() {
    check("let a: import('x')", "x type ImportType");
    check("let a: import('x').A.B<import('y').C>", "x type ImportType {A type}; y type ImportType {C type}");
    check("type A = typeof import('x')", "x type ImportType");
    check("declare function f(a: import('x').A): void", "x type ImportType {A type}");
    check("f<import('x').A>()", "x type ImportType {A type}");
    check("interface A extends B<import('x').C> {}", "x type ImportType {C type}");
}

#[test]
fn imports_of_ambient_modules_and_augmentations_are_requests() {
    check(
        "declare module 'x' { import a from 'y'; export * from 'z'; import b = require('w') }",
        "y type InModule {default type}; z type InModule; w type InModule",
    );
    check("export {}; declare module 'x' { export {a} from 'y' }", "x type Augment; y type InModule {a type}");
    check("declare module 'x'", "");
    check("import 'y'; declare module 'x'", "y runtime Static; x type Augment");
    check("import.meta; declare module 'x' {}", "x type Augment");
    check("import a = require('y'); declare module 'x' {}", "y runtime ImportEquals; x type Augment");
    check("export const a = 1; declare module 'x' {}", "x type Augment");
    check("declare module 'x' { let a: import('y') }", "y type ImportType");
    check("export as namespace A; declare module 'x' {}", "");
    check("declare global { namespace N { let a: import('x') } }", "x type ImportType");
}

#[test]
fn reference_directives_at_the_head_are_requests() {
    check("/// <reference path=\"./x.d.ts\" />", "./x.d.ts type ReferencePath");
    check("#!/bin/x\n/* head */ // b\n///   <REFERENCE  TYPES = 'x' />", "3: x type ReferenceTypes");
    check("a;\n/// <reference path='x' />", "");
    check("/// <reference lib='x' />", "");
    check("// <reference path='x' />", "");
    check("/// <reference no-default-lib='true' path='x' />", "");
}

#[test]
fn imports_in_jsdoc_types_are_requests() {
    let check = |source: &str, expected: &str| check_in("a.js", source, expected);
    check("/** @type {import('x').A} */ let a", "x type ImportType {A type}");
    check(
        "/**\n * @param {{\n *   a: import('x').A,\n *   b: '}'\n * }} a\n * @returns {Promise<import(\"y\")>}\n */ function f(a) {}",
        "3: x type ImportType {A type}; 6: y type ImportType",
    );
    check("/** @typedef {import('x').A} A */", "x type ImportType {A type}");
    check("/** @typedef {Object} A\n * @property {import('x').B} b */", "2: x type ImportType {B type}");
    check("/** @typedef {string} A\n * @property {import('x').B} b */", "");
    check("/** @param a {import('x').A} */ function f(a) {}", "x type ImportType {A type}");
    check("/** @param [a=1] {import('x').A} */ function f(a) {}", "x type ImportType {A type}");
    check("/** @type import('x').A */ let a", "x type ImportType {A type}");
    check("/** @template {import('x').A} T */ class B {}", "x type ImportType {A type}");
    check("/** @import {A, B as C} from 'x' */", "x type Static {A type} {B type}");
    check("/** @import d, * as n from 'x' */", "x type Static {default type}");
    check("/**\n * @import {\n *   A,\n * } from \"x\"\n */", "4: x type Static {A type}");
    check("/** Prose. @type {import('x')} */ let a", "x type ImportType");
    check("/** @async @returns {import('x')} */ function f() {}", "x type ImportType");
    check("/**\n * @inline\n * @typedef {import('x').A} A */", "3: x type ImportType {A type}");
    check("/** @template A, [B=import('x').C] */ class D {}", "x type ImportType {C type}");
    check("/** @type {(...import('x').A)} */ let a", "x type ImportType {A type}");
    check("/** @type {`a${import('x').A}`} */ let a", "x type ImportType {A type}");
    check("/** @param `a` {import('x').A} */ function f(a) {}", "x type ImportType {A type}");
    check("/** @import from from 'x' */", "x type Static {default type}");
    check("/** `Prose @type {import('x')} */ let a", "x type ImportType");
    check("/** @other `@type {import('x')} @type {import('y')}` */ let a", "");
    check("/** See {@link import('x')}, `@type {import('y')}`, a@type {import('z')} */ let a", "");
    check("/** @example import('x') @other {import('y')} */ let a", "");
    check("/* @type {import('x')} */ let a; // @type {import('y')}", "");
    check("let a = '/** @type {import(\"x\")} */'", "");
    check_in("a.ts", "/** @type {import('x')} */ let a", "");
}

#[test]
fn duplicates_fold_and_order_is_source_order() {
    check(
        "import 'x';\nimport {a} from 'x';\nimport {a, b} from 'x'; import type {T} from 'x'",
        "x runtime Static {a runtime} {b runtime}; 3: x type Static {T type}",
    );
    check("f(() => import('b'));\nimport 'a'", "b dynamic DynamicImport; 2: a runtime Static");
    check("import 'a';\r\nimport 'b';\rimport 'c'", "a runtime Static; 2: b runtime Static; 3: c runtime Static");
}

#[test]
fn ten_thousand_imports_are_read_with_their_lines() {
    let source: String = (0..10_000).map(|i| format!("import {{a{i}}} from './m{i}'; export {{a{i}}};\n")).collect();
    let facts = extract("a.ts", &source).facts;
    assert_eq!((facts.requests.len(), facts.imports.len(), facts.exports.len()), (10_000, 10_000, 10_000));
    assert_eq!(facts.requests.last().map(|request| request.line), Some(10_000));
}
