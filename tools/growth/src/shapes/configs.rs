//! Configuration files: tsconfig, ignore files, stan's own.

use super::super::shape::{Command, Shape};
use super::super::tree::{Tree, lines, list};
use crate::Result;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape::graph("tsconfig-paths", 5_000, |tree, n| {
            paths(tree, n, &|i| format!("@p{i}/*"), &|i| format!("@p{i}/x"))
        })
        .short(),
        Shape::graph("tsconfig-paths-suffixes", 5_000, |tree, n| {
            paths(tree, n, &|i| format!("@/*{i}.x"), &|i| format!("@/a{i}.x"))
        }),
        Shape::graph("tsconfig-paths-shared", 1_000, shared_paths),
        Shape::graph("tsconfig-include", 1_000, |tree, n| include(tree, n, "src/d{}/*x.ts")).short(),
        Shape::graph("tsconfig-include-stars", 1_000, |tree, n| include(tree, n, "src/**/*{}.ts")),
        Shape::graph("tsconfig-references", 1_000, references).short(),
        // Each project reads at most 1,024 others (decision 0009): below that number, the chain takes quadratic time.
        Shape::graph("tsconfig-reference-chain", 1_100, reference_chain),
        Shape::graph("tsconfig-extends-chain", 5_000, extends_chain),
        Shape::graph("gitignore-names", 2_500, |tree, n| ignore(tree, n, &|i| format!("name{i}.log\n"))),
        Shape::graph("gitignore-globs", 2_500, |tree, n| ignore(tree, n, &|i| format!("/src{i}/*.ts\n*{i}.log\n"))),
        // Four times as many is the maximum for a configuration.
        Shape::new("yaml-config", 250, yaml, Command::Stan(&["run", "--plan"])),
        Shape::graph("json-depth", 100_000, json_depth),
    ]
}

fn paths(tree: &Tree, n: usize, pattern: &dyn Fn(usize) -> String, specifier: &dyn Fn(usize) -> String) -> Result<()> {
    let paths = list(n, |i| format!("\"{}\":[\"./src/{i}\"]", pattern(i)));
    tree.file("tsconfig.json", format!("{{\"compilerOptions\":{{\"paths\":{{{paths}}}}}}}"))?;
    tree.file("main.ts", lines(n, |i| format!("import '{}';\n", specifier(i))))
}

/// Many configurations that inherit the same list of fifty paths.
fn shared_paths(tree: &Tree, n: usize) -> Result<()> {
    let paths = list(50, |i| format!("\"@p{i}/*\":[\"./src/{i}/*\"]"));
    tree.file("base.json", format!("{{\"compilerOptions\":{{\"paths\":{{{paths}}}}}}}"))?;
    (0..n).try_for_each(|i| {
        tree.file(&format!("d{i}/tsconfig.json"), "{\"extends\":\"../base.json\"}")?;
        tree.file(&format!("d{i}/a.ts"), "import '@p7/x';\n")
    })
}

fn include(tree: &Tree, n: usize, pattern: &str) -> Result<()> {
    let patterns = list(n, |i| format!("\"{}\"", pattern.replace("{}", &i.to_string())));
    tree.file("other/tsconfig.json", "{\"files\":[]}")?;
    tree.file("tsconfig.json", format!("{{\"include\":[{patterns}],\"references\":[{{\"path\":\"./other\"}}]}}"))?;
    (0..n).try_for_each(|i| tree.file(&format!("src/e{}/f{i}.ts", i % 50), "export {};\n"))
}

/// As many references as files; no referenced project has any of the files.
fn references(tree: &Tree, n: usize) -> Result<()> {
    let references = list(n, |i| format!("{{\"path\":\"./p{i}\"}}"));
    tree.file("tsconfig.json", format!("{{\"files\":[],\"references\":[{references}]}}"))?;
    (0..n).try_for_each(|i| {
        tree.file(&format!("p{i}/tsconfig.json"), "{\"include\":[\"src\"]}")?;
        tree.file(&format!("loose/f{i}.ts"), "export {};\n")
    })
}

/// Each project references the next one, and has a file that no project includes.
fn reference_chain(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        let next = (i + 1) % n;
        let text = format!("{{\"include\":[\"src\"],\"references\":[{{\"path\":\"../p{next}\"}}]}}");
        tree.file(&format!("p{i}/tsconfig.json"), text)?;
        tree.file(&format!("p{i}/loose.ts"), "export {};\n")
    })
}

fn extends_chain(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| tree.file(&format!("c{i}.json"), format!("{{\"extends\":\"./c{}.json\"}}", i + 1)))?;
    tree.file("tsconfig.json", "{\"extends\":\"./c0.json\"}")?;
    tree.file("main.ts", "export {};\n")
}

fn ignore(tree: &Tree, n: usize, line: &dyn Fn(usize) -> String) -> Result<()> {
    tree.file(".gitignore", lines(n, line))?;
    (0..n).try_for_each(|i| tree.file(&format!("d{}/f{i}.ts", i % 50), "export {};\n"))
}

fn yaml(tree: &Tree, n: usize) -> Result<()> {
    let excludes = lines(n, |i| format!("    - \"x{i}/**\"\n"));
    tree.file("stan.config.yml", format!("stan-core:\n  stanPath: .stan\n  excludes:\n{excludes}"))?;
    (0..3_000).try_for_each(|i| tree.file(&format!("f{i}.ts"), "export {};\n"))
}

fn json_depth(tree: &Tree, n: usize) -> Result<()> {
    let nested = format!("{{\"x\":{}{}}}", "[".repeat(n), "]".repeat(n));
    tree.file("tsconfig.json", &nested)?;
    tree.file("package.json", &nested)?;
    tree.file("main.ts", "import 'x';\n")
}
