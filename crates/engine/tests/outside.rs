//! Files outside the repository (spec 10 §2–§5): packages and their barrels, files outside the root, and paths that must not be
//! accessed.

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::GraphOptions;
use stan_repo::{AllowedFolder, MemorySystem};
use support::{ROOT, cold, edges, fixture, graph_of, nodes};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

fn check_with(text: &str, change: impl Fn(&mut GraphOptions), expected: Expect) {
    let mut options = GraphOptions::new(ROOT);
    change(&mut options);
    expected.assert_eq(&edges(&cold(&MemorySystem::from_fixture(text), &options)));
}

/// A package with a barrel that re-exports its own modules and those of another package.
const PACKAGES: &str = r#"
    //- /r/a.ts
    import {own, theirs, deep} from 'dep';
    import type {Own} from 'dep';
    import * as all from 'dep';
    //- /r/node_modules/dep/package.json
    {"name": "dep", "types": "index.d.ts"}
    //- /r/node_modules/dep/index.d.ts
    export * from './own'; export {theirs} from 'other'; export {deep} from './nested';
    //- /r/node_modules/dep/own.d.ts
    import 'other';
    export declare const own: 1; export interface Own {}
    //- /r/node_modules/dep/nested/package.json
    {"type": "module"}
    //- /r/node_modules/dep/nested/index.d.ts
    export * from './deep.js';
    //- /r/node_modules/dep/nested/deep.d.ts
    export declare const deep: 1;
    //- /r/node_modules/other/package.json
    {"name": "other", "types": "index.d.ts"}
    //- /r/node_modules/other/index.d.ts
    import './more';
    export declare const theirs: 1;
    //- /r/node_modules/other/more.d.ts
    export declare const more: 1;
"#;

