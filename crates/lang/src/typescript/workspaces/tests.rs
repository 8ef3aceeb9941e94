//! Small monorepos as lists of files, and the packages found in them.

use super::*;
use crate::typescript::tsconfig::memory::Memory;

/// Finds the packages of a repository and compares `name=directory`, after `folder:` where the link is not in the root, and
/// the problems, one a line.
#[track_caller]
fn check(files: &[(&str, &str)], packages: &[&str], problems: &[&str]) {
    let memory = Memory::new("/r", files);
    let (workspaces, found) = Workspaces::find(&memory, "/r", files.iter().map(|(path, _)| *path));
    let folders: BTreeMap<_, _> = workspaces.folders.iter().collect();
    let mut listed: Vec<String> = Vec::new();
    for (folder, links) in folders {
        let place = if folder.is_empty() { String::new() } else { format!("{folder}: ") };
        listed.extend(links.iter().map(|(name, directory)| format!("{place}{name}={directory}")));
    }
    assert_eq!(listed, packages);
    assert_eq!(found.iter().map(Problem::to_string).collect::<Vec<_>>(), problems);
}

const A: (&str, &str) = ("packages/a/package.json", r#"{"name":"a"}"#);
const B: (&str, &str) = ("packages/b/package.json", r#"{"name":"@s/b"}"#);
const DEEP: (&str, &str) = ("packages/x/deep/package.json", r#"{"name":"deep"}"#);

#[test]
fn packages_of_npm_and_yarn_workspaces_are_found() {
    let root = |workspaces| ("package.json", workspaces);
    check(
        &[root(r#"{"name":"root","workspaces":["packages/*"]}"#), A, B, DEEP],
        &["@s/b=packages/b", "a=packages/a", "root="],
        &[],
    );
    check(&[root(r#"{"workspaces":{"packages":["./packages/a/"]}}"#), A, B], &["a=packages/a"], &[]);
    check(&[root(r#"{"workspaces":["packages/**"]}"#), A, DEEP], &["a=packages/a", "deep=packages/x/deep"], &[]);
    check(&[root(r#"{"workspaces":["packages/{a,c}"]}"#), A, B], &["a=packages/a"], &[]);
    check(&[root(r#"{"workspaces":["packages/*","!packages/b"]}"#), A, B], &["a=packages/a"], &[]);
    check(&[root(r#"{"workspaces":["!packages/b","packages/*"]}"#), B], &["@s/b=packages/b"], &[]);
    check(&[root(r#"{"workspaces":"packages/*"}"#), A], &[], &[]);
    check(&[A, B], &[], &[]);
}

#[test]
fn nested_workspaces_are_relative_to_their_manifest() {
    let files = [("tools/package.json", r#"{"workspaces":["*"]}"#), ("tools/t/package.json", r#"{"name":"t"}"#), A];
    check(&files, &["tools: t=tools/t"], &[]);
}

#[test]
fn packages_of_pnpm_and_lerna_workspaces_are_found() {
    let pnpm = |text| ("pnpm-workspace.yaml", text);
    let root = ("package.json", r#"{"name":"root"}"#);
    let both = ["@s/b=packages/b", "a=packages/a", "root="];
    check(&[root, pnpm("packages:\n  # all\n  - 'packages/*'\n"), A, B], &both, &[]);
    check(
        &[root, pnpm("catalog:\n  x: ^1\n  packages: [no]\npackages: [\"packages/*\"]\nother:\n  - q\n"), A, B],
        &both,
        &[],
    );
    check(&[pnpm("packages:\n- '!**/b'\n- packages/**\n"), A, B], &["a=packages/a"], &[]);
    check(&[pnpm("onlyBuiltDependencies: [x]\n"), A], &[], &[]);
    check(&[pnpm(""), A], &[], &[]);
    check(&[pnpm("packages: [\n"), A], &[], &["pnpm-workspace.yaml:2: not valid YAML; its packages are left out"]);
    check(&[("lerna.json", r#"{"packages":["packages/*"]}"#), A], &["a=packages/a"], &[]);
}

#[test]
fn unusable_workspace_declarations_are_reported() {
    let root = ("package.json", r#"{"workspaces":["packages/*","a{b"]}"#);
    let same = ("packages/z/package.json", r#"{"name":"a"}"#);
    let broken = ("packages/y/package.json", r#"{"name":"#);
    let unnamed = ("packages/n/package.json", "{}");
    check(
        &[root, same, broken, unnamed, A, ("fixtures/broken/package.json", "{")],
        &["a=packages/a"],
        &[
            "package.json: the workspace pattern \"a{b\" is not a pattern; it is ignored",
            "packages/y/package.json: not a readable package.json; the package is left out",
            "packages/z/package.json: the name \"a\" is taken by \"packages/a\"; this package is left out",
        ],
    );
}

#[test]
fn hidden_and_installed_folders_are_not_packages() {
    let root = ("package.json", r#"{"workspaces":["**",".tools/*"]}"#);
    let files = [
        root,
        (".tools/t/package.json", r#"{"name":"t"}"#),
        (".hidden/h/package.json", r#"{"name":"h"}"#),
        ("packages/node_modules/m/package.json", r#"{"name":"m"}"#),
    ];
    check(&files, &["t=.tools/t"], &[]);
}

/// A workspace in a fixture does not take packages from the repository's workspace.
#[test]
fn a_declaration_governs_its_own_folder_only() {
    let files = [
        ("package.json", r#"{"workspaces":["packages/*"]}"#),
        A,
        ("apps/t/fixtures/ws/package.json", r#"{"workspaces":["packages/*"]}"#),
        ("apps/t/fixtures/ws/packages/a/package.json", r#"{"name":"a"}"#),
        ("apps/t/fixtures/ws/packages/react/package.json", r#"{"name":"react"}"#),
    ];
    let expected = [
        "a=packages/a",
        "apps/t/fixtures/ws: a=apps/t/fixtures/ws/packages/a",
        "apps/t/fixtures/ws: react=apps/t/fixtures/ws/packages/react",
    ];
    check(&files, &expected, &[]);
}

#[test]
fn local_dependencies_are_linked_beside_their_manifest() {
    let files = [
        ("package.json", r#"{"workspaces":["packages/*"],"devDependencies":{"$utils":"link:./scripts/utils"}}"#),
        (
            "packages/a/package.json",
            r#"{"name":"a","dependencies":{"d":"file:./dep","b":"workspace:*","c":"workspace:@s/b@*"}}"#,
        ),
        B,
    ];
    let expected = [
        "$utils=scripts/utils",
        "@s/b=packages/b",
        "a=packages/a",
        "packages/a: c=packages/b",
        "packages/a: d=packages/a/dep",
    ];
    check(&files, &expected, &[]);
}
