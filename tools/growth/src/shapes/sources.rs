//! Source files: many, large, deep, linked, or with unusual contents.

use super::super::shape::{Command, Shape};
use super::super::tree::{Tree, lines};
use crate::Result;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape::graph("many-imports", 20_000, |tree, n| {
            tree.file("main.ts", lines(n, |i| format!("import './m{i}';\n")))
        }),
        Shape::graph("dense-graph", 1_000, dense),
        Shape::graph("long-line", 100_000, |tree, n| {
            tree.file("main.ts", format!("export const x = [{}];\n", "1+1,".repeat(n)))
        }),
        Shape::graph("comments", 100_000, |tree, n| {
            tree.file("main.ts", "/* import './a' */ // require('b')\n".repeat(n))
        }),
        Shape::graph("nested-code", 20_000, |tree, n| {
            tree.file("main.ts", format!("x = {}1{};\n", "(".repeat(n), ")".repeat(n)))
        }),
        Shape::graph("template-imports", 5_000, |tree, n| {
            tree.file("main.ts", lines(n, |i| format!("import(`./d{i}/${{x}}.ts`);\n")))
        }),
        Shape::graph("deep-folders", 20, deep_folders),
        Shape::graph("links", 2_500, links),
        Shape::graph("missing-packages", 1_000, missing_packages),
        Shape::new(
            "pack-one-name",
            4_000,
            |tree, n| {
                tree.file("Cargo.toml", "[package]\nname = \"r\"\n")?;
                tree.file("src/lib.rs", lines(n, |i| format!("use crate::m{i}::name;\n")))
            },
            Command::Stan(&["pack", "--at", "src/lib.rs:1", "--json"]),
        ),
        Shape::new(
            "outline-nested",
            2_500,
            |tree, n| tree.file("main.ts", format!("namespace {}b {{ export const c = 1 }}\n", "a.".repeat(n))),
            Command::Stan(&["outline", "main.ts", "--budget", "0"]),
        ),
        Shape::new(
            "suggest-chain",
            2_500,
            chain,
            Command::Stan(&[
                "suggest",
                "--focus",
                "f0.ts:1000000",
                "--budget",
                "1000000000",
                "--json",
                "--tokens",
                "bytes4",
                "--no-cache",
                "--threads",
                "1",
            ]),
        )
        .short(),
        Shape::new("run", 1_000, chain, Command::Stan(&["run", "--no-cache"])),
    ]
}

/// Every module imports twenty others.
fn dense(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        tree.file(&format!("f{i}.ts"), lines(20, |j| format!("import './f{}';\n", (i * 7 + j * 131) % n)))
    })
}

/// Folders nested two hundred deep, each with a file that imports from the deepest one.
fn deep_folders(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        let mut folder = format!("r{i}");
        for _ in 0..200 {
            folder.push_str("/d");
        }
        tree.file(&format!("{folder}/a.ts"), "import 'x';\nimport '../b';\n")
    })
}

/// Files that are imported through symlinks.
fn links(tree: &Tree, n: usize) -> Result<()> {
    tree.file("a.ts", "export {};\n")?;
    (0..n).try_for_each(|i| {
        let target = if i % 20 == 0 { "a.ts".to_owned() } else { format!("l{}.ts", i - 1) };
        tree.link(&format!("l{i}.ts"), &target)
    })?;
    tree.file("main.ts", lines(n, |i| format!("import './l{i}';\n")))
}

fn missing_packages(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        let imports = lines(20, |j| format!("import 'missing{j}/x';\n"));
        tree.file(&format!("d{}/e{}/f{}/g{i}/a.ts", i % 10, i % 7, i % 5), imports)
    })
}

fn chain(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| tree.file(&format!("f{i}.ts"), format!("import './f{}';\n", i + 1)))?;
    tree.file(&format!("f{n}.ts"), "export {};\n")
}
