//! Single edits after a first run, each of a sort that an incremental update could get wrong. The random sequences of
//! `warm.rs` are the law; these are hand-written cases, and those that once broke it.

mod support;

use stan_engine::graph::{CacheUse, GraphOptions, GraphRequest};
use stan_repo::MemorySystem;
use support::{ROOT, cold, json, run};

/// Runs on `before`, then on `before` with some files changed, and compares with the cold answer. Says how it was found.
fn check(before: &str, edits: &[(&str, &str)]) -> CacheUse {
    let system = MemorySystem::from_fixture(before);
    let options = GraphOptions::new(ROOT);
    let request = GraphRequest {
        cache_directory: Some("/r/.stan/cache".into()),
        state_directory: Some("/state".into()),
        stats_only: false,
        ..GraphRequest::default()
    };
    system.set_now(100_000_000_000);
    run(&system, &options, &request);
    system.set_now(200_000_000_000);
    for (path, text) in edits {
        system.set_file(format!("{ROOT}/{path}"), *text);
    }
    let warm = run(&system, &options, &request);
    let figures = run(&system, &options, &GraphRequest { stats_only: true, ..request });
    let cold = cold(&system, &options);
    assert_eq!(json(&warm), json(&cold), "{:?}", warm.work);
    assert_eq!((&figures.summary, figures.dirty, &figures.errors), (&cold.summary, cold.dirty, &cold.errors));
    warm.work
}

const SMALL: &str = "
    //- /r/a.ts
    import {x} from './barrel';
    //- /r/barrel.ts
    export * from './x'; export * from './y';
    //- /r/x.ts
    export const x = 1;
    //- /r/y.ts
    export const y = 1;
    //- /r/other.ts
    import {y} from './barrel'; import './gone'; import 'fs';
";

#[test]
fn edits_of_single_files_are_updated_incrementally() {
    for (path, text) in [
        ("a.ts", "import {y} from './barrel';"),
        ("a.ts", ""),
        ("a.ts", "import './gone'; import 'node:fs'; import 'bare'; import './new';"),
        ("a.ts", "/** Words. @module */ import {x} from './barrel'; ((("),
        ("barrel.ts", "export {y as x, y} from './y';"),
        ("barrel.ts", "export const x = 1, y = 2;"),
        ("barrel.ts", ""),
        ("barrel.ts", "export * from './barrel'; export * from './gone';"),
        ("x.ts", "export const y = 1;"),
        ("x.ts", "export {x} from './a';"),
        ("x.ts", "\0"),
        ("other.ts", "export {};"),
    ] {
        assert_eq!(check(SMALL, &[(path, text)]), CacheUse::Edited(1), "{path}: {text}");
    }
    assert_eq!(check(SMALL, &[("x.ts", "export const y = 1;"), ("y.ts", "export const x = 1;")]), CacheUse::Edited(2));
    assert_eq!(check(SMALL, &[("x.ts", "export const x = 1;\n")]), CacheUse::Unchanged, "a touch is not an edit");
    assert_eq!(check(SMALL, &[]), CacheUse::Unchanged);
}

/// Names on their way through renames, stars, cycles, namespaces and `export =`.
const CHAIN: &str = "
    //- /r/leaf.ts
    export const a = 1, b = 2; export default 1;
    //- /r/other.ts
    export const c = 1, a = 2;
    //- /r/named.ts
    export {a as renamed, b} from './leaf';
    //- /r/star.ts
    export * from './named'; export * from './loop';
    //- /r/loop.ts
    export * from './star'; export {c} from './other';
    //- /r/space.ts
    export * as all from './leaf';
    //- /r/whole.d.ts
    import leaf = require('./leaf'); export = leaf;
    //- /r/use.ts
    import {renamed, b} from './star'; import d, {a} from './leaf';
    //- /r/more.ts
    import {c} from './star'; import {all} from './space'; import w, {a, missing} from './whole';
";

