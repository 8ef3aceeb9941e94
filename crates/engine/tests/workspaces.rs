//! Imports of the repository's own packages by name: installed or not, built or not (spec 10 §4).

mod support;

use expect_test::{Expect, expect};
use support::{edges, fixture};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

/// The target of `lib` in `app/a.ts`, for a manifest of `lib` and its other files.
fn lib(manifest: &str, rest: &str) -> String {
    let root =
        "//- /r/package.json\n{\"workspaces\": [\"app\", \"lib\"]}\n//- /r/app/package.json\n{\"name\": \"app\"}\n";
    let app = "//- /r/app/a.ts\nimport 'lib';\n//- /r/lib/package.json\n";
    let outcome = fixture(&format!("{root}{app}{manifest}\n{rest}"));
    support::targets(&outcome, "app/a.ts").join(" ")
}

#[test]
fn npm_and_yarn_workspaces_without_an_install() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["packages/*", "!packages/not"]}
        //- /r/packages/app/package.json
        {"name": "app"}
        //- /r/packages/app/a.ts
        import {x} from '@scope/lib'; import '@scope/lib/deep/file'; import 'not'; import 'elsewhere';
        //- /r/packages/lib/package.json
        {"name": "@scope/lib", "main": "index.ts"}
        //- /r/packages/lib/index.ts
        export * from './x';
        //- /r/packages/lib/x.ts
        export const x = 1;
        //- /r/packages/lib/deep/file.ts
        //- /r/packages/not/package.json
        {"name": "not", "main": "index.ts"}
        //- /r/packages/not/index.ts
        //- /r/elsewhere/package.json
        {"name": "elsewhere", "main": "index.ts"}
        //- /r/elsewhere/index.ts
        "#,
        expect![[r#"
            packages/app/a.ts -> elsewhere runtime
            packages/app/a.ts -> not runtime
            packages/app/a.ts -> packages/lib/deep/file.ts runtime
            packages/app/a.ts -> packages/lib/index.ts runtime
            packages/app/a.ts -> ~packages/lib/x.ts runtime
            packages/lib/index.ts -> packages/lib/x.ts runtime
        "#]],
    );
}

