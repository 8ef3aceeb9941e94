//! What TypeScript leaves out and the graph must have (spec 10 §2–§6): assets, queries, single-file components,
//! patterns, generated files, links, builtins, and names for missing files. Workspaces are in `workspaces.rs`,
//! everything outside the root and in packages is in `outside.rs`.

mod support;

use expect_test::{Expect, expect};
use support::{edges, fixture, graph_of, nodes};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

fn check_nodes(text: &str, expected: Expect) {
    expected.assert_eq(&nodes(&fixture(text)));
}

#[test]
fn a_relative_specifier_resolves_to_any_existing_file() {
    check(
        "
        //- /r/src/a.ts
        import './a.css';
        import logo from '../img/logo.svg';
        import readme from '../README.md';
        import data from './data.json';
        import './no-extension';
        //- /r/src/a.css
        //- /r/src/data.json
        {}
        //- /r/src/no-extension
        //- /r/img/logo.svg
        //- /r/README.md
        ",
        expect![[r#"
            src/a.ts -> README.md runtime
            src/a.ts -> img/logo.svg runtime
            src/a.ts -> src/a.css runtime
            src/a.ts -> src/data.json runtime
            src/a.ts -> src/no-extension runtime
        "#]],
    );
}

#[test]
fn assets_through_paths_base_url_and_a_leading_slash() {
    check(
        r#"
        //- /r/tsconfig.json
        {"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["./src/*"]}}}
        //- /r/src/a.ts
        import '@/style.css';
        import 'img/logo.svg';
        import '/img/logo.svg?raw';
        //- /r/src/style.css
        //- /r/img/logo.svg
        "#,
        expect![[r#"
            src/a.ts -> img/logo.svg runtime
            src/a.ts -> src/style.css runtime
        "#]],
    );
}

#[test]
fn queries_and_hashes_are_stripped() {
    check(
        "
        //- /r/a.ts
        import './b?worker';
        import './b.ts?url&raw';
        import './style.css?inline#top';
        import './icons.svg#home';
        import './gone?raw';
        //- /r/b.ts
        //- /r/style.css
        //- /r/icons.svg
        ",
        expect![[r#"
            a.ts -> b.ts runtime
            a.ts -> gone runtime
            a.ts -> icons.svg runtime
            a.ts -> style.css runtime
        "#]],
    );
}

#[test]
fn a_file_whose_name_has_a_hash_is_found_as_written() {
    check(
        "
        //- /r/a.ts
        import './c#';
        import './c?d.css';
        //- /r/c#.ts
        //- /r/c?d.css
        ",
        expect![[r#"
            a.ts -> c#.ts runtime
            a.ts -> c?d.css runtime
        "#]],
    );
}

#[test]
fn scripts_of_vue_svelte_and_astro() {
    check(
        r#"
        //- /r/App.vue
        <template><img src="./ignored.png"></template>
        <script lang="ts">import {a} from './a'; export default {}</script>
        <script setup lang="ts">
        import type {T} from './types';
        const Lazy = import('./Page.svelte');
        </script>
        <style>@import './style.css';</style>
        //- /r/Page.svelte
        <script>import App from './App.vue';</script>
        <!-- <script>import './commented';</script> -->
        //- /r/index.astro
        ---
        import Page from './Page.svelte';
        ---
        <Page /><script>import './a';</script>
        //- /r/a.ts
        export const a = 1;
        //- /r/types.ts
        export interface T {}
        "#,
        expect![[r#"
            App.vue -> Page.svelte dynamic
            App.vue -> a.ts runtime
            App.vue -> types.ts type
            Page.svelte -> App.vue runtime
            index.astro -> Page.svelte runtime
            index.astro -> a.ts runtime
        "#]],
    );
}

#[test]
fn glob_imports_lead_to_every_file_of_the_universe_that_matches() {
    check(
        r#"
        //- /r/.gitignore
        ignored.ts
        //- /r/src/a.ts
        const pages = import.meta.glob(['./pages/*.ts', '!./pages/skip.ts']);
        //- /r/src/pages/one.ts
        //- /r/src/pages/two.ts
        //- /r/src/pages/skip.ts
        //- /r/src/pages/ignored.ts
        //- /r/src/pages/deep/three.ts
        "#,
        expect![[r#"
            src/a.ts -> src/pages/one.ts dynamic
            src/a.ts -> src/pages/two.ts dynamic
        "#]],
    );
}

#[test]
fn template_imports_lead_to_every_file_that_fits() {
    check(
        r#"
        //- /r/a.ts
        const lang = (v: string) => import(`./locales/${v}.json`);
        const plain = import(`./b`);
        const all = (v: string) => import(v);
        //- /r/b.ts
        //- /r/locales/de.json
        //- /r/locales/en.json
        //- /r/locales/en.txt
        //- /r/locales/deep/fr.json
        "#,
        expect![[r#"
            a.ts -> b.ts dynamic
            a.ts -> locales/de.json dynamic
            a.ts -> locales/en.json dynamic
        "#]],
    );
}

#[test]
fn imported_files_that_git_ignores_are_nodes_and_analysed() {
    let text = "
        //- /r/.gitignore
        gen/
        //- /r/a.ts
        import {Client} from './gen/client';
        import {x} from './gen';
        //- /r/gen/client.ts
        /** Written by a tool. @module */
        import './helper';
        export class Client {}
        //- /r/gen/index.ts
        export * from './x';
        //- /r/gen/x.ts
        export const x = 1;
        //- /r/gen/helper.ts
        //- /r/gen/unused.ts
        import './client';
        ";
    check(
        text,
        expect![[r#"
            a.ts -> gen/client.ts runtime
            a.ts -> gen/index.ts runtime
            a.ts -> ~gen/x.ts runtime
            gen/client.ts -> gen/helper.ts runtime
            gen/index.ts -> gen/x.ts runtime
        "#]],
    );
    check_nodes(
        text,
        expect![[r#"
            source .gitignore
            source a.ts
            source gen/client.ts
            source gen/helper.ts
            source gen/index.ts
            source gen/x.ts
        "#]],
    );
}

#[test]
fn stans_own_folders_are_never_nodes_even_when_imported() {
    check_nodes(
        "
        //- /r/a.ts
        import './.stan/output/answer';
        import './.stan/system/prompt.md';
        //- /r/.stan/output/answer.ts
        //- /r/.stan/system/prompt.md
        ",
        expect![[r#"
            missing .stan/output/answer
            source .stan/system/prompt.md
            source a.ts
        "#]],
    );
}

#[test]
fn a_link_inside_the_root_is_resolved_to_its_target() {
    let text = "
        //- /r/src/real.ts
        export const a = 1;
        //- link /r/src/alias.ts -> real.ts
        //- link /r/lib -> src
        //- /r/a.ts
        import {a} from './src/alias';
        import {a as b} from './lib/real';
        ";
    check(
        text,
        expect![[r#"
        a.ts -> src/real.ts runtime
    "#]],
    );
    check_nodes(
        text,
        expect![[r#"
            source a.ts
            source src/real.ts
        "#]],
    );
}

#[test]
fn dangling_links_are_reported() {
    check(
        "
        //- /r/a.ts
        import './dangling'; import './loop';
        //- link /r/dangling.ts -> gone.ts
        //- link /r/loop.ts -> loop.ts
        //- link /r/out.ts -> ../secret.ts
        //- /secret.ts
        ",
        expect![[r#"
            a.ts -> dangling runtime
            a.ts -> loop runtime
            error: dangling.ts: link skipped, because its target does not exist
            error: loop.ts: link skipped, because it leads in a circle
            error: out.ts: link skipped, because it leads out of the root
        "#]],
    );
}

#[test]
fn builtins_have_one_name_each() {
    check(
        "
        //- /r/a.ts
        import 'fs';
        import 'node:fs';
        import 'fs/promises';
        import 'node:test';
        import 'node:sqlite';
        import 'node:sea';
        import 'bun:test';
        import 'cloudflare:workers';
        import 'test';
        const os = require('os');
        ",
        expect![[r#"
            a.ts -> bun:test runtime
            a.ts -> cloudflare:workers runtime
            a.ts -> node:fs runtime
            a.ts -> node:fs/promises runtime
            a.ts -> node:os runtime
            a.ts -> node:sea runtime
            a.ts -> node:sqlite runtime
            a.ts -> node:test runtime
            a.ts -> test runtime
        "#]],
    );
}

#[test]
fn missing_relative_modules_are_named_by_their_path() {
    check(
        "
        //- /r/src/a.ts
        import './gone';
        import './sub/../gone.js';
        import '../../far/away';
        import 'not-installed/part';
        //- /r/lib/b.ts
        import './gone';
        import '@scope/name';
        import './';
        ",
        expect![[r#"
            lib/b.ts -> @scope/name runtime
            lib/b.ts -> lib runtime
            lib/b.ts -> lib/gone runtime
            src/a.ts -> ../../far/away runtime
            src/a.ts -> not-installed/part runtime
            src/a.ts -> src/gone runtime
            src/a.ts -> src/gone.js runtime
            error: src/a.ts:3: `../../far/away` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder
        "#]],
    );
}

#[test]
fn a_bare_specifier_spelled_like_a_file_does_not_become_that_file() {
    check(
        "
        //- /r/src/a.ts
        import 'src/b.ts';
        import './b';
        //- /r/src/b.ts
        ",
        expect![[r#"
            src/a.ts -> missing:src/b.ts runtime
            src/a.ts -> src/b.ts runtime
        "#]],
    );
}

#[test]
fn new_url_makes_an_edge_only_to_a_file_that_exists() {
    check(
        "
        //- /r/a.ts
        new URL('./worker.ts', import.meta.url);
        new URL('./my%20file.txt?x#y', import.meta.url);
        new URL('./gone.ts', import.meta.url);
        new URL('https://example.com/x.js', import.meta.url);
        //- /r/worker.ts
        //- /r/my file.txt
        ",
        expect![[r#"
            a.ts -> my file.txt dynamic
            a.ts -> worker.ts dynamic
        "#]],
    );
}

#[test]
fn descriptions_are_of_the_repositorys_own_modules() {
    let outcome = fixture(
        "
        //- /r/a.ts
        /** Says what {@link A a} does. @module */
        import {b} from './b'; import 'dep';
        //- /r/b.ts
        /**
         * First line,
         * second line.
         * @packageDocumentation
         */
        export const b = '/** not me @module */';
        //- /r/c.ts
        // @module no doc comment
        //- /r/node_modules/dep/index.d.ts
        /** Of a package. @module */
        export {};
        ",
    );
    let described: Vec<_> =
        graph_of(&outcome).nodes().iter().map(|node| (&*node.id, node.description.as_deref())).collect();
    assert_eq!(
        described,
        [
            ("a.ts", Some("Says what a does.")),
            ("b.ts", Some("First line, second line.")),
            ("c.ts", None),
            ("node_modules/dep/index.d.ts", None),
        ]
    );
}

#[test]
fn long_descriptions_are_cut_between_characters() {
    let outcome = fixture(&format!("//- /r/a.ts\n/** {} @module */\n", "ä".repeat(200)));
    let description = graph_of(&outcome).nodes()[0].description.as_deref().unwrap_or_default();
    assert_eq!(description, "ä".repeat(160) + "...");
}
