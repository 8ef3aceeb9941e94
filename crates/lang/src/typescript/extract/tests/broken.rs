//! Files that do not parse, are not text, or are extremely large: they still give facts, and a problem.

use proptest::prelude::*;

use super::super::{ExtractOptions, Extractor, is_analysed};
use super::{extract, render};

/// Path, source → facts, and the problem.
#[track_caller]
fn check(path: &str, source: &str, found: &str, problem: &str) {
    let extraction = extract(path, source);
    let problems: Vec<String> =
        extraction.problems.into_iter().map(|problem| problem.in_file(path).to_string()).collect();
    assert_eq!(
        (render(&extraction.facts).trim_end().replace('\n', "; ").as_str(), problems.join("; ").as_str()),
        (found, problem)
    );
    assert_eq!(extraction.incomplete, !problem.is_empty());
}

#[test]
fn odd_but_valid_code_has_no_problem() {
    check("a.js", "import type {A} from 'x'; let a: A = 1", "1: x type Static {A type}", "");
    check("a.js", "#!/usr/bin/env node\nrequire('x')", "2: x runtime Require", "");
    check("a.js", "const a = <b>{import('x')}</b>", "1: x dynamic DynamicImport", "");
    check("a.ts", "const a = <B>require('x')", "1: x runtime Require", "");
    check("a.cjs", "return await import('x')", "1: x dynamic DynamicImport", "");
    check("a.cjs", "import 'x'; export {}", "1: x runtime Static", "");
    check("a.js", "with (a) { b = 010; delete c }\nrequire('x')", "2: x runtime Require", "");
    check("a.md", "import 'x'", "", "");
}

#[test]
fn errors_that_leave_a_tree() {
    check(
        "a.ts",
        "namespace N {\nimport x = require('x') }",
        "2: x runtime ImportEquals",
        "a.ts:2: does not parse: Import declarations in a namespace cannot reference a module; what could be read of the \
         file counts",
    );
}

#[test]
fn a_character_that_ends_the_tree_early() {
    check(
        "a.ts",
        "import 'x';\n#!late\nimport 'y' // z",
        "1: x runtime Static; 3: y runtime Static",
        "a.ts:2: does not parse: Invalid Character `!`; it was searched for import forms instead",
    );
}

#[test]
fn the_scan_finds_import_forms() {
    let source = "import a, {type b} from 'x'; import type {C} from 'y'; import 'z';\nexport * from 'e'; export {f} from 'g';\n\
        import h = require('i'); require('j'); function k() { require(`l`); require.resolve('m') } import('n');\n\
        '\\'import \"no\"'; /import 'no'/; // import 'no'\n/* require('no') */ `import 'no' ${require('o')}`; a.require('no'); it's\n] [ (";
    check(
        "a.ts",
        source,
        "1: x runtime Static; 1: y type Static; 1: z runtime Static; 2: e runtime Static; 2: g runtime Static; \
         3: i runtime ImportEquals; 3: j runtime Require; 3: l dynamic Require; 3: m dynamic RequireResolve; \
         3: n dynamic DynamicImport; 5: o runtime Require; export * = e",
        "a.ts:5: does not parse: Unterminated string (and 1 more); it was searched for import forms instead",
    );
}

#[test]
fn the_scan_tells_functions_from_other_braces() {
    let check = |source: &str, found: &str| {
        // No parser accepts a text that starts like this.
        let extraction = extract("a.js", &format!("] ({{ \"\n{source}"));
        let kinds =
            extraction.facts.requests.iter().map(|request| format!("{} {}", request.specifier, request.kind.as_str()));
        assert_eq!(kinds.collect::<Vec<_>>().join(", "), found, "{source}");
    };
    check("a = {b: require('x')}; if (c) { require('y') } else { require('z') }", "x runtime, y runtime, z runtime");
    check(
        "try { require('x') } catch (e) { require('y') } for (;;) { require('z') }",
        "x runtime, y runtime, z runtime",
    );
    check(
        "a = {get b() { return require('x') }, c() { require('y') }, d: require('z')}",
        "x dynamic, y dynamic, z runtime",
    );
    check("a(() => require('x'), require('y')); a = b => { require('z') }", "x dynamic, y runtime, z dynamic");
    check("const a = () => require('x')\nconst b = require('y')", "x dynamic, y runtime");
    check("function a(b: ?C): {d: e} { require('x') } require('y')", "x dynamic, y runtime");
    check("function a(): Map<B, C> { require('x') } d ? e(f) : {g: require('y')}", "x dynamic, y runtime");
    check("class A { b = require('x'); c(): ?D { require('y') } }", "x runtime, y dynamic");
    check(
        "import {type A, typeof B} from 'x'; import {type C, d} from 'y'; import e, {type F} from 'z'",
        "x type, y runtime, z runtime",
    );
    check("import typeof A from 'x'; export {type B} from 'y'; import {type} from 'z'", "x type, y type, z runtime");
    check("[function (require, module) { require('x') }, function () { require('y') }]", "x dynamic, y dynamic");
    check("/** @type {import('x')} */ /* @type {import('y')} */", "x type");
    check("type A = import('x').B; let b: typeof import('y'); c = import('z').then(d)", "x type, y type, z dynamic");
}