#[test]
fn the_long_form_of_yarn_and_globs_of_any_depth() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": {"packages": ["libs/**"], "nohoist": ["**"]}}
        //- /r/libs/a/b/package.json
        {"name": "b", "main": "index.ts"}
        //- /r/libs/a/b/index.ts
        import 'c';
        //- /r/libs/c/package.json
        {"name": "c", "main": "index.ts"}
        //- /r/libs/c/index.ts
        import 'b';
        "#,
        expect![[r#"
            libs/a/b/index.ts -> libs/c/index.ts runtime
            libs/c/index.ts -> libs/a/b/index.ts runtime
        "#]],
    );
}

#[test]
fn packages_of_pnpm_workspaces_are_linked() {
    check(
        r#"
        //- /r/pnpm-workspace.yaml
        # comment
        packages:
          - 'packages/*'   # comment
          - "tools/one"
          - '!packages/not'
        catalog:
          react: ^19.0.0
        //- /r/packages/a/package.json
        {"name": "a", "main": "index.ts"}
        //- /r/packages/a/index.ts
        import 'one'; import 'not';
        //- /r/packages/not/package.json
        {"name": "not", "main": "index.ts"}
        //- /r/packages/not/index.ts
        //- /r/tools/one/package.json
        {"name": "one", "main": "index.ts"}
        //- /r/tools/one/index.ts
        import 'a';
        "#,
        expect![[r#"
            packages/a/index.ts -> not runtime
            packages/a/index.ts -> tools/one/index.ts runtime
            tools/one/index.ts -> packages/a/index.ts runtime
        "#]],
    );
}

#[test]
fn sources_of_unbuilt_files_are_found_by_a_custom_condition() {
    let manifest = r#"{"name": "lib", "exports": {".": {"@lib/source": "./code/main.ts", "types": "./dist/main.d.ts", "default": "./dist/main.js"}}}"#;
    assert_eq!(lib(manifest, "//- /r/lib/code/main.ts\n//- /r/lib/src/main.ts\n"), "lib/code/main.ts");
}

#[test]
fn sources_of_unbuilt_files_are_found_by_the_output_folder() {
    let manifest = r#"{"name": "lib", "main": "build/sub/main.js"}"#;
    let config = "//- /r/lib/tsconfig.json\n{\"compilerOptions\": {\"outDir\": \"build\", \"rootDir\": \"code\"}}\n";
    assert_eq!(
        lib(manifest, &format!("{config}//- /r/lib/code/sub/main.ts\n//- /r/lib/src/main.ts\n")),
        "lib/code/sub/main.ts"
    );
}

#[test]
fn sources_of_unbuilt_files_are_found_by_their_stem() {
    for (field, built, source) in [
        ("main", "dist/index.js", "src/index.ts"),
        ("main", "./lib/index.js", "src/index.tsx"),
        ("main", "dist/esm/a/b.js", "src/a/b.ts"),
        ("types", "dist/index.d.ts", "src/index.ts"),
        ("module", "dist/index.mjs", "src/index.mts"),
        ("exports", "./dist/index.js", "src/index.ts"),
        ("main", "dist/vue.js", "src/vue.vue"),
    ] {
        let manifest = format!("{{\"name\": \"lib\", \"{field}\": \"{built}\"}}");
        assert_eq!(lib(&manifest, &format!("//- /r/lib/{source}\n")), format!("lib/{source}"), "{field}: {built}");
    }
}

#[test]
fn a_built_file_wins_over_its_source() {
    let manifest = r#"{"name": "lib", "types": "dist/index.d.ts", "main": "dist/index.js"}"#;
    let built =
        "//- /r/.gitignore\ndist\n//- /r/lib/dist/index.d.ts\n//- /r/lib/dist/index.js\n//- /r/lib/src/index.ts\n";
    // The code behind the declaration file is included.
    assert_eq!(lib(manifest, built), "lib/dist/index.d.ts lib/dist/index.js");
}

#[test]
fn subpaths_and_patterns_of_unbuilt_exports() {
    check(
        r#"
        //- /r/package.json
        {"workspaces": ["*"]}
        //- /r/app/package.json
        {"name": "app"}
        //- /r/app/a.ts
        import 'lib/one'; import 'lib/parts/two'; import 'lib/hidden';
        //- /r/lib/package.json
        {"name": "lib", "exports": {"./one": "./dist/one.js", "./parts/*": {"import": "./dist/parts/*.js"}, "./hidden": null}}
        //- /r/lib/src/one.ts
        //- /r/lib/src/parts/two.ts
        "#,
        expect![[r#"
            app/a.ts -> lib/hidden runtime
            app/a.ts -> lib/src/one.ts runtime
            app/a.ts -> lib/src/parts/two.ts runtime
        "#]],
    );
}

/// If installed, `node_modules/lib` is a link; the answer is the same as without it.
#[test]
fn an_install_changes_nothing_for_unbuilt_packages() {
    let manifest = r#"{"name": "lib", "main": "dist/index.js", "types": "dist/index.d.ts"}"#;
    let without = lib(manifest, "//- /r/lib/src/index.ts\n");
    let with = lib(manifest, "//- /r/lib/src/index.ts\n//- link /r/node_modules/lib -> ../lib\n");
    assert_eq!((without.as_str(), with.as_str()), ("lib/src/index.ts", "lib/src/index.ts"));
}

#[test]
fn odd_workspaces_do_not_fail() {
    for workspaces in
        ["[\"..\"]", "[\"/\"]", "[\"**\"]", "[\"[\"]", "[\"\"]", "{}", "1", "[null]", "[\"./lib/\", \"lib\", \"lib\"]"]
    {
        fixture(&format!(
            "//- /r/package.json\n{{\"name\": \"root\", \"workspaces\": {workspaces}}}\n//- /r/a.ts\nimport 'lib'; import 'root';\n\
             //- /r/lib/package.json\n{{\"name\": \"lib\"}}\n//- /r/lib/index.ts\nimport 'lib';\n//- /r/pnpm-workspace.yaml\n{workspaces}\n"
        ));
    }
}

/// Two packages with the same name: every importer resolves to the first by path, and the ambiguity is reported.
#[test]
fn two_packages_of_one_name() {
    let text = r#"
        //- /r/package.json
        {"workspaces": ["packages/*"]}
        //- /r/a.ts
        import 'twin';
        //- /r/packages/one/package.json
        {"name": "twin", "main": "index.ts"}
        //- /r/packages/one/index.ts
        //- /r/packages/two/package.json
        {"name": "twin", "main": "index.ts"}
        //- /r/packages/two/index.ts
        "#;
    assert_eq!(support::targets(&fixture(text), "a.ts"), ["packages/one/index.ts"]);
}
