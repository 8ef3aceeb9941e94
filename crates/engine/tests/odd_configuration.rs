//! Odd and hostile configurations and manifests: none of them fails a run, and unrelated files keep their edges.

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::{GraphOptions, GraphOutcome};
use stan_repo::MemorySystem;
use support::{ROOT, cold, edges, fixture, targets};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

/// `a.ts` beside one odd file imports a neighbour, a package and an alias.
fn beside(name: &str, contents: &str) -> GraphOutcome {
    let system = MemorySystem::from_fixture(
        "
        //- /r/a.ts
        import './b'; import 'dep'; import 'dep/sub'; import '#in'; import '@/b';
        //- /r/b.ts
        //- /r/node_modules/dep/index.d.ts
        //- /r/node_modules/dep/sub.d.ts
        ",
    );
    system.set_file(format!("{ROOT}/{name}"), contents);
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    assert!(targets(&outcome, "a.ts").contains(&"b.ts".to_owned()), "{name}: {contents}");
    outcome
}

#[test]
fn a_broken_extends_costs_that_link_only_and_is_reported_once() {
    check(
        r#"
        //- /r/tsconfig.json
        {"extends": ["./good.json", "./gone.json", "./broken.json", "not-installed/tsconfig.json"]}
        //- /r/good.json
        {"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}
        //- /r/broken.json
        {{{
        //- /r/src/a.ts
        import '@/b';
        //- /r/src/b.ts
        import '@/a';
        "#,
        expect![[r#"
            src/a.ts -> src/b.ts runtime
            src/b.ts -> src/a.ts runtime
            error: broken.json:1: not valid JSON: a property name expected; only what could be read counts
            error: tsconfig.json: `extends` names "./gone.json", which does not exist; that link is left out
            error: tsconfig.json: `extends` names "not-installed/tsconfig.json", which does not exist; that link is left out
        "#]],
    );
}

#[test]
fn extends_in_a_circle() {
    check(
        r#"
        //- /r/tsconfig.json
        {"extends": "./one.json", "compilerOptions": {"paths": {"@/*": ["./src/*"]}}}
        //- /r/one.json
        {"extends": "./two.json"}
        //- /r/two.json
        {"extends": ["./one.json", "./two.json"]}
        //- /r/src/a.ts
        import '@/b';
        //- /r/src/b.ts
        "#,
        expect![[r#"
            src/a.ts -> src/b.ts runtime
            error: one.json: `extends` goes round in a circle: one.json -> two.json -> one.json; the last step is left out
            error: two.json: `extends` goes round in a circle: two.json -> two.json; the last step is left out
        "#]],
    );
}

#[test]
fn a_tsconfig_with_comments_and_trailing_commas() {
    check(
        r#"
        //- /r/tsconfig.json
        // comment
        {
          /* comment */ "compilerOptions": {
            "paths": { "@/*": ["./src/*",], }, // comment
          },
        }
        //- /r/src/a.ts
        import '@/b';
        //- /r/src/b.ts
        "#,
        expect![[r#"
            src/a.ts -> src/b.ts runtime
        "#]],
    );
}

#[test]
fn configurations_of_every_odd_shape() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let references: String = (0..2_000).map(|i| format!("{{\"path\": \"./p{i}\"}},")).collect();
    let references = format!("{{\"references\": [{references}]}}");
    let pattern = format!("{{\"include\": [\"{}\"], \"exclude\": [\"{}\"]}}", "**/".repeat(2_000), "*a".repeat(2_000));
    for text in [
        "",
        " ",
        "not json",
        "null",
        "[]",
        "1",
        "\"x\"",
        "{",
        "{\"compilerOptions\"",
        "{\"compilerOptions\": null, \"extends\": null, \"files\": null, \"include\": null, \"references\": null}",
        "{\"compilerOptions\": [], \"extends\": {}, \"files\": {}, \"include\": 1, \"exclude\": true, \"references\": {}}",
        "{\"compilerOptions\": {\"paths\": [], \"baseUrl\": 1, \"rootDirs\": {}, \"moduleSuffixes\": \"x\"}}",
        "{\"compilerOptions\": {\"paths\": {\"@/*\": null, \"*\": [], \"**\": [\"*\"], \"a*b*c\": [\"*\"], \"\": [\"\"], \"@/**\": [1, null, {}]}}}",
        "{\"compilerOptions\": {\"paths\": {\"*\": [\"*\", \"./*\", \"../*\", \"/*\", \"../../../../*\", \"**\"]}}}",
        "{\"compilerOptions\": {\"module\": 7, \"moduleResolution\": \"psychic\", \"customConditions\": [1, {}, null, \"\"]}}",
        "{\"compilerOptions\": {\"baseUrl\": \"../../../../..\", \"rootDirs\": [\"\", \"/\", \"..\", \".\"], \"typeRoots\": [\"/\", \"..\", 1]}}",
        "{\"extends\": [\"\", \".\", \"..\", \"/\", \"./\", \"tsconfig.json\", 1, null, [], \"./tsconfig.json\"]}",
        "{\"files\": [\"\", \"/\", \"../../x.ts\", 1], \"include\": [\"\", \"**\", \"**/**/**\", \"[\", \"{\", \"\\u0000\"], \"exclude\": [\"\"]}",
        "{\"references\": [{\"path\": \".\"}, {\"path\": \"./tsconfig.json\"}, {\"path\": \"..\"}, {}, 1, null, \"x\"]}",
        "{\"compilerOptions\": {}, \"compilerOptions\": 1, \"compilerOptions\": {\"paths\": {}}}",
        "\u{feff}{}",
        "{\"extends\": \"${configDir}/tsconfig.json\", \"compilerOptions\": {\"paths\": {\"@/*\": [\"${configDir}/*\"]}}}",
        &deep,
        &references,
        &pattern,
    ] {
        beside("tsconfig.json", text);
        beside("jsconfig.json", text);
    }
}

#[test]
fn manifests_of_every_odd_shape() {
    let deep = format!("{{\"exports\": {}null{}}}", "{\"a\":".repeat(20_000), "}".repeat(20_000));
    for text in [
        "",
        "not json",
        "null",
        "[]",
        "1",
        "{",
        "{\"name\": null, \"main\": {}, \"types\": [], \"type\": 1, \"exports\": 1}",
        "{\"name\": \"\", \"main\": \"\", \"types\": \"\", \"type\": \"\"}",
        "{\"name\": \"../x\", \"main\": \"../../../b.ts\"}",
        "{\"main\": \".\", \"types\": \"..\"}",
        "{\"main\": \"/\", \"types\": \"/r/b.ts\"}",
        "{\"main\": \"\\u0000\"}",
        "{\"typesVersions\": null}",
        "{\"typesVersions\": {\"*\": null}}",
        "{\"typesVersions\": {\"*\": {\"*\": [1, null, \"../*\"]}}}",
        "{\"typesVersions\": {\"not a range\": {\"*\": [\"x\"]}, \">=0\": {\"**\": [\"**\"], \"*\": \"x\"}}}",
        "{\"workspaces\": 1}",
        "{\"workspaces\": [1, null, \"\", \"**\", \"..\", \"/\", \"[\", \"!\", \"!!x\", \"../../*\"]}",
        "{\"workspaces\": {\"packages\": {}}}",
        "{\"imports\": {\"#in\": {\"default\": {\"default\": null}}, \"#\": \"./b.ts\"}}",
        "{\"imports\": {\"#in\": [\"x\", null, {\"node\": \"./b.ts\"}], \"#*\": \"./*\", \"#/*\": \"../*\"}}",
        "{\"browser\": {\"./b.ts\": false}}",
        &deep,
    ] {
        beside("package.json", text);
        beside("node_modules/dep/package.json", text);
    }
}

/// Each of these is the `exports` of a package; the expected answer is what TypeScript resolves `dep` and `dep/sub` to.
#[test]
fn exports_of_every_odd_shape() {
    let nested = |depth: usize| format!("{}\"./index.d.ts\"{}", "{\"types\": ".repeat(depth), "}".repeat(depth));
    let deep = nested(50);
    // Deeper than any real manifest, so any answer without a crash is acceptable.
    exported(&nested(1_000));
    let falsy = ["null", "0", "false", "\"\""];
    for exports in falsy {
        assert_eq!(exported(exports), ["index.d.ts", "sub.d.ts"], "no exports at all: {exports}");
    }
    let nothing: &[&str] = &[];
    for (exports, expected) in [
        ("[]", nothing),
        ("{}", nothing),
        ("1", nothing),
        ("true", nothing),
        ("\"index.d.ts\"", nothing),
        ("\"./gone.d.ts\"", nothing),
        ("\"./../dep/index.d.ts\"", nothing),
        ("\"../dep/index.d.ts\"", nothing),
        ("\"/r/node_modules/dep/index.d.ts\"", nothing),
        ("\"./node_modules/x/index.d.ts\"", nothing),
        ("{\".\": null}", nothing),
        ("{\".\": {\"types\": null, \"default\": \"./index.d.ts\"}}", &["index.d.ts"]),
        ("{\".\": {\"types\": {\"import\": null}}}", nothing),
        ("{\".\": 1, \"./sub\": true}", nothing),
        ("{\"types\": \"./index.d.ts\", \"./sub\": \"./sub.d.ts\"}", nothing),
        ("\"./index.d.ts\"", &["index.d.ts"]),
        ("[null, 1, {}, \"./index.d.ts\"]", &["index.d.ts"]),
        ("[\"./gone.d.ts\", \"./index.d.ts\"]", &["index.d.ts"]),
        ("{\".\": [{\"never\": \"./sub.d.ts\"}, \"./index.d.ts\"]}", &["index.d.ts"]),
        (
            "{\".\": {\"never\": 1, \"types\": \"./index.d.ts\"}, \"./sub\": \"./sub.d.ts\"}",
            &["index.d.ts", "sub.d.ts"],
        ),
        ("{\".\": \"./index.d.ts\", \"./*\": \"./*.d.ts\"}", &["index.d.ts", "sub.d.ts"]),
        ("{\"./*\": \"./*.d.ts\", \"./sub\": null}", nothing),
        ("{\"./s*b\": \"./s*b.d.ts\"}", &["sub.d.ts"]),
        ("{\"./*u*\": \"./*u*.d.ts\"}", nothing),
        ("{\"./sub\": \"./*.d.ts\"}", nothing),
        (&deep, &["index.d.ts"]),
    ] {
        assert_eq!(exported(exports), expected, "{}", exports.get(..200).unwrap_or(exports));
    }
}

fn exported(exports: &str) -> Vec<String> {
    let manifest = format!("{{\"name\": \"dep\", \"exports\": {exports}}}");
    let outcome = beside("node_modules/dep/package.json", &manifest);
    let found = targets(&outcome, "a.ts").into_iter();
    found.filter_map(|id| id.strip_prefix("node_modules/dep/").map(str::to_owned)).collect()
}

#[test]
fn manifests_and_configurations_that_are_directories() {
    check(
        r#"
        //- dir /r/package.json
        //- dir /r/tsconfig.json
        //- /r/.gitignore/x
        //- dir /r/node_modules/dep/package.json
        //- /r/node_modules/dep/index.d.ts
        //- /r/a.ts
        import './b'; import 'dep';
        //- /r/b.ts
        "#,
        expect![[r#"
            a.ts -> b.ts runtime
            a.ts -> node_modules/dep/index.d.ts runtime
            error: tsconfig.json: is a directory, not a configuration; it is ignored
        "#]],
    );
}

#[test]
fn circular_links_terminate() {
    check(
        r#"
        //- link /r/loop -> .
        //- link /r/one -> two
        //- link /r/two -> one
        //- link /r/src/up -> ../src
        //- /r/src/a.ts
        import './up/up/up/b'; import '../loop/loop/src/b'; import '../one/x'; import 'self';
        //- /r/src/b.ts
        //- link /r/node_modules/self -> ../node_modules/self
        //- link /r/node_modules/root -> ..
        "#,
        expect![[r#"
            src/a.ts -> one/x runtime
            src/a.ts -> self runtime
            src/a.ts -> src/b.ts runtime
            error: one: link skipped, because it leads in a circle
            error: two: link skipped, because it leads in a circle
        "#]],
    );
}

#[test]
fn workspace_packages_that_link_to_each_other() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/packages/a/package.json
        {"name": "a", "main": "index.ts", "dependencies": {"b": "*"}}
        //- /r/packages/a/index.ts
        export * from 'b';
        import {x} from 'b';
        //- link /r/packages/a/node_modules/b -> ../../b
        //- /r/packages/b/package.json
        {"name": "b", "main": "index.ts", "dependencies": {"a": "*"}}
        //- /r/packages/b/index.ts
        export * from 'a';
        export const x = 1;
        import 'a/node_modules/b/node_modules/a/index';
        //- link /r/packages/b/node_modules/a -> ../../a
        "#,
        expect![[r#"
            packages/a/index.ts -> packages/b/index.ts runtime
            packages/b/index.ts -> packages/a/index.ts runtime
        "#]],
    );
}
