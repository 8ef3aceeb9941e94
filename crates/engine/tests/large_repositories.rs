//! Situations that occur only in large repositories: packages of the repository that are not installed, fixtures with workspaces
//! of their own, code behind declaration files, rules that reject what a bundler accepts (spec 10 §4).

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::GraphOptions;
use stan_repo::MemorySystem;
use support::{edges, fixture};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

#[test]
fn a_configuration_extends_a_package_that_is_not_installed() {
    check(
        r#"
        //- /r/package.json
        {"name": "root", "private": true, "workspaces": ["packages/*"]}
        //- /r/packages/config/package.json
        {"name": "@acme/config"}
        //- /r/packages/config/base.json
        {"compilerOptions": {"module": "esnext", "moduleResolution": "bundler", "paths": {"~/*": ["../web/src/lib/*"]}}}
        //- /r/packages/web/package.json
        {"name": "@acme/web"}
        //- /r/packages/web/tsconfig.json
        {"extends": "@acme/config/base.json", "include": ["src"]}
        //- /r/packages/web/src/index.ts
        import {a} from "~/a";
        //- /r/packages/web/src/lib/a.ts
        export const a = 1;
        "#,
        expect![[r#"
            packages/web/src/index.ts -> packages/web/src/lib/a.ts runtime
        "#]],
    );
}

#[test]
fn types_of_a_package_that_is_not_installed() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/packages/kit/package.json
        {"name": "@acme/kit", "exports": {".": {"types": "./types/index.d.ts"}, "./client": {"types": "./types/client.d.ts"}}}
        //- /r/packages/kit/types/index.d.ts
        export interface K {}
        //- /r/packages/kit/types/client.d.ts
        declare const c: 1;
        //- /r/packages/app/package.json
        {"name": "app"}
        //- /r/packages/app/app.d.ts
        /// <reference types="@acme/kit" />
        /// <reference types="@acme/kit/client" />
        import type {K} from "@acme/kit";
        "#,
        expect![[r#"
            packages/app/app.d.ts -> packages/kit/types/client.d.ts type
            packages/app/app.d.ts -> packages/kit/types/index.d.ts type
        "#]],
    );
}

#[test]
fn assets_of_packages_that_are_not_installed() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/packages/ui/package.json
        {"name": "ui", "exports": {"./debug": "./Debug.astro", "./B.astro": "./B.astro", "./x": "./x.svelte", "./s": {"style": "./s.css"}}}
        //- /r/packages/ui/Debug.astro
        //- /r/packages/ui/B.astro
        //- /r/packages/ui/x.svelte
        //- /r/packages/ui/s.css
        //- /r/packages/main/package.json
        {"name": "main", "main": "./index.css"}
        //- /r/packages/main/index.css
        //- /r/packages/plain/package.json
        {"name": "plain"}
        //- /r/packages/plain/style.css
        //- /r/packages/styled/package.json
        {"name": "styled", "style": "all.css"}
        //- /r/packages/styled/all.css
        //- /r/packages/app/package.json
        {"name": "app"}
        //- /r/packages/app/index.ts
        import "main"; import "ui/debug"; import "ui/B.astro"; import "ui/x"; import "ui/s"; import "plain/style.css"; import "styled";
        "#,
        expect![[r#"
            packages/app/index.ts -> packages/main/index.css runtime
            packages/app/index.ts -> packages/plain/style.css runtime
            packages/app/index.ts -> packages/styled/all.css runtime
            packages/app/index.ts -> packages/ui/B.astro runtime
            packages/app/index.ts -> packages/ui/Debug.astro runtime
            packages/app/index.ts -> packages/ui/s.css runtime
            packages/app/index.ts -> packages/ui/x.svelte runtime
        "#]],
    );
}

#[test]
fn a_hash_is_part_of_a_path_where_the_file_is_there() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/packages/nested/package.json
        {"name": "nested"}
        //- /r/packages/nested/index.cjs
        //- /r/packages/nested/#/index.cjs
        //- /r/packages/app/package.json
        {"name": "app"}
        //- /r/packages/app/index.cjs
        require("nested/#/index.cjs"); require("nested/index.cjs#hash");
        "#,
        expect![[r#"
            packages/app/index.cjs -> packages/nested/#/index.cjs runtime
            packages/app/index.cjs -> packages/nested/index.cjs runtime
        "#]],
    );
}

#[test]
fn a_workspace_inside_a_fixture_is_not_seen_outside() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*", "apps/*"]}
        //- /r/packages/web/package.json
        {"name": "web"}
        //- /r/packages/web/index.ts
        import {real} from "@acme/core"; import React from "react";
        //- /r/packages/core/package.json
        {"name": "@acme/core", "main": "src/index.ts"}
        //- /r/packages/core/src/index.ts
        export const real = 1;
        //- /r/apps/tool/package.json
        {"name": "tool"}
        //- /r/apps/tool/fixtures/ws/package.json
        {"workspaces": ["packages/*"]}
        //- /r/apps/tool/fixtures/ws/packages/core/package.json
        {"name": "@acme/core", "main": "src/index.ts"}
        //- /r/apps/tool/fixtures/ws/packages/core/src/index.ts
        export const fake = 1; import "react"; import "web";
        //- /r/apps/tool/fixtures/ws/packages/react/package.json
        {"name": "react", "main": "index.js"}
        //- /r/apps/tool/fixtures/ws/packages/react/index.js
        import "@acme/core";
        "#,
        expect![[r#"
            apps/tool/fixtures/ws/packages/core/src/index.ts -> apps/tool/fixtures/ws/packages/react/index.js runtime
            apps/tool/fixtures/ws/packages/core/src/index.ts -> packages/web/index.ts runtime
            apps/tool/fixtures/ws/packages/react/index.js -> apps/tool/fixtures/ws/packages/core/src/index.ts runtime
            packages/web/index.ts -> packages/core/src/index.ts runtime
            packages/web/index.ts -> react runtime
        "#]],
    );
}

#[test]
fn dependencies_by_place_need_no_install() {
    check(
        r#"
        //- /r/app/package.json
        {"name": "app", "dependencies": {"local-dep": "file:./dep", "linked": "link:../lib"}}
        //- /r/app/src/i.js
        import "local-dep"; import "linked"; import "linked/package.json";
        //- /r/app/dep/package.json
        {"name": "local-dep", "main": "index.js"}
        //- /r/app/dep/index.js
        //- /r/lib/package.json
        {"name": "linked", "main": "index.js"}
        //- /r/lib/index.js
        import "local-dep";
        "#,
        expect![[r#"
            app/src/i.js -> app/dep/index.js runtime
            app/src/i.js -> lib/index.js runtime
            app/src/i.js -> lib/package.json runtime
            lib/index.js -> local-dep runtime
        "#]],
    );
}

#[test]
fn blocks_of_components_have_one_rule_for_all_imports() {
    check(
        r#"
        //- /r/package.json
        {"type": "module"}
        //- /r/tsconfig.json
        {"compilerOptions": {"module": "nodenext"}}
        //- /r/Lazy.jsx
        export default 1;
        //- /r/d.vue
        <script>import y from "./Lazy"; const a = import("./Lazy");</script>
        //- /r/d.svelte
        <script>import y from "./Lazy"; const a = import("./Lazy");</script>
        //- /r/d.astro
        ---
        import y from "./Lazy"; const a = import("./Lazy");
        ---
        <p/>
        "#,
        expect![[r#"
            d.astro -> Lazy.jsx dynamic
            d.astro -> Lazy.jsx runtime
            d.svelte -> Lazy.jsx dynamic
            d.svelte -> Lazy.jsx runtime
            d.vue -> Lazy.jsx dynamic
            d.vue -> Lazy.jsx runtime
        "#]],
    );
}

/// TypeScript's strict rules reject these, but the files exist.
#[test]
fn specifiers_that_only_a_bundler_accepts_resolve_with_one_problem() {
    check(
        r#"
        //- /r/package.json
        {"type": "module", "workspaces": ["lib"]}
        //- /r/tsconfig.json
        {"compilerOptions": {"module": "nodenext"}}
        //- /r/a.ts
        import "./b"; import "./folder"; import "lib/deep"; import "./gone";
        //- /r/b.ts
        import("./folder");
        //- /r/folder/index.ts
        //- /r/lib/package.json
        {"name": "lib"}
        //- /r/lib/deep.ts
        "#,
        expect![[r#"
            a.ts -> b.ts runtime
            a.ts -> folder/index.ts runtime
            a.ts -> gone runtime
            a.ts -> lib/deep.ts runtime
            b.ts -> folder/index.ts dynamic
            error: tsconfig.json: its rules (`moduleResolution` node16 or nodenext) reject specifiers that resolve to files, such as imports without an extension; those were resolved by a bundler's rules
        "#]],
    );
}

#[test]
fn wildcards_match_no_hidden_folder() {
    check(
        r#"
        //- /r/src/a.ts
        import.meta.glob("./**/*.ts"); import.meta.glob(["./b/*.ts", "!./b/no.ts"]);
        //- /r/src/e.ts
        import.meta.glob("./**/x.ts", {exhaustive: true});
        //- /r/src/b/no.ts
        //- /r/src/b/y.ts
        //- /r/src/.foo/x.ts
        "#,
        expect![[r#"
            src/a.ts -> src/b/no.ts dynamic
            src/a.ts -> src/b/y.ts dynamic
            src/a.ts -> src/e.ts dynamic
            src/e.ts -> src/.foo/x.ts dynamic
        "#]],
    );
}

#[test]
fn the_root_of_a_workspace_has_a_name_too() {
    check(
        r#"
        //- /r/package.json
        {"name": "@acme/monorepo", "workspaces": ["packages/*"]}
        //- /r/scripts/setup.js
        //- /r/packages/a/package.json
        {"name": "a", "dependencies": {"@acme/monorepo": "workspace:^"}}
        //- /r/packages/a/i.js
        require("@acme/monorepo/scripts/setup"); require("@acme/monorepo/package.json");
        "#,
        expect![[r#"
            packages/a/i.js -> package.json runtime
            packages/a/i.js -> scripts/setup.js runtime
        "#]],
    );
}

#[test]
fn a_created_require_looks_from_its_base() {
    check(
        r#"
        //- /r/package.json
        {"name": "self", "type": "module", "exports": "./src/i.js"}
        //- /r/src/i.js
        import {createRequire} from 'node:module';
        const abs = '/somewhere/.pnp.cjs';
        const r1 = createRequire(abs);
        r1('self'); r1('./a.cjs'); r1('dep'); r1('gone');
        const r2 = createRequire(new URL('../other/x.js', import.meta.url));
        r2('./a.cjs'); r2('../src/b.cjs'); r2.resolve('./c.cjs');
        const r3 = createRequire(import.meta.url);
        r3('./a.cjs');
        const r4 = createRequire(typeof __filename === 'undefined' ? import.meta.url : __filename);
        r4('./b.cjs');
        //- /r/src/a.cjs
        //- /r/src/b.cjs
        //- /r/other/a.cjs
        //- /r/other/c.cjs
        //- /r/node_modules/dep/index.js
        "#,
        expect![[r#"
            src/i.js -> node:module runtime
            src/i.js -> node_modules/dep/index.js runtime
            src/i.js -> other/a.cjs runtime
            src/i.js -> other/c.cjs dynamic
            src/i.js -> src/a.cjs runtime
            src/i.js -> src/b.cjs runtime
        "#]],
    );
}

#[test]
fn paths_win_over_the_schemes_of_other_runtimes() {
    check(
        r#"
        //- /r/tsconfig.json
        {"compilerOptions": {"module": "esnext", "moduleResolution": "bundler", "paths":
            {"bun:internal": ["./int.ts"], "deno:h": ["./int.ts"], "cloudflare:x": ["./int.ts"]}}}
        //- /r/a.ts
        import "bun:internal"; import "deno:h"; import "cloudflare:x"; import "bun:other"; import "node:fs"; import "fs";
        //- /r/int.ts
        "#,
        expect![[r#"
            a.ts -> bun:other runtime
            a.ts -> int.ts runtime
            a.ts -> node:fs runtime
        "#]],
    );
}

#[test]
fn a_subpath_that_is_not_there_is_missing() {
    let text = |install: &str| {
        format!(
            r#"
        //- /r/package.json
        {{"workspaces": ["packages/*"]}}
        //- /r/packages/ui/package.json
        {{"name": "@acme/ui", "exports": {{".": "./src/index.js", "./*": "./src/*/index.js"}}}}
        //- /r/packages/ui/src/index.js
        //- /r/packages/ui/src/Button/index.js
        //- /r/packages/app/package.json
        {{"name": "app"}}
        //- /r/packages/app/a.js
        import "@acme/ui/Button"; import "@acme/ui/Grid2";
        {install}"#
        )
    };
    let without = edges(&fixture(&text("")));
    expect![[r#"
        packages/app/a.js -> @acme/ui/Grid2 runtime
        packages/app/a.js -> packages/ui/src/Button/index.js runtime
    "#]]
    .assert_eq(&without);
    assert_eq!(edges(&fixture(&text("//- link /r/node_modules/@acme/ui -> ../../packages/ui"))), without);
}

#[test]
fn the_source_of_a_subpath_is_in_the_folder_with_the_longest_tail() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/packages/ui/package.json
        {"name": "ui", "exports": {".": "./dist/index.js", "./testing": "./dist/testing/index.js", "./server": "./dist/server/index.js"}}
        //- /r/packages/ui/src/index.ts
        //- /r/packages/ui/src/server.ts
        //- /r/packages/ui/testing/index.ts
        //- /r/packages/app/package.json
        {"name": "app"}
        //- /r/packages/app/a.js
        import "ui"; import "ui/testing"; import "ui/server";
        "#,
        expect![[r#"
            packages/app/a.js -> packages/ui/src/index.ts runtime
            packages/app/a.js -> packages/ui/src/server.ts runtime
            packages/app/a.js -> packages/ui/testing/index.ts runtime
        "#]],
    );
}

#[test]
fn the_code_behind_a_declaration_has_an_implicit_edge() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/packages/lib/package.json
        {"name": "lib", "main": "lib.js", "types": "lib.d.ts"}
        //- /r/packages/lib/lib.js
        const inner = require("./inner");
        //- /r/packages/lib/lib.d.ts
        import {I} from "./inner"; export * from "./inner";
        //- /r/packages/lib/inner.js
        //- /r/packages/lib/inner.d.ts
        export interface I {}
        //- /r/packages/both/package.json
        {"name": "both", "exports": {".": {"types": "./types/index.d.ts", "import": "./esm.mjs", "require": "./cjs.cjs"}}}
        //- /r/packages/both/types/index.d.ts
        //- /r/packages/both/esm.mjs
        //- /r/packages/both/cjs.cjs
        //- /r/packages/app/package.json
        {"name": "app"}
        //- /r/packages/app/a.js
        import lib from "lib"; import "both"; import("./late.js"); import "./only"; import "./View.vue";
        //- /r/packages/app/b.cts
        import both = require("both"); import type {I} from "lib";
        //- /r/packages/app/late.d.ts
        //- /r/packages/app/late.js
        //- /r/packages/app/only.d.ts
        //- /r/packages/app/View.vue
        //- /r/packages/app/View.vue.d.ts
        "#,
        expect![[r#"
            packages/app/a.js -> ~packages/app/View.vue runtime
            packages/app/a.js -> packages/app/View.vue.d.ts runtime
            packages/app/a.js -> packages/app/late.d.ts dynamic
            packages/app/a.js -> ~packages/app/late.js dynamic
            packages/app/a.js -> packages/app/only.d.ts runtime
            packages/app/a.js -> ~packages/both/esm.mjs runtime
            packages/app/a.js -> packages/both/types/index.d.ts runtime
            packages/app/a.js -> packages/lib/lib.d.ts runtime
            packages/app/a.js -> ~packages/lib/lib.js runtime
            packages/app/b.cts -> ~packages/both/cjs.cjs runtime
            packages/app/b.cts -> packages/both/types/index.d.ts runtime
            packages/app/b.cts -> ~packages/lib/inner.d.ts type
            packages/app/b.cts -> packages/lib/lib.d.ts type
            packages/lib/lib.d.ts -> packages/lib/inner.d.ts runtime
            packages/lib/lib.js -> packages/lib/inner.d.ts runtime
            packages/lib/lib.js -> ~packages/lib/inner.js runtime
        "#]],
    );
}

/// The archives that contain the packages are not read, and the report says why the packages are missing.
#[test]
fn plug_and_play_is_reported() {
    check(
        "//- /r/.pnp.cjs\n//- /r/a.ts\nimport 'left-pad';\n",
        expect![[r#"
        a.ts -> left-pad runtime
        error: .pnp.cjs: this repository is installed by Yarn's Plug'n'Play; packages in its archives are not resolved, so that imports of them are missing
    "#]],
    );
}

#[test]
fn an_import_of_an_excluded_file_adds_neither_node_nor_edge() {
    let text = r#"
        //- /r/a.ts
        import './secret'; import './docs/x.json'; import {z} from './barrel'; import 'dep';
        //- /r/b.ts
        import './secret'; import './gone';
        //- /r/barrel.ts
        export * from './secret'; export const z = 1;
        //- /r/secret.ts
        export const s = 1;
        //- /r/docs/x.json
        {}
        //- /r/node_modules/dep/package.json
        {"name": "dep", "version": "1.0.0", "main": "docs/index.js"}
        //- /r/node_modules/dep/docs/index.js
        "#;
    let mut options = GraphOptions::new(support::ROOT);
    options.scan.excludes = vec!["secret.ts".to_owned(), "docs".to_owned(), "**/docs/**".to_owned()];
    let outcome = support::cold(&MemorySystem::from_fixture(text), &options);
    let expected = expect![[r#"
        source a.ts
        source b.ts
        source barrel.ts
        missing gone
        external node_modules/dep/docs/index.js
        a.ts -> barrel.ts runtime
        a.ts -> node_modules/dep/docs/index.js runtime
        b.ts -> gone runtime
        error: 4 imports resolve to excluded files; they have no edge
    "#]];
    expected.assert_eq(&(support::nodes(&outcome) + &edges(&outcome)));
}