#[test]
fn only_names_that_changed_are_followed() {
    for (path, text) in [
        ("leaf.ts", "export const a = 1, b = 2, added = 3; export default 1;"),
        ("leaf.ts", "export const b = 2; export default 1;"),
        ("leaf.ts", "import {c} from './other'; export {c as a}; export const b = 2; export default 1;"),
        ("leaf.ts", "export {a} from './other'; export const b = 2; export default 1;"),
        ("leaf.ts", "export * from './other'; export const b = 2; export default 1;"),
        ("leaf.ts", "export const a = 1, b = 2; export {c as default} from './other';"),
        ("leaf.ts", "export const a = 1, b = 2;"),
        ("leaf.ts", "import o = require('./other'); export = o;"),
        ("leaf.ts", "const a = 1;"),
        ("other.ts", "export const a = 2; export {b as c} from './leaf';"),
        ("other.ts", "export {c} from './loop';"),
        ("named.ts", "export {a as renamed} from './other'; export {b} from './leaf';"),
        ("named.ts", "export {b as renamed, a as b} from './leaf';"),
        ("loop.ts", "export * from './star'; export {a as c, a as renamed} from './other';"),
        ("star.ts", "export * from './named';"),
        ("space.ts", "export {a as all} from './leaf';"),
        ("whole.d.ts", "import o = require('./other'); export = o;"),
        ("whole.d.ts", "export {a} from './leaf'; export const missing: 1;"),
    ] {
        assert_eq!(check(CHAIN, &[(path, text)]), CacheUse::Edited(1), "{path}: {text}");
    }
    let both = [
        ("leaf.ts", "export {a} from './other'; export const b = 2; export default 1;"),
        ("named.ts", "export {a as renamed, a as b} from './leaf';"),
    ];
    assert_eq!(check(CHAIN, &both), CacheUse::Edited(2));
}

#[test]
fn a_new_file_may_satisfy_or_shadow() {
    for path in [
        "gone.ts",
        "gone/index.ts",
        "barrel/index.ts",
        "x.tsx",
        "x.d.ts",
        "barrel.js",
        "package.json",
        "tsconfig.json",
        ".gitignore",
    ] {
        assert!(matches!(check(SMALL, &[(path, "{}")]), CacheUse::Compiled(_)), "{path}");
    }
}

/// Ignored files are in the graph only while another file imports them; importing each other does not count.
#[test]
fn ignored_files_that_import_each_other_go_together() {
    let before = "
        //- /r/.gitignore
        gen
        //- /r/a.ts
        import './gen/one';
        //- /r/b.ts
        //- /r/gen/one.ts
        import './two';
        //- /r/gen/two.ts
        import './one'; import './one';
        ";
    check(before, &[("a.ts", "")]);
    check(before, &[("a.ts", "import './gen/two';")]);
    check(before, &[("gen/one.ts", "import '../b';")]);
    check(before, &[("gen/two.ts", "(((")]);
}

/// A bare specifier that is spelled like a file has a name of its own while that file is a node, and only then.
#[test]
fn names_of_missing_modules_follow_the_files_they_are_spelled_like() {
    let before = r#"
        //- /r/a.ts
        import 'node_modules/dep/index.d.ts'; import 'node_modules/dep/inner.d.ts';
        //- /r/b.ts
        import {x} from 'dep';
        //- /r/c.ts
        //- /r/node_modules/dep/package.json
        {"name": "dep"}
        //- /r/node_modules/dep/index.d.ts
        export * from './inner';
        //- /r/node_modules/dep/inner.d.ts
        export * from './more';
        //- /r/node_modules/dep/more.d.ts
        export const x: 1;
        "#;
    check(before, &[("b.ts", "")]);
    check(before, &[("a.ts", "")]);
    check(before, &[("c.ts", "import 'node_modules/dep/inner.d.ts'; import 'node_modules/dep/more.d.ts';")]);
    check(before, &[("c.ts", "import './node_modules/dep/inner'; import 'a.ts';")]);
    check(before, &[("b.ts", "import {y} from 'dep';")]);
    check(before, &[("b.ts", ""), ("c.ts", "import 'node_modules/dep/more.d.ts';")]);
}