#[test]
fn definers_in_a_package_are_followed_within_it_only() {
    check(
        PACKAGES,
        expect![[r#"
            a.ts -> node_modules/dep/index.d.ts runtime
            a.ts -> node_modules/dep/index.d.ts type
            a.ts -> ~node_modules/dep/nested/deep.d.ts runtime
            a.ts -> ~node_modules/dep/own.d.ts runtime
            a.ts -> ~node_modules/dep/own.d.ts type
        "#]],
    );
}

#[test]
fn imports_of_packages_are_followed_to_the_requested_depth() {
    check_with(
        PACKAGES,
        |options| options.external_depth = 1,
        expect![[r#"
            a.ts -> node_modules/dep/index.d.ts runtime
            a.ts -> node_modules/dep/index.d.ts type
            a.ts -> ~node_modules/dep/nested/deep.d.ts runtime
            a.ts -> ~node_modules/dep/own.d.ts runtime
            a.ts -> ~node_modules/dep/own.d.ts type
            node_modules/dep/index.d.ts -> node_modules/dep/nested/index.d.ts runtime
            node_modules/dep/index.d.ts -> node_modules/dep/own.d.ts runtime
            node_modules/dep/index.d.ts -> node_modules/other/index.d.ts runtime
            node_modules/dep/own.d.ts -> node_modules/other/index.d.ts runtime
        "#]],
    );
    check_with(
        PACKAGES,
        |options| options.external_depth = 2,
        expect![[r#"
            a.ts -> node_modules/dep/index.d.ts runtime
            a.ts -> node_modules/dep/index.d.ts type
            a.ts -> ~node_modules/dep/nested/deep.d.ts runtime
            a.ts -> ~node_modules/dep/own.d.ts runtime
            a.ts -> ~node_modules/dep/own.d.ts type
            node_modules/dep/index.d.ts -> node_modules/dep/nested/index.d.ts runtime
            node_modules/dep/index.d.ts -> node_modules/dep/own.d.ts runtime
            node_modules/dep/index.d.ts -> node_modules/other/index.d.ts runtime
            node_modules/dep/nested/index.d.ts -> node_modules/dep/nested/deep.d.ts runtime
            node_modules/dep/own.d.ts -> node_modules/other/index.d.ts runtime
            node_modules/other/index.d.ts -> node_modules/other/more.d.ts runtime
        "#]],
    );
}

/// Generated files belong to the repository, so packages that they import are one hop away, too.
#[test]
fn hops_start_at_ignored_files_as_well() {
    check_with(
        r#"
        //- /r/.gitignore
        gen
        //- /r/a.ts
        import './gen';
        //- /r/gen/index.ts
        import 'dep';
        //- /r/node_modules/dep/package.json
        {"name": "dep"}
        //- /r/node_modules/dep/index.d.ts
        import './more';
        //- /r/node_modules/dep/more.d.ts
        "#,
        |options| options.external_depth = 1,
        expect![[r#"
            a.ts -> gen/index.ts runtime
            gen/index.ts -> node_modules/dep/index.d.ts runtime
            node_modules/dep/index.d.ts -> node_modules/dep/more.d.ts runtime
        "#]],
    );
}

#[test]
fn broken_files_in_packages_are_not_this_repositorys_concern() {
    check(
        r#"
        //- /r/a.ts
        import {x} from 'dep';
        //- /r/node_modules/dep/package.json
        {"name": "dep"}
        //- /r/node_modules/dep/index.d.ts
        export * from './x'; (((
        //- /r/node_modules/dep/x.d.ts
        export const x = 1; )))
        "#,
        expect![[r#"
            a.ts -> node_modules/dep/index.d.ts runtime
            a.ts -> ~node_modules/dep/x.d.ts runtime
        "#]],
    );
}

const OUTSIDE: &str = r#"
    //- /r/src/a.ts
    import {s} from '../../sibling/src/index';
    import data from '../../sibling/data.json';
    import '../../sibling/style.css';
    import 'above';
    import 'linked';
    //- link /r/node_modules/linked -> ../../linked
    //- /linked/package.json
    {"name": "linked", "main": "main.js"}
    //- /linked/main.js
    import './inner';
    //- /linked/inner.js
    //- /sibling/src/index.ts
    export * from './part';
    //- /sibling/src/part.ts
    export const s = 1;
    //- /sibling/data.json
    {}
    //- /sibling/style.css
    //- /node_modules/above/index.d.ts
    export {};
"#;

fn allowing(options: &mut GraphOptions) {
    let folder = "/sibling".to_owned();
    options.allowed_outside = vec![AllowedFolder { spelled: folder.clone(), real: folder }];
}

#[test]
fn scripts_and_json_in_allowed_folders_are_externals_and_nothing_else_is() {
    check_with(
        OUTSIDE,
        allowing,
        expect![[r#"
            src/a.ts -> ../../sibling/style.css runtime
            src/a.ts -> ../linked/main.js runtime
            src/a.ts -> ../node_modules/above/index.d.ts runtime
            src/a.ts -> ../sibling/data.json runtime
            src/a.ts -> ../sibling/src/index.ts runtime
            error: src/a.ts:3: `../../sibling/style.css` leads outside the root to a file that is neither a script, a declaration nor JSON
        "#]],
    );
    let mut options = GraphOptions::new(ROOT);
    allowing(&mut options);
    let outcome = cold(&MemorySystem::from_fixture(OUTSIDE), &options);
    let outside =
        graph_of(&outcome).nodes().iter().filter(|node| node.outside_root).map(|node| (node.kind.as_str(), &*node.id));
    assert_eq!(
        outside.collect::<Vec<_>>(),
        [
            ("external", "../linked/main.js"),
            ("external", "../node_modules/above/index.d.ts"),
            ("external", "../sibling/data.json"),
            ("external", "../sibling/src/index.ts"),
        ]
    );
}

#[test]
fn outside_root_false_forbids_everything_outside() {
    check_with(
        OUTSIDE,
        |options| options.resolve.outside_root = false,
        expect![[r#"
            src/a.ts -> ../../sibling/data.json runtime
            src/a.ts -> ../../sibling/src/index runtime
            src/a.ts -> ../../sibling/style.css runtime
            src/a.ts -> above runtime
            src/a.ts -> linked runtime
            error: src/a.ts:1: `../../sibling/src/index` leads outside the root, which `context.outsideRoot: false` forbids; `--allow-outside DIR` allows a folder (as do 3 other specifiers of this file)
        "#]],
    );
}

/// Outside the repository, a barrel is tunnelled like any external: within its package, which the nearest named manifest defines.
#[test]
fn barrels_outside_the_root_are_tunnelled_within_their_package() {
    check_with(
        r#"
        //- /r/a.ts
        import {s} from '../sibling/index';
        //- /sibling/package.json
        {"name": "sibling"}
        //- /sibling/index.ts
        export * from './part';
        //- /sibling/part.ts
        export const s = 1;
        "#,
        allowing,
        expect![[r#"
            a.ts -> ../sibling/index.ts runtime
            a.ts -> ~../sibling/part.ts runtime
        "#]],
    );
}

#[test]
fn a_workspace_package_reached_through_node_modules_is_its_source() {
    check(
        r#"
        //- /r/app/a.ts
        import {x} from 'lib';
        //- link /r/node_modules/lib -> ../packages/lib
        //- /r/packages/lib/package.json
        {"name": "lib", "main": "src/index.ts"}
        //- /r/packages/lib/src/index.ts
        export * from './x';
        //- /r/packages/lib/src/x.ts
        export const x = 1;
        "#,
        expect![[r#"
            app/a.ts -> packages/lib/src/index.ts runtime
            app/a.ts -> ~packages/lib/src/x.ts runtime
            packages/lib/src/index.ts -> packages/lib/src/x.ts runtime
        "#]],
    );
}

#[test]
fn manifests_and_configurations_above_the_root_are_not_read() {
    check(
        r##"
        //- /package.json
        {"name": "above", "main": "./up.ts", "exports": {".": "./up.ts"}, "imports": {"#x": "./up.ts"}}
        //- /tsconfig.json
        {"compilerOptions": {"paths": {"@/*": ["./r/*"]}}}
        //- /up.ts
        //- /r/a.ts
        import 'above'; import '#x'; import '@/b'; import '..';
        //- /r/b.ts
        "##,
        expect![[r#"
            a.ts -> #x runtime
            a.ts -> .. runtime
            a.ts -> @/b runtime
            a.ts -> above runtime
            error: a.ts:1: `..` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder
        "#]],
    );
}

/// Found by fuzzing: any file named by `extends` or `references` was read, and so was the manifest above the root.
#[test]
fn configurations_outside_the_root_are_not_read() {
    check(
        r##"
        //- /shared/base.json
        {"compilerOptions": {"paths": {"@/*": ["../r/*"]}}}
        //- /package.json
        {"name": "above", "exports": {"./base": "./shared/base.json"}, "imports": {"#base": "./shared/base.json"}}
        //- /node_modules/installed/tsconfig.json
        {"compilerOptions": {"paths": {"~/*": ["../../r/*"]}}}
        //- /r/tsconfig.json
        {
          "extends": ["../shared/base.json", "/shared/base", "above/base", "#base", "./link.json", "installed"],
          "files": [], "references": [{"path": "../shared/base.json"}]
        }
        //- link /r/link.json -> ../shared/base.json
        //- link /r/lib/tsconfig.json -> ../../shared/base.json
        //- /r/a.ts
        import '@/b'; import '~/b';
        //- /r/b.ts
        //- /r/lib/c.ts
        import '@/b';
        "##,
        expect![[r##"
            a.ts -> @/b runtime
            a.ts -> b.ts runtime
            lib/c.ts -> @/b runtime
            error: lib/tsconfig.json: link skipped, because it leads out of the root
            error: link.json: link skipped, because it leads out of the root
            error: tsconfig.json: `extends` names "#base", which does not exist; that link is left out
            error: tsconfig.json: `extends` names "../shared/base.json", which leads outside the repository and is not read; that link is left out
            error: tsconfig.json: `extends` names "./link.json", which leads outside the repository and is not read; that link is left out
            error: tsconfig.json: `extends` names "/shared/base", which leads outside the repository and is not read; that link is left out
            error: tsconfig.json: `extends` names "above/base", which does not exist; that link is left out
            error: tsconfig.json: `references` names "../shared/base.json", which leads outside the repository and is not read; it is left out
        "##]],
    );
}

#[test]
fn scripts_of_packages_win_by_typescripts_rules() {
    let text = r#"
        //- /r/a.ts
        import 'untyped'; import 'typed'; import '@scope/name'; import 'json/package.json';
        //- /r/node_modules/untyped/index.js
        //- /r/node_modules/typed/index.js
        //- /r/node_modules/@types/typed/index.d.ts
        //- /r/node_modules/@scope/name/index.js
        //- /r/node_modules/@types/scope__name/index.d.ts
        //- /r/node_modules/json/package.json
        {}
        "#;
    expect![[r#"
        source a.ts
        external node_modules/@types/scope__name/index.d.ts
        external node_modules/@types/typed/index.d.ts
        external node_modules/json/package.json
        external node_modules/untyped/index.js
    "#]]
    .assert_eq(&nodes(&fixture(text)));
}
