//! Package manifests: maps, workspaces, installed packages.

use super::super::shape::Shape;
use super::super::tree::{Tree, lines, list};
use crate::Result;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape::graph("exports-patterns", 5_000, exports_patterns).short(),
        Shape::graph("exports-keys", 5_000, exports_keys),
        Shape::graph("exports-conditions", 2_500, exports_conditions),
        Shape::graph("imports-patterns", 5_000, imports_patterns),
        Shape::graph("imports-hops", 1_000, imports_hops).short(),
        Shape::graph("manifest-fields", 5_000, manifest_fields),
        Shape::graph("types-versions", 2_500, types_versions),
        Shape::graph("workspaces", 1_000, workspaces),
        Shape::graph("workspace-globs", 500, workspace_globs).short(),
        Shape::graph("workspace-declarations", 1_000, workspace_declarations),
        Shape::graph("installed", 1_000, installed),
        Shape::graph("go-requirements", 5_000, go_requirements).short(),
        Shape::graph("go-versions", 5_000, go_versions),
        Shape::graph("go-workspaces", 500, go_workspaces),
    ]
}

fn package(tree: &Tree, manifest: &str) -> Result<()> {
    tree.file("node_modules/p/package.json", manifest)?;
    tree.file("node_modules/p/a.ts", "export {};\n")
}

fn exports_patterns(tree: &Tree, n: usize) -> Result<()> {
    package(tree, &format!("{{\"exports\":{{{}}}}}", list(n, |i| format!("\"./f{i}/*\":\"./lib/*.ts\""))))?;
    tree.file("main.ts", lines(n, |i| format!("import 'p/f{i}/x';\n")))
}

fn exports_keys(tree: &Tree, n: usize) -> Result<()> {
    package(tree, &format!("{{\"exports\":{{{}}}}}", list(n, |i| format!("\"./f{i}\":\"./a.ts\""))))?;
    tree.file("main.ts", lines(n, |i| format!("import 'p/f{i}';\n")))
}

/// One pattern with very many conditions that never match.
fn exports_conditions(tree: &Tree, n: usize) -> Result<()> {
    let conditions = list(n, |i| format!("\"c{i}\":\"./a.ts\""));
    package(tree, &format!("{{\"exports\":{{\"./*\":{{{conditions}}}}}}}"))?;
    tree.file("main.ts", lines(n, |i| format!("import 'p/f{i}';\n")))
}

fn imports_patterns(tree: &Tree, n: usize) -> Result<()> {
    tree.file("package.json", format!("{{\"imports\":{{{}}}}}", list(n, |i| format!("\"#f{i}/*\":\"./lib/*.ts\""))))?;
    tree.file("main.ts", lines(n, |i| format!("import '#f{i}/x';\n")))
}

/// Keys that refer to other keys many times: n to the power of sixteen steps without a limit.
fn imports_hops(tree: &Tree, n: usize) -> Result<()> {
    let keys = list(16, |key| format!("\"#k{key}\":[{}]", list(n, |_| format!("\"#k{}\"", key + 1))));
    tree.file("package.json", format!("{{\"imports\":{{{keys}}}}}"))?;
    tree.file("main.ts", "import '#k0';\n")
}

/// Very many fields before the one that each import needs.
fn manifest_fields(tree: &Tree, n: usize) -> Result<()> {
    let fields = list(n, |i| format!("\"x{i}\":0"));
    package(tree, &format!("{{{fields},\"exports\":{{\"./*\":\"./lib/*.ts\"}}}}"))?;
    tree.file("main.ts", lines(n, |i| format!("import 'p/f{i}';\n")))
}

fn types_versions(tree: &Tree, n: usize) -> Result<()> {
    let paths = list(n, |i| format!("\"f{i}/*\":[\"./t/*\"]"));
    package(tree, &format!("{{\"typesVersions\":{{\"*\":{{{paths}}}}}}}"))?;
    tree.file("main.ts", lines(n, |i| format!("import 'p/f{i}/x';\n")))
}