#[test]
fn added_and_removed_externals_are_detected() {
    let before = r#"
        //- /r/a.ts
        import {x} from 'dep';
        //- /r/b.ts
        import * as all from 'dep'; import 'untouched';
        //- /r/node_modules/untouched/index.d.ts
        export * from './more';
        //- /r/node_modules/untouched/more.d.ts
        export const m: 1;
        //- /r/node_modules/dep/package.json
        {"name": "dep"}
        //- /r/node_modules/dep/index.d.ts
        export * from './x'; export * from './y';
        //- /r/node_modules/dep/x.d.ts
        export const x: 1;
        //- /r/node_modules/dep/y.d.ts
        export const y: 1;
        "#;
    for text in [
        "",
        "import {y} from 'dep';",
        "import {x, y, z} from 'dep';",
        "import 'dep';",
        "import {m} from 'untouched';",
        "import {x} from 'dep/x';",
        "export * from 'dep';",
    ] {
        check(before, &[("a.ts", text)]);
    }
    check(before, &[("b.ts", "import {x} from './a';")]);
    check(before, &[("b.ts", "import {x} from './a';"), ("a.ts", "export * from 'dep';")]);
    check(before, &[("node_modules/dep/y.d.ts", "export const x: 1;")]);
    check(before, &[("node_modules/dep/x.d.ts", "")]);
}

/// A package that one run tunnelled through, the next only hashed, and the third tunnels through again.
#[test]
fn packages_are_tunnelled_again() {
    let system = MemorySystem::from_fixture(
        r#"
        //- /r/a.ts
        import {x} from 'dep';
        //- /r/b.ts
        import 'dep';
        //- /r/node_modules/dep/package.json
        {"name": "dep"}
        //- /r/node_modules/dep/index.d.ts
        export * from './x';
        //- /r/node_modules/dep/x.d.ts
        export const x: 1;
        "#,
    );
    let options = GraphOptions::new(ROOT);
    let request = GraphRequest {
        cache_directory: Some("/r/.stan/cache".into()),
        state_directory: Some("/state".into()),
        stats_only: false,
        ..GraphRequest::default()
    };
    // The new file makes a whole run of the second, which then knows the package from the first.
    let edits = [
        ("z.ts", ""),
        ("a.ts", ""),
        ("y.ts", ""),
        ("a.ts", "import {x} from 'dep';"),
        ("a.ts", "export * from 'dep';"),
    ];
    for (time, (path, text)) in (1..).zip(edits) {
        system.set_now(time * 100_000_000_000).set_file(format!("{ROOT}/{path}"), text);
        assert_eq!(json(&run(&system, &options, &request)), json(&cold(&system, &options)), "{path}: {text}");
    }
}

#[test]
fn patterns_are_matched_again() {
    let before = "
        //- /r/a.ts
        const all = import.meta.glob('./p/*.ts');
        //- /r/p/one.ts
        //- /r/p/two.ts
        ";
    check(before, &[("a.ts", "const all = import.meta.glob('./p/o*.ts');")]);
    check(before, &[("a.ts", "")]);
    check(before, &[("p/one.ts", "const all = import.meta.glob('../*.ts');")]);
    check(before, &[("p/three.ts", "")]);
}

/// A specifier that is refused is reported, and the report goes with it.
#[test]
fn problems_of_requests_follow_the_edit() {
    let before = "
        //- /outside/o.css
        //- /r/a.ts
        import '../outside/o.css';
        //- /r/b.ts
        ";
    check(before, &[("a.ts", "")]);
    check(before, &[("b.ts", "\n\nimport '../outside/o.css';")]);
    check(before, &[("a.ts", "import '../outside/o.css'; (((")]);
}

/// The configuration of a package is read with its source: its problems are part of the answer either way.
#[test]
fn problems_of_configurations_do_not_depend_on_who_imports() {
    let before = r#"
        //- /r/package.json
        {"workspaces": ["lib"]}
        //- /r/a.ts
        //- /r/lib/package.json
        {"name": "lib", "main": "dist/index.js"}
        //- /r/lib/tsconfig.json
        {"extends": "./gone.json"}
        //- /r/lib/code/index.md
        "#;
    check(before, &[("a.ts", "import 'lib';")]);
    check(before, &[("lib/package.json", "{\"name\": \"lib\"}")]);
}
