//! Re-exports: chains, rings, lattices, and names that are exported many times.

use super::super::shape::Shape;
use super::super::tree::{Tree, lines, list};
use crate::Result;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        Shape::graph("star-chain", 5_000, star_chain),
        Shape::graph("star-chain-importers", 2_500, star_chain_importers),
        Shape::graph("star-ring", 500, star_ring),
        Shape::graph("star-lattice", 200, star_lattice),
        Shape::graph("duplicate-names", 50, duplicate_names).short(),
        // Not in the short form: below the limit of ambiguous names the graph itself has n × n / 2 edges (decision 0009).
        Shape::graph("duplicate-chain", 2_500, duplicate_chain),
        Shape::graph("ambiguous-names", 2_500, ambiguous_names),
        Shape::graph("hidden-providers", 1_000, hidden_providers).short(),
        Shape::graph("barrel-names", 2_500, barrel_names),
    ]
}

fn star_chain(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| tree.file(&format!("f{i}.ts"), format!("export * from './f{}';\n", i + 1)))?;
    tree.file(&format!("f{n}.ts"), "export const x = 1;\n")?;
    tree.file("main.ts", "import {x} from './f0';\n")
}

fn star_chain_importers(tree: &Tree, n: usize) -> Result<()> {
    star_chain(tree, n)?;
    (0..n).try_for_each(|i| tree.file(&format!("i{i}.ts"), format!("import {{x}} from './f{i}';\n")))
}

/// A ring in which every file re-exports the next one and exports a name of its own; twenty importers take all names.
fn star_ring(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        tree.file(&format!("f{i}.ts"), format!("export * from './f{}';\nexport const x{i} = 1;\n", (i + 1) % n))
    })?;
    let names = list(n, |i| format!("x{i}"));
    (0..20).try_for_each(|i| tree.file(&format!("i{i}.ts"), format!("import {{{names}}} from './f{}';\n", i % n)))
}

/// Levels of ten files, each of which re-exports all files of the next level.
fn star_lattice(tree: &Tree, n: usize) -> Result<()> {
    for level in 0..n {
        let stars = lines(10, |i| format!("export * from './l{}f{i}';\n", level + 1));
        (0..10).try_for_each(|i| tree.file(&format!("l{level}f{i}.ts"), &stars))?;
    }
    (0..10).try_for_each(|i| tree.file(&format!("l{n}f{i}.ts"), "export const x = 1;\n"))?;
    tree.file("main.ts", "import {x} from './l0f0';\n")
}

/// Two files per level that re-export every name from both files of the next level, and import all of them.
fn duplicate_names(tree: &Tree, n: usize) -> Result<()> {
    const NAMES: usize = 20;
    for level in 0..n {
        let below = level + 1;
        let text = lines(NAMES, |i| {
            let (first, second) = ((i + 1) % NAMES, (i + 7) % NAMES);
            format!(
                "export {{x{first} as x{i}}} from './l{below}a';\nexport {{x{second} as x{i}}} from './l{below}b';\n"
            )
        });
        ["a", "b"].iter().try_for_each(|side| tree.file(&format!("l{level}{side}.ts"), &text))?;
    }
    let ends = lines(NAMES, |i| format!("export const x{i} = 1;\n"));
    ["a", "b"].iter().try_for_each(|side| tree.file(&format!("l{n}{side}.ts"), &ends))
}

/// Every level defines a name and re-exports those of the next one.
fn duplicate_chain(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| {
        tree.file(&format!("f{i}.ts"), format!("export const x = 1;\nexport {{x}} from './f{}';\n", i + 1))
    })?;
    tree.file(&format!("f{n}.ts"), "export const x = 1;\n")?;
    tree.file("main.ts", "import {x} from './f0';\n")
}

/// A barrel over files with the same name, which n others import: the graph would have n × n edges, so it is refused.
fn ambiguous_names(tree: &Tree, n: usize) -> Result<()> {
    tree.file("barrel.ts", lines(n, |i| format!("export * from './f{i}';\n")))?;
    let text = "import {x} from './barrel';\nexport {x};\n";
    (0..n).try_for_each(|i| tree.file(&format!("f{i}.ts"), "export const x = 1;\n"))?;
    (0..n).try_for_each(|i| tree.file(&format!("i{i}.ts"), text))
}

/// A long chain of `export *` to many files with the same thirty names.
fn hidden_providers(tree: &Tree, n: usize) -> Result<()> {
    (0..n).try_for_each(|i| tree.file(&format!("f{i}.ts"), format!("export * from './f{}';\n", i + 1)))?;
    tree.file(&format!("f{n}.ts"), lines(n, |i| format!("export * from './p{i}';\n")))?;
    let names = lines(30, |i| format!("export const x{i} = 1;\n"));
    (0..n).try_for_each(|i| tree.file(&format!("p{i}.ts"), &names))?;
    tree.file("main.ts", format!("import {{{}}} from './f0';\n", list(30, |i| format!("x{i}"))))
}

/// Ten levels of barrels, each of which lists every name.
fn barrel_names(tree: &Tree, n: usize) -> Result<()> {
    let names = list(n, |i| format!("x{i}"));
    (0..10).try_for_each(|i| tree.file(&format!("b{i}.ts"), format!("export {{{names}}} from './b{}';\n", i + 1)))?;
    tree.file("b10.ts", lines(n, |i| format!("export const x{i} = 1;\n")))?;
    tree.file("main.ts", format!("import {{{names}}} from './b0';\n"))
}