#[test]
fn binary_files_have_no_requests_and_wrong_bytes_are_reported() {
    let mut extractor = Extractor::new();
    let mut extract = |bytes: &[u8]| extractor.extract("a.js", bytes, &ExtractOptions::default());
    let binary = extract(b"import 'x'\0");
    assert_eq!((binary.facts.requests.len(), binary.problems.len()), (0, 1));
    let latin = extract(b"import 'x' // \xE9");
    assert_eq!((latin.facts.requests.len(), latin.problems.len(), latin.incomplete), (1, 1, true));
    let wide: Vec<u8> = "\u{FEFF}import 'x'".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = extract(&wide);
    assert_eq!((wide.facts.requests.len(), wide.problems.len()), (1, 0));
    assert_eq!(extract(b"\xEF\xBB\xBFimport 'x'").facts.requests.len(), 1);
}

#[test]
fn names_that_are_analysed() {
    for path in
        ["a.ts", "a.d.mts", "b/a.cts", "a.tsx", "a.jsx", "a.mjs", "a.cjs", "a.js", "a.vue", "a.svelte", "a.astro"]
    {
        assert!(is_analysed(path), "{path}");
    }
    for path in ["a", "ts", "a.TS", "a.json", "a.ts/b", "a.md", ""] {
        assert!(!is_analysed(path), "{path}");
    }
}

#[test]
fn fifty_megabytes_on_one_line() {
    let source = format!("import 'x';{}", "a=b+'c';".repeat((50 << 20) / 8));
    let extraction = extract("a.js", &source);
    assert_eq!(render(&extraction.facts), "1: x runtime Static\n");
    assert!(extraction.incomplete);
}

/// A careless scanner would search the rest of the line again and again.
#[test]
fn the_scan_takes_linear_time() {
    for part in ["(/[", "'\\'", "import {", "`${import a ", "export * ", "/*", "require(\"", "<!--", "[//"] {
        let source = format!("import 'x';{} ] ( {{ \"", part.repeat((4 << 20) / part.len()));
        let extraction = extract("a.js", &source);
        let first = extraction.facts.requests.first().map(|request| &*request.specifier);
        assert_eq!(first, Some("x"), "{part}");
    }
}

#[test]
fn long_comments_take_linear_time() {
    for part in
        ["@type {", "import('x',", "@import {a ", "{@link ", "[a", "@param [", "* `", "@property {", "@module **_"]
    {
        let source = format!("/** @module @typedef {{Object}} A {} */ import 'x'", part.repeat((1 << 20) / part.len()));
        assert_eq!(
            extract("a.js", &source).facts.requests.last().map(|request| &*request.specifier),
            Some("x"),
            "{part}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any sequence of the searched words gives facts, and the same ones each time.
    #[test]
    fn any_text_gives_the_same_facts_twice(
        parts in prop::collection::vec(prop::sample::select(vec![
            "import", "export", "from", "'x'", "\"y\"", "`z`", "`${", "}", "{", "(", ")", "*", "as", "type", "require",
            ".", ",", ";", "\n", " ", "/*", "*/", "/**", "@type", "@import", "//", "/", "=", "=>", "<", ">", "declare module",
            "namespace", "class", "function", "é", "\\u0041", "<script>", "</script>", "---", "@module", "[", "]",
        ]), 0..60),
        path in prop::sample::select(vec!["a.ts", "a.js", "a.tsx", "a.d.ts", "a.vue", "a.svelte", "a.astro"]),
    ) {
        let source = parts.join(" ");
        prop_assert_eq!(extract(path, &source), extract(path, &source));
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        Extractor::new().extract("a.js", &bytes, &ExtractOptions::default());
    }
}