/// Packages that each import the next one by name.
fn workspaces(tree: &Tree, n: usize) -> Result<()> {
    tree.file("package.json", "{\"workspaces\":[\"packages/*\"]}")?;
    (0..n).try_for_each(|i| {
        tree.file(&format!("packages/p{i}/package.json"), format!("{{\"name\":\"p{i}\",\"main\":\"a.ts\"}}"))?;
        tree.file(&format!("packages/p{i}/a.ts"), format!("import 'p{}';\n", (i + 1) % n))
    })
}

/// As many patterns as packages.
fn workspace_globs(tree: &Tree, n: usize) -> Result<()> {
    let globs = list(n, |i| format!("\"packages/q{i}*\""));
    tree.file("package.json", format!("{{\"workspaces\":[{globs},\"packages/p*\"]}}"))?;
    (0..n).try_for_each(|i| tree.file(&format!("packages/p{i}/package.json"), format!("{{\"name\":\"p{i}\"}}")))?;
    tree.file("main.ts", "import 'p1';\n")
}

/// Every package declares its own workspaces.
fn workspace_declarations(tree: &Tree, n: usize) -> Result<()> {
    tree.file("main.ts", "import 'p1';\n")?;
    (0..n).try_for_each(|i| {
        let text = format!("{{\"name\":\"p{i}\",\"workspaces\":[\"x/*\"]}}");
        tree.file(&format!("packages/p{i}/package.json"), text)
    })
}

fn installed(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        let manifest = format!("{{\"name\":\"p{i}\",\"version\":\"1.0.0\",\"types\":\"index.d.ts\"}}");
        tree.file(&format!("node_modules/p{i}/package.json"), manifest)?;
        tree.file(&format!("node_modules/p{i}/index.d.ts"), "export declare const x: 1;\n")
    })?;
    tree.file("main.ts", lines(n, |i| format!("import {{x as x{i}}} from 'p{i}';\n")))
}

const HASH: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// As many imports as required modules, none of which exists.
fn go_requirements(tree: &Tree, n: usize) -> Result<()> {
    let required = lines(n, |i| format!("require m.org/a{i} v1.0.0\nreplace m.org/b{i} => m.org/a{i} v1.0.0\n"));
    tree.file("go.mod", format!("module m.org/app\n{required}"))?;
    tree.file("go.sum", lines(n, |i| format!("m.org/a{i} v1.0.0 {HASH}\n")))?;
    tree.file("main.go", format!("package main\n{}", lines(n, |i| format!("import \"m.org/b{i}/x/y\"\n"))))
}

/// Very many versions of one module, in the lock file and in `replace`.
fn go_versions(tree: &Tree, n: usize) -> Result<()> {
    let replaced = lines(n, |i| format!("replace m.org/a v1.0.{i} => m.org/a v2.0.{i}\n"));
    tree.file("go.mod", format!("module m.org/app\nrequire m.org/a v1.0.1\n{replaced}"))?;
    tree.file("go.sum", lines(n, |i| format!("m.org/a v2.0.{i} {HASH}\nm.org/c v1.0.{i} {HASH}\n")))?;
    let imports = lines(n, |i| format!("import \"m.org/a/x{i}\"\nimport \"m.org/c/x{i}\"\n"));
    tree.file("main.go", format!("package main\n{imports}"))
}

/// Modules of one workspace, each with requirements, hashes and an import of the next one.
fn go_workspaces(tree: &Tree, n: usize) -> Result<()> {
    tree.file("go.work", format!("go 1.21\n{}", lines(n, |i| format!("use ./m{i}\n"))))?;
    (0..n).try_for_each(|i| {
        tree.file(&format!("m{i}/go.mod"), format!("module m.org/m{i}\nrequire m.org/a{i} v1.0.0\n"))?;
        tree.file(&format!("m{i}/go.sum"), format!("m.org/a{i} v1.0.0 {HASH}\n"))?;
        let next = (i + 1) % n;
        tree.file(&format!("m{i}/a.go"), format!("package m\nimport (\n\t\"m.org/m{next}\"\n\t\"m.org/a{next}\"\n)\n"))
    })
}
